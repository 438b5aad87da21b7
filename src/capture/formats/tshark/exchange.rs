//! The HTTP messages of a packet, and the best that is there of their bodies.
//!
//! tshark prints a body as text in which each byte that is no ASCII became U+FFFD. The bytes stand elsewhere, depending
//! on what was asked for: beside it (`-x`), in its chunks, in the packets, or decoded in the JSON layer.

use super::fields::{Fields, Frame};
use crate::capture::http::{Body, Leg};
use crate::capture::packets::begins_message;
use crate::protocol::json::{self, Oddities};
use std::collections::HashMap;

/// Which of an exchange's two messages one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    Request {
        method: String,
        url: String,
    },
    /// With the address its request went to, where tshark saw it.
    Answer {
        status: Option<u16>,
        url: Option<String>,
    },
}

/// A message that tshark took apart.
#[derive(Debug, Clone)]
pub struct Dissected {
    pub side: Side,
    pub leg: Leg,
    /// Number of the TCP stream.
    pub stream: Option<String>,
    /// Of an answer: the packet in which its request ends.
    pub answers: Option<u64>,
    /// Of an answer: its sender.
    pub server: Option<String>,
    pub position: u64,
    /// Its packet is counted with another message.
    pub shared: bool,
}

impl Dissected {
    /// Bytes it holds, about.
    pub fn weight(&self) -> usize {
        let body = match &self.leg.body {
            Body::Whole(bytes) | Body::Cut(bytes) => bytes.len(),
            Body::Empty | Body::NotStored | Body::Pieces(_) => 0,
        };
        512 + body + self.leg.headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum::<usize>()
    }
}

/// What was met in an export that is no message.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub tls: u64,
    pub http2: u64,
    /// Packets with a part of a body.
    pub parts: u64,
    /// Bodies in which letters are not known.
    pub masked: u64,
    pub only_answers: u64,
    pub without_answer: u64,
    pub let_go: u64,
}

impl Counts {
    pub fn notes(&self) -> Vec<String> {
        let remarks = [
            (
                self.tls,
                "packets are encrypted (TLS), and what they say is not known: have tshark decrypt them \
                 (-o tls.keylog_file:KEYS), or give what a proxy in between recorded (mitmproxy, HAR)",
            ),
            (
                self.http2,
                "packets are HTTP/2, which is not read from tshark's output: give what a proxy in between recorded \
                 (mitmproxy, HAR), or the log of the client or the server",
            ),
            (
                self.parts,
                "packets hold a part of a body that tshark did not put together: let it do so \
                 (-o tcp.desegment_tcp_streams:TRUE -o http.desegment_body:TRUE -o http.dechunk_body:TRUE)",
            ),
            (
                self.masked,
                "bodies hold letters that tshark replaced by U+FFFD, and their bytes are nowhere else: print them with -x",
            ),
            (self.only_answers, "answers belong to requests that are not in the file"),
            (
                self.without_answer,
                "requests have no answer in the file: tshark shows an answer when it has ended, so whether there was one \
                 is not known",
            ),
            (self.let_go, "requests were given out without waiting any longer, because too many waited"),
        ];
        remarks.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
    }
}

/// The messages that end in a packet.
pub fn messages(frame: &mut Frame, counts: &mut Counts) -> Vec<Dissected> {
    let http = std::mem::take(&mut frame.http);
    if http.is_empty() {
        counts.http2 += u64::from(frame.http2);
        counts.tls += u64::from(frame.tls && !frame.http2);
    }
    let alone = http.len() == 1;
    http.iter().filter_map(|fields| message(fields, frame, alone, counts)).collect()
}

