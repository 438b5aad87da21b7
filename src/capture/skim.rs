//! One pass over JSON text that finds where members stand and skips what nobody reads.
//!
//! Most bytes of a capture are tool results. They are stepped over without decoding: a string ends at the first quote
//! behind an even run of backslashes, brackets must match. On valid JSON the spans are exactly those a full parser
//! finds; text that does not close or is not punctuated where this pass looks is `None`, and the caller has a full
//! parser say what is wrong with it.

use std::borrow::Cow;

/// A stretch of the text under the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub from: usize,
    pub to: usize,
}

impl Span {
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// Of the inside of a string: the string with its quotes.
    pub fn quoted(self) -> Self {
        Self { from: self.from.saturating_sub(1), to: self.to + 1 }
    }

    pub fn len(self) -> usize {
        self.to.saturating_sub(self.from)
    }
}

pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn at(&self) -> usize {
        self.at
    }

    /// The next byte that is no white space, left in place.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Steps over a bracket or a punctuation mark.
    #[inline]
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// The next member's name (inside the quotes), with the cursor before its value; `Some(None)` behind the object.
    /// The caller must step over each value. `first` starts true.
    #[inline]
    pub fn member(&mut self, first: &mut bool) -> Option<Option<Span>> {
        let mut byte = self.peek()?;
        if byte == b'}' {
            self.at += 1;
            return Some(None);
        }
        if !std::mem::take(first) {
            self.take(b',')?;
            byte = self.peek()?;
        }
        if byte != b'"' {
            return None;
        }
        let name = self.string()?;
        self.take(b':')?;
        Some(Some(name))
    }

    /// Whether another element follows; false behind the array. `first` starts true.
    pub fn element(&mut self, first: &mut bool) -> Option<bool> {
        if self.peek()? == b']' {
            self.at += 1;
            return Some(false);
        }
        if !std::mem::take(first) {
            self.take(b',')?;
            if self.peek()? == b']' {
                return None;
            }
        }
        Some(true)
    }

    /// Steps over a string; the span is its inside.
    #[inline]
    pub fn string(&mut self) -> Option<Span> {
        self.take(b'"')?;
        let from = self.at;
        self.at = string_end(self.bytes, from)? + 1;
        Some(Span { from, to: self.at - 1 })
    }

    /// Steps over any value.
    #[inline]
    pub fn value(&mut self) -> Option<Span> {
        let byte = self.peek()?;
        let from = self.at;
        match byte {
            b'"' => {
                self.string()?;
            }
            b'{' | b'[' => self.nested()?,
            _ => self.scalar()?,
        }
        Some(Span { from, to: self.at })
    }

    fn scalar(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'))
            .unwrap_or(rest.len());
        let word = rest.get(..length)?;
        let number = |word: &[u8]| {
            matches!(word.first(), Some(b'-' | b'0'..=b'9'))
                && word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        };
        if !(matches!(word, b"true" | b"false" | b"null") || number(word)) {
            return None;
        }
        self.at += length;
        Some(())
    }

    /// Steps over an object or array. One bit per open bracket remembers which kind has to close it.
    fn nested(&mut self) -> Option<()> {
        let mut kinds: u128 = 0;
        let mut depth: u32 = 0;
        let mut outer: Vec<u128> = Vec::new();
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => self.at = string_end(self.bytes, self.at)? + 1,
                b'{' | b'[' => {
                    if depth == u128::BITS {
                        outer.push(std::mem::take(&mut kinds));
                        depth = 0;
                    }
                    depth += 1;
                    kinds = kinds << 1 | u128::from(byte == b'{');
                }
                b'}' | b']' => {
                    if (kinds & 1 == 1) != (byte == b'}') {
                        return None;
                    }
                    kinds >>= 1;
                    depth -= 1;
                    if depth == 0 {
                        let Some(brackets) = outer.pop() else { return Some(()) };
                        (kinds, depth) = (brackets, u128::BITS);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Where the quote stands that ends the string whose inside begins at `from`.
#[inline]
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    // Names and words are short.
    if let Some(near) = rest.first_chunk::<16>() {
        let quotes = marks(near, b'"');
        let slashes = marks(near, b'\\');
        if quotes != 0 && (slashes == 0 || slashes.trailing_zeros() > quotes.trailing_zeros()) {
            return Some(from + quotes.trailing_zeros() as usize);
        }
    }
    long_string_end(rest).map(|at| from + at)
}

/// As [`string_end`], 64 bytes a step: a bit for each quote, and a bit for each byte that a backslash escapes.
fn long_string_end(rest: &[u8]) -> Option<usize> {
    let (steps, tail) = rest.as_chunks::<64>();
    let mut escaped_first = 0;
    for (at, step) in steps.iter().enumerate() {
        let (quotes, slashes) = marks64(step);
        if slashes == 0 {
            let quotes = quotes & !escaped_first;
            escaped_first = 0;
            if quotes != 0 {
                return Some(at * 64 + quotes.trailing_zeros() as usize);
            }
            continue;
        }
        let escaped = escaped(slashes, &mut escaped_first);
        let quotes = quotes & !escaped;
        if quotes != 0 {
            return Some(at * 64 + quotes.trailing_zeros() as usize);
        }
    }
    let mut skip = escaped_first == 1;
    for (at, byte) in tail.iter().enumerate() {
        match byte {
            _ if skip => skip = false,
            b'\\' => skip = true,
            b'"' => return Some(rest.len() - tail.len() + at),
            _ => {}
        }
    }
    None
}

/// The bytes that are escaped, a bit each. A byte is escaped where an odd number of backslashes ends before it: adding
/// one at the beginning of each run carries to the bit behind it, and whether that bit's parity is that of the
/// beginning tells whether the run was even. `first` says whether the first byte is escaped, and then the next step's.
#[inline]
fn escaped(slashes: u64, first: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let escaping = slashes & !*first;
    let behind = escaping << 1 | *first;
    let odd_starts = escaping & !EVEN & !behind;
    let (run_ends, carried) = odd_starts.overflowing_add(escaping);
    *first = u64::from(carried);
    (EVEN ^ run_ends << 1) & behind
}

#[inline]
fn marks64(step: &[u8; 64]) -> (u64, u64) {
    let (mut quotes, mut slashes) = (0, 0);
    let (parts, _) = step.as_chunks::<16>();
    for (at, part) in parts.iter().enumerate() {
        quotes |= u64::from(marks(part, b'"')) << (at * 16);
        slashes |= u64::from(marks(part, b'\\')) << (at * 16);
    }
    (quotes, slashes)
}

/// A bit for each of the 16 bytes that is `wanted`, the first lowest.
#[inline]
fn marks(part: &[u8; 16], wanted: u8) -> u32 {
    wide::u8x16::new(*part).simd_eq(wide::u8x16::splat(wanted)).to_bitmask()
}

/// A name or word as it reads: escapes decoded where there are any.
#[inline]
pub fn plain(bytes: &[u8], inside: Span) -> Cow<'_, [u8]> {
    let text = inside.of(bytes);
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let quoted = String::from_utf8_lossy(inside.quoted().of(bytes));
    match crate::protocol::json::string(&quoted, &mut Default::default()) {
        Some(text) => Cow::Owned(text.into_owned().into_bytes()),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    /// The members of an object as serde_json finds them: decoded names and exact values, in order.
    fn by_serde(text: &str) -> Vec<(String, String)> {
        struct Members(Vec<(String, String)>);
        impl<'de> serde::Deserialize<'de> for Members {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = Members;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                        let mut members = Vec::new();
                        while let Some(name) = map.next_key::<String>()? {
                            members.push((name, map.next_value::<&'de RawValue>()?.get().to_owned()));
                        }
                        Ok(Members(members))
                    }
                }
                deserializer.deserialize_map(Visitor)
            }
        }
        serde_json::from_str::<Members>(text).unwrap().0
    }

    fn by_skim(text: &[u8]) -> Option<Vec<(String, String)>> {
        let mut cursor = Cursor::new(text, 0);
        let mut members = Vec::new();
        let mut first = true;
        cursor.take(b'{')?;
        while let Some(name) = cursor.member(&mut first)? {
            let value = cursor.value()?;
            members.push((
                String::from_utf8_lossy(&plain(text, name)).into_owned(),
                String::from_utf8_lossy(value.of(text)).into_owned(),
            ));
        }
        Some(members)
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            (-1e9..1e9).prop_map(|number: f64| number.into()),
            r#"[a-z"\\/{}\[\],: \u{2028}é\n]{0,24}"#.prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Spaces outside strings, as other writers put them.
    fn spaced(text: &str, pretty: bool) -> String {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        if pretty { serde_json::to_string_pretty(&value).unwrap() } else { text.to_owned() }
    }

    proptest! {
        #[test]
        fn members_and_spans_agree_with_serde_json(
            members in prop::collection::vec((any::<String>(), json()), 0..6),
            pretty in any::<bool>(),
        ) {
            let object = serde_json::Value::Object(members.into_iter().collect());
            let text = spaced(&object.to_string(), pretty);
            prop_assert_eq!(by_skim(text.as_bytes()), Some(by_serde(&text)));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = by_skim(&bytes);
        }

        #[test]
        fn no_mutation_makes_it_panic(value in json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = format!("{{\"a\":{value}}}").into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = by_skim(&bytes);
            bytes.truncate(at);
            prop_assert_eq!(by_skim(&bytes), None);
        }
    }

    #[test]
    fn strings_end_behind_even_runs_of_backslashes() {
        let text = br#"{"a":"\\","b":"\\\"","c":"}\"]"}"#;
        let members = by_skim(text).unwrap();
        assert_eq!(
            members.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(),
            [r#""\\""#, r#""\\\"""#, r#""}\"]""#]
        );
    }

    proptest! {
        #[test]
        fn strings_end_where_a_walk_ends(text in r#"[a\\"]{0,200}|[ab]{0,80}\\{1,70}"[a"]{0,9}"#, from in 0_usize..4) {
            let bytes = text.as_bytes();
            let mut skip = false;
            let walk = bytes.iter().enumerate().skip(from).find_map(|(at, byte)| {
                let found = !skip && *byte == b'"';
                skip = !skip && *byte == b'\\';
                found.then_some(at)
            });
            prop_assert_eq!(string_end(bytes, from), walk.filter(|_| from <= bytes.len()));
        }
    }

    #[test]
    fn brackets_must_match_and_words_must_be_json() {
        for broken in
            [r#"{"a":[}"#, r#"{"a":{]}"#, r#"{"a":tru}"#, r#"{"a":}"#, r#"{"a":1,}"#, r#"{"a" 1}"#, "{\"a\":\"x}"]
        {
            assert_eq!(by_skim(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn nesting_may_be_deep() {
        for depth in [1, 127, 128, 129, 400] {
            let nested = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(by_skim(nested.as_bytes()), Some(by_serde(&nested)));
            assert_eq!(by_skim(nested.replacen(']', "}", 1).as_bytes()), None);
        }
    }
}
