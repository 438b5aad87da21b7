//! A TCP connection: its two directions, and the exchanges they make up.

use super::body;
use super::counts::Counts;
use super::head::{Looks, Side, Start};
use super::link::Segment;
use super::message::{Message, Resumed};
use super::parser::{Parser, Spent};
use super::stream::{Arrival, Mark, Records, Stream, Taken};
use crate::capture::http::{Body, HttpExchange, Item, Leg, Piece, is_packed};
use crate::protocol::message::Ts;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Requests without an answer on one connection.
const OUTSTANDING: usize = 1 << 10;
/// Bytes of an event stream that is still open which are held before they are given out.
const STREAM_PORTION: usize = 1 << 20;

/// What a connection turned out to carry that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opaque {
    Tls,
    Http2,
    Switched,
}

/// Where what was read goes.
pub struct Output<'o> {
    pub items: &'o mut VecDeque<Item>,
    pub counts: &'o mut Counts,
    /// Exchanges given out so far.
    pub given: &'o mut u64,
}

impl Output<'_> {
    /// Packets that carry nothing.
    fn others(&mut self, records: &Records) {
        let mut size = records.size;
        for _ in 0..records.count() {
            self.items.push_back(Item::Other { position: records.position, size: std::mem::take(&mut size) });
        }
    }

    pub fn other(&mut self, mark: &Mark) {
        self.items.push_back(Item::Other { position: mark.frame, size: mark.size });
    }
}

pub struct Connection {
    /// Who sends in each direction.
    ends: [SocketAddr; 2],
    streams: [Stream; 2],
    parsers: [Parser; 2],
    /// The direction of the requests.
    client: Option<usize>,
    opaque: Option<Opaque>,
    /// Bytes were sent.
    used: bool,
    /// The packet that was read last.
    last: Mark,
    /// Where the last request went: host and target. An answer whose request was not captured is taken for the same
    /// server's.
    place: Option<(String, String)>,
    /// Order of use, and whether the connection waits to be asked for a portion of its stream.
    pub touched: u64,
    pub queued: bool,
}

impl Connection {
    pub fn new(ends: [SocketAddr; 2]) -> Self {
        Self {
            ends,
            streams: Default::default(),
            parsers: [Parser::new(None), Parser::new(None)],
            client: None,
            opaque: None,
            used: false,
            last: Mark::default(),
            place: None,
            touched: 0,
            queued: false,
        }
    }

    /// Bytes it holds, about.
    pub fn weight(&self) -> usize {
        let streams: usize = self.streams.iter().map(Stream::weight).sum();
        streams + self.parsers.iter().map(Parser::weight).sum::<usize>()
    }

    /// Whether one of its sides may still speak.
    pub fn is_open(&self) -> bool {
        !self.streams.iter().all(Stream::is_ended)
    }

    /// Takes a segment of direction `from`. False where it cannot be of this connection: the addresses are used anew.
    pub fn take(&mut self, from: usize, segment: &Segment<'_>, mut mark: Mark, out: &mut Output<'_>) -> bool {
        let peer = 1 - from;
        if segment.begins {
            if !self.stream(from).begins_at(segment.sequence) {
                return false;
            }
            self.parser(from).begin();
            self.settle(if segment.acknowledged.is_none() { from } else { peer });
        }
        let sequence = segment.sequence.wrapping_add(u32::from(segment.begins));
        let length = segment.payload.len() + segment.missing;
        let taken = match length {
            0 => None,
            _ => Some(self.stream(from).take(sequence, segment.payload, segment.missing, mark)),
        };
        if taken == Some(Taken::Elsewhere) {
            return false;
        }
        self.last = mark;
        if let Some(number) = segment.acknowledged {
            mark.acknowledged = self.stream(peer).confirm(number);
        }
        let mut own = true;
        self.used |= length > 0;
        out.counts.cut_packets += u64::from(segment.missing > 0);
        match taken {
            Some(Taken::Now(offset)) => {
                let bytes = segment.payload.get(offset..).unwrap_or_default();
                self.feed(from, bytes, offset == 0, &mark, &mut own, out);
                if let Some(Arrival::Gap(missing)) = self.stream(from).pass(bytes.len(), segment.missing) {
                    self.gap(from, missing, out);
                }
            }
            Some(Taken::Later) => own = false,
            Some(Taken::Repeated(differs)) => {
                out.counts.repeated += 1;
                out.counts.differing += u64::from(differs);
            }
            Some(Taken::Elsewhere) | None => {}
        }
        if own {
            out.counts.opaque_packets += u64::from(self.opaque.is_some() && length > 0);
            out.other(&mark);
        }
        if segment.ends {
            self.stream(from).ends_at(sequence, length);
        }
        self.drain(mark.ts, segment.resets, out);
        if segment.resets {
            self.stop(out);
        }
        self.pair(false, out);
        self.relieve(out);
        true
    }

