//! The fields of a packet. tshark repeats names inside an object (`-T json`), where each is another header or chunk: an
//! ordinary reader of JSON would keep the last.

use crate::capture::skim::{Cursor, Span};
use crate::capture::time;
use crate::protocol::json::{self, Oddities};
use crate::protocol::message::Ts;

/// Deepest nesting that is looked into.
const DEPTH: usize = 64;

/// Fields that are read, by the names of `-T json` with underscores.
const WANTED: [&str; 25] = [
    "frame_number",
    "frame_time_epoch",
    "ip_src",
    "ip_dst",
    "ipv6_src",
    "ipv6_dst",
    "tcp_srcport",
    "tcp_dstport",
    "tcp_stream",
    "tcp_payload",
    "tcp_reassembled_data",
    "tcp_segments_raw",
    "http_request_method",
    "http_request_uri",
    "http_request_line",
    "http_response_code",
    "http_response_line",
    "http_response_for_uri",
    "http_request_in",
    "http_host",
    "http_content_type",
    "http_chunk_size",
    "http_chunk_data",
    "http_file_data",
    "http_file_data_raw",
];

/// Of the layers that are looked into where they are needed.
const TEXTS: [&str; 3] = ["json_value_string", "json_key", "media_type"];

/// Values of fields, in the order in which they stand; a field may have several.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(&'static str, String)>);

impl Fields {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// Collects the wanted fields of a value and of all inside it.
    fn collect(&mut self, cursor: &mut Cursor<'_>, wanted: &'static [&'static str], depth: usize) -> Option<()> {
        let mut first = true;
        match cursor.peek()? {
            b'{' if depth < DEPTH => {
                cursor.take(b'{')?;
                while let Some(name) = cursor.member(&mut first)? {
                    match field(name.of(cursor.bytes()), wanted) {
                        Some(name) => self.values(cursor, name, depth + 1)?,
                        None => self.collect(cursor, wanted, depth + 1)?,
                    }
                }
            }
            b'[' if depth < DEPTH => {
                cursor.take(b'[')?;
                while cursor.element(&mut first)? {
                    self.collect(cursor, wanted, depth + 1)?;
                }
            }
            _ => {
                cursor.value()?;
            }
        }
        Some(())
    }

    /// The strings of a field: one, or a list of them. Numbers beside them say where they stand in the packet.
    fn values(&mut self, cursor: &mut Cursor<'_>, name: &'static str, depth: usize) -> Option<()> {
        let mut first = true;
        match cursor.peek()? {
            b'"' => {
                let span = cursor.value()?;
                self.0.push((name, text(span.of(cursor.bytes()))));
            }
            b'[' if depth < DEPTH => {
                cursor.take(b'[')?;
                while cursor.element(&mut first)? {
                    self.values(cursor, name, depth + 1)?;
                }
            }
            _ => {
                cursor.value()?;
            }
        }
        Some(())
    }
}

fn text(exact: &[u8]) -> String {
    json::text_or_exact(&String::from_utf8_lossy(exact), &mut Oddities::default()).into_owned()
}

/// The name of a field as it is known here. `-T ek` writes the name of the layer in front, and underscores for dots.
fn field(name: &[u8], wanted: &'static [&'static str]) -> Option<&'static str> {
    let name = plain(name)?;
    wanted.iter().find(|known| **known == name).copied()
}

fn plain(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?.replace('.', "_");
    match name.split_once('_') {
        Some((layer, rest)) if rest.strip_prefix(layer).is_some_and(|rest| rest.starts_with('_')) => {
            Some(rest.to_owned())
        }
        _ => Some(name),
    }
}

/// A packet.
#[derive(Debug, Default)]
pub struct Frame {
    pub number: Option<u64>,
    pub ts: Option<Ts>,
    /// Of the layers below HTTP.
    pub below: Fields,
    /// Of each HTTP message that ends in the packet.
    pub http: Vec<Fields>,
    /// Decoded texts of JSON, and bytes of other bodies.
    texts: Fields,
    pub tls: bool,
    pub http2: bool,
}

