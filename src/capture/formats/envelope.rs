//! A JSON object a line that wraps a message: `{"ts":…,"dir":…,"session":…,"msg":{…}}` and its many relatives.

use super::words::{self, Means};
use super::{About, Format, Word, begins_json, has_colour, without_colour, word};
use crate::capture::rpc::Rpc;
use crate::capture::sink::{Block, Decoded, Facts, FileFacts, Line, Side, Sink};
use crate::capture::skim::{Cursor, Span, plain};
use crate::capture::time;
use crate::protocol::json::{self, Oddities};
use crate::protocol::message::{Captured, Text, Ts};

pub struct Envelope;

/// Marks: a bit for each name of a payload, then these.
const AS_TEXT: u32 = 1 << 12;
const BARE: u32 = 1 << 13;

impl Format for Envelope {
    fn name(&self) -> &'static str {
        "envelope"
    }

    fn looks_like(&self) -> &'static str {
        "{\"ts\":…,\"dir\":…,\"msg\":{…}} (a message in an object)"
    }

    fn about(&self) -> About {
        words::Envelope::get().about.clone()
    }

    fn variant(&self, marks: u32) -> Option<String> {
        let payloads = &words::Envelope::get().payloads;
        let mut found: Vec<&str> = payloads
            .iter()
            .enumerate()
            .filter(|(bit, _)| marks & 1 << bit != 0)
            .map(|(_, name)| name.as_str())
            .collect();
        if marks & AS_TEXT != 0 {
            found.push("as text");
        }
        if marks & BARE != 0 {
            found.push("with bare messages");
        }
        (!found.is_empty()).then(|| found.join(", "))
    }

    fn decode(&self, block: &Block, file: &FileFacts) -> Decoded {
        let mut sink = Sink::new(file, block);
        while let Some(line) = sink.next_line() {
            let text = line.of(sink.block());
            if has_colour(text) {
                let plain = without_colour(text);
                record(&mut sink, line, &plain, 0);
            } else {
                let block = sink.block();
                record(&mut sink, line, block.get(..line.to).unwrap_or_default(), line.from);
            }
        }
        sink.finish()
    }
}

/// What an envelope's members are, as far as they are known.
#[derive(Default)]
struct Members {
    /// By rank.
    payload: Option<(usize, Payload)>,
    /// A text member that may hold a message, by rank.
    text: Option<(usize, Span)>,
    direction: Option<(usize, Word)>,
    time: Ranked,
    session: Ranked,
    server: Ranked,
    client: Ranked,
    key: Option<Span>,
    bare: bool,
}

#[expect(clippy::large_enum_variant, reason = "lives on the stack while its line is read")]
enum Payload {
    One(Rpc),
    Many(Span),
}

/// The best of several members that mean the same, by rank.
#[derive(Default)]
struct Ranked(Option<(usize, Span)>);

impl Ranked {
    fn offer(&mut self, rank: usize, value: Span) {
        if self.0.is_none_or(|(best, _)| rank < best) {
            self.0 = Some((rank, value));
        }
    }
}

/// Reads one line; `bytes[from..]` is its text.
fn record(sink: &mut Sink<'_>, line: Line, bytes: &[u8], from: usize) {
    let text = bytes.get(from..).unwrap_or_default();
    if text.first() != Some(&b'{') || !begins_json(text) {
        return unwrapped(sink, line, bytes, from);
    }
    let mut cursor = Cursor::new(bytes, from);
    let Some(members) = read(&mut cursor, sink.file.session_key.as_deref()) else {
        return sink.reject_json(text, 0);
    };
    if cursor.peek().is_some() {
        return sink.reject(format!("text after the JSON object at column {}", cursor.at() - from + 1));
    }
    if members.bare {
        return bare(sink, bytes, from);
    }
    let word = members.direction.map(|(_, word)| word);
    if word == Some(Word::NoMessage) {
        return sink.noise();
    }
    let facts = facts(sink, bytes, &members, word);
    match members.payload {
        Some((rank, Payload::One(rpc))) if rpc.is_message() => {
            sink.mark(1 << rank);
            if sink.message(bytes, &rpc, &facts, Captured::Full, false) {
                sink.message_line();
            } else {
                sink.reject(format!(
                    "`{}` holds no JSON-RPC message: its `method` is not a string",
                    payload_name(rank)
                ));
            }
            return;
        }
        Some((rank, Payload::Many(span))) if sink.batch(bytes, span, &facts, Captured::Full) == Some(true) => {
            sink.mark(1 << rank);
            return sink.message_line();
        }
        _ => sink.take_back(),
    }
    match members.text {
        Some((rank, span)) => quoted(sink, bytes, span, rank, &facts),
        None => bare(sink, bytes, from),
    }
}

