//! The only way text from traffic enters an output.
//!
//! A [`Page`] knows the privacy rule of one output: it turns names and values into [`Printable`]s, whose text has
//! nothing invisible left in it. A [`Printable`] is then cut and escaped for its target. Marks of ours stand in round
//! or pointed brackets; a value that could be mistaken for one is quoted.

mod credential;
mod escape;
mod invisible;
#[cfg(test)]
mod tests;

pub use invisible::{is_invisible, reveal};

use super::model::{HashKey, RenderOptions, Report};
use crate::finding::Part;
use crate::finding::evidence::Shown;
use crate::schema::ValueType;

/// Values of a closed domain up to this many characters are shown without `--reveal`.
pub const SHORT_CHARS: u64 = 80;
/// Values over this many characters are oversized: pasted into the wrong box.
pub const OVERSIZED_CHARS: u64 = 400;
/// Values over this many words are oversized.
pub const OVERSIZED_WORDS: usize = 50;
/// Names over this many characters, or of several lines, are treated as hidden text: no declared name is like that.
const NAME_CHARS: usize = 200;
/// Graphemes of a name or value inside a sentence.
const IN_SENTENCE: usize = 60;

/// What replaces a value that a capture did not hold or a call did not send.
pub const ABSENT: &str = "(absent)";
/// JSON null.
pub const NULL: &str = "(null)";
/// Zero-length text.
pub const ZERO_LENGTH: &str = "\"\"";
/// No name was sent, or it was not captured.
pub const NO_NAME: &str = "(no name)";
/// A number or time that cannot be given.
pub const NOTHING: &str = "–";

/// Text without control, bidirectional or invisible characters: what stood there is visible. Not yet escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printable(String);

/// The privacy rule of one output.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    key: &'a HashKey,
    reveal: bool,
}

/// A value for a machine: its exact text, or why it is withheld.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact {
    pub text: Option<String>,
    /// `private`, `credential` or, for text kept in part only, `cut`.
    pub withheld: Option<&'static str>,
}

impl<'a> Page<'a> {
    pub fn new(report: &'a Report, options: &RenderOptions) -> Self {
        Self::with_key(&report.run.hash_key, options.reveal)
    }

    pub fn with_key(key: &'a HashKey, reveal: bool) -> Self {
        Self { key, reveal }
    }

    /// A value under the privacy rule.
    pub fn value(&self, shown: &Shown) -> Printable {
        if shown.chars == 0 {
            return Printable(ZERO_LENGTH.to_owned());
        }
        if self.hides(shown) {
            return Printable(self.hidden(shown.chars, &self.key.digest(shown.hash)));
        }
        let masked = credential::mask(&shown.text, credential::Scope::Value, |secret| self.masked(secret));
        let mut text = invisible::reveal(&masked);
        if is_cut(shown) {
            text.push('…');
        }
        if needs_quotes(&masked) && masked == *shown.text {
            text = format!("\"{text}\"");
        }
        Printable(text)
    }

    /// A value that is no string says so: `42` and `"42"` are two values.
    pub fn typed_value(&self, shown: &Shown, json_type: ValueType) -> Printable {
        match json_type {
            ValueType::String => self.value(shown),
            ValueType::Null => Printable(NULL.to_owned()),
            other => {
                let mut text = self.value(shown);
                text.0.push_str(" (");
                text.0.push_str(other.as_str());
                text.0.push(')');
                text
            }
        }
    }

    /// A name: prompt, argument, key, field, server, client, session, tool. Names are contract, not content: they are
    /// shown, unless they look like no name: over-long, or of several lines.
    pub fn name(&self, name: &str) -> Printable {
        if name.is_empty() {
            return Printable(ZERO_LENGTH.to_owned());
        }
        match self.withheld_name(name) {
            Some(mark) => Printable(mark),
            None => {
                let masked = credential::mask(name, credential::Scope::Name, |secret| self.masked(secret));
                let text = invisible::reveal(&masked);
                Printable(if needs_quotes(&masked) && masked == name { format!("\"{text}\"") } else { text })
            }
        }
    }

    pub fn optional_name(&self, name: Option<&str>) -> Printable {
        name.map_or_else(|| Printable(NO_NAME.to_owned()), |name| self.name(name))
    }

    /// Text of ours that may hold names or paths from outside.
    pub fn prose(&self, text: &str) -> Printable {
        let masked = credential::mask(text, credential::Scope::Name, |secret| self.masked(secret));
        Printable(invisible::reveal(&masked))
    }

