//! Gives messages out in the order of their times.
//!
//! Recorders write exchanges down when they end: the answer to a question, which is a request of its own, stands before
//! the stream that asks, and a stream that was open all day stands last. Exchanges are held until a window is full and
//! come apart into steps: a request at its beginning, an answer at its end, an event at its own time. Events without
//! one are given out as late as possible: before what shows that they had come.

use super::memory::{Given, Memory};
use super::said::{Content, Said, What};
use super::talk::{Counts, Rest, Talk, stand_in, understand};
use super::{Exchanges, Item};
use crate::capture::error::CaptureError;
use crate::capture::records::{Records, Stretch};
use crate::capture::sink::{Block, Facts, FileFacts, Side, Sink};
use crate::protocol::message::{Direction, Id, Text, Ts};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Bytes of records given out at a time, and messages.
const STRETCH: u64 = 1 << 20;
const STRETCH_MESSAGES: u64 = 1 << 12;
/// Bytes and exchanges held back to put them into order.
const WINDOW: usize = 16 << 20;
const WINDOW_TALKS: usize = 1 << 13;
/// Answers held until their question is found.
const HELD: usize = 1 << 12;

/// Turns exchanges into messages.
pub fn records(source: Box<dyn Exchanges>, file: &FileFacts) -> Box<dyn Records> {
    Box::new(Engine {
        source,
        file: file.clone(),
        ended: false,
        error: None,
        memory: Memory::default(),
        counts: Counts::default(),
        window: Window::default(),
    })
}

struct Engine {
    source: Box<dyn Exchanges>,
    file: FileFacts,
    ended: bool,
    error: Option<CaptureError>,
    memory: Memory,
    counts: Counts,
    window: Window,
}

impl Records for Engine {
    fn next(&mut self) -> Option<Stretch> {
        let block = Block::none();
        let mut sink = Sink::new(&self.file, &block);
        while sink.tally().bytes < STRETCH && sink.tally().messages < STRETCH_MESSAGES {
            if !self.ended && !self.window.is_full() {
                match self.source.next() {
                    None => self.ended = true,
                    Some(Item::Broken(error)) => {
                        self.error = Some(error);
                        self.ended = true;
                    }
                    Some(Item::Other { position, size }) => {
                        sink.next_record(position, size);
                        sink.noise();
                    }
                    Some(Item::Rejected { position, size, reason, excerpt }) => {
                        sink.next_record(position, size);
                        sink.reject_record(reason, &excerpt);
                    }
                    Some(Item::Exchange(exchange)) => {
                        let (size, more, shared) = (exchange.size, exchange.more, exchange.shared);
                        match understand(*exchange, &mut self.memory, &mut self.counts) {
                            Some(talk) => self.window.add(talk, &mut self.counts),
                            None => sink.count_noise(size, more + u64::from(!shared)),
                        }
                    }
                }
            } else if !self.window.step(&mut sink, &self.memory, &mut self.counts) {
                break;
            }
        }
        let decoded = sink.finish();
        if decoded.tally.lines > 0 || !decoded.messages.is_empty() {
            return Some(Stretch { decoded, error: None });
        }
        self.error.take().map(|error| Stretch { decoded, error: Some(error) })
    }

    fn taken(&self) -> u64 {
        self.source.taken()
    }

    fn notes(&mut self) -> Vec<String> {
        let mut notes = self.source.notes();
        let counts = &self.counts;
        let remarks = [
            (counts.requests_not_stored, "requests whose body the recorder did not keep"),
            (counts.not_stored, "exchanges whose answer is not known: the recorder kept no body, or not its end"),
            (counts.unreadable, "bodies whose compression cannot be taken off (record without it)"),
            (counts.silent_streams, "event streams of which the recorder kept nothing"),
            (counts.repaired, "event streams that the recorder decoded as Latin-1, repaired"),
            (counts.replayed, "events that a resumed stream repeated, left out"),
            (counts.odd_events, "events of streams that hold no message"),
            (
                counts.bounded,
                "messages of event streams have no time of their own: they stand before what shows that they had come, \
                 and no duration is computed from them",
            ),
            (
                counts.late,
                "exchanges stand behind younger ones, because the file ends them too late to be put into order",
            ),
            (counts.let_go, "answers of clients to questions that were not found in time"),
        ];
        notes
            .extend(remarks.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
        notes
    }
}

/// What happens at one time of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Asks,
    Hears,
    Ends,
}

/// Steps in order of time, of equals in that of the file.
type Key = (Ts, u64, Step, u64);

