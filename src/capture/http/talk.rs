//! An exchange, understood: the messages it carried each way, whose they are, and what became of its requests.

use super::body::{Plain, PlainPiece, plain, repaired};
use super::memory::Memory;
use super::said::{Content, Messages, Said, What, messages, named, not_captured, remains};
use super::sse::{self, Event, Events};
use super::{Body, HttpExchange, Leg};
use crate::protocol::json::digest;
use crate::protocol::message::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// An exchange that carried messages, or may have.
#[derive(Debug)]
pub struct Talk {
    pub position: u64,
    pub size: usize,
    /// As in [`HttpExchange`].
    pub more: u64,
    pub shared: bool,
    pub session: Option<Text>,
    pub server: Option<Text>,
    /// Path and query that the request went to: an `endpoint` event (2024-11-05) may say later whose it is.
    pub target: String,
    /// Of the HTTP+SSE transport of 2024-11-05: answers come on another exchange's stream.
    pub legacy: bool,
    /// The request was the server's: an archive of messages that were never HTTP.
    pub turned: bool,
    pub started: Option<Ts>,
    pub ended: Option<Ts>,
    pub sent: Vec<Said>,
    /// What the answer holds and was not given out yet.
    pub heard: VecDeque<Said>,
    /// The answer is an event stream.
    pub stream: bool,
    /// Requests that the answer does not answer.
    pub unanswered: Vec<Id>,
    pub rest: Rest,
    /// Values in its bodies that are no messages.
    pub odd: u64,
    /// How the first batch within a batch in its bodies begins.
    pub nested: Option<Vec<u8>>,
    /// Messages given out so far, and whether an analysis reads one of them.
    pub members: u32,
    pub read: bool,
    /// Bytes it holds, about.
    pub weight: usize,
}

/// What is known of requests that the answer does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// They have no answer here.
    None,
    /// There was an answer, or may have been.
    Unknown,
    /// HTTP answered in place of the server; the second part says whether all of that answer was kept.
    Failed(String, Captured),
}

/// What understanding met along the way.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    /// Answers to requests that are not known, because the recorder kept no body.
    pub not_stored: u64,
    /// Bodies whose compression cannot be taken off.
    pub unreadable: u64,
    pub replayed: u64,
    pub repaired: u64,
    /// Events that hold no message.
    pub odd_events: u64,
    /// Streams of which no event was kept.
    pub silent_streams: u64,
    /// Requests whose body was not kept.
    pub requests_not_stored: u64,
    /// Messages of streams without times of their own.
    pub bounded: u64,
    /// Exchanges that began before ones that were given out already.
    pub late: u64,
    /// Answers to questions that were not found in time.
    pub let_go: u64,
}

/// Bytes that messages hold while they wait.
fn weight<'s>(said: impl Iterator<Item = &'s Said>) -> usize {
    let mut bytes = 0;
    let mut last = None;
    for said in said {
        // Messages of one body share its bytes.
        let body = std::sync::Arc::as_ptr(&said.bytes);
        bytes += 512 + if last == Some(body) { 0 } else { said.bytes.len() };
        last = Some(body);
    }
    bytes
}

