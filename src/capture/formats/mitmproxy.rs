//! mitmproxy's flow files: tnetstrings one behind the other, a flow each, in the order in which the flows ended.
//!
//! Source of the names and kinds of members: mitmproxy's `Flow.get_state` of flow formats 4 (2018) to 21 (2024), in
//! which those that are read here are the same.

mod tnetstring;

use super::{About, Format};
use crate::capture::blocks::LONGEST_LINE;
use crate::capture::error::CaptureError;
use crate::capture::http::{self, Body, Exchanges, HttpExchange, Item, Leg};
use crate::capture::input::{Input, Packing};
use crate::capture::records::{Recognised, Records};
use crate::capture::sink::FileFacts;
use crate::capture::time;
use crate::protocol::message::{Text, Ts};
use std::collections::BTreeMap;
use tnetstring::{Begin, Value, Values};

pub struct Mitmproxy;

/// Flow formats whose members are known.
const OLDEST: i64 = 4;
const NEWEST: i64 = 21;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// How much of a flow that cannot be read is shown.
const BEGINS: usize = 1024;

/// Names of which one stands first in a flow.
const FIRST: [&str; 18] = [
    "backup",
    "client_conn",
    "comment",
    "error",
    "id",
    "intercepted",
    "is_replay",
    "marked",
    "messages",
    "metadata",
    "mode",
    "request",
    "response",
    "server_conn",
    "timestamp_created",
    "type",
    "version",
    "websocket",
];

impl Format for Mitmproxy {
    fn name(&self) -> &'static str {
        "mitmproxy"
    }

    fn looks_like(&self) -> &'static str {
        "2560:9:websocket;0:~8:response;… (a flow file)"
    }

    fn about(&self) -> About {
        About {
            what: "a flow file (mitmdump -w)".into(),
            writer: "mitmproxy".into(),
            bodies: "yes, unless streamed through".into(),
            values: "yes".into(),
            times: "microseconds, UTC; events of a stream have none".into(),
            direction: "request or response".into(),
            session: "the session header".into(),
        }
    }

    fn recognise(&self, head: &[u8], _whole: bool) -> Option<Recognised> {
        let Begin::Sized { prefix, .. } = tnetstring::begin(head) else { return None };
        let inside = head.get(prefix..)?;
        let Begin::Sized { prefix, payload } = tnetstring::begin(inside) else { return None };
        let name = inside.get(prefix..prefix.checked_add(payload)?)?;
        if !FIRST.iter().any(|known| known.as_bytes() == name) {
            return None;
        }
        let (version, first_ts) = beginning(head);
        Some(Recognised {
            why: "it begins with a flow of mitmproxy's".to_owned(),
            variant: version.map(|version| format!("flow format {version}")),
            first_ts,
        })
    }

    fn records(&self, input: Input, file: &FileFacts) -> Option<Box<dyn Records>> {
        Some(http::records(Box::new(Flows::new(input, file.path.clone())), file))
    }

    fn is_of_records(&self) -> bool {
        true
    }
}

/// The version of the first whole flow, and the earliest time of those that are whole.
fn beginning(head: &[u8]) -> (Option<i64>, Option<Ts>) {
    let (mut version, mut first) = (None, None);
    let mut rest = head;
    while let Begin::Sized { prefix, payload } = tnetstring::begin(rest) {
        let Some(inside) = prefix.checked_add(payload).and_then(|end| rest.get(prefix..end)) else { break };
        rest = rest.get(prefix + payload + 1..).unwrap_or_default();
        let Ok(Value::Dict(flow)) = tnetstring::value(inside, b'}') else { break };
        let Ok([found, request]) = flow.members(["version", "request"]) else { break };
        version = version.or(found.integer());
        if let Value::Dict(request) = request
            && let Ok([started]) = request.members(["timestamp_start"])
        {
            first = [first, moment(started)].into_iter().flatten().min();
        }
    }
    (version, first)
}

/// Seconds since the epoch.
fn moment(value: Value<'_>) -> Option<Ts> {
    match value {
        Value::Number(text) => time::number(text),
        _ => None,
    }
}

