//! Reads records as a description says.

mod bodies;
mod hidden;
mod lookup;
mod memory;
mod parts;

pub use memory::Memory;

use super::language::Given;
use super::language::Value;
use super::pointer::Step;
use super::records::{Description, MessageAt, Once};
use crate::capture::sink::{Facts, Side, Sink};
use crate::capture::skim::{Cursor, Span, plain};
use crate::protocol::json::{Oddities, string};
use crate::protocol::message::{Captured, Direction, Ts};

/// What of a file's records is left out or odd, by number; those of `noise` conditions follow.
pub const BROKEN_PARTS: usize = 0;
pub const REPEATED: usize = 1;
pub const NO_REQUEST: usize = 2;
pub const CONDITIONS: usize = 3;

/// What a record turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Messages were added.
    Messages,
    Noise,
    /// It is none that the description is about.
    Foreign,
    /// It is no JSON.
    NoJson,
    Rejected(String),
}

/// Adds a message that stands bare, as other programs write it, where a record of the description was expected: an
/// object of nothing but what JSON-RPC knows. False where it is none.
pub fn bare_message(sink: &mut Sink<'_>, bytes: &[u8], from: usize) -> bool {
    const MEMBERS: [&[u8]; 6] = [b"jsonrpc", b"id", b"method", b"params", b"result", b"error"];
    let mut cursor = Cursor::new(bytes, from);
    let mut first = true;
    if cursor.take(b'{').is_none() {
        return false;
    }
    loop {
        match cursor.member(&mut first) {
            Some(Some(name)) if MEMBERS.contains(&&*plain(bytes, name)) && cursor.value().is_some() => {}
            Some(None) => break,
            _ => return false,
        }
    }
    let added = sink.value(&mut Cursor::new(bytes, from), &Facts::default(), Captured::Full) == Some(true);
    if added {
        sink.nested();
    }
    added
}

/// One record being read.
pub struct Reader<'r, 'f> {
    pub description: &'r Description,
    pub sink: &'r mut Sink<'f>,
    pub memory: Option<&'r mut Memory>,
    /// Groups that matched before the record: what stands before it on its line.
    pub groups: Vec<(&'r str, String)>,
    /// Where the record begins.
    pub from: usize,
    /// The time of whatever carries the record, for messages that have none.
    pub around: Option<Ts>,
    /// Parts of it are missing in the capture, and `null` stands in their places.
    pub hollow: bool,
}

/// What is known while the messages of an entry are made.
struct Entry<'b> {
    bytes: &'b [u8],
    /// Of the request that was added last: its id as JSON, and who sent it.
    asked: Option<(String, Option<Direction>)>,
    /// The request was a copy of one that was counted.
    repeated: bool,
    /// A name for requests that have no id.
    name: String,
}