/// Exchanges that are held back.
#[derive(Default)]
struct Window {
    steps: BTreeMap<Key, u64>,
    talks: HashMap<u64, Talk, ahash::RandomState>,
    next: u64,
    bytes: usize,
    /// Streams with events that were not given out, by room.
    streams: HashMap<Text, Vec<u64>, ahash::RandomState>,
    /// Clients' answers that wait for their question, oldest first.
    held: VecDeque<(Text, Id, u64)>,
    given: Given,
    /// The time that was reached.
    reached: Option<Ts>,
}

/// The room in which ids are looked up.
fn room(talk: &Talk) -> Text {
    talk.session.clone().or_else(|| talk.server.clone()).unwrap_or_default()
}

impl Window {
    fn is_full(&self) -> bool {
        self.bytes > WINDOW || self.talks.len() > WINDOW_TALKS + self.held.len()
    }

    fn add(&mut self, talk: Talk, counts: &mut Counts) {
        let number = self.next;
        self.next += 1;
        let begins = talk.started.or(talk.ended).or(self.reached).unwrap_or(Ts(i64::MIN));
        let ends = talk.ended.unwrap_or(begins).max(begins);
        counts.late += u64::from(self.reached.is_some_and(|reached| begins < reached));
        self.steps.insert((begins, number, Step::Asks, 0), number);
        for (at, said) in (0..).zip(&talk.heard) {
            if let Some(ts) = said.ts {
                // A recorder's clock may disagree with itself; a stream's events do not overtake each other.
                self.steps.insert((ts.max(begins).min(ends), number, Step::Hears, at), number);
            }
        }
        self.steps.insert((ends, number, Step::Ends, 0), number);
        self.bytes += talk.weight;
        if talk.stream {
            self.streams.entry(room(&talk)).or_default().push(number);
        }
        self.talks.insert(number, talk);
    }

    /// Takes the next step; false where none is left.
    fn step(&mut self, sink: &mut Sink<'_>, memory: &Memory, counts: &mut Counts) -> bool {
        let Some(((ts, _, step, _), number)) = self.steps.pop_first() else { return self.let_go(sink, counts) };
        self.reached = self.reached.max(Some(ts));
        match step {
            Step::Asks => self.asks(number, ts, sink, memory, counts),
            Step::Hears => {
                let timed =
                    self.talks.get(&number).and_then(|talk| talk.heard.front()).is_some_and(|said| said.ts.is_some());
                if timed {
                    self.hear(number, ts, false, sink, memory, counts);
                }
            }
            Step::Ends => self.ends(number, sink, memory, counts),
        }
        true
    }

    /// Gives out what a request holds.
    fn asks(&mut self, number: u64, now: Ts, sink: &mut Sink<'_>, memory: &Memory, counts: &mut Counts) {
        let Some(talk) = self.talks.get_mut(&number) else { return };
        if talk.session.is_none() && !talk.stream {
            let known = memory.session_at(&talk.target);
            talk.legacy |= known.is_some();
            talk.session = known;
        }
        let room = room(talk);
        if talk.legacy
            && let (Some(session), Some(server)) = (&talk.session, &talk.server)
        {
            match self.given.labels.get(session) {
                Some(label) => talk.server = Some(label.clone()),
                None => self.given.labels.insert(session.clone(), server.clone()),
            }
        }
        let sent = std::mem::take(&mut talk.sent);
        let mut answers = sent.iter().filter_map(|said| match &said.what {
            What::Answer(Some(id)) => Some(id.clone()),
            _ => None,
        });
        if let (Some(id), None) = (answers.next(), answers.next())
            && sent.len() == 1
        {
            let question = (room.clone(), id);
            self.flush_to_question(&question, now, sink, memory, counts);
            if !self.given.questions.contains(&question) {
                self.hold(number, question, sent, sink, counts);
                return;
            }
        }
        self.say(number, &room, sent, now, sink, memory, counts);
    }

    /// Gives out what a request holds, which may show that events had come.
    #[expect(clippy::too_many_arguments, reason = "what to give out, when, and where to")]
    fn say(
        &mut self,
        number: u64,
        room: &Text,
        sent: Vec<Said>,
        now: Ts,
        sink: &mut Sink<'_>,
        memory: &Memory,
        counts: &mut Counts,
    ) {
        for said in sent {
            match &said.what {
                What::Answer(Some(id)) => {
                    let question = (room.clone(), id.clone());
                    self.flush_to_question(&question, now, sink, memory, counts);
                    self.given.questions.remove(&question);
                }
                What::Request(_, method) if &**method == "prompts/list" => {
                    // A client that lists again may have been told to.
                    if self.given.listed.contains(room) {
                        self.flush_to(room, now, sink, memory, counts, |said| {
                            matches!(&said.what, What::Notification(method) if &**method == "notifications/prompts/list_changed")
                        });
                    }
                    self.given.listed.insert(room.clone(), ());
                }
                _ => {}
            }
            let elsewhere =
                self.talks.get(&number).is_some_and(|talk| talk.heard.is_empty() && talk.rest == Rest::None);
            if let What::Request(id, _) = &said.what
                && elsewhere
            {
                self.given.outstanding.insert((room.clone(), id.clone()), ());
            }
            self.give(number, &said, true, now, false, sink);
        }
        self.settle(room, now, sink, memory, counts);
    }