/// Reads a file flow by flow.
struct Flows {
    input: Input,
    path: Text,
    buffer: Vec<u8>,
    /// Everything before is done with.
    at: usize,
    /// Bytes of the file before the buffer.
    before: u64,
    /// The flow that comes next, from 1.
    number: u64,
    longest: usize,
    /// The input ended, or failed.
    ended: bool,
    error: Option<CaptureError>,
    /// Nothing more is given out.
    done: bool,
    /// Flows that are no HTTP, by their type.
    others: BTreeMap<String, u64>,
    versions: [Option<i64>; 2],
}

impl Flows {
    fn new(input: Input, path: Text) -> Self {
        Self {
            input,
            path,
            buffer: Vec::new(),
            at: 0,
            before: 0,
            number: 1,
            longest: LONGEST_LINE,
            ended: false,
            error: None,
            done: false,
            others: BTreeMap::new(),
            versions: [None; 2],
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    /// Reads on, and drops what is done with. False at the end.
    fn more(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.buffer.drain(..self.at);
        self.before += self.at as u64;
        self.at = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK, 0);
        let count = match self.input.fill(self.buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(count) => count,
            Err((count, error)) => {
                self.error = Some(error);
                self.ended = true;
                count
            }
        };
        self.ended |= count < CHUNK;
        self.buffer.truncate(filled + count);
        count > 0
    }

    /// Has at least so many bytes in the buffer, if there are.
    fn reach(&mut self, length: usize) -> bool {
        while self.rest().len() < length {
            if !self.more() {
                return false;
            }
        }
        true
    }

    /// The beginning of what comes next.
    fn excerpt(&self) -> Vec<u8> {
        self.rest().iter().take(BEGINS).copied().collect()
    }

    /// Reading ends here, whatever follows.
    fn broken(&mut self, detail: &str) -> Item {
        self.done = true;
        let offset = match self.input.packing {
            Packing::Plain => self.before + self.at as u64,
            _ => self.input.taken(),
        };
        let detail = format!("flow {}: {detail}", self.number);
        Item::Broken(CaptureError::Corrupt { path: self.path.to_string(), kind: "mitmproxy", offset, detail })
    }

    fn rejected(&mut self, size: usize, reason: String, excerpt: Vec<u8>) -> Item {
        let position = self.number;
        self.number += 1;
        Item::Rejected { position, size, reason, excerpt }
    }

    /// The file ends in a flow that says it has `wanted` bytes.
    fn cut(&mut self, wanted: usize, seen: u64, excerpt: Vec<u8>) -> Item {
        self.at = self.buffer.len();
        let size = usize::try_from(seen).unwrap_or(usize::MAX);
        self.rejected(size, format!("the file ends inside this flow: {seen} of its {wanted} bytes are there"), excerpt)
    }

    /// Steps over a flow that is longer than any record.
    fn too_long(&mut self, wanted: usize) -> Item {
        let excerpt = self.excerpt();
        let mut seen = 0;
        while seen < wanted {
            let step = self.rest().len().min(wanted - seen);
            self.at += step;
            seen += step;
            if seen < wanted && !self.more() {
                return self.cut(wanted, seen as u64, excerpt);
            }
        }
        let longest = self.longest >> 20;
        let reason = format!(
            "a flow of {wanted} bytes; the longest that is read has {longest} MiB: record with stream_large_bodies, or \
             leave the flow out (mitmdump -nr FILE -w NEW FILTER)"
        );
        self.rejected(wanted, reason, excerpt)
    }

    fn flow(&mut self, wanted: usize, prefix: usize) -> Item {
        let (from, to) = (self.at, self.at + wanted);
        self.at = to;
        let bytes = self.buffer.get(from..to).unwrap_or_default();
        let payload = bytes.get(prefix..wanted - 1).unwrap_or_default();
        let read = match tnetstring::value(payload, bytes.last().copied().unwrap_or_default()) {
            Ok(Value::Dict(flow)) => read_flow(flow),
            Ok(_) => Ok(Flow::Stranger("a value that is no flow".to_owned())),
            Err(reason) => Err(reason),
        };
        let excerpt = |bytes: &[u8]| bytes.iter().take(BEGINS).copied().collect();
        match read {
            Ok(Flow::Http(mut exchange, version)) => {
                let [oldest, newest] = &mut self.versions;
                *oldest = Some(oldest.map_or(version, |oldest| oldest.min(version)));
                *newest = Some(newest.map_or(version, |newest| newest.max(version)));
                exchange.position = self.number;
                exchange.size = wanted;
                self.number += 1;
                Item::Exchange(exchange)
            }
            Ok(Flow::Other(kind)) => {
                let position = self.number;
                self.number += 1;
                *self.others.entry(kind).or_default() += 1;
                Item::Other { position, size: wanted }
            }
            Ok(Flow::Version(found)) => {
                self.done = true;
                Item::Broken(CaptureError::Version {
                    path: self.path.to_string(),
                    what: "flow",
                    position: self.number,
                    found,
                    supported: format!("{OLDEST} to {NEWEST}"),
                    advice: "export the flows as an HTTP archive with the mitmproxy that wrote them \
                             (mitmdump -nr FILE --set hardump=NEW.har)",
                })
            }
            Ok(Flow::Stranger(reason)) => {
                let excerpt = excerpt(bytes);
                self.rejected(wanted, reason, excerpt)
            }
            Err(reason) => {
                let (reason, excerpt) = (format!("a flow that cannot be read: {reason}"), excerpt(bytes));
                self.rejected(wanted, reason, excerpt)
            }
        }
    }
}

impl Exchanges for Flows {
    fn next(&mut self) -> Option<Item> {
        if self.done {
            return None;
        }
        loop {
            // Lists of flows that were put together by hand may have line feeds between them.
            while self.rest().first().is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            }
            if !self.rest().is_empty() {
                break;
            }
            if !self.more() {
                self.done = true;
                return self.error.take().map(Item::Broken);
            }
        }
        let (prefix, payload) = loop {
            match tnetstring::begin(self.rest()) {
                Begin::Sized { prefix, payload } => break (prefix, payload),
                Begin::Short if self.more() => {}
                Begin::Short => {
                    let (seen, excerpt) = (self.rest().len(), self.excerpt());
                    self.at = self.buffer.len();
                    return Some(self.rejected(
                        seen,
                        "the file ends inside the length of this flow".to_owned(),
                        excerpt,
                    ));
                }
                Begin::Wrong(reason) => return Some(self.broken(reason)),
            }
        };
        let Some(wanted) = prefix.checked_add(payload).and_then(|end| end.checked_add(1)) else {
            return Some(self.broken("a length beyond all bounds"));
        };
        if wanted > self.longest {
            return Some(self.too_long(wanted));
        }
        if !self.reach(wanted) {
            let (seen, excerpt) = (self.rest().len() as u64, self.excerpt());
            return Some(self.cut(wanted, seen, excerpt));
        }
        Some(self.flow(wanted, prefix))
    }

