//! The elements of one long JSON array, one at a time: an array of a month's records does not fit in memory.
//!
//! Only brackets and strings are looked at: whether an element is valid JSON is seen when it is decoded.

use super::blocks::LONGEST_LINE;
use super::error::CaptureError;
use super::input::Input;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;

/// One step of reading.
#[derive(Debug, PartialEq, Eq)]
pub enum Element {
    /// The exact text of an element.
    Text(Vec<u8>),
    /// An element that is longer than any record: its size, and how it begins.
    TooLong(u64, Vec<u8>),
    /// The input ends inside an element (whose beginning this is) or before the array closes.
    Cut(Vec<u8>),
    /// The array never begins where it should; the reason.
    Missing(String),
}

/// Where the array stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sought {
    /// Names of the members that lead to the array from the outermost object; empty where it is the outermost value.
    Path(&'static [&'static str]),
    Inside,
    Behind,
}

pub struct Elements {
    input: Input,
    buffer: Vec<u8>,
    /// Everything before is done with.
    at: usize,
    sought: Sought,
    /// No array is around the values.
    bare: bool,
    longest: usize,
    ended: bool,
    /// Bytes of the text so far, and those that were given out already.
    error: Option<CaptureError>,
}

impl Elements {
    /// Of the array at `path` (names of members, outermost first).
    pub fn new(input: Input, path: &'static [&'static str]) -> Self {
        Self::begin(input, Sought::Path(path), false)
    }

    /// Of values that stand one after the other, over as many lines as they take, with or without commas between them.
    pub fn values(input: Input) -> Self {
        Self::begin(input, Sought::Inside, true)
    }

    fn begin(input: Input, sought: Sought, bare: bool) -> Self {
        Self { input, buffer: Vec::new(), at: 0, sought, bare, longest: LONGEST_LINE, ended: false, error: None }
    }

    /// Bytes read from the disk so far.
    pub fn taken(&self) -> u64 {
        self.input.taken()
    }

    /// Why reading ended early.
    pub fn take_error(&mut self) -> Option<CaptureError> {
        self.error.take()
    }

    /// The next element; `None` behind the last.
    pub fn next(&mut self) -> Option<Element> {
        if let Sought::Path(path) = self.sought {
            if let Err(reason) = self.find(path) {
                self.sought = Sought::Behind;
                return Some(Element::Missing(reason));
            }
            self.sought = Sought::Inside;
        }
        if self.sought == Sought::Behind {
            return None;
        }
        loop {
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') if !self.bare => {
                    self.sought = Sought::Behind;
                    return None;
                }
                Some(_) => break,
                None if self.bare => {
                    self.sought = Sought::Behind;
                    return None;
                }
                None => {
                    self.sought = Sought::Behind;
                    return Some(Element::Cut(Vec::new()));
                }
            }
        }
        Some(self.value())
    }

    /// The next byte that is no white space, reading on where needed.
    fn peek(&mut self) -> Option<u8> {
        loop {
            while let Some(byte) = self.buffer.get(self.at) {
                if !byte.is_ascii_whitespace() {
                    return Some(*byte);
                }
                self.at += 1;
            }
            if !self.more() {
                return None;
            }
        }
    }

    /// Reads on, and drops what is done with. False at the end.
    fn more(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK, 0);
        let count = match self.input.fill(self.buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(count) => count,
            Err((count, error)) => {
                self.error = Some(error);
                self.ended = true;
                count
            }
        };
        self.ended |= count < CHUNK;
        self.buffer.truncate(filled + count);
        count > 0
    }

    /// Steps over a value and gives its text.
    fn value(&mut self) -> Element {
        let mut seen = Seen::default();
        let mut length = 0;
        let mut dropped: u64 = 0;
        let mut begins = Vec::new();
        loop {
            let rest = self.buffer.get(self.at + length..).unwrap_or_default();
            if let Some(end) = seen.end(rest) {
                length += end;
                let text = self.buffer.get(self.at..self.at + length).unwrap_or_default().to_vec();
                self.at += length;
                return if dropped > 0 {
                    Element::TooLong(dropped + length as u64, begins)
                } else {
                    Element::Text(text)
                };
            }
            length += rest.len();
            if length > self.longest {
                if dropped == 0 {
                    begins = self.buffer.get(self.at..).unwrap_or_default().iter().take(1024).copied().collect();
                }
                dropped += length as u64;
                self.at += length;
                length = 0;
            }
            if !self.more() {
                self.sought = Sought::Behind;
                let text = self.buffer.get(self.at..).unwrap_or_default().to_vec();
                self.at = self.buffer.len();
                return Element::Cut(if dropped > 0 { begins } else { text });
            }
        }
    }

    /// Steps to the array, over the members that do not lead to it.
    fn find(&mut self, path: &[&str]) -> Result<(), String> {
        for name in path {
            self.open(b'{', name)?;
            loop {
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'"') => {
                        let Element::Text(found) = self.value() else {
                            return Err(format!("the file ends before `{name}`"));
                        };
                        if self.peek() != Some(b':') {
                            return Err(format!("no `:` behind a name before `{name}`"));
                        }
                        self.at += 1;
                        if found.strip_prefix(b"\"").and_then(|found| found.strip_suffix(b"\""))
                            == Some(name.as_bytes())
                        {
                            break;
                        }
                        self.peek();
                        if let Element::Cut(_) = self.value() {
                            return Err(format!("the file ends before `{name}`"));
                        }
                    }
                    None => return Err(format!("the file ends before `{name}`")),
                    Some(_) => return Err(format!("the outer object has no `{name}`")),
                }
            }
        }
        self.open(b'[', path.last().copied().unwrap_or("the array"))
    }

    fn open(&mut self, bracket: u8, what: &str) -> Result<(), String> {
        if self.peek() == Some(bracket) {
            self.at += 1;
            return Ok(());
        }
        let kind = if bracket == b'{' { "an object" } else { "an array" };
        Err(format!("{kind} was expected at `{what}`"))
    }
}