impl<'r> Reader<'r, '_> {
    /// Reads the record that begins at `bytes[from..]` and ends with `bytes`.
    pub fn record(&mut self, bytes: &[u8], from: usize) -> Outcome {
        self.from = from;
        let mut cursor = Cursor::new(bytes, from);
        let mut found = vec![None; self.description.pointers.len()];
        let Some(first) = self.description.trees.first() else { return Outcome::Foreign };
        if first.collect(&mut cursor, &mut found).is_none() {
            return Outcome::NoJson;
        }
        let end = cursor.at();
        let groups = self.groups.len();
        let matches = &self.description.matches;
        let ours = matches.iter().all(|condition| self.holds(condition, bytes, &found));
        if !ours {
            self.groups.truncate(groups);
            return Outcome::Foreign;
        }
        if cursor.peek().is_some() {
            self.groups.truncate(groups);
            return Outcome::Rejected(format!("text after the JSON value at column {}", cursor.at() - from + 1));
        }
        self.sequence(bytes, &found);
        for (at, condition) in self.description.counted.iter().enumerate() {
            if self.holds(condition, bytes, &found) {
                self.sink.count(CONDITIONS + self.description.noise.len() + at);
            }
            self.groups.truncate(groups);
        }
        let mut broken = None;
        let mut any = false;
        let mut number = 0;
        let mut each = |reader: &mut Self, found: &[Option<Span>]| {
            number += 1;
            match reader.entry(&reader.description.messages, bytes, found, number) {
                Ok(added) => any |= added,
                Err(reason) => {
                    if broken.is_some() || any {
                        reader.sink.count(BROKEN_PARTS);
                    }
                    broken.get_or_insert(reason);
                }
            }
        };
        let record = Span { from, to: end };
        let description = self.description;
        if description.each.is_empty() {
            each(self, &found);
        }
        for way in &description.each {
            self.descend(way, 0, bytes, record, &mut found, &mut each);
        }
        self.groups.truncate(groups);
        match broken {
            _ if any => Outcome::Messages,
            Some(reason) => Outcome::Rejected(reason),
            None => Outcome::Noise,
        }
    }

    /// Adds messages of which a line tells: of the JSON in it, which ends with `bytes`, if it holds any, and of the groups
    /// around. Whether there were any, or why what should be one is none.
    pub fn embedded(&mut self, messages: &'r [MessageAt], bytes: &[u8], json: Option<usize>) -> Result<bool, String> {
        let mut found = vec![None; self.description.pointers.len()];
        self.from = json.unwrap_or(bytes.len());
        if let (Some(from), Some(tree)) = (json, self.description.trees.first())
            && !tree.is_empty()
            && tree.collect(&mut Cursor::new(bytes, from), &mut found).is_none()
        {
            // JSON that was cut: what can be told of it is told by its text.
            for (slot, pointer) in found.iter_mut().zip(&self.description.pointers) {
                *slot = pointer.steps.is_empty().then_some(Span { from, to: bytes.len() });
            }
        }
        self.entry(messages, bytes, &found, 1)
    }

    /// What the groups around a message tell of it.
    pub fn told(&mut self, message: &'r MessageAt) -> Facts {
        let entry = Entry { bytes: &[], asked: None, repeated: false, name: String::new() };
        let found = vec![None; self.description.pointers.len()];
        self.facts(message, &entry, &found)
    }

    /// Walks from a value down to the entries below it. What pointers find is looked up once on each level.
    fn descend(
        &mut self,
        way: &[Step],
        level: usize,
        bytes: &[u8],
        value: Span,
        found: &mut Vec<Option<Span>>,
        each: &mut dyn FnMut(&mut Self, &[Option<Span>]),
    ) {
        if level > 0 {
            for (slot, pointer) in found.iter_mut().zip(&self.description.pointers) {
                if pointer.level >= level {
                    *slot = None;
                }
            }
            if let Some(tree) = self.description.trees.get(level).filter(|tree| !tree.is_empty()) {
                tree.collect(&mut Cursor::new(bytes, value.from), found);
            }
        }
        match way.get(level) {
            None => each(self, found),
            Some(step) => {
                for child in super::pointer::children(bytes, value, step) {
                    self.descend(way, level + 1, bytes, child, found, each);
                }
            }
        }
    }

    fn sequence(&mut self, bytes: &[u8], found: &[Option<Span>]) {
        let Some(sequence) = &self.description.sequence else { return };
        let number = self.value(sequence, bytes, found).and_then(|given| given.text().trim().parse::<u64>().ok());
        let Some(number) = number else { return };
        let session = self.label(self.description.facts.session.as_ref(), bytes, found);
        self.sink.sequence(session.unwrap_or_default(), number);
    }

    /// Adds the messages of one entry: whether there were any, or why what should be one is none.
    fn entry(
        &mut self,
        messages: &'r [MessageAt],
        bytes: &[u8],
        found: &[Option<Span>],
        number: u64,
    ) -> Result<bool, String> {
        let mask = found.iter().enumerate().fold(0, |mask, (at, span)| mask | u64::from(span.is_some()) << at);
        self.sink.found(mask);
        let description = self.description;
        for (at, condition) in description.noise.iter().enumerate() {
            if self.holds(condition, bytes, found) {
                if condition.note.is_some() {
                    self.sink.count(CONDITIONS + at);
                }
                return Ok(false);
            }
        }
        let truncated = self.any(&description.truncated, bytes, found);
        let redacted = self.any(&description.redacted, bytes, found);
        let captured = match (truncated, redacted) {
            (true, _) => Captured::Truncated,
            (false, true) => Captured::Redacted,
            (false, false) => Captured::Full,
        };
        let record = self.sink.record_name();
        let name = if description.each.is_empty() { record } else { format!("{record}, {number}") };
        let mut entry = Entry { bytes, asked: None, repeated: false, name };
        let (mut added, mut broken) = (false, None);
        for message in messages {
            let groups = self.groups.len();
            if message.when.iter().all(|condition| self.holds(condition, bytes, found)) {
                match self.message(message, &mut entry, found, captured) {
                    Ok(one) => added |= one,
                    Err(reason) => {
                        if added || broken.is_some() {
                            self.sink.count(BROKEN_PARTS);
                        }
                        broken.get_or_insert(reason);
                    }
                }
            }
            self.groups.truncate(groups);
        }
        match broken {
            Some(reason) if !added => Err(reason),
            _ => Ok(added),
        }
    }

    fn facts(&mut self, message: &MessageAt, entry: &Entry<'_>, found: &[Option<Span>]) -> Facts {
        let bytes = entry.bytes;
        let (own, all) = (&message.facts, &self.description.facts);
        let moment = own.time.as_ref().or(all.time.as_ref());
        // An answer in its request's record came later than that says, unless a time of its own is told.
        let bounded = message.answers && own.time.is_none() && message.pairs.is_empty();
        let sender = own.direction.as_ref().or(if message.answers { None } else { all.direction.as_ref() });
        let side = match sender {
            Some(sender) => {
                let word = self.first(&sender.from, bytes, found);
                sender.side(word.as_ref().map(Given::text).as_deref())
            }
            None if message.answers => match entry.asked {
                Some((_, Some(asker))) => Side::Said(asker.opposite()),
                _ => Side::Unsaid,
            },
            None => Side::Unsaid,
        };
        let key = self.sink.file.session_key.clone();
        let keyed = key.and_then(|key| {
            let whole = Span { from: self.from, to: bytes.len() };
            let step = super::pointer::Step::Name(key.as_bytes().into());
            let value = super::pointer::children(bytes, whole, &step).pop()?;
            let text = Given::Json(value.of(bytes)).text();
            (!text.is_empty() && value.of(bytes) != b"null").then(|| self.sink.texts.get(&text))
        });
        Facts {
            ts: moment.and_then(|moment| self.moment(moment, bytes, found)).or(self.around),
            bounded,
            side,
            inward: sender.and_then(|sender| sender.inward),
            session: keyed.or_else(|| self.label(own.session.as_ref().or(all.session.as_ref()), bytes, found)),
            server: self.label(own.server.as_ref().or(all.server.as_ref()), bytes, found),
            client: self.label(own.client.as_ref().or(all.client.as_ref()), bytes, found),
        }
    }

    /// Adds what one table of the description finds: whether it was a message, or why it is none.
    fn message(
        &mut self,
        message: &'r MessageAt,
        entry: &mut Entry<'_>,
        found: &[Option<Span>],
        captured: Captured,
    ) -> Result<bool, String> {
        if message.answers && entry.repeated {
            return Ok(false);
        }
        let facts = self.facts(message, entry, found);
        if !message.once.is_empty() && self.is_repeated(message, entry.bytes, found) {
            self.sink.count(REPEATED);
            entry.repeated = true;
            return Ok(false);
        }
        let before = self.sink.added();
        let added = match self.body(&message.body, entry.bytes, found) {
            Some(body) => self.whole(message, entry, body, &facts, captured)?,
            None if message.body.is_empty() || message.method.is_some() || message.always => {
                self.composed(message, entry, found, &facts, captured)?
            }
            None => false,
        };
        if added {
            self.hide(before, captured);
            if let Some((id, direction)) = self.sink.last_request() {
                entry.asked = Some((id, direction));
            }
        }
        Ok(added)
    }

    /// Whether a copy of the message was read before; remembers it if not.
    fn is_repeated(&mut self, message: &MessageAt, bytes: &[u8], found: &[Option<Span>]) -> bool {
        let key = |reader: &Self, number: usize, values: &[Value]| {
            let text = |value| reader.value(value, bytes, found).map(|given| given.text());
            let texts: Option<Vec<_>> = values.iter().map(text).collect();
            // Answers are told from requests by the table they come from.
            let whose = format!("{number}\u{1f}{}\u{1f}", u8::from(message.answers));
            Some(crate::capture::rpc::digest(format!("{whose}{}", texts?.join("\u{1f}")).as_bytes()))
        };
        let keys = |reader: &Self, which: fn(&Once) -> &[Value]| -> Vec<u64> {
            message.once.iter().enumerate().filter_map(|(number, once)| key(reader, number, which(once))).collect()
        };
        let (shows, unless) = (keys(self, |once| &once.shows), keys(self, |once| &once.unless));
        let Some(memory) = self.memory.as_deref_mut() else { return false };
        let repeated = unless.iter().any(|key| memory.is_shown(*key));
        shows.into_iter().for_each(|key| memory.show(key));
        repeated
    }
}

/// Text as a JSON string.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The text of a JSON string; where that is a JSON string again, its text.
fn unwrapped(exact: &str) -> String {
    let Some(text) = string(exact, &mut Oddities::default()) else { return exact.to_owned() };
    let inner = text.trim();
    match string(inner, &mut Oddities::default()) {
        Some(twice) if inner.starts_with('"') => twice.trim().to_owned(),
        _ => inner.to_owned(),
    }
}