    fn stream(&mut self, direction: usize) -> &mut Stream {
        let [first, second] = &mut self.streams;
        if direction == 0 { first } else { second }
    }

    fn parser(&mut self, direction: usize) -> &mut Parser {
        let [first, second] = &mut self.parsers;
        if direction == 0 { first } else { second }
    }

    /// Which direction asks is known.
    fn settle(&mut self, client: usize) {
        if self.client.is_none() {
            self.client = Some(client);
            self.parser(client).side.get_or_insert(Side::Requests);
            self.parser(1 - client).side.get_or_insert(Side::Answers);
        }
    }

    /// Gives bytes in order to the reader of their direction.
    fn feed(&mut self, from: usize, bytes: &[u8], starts: bool, mark: &Mark, own: &mut bool, out: &mut Output<'_>) {
        if self.opaque.is_some() || bytes.is_empty() {
            return;
        }
        let place = self.stream(from).position();
        let [first, second] = &mut self.parsers;
        let (parser, other) = if from == 0 { (first, second) } else { (second, first) };
        parser.feed(bytes, (place, starts), mark, own, &other.messages, out.counts);
        let (side, switched, stranger) = (parser.side, parser.switched, parser.stranger);
        match side {
            Some(Side::Requests) => self.settle(from),
            Some(Side::Answers) => self.settle(1 - from),
            None => {}
        }
        let opaque = match stranger {
            _ if switched => Some(Opaque::Switched),
            Some(Looks::Tls) => Some(Opaque::Tls),
            Some(Looks::Http2) => Some(Opaque::Http2),
            _ => None,
        };
        if let Some(opaque) = opaque {
            self.opaque = Some(opaque);
            let count = match opaque {
                Opaque::Tls => &mut out.counts.tls,
                Opaque::Http2 => &mut out.counts.http2,
                Opaque::Switched => &mut out.counts.switched,
            };
            *count += 1;
            out.counts.opaque_packets += u64::from(opaque != Opaque::Switched);
            self.stop(out);
        }
        self.spend(out);
    }

    /// Packets that the readers made nothing of.
    fn spend(&mut self, out: &mut Output<'_>) {
        for spent in self.parsers.iter_mut().flat_map(|parser| std::mem::take(&mut parser.spent)) {
            match spent {
                Spent::Rejected { records, reason, excerpt } if records.count() > 0 => {
                    let Records { position, size, .. } = records;
                    out.items.push_back(Item::Rejected { position, size, reason, excerpt });
                    for _ in 1..records.count() {
                        out.items.push_back(Item::Other { position, size: 0 });
                    }
                }
                Spent::Other(records) | Spent::Rejected { records, .. } => out.others(&records),
            }
        }
    }

    fn gap(&mut self, from: usize, missing: u64, out: &mut Output<'_>) {
        if self.opaque.is_some() {
            return;
        }
        out.counts.gaps += 1;
        out.counts.lacking += missing;
        let ts = self.last.ts;
        self.parser(from).gap(missing, ts, out.counts);
    }

    /// Gives on what has become whole.
    fn drain(&mut self, tick: Option<Ts>, all: bool, out: &mut Output<'_>) {
        for from in [0, 1] {
            while let Some(arrival) = self.stream(from).arrive(tick, all) {
                match arrival {
                    Arrival::Bytes { bytes, starts, mark, mut own } => {
                        let opaque = self.opaque.is_some();
                        self.feed(from, &bytes, starts, &mark, &mut own, out);
                        let _ = self.stream(from).pass(bytes.len(), 0);
                        if own {
                            out.counts.opaque_packets += u64::from(opaque);
                            out.other(&mark);
                        }
                    }
                    Arrival::Gap(missing) => self.gap(from, missing, out),
                    Arrival::End => {
                        let ts = self.last.ts;
                        self.parser(from).end(true, ts, out.counts);
                        self.spend(out);
                    }
                }
            }
        }
    }

    /// Nothing more is read of what has begun.
    fn stop(&mut self, out: &mut Output<'_>) {
        let ts = self.last.ts;
        for from in [0, 1] {
            self.parser(from).end(false, ts, out.counts);
        }
        self.spend(out);
    }