    /// Keeps an answer of a client until its question is found, or for so long that there is no room.
    fn hold(&mut self, number: u64, (room, id): (Text, Id), sent: Vec<Said>, sink: &mut Sink<'_>, counts: &mut Counts) {
        let Some(talk) = self.talks.get_mut(&number) else { return };
        talk.sent = sent;
        let begins = talk.started.or(talk.ended).or(self.reached).unwrap_or(Ts(i64::MIN));
        let ends = talk.ended.unwrap_or(begins).max(begins);
        self.steps.remove(&(ends, number, Step::Ends, 0));
        self.held.push_back((room, id, number));
        if self.held.len() > HELD {
            self.let_go(sink, counts);
        }
    }

    /// Gives out the answer that waited longest, without its question; false where none waits.
    fn let_go(&mut self, sink: &mut Sink<'_>, counts: &mut Counts) -> bool {
        let Some((_, _, number)) = self.held.pop_front() else { return false };
        counts.let_go += 1;
        self.release(number, sink);
        true
    }

    /// Gives out an answer that waited, and ends its exchange.
    fn release(&mut self, number: u64, sink: &mut Sink<'_>) {
        let Some(talk) = self.talks.get_mut(&number) else { return };
        let now = talk.started.or(talk.ended).or(self.reached).unwrap_or(Ts(i64::MIN));
        for said in std::mem::take(&mut talk.sent) {
            self.give(number, &said, true, now, false, sink);
        }
        self.close(number, sink);
    }

    /// Gives out the events of a room's streams up to a question that has an answer now.
    fn flush_to_question(
        &mut self,
        (room, id): &(Text, Id),
        now: Ts,
        sink: &mut Sink<'_>,
        memory: &Memory,
        counts: &mut Counts,
    ) {
        self.flush_to(
            room,
            now,
            sink,
            memory,
            counts,
            |said| matches!(&said.what, What::Request(asked, _) if asked == id),
        );
    }

    /// Gives out the events of a room's streams, of each up to the last that is `wanted`.
    fn flush_to(
        &mut self,
        room: &Text,
        now: Ts,
        sink: &mut Sink<'_>,
        memory: &Memory,
        counts: &mut Counts,
        wanted: impl Fn(&Said) -> bool,
    ) {
        for number in self.streams.get(room).cloned().unwrap_or_default() {
            let Some(talk) = self.talks.get(&number) else { continue };
            // Events with times come at theirs, and none before its stream began.
            let begun = talk.started.is_none_or(|started| started <= now);
            let untimed = talk.heard.iter().take_while(|said| said.ts.is_none() && begun);
            let count = untimed.enumerate().filter(|(_, said)| wanted(said)).last().map_or(0, |(at, _)| at + 1);
            for _ in 0..count {
                self.hear(number, now, true, sink, memory, counts);
            }
        }
    }

    /// Gives out events that answer requests of other exchanges (2024-11-05), as soon as those were asked and the
    /// client has answered what it was asked before.
    fn settle(&mut self, room: &Text, now: Ts, sink: &mut Sink<'_>, memory: &Memory, counts: &mut Counts) {
        let Some(streams) = self.streams.get(room) else { return };
        for number in streams.clone() {
            let Some(talk) = self.talks.get(&number) else { continue };
            let begun = talk.started.is_none_or(|started| started <= now);
            let mut count = 0;
            for (at, said) in talk.heard.iter().take_while(|said| said.ts.is_none() && begun).enumerate() {
                match &said.what {
                    What::Answer(Some(id)) if self.given.outstanding.contains(&(room.clone(), id.clone())) => {
                        count = at + 1;
                    }
                    What::Notification(_) => {}
                    What::Answer(_) | What::Request(..) => break,
                }
            }
            for _ in 0..count {
                self.hear(number, now, true, sink, memory, counts);
            }
        }
    }

