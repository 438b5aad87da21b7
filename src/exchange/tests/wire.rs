//! Messages from their JSON, and a sink that keeps what it gets.

use crate::exchange::{Exchange, Sink, Snapshot};
use crate::protocol::json::{Members, Oddities, digest, elements};
use crate::protocol::message::{Captured, Connection, Direction, Kind, Message, Place, Text, Ts};
use crate::protocol::parse;
use crate::schema::{ArgRow, CallRow, CompletionRow, ElicitationRow, FieldRow, ListingRow};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    pub calls: Vec<CallRow>,
    pub args: Vec<ArgRow>,
    pub listings: Vec<ListingRow>,
    pub completions: Vec<CompletionRow>,
    pub elicitations: Vec<ElicitationRow>,
    pub fields: Vec<FieldRow>,
}

impl Sink for Rows {
    fn call(&mut self, call: CallRow, args: Vec<ArgRow>) {
        self.calls.push(call);
        self.args.extend(args);
    }
    fn listing(&mut self, listing: ListingRow) {
        self.listings.push(listing);
    }
    fn completion(&mut self, completion: CompletionRow) {
        self.completions.push(completion);
    }
    fn elicitation(&mut self, elicitation: ElicitationRow, fields: Vec<FieldRow>) {
        self.elicitations.push(elicitation);
        self.fields.extend(fields);
    }
}

impl Rows {
    /// Closed and open rows together, in reading order.
    pub fn and(mut self, other: Self) -> Self {
        self.calls.extend(other.calls);
        self.args.extend(other.args);
        self.listings.extend(other.listings);
        self.completions.extend(other.completions);
        self.elicitations.extend(other.elicitations);
        self.fields.extend(other.fields);
        self.calls.sort_by_key(|row| row.seq);
        self.args.sort_by_key(|row| row.call);
        self.listings.sort_by_key(|row| row.seq);
        self.completions.sort_by_key(|row| row.seq);
        self.elicitations.sort_by_key(|row| row.elicitation);
        self.fields.sort_by_key(|row| row.elicitation);
        self
    }
}

/// One line of a capture.
#[derive(Debug, Clone)]
pub struct Line {
    pub json: String,
    pub from: Option<Direction>,
    pub session: Option<&'static str>,
    pub server: Option<&'static str>,
    /// Milliseconds.
    pub ts: Option<i64>,
    pub bounded: bool,
    pub file: u32,
    pub captured: Captured,
}

pub const C: Option<Direction> = Some(Direction::ClientToServer);
pub const S: Option<Direction> = Some(Direction::ServerToClient);

pub fn line(from: Option<Direction>, json: impl Into<String>) -> Line {
    Line {
        json: json.into(),
        from,
        session: None,
        server: None,
        ts: None,
        bounded: false,
        file: 0,
        captured: Captured::Full,
    }
}

impl Line {
    pub fn session(self, session: &'static str) -> Self {
        Self { session: Some(session), ..self }
    }
    pub fn server(self, server: &'static str) -> Self {
        Self { server: Some(server), ..self }
    }
    pub fn at(self, ts: i64) -> Self {
        Self { ts: Some(ts), ..self }
    }
    pub fn bounded(self) -> Self {
        Self { bounded: true, ..self }
    }
    pub fn file(self, file: u32) -> Self {
        Self { file, ..self }
    }
    pub fn redacted(self) -> Self {
        Self { captured: Captured::Redacted, ..self }
    }

    pub fn messages(&self, position: u64) -> Vec<Message> {
        let batch = elements(&self.json);
        let texts = batch.clone().unwrap_or_else(|| vec![&self.json]);
        (0..)
            .zip(texts)
            .map(|(member, text)| Message {
                place: Place { file: self.file, position, member },
                ts: self.ts.map(|ms| Ts(ms * 1000)),
                bounded: self.bounded,
                direction: self.from,
                connection: Connection {
                    stream: "logs/cap.ndjson".into(),
                    session: self.session.map(Text::from),
                    server: self.server.map(Text::from),
                    client: None,
                },
                batch: batch.is_some(),
                captured: self.captured,
                bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
                digest: digest(text.as_bytes()),
                kind: kind(text),
                unread: None,
            })
            .collect()
    }
}

fn kind(text: &str) -> Kind {
    let flags = &mut Oddities::default();
    let members = Members::parse(text, flags).expect("a test line is an object");
    let id = members.get("id").and_then(parse::id);
    if let Some(method) = members.text("method", flags) {
        return match id {
            Some(id) => Kind::Request { id, request: parse::request(&method, members.get("params"), flags) },
            None => Kind::Notification(parse::notification(&method, members.get("params"), flags)),
        };
    }
    match members.get("result") {
        Some(result) => Kind::Result { id, answer: parse::answer(result, flags) },
        None => Kind::Error { id, error: parse::error(members.get("error").unwrap_or("{}"), flags) },
    }
}

pub const FILES: [&str; 4] = ["cap.0", "cap.1", "cap.2", "cap.3"];

pub fn feed(exchange: &mut Exchange, lines: &[Line], first: usize, rows: &mut Rows) {
    for (at, line) in lines.iter().enumerate() {
        for message in line.messages((first + at + 1) as u64) {
            exchange.message(message, &FILES[line.file as usize].into(), rows);
        }
    }
}

/// All rows of a capture, and what its end showed.
pub fn run(lines: &[Line]) -> (Rows, Snapshot) {
    let mut exchange = Exchange::new();
    let (mut closed, mut open) = (Rows::default(), Rows::default());
    feed(&mut exchange, lines, 0, &mut closed);
    let snapshot = exchange.finish(&mut open);
    (closed.and(open), snapshot)
}

/// Messages and records that were dropped as copies, by file.
pub fn dropped(snapshot: &Snapshot) -> Vec<(&str, u64, u64)> {
    snapshot.duplicates.iter().map(|(file, dropped)| (&**file, dropped.messages, dropped.records)).collect()
}

pub fn initialize(id: u32, client: &str) -> String {
    format!(
        r#"{{"id":{id},"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{"elicitation":{{}}}},"clientInfo":{{"name":"{client}","version":"1"}}}}}}"#
    )
}

pub fn initialized(id: u32, server: &str) -> String {
    format!(
        r#"{{"id":{id},"result":{{"protocolVersion":"2025-06-18","capabilities":{{"prompts":{{"listChanged":true}}}},"serverInfo":{{"name":"{server}","version":"2"}}}}}}"#
    )
}

pub fn get(id: u32, tone: &str) -> String {
    format!(r#"{{"id":{id},"method":"prompts/get","params":{{"name":"reply","arguments":{{"tone":"{tone}"}}}}}}"#)
}

pub fn rendered(id: u32, text: &str) -> String {
    format!(r#"{{"id":{id},"result":{{"messages":[{{"role":"user","content":{{"type":"text","text":"{text}"}}}}]}}}}"#)
}

pub fn call_tool(id: u32, tool: &str) -> String {
    format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#)
}

pub fn tool_result(id: u32, text: &str) -> String {
    format!(r#"{{"id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}

pub const SCHEMA: &str = r#"{"type":"object","properties":{"amount":{"type":"integer","maximum":500},"note":{"type":"string"}},"required":["amount"]}"#;

pub fn elicit(id: u32) -> String {
    format!(
        r#"{{"id":{id},"method":"elicitation/create","params":{{"message":"How much?","requestedSchema":{SCHEMA}}}}}"#
    )
}

pub fn accept(id: u32, content: &str) -> String {
    format!(r#"{{"id":{id},"result":{{"action":"accept","content":{content}}}}}"#)
}