/// Reads an exchange; `None` where it carried nothing of this protocol.
pub fn understand(exchange: HttpExchange, memory: &mut Memory, counts: &mut Counts) -> Option<Talk> {
    let HttpExchange { method, url, request, mut response, status, server, mojibake, .. } = exchange;
    let HttpExchange { position, size, more, shared, goes_on, part_of, .. } = exchange;
    let place = Place::of(&url, &request);
    let server = server.or_else(|| (!place.label.is_empty()).then(|| place.label.as_str().into()));
    let signed = is_signed(&request) || response.as_ref().is_some_and(is_signed);
    let socket = status == Some(101);
    let mut sent = if socket { Messages::default() } else { sent(&request, counts) };
    if mojibake && let Some(response) = &mut response {
        counts.repaired += u64::from(repair(response));
    }
    let is_stream = response.as_ref().is_some_and(is_stream);
    let mut session = request.header("mcp-session-id").filter(|id| !id.is_empty()).map(Text::from);
    let initialize = |said: &Said| matches!(&said.what, What::Request(_, method) if &**method == "initialize");
    if session.is_none() && sent.said.iter().any(initialize) {
        session = response.as_ref().and_then(|leg| leg.header("mcp-session-id")).map(Text::from);
    }
    let mut legacy = false;
    if session.is_none() && request.header("mcp-protocol-version").is_none() {
        session = memory.session_at(&place.target).or_else(|| place.session.clone());
        legacy = session.is_some();
    }

    let mut heard = match &response {
        Some(response) if socket => heard_on_socket(&request.body, &response.body),
        Some(response) if is_stream => {
            let room = session.clone().or_else(|| server.clone()).unwrap_or_default();
            let replay = request.header("last-event-id").is_some();
            heard_in_stream(response, memory, counts, &room, replay)
        }
        Some(response) => heard(response),
        None => Heard::default(),
    };
    if let Some(endpoint) = heard.endpoint.take() {
        let known = memory.learn_endpoint(&endpoint);
        session = session.or(Some(known));
        legacy = true;
    }
    let said = || sent.said.iter().chain(&heard.messages.said);
    let known_method = |said: &Said| match &said.what {
        What::Request(_, method) | What::Notification(method) => crate::protocol::parse::is_of_mcp(method),
        What::Answer(_) => false,
    };
    let of_mcp = signed
        || legacy && heard.endpoint_seen
        || server.as_ref().is_some_and(|server| memory.speaks_mcp(server))
        || said().any(known_method);
    if !of_mcp {
        return None;
    }
    if let Some(server) = &server {
        memory.learn_server(server);
    }

    if sent.said.is_empty() && matches!(request.body, Body::NotStored | Body::Cut(_)) && method == "POST" {
        counts.requests_not_stored += 1;
        sent.said.extend(from_headers(&request, &heard.messages.said, position));
    }
    let mut unanswered = part_of.map(|exchange| memory.take_open(exchange)).unwrap_or_default();
    for said in &sent.said {
        if let What::Request(id, _) = &said.what {
            unanswered.push(id.clone());
        }
    }
    adopt(&mut heard.messages.said, &mut unanswered);
    if let Some(exchange) = part_of.filter(|_| goes_on) {
        memory.leave_open(exchange, std::mem::take(&mut unanswered));
    }
    let rest = match &response {
        None => Rest::None,
        Some(_) if goes_on => Rest::None,
        Some(response) => rest(response, status, &heard, legacy),
    };
    if !unanswered.is_empty() && rest == Rest::Unknown {
        counts.not_stored += 1;
        counts.unreadable += u64::from(heard.unreadable);
    }
    if is_stream && heard.messages.said.is_empty() && unanswered.is_empty() {
        counts.silent_streams += u64::from(!matches!(response.as_ref().map(|leg| &leg.body), Some(Body::Empty) | None));
    }
    let asks = |said: &Said| match &said.what {
        What::Request(_, method) => crate::protocol::parse::sender(method, true),
        _ => None,
    };
    let turned =
        url.starts_with("mcp://") && sent.said.iter().any(|said| asks(said) == Some(Direction::ServerToClient));
    let last = response.as_ref().and_then(|leg| leg.ended.or(leg.started));
    let weight = 1024 + weight(sent.said.iter()) + weight(heard.messages.said.iter());
    Some(Talk {
        position,
        size,
        more,
        shared,
        session,
        server,
        target: place.target,
        legacy,
        turned,
        started: request.started,
        ended: last.or(request.ended).or(request.started),
        sent: sent.said,
        odd: sent.odd + heard.messages.odd,
        nested: sent.nested.or(heard.messages.nested),
        heard: heard.messages.said.into(),
        stream: is_stream,
        unanswered,
        rest,
        members: 0,
        read: false,
        weight,
    })
}

