//! The HTTP/1 messages of one direction of a connection (RFC 9112).

use super::body::{Chunks, Framing, Part, whole_chunk};
use super::counts::Counts;
use super::head::{Looks, Side, Start, framing, head_end, looks, parse};
use super::message::{Message, OVERHEAD, PIECE, weight};
use super::stream::{Mark, Records};
use crate::capture::http::{Piece, looks_like_events};
use crate::protocol::message::Ts;
use std::collections::VecDeque;

/// Longest head of a message.
const LONGEST_HEAD: usize = 256 << 10;
/// How much of a head that cannot be read is shown.
const BEGINS: usize = 1024;

/// Packets that carry nothing that is kept.
#[derive(Debug, PartialEq, Eq)]
pub enum Spent {
    Other(Records),
    Rejected { records: Records, reason: String, excerpt: Vec<u8> },
}

/// Where reading stands.
#[derive(Debug)]
enum State {
    /// Between messages, or in a head.
    Head,
    Body(Framing),
    /// Somewhere in a message: the next that is seen begins a packet.
    Lost,
}

/// A head that is being read.
#[derive(Debug, Clone, Copy)]
struct Draft {
    records: Records,
    begins: u64,
    acknowledged: u64,
    started: Option<Ts>,
}

/// Reads one direction.
#[derive(Debug)]
pub struct Parser {
    pub side: Option<Side>,
    state: State,
    head: Vec<u8>,
    draft: Option<Draft>,
    after_loss: bool,
    pub messages: VecDeque<Message>,
    pub spent: Vec<Spent>,
    /// Bytes of the messages and the head.
    weight: usize,
    /// The protocol was switched: what follows is no HTTP.
    pub switched: bool,
    /// What the first bytes that are no HTTP looked like.
    pub stranger: Option<Looks>,
    /// A message was read.
    pub speaks: bool,
}

impl Parser {
    /// The beginning of the connection is not known to be captured: see [`Self::begin`].
    pub fn new(side: Option<Side>) -> Self {
        Self {
            side,
            state: State::Lost,
            head: Vec::new(),
            draft: None,
            after_loss: false,
            messages: VecDeque::new(),
            spent: Vec::new(),
            weight: 0,
            switched: false,
            stranger: None,
            speaks: false,
        }
    }

    pub fn weight(&self) -> usize {
        self.weight + self.head.len()
    }

    /// What comes first is the first of the connection.
    pub fn begin(&mut self) {
        if !self.speaks && matches!(self.state, State::Lost) {
            self.state = State::Head;
        }
    }

    /// Messages were lost behind those that were read.
    pub fn has_lost(&self) -> bool {
        self.after_loss
    }

    /// Takes the oldest message out.
    pub fn pop(&mut self) -> Option<Message> {
        let message = self.messages.pop_front()?;
        self.weight = self.weight.saturating_sub(message.weight);
        Some(message)
    }

    /// Puts a message back in front.
    pub fn put_back(&mut self, message: Message) {
        self.weight += message.weight;
        self.messages.push_front(message);
    }

    /// Takes what has come of the oldest message's body so far, up to a byte of its pieces; the message goes on.
    pub fn take_pieces(&mut self, end: (usize, usize)) -> Vec<Piece> {
        let Some(message) = self.messages.front_mut() else { return Vec::new() };
        let (index, offset) = end;
        let mut rest = message.pieces.split_off(index.min(message.pieces.len()));
        let mut taken = std::mem::take(&mut message.pieces);
        if let Some(first) = rest.first_mut()
            && offset > 0
        {
            let behind = first.bytes.split_off(offset.min(first.bytes.len()));
            let ts = first.ts;
            taken.push(std::mem::replace(first, Piece { ts, after_gap: false, bytes: behind }));
        }
        rest.retain(|piece| piece.after_gap || !piece.bytes.is_empty());
        let bytes: usize = taken.iter().map(|piece| piece.bytes.len()).sum();
        let freed = (bytes + PIECE * taken.len()).min(message.weight.saturating_sub(OVERHEAD));
        message.pieces = rest;
        message.weight -= freed;
        self.weight = self.weight.saturating_sub(freed);
        taken
    }

