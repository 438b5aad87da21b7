//! Where decoders put what they find, line by line, so that every line is accounted for exactly once.

use super::nested;
use super::rpc::{Reading, Rpc, Texts, digest, is_other};
use super::skim::{Cursor, Span};
pub use super::tally::Tally;
use super::time;
use crate::protocol::message::*;
use crate::protocol::parse;
use jiff::tz::TimeZone;
use serde::de::IgnoredAny;
use std::sync::Arc;

/// Characters of a rejected record that are shown.
const EXCERPT: usize = 200;

/// What every message of a file shares.
#[derive(Debug, Clone, Default)]
pub struct FileFacts {
    pub index: u32,
    /// Path as given.
    pub path: Text,
    pub stream: Text,
    /// The server the file's name tells, where lines do not.
    pub server: Option<Text>,
    /// A file of this name holds the lines of all servers (desktop logs).
    pub combined: bool,
    pub session_key: Option<Text>,
    /// Of times that name no zone; without it they are taken as UTC.
    pub zone: Option<TimeZone>,
    pub sides: Sides,
}

/// What words without a fixed point of view mean in one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sides {
    /// Direction of `in`, `received` and their kin; the others are opposite.
    pub inward: Option<Direction>,
    /// Direction of decorations that point right (`>`, `-->`); the others are opposite.
    pub rightward: Option<Direction>,
    /// Direction that the file's name tells.
    pub name: Option<Direction>,
}

/// What a record says about its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    #[default]
    Unsaid,
    /// The word says who, whoever wrote it.
    Said(Direction),
    /// `in` or `out`.
    Inward(bool),
    /// `>` or `<`.
    Rightward(bool),
}

/// A record that could not be read; its line counts from the beginning of the block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub line: u64,
    pub reason: String,
    pub excerpt: String,
}

/// What one block held. Lines count from 1 at the beginning of the block.
#[derive(Debug, Default)]
pub struct Decoded {
    pub messages: Vec<Message>,
    pub rejected: Vec<Rejected>,
    pub tally: Tally,
    /// What was left to be settled between blocks, for each message of a log of text lines.
    pub origins: Vec<Origin>,
    /// The server that the lines name, from some line on: the first, and the last.
    pub servers: Option<(Text, Text)>,
}

/// What a message of a log of text lines is told apart by from its copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// What stands before it on its line, as a number.
    pub handler: u64,
    /// Neither its line nor one before it in this block names the server.
    pub open_server: bool,
}

/// What a record says about its messages.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub ts: Option<Ts>,
    /// As in [`Message::bounded`].
    pub bounded: bool,
    pub side: Side,
    /// Who sends what is `in`, where the file's messages do not tell.
    pub inward: Option<Direction>,
    pub session: Option<Text>,
    pub server: Option<Text>,
    pub client: Option<Text>,
}

/// A stretch of a capture, cut at line feeds.
#[derive(Debug, Clone)]
pub struct Block {
    pub bytes: Arc<Vec<u8>>,
    /// Bytes of the text before it.
    pub offset: u64,
    /// How much of `bytes` is filled.
    pub used: usize,
    /// It begins the file, or a resumed part of it.
    pub first: bool,
    /// It ends the file.
    pub last: bool,
}

impl Block {
    /// No text at all, for records that are no lines.
    pub fn none() -> Self {
        Self { bytes: Arc::default(), offset: 0, used: 0, first: false, last: false }
    }

    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }
}

/// One line of a block, without what ends it and without NUL bytes around it.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// Offset of the first byte in the block.
    pub from: usize,
    pub to: usize,
    /// Bytes of the line as it stood, its line feed included.
    pub size: usize,
    /// It begins the file.
    pub first: bool,
    /// The file ends in it, without a line feed.
    pub unfinished: bool,
}

impl Line {
    pub fn of(self, block: &[u8]) -> &[u8] {
        block.get(self.from..self.to).unwrap_or_default()
    }
}