/// Where a request went.
struct Place {
    /// Authority and path, without a user's name and password and without the query.
    label: String,
    /// Path and query.
    target: String,
    /// The session in the query (2024-11-05).
    session: Option<Text>,
}

impl Place {
    fn of(url: &str, request: &Leg) -> Self {
        let url = url.split('#').next().unwrap_or_default();
        let (authority, target) = match url.split_once("://") {
            Some((scheme, rest)) => {
                let at = rest.find(['/', '?']).unwrap_or(rest.len());
                let (authority, target) = rest.split_at(at);
                // What follows is a method, not a place.
                (authority, if scheme == "mcp" { "" } else { target })
            }
            None => (request.header("host").or(request.header(":authority")).unwrap_or_default(), url),
        };
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let session = session_in(query);
        Self { label: format!("{authority}{path}"), target: target.to_owned(), session }
    }
}

/// The session that a query names.
pub fn session_in(query: &str) -> Option<Text> {
    let named = query.split('&').filter_map(|part| part.split_once('='));
    let mut found = named.filter(|(name, value)| {
        !value.is_empty() && ["sessionid", "session_id"].iter().any(|known| name.eq_ignore_ascii_case(known))
    });
    found.next().map(|(_, value)| value.into())
}

/// Whether headers say that the protocol is spoken here.
fn is_signed(leg: &Leg) -> bool {
    ["mcp-session-id", "mcp-protocol-version", "mcp-method"].iter().any(|name| leg.header(name).is_some())
}

fn is_stream(leg: &Leg) -> bool {
    if let Some(declared) = leg.header("content-type") {
        return declared.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
    }
    match &leg.body {
        Body::Whole(bytes) | Body::Cut(bytes) => sse::looks_like(bytes),
        Body::Pieces(pieces) => pieces.first().is_some_and(|piece| sse::looks_like(&piece.bytes)),
        Body::Empty | Body::NotStored => false,
    }
}

/// Repairs a stream whose text a recorder decoded in the wrong way, where that is possible.
fn repair(leg: &mut Leg) -> bool {
    if !is_stream(leg) {
        return false;
    }
    let (Body::Whole(bytes) | Body::Cut(bytes)) = &mut leg.body else { return false };
    match repaired(bytes) {
        Some(right) => {
            *bytes = right;
            true
        }
        None => false,
    }
}

/// The messages of a request's body.
fn sent(leg: &Leg, counts: &mut Counts) -> Messages {
    let (plain, cut) = plain(leg);
    let pieces = match plain {
        Plain::Empty => return Messages::default(),
        Plain::Unknown(reason) => {
            counts.unreadable += u64::from(reason != "not stored");
            return Messages::default();
        }
        Plain::Pieces(pieces) => pieces,
    };
    let bytes = Arc::new(joined(pieces));
    match messages(&bytes, None) {
        Some(found) => found,
        None if cut => Messages { said: remains(&bytes, None), ..Messages::default() },
        None => Messages { odd: u64::from(!bytes.is_empty()), ..Messages::default() },
    }
}

/// A body without byte order mark, in one piece, up to where bytes are missing.
fn joined(pieces: Vec<PlainPiece<'_>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in pieces.into_iter().take_while(|piece| !piece.after_gap) {
        if bytes.is_empty() {
            bytes = piece.bytes.into_owned();
        } else {
            bytes.extend_from_slice(&piece.bytes);
        }
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    bytes
}

/// What an answer's body holds.
#[derive(Debug, Default)]
struct Heard {
    messages: Messages,
    /// Whether the body's end is missing, or all of it.
    cut: bool,
    unknown: bool,
    unreadable: bool,
    empty: bool,
    /// The body is no JSON of the protocol.
    foreign: bool,
    endpoint: Option<String>,
    endpoint_seen: bool,
}

