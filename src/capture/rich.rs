//! Lines that Python's Rich has wrapped at the width of a console.
//!
//! `[01/31/26 12:00:00] DEBUG    text        sse.py:120`, and the rest of the text below, behind as many blanks as the first
//! line has before it. The time is blank where it is that of the line before.

use super::sink::Line;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Lines that one record may take.
const MOST_LINES: usize = 2_000;
/// The level is padded to this width, and a blank follows.
const LEVEL: usize = 8;

/// The record that begins on a line, as one line without what stands at its right edge, and where it ends in the block;
/// `None` where the line is none of Rich's, or is not wrapped.
pub fn unwrap(block: &[u8], line: Line) -> Option<(Vec<u8>, usize)> {
    static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:\[[^\]]{5,30}\]| {7,32}) ((?:DEBUG|INFO|WARNING|ERROR|CRITICAL) {1,8})").ok()
    });
    static EDGE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(.*?) +(\S+\.py:\d+)$").ok());
    let text = line.of(block);
    if !matches!(text.first(), Some(b'[' | b' ')) {
        return None;
    }
    let level = HEAD.as_ref()?.captures(text.get(..64).unwrap_or(text))?.get(1)?.start();
    let column = level + LEVEL + 1;
    let own = text.get(column..)?.trim_ascii_end();
    let edge = EDGE.as_ref()?.captures(own)?;
    // How wide the text may be is seen from where its right edge stands.
    let width = edge.get(2)?.start().checked_sub(1)?;
    let mut joined = text.get(..column)?.to_vec();
    let mut last = edge.get(1)?.as_bytes();
    joined.extend_from_slice(last);
    let mut at = line.to + memchr::memchr(b'\n', block.get(line.to..)?)? + 1;
    let mut end = None;
    for _ in 0..MOST_LINES {
        let rest = block.get(at..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest);
        let next = rest.get(..length.unwrap_or(rest.len()))?.trim_ascii_end();
        let blank = next.iter().take(column).take_while(|byte| **byte == b' ').count();
        if blank < column || next.len() <= column {
            break;
        }
        // A word that fills its line goes on below; else a blank stood where the line ends.
        if letters(last) < width {
            joined.push(b' ');
        }
        last = next.get(column..)?;
        joined.extend_from_slice(last);
        at += length.map_or(rest.len(), |length| length + 1);
        end = Some(at);
        if length.is_none() {
            break;
        }
    }
    Some((joined, end?))
}

fn letters(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwrapped(text: &str) -> Option<(String, usize)> {
        let end = text.find('\n').unwrap_or(text.len());
        let line = Line { from: 0, to: end, size: end + 1, first: true, unfinished: false };
        unwrap(text.as_bytes(), line).map(|(text, end)| (String::from_utf8(text).unwrap(), end))
    }

    #[test]
    fn a_wrapped_record_is_one_line_again() {
        let indent = " ".repeat(29);
        let text = format!(
            "[01/31/26 12:00:00] DEBUG    Received JSON:          sse.py:120\n\
             {indent}b'{{\"jsonrpc\":\"2.0\",\"id\"\n{indent}:3}}'\nnext\n"
        );
        let (joined, end) = unwrapped(&text).unwrap();
        assert_eq!(joined, "[01/31/26 12:00:00] DEBUG    Received JSON: b'{\"jsonrpc\":\"2.0\",\"id\":3}'");
        assert_eq!(&text[end..], "next\n");
        let blank = text.replace("[01/31/26 12:00:00]", &" ".repeat(19));
        assert!(unwrapped(&blank).is_some_and(|(joined, _)| joined.ends_with(":3}'")));
        // The file ends here.
        assert!(unwrapped(text.trim_end_matches("\nnext\n")).is_some_and(|(joined, _)| joined.ends_with(":3}'")));
    }

    #[test]
    fn other_lines_are_left_alone() {
        for text in [
            "[01/31/26 12:00:00] DEBUG    Received JSON: b'{}'      sse.py:120\nnext\n",
            "[info] text\n    more\n",
            "2026-01-31 DEBUG text\n",
            "    indented\n",
            "[a",
        ] {
            assert_eq!(unwrapped(text), None, "{text}");
        }
    }
}