/// What was seen of a value so far.
#[derive(Debug, Default)]
struct Seen {
    depth: u32,
    in_string: bool,
    escaped: bool,
    begun: bool,
}

impl Seen {
    /// Where the value ends in the text that comes next; `None` where it goes on.
    fn end(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            if self.in_string {
                if std::mem::take(&mut self.escaped) {
                    at += 1;
                    continue;
                }
                let rest = text.get(at..)?;
                let step = memchr::memchr2(b'"', b'\\', rest)?;
                at += step + 1;
                match rest.get(step) {
                    Some(b'\\') => self.escaped = true,
                    _ => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Some(at);
                        }
                    }
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.begun = true;
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.begun = true;
                }
                // It closes what is around a bare word, not the word itself.
                b'}' | b']' | b',' | b':' if self.depth == 0 => return Some(at.max(usize::from(!self.begun))),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                byte if byte.is_ascii_whitespace() && self.depth == 0 && self.begun => return Some(at),
                _ => self.begun = true,
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn elements(text: &[u8], path: &'static [&'static str], longest: usize) -> Vec<Element> {
        // Bytes may begin as compressed ones do, and be none.
        let Ok(input) = Input::new(std::io::Cursor::new(text.to_vec()), "x", &Arc::default()) else {
            return Vec::new();
        };
        let mut elements = Elements::new(input, path);
        elements.longest = longest;
        let mut found = Vec::new();
        while let Some(element) = elements.next() {
            found.push(element);
        }
        found
    }

    proptest! {
        #[test]
        fn elements_are_those_of_serde_json(values in prop::collection::vec(r#"[a"\\{}\[\],: é]{0,12}"#, 0..8), pretty in any::<bool>()) {
            let array: serde_json::Value = values.iter().enumerate().map(|(at, text)| match at % 4 {
                0 => serde_json::json!({ text.clone(): [text, {"b": null}] }),
                1 => serde_json::json!(text),
                2 => serde_json::json!([at, text]),
                _ => serde_json::json!(at),
            }).collect();
            let whole = serde_json::json!({"other": {"entries": [1]}, "log": {"x": "]", "entries": array}});
            let text = if pretty { serde_json::to_string_pretty(&whole).unwrap() } else { whole.to_string() };
            let found: Vec<serde_json::Value> = elements(text.as_bytes(), &["log", "entries"], 1 << 20)
                .into_iter()
                .map(|element| match element {
                    Element::Text(text) => serde_json::from_slice(&text).unwrap(),
                    other => panic!("{other:?}"),
                })
                .collect();
            prop_assert_eq!(serde_json::Value::Array(found), whole["log"]["entries"].clone());
        }

        #[test]
        fn no_bytes_make_it_panic_or_run_for_ever(bytes in prop::collection::vec(any::<u8>(), 0..200), text in r#"[\[{][\]\["{}:, a1]{0,60}"#) {
            elements(&bytes, &[], 16);
            elements(text.as_bytes(), &[], 16);
            elements(text.as_bytes(), &["a"], 16);
        }
    }

    #[test]
    fn what_is_cut_too_long_or_missing_is_said() {
        assert_eq!(
            elements(b"[1, {\"a\":", &[], 99),
            [Element::Text(b"1".to_vec()), Element::Cut(b"{\"a\":".to_vec())]
        );
        assert_eq!(elements(b"[1", &[], 99), [Element::Cut(b"1".to_vec())]);
        assert_eq!(elements(b"[", &[], 99), [Element::Cut(Vec::new())]);
        let long = format!("[\"{}\",2]", "x".repeat(1 << 20));
        let found = elements(long.as_bytes(), &[], 1 << 10);
        assert!(
            matches!(&found[0], Element::TooLong(size, begins) if *size == (1 << 20) + 2 && begins.len() == 1024),
            "{:?}",
            found.len()
        );
        assert_eq!(found[1], Element::Text(b"2".to_vec()));
        assert_eq!(
            elements(b"{\"log\":{}}", &["log", "entries"], 99),
            [Element::Missing("the outer object has no `entries`".into())]
        );
        assert_eq!(
            elements(b"{\"log\":[]}", &["log", "entries"], 99),
            [Element::Missing("an object was expected at `entries`".into())]
        );
    }
}