fn heard(leg: &Leg) -> Heard {
    let (plain, cut) = plain(leg);
    let pieces = match plain {
        Plain::Empty => return Heard { empty: true, ..Heard::default() },
        Plain::Unknown(reason) => {
            return Heard { unknown: true, unreadable: reason != "not stored", ..Heard::default() };
        }
        Plain::Pieces(pieces) => pieces,
    };
    let bytes = Arc::new(joined(pieces));
    match messages(&bytes, None) {
        Some(messages) => {
            Heard { foreign: messages.said.is_empty() && messages.nested.is_none(), messages, cut, ..Heard::default() }
        }
        None if cut => {
            Heard { messages: Messages { said: remains(&bytes, None), ..Messages::default() }, cut, ..Heard::default() }
        }
        None => Heard { foreign: true, ..Heard::default() },
    }
}

/// What both sides of a WebSocket said, each piece a message, in the order of their times.
fn heard_on_socket(sent: &Body, received: &Body) -> Heard {
    let mut heard = Heard::default();
    for (body, back) in [(sent, true), (received, false)] {
        let Body::Pieces(pieces) = body else { continue };
        for piece in pieces {
            match messages(&Arc::new(piece.bytes.clone()), piece.ts) {
                Some(found) => {
                    heard.messages.odd += found.odd;
                    heard.messages.nested = heard.messages.nested.take().or(found.nested);
                    heard.messages.said.extend(found.said.into_iter().map(|said| Said { back, ..said }));
                }
                None => heard.messages.odd += 1,
            }
        }
    }
    heard.messages.said.sort_by_key(|said| said.ts);
    heard
}

fn heard_in_stream(leg: &Leg, memory: &mut Memory, counts: &mut Counts, room: &Text, replay: bool) -> Heard {
    let (plain, cut) = plain(leg);
    let pieces = match plain {
        Plain::Empty => return Heard { empty: true, ..Heard::default() },
        Plain::Unknown(reason) => {
            return Heard { unknown: true, unreadable: reason != "not stored", ..Heard::default() };
        }
        Plain::Pieces(pieces) => pieces,
    };
    let (mut reader, mut events) = (Events::default(), Vec::new());
    let mut last = None;
    for piece in &pieces {
        if piece.after_gap {
            reader.skip_gap(last, &mut events);
        }
        reader.feed(&piece.bytes, piece.ts, &mut events);
        last = piece.ts;
    }
    reader.finish(last, &mut events);
    let mut heard = Heard { cut, ..Heard::default() };
    for event in events {
        heard.take(event, memory, counts, room, replay);
    }
    heard
}

impl Heard {
    fn take(&mut self, event: Event, memory: &mut Memory, counts: &mut Counts, room: &Text, replay: bool) {
        if event.data.is_empty() {
            return;
        }
        if event.name == b"endpoint" && !event.unsure {
            self.endpoint = Some(String::from_utf8_lossy(&event.data).trim().to_owned());
            self.endpoint_seen = true;
            return;
        }
        if let Some(id) = &event.id
            && memory.was_shown(room, id, digest(&event.data), replay)
        {
            counts.replayed += 1;
            return;
        }
        let bytes = Arc::new(event.data);
        let found = match messages(&bytes, event.ts) {
            Some(Messages { said, nested: Some(text), .. }) => {
                self.messages.nested.get_or_insert(text);
                return self.messages.said.extend(said);
            }
            Some(found) if event.unsure && found.odd > 0 => return,
            Some(found) => found.said,
            None if event.unsure => return,
            None if event.cut => {
                self.cut = true;
                remains(&bytes, event.ts)
            }
            None => Vec::new(),
        };
        if found.is_empty() {
            counts.odd_events += 1;
        }
        self.messages.said.extend(found);
    }
}