fn payload_name(rank: usize) -> &'static str {
    words::Envelope::get().payloads.get(rank).map_or("the payload", String::as_str)
}

/// The members of an envelope; `None` where it is no JSON.
fn read(cursor: &mut Cursor<'_>, session_key: Option<&str>) -> Option<Members> {
    let bytes = cursor.bytes();
    let mut members = Members::default();
    let known = words::Envelope::get();
    let mut first = true;
    cursor.take(b'{')?;
    while let Some(name) = cursor.member(&mut first)? {
        let name = plain(bytes, name);
        let by_key = session_key.is_some_and(|key| key.as_bytes() == &*name);
        let means = known.means(&name);
        if let Means::Payload(rank) = means {
            let better = members.payload.as_ref().is_none_or(|(best, _)| rank < *best);
            match cursor.peek()? {
                b'{' => {
                    let rpc = Rpc::read(cursor)?;
                    if better && rpc.is_message() {
                        members.payload = Some((rank, Payload::One(rpc)));
                    }
                }
                b'[' => {
                    let span = cursor.value()?;
                    if better && begins_json(span.of(bytes)) {
                        members.payload = Some((rank, Payload::Many(span)));
                    }
                }
                b'"' => {
                    let span = cursor.value()?;
                    if members.text.is_none_or(|(best, _)| rank < best) {
                        members.text = Some((rank, span));
                    }
                }
                _ => {
                    cursor.value()?;
                }
            }
            continue;
        }
        let value = cursor.value()?;
        if by_key {
            members.key = Some(value);
        }
        match means {
            Means::Direction(rank) if members.direction.is_none_or(|(best, _)| rank < best) => {
                members.direction = said(bytes, value).map(|word| (rank, word)).or(members.direction);
            }
            Means::Time(rank) => members.time.offer(rank, value),
            Means::Session(rank) if is_label(bytes, value) => members.session.offer(rank, value),
            Means::Server(rank) if is_label(bytes, value) => members.server.offer(rank, value),
            Means::Client(rank) if is_label(bytes, value) => members.client.offer(rank, value),
            Means::Version => members.bare = true,
            _ => {}
        }
    }
    Some(members)
}

/// Names are strings or numbers, and not empty.
fn is_label(bytes: &[u8], value: Span) -> bool {
    let text = value.of(bytes);
    matches!(text.first(), Some(b'"' | b'-' | b'0'..=b'9')) && text != b"\"\""
}

fn label(sink: &mut Sink<'_>, bytes: &[u8], value: Span) -> Text {
    let exact = value.of(bytes);
    if let Some(inside) = exact.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""))
        && !inside.contains(&b'\\')
        && let Ok(text) = std::str::from_utf8(inside)
    {
        return sink.texts.get(text);
    }
    let exact = String::from_utf8_lossy(exact);
    let text = json::text_or_exact(&exact, &mut Oddities::default());
    sink.texts.get(&text)
}