    /// Gives out the next event of an answer.
    fn hear(&mut self, number: u64, now: Ts, bounded: bool, sink: &mut Sink<'_>, memory: &Memory, counts: &mut Counts) {
        let Some(said) = self.talks.get_mut(&number).and_then(|talk| talk.heard.pop_front()) else { return };
        let Some(talk) = self.talks.get(&number) else { return };
        let room = room(talk);
        let mut now = now;
        let mut released = None;
        match &said.what {
            What::Answer(Some(id)) if said.back => {
                self.given.questions.remove(&(room.clone(), id.clone()));
            }
            _ if said.back => {}
            What::Request(id, _) => {
                let waits = self.held.iter().position(|(held, answered, _)| *held == room && answered == id);
                released = waits.and_then(|at| self.held.remove(at)).map(|(_, _, number)| number);
                let answered = released.and_then(|number| self.talks.get(&number)?.started);
                if let (true, Some(answered)) = (bounded, answered) {
                    now = now.min(answered);
                }
                if released.is_none() {
                    self.given.questions.insert((room.clone(), id.clone()), ());
                }
            }
            What::Answer(Some(id)) => {
                self.given.outstanding.remove(&(room.clone(), id.clone()));
            }
            _ => {}
        }
        counts.bounded += u64::from(bounded);
        self.give(number, &said, said.back, now, bounded, sink);
        if let Some(answer) = released {
            self.release(answer, sink);
            self.settle(&room, now, sink, memory, counts);
        }
    }

    /// The end of an exchange: what was not given out comes now.
    fn ends(&mut self, number: u64, sink: &mut Sink<'_>, memory: &Memory, counts: &mut Counts) {
        loop {
            let Some(talk) = self.talks.get(&number) else { return };
            let Some(said) = talk.heard.front() else { break };
            let end = talk.ended.or(talk.started).or(self.reached).unwrap_or(Ts(i64::MIN));
            // A stream ends with its answer; a body that is no stream has one time for all it holds.
            let last = talk.heard.len() == 1 && matches!(said.what, What::Answer(_));
            let (ts, bounded) = match said.ts {
                Some(ts) => (ts, false),
                None => (end, talk.stream && !last),
            };
            self.hear(number, ts, bounded, sink, memory, counts);
        }
        self.close(number, sink);
    }

    /// Answers what an exchange left open as far as that is known, and counts it.
    fn close(&mut self, number: u64, sink: &mut Sink<'_>) {
        let Some(talk) = self.talks.get_mut(&number) else { return };
        let end = talk.ended.or(talk.started).or(self.reached).unwrap_or(Ts(i64::MIN));
        for id in std::mem::take(&mut talk.unanswered) {
            let rest = self.talks.get(&number).map_or(Rest::None, |talk| talk.rest.clone());
            if let Some(said) = stand_in(id, &rest) {
                self.give(number, &said, false, end, false, sink);
            }
        }
        let Some(talk) = self.talks.remove(&number) else { return };
        self.bytes = self.bytes.saturating_sub(talk.weight);
        if talk.stream
            && let Some(streams) = self.streams.get_mut(&room(&talk))
        {
            streams.retain(|known| *known != number);
            if streams.is_empty() {
                self.streams.remove(&room(&talk));
            }
        }
        if let Some(text) = &talk.nested {
            sink.odd_members(talk.odd);
            sink.resume_record(talk.position, talk.members);
            sink.count_nested_batch(talk.size, !talk.shared, talk.more, talk.members > 0, talk.read, text);
        } else if talk.members > 0 {
            sink.odd_members(talk.odd);
            sink.count_record(talk.size, !talk.shared, talk.more, talk.read);
        } else {
            sink.count_noise(talk.size, talk.more + u64::from(!talk.shared));
        }
    }

    /// Hands one message over.
    fn give(&mut self, number: u64, said: &Said, of_request: bool, now: Ts, bounded: bool, sink: &mut Sink<'_>) {
        let Some(talk) = self.talks.get_mut(&number) else { return };
        let side = if of_request == talk.turned { Direction::ServerToClient } else { Direction::ClientToServer };
        let facts = Facts {
            // A file without times has none.
            ts: talk.started.or(talk.ended).map(|_| now),
            bounded,
            side: Side::Said(side),
            inward: None,
            session: talk.session.clone(),
            server: talk.server.clone(),
            client: None,
        };
        sink.resume_record(talk.position, talk.members);
        let given = match &said.content {
            Content::Whole(rpc) => sink.message_in(&said.bytes, rpc, &facts, said.captured, said.batch),
            Content::Rest(kind) => {
                sink.remains((**kind).clone(), &facts, said.captured, &said.bytes);
                true
            }
        };
        if !given {
            talk.odd += 1;
            return;
        }
        if talk.members == 0 {
            sink.size_record(talk.size);
        }
        talk.members += 1;
        talk.read |= sink.is_read();
    }
}