    /// A finding's sentence, its names and values cut.
    pub fn sentence(&self, parts: &[Part]) -> Printable {
        let mut sentence = String::new();
        for part in parts {
            match part {
                Part::Ours(text) => sentence.push_str(&invisible::reveal(text)),
                Part::Name(name) => sentence.push_str(&self.name(name).cut(IN_SENTENCE)),
                Part::Value(shown) => sentence.push_str(&self.value(shown).cut(IN_SENTENCE)),
            }
        }
        Printable(sentence)
    }

    /// What a machine may have of a value.
    pub fn exact(&self, shown: &Shown) -> Exact {
        if shown.chars > 0 && self.hides(shown) {
            return Exact { text: None, withheld: Some("private") };
        }
        if credential::found(&shown.text, credential::Scope::Value) {
            return Exact { text: None, withheld: Some("credential") };
        }
        Exact { text: Some(shown.text.to_string()), withheld: is_cut(shown).then_some("cut") }
    }

    /// Free text for a machine: what it may have of it.
    pub fn exact_text(&self, text: &str) -> Exact {
        if !self.reveal && !text.is_empty() {
            return Exact { text: None, withheld: Some("private") };
        }
        if credential::found(text, credential::Scope::Value) {
            return Exact { text: None, withheld: Some("credential") };
        }
        Exact { text: Some(text.to_owned()), withheld: None }
    }

    /// A name for a machine: exact, unless it holds a credential or looks like no name.
    pub fn exact_name(&self, name: &str) -> String {
        self.withheld_name(name)
            .unwrap_or_else(|| credential::mask(name, credential::Scope::Name, |secret| self.masked(secret)))
    }

    /// The keyed hash of a value.
    pub fn digest(&self, shown: &Shown) -> String {
        self.key.digest(shown.hash)
    }

    /// A keyed hash from an internal one.
    pub fn keyed(&self, hash: u64) -> Printable {
        Printable(self.key.digest(hash))
    }

    fn hides(&self, shown: &Shown) -> bool {
        if self.reveal || shown.text.trim().is_empty() {
            return false;
        }
        !shown.closed
            || shown.chars > SHORT_CHARS
            || shown.text.contains(is_line_break)
            || shown.text.split_whitespace().count() > OVERSIZED_WORDS
    }

    fn withheld_name(&self, name: &str) -> Option<String> {
        let chars = name.chars().count();
        let unlike_a_name = chars > NAME_CHARS || name.contains(is_line_break);
        (!self.reveal && unlike_a_name).then(|| self.hidden(chars as u64, &self.key.digest_text(name)))
    }

    fn hidden(&self, chars: u64, digest: &str) -> String {
        format!("<{chars} {}, #{digest}>", if chars == 1 { "char" } else { "chars" })
    }

    fn masked(&self, secret: &str) -> String {
        format!("<credential, {} chars, #{}>", secret.chars().count(), self.key.digest_text(secret))
    }
}

impl Printable {
    /// A mark of ours.
    pub fn mark(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// For a terminal, at most `max` graphemes.
    pub fn terminal(&self, max: usize) -> String {
        self.cut(max)
    }

    /// For a cell of a Markdown table or a line of text, at most `max` graphemes.
    pub fn markdown(&self, max: usize) -> String {
        escape::markdown(&self.cut(max))
    }

    /// For HTML text and attribute values.
    pub fn html(&self, max: usize) -> String {
        escape::html(&self.cut(max))
    }

    /// For a CSV field, whole. The `csv` crate quotes it; this keeps a spreadsheet from reading it as a formula.
    pub fn csv(&self) -> String {
        escape::csv(&self.0)
    }

    /// For a label in a picture: short, with characters that the font has.
    pub fn chart(&self, max: usize) -> String {
        escape::chart(&self.cut(max))
    }

    /// Whole, for a JSON string or an error message.
    pub fn whole(&self) -> &str {
        &self.0
    }

    /// At most `max` graphemes, the last of them `…` where something is missing. A grapheme made of a heap of
    /// combining marks does not get more room than eight characters.
    fn cut(&self, max: usize) -> String {
        escape::cut(&self.0, max)
    }
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The frames keep at most 4 KiB of a value.
fn is_cut(shown: &Shown) -> bool {
    (shown.text.chars().count() as u64) < shown.chars
}

/// Text that begins or ends with white space, or that could be taken for a mark or a quoted text.
fn needs_quotes(text: &str) -> bool {
    let bracketed = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
    text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || bracketed('"', '"')
        || bracketed('(', ')')
        || bracketed('<', '>')
        || text == NOTHING
}