/// A request whose body was not kept, from the headers of 2026-07-28. Its id is that of the answer, where there is one.
fn from_headers(leg: &Leg, heard: &[Said], position: u64) -> Option<Said> {
    let method: Text = leg.header("mcp-method")?.into();
    if method.starts_with("notifications/") {
        let notification = Notification { method, subject: None };
        return Some(Said::inferred(Kind::Notification(notification), Captured::Absent));
    }
    let answered = heard.iter().rev().find_map(|said| match &said.what {
        What::Answer(id) => id.clone(),
        _ => None,
    });
    let id = answered.unwrap_or_else(|| Id::Other(format!("of record {position}").into()));
    let name = leg.header("mcp-name").map(Text::from);
    Some(Said::inferred(Kind::Request { id, request: named(method, name) }, Captured::Absent))
}

/// Takes the requests that are answered here from `unanswered`. Errors without an id, or with the one that an SDK gives
/// to what it could not read, answer the requests of this exchange: nothing else was asked in it.
fn adopt(heard: &mut Vec<Said>, unanswered: &mut Vec<Id>) {
    for said in heard.iter() {
        if let What::Answer(Some(id)) = &said.what {
            unanswered.retain(|asked| asked != id);
        }
    }
    let mut adopted = Vec::new();
    for said in heard.drain(..) {
        let nameless = match &said.what {
            What::Answer(None) => true,
            What::Answer(Some(Id::String(id))) => &**id == "server-error",
            _ => false,
        };
        let kind = match &said.content {
            _ if !nameless || unanswered.is_empty() => None,
            Content::Whole(rpc) => rpc.error.map(|error| {
                let text = String::from_utf8_lossy(error.of(&said.bytes));
                Kind::Error { id: None, error: crate::protocol::parse::error(&text, &mut Default::default()) }
            }),
            Content::Rest(kind) => Some((**kind).clone()),
        };
        let Some(kind) = kind else {
            adopted.push(said);
            continue;
        };
        for id in unanswered.drain(..) {
            let id = Some(id);
            let kind = match &kind {
                Kind::Error { error, .. } => Kind::Error { id: id.clone(), error: error.clone() },
                Kind::Result { answer, .. } => Kind::Result { id: id.clone(), answer: answer.clone() },
                other => other.clone(),
            };
            let named = Said::inferred(kind, said.captured);
            adopted.push(Said { ts: said.ts, batch: said.batch, ..named });
        }
    }
    *heard = adopted;
}

/// What is known of requests that the body does not answer.
fn rest(leg: &Leg, status: Option<u16>, heard: &Heard, legacy: bool) -> Rest {
    let code = status.unwrap_or(200);
    let stream = is_stream(leg);
    if code >= 300 {
        let captured = if heard.unknown { Captured::Absent } else { Captured::Full };
        return Rest::Failed(format!("HTTP {code}"), captured);
    }
    // Accepted: the answer, if there is one, comes elsewhere.
    if matches!(code, 202 | 204) || legacy {
        return Rest::None;
    }
    if heard.unknown || heard.cut {
        return Rest::Unknown;
    }
    if stream {
        // A stream may break off; its client goes on with another one.
        return Rest::None;
    }
    if heard.empty {
        return Rest::Failed(format!("HTTP {code} without a body"), Captured::Full);
    }
    if heard.foreign {
        let declared = leg.header("content-type").and_then(|declared| declared.split(';').next());
        let kind = declared.map(str::trim).filter(|kind| !kind.is_empty()).unwrap_or("something else");
        return Rest::Failed(format!("HTTP {code} with {kind} that holds no answer"), Captured::Full);
    }
    Rest::None
}

/// The answer that stands for what the exchange does not hold.
pub fn stand_in(id: Id, rest: &Rest) -> Option<Said> {
    match rest {
        Rest::None => None,
        Rest::Unknown => Some(Said::inferred(Kind::Result { id: Some(id), answer: not_captured() }, Captured::Absent)),
        Rest::Failed(message, captured) => {
            let error = RpcError { code: None, message: message.as_str().into(), elicitations: Vec::new() };
            Some(Said::inferred(Kind::Error { id: Some(id), error }, *captured))
        }
    }
}
