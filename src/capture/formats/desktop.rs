//! Claude Desktop's logs: `TIME [server] [level] Message from client: {…}` among the server's standard error.
//!
//! Only those lines count as messages: servers print JSON of their own, messages included.

use super::{About, Format, has_colour, without_colour};
use crate::capture::rpc::request_without_body;
use crate::capture::sink::{Block, Decoded, Facts, FileFacts, Line, Side, Sink};
use crate::capture::skim::Cursor;
use crate::capture::time;
use crate::protocol::message::*;
use crate::protocol::parse;
use regex::bytes::Regex;
use std::sync::LazyLock;

pub struct Desktop;

/// Messages in lines with a server's name, without, and with the level first.
const SERVER_FIRST: u32 = 1;
const NO_SERVER: u32 = 2;
const LEVEL_FIRST: u32 = 4;
/// ` { metadata: undefined }` behind the text.
const METADATA: u32 = 8;
const CUT_BODY: u32 = 16;
const SUMMARY: u32 = 32;

const CUT_MARK: &[u8] = b"chars truncated";

impl Format for Desktop {
    fn name(&self) -> &'static str {
        "claude-desktop"
    }

    fn looks_like(&self) -> &'static str {
        "TIME [server] [level] Message from client: …"
    }

    fn about(&self) -> About {
        About {
            what: "mcp.log and mcp-server-NAME.log".into(),
            writer: "Claude Desktop".into(),
            bodies: "yes until mid 2026, then summaries".into(),
            values: "yes until mid 2026, then not captured".into(),
            times: "milliseconds, UTC".into(),
            direction: "said on each line".into(),
            session: "cut by handshakes and ids".into(),
        }
    }

    fn unmistakable(&self) -> bool {
        true
    }

    fn is_sign(&self, line: &[u8]) -> bool {
        // Other logs have such tags behind local times.
        let timed = time::prefix(line).is_some_and(|(.., zoned)| zoned);
        timed && prefix(line, false).is_some_and(|prefix| prefix.mark != NO_SERVER)
    }

    fn begins_record(&self, line: &[u8]) -> bool {
        time::prefix(line).is_some()
    }

    fn variant(&self, marks: u32) -> Option<String> {
        let names = [
            (marks & SUMMARY != 0, "V3 (bodies replaced by summaries)"),
            (marks & CUT_BODY != 0, "V2b (long bodies cut)"),
            (marks & METADATA != 0 && marks & CUT_BODY == 0, "V2"),
            (marks & (METADATA | CUT_BODY | SUMMARY | NO_SERVER) == 0 && marks != 0, "V1"),
            (marks & NO_SERVER != 0, "V0 (no server named)"),
            (marks & LEVEL_FIRST != 0, "lines of mcp.log"),
        ];
        let found: Vec<&str> = names.iter().filter(|(found, _)| *found).map(|(_, name)| *name).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }

    fn decode(&self, block: &Block, file: &FileFacts) -> Decoded {
        let mut sink = Sink::new(file, block);
        let mut dump = false;
        while let Some(line) = sink.next_line() {
            let text = line.of(sink.block());
            if has_colour(text) {
                let plain = without_colour(text);
                log_line(&mut sink, line, &plain, 0, &mut dump);
            } else {
                let block = sink.block();
                log_line(&mut sink, line, block.get(..line.to).unwrap_or_default(), line.from, &mut dump);
            }
        }
        sink.finish()
    }
}

/// What stands before the text of a log line.
struct Prefix<'a> {
    ts: Option<Ts>,
    server: Option<&'a [u8]>,
    mark: u32,
    /// Where the text begins.
    length: usize,
}

fn is_level(word: &[u8]) -> bool {
    matches!(word, b"info" | b"error" | b"warn" | b"warning" | b"debug")
}

/// Reads `TIME [server] [level] `, `TIME [level] [server] ` or `TIME [level] `; the time may be missing.
/// Where both tags read like levels, the kind of file (`combined`: mcp.log) decides which is which.
fn prefix(line: &[u8], combined: bool) -> Option<Prefix<'_>> {
    let (ts, mut at) = match time::prefix(line) {
        Some((ts, length, _)) if line.get(length) == Some(&b' ') => (Some(ts), length + 1),
        _ => (None, 0),
    };
    let (first, length) = tag(line.get(at..)?)?;
    at += length;
    let Some((second, length)) = tag(line.get(at..)?) else {
        return is_level(first).then_some(Prefix { ts, server: None, mark: NO_SERVER, length: at });
    };
    if is_level(second) && !(combined && is_level(first)) {
        return Some(Prefix { ts, server: Some(first), mark: SERVER_FIRST, length: at + length });
    }
    is_level(first).then_some(Prefix { ts, server: Some(second), mark: LEVEL_FIRST, length: at + length })
}