    fn taken(&self) -> u64 {
        self.input.taken()
    }

    fn notes(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        if let [Some(oldest), Some(newest)] = self.versions
            && oldest != newest
        {
            notes.push(format!("flows of formats {oldest} to {newest}"));
        }
        if !self.others.is_empty() {
            let count: u64 = self.others.values().sum();
            let kinds: Vec<String> = self.others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            notes.push(format!("{count} flows are not HTTP: {}", kinds.join(", ")));
        }
        notes
    }
}

/// What a flow is.
enum Flow {
    Http(Box<HttpExchange>, i64),
    /// Its type.
    Other(String),
    /// Of a flow format that is not known.
    Version(String),
    /// Something that no flow looks like; the reason.
    Stranger(String),
}

fn read_flow(flow: Values<'_>) -> Result<Flow, &'static str> {
    let [version, kind, request, response, websocket, error] =
        flow.members(["version", "type", "request", "response", "websocket", "error"])?;
    let version = match (version, version.integer()) {
        (_, Some(version)) if (OLDEST..=NEWEST).contains(&version) => version,
        (_, Some(version)) => return Ok(Flow::Version(version.to_string())),
        // Until 2018 the program's own version stood here.
        (Value::List(parts), None) => return Ok(Flow::Version(dotted(parts)?)),
        _ => return Ok(Flow::Stranger("a flow that names no version".to_owned())),
    };
    match kind.bytes() {
        Some(b"http") => {}
        Some(kind) => return Ok(Flow::Other(String::from_utf8_lossy(kind).chars().take(20).collect())),
        None => return Ok(Flow::Stranger("a flow that names no type".to_owned())),
    }
    if let Value::Dict(websocket) = websocket {
        let [messages] = websocket.members(["messages"])?;
        let said = match messages {
            Value::List(messages) => speaks_json_rpc(messages)?,
            _ => false,
        };
        return Ok(if said {
            Flow::Stranger(
                "JSON-RPC over a WebSocket, a transport that the protocol does not have; not read".to_owned(),
            )
        } else {
            Flow::Other("WebSocket".to_owned())
        });
    }
    let Value::Dict(request) = request else {
        return Ok(Flow::Stranger("an HTTP flow without a request".to_owned()));
    };
    let mut exchange = HttpExchange::default();
    let [method, scheme, host, port, path, authority] =
        request.members(["method", "scheme", "host", "port", "path", "authority"])?;
    exchange.request = leg(request)?;
    exchange.method = method.text().unwrap_or_default();
    exchange.url = url(scheme, host, port, path, authority, &exchange.request);
    if let Value::Dict(response) = response {
        let [status] = response.members(["status_code"])?;
        exchange.status = status.integer().and_then(|status| u16::try_from(status).ok());
        let mut leg = leg(response)?;
        if leg.ended.is_none() {
            // It broke off, and what had come of its body by then is kept at best.
            leg.body = match std::mem::take(&mut leg.body) {
                Body::Whole(bytes) => Body::Cut(bytes),
                Body::Empty => Body::Cut(Vec::new()),
                other => other,
            };
            if let Value::Dict(error) = error {
                let [at] = error.members(["timestamp"])?;
                leg.ended = moment(at);
            }
        }
        exchange.response = Some(leg);
    }
    Ok(Flow::Http(Box::new(exchange), version))
}

fn dotted(mut parts: Values<'_>) -> Result<String, &'static str> {
    let mut numbers = Vec::new();
    while let Some(part) = parts.next()? {
        numbers.push(part.integer().map_or_else(|| "?".to_owned(), |number| number.to_string()));
        if numbers.len() > 3 {
            break;
        }
    }
    Ok(numbers.join("."))
}

/// Whether a WebSocket's messages (lists of opcode, sender, content and more) are JSON-RPC.
fn speaks_json_rpc(mut messages: Values<'_>) -> Result<bool, &'static str> {
    while let Some(message) = messages.next()? {
        let Value::List(mut parts) = message else { continue };
        parts.next()?;
        parts.next()?;
        if let Some(Value::Bytes(content)) = parts.next()?
            && memchr::memmem::find(content, b"\"jsonrpc\"").is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a request and a response have in common.
fn leg(side: Values<'_>) -> Result<Leg, &'static str> {
    let [headers, content, started, ended] =
        side.members(["headers", "content", "timestamp_start", "timestamp_end"])?;
    let body = match content {
        Value::Bytes([]) => Body::Empty,
        Value::Bytes(content) => Body::Whole(content.to_vec()),
        // It was passed on without being kept.
        _ => Body::NotStored,
    };
    let mut named = Vec::new();
    if let Value::List(mut pairs) = headers {
        while let Some(pair) = pairs.next()? {
            let Value::List(mut pair) = pair else { continue };
            if let (Some(Value::Bytes(name)), Some(Value::Bytes(value))) = (pair.next()?, pair.next()?) {
                let name = String::from_utf8_lossy(name).to_ascii_lowercase();
                named.push((name, String::from_utf8_lossy(value).into_owned()));
            }
        }
    }
    Ok(Leg { headers: named, body, started: moment(started), ended: moment(ended) })
}

/// The address a request went to, as its client named it: a proxy may know the server by its number alone.
fn url(
    scheme: Value<'_>,
    host: Value<'_>,
    port: Value<'_>,
    path: Value<'_>,
    authority: Value<'_>,
    request: &Leg,
) -> String {
    let scheme = scheme.text().filter(|scheme| !scheme.is_empty()).unwrap_or_else(|| "http".to_owned());
    let named = request.header("host").map(str::to_owned).or_else(|| authority.text());
    let authority = named.filter(|named| !named.is_empty()).unwrap_or_else(|| {
        let host = host.text().unwrap_or_default();
        let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
        match (scheme.as_str(), port.integer()) {
            ("http", Some(80)) | ("https", Some(443)) | (_, None) => host,
            (_, Some(port)) => format!("{host}:{port}"),
        }
    });
    let path = path.text().unwrap_or_default();
    if path.contains("://") { path } else { format!("{scheme}://{authority}{path}") }
}