/// As much of a record as an excerpt can need.
pub fn beginning(text: &[u8]) -> &[u8] {
    text.get(..EXCERPT * 4).unwrap_or(text)
}

fn excerpt(text: &[u8]) -> String {
    String::from_utf8_lossy(beginning(text)).chars().take(EXCERPT).collect()
}

pub struct Sink<'f> {
    pub file: &'f FileFacts,
    block: &'f Block,
    out: Decoded,
    pub texts: Texts,
    /// End of the last line taken.
    at: usize,
    line: Line,
    /// Where the current record stands in its file; `None` where lines count from the beginning of a block.
    position: Option<u64>,
    /// Messages on this line so far, those that are read, and the line's number.
    on_line: u32,
    read_on_line: bool,
    /// A batch within a batch on this line; its members are not read.
    nested_batch: Option<Vec<u8>>,
    /// Of the messages that follow; `None` where nothing is left to be settled.
    origin: Option<Origin>,
    /// The server that the lines so far name.
    server: Option<Text>,
}

impl<'f> Sink<'f> {
    pub fn new(file: &'f FileFacts, block: &'f Block) -> Self {
        let line = Line { from: 0, to: 0, size: 0, first: false, unfinished: false };
        let mut out = Decoded::default();
        out.tally.bytes = block.used as u64;
        // Most lines are longer than this.
        out.messages.reserve(block.used / 1024);
        Self {
            file,
            block,
            out,
            texts: Texts::default(),
            at: 0,
            line,
            position: None,
            on_line: 0,
            read_on_line: false,
            nested_batch: None,
            origin: None,
            server: None,
        }
    }

    /// Begins the next record of a file whose records are no lines (the sink is made with [`Block::none`]): where it
    /// stands in the file, counted from 1, and its size in bytes. As with [`Self::next_line`], its caller says with exactly one call what
    /// it is: `message_line`, `noise`, `blank` or `reject_record`.
    pub fn next_record(&mut self, position: u64, size: usize) {
        self.position = Some(position);
        self.out.tally.lines += 1;
        self.out.tally.bytes += size as u64;
        self.line = Line { from: 0, to: 0, size, first: false, unfinished: false };
        self.begin(0);
    }

    /// Goes on with a record of which `member` messages were given out already, perhaps by another sink. The record is
    /// counted once, by [`Self::count_record`].
    pub fn resume_record(&mut self, position: u64, member: u32) {
        self.position = Some(position);
        self.begin(member);
    }

    /// Of the record that begins or goes on, `member` messages were given out.
    fn begin(&mut self, member: u32) {
        self.on_line = member;
        self.read_on_line = false;
        self.nested_batch = None;
    }

    /// Gives the record's size to the message that was added last, which is its first.
    pub fn size_record(&mut self, size: usize) {
        if let Some(message) = self.out.messages.last_mut() {
            message.bytes = u32::try_from(size).unwrap_or(u32::MAX);
        }
    }

    /// Counts a record whose messages were all given out and `more` that carry them, too, `size` bytes in all. `own`
    /// says whether the first was not counted already, `read` whether an analysis reads one of the messages.
    pub fn count_record(&mut self, size: usize, own: bool, more: u64, read: bool) {
        self.out.tally.lines += u64::from(own) + more;
        self.out.tally.bytes += size as u64;
        self.out.tally.message_lines += u64::from(own);
        self.out.tally.continuation += more;
        if !read {
            self.out.tally.other_bytes += size as u64;
        }
    }

    /// Counts records without messages, `size` bytes in all.
    pub fn count_noise(&mut self, size: usize, records: u64) {
        self.out.tally.lines += records;
        self.out.tally.bytes += size as u64;
        self.out.tally.noise += records;
    }

    /// Whether an analysis reads a message that was added since the record began or was resumed.
    pub fn is_read(&self) -> bool {
        self.read_on_line
    }