/// `[name] ` at the beginning, and its length.
fn tag(text: &[u8]) -> Option<(&[u8], usize)> {
    let inside = text.strip_prefix(b"[")?;
    // Names are short; what a message quotes is not looked at.
    let end = memchr::memchr(b']', inside.get(..256).unwrap_or(inside))?;
    let after = inside.get(end + 1..)?;
    (end > 0 && after.first() == Some(&b' ')).then(|| (inside.get(..end).unwrap_or_default(), end + 3))
}

/// Reads one line; `bytes[from..]` is its text. `dump` says that an object or array printed over several lines is open.
fn log_line(sink: &mut Sink<'_>, line: Line, bytes: &[u8], from: usize, dump: &mut bool) {
    let text = bytes.get(from..).unwrap_or_default();
    if text.iter().all(u8::is_ascii_whitespace) {
        return if *dump { sink.continuation() } else { sink.blank() };
    }
    let Some(prefix) = prefix(text, sink.file.combined) else {
        if line.first && cut_at_start(text) {
            return sink.reject("cut off at the start of the file");
        }
        let opens = matches!(text.trim_ascii(), b"[" | b"{");
        if *dump || opens {
            *dump = true;
            return sink.continuation();
        }
        return sink.noise();
    };
    let said = text.get(prefix.length..).unwrap_or_default();
    let Some((direction, length)) = sender(said) else {
        *dump = prefix.ts.is_some() && matches!(said.trim_ascii_end().last(), Some(b'{' | b'['));
        return sink.noise();
    };
    *dump = false;
    let server = prefix.server.map(|name| sink.texts.get(&String::from_utf8_lossy(name)));
    sink.mark(prefix.mark);
    let facts = Facts { ts: prefix.ts, side: Side::Said(direction), server, ..Facts::default() };
    let body = said.get(length..).unwrap_or_default();
    let column = prefix.length + length;
    match body.first() {
        Some(b'{' | b'[') => json_body(sink, bytes, from + column, column, &facts),
        _ if body.starts_with(b"method=\"") || body.starts_with(b"id=") => summary(sink, body, &facts),
        _ if line.unfinished => sink.reject("cut off at the end of the file"),
        _ => sink.reject(format!("neither JSON nor a summary of a message at column {}", column + 1)),
    }
}

fn sender(said: &[u8]) -> Option<(Direction, usize)> {
    const CLIENT: &[u8] = b"Message from client: ";
    const SERVER: &[u8] = b"Message from server: ";
    if said.starts_with(CLIENT) {
        return Some((Direction::ClientToServer, CLIENT.len()));
    }
    said.starts_with(SERVER).then_some((Direction::ServerToClient, SERVER.len()))
}

/// One JSON value; what stands behind it is the log's own.
fn json_body(sink: &mut Sink<'_>, bytes: &[u8], from: usize, column: usize, facts: &Facts) {
    let mut cursor = Cursor::new(bytes, from);
    match sink.value(&mut cursor, facts, Captured::Full) {
        Some(true) => {
            let tail = bytes.get(cursor.at()..).unwrap_or_default();
            if tail.trim_ascii_start().starts_with(b"{ metadata:") {
                sink.mark(METADATA);
            }
            return sink.message_line();
        }
        Some(false) => {
            sink.take_back();
            if !sink.reject_nested_batch() {
                sink.reject(format!("JSON, but no JSON-RPC message, at column {}", column + 1));
            }
            return;
        }
        None => sink.take_back(),
    }
    let body = bytes.get(from..).unwrap_or_default();
    if memchr::memmem::find(body, CUT_MARK).is_some()
        && let Some(kind) = remains(sink, body)
    {
        sink.mark(CUT_BODY);
        sink.remains(kind, facts, Captured::Truncated, body);
        return sink.message_line();
    }
    sink.reject_json(body, column);
}

fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

/// Text of the first group, if the pattern matches.
fn group<'b>(pattern: &LazyLock<Option<Regex>>, text: &'b [u8]) -> Option<&'b [u8]> {
    let found = pattern.as_ref()?.captures(text)?;
    found.get(1).map(|group| group.as_bytes())
}

