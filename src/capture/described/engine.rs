//! Reads records as a description says.

use super::language::{Condition, Given, Moment, Source, Test, Value};
use super::records::{Description, ErrorAt, MessageAt};
use crate::capture::formats::begins_json;
use crate::capture::http::{Content, remains};
use crate::capture::rpc::{Rpc, request_without_body};
use crate::capture::sink::{Facts, Side, Sink};
use crate::capture::skim::{Cursor, Span};
use crate::protocol::elicitation::{Action, Content as Elicited};
use crate::protocol::json::{Oddities, string};
use crate::protocol::message::{
    Answer, Captured, Direction, Id, Kind, Notification, RequestBody, RpcError, Shape, Text, Ts,
};
use crate::protocol::prompt::ArgumentsAs;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

/// What of a file's records is left out or odd, by number; those of `noise` conditions follow.
pub const BROKEN_PARTS: usize = 0;
pub const REPEATED: usize = 1;
pub const NO_REQUEST: usize = 2;
pub const CONDITIONS: usize = 3;

/// Keys of messages, and open requests, that are remembered.
const REMEMBERED: usize = 1 << 16;

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

/// What is remembered from record to record.
#[derive(Debug, Default)]
pub struct Memory {
    shown: HashSet<u64, ahash::RandomState>,
    shown_before: HashSet<u64, ahash::RandomState>,
    /// Ids of requests without one, by what their answers share with them.
    open: HashMap<String, VecDeque<String>, ahash::RandomState>,
    open_count: usize,
}

impl Memory {
    fn is_shown(&self, key: u64) -> bool {
        self.shown.contains(&key) || self.shown_before.contains(&key)
    }

    fn show(&mut self, key: u64) {
        if self.shown.len() >= REMEMBERED {
            self.shown_before = std::mem::take(&mut self.shown);
        }
        self.shown.insert(key);
    }

    fn ask(&mut self, key: String, id: String) {
        if self.open_count >= REMEMBERED {
            self.open.clear();
            self.open_count = 0;
        }
        self.open_count += 1;
        self.open.entry(key).or_default().push_back(id);
    }

    fn answer(&mut self, key: &str) -> Option<String> {
        let id = self.open.get_mut(key)?.pop_front()?;
        self.open_count = self.open_count.saturating_sub(1);
        Some(id)
    }
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
}

/// What is known while the messages of an entry are made.
struct Entry<'b> {
    bytes: &'b [u8],
    /// Of the request that was added last: its id as JSON, and who sent it.
    asked: Option<(String, Option<Direction>)>,
    /// A name for requests that have no id.
    name: String,
}

