//! The formats that can be read. A new one is a file of its own and a line in [`ALL`].

mod desktop;
mod envelope;
mod jsonrpc;
#[cfg(test)]
mod tests;

use super::sink::{Block, Decoded, FileFacts};

/// A way of writing messages down, line by line.
pub trait Format: Sync {
    /// The name that `--format` takes and reports show.
    fn name(&self) -> &'static str;
    /// How a line of it looks, for people.
    fn looks_like(&self) -> &'static str;
    /// No other format has lines like these: one line with a message decides.
    fn unmistakable(&self) -> bool {
        false
    }
    /// Whether a line that holds no message shows this format all the same.
    fn is_sign(&self, _line: &[u8]) -> bool {
        false
    }
    /// Whether a block may begin with this line (of which the beginning is given).
    fn begins_record(&self, _line: &[u8]) -> bool {
        true
    }
    /// The variant that the marks of [`super::sink::Tally`] show.
    fn variant(&self, _marks: u32) -> Option<String> {
        None
    }
    /// Reads a block.
    fn decode(&self, block: &Block, file: &FileFacts) -> Decoded;
}

/// In order of precedence where two fit equally well.
pub static ALL: &[&dyn Format] = &[&desktop::Desktop, &jsonrpc::JsonRpc, &envelope::Envelope];

pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    ALL.iter().copied().find(|format| format.name() == name)
}

/// The names of all formats, for messages.
pub fn names() -> String {
    ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
}

/// Colour codes stand around a record, never inside its JSON; this looks only where they begin.
fn has_colour(line: &[u8]) -> bool {
    let head = line.get(..256).unwrap_or(line);
    head.contains(&0x1b)
}

/// The text without terminal control sequences (`ESC [ … letter` and `ESC ] … BEL`).
fn without_colour(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != 0x1b {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'[') => while bytes.next().is_some_and(|byte| !(0x40..=0x7e).contains(&byte)) {},
            Some(b']') => while bytes.next().is_some_and(|byte| byte != 0x07) {},
            _ => {}
        }
    }
    out
}

/// Whether text begins like an object with a member, or an array of such.
fn begins_json(text: &[u8]) -> bool {
    let mut marks = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    match marks.next() {
        Some(b'{') => matches!(marks.next(), Some(b'"' | b'}') | None),
        Some(b'[') => matches!(marks.next(), Some(b'{') | None),
        _ => false,
    }
}
