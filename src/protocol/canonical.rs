//! Canonical JSON: one spelling for texts that differ only in order, spacing or escapes.

use super::json::{Oddities, string};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// Deepest nesting that [`canonical`] follows; serde_json's own limit.
const MAX_DEPTH: usize = 128;

/// Canonical JSON: keys sorted by their bytes, no spaces, numbers and literals by their exact text, strings escaped
/// in one way. Two texts that differ only in order, spacing or escapes become one. Text that is no JSON, or that is
/// nested deeper than 128 levels, is returned as it is.
pub fn canonical(text: &str, flags: &mut Oddities) -> String {
    let mut scan = Scan { text, at: 0, out: String::with_capacity(text.len()), found: Oddities::default() };
    if scan.value(0).is_none() || scan.peek().is_some() {
        return text.to_owned();
    }
    flags.duplicate_keys += scan.found.duplicate_keys;
    flags.lossy_text += scan.found.lossy_text;
    scan.out
}

/// Appends a string with the escapes JSON requires (RFC 8259, section 7) and no others.
fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut clean = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(text.get(clean..at).unwrap_or_default());
        clean = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                let hex = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or('0');
                out.push_str("\\u00");
                out.push(hex(byte >> 4));
                out.push(hex(byte & 0xf));
            }
        }
    }
    out.push_str(text.get(clean..).unwrap_or_default());
    out.push('"');
}

/// One pass over a JSON text that writes its canonical form. Every step is `None` on text that is no JSON.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    out: String,
    found: Oddities,
}

impl<'a> Scan<'a> {
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let skipped = rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))?;
        self.at += skipped;
        rest.get(skipped).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' if depth < MAX_DEPTH => self.object(depth),
            b'[' if depth < MAX_DEPTH => self.array(depth),
            b'{' | b'[' => None,
            b'"' => {
                let text = self.string()?;
                push_quoted(&mut self.out, &text);
                Some(())
            }
            _ => self.scalar(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.take(b'[')?;
        self.out.push('[');
        if self.peek()? == b']' {
            self.at += 1;
            self.out.push(']');
            return Some(());
        }
        loop {
            self.value(depth + 1)?;
            match self.peek()? {
                b',' => self.out.push(','),
                b']' => {
                    self.at += 1;
                    self.out.push(']');
                    return Some(());
                }
                _ => return None,
            }
            self.at += 1;
        }
    }

    /// Members are written one after the other, then put into order where they were not.
    fn object(&mut self, depth: usize) -> Option<()> {
        self.take(b'{')?;
        self.out.push('{');
        let start = self.out.len();
        let mut members: Vec<(Cow<'a, str>, Range<usize>)> = Vec::new();
        if self.peek()? == b'}' {
            self.at += 1;
            self.out.push('}');
            return Some(());
        }
        loop {
            if self.peek()? != b'"' {
                return None;
            }
            let key = self.string()?;
            self.take(b':')?;
            let from = self.out.len();
            push_quoted(&mut self.out, &key);
            self.out.push(':');
            self.value(depth + 1)?;
            members.push((key, from..self.out.len()));
            match self.peek()? {
                b',' => self.out.push(','),
                b'}' => break,
                _ => return None,
            }
            self.at += 1;
        }
        self.at += 1;
        if !members.is_sorted_by(|a, b| a.0 < b.0) {
            self.reorder(start, members)?;
        }
        self.out.push('}');
        Some(())
    }

    fn reorder(&mut self, start: usize, mut members: Vec<(Cow<'a, str>, Range<usize>)>) -> Option<()> {
        // Stable, so that the last of equal names is the last on the wire.
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let mut ordered = String::with_capacity(self.out.len() - start);
        for (at, (key, range)) in members.iter().enumerate() {
            if members.get(at + 1).is_some_and(|next| next.0 == *key) {
                self.found.duplicate_keys += 1;
                continue;
            }
            if !ordered.is_empty() {
                ordered.push(',');
            }
            ordered.push_str(self.out.get(range.clone())?);
        }
        self.out.truncate(start);
        self.out.push_str(&ordered);
        Some(())
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            let found = memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
            end += found;
            if bytes.get(end) == Some(&b'"') {
                break;
            }
            end += 2;
        }
        self.at = end + 1;
        let text = self.text.get(start..self.at)?;
        // Decoding is lenient about escapes and control characters that JSON does not know; this scanner is not.
        if text.bytes().any(|byte| byte == b'\\' || byte < 0x20) {
            serde_json::from_str::<&RawValue>(text).ok()?;
        }
        string(text, &mut self.found)
    }

    fn scalar(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let end = rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
        let word = rest.get(..end)?;
        serde_json::from_str::<&RawValue>(word).ok()?;
        self.at += end;
        self.out.push_str(word);
        Some(())
    }
}