/// A body that was found.
enum Body {
    In(Span),
    Own(Arc<Vec<u8>>),
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
        if cursor.peek().is_some() {
            return Outcome::Rejected(format!("text after the JSON value at column {}", cursor.at() - from + 1));
        }
        let groups = self.groups.len();
        let matches = &self.description.matches;
        let ours = matches.iter().all(|condition| self.holds(condition, bytes, &found));
        if !ours {
            self.groups.truncate(groups);
            return Outcome::Foreign;
        }
        self.sequence(bytes, &found);
        let mut broken = None;
        let mut any = false;
        let mut number = 0;
        self.descend(0, bytes, Span { from, to: end }, &mut found, &mut |reader, found| {
            number += 1;
            match reader.entry(bytes, found, number) {
                Ok(added) => any |= added,
                Err(reason) => {
                    if broken.is_some() || any {
                        reader.sink.count(BROKEN_PARTS);
                    }
                    broken.get_or_insert(reason);
                }
            }
        });
        self.groups.truncate(groups);
        match broken {
            _ if any => Outcome::Messages,
            Some(reason) => Outcome::Rejected(reason),
            None => Outcome::Noise,
        }
    }

    /// Walks from a value down to the entries below it. What pointers find is looked up once on each level.
    fn descend(
        &mut self,
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
        match self.description.each.get(level) {
            None => each(self, found),
            Some(step) => {
                for child in super::pointer::children(bytes, value, step) {
                    self.descend(level + 1, bytes, child, found, each);
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

    fn given<'b>(&self, source: &Source, bytes: &'b [u8], found: &[Option<Span>]) -> Option<Given<'b>> {
        match source {
            Source::Pointer(slot) => {
                let json = found.get(*slot).copied().flatten()?.of(bytes);
                (json != b"null").then_some(Given::Json(json))
            }
            Source::Group(name) => {
                let (_, text) = self.groups.iter().rev().find(|(known, _)| **known == **name)?;
                Some(Given::Text(text.clone().into()))
            }
            Source::Path(pattern) => {
                let part = pattern.captures(&self.sink.file.path)?.get(1)?.as_str().to_owned();
                Some(Given::Text(part.into()))
            }
        }
    }

    fn first<'b>(&self, sources: &[Source], bytes: &'b [u8], found: &[Option<Span>]) -> Option<Given<'b>> {
        sources.iter().find_map(|source| self.given(source, bytes, found))
    }

    fn value<'b>(&self, value: &Value, bytes: &'b [u8], found: &[Option<Span>]) -> Option<Given<'b>> {
        let otherwise = || value.otherwise.as_deref().map(|text| Given::Text(text.to_owned().into()));
        let Some(given) = self.first(&value.from, bytes, found) else { return otherwise() };
        let Some(table) = &value.table else { return Some(given) };
        let text = given.text();
        let meant = table.iter().find(|(word, _)| **word == *text).map(|(_, meaning)| meaning.to_string());
        meant.map(|text| Given::Text(text.into())).or_else(otherwise)
    }

    /// A name: a string or a number that is not empty.
    fn label(&mut self, value: Option<&Value>, bytes: &[u8], found: &[Option<Span>]) -> Option<Text> {
        let given = self.value(value?, bytes, found)?;
        if matches!(given, Given::Json(json) if matches!(json.first(), Some(b'{' | b'['))) {
            return None;
        }
        let text = given.text();
        (!text.is_empty()).then(|| self.sink.texts.get(&text))
    }

    /// Whether a condition holds; named groups of its regular expression are values from then on.
    fn holds(&mut self, condition: &'r Condition, bytes: &[u8], found: &[Option<Span>]) -> bool {
        let given = self.first(&condition.from, bytes, found);
        let Test::Matches(pattern) = &condition.test else { return condition.test.holds(given.as_ref()) };
        let Some(given) = given else { return false };
        let text = given.text();
        if pattern.captures_len() == 1 {
            return pattern.is_match(&text);
        }
        let Some(captures) = pattern.captures(&text) else { return false };
        for name in pattern.capture_names().flatten() {
            if let Some(group) = captures.name(name) {
                self.groups.push((name, group.as_str().to_owned()));
            }
        }
        true
    }

    fn any(&mut self, conditions: &'r [Condition], bytes: &[u8], found: &[Option<Span>]) -> bool {
        conditions.iter().any(|condition| self.holds(condition, bytes, found))
    }

    /// Adds the messages of one entry: whether there were any, or why what should be one is none.
    fn entry(&mut self, bytes: &[u8], found: &[Option<Span>], number: u64) -> Result<bool, String> {
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
        let record = self.sink.record_number();
        let name = if description.each.is_empty() {
            format!("of record {record}")
        } else {
            format!("of record {record}, {number}")
        };
        let mut entry = Entry { bytes, asked: None, name };
        let (mut added, mut broken) = (false, None);
        for message in &description.messages {
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
        let side = match own.direction.as_ref().or(if message.answers { None } else { all.direction.as_ref() }) {
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
            ts: moment.and_then(|moment| self.moment(moment, bytes, found)),
            side,
            session: keyed.or_else(|| self.label(own.session.as_ref().or(all.session.as_ref()), bytes, found)),
            server: self.label(own.server.as_ref().or(all.server.as_ref()), bytes, found),
            client: self.label(own.client.as_ref().or(all.client.as_ref()), bytes, found),
            ..Facts::default()
        }
    }

    fn moment(&self, moment: &Moment, bytes: &[u8], found: &[Option<Span>]) -> Option<Ts> {
        let ts = moment.read(&self.first(&moment.from, bytes, found)?.text())?;
        let Some((plus, unit)) = &moment.plus else { return Some(ts) };
        match self.first(plus, bytes, found) {
            Some(duration) => Some(Moment::later(ts, &duration.text(), *unit)),
            None => Some(ts),
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
        let facts = self.facts(message, entry, found);
        if !message.once.is_empty() && self.is_repeated(message, entry.bytes, found) {
            self.sink.count(REPEATED);
            return Ok(false);
        }
        let before = self.sink.added();
        let added = match self.body(&message.body, entry.bytes, found) {
            Some(body) => self.whole(message, entry, body, &facts, captured)?,
            None if message.body.is_empty() || message.method.is_some() => {
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
        let mut keys = Vec::new();
        for (number, values) in message.once.iter().enumerate() {
            let texts: Option<Vec<_>> =
                values.iter().map(|value| self.value(value, bytes, found).map(|given| given.text())).collect();
            if let Some(texts) = texts {
                let joined = texts.join("\u{1f}");
                // Answers are told from requests by the table they come from.
                keys.push(crate::capture::rpc::digest(
                    format!("{number}\u{1f}{}\u{1f}{joined}", u8::from(message.answers)).as_bytes(),
                ));
            }
        }
        let Some(memory) = self.memory.as_deref_mut() else { return false };
        let repeated = keys.iter().any(|key| memory.is_shown(*key));
        keys.into_iter().for_each(|key| memory.show(key));
        repeated
    }

    /// The first place that holds JSON, or text that is JSON (at most twice wrapped).
    fn body(&self, sources: &[Source], bytes: &[u8], found: &[Option<Span>]) -> Option<Body> {
        sources.iter().find_map(|source| {
            let text = match source {
                Source::Pointer(slot) => {
                    let span = found.get(*slot).copied().flatten()?;
                    match span.of(bytes).first()? {
                        b'{' | b'[' => return Some(Body::In(span)),
                        b'"' => unwrapped(&String::from_utf8_lossy(span.of(bytes))),
                        _ => return None,
                    }
                }
                _ => self.given(source, bytes, found)?.text().into_owned(),
            };
            begins_json(text.as_bytes()).then(|| Body::Own(Arc::new(text.into_bytes())))
        })
    }

    /// Adds the messages of a body that holds them whole.
    fn whole(
        &mut self,
        message: &MessageAt,
        entry: &Entry<'_>,
        body: Body,
        facts: &Facts,
        captured: Captured,
    ) -> Result<bool, String> {
        let (bytes, from, to, shared) = match &body {
            Body::In(span) => (entry.bytes, span.from, span.to, None),
            Body::Own(text) => (text.as_slice(), 0, text.len(), Some(text)),
        };
        let text = bytes.get(..to).unwrap_or_default();
        let mut cursor = Cursor::new(text, from);
        let rpc = match cursor.peek() {
            Some(b'{') => Rpc::read(&mut cursor).map(Some),
            _ => cursor.value().map(|_| None),
        };
        let closed = rpc.is_some() && cursor.peek().is_none();
        if let (Some(rpc), true) = (rpc, closed) {
            let Some(rpc) = rpc else {
                let batch = self.sink.batch(text, Span { from, to }, facts, captured);
                return Ok(batch == Some(true));
            };
            if message.bare && rpc.id.is_none() {
                return Ok(self.bare(entry, &rpc, text, facts, captured));
            }
            return Ok(rpc.is_message()
                && match shared {
                    Some(shared) => self.sink.message_in(shared, &rpc, facts, captured, false),
                    None => self.sink.message(bytes, &rpc, facts, captured, false),
                });
        }
        let rest = text.get(from..).unwrap_or_default();
        let cut = captured == Captured::Truncated
            || self.description.cut_marks.iter().any(|mark| memchr::memmem::find(rest, mark.as_bytes()).is_some());
        if cut && self.remains(rest, facts) {
            return Ok(true);
        }
        let error = serde_json::from_slice::<serde::de::IgnoredAny>(rest).err();
        let said = error.map_or_else(|| "nested too deeply".to_owned(), |error| error.to_string());
        Err(format!("what should be a message is not valid JSON: {said}"))
    }

    /// What a body that was cut still tells.
    fn remains(&mut self, text: &[u8], facts: &Facts) -> bool {
        let mut any = false;
        for said in remains(&Arc::new(text.to_vec()), facts.ts) {
            match &said.content {
                Content::Whole(rpc) => {
                    any |= self.sink.message_in(&said.bytes, rpc, facts, Captured::Truncated, said.batch);
                }
                Content::Rest(kind) => {
                    any = true;
                    self.sink.remains((**kind).clone(), facts, Captured::Truncated, text);
                }
            }
        }
        any
    }

    /// A request that stands without its id.
    fn bare(&mut self, entry: &Entry<'_>, rpc: &Rpc, text: &[u8], facts: &Facts, captured: Captured) -> bool {
        let Some(method) = rpc.method else { return false };
        let method = String::from_utf8_lossy(method.of(text));
        let mut made = format!("{{\"method\":{method}");
        if !method.starts_with("\"notifications/") {
            let _ = write!(made, ",\"id\":{}", json(&entry.name));
        }
        if let Some(params) = rpc.params {
            let _ = write!(made, ",\"params\":{}", String::from_utf8_lossy(params.of(text)));
        }
        made.push('}');
        self.made(made, facts, captured)
    }

    fn made(&mut self, text: String, facts: &Facts, captured: Captured) -> bool {
        let body = Arc::new(text.into_bytes());
        let rpc = Rpc::read(&mut Cursor::new(&body, 0));
        rpc.is_some_and(|rpc| rpc.is_message() && self.sink.message_in(&body, &rpc, facts, captured, false))
    }

    /// Adds a message from parts.
    fn composed(
        &mut self,
        message: &'r MessageAt,
        entry: &Entry<'_>,
        found: &[Option<Span>],
        facts: &Facts,
        captured: Captured,
    ) -> Result<bool, String> {
        let bytes = entry.bytes;
        let id = message.id.as_ref().and_then(|id| self.value(id, bytes, found)).and_then(|given| match given {
            Given::Json(json) => Some(String::from_utf8_lossy(json).into_owned()),
            Given::Text(text) if text.is_empty() => None,
            Given::Text(text) if text.parse::<i64>().is_ok() => Some(text.into_owned()),
            Given::Text(text) => Some(json(&text)),
        });
        let pair = self.pair(message, bytes, found);
        if message.answers {
            let id = match (id, &pair) {
                (Some(id), _) => Some(id),
                (None, Some(pair)) => {
                    let known = self.memory.as_deref_mut().and_then(|memory| memory.answer(pair));
                    if known.is_none() {
                        self.sink.count(NO_REQUEST);
                        return Ok(false);
                    }
                    known
                }
                (None, None) => entry.asked.as_ref().map(|(id, _)| id.clone()),
            };
            return self.answer(message, bytes, found, id, facts, captured);
        }
        let Some(method) = message.method.as_ref().and_then(|method| self.value(method, bytes, found)) else {
            return Ok(false);
        };
        let method = method.text().into_owned();
        let notification = method.starts_with("notifications/");
        let id = match id {
            Some(id) => Some(id),
            None if notification => None,
            None => {
                let id = json(&entry.name);
                if let (Some(pair), Some(memory)) = (pair, self.memory.as_deref_mut()) {
                    memory.ask(pair, id.clone());
                }
                Some(id)
            }
        };
        let mut made = format!("{{\"method\":{}", json(&method));
        if let Some(id) = &id {
            let _ = write!(made, ",\"id\":{id}");
        }
        let Some(params) = self.part(&message.params, bytes, found) else {
            made.push('}');
            let captured = if captured == Captured::Full { Captured::Absent } else { captured };
            let method: Text = self.sink.texts.get(&method);
            let kind = match id.as_deref().and_then(crate::protocol::parse::id) {
                Some(id) => Kind::Request { id, request: request_without_body(method) },
                None => Kind::Notification(Notification { method, subject: None }),
            };
            self.sink.remains(kind, facts, captured, made.as_bytes());
            return Ok(true);
        };
        let _ = write!(made, ",\"params\":{params}");
        if is_json(&params) {
            made.push('}');
            return Ok(self.made(made, facts, captured));
        }
        // The parameters were cut: what stands before the cut is used.
        Ok(self.remains(made.as_bytes(), facts))
    }

    fn answer(
        &mut self,
        message: &'r MessageAt,
        bytes: &[u8],
        found: &[Option<Span>],
        id: Option<String>,
        facts: &Facts,
        captured: Captured,
    ) -> Result<bool, String> {
        let id_text = id.as_deref().unwrap_or("null");
        let failed = self.any(&message.failed, bytes, found);
        let given = match &message.error {
            Some(ErrorAt::Whole(sources)) => self.first(sources, bytes, found).map(|given| match given {
                Given::Json(json) if json.first() == Some(&b'{') => String::from_utf8_lossy(json).into_owned(),
                given => format!("{{\"message\":{}}}", json(&given.text())),
            }),
            Some(ErrorAt::Parts { code, message }) => {
                let part = |value: &Option<Value>| value.as_ref().and_then(|value| self.value(value, bytes, found));
                match (part(code), part(message)) {
                    (None, None) => None,
                    (code, said) => {
                        let code = code.map(|code| code.text().into_owned());
                        let number = code.as_ref().filter(|code| code.trim().parse::<i64>().is_ok());
                        let said = said.map(|said| said.text().into_owned());
                        // A word in place of a code says what went wrong all the same.
                        let said = said.or_else(|| code.clone().filter(|_| number.is_none())).unwrap_or_default();
                        let code = number.map_or("null", |code| code.trim());
                        Some(format!("{{\"code\":{code},\"message\":{}}}", json(&said)))
                    }
                }
            }
            None => None,
        };
        if let Some(error) = given.filter(|_| failed || message.failed.is_empty()) {
            return Ok(self.made(
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id_text},\"error\":{error}}}"),
                facts,
                captured,
            ));
        }
        let parsed = id.as_deref().and_then(crate::protocol::parse::id);
        if failed {
            let error = RpcError { code: None, message: "".into(), elicitations: Vec::new() };
            self.sink.remains(Kind::Error { id: parsed, error }, facts, Captured::Absent, id_text.as_bytes());
            return Ok(true);
        }
        let Some(result) = self.part(&message.result, bytes, found) else {
            // No result where one should stand is no answer; a source that keeps no results shows that one came.
            if !message.result.is_empty() && message.failed.is_empty() && message.when.is_empty() {
                return Ok(false);
            }
            self.not_captured(parsed, id_text, facts);
            return Ok(true);
        };
        if !is_json(&result) {
            let state = if captured == Captured::Full { Captured::Truncated } else { captured };
            let kind = Kind::Result { id: parsed, answer: not_captured() };
            self.sink.remains(kind, facts, state, result.as_bytes());
            return Ok(true);
        }
        let made = match only_error(&result) {
            Some(error) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id_text},\"error\":{error}}}"),
            None => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id_text},\"result\":{result}}}"),
        };
        Ok(self.made(made, facts, captured))
    }

    fn not_captured(&mut self, id: Option<Id>, text: &str, facts: &Facts) {
        self.sink.remains(Kind::Result { id, answer: not_captured() }, facts, Captured::Absent, text.as_bytes());
    }

    /// The JSON of a part: as it stands, or the text of a string that holds JSON.
    fn part(&self, sources: &[Source], bytes: &[u8], found: &[Option<Span>]) -> Option<String> {
        match self.first(sources, bytes, found)? {
            Given::Json(json) if json.first() == Some(&b'"') => {
                let exact = String::from_utf8_lossy(json);
                let text = unwrapped(&exact);
                Some(if begins_json(text.as_bytes()) { text } else { exact.into_owned() })
            }
            Given::Json(json) => Some(String::from_utf8_lossy(json).into_owned()),
            Given::Text(text) => Some(text.into_owned()),
        }
    }

    fn pair(&self, message: &MessageAt, bytes: &[u8], found: &[Option<Span>]) -> Option<String> {
        if message.pairs.is_empty() {
            return None;
        }
        let part = |value| self.value(value, bytes, found).map(|given| given.text().into_owned()).unwrap_or_default();
        Some(message.pairs.iter().map(part).collect::<Vec<_>>().join("\u{1f}"))
    }

    /// Takes back values in whose place the writer put something else. One hidden argument says nothing about what was
    /// sent, so that none of its call is judged.
    fn hide(&mut self, before: usize, captured: Captured) {
        let words = &self.description.placeholders;
        if words.is_empty() || (!self.description.redacted.is_empty() && captured == Captured::Full) {
            return;
        }
        let hidden = |text: &str| words.iter().any(|word| text.contains(&**word));
        for message in self.sink.messages_from(before) {
            let hit = match &mut message.kind {
                Kind::Request { request, .. } => match &mut request.body {
                    RequestBody::PromptsGet { arguments, .. }
                        if arguments.entries.iter().any(|(_, value)| hidden(&value.text)) =>
                    {
                        arguments.shape = ArgumentsAs::NotCaptured;
                        arguments.entries.clear();
                        true
                    }
                    RequestBody::Complete(completion) if completion.typed.as_deref().is_some_and(hidden) => {
                        completion.typed = None;
                        true
                    }
                    _ => false,
                },
                Kind::Result { answer, .. } => match &mut answer.shape {
                    Shape::Elicitation(elicited) => match &elicited.content {
                        Elicited::Object { json, .. } if hidden(json) => {
                            elicited.action = Action::NotCaptured;
                            elicited.content = Elicited::Absent;
                            true
                        }
                        _ => false,
                    },
                    _ => false,
                },
                _ => false,
            };
            if hit {
                message.captured = Captured::Redacted;
            }
        }
    }
}

fn not_captured() -> Answer {
    Answer { shape: Shape::NotCaptured, server: None, is_error: false }
}

/// Text as a JSON string.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_json(text: &str) -> bool {
    let mut cursor = Cursor::new(text.as_bytes(), 0);
    cursor.value().is_some() && cursor.peek().is_none()
}

/// The error of an object that holds nothing else.
fn only_error(result: &str) -> Option<String> {
    let members = crate::protocol::json::Members::parse(result, &mut Oddities::default())?;
    let error = members.get("error").filter(|_| members.len() == 1)?;
    Some(if error.starts_with('{') { error.to_owned() } else { format!("{{\"message\":{}}}", quoted(error)) })
}

fn quoted(exact: &str) -> String {
    if exact.starts_with('"') { exact.to_owned() } else { json(exact) }
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