    /// Counts a record that holds a batch within a batch, and messages beside it perhaps, as [`Self::count_record`] does.
    pub fn count_nested_batch(&mut self, size: usize, own: bool, more: u64, messages: bool, read: bool, text: &[u8]) {
        self.count_record(size, own, more, read);
        let whole = own && !messages;
        if whole {
            self.out.tally.message_lines -= 1;
            self.out.tally.rejected += 1;
        }
        self.reject_part(text, !whole);
    }

    /// Notes why a record was rejected; `counted` says whether the record itself counts as one with messages.
    fn reject_part(&mut self, text: &[u8], counted: bool) {
        self.out.tally.rejected_parts += u64::from(counted);
        let line = self.position.unwrap_or(self.out.tally.lines);
        self.out.rejected.push(Rejected { line, reason: nested::REASON.to_owned(), excerpt: excerpt(text) });
    }

    /// Rejects the current record if it holds a batch within a batch, and nothing else. False where there is none.
    pub fn reject_nested_batch(&mut self) -> bool {
        let Some(text) = self.nested_batch.take() else { return false };
        self.reject_record(nested::REASON, &text);
        true
    }

    /// Counts members of a batch that are no messages.
    pub fn odd_members(&mut self, count: u64) {
        self.out.tally.odd_members += count;
    }

    /// Counts a line with a message in another form than the format's own.
    pub fn nested(&mut self) {
        self.out.tally.nested += 1;
    }

    /// The moment at which a clock whose zone no record names shows what one in UTC shows at `shown`.
    pub fn on_a_clock(&mut self, shown: Ts) -> Ts {
        self.out.tally.on_a_clock += 1;
        self.file.zone.as_ref().map_or(shown, |zone| time::in_zone(shown, zone))
    }

    /// Says what stands before the messages that follow, as a number.
    pub fn by(&mut self, handler: u64) {
        self.origin = Some(Origin { handler, open_server: false });
    }

    /// Names the server of this line and those that follow.
    pub fn serve(&mut self, server: &str) {
        let server = self.texts.get(server);
        let (first, _) = self.out.servers.take().unwrap_or_else(|| (server.clone(), server.clone()));
        self.out.servers = Some((first, server.clone()));
        self.server = Some(server);
    }

    /// Counts a message that was pasted text and had to be repaired.
    pub fn repaired(&mut self) {
        self.out.tally.repaired += 1;
    }

    /// Notes which places of a description were found in a record.
    pub fn found(&mut self, places: u64) {
        self.out.tally.found |= places;
    }

    /// Counts something that was left out, by the number of its reason.
    pub fn count(&mut self, reason: usize) {
        self.out.tally.leave_out(reason, 1);
    }

    /// Notes the recorder's own number of a record.
    pub fn sequence(&mut self, session: Text, number: u64) {
        let known = self.out.tally.sequences.entry(session).or_insert((number, number, 0));
        *known = (known.0.min(number), known.1.max(number), known.2 + 1);
    }

    /// A name for the current record that no other of its file has, however the file is cut into blocks.
    pub fn record_name(&self) -> String {
        match self.position {
            Some(position) => format!("of record {position}"),
            None => format!("of byte {}", self.block.offset + self.line.from as u64),
        }
    }

    /// How many messages were added so far.
    pub fn added(&self) -> usize {
        self.out.messages.len()
    }

    /// The messages added since there were so many.
    pub fn messages_from(&mut self, count: usize) -> &mut [Message] {
        self.out.messages.get_mut(count..).unwrap_or_default()
    }

    /// Of the message added last, if it is a request: its id as JSON, and who sent it.
    pub fn last_request(&self) -> Option<(String, Option<Direction>)> {
        let last = self.out.messages.last()?;
        let Kind::Request { id, .. } = &last.kind else { return None };
        let id = match id {
            Id::Integer(number) => number.to_string(),
            Id::String(text) => serde_json::Value::from(&**text).to_string(),
            Id::Other(text) => text.to_string(),
        };
        Some((id, last.direction))
    }