    /// Takes bytes in order, whose first stands at the place that is given, and may begin a packet. `own` says that no
    /// message has the packet yet. `requests` are those that answers of this direction answer.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        (mut place, mut starts): (u64, bool),
        mark: &Mark,
        own: &mut bool,
        requests: &VecDeque<Message>,
        counts: &mut Counts,
    ) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.switched {
            let before = rest.len();
            match &mut self.state {
                State::Lost if !starts => return,
                State::Lost => {
                    if self.may_begin(rest) {
                        self.state = State::Head;
                    } else if self.may_go_on(rest) {
                        self.take_stream(place, mark);
                    } else {
                        return;
                    }
                }
                State::Head => rest = self.read_head(rest, place, mark, own, requests, counts),
                State::Body(framing) => match framing.read(rest, starts) {
                    Part::Content(content) => {
                        let over = framing.is_over();
                        rest = rest.get(content.len()..).unwrap_or_default();
                        if let Some(message) = self.messages.back_mut() {
                            message.records.take(mark, own);
                            self.weight += message.keep(content, mark.ts, counts);
                        }
                        if over {
                            self.finish();
                        }
                    }
                    Part::Around(count) => {
                        let lost = *framing == Framing::Chunked(Chunks::Lost);
                        if lost && starts && looks(rest) == self.side.map_or(Looks::Other, Looks::Http) {
                            // The body ended in what is missing.
                            self.finish();
                            self.after_loss = true;
                        } else {
                            rest = rest.get(count..).unwrap_or_default();
                            if let Some(message) = self.messages.back_mut() {
                                message.records.take(mark, own);
                                message.ended = mark.ts.or(message.ended);
                            }
                        }
                    }
                    Part::End(count) => {
                        rest = rest.get(count..).unwrap_or_default();
                        if let Some(message) = self.messages.back_mut().filter(|_| count > 0) {
                            message.records.take(mark, own);
                            message.ended = mark.ts.or(message.ended);
                        }
                        self.finish();
                    }
                    Part::Broken => {
                        counts.broken_bodies += 1;
                        self.break_off(mark.ts);
                    }
                },
            }
            let passed = before - rest.len();
            place += passed as u64;
            starts &= passed == 0;
        }
    }

    /// Whether a message of this direction may begin with these bytes.
    fn may_begin(&mut self, bytes: &[u8]) -> bool {
        let found = looks(bytes);
        match (found, self.side) {
            (Looks::Http(side), Some(known)) => side == known,
            (Looks::Http(_), None) => true,
            (Looks::Http2 | Looks::Tls, _) => {
                if !self.speaks {
                    self.stranger.get_or_insert(found);
                }
                false
            }
            (Looks::Short | Looks::Other, _) => false,
        }
    }

    /// Whether a packet begins with a chunk of events: a stream whose head was not captured.
    fn may_go_on(&self, bytes: &[u8]) -> bool {
        self.side != Some(Side::Requests) && whole_chunk(bytes).is_some_and(looks_like_events)
    }

    /// Goes on with a stream of which the head is missing.
    fn take_stream(&mut self, place: u64, mark: &Mark) {
        self.side = Some(Side::Answers);
        let draft =
            Draft { records: Records::default(), begins: place, acknowledged: mark.acknowledged, started: mark.ts };
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        self.after_loss = true;
        let message = self.message(draft, Start::Answer(0), headers, mark);
        self.begin_body(message, Some(Framing::Chunked(Chunks::begin())));
    }

    /// Reads on in a head; what is left behind it.
    fn read_head<'b>(
        &mut self,
        bytes: &'b [u8],
        place: u64,
        mark: &Mark,
        own: &mut bool,
        requests: &VecDeque<Message>,
        counts: &mut Counts,
    ) -> &'b [u8] {
        let skipped = if self.head.is_empty() {
            bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
        } else {
            0
        };
        let text = bytes.get(skipped..).unwrap_or_default();
        if text.is_empty() {
            return &[];
        }
        let known = self.head.len();
        let end = head_end(&self.head, text);
        let count = end.unwrap_or(text.len());
        if known + count > LONGEST_HEAD {
            self.reject(format!("the head of a message is longer than {} KiB", LONGEST_HEAD >> 10), counts);
            return &[];
        }
        self.head.extend_from_slice(text.get(..count).unwrap_or_default());
        let place = place + skipped as u64;
        let draft = self.draft.get_or_insert_with(|| Draft {
            records: Records::default(),
            begins: place,
            acknowledged: mark.acknowledged,
            started: mark.ts,
        });
        draft.records.take(mark, own);
        match looks(&self.head) {
            Looks::Http(side) if self.side.is_none_or(|known| known == side) => {}
            Looks::Short => {}
            found => {
                self.stranger.get_or_insert(found);
                self.drop_head();
                self.state = State::Lost;
                return &[];
            }
        }
        if end.is_some() {
            self.take_head(mark, requests, counts);
        }
        text.get(count..).unwrap_or_default()
    }

    fn take_head(&mut self, mark: &Mark, requests: &VecDeque<Message>, counts: &mut Counts) {
        let (start, headers) = match parse(&self.head) {
            Ok(parsed) => parsed,
            Err(reason) => return self.reject(format!("the head of a message cannot be read: {reason}"), counts),
        };
        if let Start::Answer(100 | 102..=199) = start {
            // The final answer is still to come; its packets begin here.
            self.head.clear();
            return;
        }
        let Some(draft) = self.draft.take() else { return };
        self.head.clear();
        let message = self.message(draft, start, headers, mark);
        // Answers that were not paired yet come before this one.
        let asked = requests.get(self.messages.len()).map(|asked| &asked.start);
        let framing = match framing(&message.start, &message.headers, asked) {
            Ok(framing) => framing,
            Err(reason) => {
                self.draft = Some(draft);
                return self.reject(format!("the end of a message is not known: {reason}"), counts);
            }
        };
        self.begin_body(message, framing);
    }

    /// A message that begins, as its head says.
    fn message(&mut self, draft: Draft, start: Start, headers: Vec<(String, String)>, mark: &Mark) -> Message {
        let mut message = Message {
            records: draft.records,
            begins: draft.begins,
            acknowledged: draft.acknowledged,
            after_loss: std::mem::take(&mut self.after_loss),
            started: draft.started,
            ended: mark.ts,
            weight: OVERHEAD + weight(&headers),
            start,
            headers,
            pieces: Vec::new(),
            stream: false,
            full: false,
            done: false,
            resumed: None,
        };
        let kind = message.header("content-type").unwrap_or_default();
        message.stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
        message
    }

    /// What follows is the body of this message; `None` where it has none.
    fn begin_body(&mut self, message: Message, framing: Option<Framing>) {
        self.switched = message.start == Start::Answer(101);
        self.speaks = true;
        self.side.get_or_insert(match message.start {
            Start::Request { .. } => Side::Requests,
            Start::Answer(_) => Side::Answers,
        });
        self.weight += message.weight;
        self.messages.push_back(message);
        match framing.filter(|framing| !framing.is_over()) {
            Some(framing) => self.state = State::Body(framing),
            None => self.finish(),
        }
    }

    /// The last message is complete.
    fn finish(&mut self) {
        self.state = State::Head;
        if let Some(message) = self.messages.back_mut() {
            message.done = true;
        }
    }

    /// The last message ends here for want of what follows, and where the next one begins is not known.
    fn break_off(&mut self, ts: Option<Ts>) {
        if let State::Body(_) = self.state
            && let Some(message) = self.messages.back_mut()
        {
            message.lack(ts);
            message.done = true;
        }
        self.state = State::Lost;
        self.after_loss = true;
    }

    /// Gives up the head that was begun.
    fn drop_head(&mut self) {
        self.head.clear();
        if let Some(draft) = self.draft.take() {
            self.spent.push(Spent::Other(draft.records));
        }
    }

    fn reject(&mut self, reason: String, counts: &mut Counts) {
        counts.bad_heads += 1;
        let excerpt = self.head.iter().take(BEGINS).copied().collect();
        self.head.clear();
        if let Some(Draft { records, .. }) = self.draft.take() {
            self.spent.push(Spent::Rejected { records, reason, excerpt });
        }
        self.state = State::Lost;
        self.after_loss = true;
    }

    /// Bytes are missing here.
    pub fn gap(&mut self, length: u64, ts: Option<Ts>, counts: &mut Counts) {
        match &mut self.state {
            State::Lost => {}
            State::Head => {
                counts.cut_heads += u64::from(!self.head.is_empty());
                self.drop_head();
                self.break_off(ts);
            }
            State::Body(framing) => {
                if !framing.skip(length) {
                    self.break_off(ts);
                    return;
                }
                let over = framing.is_over();
                if let Some(message) = self.messages.back_mut() {
                    message.lack(ts);
                }
                if over {
                    self.finish();
                }
            }
        }
    }

    /// Nothing follows. `closed` says that the sender ended the connection, which ends a body of no known length.
    pub fn end(&mut self, closed: bool, ts: Option<Ts>, counts: &mut Counts) {
        match &self.state {
            State::Lost => {}
            State::Head => {
                counts.cut_heads += u64::from(!self.head.is_empty());
                self.drop_head();
            }
            State::Body(Framing::Close) if closed => self.finish(),
            State::Body(_) => self.break_off(ts),
        }
        self.state = State::Lost;
    }
}