    /// Gives out everything: the capture ends here, the addresses are used anew, or memory runs short.
    pub fn finish(&mut self, out: &mut Output<'_>) {
        self.drain(None, true, out);
        self.stop(out);
        self.pair(true, out);
        if self.used {
            let begun = self.streams.iter().any(Stream::has_begun);
            out.counts.midway += u64::from(!begun);
            let speaks = self.parsers.iter().any(|parser| parser.speaks);
            out.counts.others += u64::from(!speaks && self.opaque.is_none());
        }
    }

    /// Makes exchanges of the messages that are complete; of `all`, at the end.
    fn pair(&mut self, all: bool, out: &mut Output<'_>) {
        let Some(client) = self.client else { return };
        let server = 1 - client;
        while let Some(answer) = self.parser(server).messages.front().filter(|answer| answer.done) {
            let (begins, acknowledged, after_loss) = (answer.begins, answer.acknowledged, answer.after_loss);
            if after_loss {
                self.skip_lost(client, begins, out);
            }
            let request = match self.asked(client, acknowledged, all) {
                Asked::Wait => break,
                Asked::Not => None,
                Asked::Oldest => self.parser(client).pop(),
            };
            let answer = self.parser(server).pop();
            self.give(request, answer, Rest::Complete, out);
        }
        while all || self.parser(client).messages.len() > OUTSTANDING {
            let lost = self.stream(server).lacks() || self.parser(server).has_lost();
            let Some(request) = self.parser(client).pop() else { break };
            out.counts.lost_answers += u64::from(lost);
            self.give(Some(request), None, if lost { Rest::Lost } else { Rest::Complete }, out);
        }
    }

    /// Requests that were answered in bytes that are missing: their sender had that answer when it sent the next.
    fn skip_lost(&mut self, client: usize, begins: u64, out: &mut Output<'_>) {
        while self.parser(client).messages.get(1).is_some_and(|next| next.acknowledged <= begins) {
            let Some(request) = self.parser(client).pop() else { break };
            out.counts.lost_answers += 1;
            self.give(Some(request), None, Rest::Lost, out);
        }
    }

    /// Which request an answer belongs to whose sender had received everything before `acknowledged`.
    fn asked(&mut self, client: usize, acknowledged: u64, all: bool) -> Asked {
        let position = self.stream(client).position();
        match self.parser(client).messages.front() {
            // Nothing of it had arrived.
            Some(request) if acknowledged > 0 && request.begins >= acknowledged => Asked::Not,
            Some(request) if request.done || all => Asked::Oldest,
            Some(_) => Asked::Wait,
            // It may be among packets that are held back.
            None if !all && position < acknowledged => Asked::Wait,
            None => Asked::Not,
        }
    }

    /// Whether an event stream is open of which something can be given out.
    pub fn streams(&mut self) -> bool {
        let Some(client) = self.client else { return false };
        let new = self.parser(client).messages.front().is_some_and(|request| request.done && request.resumed.is_none());
        let open = self.parser(1 - client).messages.front().filter(|answer| answer.stream && !answer.done);
        open.is_some_and(|answer| new || !answer.pieces.is_empty())
    }

    /// Gives out portions of a stream that would take too much memory.
    fn relieve(&mut self, out: &mut Output<'_>) {
        let Some(client) = self.client else { return };
        if self.parser(1 - client).weight() > STREAM_PORTION && self.streams() {
            self.portion(out);
        }
    }

    /// Gives out the events of an open stream that have come, as an exchange that goes on.
    pub fn portion(&mut self, out: &mut Output<'_>) {
        let Some(client) = self.client else { return };
        let server = 1 - client;
        let Some(answer) = self.parser(server).messages.front() else { return };
        let acknowledged = answer.acknowledged;
        let Some(end) = last_event(&answer.pieces).filter(|_| !is_packed(&answer.headers)) else { return };
        let request = match self.asked(client, acknowledged, false) {
            Asked::Wait => return,
            Asked::Not => None,
            Asked::Oldest => self.parser(client).pop(),
        };
        let pieces = self.parser(server).take_pieces(end);
        let Mark { frame, ts: now, .. } = self.last;
        let Some(answer) = self.parser(server).messages.front_mut() else { return };
        let part = Message { pieces, ended: now, ..answer.without_body() };
        let begun = request.as_ref().map(|request| request.records.position).filter(|position| *position > 0);
        let of = answer.resumed.map_or(begun.unwrap_or(answer.records.position), |resumed| resumed.of);
        (answer.records, answer.resumed) = (Records::default(), Some(Resumed { at: frame, of }));
        answer.started = answer.pieces.first().and_then(|piece| piece.ts).or(now);
        let started = answer.started;
        if let Some(request) = &request {
            let mut goes_on =
                Message { records: Records::default(), resumed: answer.resumed, ..request.without_body() };
            (goes_on.started, goes_on.ended) = (started, started);
            // The session is named in the answer that begins it.
            if let (None, Some(session)) = (goes_on.header("mcp-session-id"), part.header("mcp-session-id")) {
                let session = session.to_owned();
                goes_on.headers.push(("mcp-session-id".to_owned(), session));
            }
            self.parser(client).put_back(goes_on);
        }
        self.give(request, Some(part), Rest::GoesOn(of), out);
    }

