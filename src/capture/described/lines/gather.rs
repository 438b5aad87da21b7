//! Values that go on in the lines that follow.

use super::engine::Plain;
use crate::capture::repair::{Balance, join};
use crate::capture::sink::{Line, Sink};

/// Lines that one value may take, and bytes.
const MOST_LINES: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;

/// A value of several lines.
pub struct Gathered {
    /// The value, with nothing behind it.
    pub text: Vec<u8>,
    /// Where its last line ends in the block.
    pub end: usize,
    /// A line broke inside a string, which no writer does: somebody's terminal or chat did.
    pub torn: bool,
}

/// Follows a value that begins with `first`, in its first line, up to where its brackets close. `read` gives a following
/// line without what carries it, or nothing where something else begins there. What is looked at in vain is taken from
/// the budget.
pub fn gather(
    sink: &Sink<'_>,
    line: Line,
    first: &[u8],
    quotes: &'static [u8],
    partial: bool,
    budget: &mut usize,
    mut read: impl FnMut(&[u8]) -> Option<Plain>,
) -> Option<Gathered> {
    if line.unfinished || *budget == 0 || first.is_empty() {
        return None;
    }
    let block = sink.block();
    let mut balance = Balance::new(quotes);
    if balance.feed(first).is_some() {
        return None;
    }
    let mut torn = balance.in_string() && !partial;
    let mut partial = partial;
    // The value's lines; those that were cut by what carries them are one.
    let mut lines: Vec<Vec<u8>> = vec![first.to_vec()];
    let mut at = line.to + memchr::memchr(b'\n', block.get(line.to..)?)? + 1;
    let mut size = 0;
    while lines.len() < MOST_LINES && size < MOST_BYTES {
        let rest = block.get(at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest);
        let text = rest.get(..length.unwrap_or(rest.len()))?;
        let Some(next) = read(text.strip_suffix(b"\r").unwrap_or(text)) else { break };
        at += length.map_or(rest.len(), |length| length + 1);
        size += text.len() + 1;
        let closed = balance.feed(&next.text);
        let own = next.text.get(..closed.unwrap_or(next.text.len())).unwrap_or_default();
        match lines.last_mut() {
            Some(last) if partial => last.extend_from_slice(own),
            _ => lines.push(own.to_vec()),
        }
        if closed.is_some() {
            let pieces = lines.iter().map(Vec::as_slice);
            let text = if torn { join(pieces) } else { pieces.collect::<Vec<_>>().join(&b'\n') };
            return Some(Gathered { text, end: at, torn });
        }
        partial = next.partial;
        torn |= balance.in_string() && !partial;
        if length.is_none() {
            break;
        }
    }
    *budget = budget.saturating_sub(size.max(1));
    None
}