fn facts(sink: &mut Sink<'_>, bytes: &[u8], members: &Members, word: Option<Word>) -> Facts {
    let session = members.key.filter(|key| is_label(bytes, *key)).or(members.session.0.map(|(_, span)| span));
    Facts {
        ts: members.time.0.and_then(|(_, span)| moment(sink, bytes, span)),
        side: match word {
            Some(Word::Side(side)) => side,
            _ => Side::Unsaid,
        },
        session: session.map(|span| label(sink, bytes, span)),
        server: members.server.0.map(|(_, span)| label(sink, bytes, span)),
        client: members.client.0.map(|(_, span)| label(sink, bytes, span)),
        ..Facts::default()
    }
}

fn moment(sink: &mut Sink<'_>, bytes: &[u8], value: Span) -> Option<Ts> {
    let text = value.of(bytes);
    let Some(inside) = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) else {
        return time::number(text);
    };
    match time::clock(inside) {
        Some((ts, true)) => Some(ts),
        Some((shown, false)) => Some(sink.on_a_clock(shown)),
        None => time::number(inside),
    }
}

/// The word of a member.
fn said(bytes: &[u8], value: Span) -> Option<Word> {
    value.of(bytes).strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    // An arrow may be escaped.
    word(&plain(bytes, Span { from: value.from + 1, to: value.to - 1 }))
}

/// A payload that is text: JSON in a string, at most twice wrapped.
fn quoted(sink: &mut Sink<'_>, bytes: &[u8], span: Span, rank: usize, facts: &Facts) {
    let mut text = String::from_utf8_lossy(span.of(bytes)).into_owned();
    for _ in 0..2 {
        match json::string(&text, &mut Oddities::default()) {
            Some(inside) => text = inside.into_owned(),
            None => break,
        }
        if !text.trim_start().starts_with('"') {
            break;
        }
    }
    let inner = text.trim();
    if !begins_json(inner.as_bytes()) {
        return sink.noise();
    }
    let mut cursor = Cursor::new(inner.as_bytes(), 0);
    match sink.value(&mut cursor, facts, Captured::Full) {
        Some(message) if cursor.peek().is_none() => {
            sink.mark(1 << rank | AS_TEXT);
            if message { sink.message_line() } else { sink.noise() }
        }
        Some(_) => {
            sink.take_back();
            sink.reject(format!(
                "text after the JSON value in `{}` at character {}",
                payload_name(rank),
                cursor.at() + 1
            ));
        }
        None => {
            sink.take_back();
            let error = serde_json::from_str::<serde::de::IgnoredAny>(inner).err();
            let said = error.map_or_else(|| "nested too deeply".to_owned(), |error| error.to_string());
            sink.reject(format!("the text in `{}` is not valid JSON: {said}", payload_name(rank)));
        }
    }
}

/// A message without an envelope, in a file of envelopes.
fn bare(sink: &mut Sink<'_>, bytes: &[u8], from: usize) {
    let mut cursor = Cursor::new(bytes, from);
    match sink.value(&mut cursor, &Facts::default(), Captured::Full) {
        Some(true) => {
            sink.mark(BARE);
            sink.message_line();
        }
        _ => {
            sink.take_back();
            sink.noise();
        }
    }
}

/// A line that is no object.
fn unwrapped(sink: &mut Sink<'_>, line: Line, bytes: &[u8], from: usize) {
    let text = bytes.get(from..).unwrap_or_default();
    if text.iter().all(u8::is_ascii_whitespace) {
        return sink.blank();
    }
    if text.first().is_some_and(u8::is_ascii_whitespace) && begins_json(text) {
        let trimmed = text.trim_ascii_start();
        return record(sink, line, bytes, from + text.len() - trimmed.len());
    }
    if begins_json(text) {
        return bare(sink, bytes, from);
    }
    let end = text.trim_ascii_end();
    if line.first && end.last() == Some(&b'}') && memchr::memmem::find(text, b"\":").is_some() {
        return sink.reject("cut off at the start of the file");
    }
    sink.noise();
}