/// What a body that was cut in its middle still tells: method, id and, of a call, the prompt's name.
fn remains(sink: &mut Sink<'_>, body: &[u8]) -> Option<Kind> {
    static METHOD: LazyLock<Option<Regex>> = LazyLock::new(|| regex(r#""method"\s*:\s*"([^"\\]+)""#));
    static ID_AT_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
        regex(
            r#"(?:[,}\]]\s*)"id"\s*:\s*("[^"\\]*"|-?[0-9]+)\s*(?:,\s*"jsonrpc"\s*:\s*"2.0"\s*)?\}\s*(?:\{[^"]*\}?\s*)?$"#,
        )
    });
    static ID_AT_START: LazyLock<Option<Regex>> = LazyLock::new(|| {
        regex(r#"^\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*){0,2}"id"\s*:\s*("[^"\\]*"|-?[0-9]+)\s*[,}]"#)
    });
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| regex(r#""params"\s*:\s*\{\s*"name"\s*:\s*("[^"\\]*")"#));
    let cut = memchr::memmem::find(body, CUT_MARK).unwrap_or(body.len());
    let (before, after) = body.split_at(cut);
    let id = group(&ID_AT_START, before).or_else(|| group(&ID_AT_END, after));
    let id = id.and_then(|id| parse::id(&String::from_utf8_lossy(id)));
    let member = top_member(before)?;
    match member {
        "result" => Some(Kind::Result { id, answer: not_captured() }),
        "error" => {
            Some(Kind::Error { id, error: RpcError { code: None, message: "".into(), elicitations: Vec::new() } })
        }
        _ => {
            let method =
                String::from_utf8_lossy(group(&METHOD, before).or_else(|| group(&METHOD, after))?).into_owned();
            let method = sink.texts.get(&method);
            let Some(id) = id else { return Some(Kind::Notification(Notification { method, subject: None })) };
            let mut request = request_without_body(method);
            let name = group(&NAME, before).map(|name| name_text(&String::from_utf8_lossy(name)));
            match (&mut request.body, name) {
                (RequestBody::PromptsGet { name, .. }, Some(given)) => *name = PromptName::Name(given),
                (RequestBody::Operation { name, .. }, Some(given)) => *name = Some(given),
                _ => {}
            }
            Some(Kind::Request { id, request })
        }
    }
}

fn not_captured() -> Answer {
    Answer { shape: Shape::NotCaptured, server: None, is_error: false }
}

/// Which of the members that tell a message's kind stands first at the top of a cut object.
fn top_member(before: &[u8]) -> Option<&'static str> {
    let mut cursor = Cursor::new(before, 0);
    let mut first = true;
    cursor.take(b'{')?;
    while let Some(Some(name)) = cursor.member(&mut first) {
        match name.of(before) {
            b"result" => return Some("result"),
            b"error" => return Some("error"),
            b"method" | b"params" => return Some("method"),
            _ => cursor.value()?,
        };
    }
    None
}

/// `method="…" id=N params`, `id=N result`, `id=N error(code=N)` or a bare `id=N`; what follows is free text.
fn summary(sink: &mut Sink<'_>, body: &[u8], facts: &Facts) {
    static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        regex(r#"^(?:method="([^"]*)"\s*)?(?:id=("[^"]*"|[^\s]+))?(?:\s+(result|error)\b(?:\(code=(-?[0-9]+)\))?)?"#)
    });
    let Some(found) = SHAPE.as_ref().and_then(|shape| shape.captures(body)) else { return sink.noise() };
    let text = |group: usize| found.get(group).map(|found| String::from_utf8_lossy(found.as_bytes()));
    let id = text(2).and_then(|id| match parse::id(&id) {
        // A word without quotes is a string all the same.
        Some(Id::Other(word)) => Some(Id::String(word)),
        id => id,
    });
    let kind = match (text(1), id) {
        (Some(method), id) => {
            let method = sink.texts.get(&method);
            match id {
                Some(id) => Kind::Request { id, request: request_without_body(method) },
                None => Kind::Notification(Notification { method, subject: None }),
            }
        }
        (None, id) if text(3).as_deref() == Some("error") => {
            let code = text(4).and_then(|code| code.parse().ok());
            Kind::Error { id, error: RpcError { code, message: "".into(), elicitations: Vec::new() } }
        }
        (None, id) => Kind::Result { id, answer: not_captured() },
    };
    sink.mark(SUMMARY);
    if memchr::memmem::find(body, b"{ metadata:").is_some() {
        sink.mark(METADATA);
    }
    sink.remains(kind, facts, Captured::Redacted, body);
    sink.message_line();
}

fn cut_at_start(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let text = text.strip_suffix(b"{ metadata: undefined }").unwrap_or(text).trim_ascii_end();
    text.last() == Some(&b'}') && memchr::memmem::find(text, b"\"jsonrpc\"").is_some()
}

fn name_text(exact: &str) -> Text {
    crate::protocol::json::text_or_exact(exact, &mut Default::default()).into()
}