    /// Messages and rejected records so far, and their bytes.
    pub fn tally(&self) -> &Tally {
        &self.out.tally
    }

    /// Rejects the current record; `text` is how it reads, for the excerpt.
    pub fn reject_record(&mut self, reason: impl Into<String>, text: &[u8]) {
        self.out.tally.rejected += 1;
        let line = self.position.unwrap_or(self.out.tally.lines);
        self.out.rejected.push(Rejected { line, reason: reason.into(), excerpt: excerpt(text) });
    }

    /// The next line, counted. Its caller says with exactly one call what it is.
    pub fn next_line(&mut self) -> Option<Line> {
        let block = self.block.text();
        let rest = block.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest);
        let size = length.map_or(rest.len(), |length| length + 1);
        let (mut from, mut to) = (self.at, self.at + length.unwrap_or(rest.len()));
        let first = self.block.first && self.at == 0;
        self.at += size;
        self.out.tally.lines += 1;
        if to > from && block.get(to - 1) == Some(&b'\r') {
            to -= 1;
        }
        let nul = |at: usize| block.get(at) == Some(&0);
        if to > from && (nul(from) || nul(to - 1)) {
            // A crash leaves them where the system had grown the file already.
            self.out.tally.padded += 1;
            while from < to && nul(from) {
                from += 1;
            }
            while to > from && nul(to - 1) {
                to -= 1;
            }
        }
        self.line = Line { from, to, size, first, unfinished: length.is_none() && self.block.last };
        self.begin(0);
        Some(self.line)
    }

    /// Takes the following lines up to the block offset `end` into the current record.
    pub fn continue_to(&mut self, end: usize) {
        let block = self.block.text();
        while self.at < end {
            let rest = block.get(self.at..).unwrap_or_default();
            let size = memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length + 1);
            if size == 0 {
                return;
            }
            self.at += size;
            self.line.size += size;
            self.out.tally.lines += 1;
            self.out.tally.continuation += 1;
            self.record_lines();
        }
    }

    /// The lines of a record end where it does; messages already on it keep the first line's number.
    fn record_lines(&mut self) {
        self.line.to = self.line.to.max(self.at);
    }

    pub fn block(&self) -> &'f [u8] {
        self.block.text()
    }

    pub fn noise(&mut self) {
        if !self.reject_nested_batch() {
            self.out.tally.noise += 1;
        }
    }

    pub fn blank(&mut self) {
        self.out.tally.blank += 1;
    }

    pub fn continuation(&mut self) {
        self.out.tally.continuation += 1;
    }

    pub fn mark(&mut self, bit: u32) {
        self.out.tally.marks |= bit;
    }

    pub fn reject(&mut self, reason: impl Into<String>) {
        let shown = self.line.of(self.block.text());
        self.reject_record(reason, shown);
    }

    /// Rejects the line because `text` (which ends with the line) holds no JSON value; `column` is where it begins.
    pub fn reject_json(&mut self, text: &[u8], column: usize) {
        let error = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>().next().and_then(Result::err);
        let reason = match &error {
            _ if self.line.unfinished => "cut off at the end of the file".to_owned(),
            Some(error) => {
                let said = error.to_string();
                let said = said.split(" at line ").next().unwrap_or_default();
                format!("not valid JSON at column {}: {said}", column + error.column().max(1))
            }
            None => format!("something else than one JSON value from column {} on", column + 1),
        };
        self.reject(reason);
    }

    /// Adds the messages of one JSON-RPC value under the cursor (an object or an array of them), if it is one.
    /// `true` where it held a message; `None` where it is no JSON.
    pub fn value(&mut self, cursor: &mut Cursor<'_>, facts: &Facts, captured: Captured) -> Option<bool> {
        if cursor.peek()? == b'{' {
            let rpc = Rpc::read(cursor)?;
            return Some(rpc.is_message() && self.message(cursor.bytes(), &rpc, facts, captured, false));
        }
        let span = cursor.value()?;
        self.batch(cursor.bytes(), span, facts, captured)
    }

    /// The members of a JSON-RPC array.
    pub fn batch(&mut self, bytes: &[u8], span: Span, facts: &Facts, captured: Captured) -> Option<bool> {
        let mut cursor = Cursor::new(bytes, span.from);
        let mut first = true;
        let mut odd = 0;
        let mut any = false;
        let mut nested = None;
        cursor.take(b'[')?;
        while cursor.element(&mut first)? {
            if cursor.peek()? != b'{' {
                let value = cursor.value()?;
                if value.of(bytes).first() == Some(&b'[') && nested::holds_message(bytes, value) {
                    nested.get_or_insert(value);
                } else {
                    odd += 1;
                }
                continue;
            }
            let rpc = Rpc::read(&mut cursor)?;
            let taken = rpc.is_message() && self.message(bytes, &rpc, facts, captured, true);
            any |= taken;
            odd += u64::from(!taken);
        }
        if any {
            self.out.tally.odd_members += odd;
        }
        if let (Some(nested), None) = (nested, &self.nested_batch) {
            self.nested_batch = Some(beginning(nested.of(bytes)).to_vec());
        }
        Some(any)
    }

    /// Adds one message. False where it is none after all.
    pub fn message(&mut self, bytes: &[u8], rpc: &Rpc, facts: &Facts, captured: Captured, batch: bool) -> bool {
        let block = std::ptr::eq(bytes.as_ptr(), self.block.bytes.as_ptr()).then(|| self.block.bytes.clone());
        self.add(bytes, block, rpc, facts, captured, batch)
    }

    /// Adds one message of a body that stands alone. False where it is none after all.
    pub fn message_in(
        &mut self,
        body: &Arc<Vec<u8>>,
        rpc: &Rpc,
        facts: &Facts,
        captured: Captured,
        batch: bool,
    ) -> bool {
        self.add(body, Some(body.clone()), rpc, facts, captured, batch)
    }

    /// Adds one message; `shared` is what holds its bytes, where that can be kept.
    fn add(
        &mut self,
        bytes: &[u8],
        shared: Option<Arc<Vec<u8>>>,
        rpc: &Rpc,
        facts: &Facts,
        captured: Captured,
        batch: bool,
    ) -> bool {
        let mut reading = Reading { texts: &mut self.texts, flags: Default::default(), not_utf8: 0 };
        let body = reading.body(bytes, rpc);
        let (flags, not_utf8) = (reading.flags, reading.not_utf8);
        let Ok(body) = body else { return false };
        let tally = &mut self.out.tally;
        tally.duplicate_keys += u64::from(flags.duplicate_keys);
        tally.lossy_text += u64::from(flags.lossy_text);
        tally.not_utf8 += not_utf8;
        let unread = body.unread.map(|span| match shared {
            Some(shared) => Unread::new(shared, span.from..span.to),
            None => Unread::new(Arc::new(span.of(bytes).to_vec()), 0..span.len()),
        });
        let by_key = match &self.file.session_key {
            Some(key) if facts.session.is_none() => rpc.meta_text(bytes, key).map(|text| self.texts.get(&text)),
            _ => None,
        };
        self.push(body.kind, facts, by_key, captured, batch, digest(rpc.span.of(bytes)), unread);
        true
    }

    /// Adds a message whose body the capture did not keep whole.
    pub fn remains(&mut self, kind: Kind, facts: &Facts, captured: Captured, text: &[u8]) {
        self.push(kind, facts, None, captured, false, digest(text), None);
    }

    #[expect(clippy::too_many_arguments, reason = "one caller per kind of body")]
    fn push(
        &mut self,
        kind: Kind,
        facts: &Facts,
        session: Option<Text>,
        captured: Captured,
        batch: bool,
        digest: u64,
        unread: Option<Unread>,
    ) {
        let direction = self.direction(&kind, facts);
        let tally = &mut self.out.tally;
        tally.messages += 1;
        if is_other(&kind) {
            tally.other += 1;
        } else {
            self.read_on_line = true;
        }
        if let Some(ts) = facts.ts {
            tally.first_ts = Some(tally.first_ts.map_or(ts, |first| first.min(ts)));
            tally.last_ts = tally.last_ts.max(Some(ts));
        }
        if let Some(origin) = self.origin {
            let open_server = facts.server.is_none() && self.server.is_none();
            self.out.origins.push(Origin { open_server, ..origin });
        }
        let server = facts.server.as_ref().or(self.server.as_ref()).or(self.file.server.as_ref());
        let connection = Connection {
            stream: self.file.stream.clone(),
            session: facts.session.clone().or(session),
            server: server.cloned(),
            client: facts.client.clone(),
        };
        self.out.messages.push(Message {
            place: Place {
                file: self.file.index,
                position: self.position.unwrap_or(tally.lines),
                member: self.on_line,
            },
            ts: facts.ts,
            bounded: facts.bounded,
            direction,
            connection,
            batch,
            captured,
            bytes: 0,
            digest,
            kind,
            unread,
        });
        self.on_line += 1;
    }

    /// Ends a line that holds messages: its bytes go to the first of them.
    pub fn message_line(&mut self) {
        if let Some(text) = self.nested_batch.take() {
            self.reject_part(&text, true);
        }
        let size = self.line.size;
        self.out.tally.message_lines += 1;
        if !self.read_on_line {
            self.out.tally.other_bytes += size as u64;
        }
        let first = self.out.messages.len().saturating_sub(self.on_line as usize);
        if let Some(message) = self.out.messages.get_mut(first) {
            message.bytes = u32::try_from(size).unwrap_or(u32::MAX);
        }
    }

    /// Takes back what the current line added, because the rest of it turned out to be no record.
    pub fn take_back(&mut self) {
        let keep = self.out.messages.len().saturating_sub(self.on_line as usize);
        self.out.origins.truncate(keep);
        for message in self.out.messages.drain(keep..) {
            self.out.tally.messages -= 1;
            self.out.tally.other -= u64::from(is_other(&message.kind));
        }
        self.on_line = 0;
        self.read_on_line = false;
    }

    /// Who sent it. A word that names the sender is believed; a word that depends on where the recorder sat is
    /// believed where it agrees with messages that only one side sends.
    fn direction(&mut self, kind: &Kind, facts: &Facts) -> Option<Direction> {
        let side = facts.side;
        let certain = match kind {
            Kind::Request { request, .. } => parse::sender(&request.method, true),
            Kind::Notification(notification) => parse::sender(&notification.method, false),
            Kind::Result { .. } | Kind::Error { .. } => None,
        };
        let sides = &self.file.sides;
        let turned = |direction: Option<Direction>, keep: bool| direction.map(|d| if keep { d } else { d.opposite() });
        let said = match side {
            Side::Said(direction) => Some(direction),
            Side::Inward(inward) => turned(sides.inward.or(facts.inward), inward),
            Side::Rightward(right) => turned(sides.rightward, right),
            Side::Unsaid => sides.name,
        };
        let Some(certain) = certain else { return said };
        let tally = &mut self.out.tally;
        tally.conflicts += u64::from(said.is_some_and(|said| said != certain));
        let slot = match side {
            Side::Inward(keep) => Some((0, keep)),
            Side::Rightward(keep) => Some((1, keep)),
            Side::Unsaid => Some((2, true)),
            Side::Said(_) => None,
        };
        if let Some((slot, keep)) = slot {
            let c2s = (certain == Direction::ClientToServer) == keep;
            tally.evidence[slot][usize::from(!c2s)] += 1;
        }
        if let Side::Said(direction) = side { Some(direction) } else { Some(certain) }
    }

    pub fn finish(self) -> Decoded {
        self.out
    }
}
