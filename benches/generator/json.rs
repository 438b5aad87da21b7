//! JSON, written one member after another in a program's style.

use std::io::Write;

/// How a program writes JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No spaces, text as UTF-8 (JavaScript).
    Compact,
    /// A space after commas and colons, `\uXXXX` for everything that is not ASCII (Python).
    Spaced,
}

pub struct Json<'a> {
    out: &'a mut Vec<u8>,
    pub style: Style,
    /// No member stands in the open object yet.
    first: bool,
}

impl<'a> Json<'a> {
    pub fn new(out: &'a mut Vec<u8>, style: Style) -> Self {
        Self { out, style, first: true }
    }

    pub fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.first = true;
    }

    pub fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.first = false;
    }

    fn key(&mut self, name: &str) {
        if !self.first {
            self.out.extend_from_slice(if self.style == Style::Spaced { b", " } else { b"," });
        }
        self.first = false;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(if self.style == Style::Spaced { b"\": " } else { b"\":" });
    }

    pub fn object(&mut self, name: &str, body: impl FnOnce(&mut Self)) {
        self.key(name);
        self.open(b'{');
        body(self);
        self.close(b'}');
    }

    /// An array that holds one object.
    pub fn array_of_one(&mut self, name: &str, body: impl FnOnce(&mut Self)) {
        self.key(name);
        self.out.push(b'[');
        self.open(b'{');
        body(self);
        self.close(b'}');
        self.out.push(b']');
    }

    pub fn number(&mut self, name: &str, number: u64) {
        self.key(name);
        // Writing to a vector does not fail.
        let _ = write!(self.out, "{number}");
    }

    /// A string whose text is escaped already.
    pub fn text(&mut self, name: &str, text: &str) {
        self.parts(name, &[text]);
    }

    pub fn parts(&mut self, name: &str, parts: &[&str]) {
        self.key(name);
        self.out.push(b'"');
        for part in parts {
            self.out.extend_from_slice(part.as_bytes());
        }
        self.out.push(b'"');
    }

    /// JSON text as it is.
    pub fn raw(&mut self, name: &str, json: &str) {
        self.key(name);
        self.out.extend_from_slice(json.as_bytes());
    }
}
