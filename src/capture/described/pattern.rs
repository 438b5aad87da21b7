//! Regular expressions of descriptions: checked when a description is read, compiled when first matched.
//!
//! A run knows some thirty descriptions and reads files of one or two; compiling the expressions of all of them costs
//! more than reading a small log.

use regex::bytes::{Captures, Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use std::sync::OnceLock;

/// A regular expression over the bytes of a line.
#[derive(Debug)]
pub struct Pattern {
    source: Box<str>,
    unicode: bool,
    /// The names of its groups, in order.
    names: Vec<Box<str>>,
    /// Groups with and without names, the whole match not counted.
    groups: usize,
    /// With which bytes a match begins, where every match begins where the text does.
    begins: Option<Bytes>,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Reads a regular expression. `unicode`: classes such as `\d` hold the characters of all scripts, as people expect
    /// who write one; those that are built in are about bytes, which compiles ten times faster.
    ///
    /// # Errors
    /// What is wrong with the expression, in words.
    pub fn new(source: &str, unicode: bool) -> Result<Self, String> {
        let parsed = ParserBuilder::new().utf8(false).unicode(unicode).build().parse(source);
        let hir = parsed.map_err(|error| error.to_string())?;
        let mut names = Vec::new();
        named(&hir, &mut names);
        let anchored = hir.properties().look_set_prefix().contains(Look::Start);
        let mut begins = Bytes::default();
        let begins = (anchored && !first_bytes(&hir, &mut begins)).then_some(begins);
        let groups = hir.properties().explicit_captures_len();
        let pattern = Self { source: source.into(), unicode, names, groups, begins, compiled: OnceLock::new() };
        if unicode {
            // Only this finds one that is too large; those that are built in are known to be small enough.
            let compiled = pattern.compile().map_err(|error| error.to_string())?;
            let _ = pattern.compiled.set(Some(compiled));
        }
        Ok(pattern)
    }

    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The names of its groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }

    /// How many groups it has, the whole match not counted.
    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn is_match(&self, text: &[u8]) -> bool {
        self.for_text(text).is_some_and(|regex| regex.is_match(text))
    }

    /// Where the first match ends.
    pub fn end(&self, text: &[u8]) -> Option<usize> {
        self.for_text(text)?.find(text).map(|found| found.end())
    }

    pub fn captures<'t>(&self, text: &'t [u8]) -> Option<Captures<'t>> {
        self.for_text(text)?.captures(text)
    }

    /// The expression, unless the first byte of a text already says that it does not match.
    fn for_text(&self, text: &[u8]) -> Option<&Regex> {
        if let Some(begins) = &self.begins
            && !text.first().is_some_and(|first| begins.has(*first))
        {
            return None;
        }
        self.compiled.get_or_init(|| self.compile().ok()).as_ref()
    }

    fn compile(&self) -> Result<Regex, regex::Error> {
        RegexBuilder::new(&self.source).unicode(self.unicode).build()
    }
}

/// A set of bytes.
#[derive(Debug, Default)]
struct Bytes([u64; 4]);

impl Bytes {
    fn add(&mut self, from: u8, to: u8) {
        for byte in from..=to {
            if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
                *word |= 1 << (byte & 63);
            }
        }
    }

    fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|word| word >> (byte & 63) & 1 == 1)
    }
}

fn named(hir: &Hir, names: &mut Vec<Box<str>>) {
    match hir.kind() {
        HirKind::Capture(capture) => {
            names.extend(capture.name.clone());
            named(&capture.sub, names);
        }
        HirKind::Repetition(repetition) => named(&repetition.sub, names),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().for_each(|part| named(part, names)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {}
    }
}

/// Adds the bytes with which a match can begin; whether it can be empty, so that what follows begins it.
fn first_bytes(hir: &Hir, bytes: &mut Bytes) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => match literal.0.first() {
            Some(first) => {
                bytes.add(*first, *first);
                false
            }
            None => true,
        },
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().for_each(|range| bytes.add(range.start(), range.end()));
            false
        }
        HirKind::Class(Class::Unicode(class)) => {
            // In UTF-8, leading bytes are in the order of the characters.
            let leading = |char: char| char.encode_utf8(&mut [0; 4]).as_bytes().first().copied().unwrap_or_default();
            class.iter().for_each(|range| bytes.add(leading(range.start()), leading(range.end())));
            false
        }
        HirKind::Repetition(repetition) => first_bytes(&repetition.sub, bytes) || repetition.min == 0,
        HirKind::Capture(capture) => first_bytes(&capture.sub, bytes),
        HirKind::Concat(parts) => parts.iter().all(|part| first_bytes(part, bytes)),
        HirKind::Alternation(parts) => parts.iter().filter(|part| first_bytes(part, bytes)).count() > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_are_known_before_an_expression_is_compiled() {
        let pattern = Pattern::new(r"^(?P<who>in|out): +(x)(?P<json>[\[{])", false).unwrap();
        assert_eq!(pattern.names().collect::<Vec<_>>(), ["who", "json"]);
        assert_eq!(pattern.groups(), 3);
        assert!(pattern.compiled.get().is_none());
        assert!(!pattern.is_match(b"{\"in: x{\":1}"));
        assert!(pattern.compiled.get().is_none(), "the first byte said that it does not match");
        assert!(pattern.is_match(b"out: x{"));
    }

    #[test]
    fn what_is_wrong_is_said_when_it_is_read() {
        for unicode in [true, false] {
            assert!(Pattern::new("a(b", unicode).unwrap_err().contains("unclosed group"));
        }
        assert!(Pattern::new(r"\w{5000}{50}", true).is_err(), "too large");
    }

    proptest! {
        /// The first byte decides nothing that the expression would decide otherwise.
        #[test]
        fn a_text_that_is_turned_away_does_not_match(
            source in r"\^(a|é|\[b-d\]|\\d|(x|yé)|(q)?|\\s\*|\\b|\$|[a-c]{1,2}[+*?]){1,4}",
            text in "[a-dx-z0-9é \n]{0,4}",
            unicode: bool,
        ) {
            let Ok(pattern) = Pattern::new(&source, unicode) else { return Ok(()) };
            let regex = RegexBuilder::new(&source).unicode(unicode).build().unwrap();
            prop_assert_eq!(pattern.is_match(text.as_bytes()), regex.is_match(text.as_bytes()));
        }
    }
}