impl Frame {
    /// Reads a packet; the error says what is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut frame = Self::default();
        match frame.document(bytes) {
            Some(true) => {}
            Some(false) => return Err("no packet: it has no `layers`".to_owned()),
            None => return Err("not valid JSON".to_owned()),
        }
        frame.number = frame.below.number("frame_number");
        let ts = frame.below.get("frame_time_epoch").map(str::as_bytes);
        frame.ts = ts.and_then(|ts| time::number(ts).or_else(|| time::text(ts))).or(frame.ts);
        if frame.http.is_empty() && frame.below.0.iter().any(|(name, _)| name.starts_with("http_")) {
            // Chosen fields alone (-e): they stand side by side.
            frame.http.push(frame.below.clone());
        }
        Ok(frame)
    }

    /// Texts that the JSON layer decoded.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.0.iter().filter(|(name, _)| *name != "media_type").map(|(_, text)| text.as_str())
    }

    /// The bytes of a body that is no JSON, in hexadecimal.
    pub fn media(&self) -> Option<&str> {
        self.texts.get("media_type")
    }

    /// Whether the value is a packet; `None` where it is no JSON.
    fn document(&mut self, bytes: &[u8]) -> Option<bool> {
        let mut cursor = Cursor::new(bytes, 0);
        let found = self.members(&mut cursor)?;
        cursor.peek().is_none().then_some(found)
    }

    fn members(&mut self, cursor: &mut Cursor<'_>) -> Option<bool> {
        if cursor.peek()? != b'{' {
            cursor.value()?;
            return Some(false);
        }
        let mut first = true;
        let mut found = false;
        cursor.take(b'{')?;
        while let Some(name) = cursor.member(&mut first)? {
            match name.of(cursor.bytes()) {
                b"_source" => found |= self.members(cursor)?,
                b"layers" if cursor.peek()? == b'{' => {
                    self.layers(cursor)?;
                    found = true;
                }
                b"timestamp" => {
                    let value = text(cursor.value()?.of(cursor.bytes()));
                    self.ts = time::number(value.as_bytes()).or_else(|| time::text(value.as_bytes()));
                }
                _ => {
                    cursor.value()?;
                }
            }
        }
        Some(found)
    }

    fn layers(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let mut first = true;
        cursor.take(b'{')?;
        while let Some(name) = cursor.member(&mut first)? {
            let name = plain(name.of(cursor.bytes())).unwrap_or_default();
            if let Some(known) = WANTED.iter().find(|known| **known == name) {
                self.below.values(cursor, known, 0)?;
                continue;
            }
            let span = cursor.value()?;
            let layer = span.of(cursor.bytes());
            match name.as_str() {
                "frame" | "ip" | "ipv6" | "tcp" | "tcp_segments" => {
                    self.below.collect(&mut Cursor::new(layer, 0), &WANTED, 0)?;
                }
                "http" => self.messages(layer)?,
                "json" | "media" => self.texts.collect(&mut Cursor::new(layer, 0), &TEXTS, 0)?,
                "tls" | "ssl" => self.tls = true,
                "http2" => self.http2 = true,
                _ => {}
            }
        }
        Some(())
    }

    /// The messages of a packet: one object, or a list of them.
    fn messages(&mut self, layer: &[u8]) -> Option<()> {
        let mut cursor = Cursor::new(layer, 0);
        let mut spans: Vec<Span> = Vec::new();
        if cursor.peek()? == b'[' {
            let mut first = true;
            cursor.take(b'[')?;
            while cursor.element(&mut first)? {
                spans.push(cursor.value()?);
            }
        } else {
            spans.push(cursor.value()?);
        }
        for span in spans {
            let mut fields = Fields::default();
            fields.collect(&mut Cursor::new(span.of(layer), 0), &WANTED, 0)?;
            self.http.push(fields);
        }
        Some(())
    }
}