fn message(fields: &Fields, frame: &Frame, alone: bool, counts: &mut Counts) -> Option<Dissected> {
    let end = |address: &str, v6: &str, port: &str| -> Option<String> {
        let below = &frame.below;
        let port = below.get(port)?;
        let address = below.get(address).map(str::to_owned).or_else(|| Some(format!("[{}]", below.get(v6)?)))?;
        Some(format!("{address}:{port}"))
    };
    let (side, lines) = match (fields.get("http_request_method"), fields.get("http_response_code")) {
        (Some(method), _) => {
            let url = fields.get("http_request_uri").unwrap_or_default().to_owned();
            (Side::Request { method: method.to_owned(), url }, "http_request_line")
        }
        (None, Some(code)) => {
            let url = fields.get("http_response_for_uri").map(str::to_owned);
            (Side::Answer { status: code.parse().ok(), url }, "http_response_line")
        }
        (None, None) => {
            counts.parts += 1;
            return None;
        }
    };
    // Interim answers precede the one that counts.
    if matches!(side, Side::Answer { status: Some(100 | 102..=199), .. }) {
        return None;
    }
    let mut headers: Vec<(String, String)> = fields.all(lines).filter_map(header).collect();
    for (field, name) in [("http_host", "host"), ("http_content_type", "content-type")] {
        if let Some(value) = fields.get(field)
            && headers.iter().all(|(known, _)| known != name)
        {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    let (body, framed) = body(fields, frame, &headers, alone, counts);
    if !framed {
        headers.retain(|(name, _)| name != "transfer-encoding");
    }
    let leg = Leg { headers, body, started: frame.ts, ended: frame.ts };
    Some(Dissected {
        side,
        leg,
        stream: frame.below.get("tcp_stream").map(str::to_owned),
        answers: fields.number("http_request_in"),
        server: end("ip_src", "ipv6_src", "tcp_srcport"),
        position: 0,
        shared: false,
    })
}

/// `name: value` with what ends the line.
fn header(line: &str) -> Option<(String, String)> {
    let line = line.trim_end_matches(['\r', '\n']);
    // Some versions write the two letters instead of the one they stand for.
    let line = line.strip_suffix("\\r\\n").unwrap_or(line);
    let (name, value) = line.split_once(':')?;
    Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
}

/// The best of a body that is there, and whether it is still framed in chunks.
fn body(
    fields: &Fields,
    frame: &Frame,
    headers: &[(String, String)],
    alone: bool,
    counts: &mut Counts,
) -> (Body, bool) {
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let declared: Option<usize> = header("content-length").and_then(|length| length.trim().parse().ok());
    let chunked = header("transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
    let text = fields.get("http_file_data");
    if text.is_none() && fields.get("http_chunk_data").is_none() {
        let none = declared.unwrap_or(0) == 0;
        return (if none { Body::Empty } else { Body::NotStored }, false);
    }
    let plain = |bytes: Vec<u8>| match bytes.len() {
        0 => (Body::Empty, false),
        _ => (Body::Whole(bytes), false),
    };
    if let Some(bytes) = fields.get("http_file_data_raw").and_then(bytes_of) {
        return plain(bytes);
    }
    let chunks: Option<Vec<Vec<u8>>> = fields.all("http_chunk_data").map(bytes_of).collect();
    if let Some(chunks) = chunks.filter(|chunks| !chunks.is_empty()) {
        // The last chunk has size 0.
        let ended = fields.all("http_chunk_size").any(|size| size.trim() == "0");
        let bytes = chunks.concat();
        return (if ended { Body::Whole(bytes) } else { Body::Cut(bytes) }, false);
    }
    if alone && let Some((bytes, framed)) = in_packets(frame, declared, chunked) {
        return (Body::Whole(bytes), framed);
    }
    let text = text.unwrap_or_default();
    // Recent versions print bytes, older ones text.
    if let Some(bytes) = bytes_of(text).filter(|_| text.contains(':')) {
        return plain(bytes);
    }
    if !text.contains(char::REPLACEMENT_CHARACTER) {
        return plain(text.as_bytes().to_vec());
    }
    if alone && let Some(bytes) = frame.media().and_then(bytes_of) {
        return plain(bytes);
    }
    let (text, left) = unmasked(text, frame.texts());
    counts.masked += u64::from(left);
    plain(text.into_bytes())
}

/// The body among the bytes of the packets, and whether it is still framed in chunks.
fn in_packets(frame: &Frame, declared: Option<usize>, chunked: bool) -> Option<(Vec<u8>, bool)> {
    let whole = ["tcp_reassembled_data", "tcp_segments_raw", "tcp_payload"];
    for bytes in whole.iter().filter_map(|name| frame.below.get(name)).filter_map(bytes_of) {
        let head = begins_message(&bytes).then(|| memchr::memmem::find(&bytes, b"\r\n\r\n")).flatten();
        let body = head.map_or(&*bytes, |end| bytes.get(end + 4..).unwrap_or_default());
        // Of packets that hold more or less than this body nothing is taken.
        let is_whole =
            if chunked { head.is_some() && body.ends_with(b"0\r\n\r\n") } else { declared == Some(body.len()) };
        if is_whole {
            return Some((body.to_vec(), chunked));
        }
    }
    None
}

/// Bytes in hexadecimal, with or without colons between them; `None` for any other text.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes = text.as_bytes();
    let step = if bytes.get(2) == Some(&b':') { 3 } else { 2 };
    if !(bytes.len() + step - 2).is_multiple_of(step) && !bytes.is_empty() {
        return None;
    }
    let parts = bytes.chunks(step).map(|part| match part {
        [high, low] | [high, low, b':'] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    parts.collect()
}

/// The text with its replaced letters put back, as far as exactly one of the texts that the JSON layer decoded looks
/// like it; whether some are left.
fn unmasked<'t>(text: &str, decoded: impl Iterator<Item = &'t str>) -> (String, bool) {
    let mut known: HashMap<String, Option<&str>> = HashMap::new();
    for candidate in decoded.filter(|candidate| !candidate.is_ascii()) {
        let entry = known.entry(masked(candidate)).or_insert(Some(candidate));
        if entry.is_some_and(|other| other != candidate) {
            *entry = None;
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find('"') {
        let (before, string) = rest.split_at(begin);
        let end = closing(string);
        let (string, behind) = string.split_at(end);
        out.push_str(before);
        let found = json::string(string, &mut Oddities::default())
            .filter(|_| string.contains(char::REPLACEMENT_CHARACTER))
            .and_then(|plain| known.get(&*plain).copied().flatten());
        match found {
            Some(right) => out.push_str(&serde_json::Value::from(right).to_string()),
            None => out.push_str(string),
        }
        rest = behind;
    }
    out.push_str(rest);
    let left = out.contains(char::REPLACEMENT_CHARACTER);
    (out, left)
}

/// How tshark prints a text: U+FFFD for each byte that is no ASCII.
fn masked(text: &str) -> String {
    text.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// The length of the string that a text begins with, with its quotes; all of the text where it does not end.
fn closing(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