    fn give(&mut self, request: Option<Message>, answer: Option<Message>, rest: Rest, out: &mut Output<'_>) {
        let asked = request.as_ref().map(|request| request.records).unwrap_or_default();
        let answered = answer.as_ref().map(|answer| answer.records).unwrap_or_default();
        let resumed = request.as_ref().or(answer.as_ref()).and_then(|message| message.resumed);
        let nothing = answer.as_ref().is_none_or(|answer| answer.pieces.is_empty());
        if resumed.is_some() && nothing && answered.count() == 0 {
            return;
        }
        let mut records = if asked.position > 0 {
            Records { more: asked.more + answered.count(), size: asked.size + answered.size, ..asked }
        } else {
            answered
        };
        if records.position == 0 {
            records.position = resumed.map_or(self.last.frame, |resumed| resumed.at);
            records.shared = true;
        }
        let mut exchange = HttpExchange {
            position: records.position,
            size: records.size,
            more: records.more,
            shared: records.shared,
            goes_on: matches!(rest, Rest::GoesOn(_)),
            part_of: match rest {
                Rest::GoesOn(of) => Some(of),
                Rest::Complete | Rest::Lost => resumed.map(|resumed| resumed.of),
            },
            ..HttpExchange::default()
        };
        match request {
            Some(mut request) => {
                if let Start::Request { method, url } = std::mem::replace(&mut request.start, Start::Answer(0)) {
                    (exchange.method, exchange.url) = (method, url);
                }
                exchange.request = leg(request);
                let host = exchange.request.header("host").unwrap_or_default().to_owned();
                self.place = Some((host, exchange.url.clone()));
            }
            None => {
                out.counts.only_answers += u64::from(resumed.is_none());
                // What came with the answer came no sooner.
                exchange.request.started = answer.as_ref().and_then(|answer| answer.started);
                match self.place.clone() {
                    Some((host, url)) => {
                        exchange.url = url;
                        exchange.request.headers.push(("host".to_owned(), host));
                    }
                    // The address stands for the name that its client called it by.
                    None => {
                        let server = self.client.and_then(|client| self.ends.get(1 - client));
                        exchange.server = server.map(|end| end.to_string().into());
                    }
                }
            }
        }
        match answer {
            Some(answer) => {
                // 0 where its head is missing.
                if let Start::Answer(code @ 1..) = answer.start {
                    exchange.status = Some(code);
                }
                exchange.response = Some(leg(answer));
            }
            None if rest == Rest::Lost => {
                exchange.response = Some(Leg { body: Body::NotStored, ..Leg::default() });
            }
            None => {}
        }
        *out.given += 1;
        out.items.push_back(Item::Exchange(Box::new(exchange)));
    }
}

/// Which request an answer belongs to.
enum Asked {
    Oldest,
    /// To one that was not captured.
    Not,
    /// That is not known yet.
    Wait,
}

/// What is known of an exchange's answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// It is there, or none was sent.
    Complete,
    /// It was sent, and is missing.
    Lost,
    /// It goes on, in parts of this name.
    GoesOn(u64),
}

/// A message as a side of an exchange.
fn leg(message: Message) -> Leg {
    let Message { mut headers, mut pieces, stream, started, ended, .. } = message;
    // Chunks were joined.
    headers.retain(|(name, value)| name != "transfer-encoding" || !body::is_only_chunked(value));
    let body = match pieces.as_mut_slice() {
        [] => Body::Empty,
        [Piece { after_gap: false, bytes, .. }] if !stream => Body::Whole(std::mem::take(bytes)),
        _ => Body::Pieces(pieces),
    };
    Leg { headers, body, started, ended }
}

/// Behind the last event that has ended: the piece, and the offset in it. The very beginning where nothing has come.
fn last_event(pieces: &[Piece]) -> Option<(usize, usize)> {
    if pieces.is_empty() {
        return Some((0, 0));
    }
    pieces.iter().enumerate().rev().find_map(|(index, piece)| {
        let ends = [&b"\n\n"[..], b"\n\r\n", b"\r\r"];
        let found = ends.iter().filter_map(|end| Some(memchr::memmem::rfind(&piece.bytes, end)? + end.len()));
        found.max().map(|offset| (index, offset))
    })
}
