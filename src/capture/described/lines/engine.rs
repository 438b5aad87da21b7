//! Reads lines as a description says.

use super::gather::{Gathered, gather};
use super::{JSON, LinesDescription, Rule, Written};
use crate::capture::described::engine::{CONDITIONS, Memory, Reader};
use crate::capture::described::pattern::Pattern;
use crate::capture::dress::{Dress, undress};
use crate::capture::formats::{begins_json, has_colour, without_colour};
use crate::capture::http::sse;
use crate::capture::sink::{Line, Sink};
use crate::capture::skim::Cursor;
use crate::capture::{dump, literal, repair, rich, time};
use crate::protocol::message::{Captured, Ts};
use serde::de::IgnoredAny;

/// Bytes of a line in which patterns look for what stands before a message.
const HEAD: usize = 4096;
/// Decorations around each other.
const LAYERS: usize = 4;
/// Bytes of a block that may be looked at in vain for values of several lines.
const BUDGET: usize = 16 << 20;

/// What of a file's lines is left out or odd, by number; those of the rules follow.
pub const NO_MESSAGE: usize = CONDITIONS;
pub const DOUBLED: usize = CONDITIONS + 1;
pub const RULES: usize = CONDITIONS + 2;

/// A line without what carries it.
pub struct Plain {
    pub text: Vec<u8>,
    pub partial: bool,
}

/// Lines being read.
pub struct LineReader<'r, 'f> {
    description: &'r LinesDescription,
    sink: &'r mut Sink<'f>,
    memory: Option<&'r mut Memory>,
    /// Groups of the record's lines so far.
    groups: Vec<(&'r str, String)>,
    budget: usize,
}

/// A rule that a line follows.
struct Picked<'r> {
    rule: &'r Rule,
    groups: Vec<(&'r str, String)>,
    /// Where in the line the message begins.
    json: Option<usize>,
    /// Of what carries the line.
    around: Option<Ts>,
    partial: bool,
    layers: usize,
    /// What stands before the rule's text, without its digits.
    handler: u64,
}

/// What a line was found to hold.
enum Value {
    /// The end of JSON in the line itself.
    Here(usize),
    /// Text of its own, and the lines it takes beyond the first.
    Own {
        text: Vec<u8>,
        end: Option<usize>,
        repaired: bool,
        hollow: bool,
    },
    Broken,
}

/// Why what should be a message is none.
enum Broken {
    Said(String),
    /// What stands there is no JSON.
    Json(usize),
}

impl<'r, 'f> LineReader<'r, 'f> {
    pub fn new(description: &'r LinesDescription, sink: &'r mut Sink<'f>, memory: Option<&'r mut Memory>) -> Self {
        Self { description, sink, memory, groups: Vec::new(), budget: BUDGET }
    }

    /// Reads the next line; false behind the last.
    pub fn next(&mut self) -> bool {
        let Some(line) = self.sink.next_line() else { return false };
        let block = self.sink.block();
        let text = line.of(block);
        if text.iter().all(u8::is_ascii_whitespace) {
            self.sink.blank();
        } else if let Some((joined, end)) = rich::unwrap(block, line) {
            if !self.joined(line, &joined, end) {
                self.line(line, block.get(..line.to).unwrap_or_default(), line.from);
            }
        } else if has_colour(text) {
            self.line(line, &without_colour(text), 0);
        } else {
            self.line(line, block.get(..line.to).unwrap_or_default(), line.from);
        }
        true
    }

    /// Reads lines that a console has wrapped, as one; false where they hold no message.
    fn joined(&mut self, line: Line, text: &[u8], end: usize) -> bool {
        let groups = self.groups.clone();
        let Some(picked) = self.pick(text).filter(|picked| !picked.rule.messages.is_empty()) else {
            self.groups = groups;
            return false;
        };
        let counted = self.sink.added();
        let read = self.messages(picked, line, text, 0);
        if !matches!(read, Ok(true)) || self.sink.added() == counted {
            self.sink.take_back();
            self.groups = groups;
            return false;
        }
        self.sink.repaired();
        self.sink.continue_to(end);
        self.sink.message_line();
        true
    }

    /// Reads one line; `bytes[from..]` is its text.
    fn line(&mut self, line: Line, bytes: &[u8], from: usize) {
        let text = bytes.get(from..).unwrap_or_default();
        let Some(picked) = self.pick(text) else {
            return self.unknown(line, text);
        };
        if picked.rule.messages.is_empty() {
            return self.sink.noise();
        }
        match self.messages(picked, line, bytes, from) {
            Ok(true) => self.sink.message_line(),
            Ok(false) => {
                self.sink.take_back();
                self.sink.noise();
            }
            Err(broken) => {
                self.sink.take_back();
                match broken {
                    Broken::Said(reason) => self.sink.reject(reason),
                    Broken::Json(at) => self.sink.reject_json(bytes.get(at..).unwrap_or_default(), at - from),
                }
            }
        }
    }

    /// A line that no rule is about.
    fn unknown(&mut self, line: Line, text: &[u8]) {
        let end = text.trim_ascii_end();
        let closes = matches!(end.last(), Some(b'}' | b']')) && memchr::memmem::find(text, b"\"jsonrpc\"").is_some();
        if line.first && closes && !begins_json(text) && time::prefix(text).is_none() && undress(text).is_none() {
            return self.sink.reject("cut off at the start of the file");
        }
        match &self.description.begins {
            Some(begins) if !self.groups.is_empty() && !begins.is_match(head(text)) => self.sink.continuation(),
            _ => self.sink.noise(),
        }
    }

    /// The rule that a line follows, behind what carries it.
    fn pick(&mut self, text: &[u8]) -> Option<Picked<'r>> {
        let (mut at, mut around, mut partial) = (0, None, false);
        for layers in 0..=LAYERS {
            let rest = text.get(at..)?;
            if let Some(picked) = self.rule(rest, at, text.get(..at)?) {
                return Some(Picked { around, partial, layers, ..picked });
            }
            let Dress { length, ts, partial: part } = undress(rest)?;
            at += length;
            around = ts.or(around);
            partial |= part;
        }
        None
    }

    /// The rule that a text follows, which stands at an offset of its line.
    fn rule(&mut self, text: &[u8], at: usize, before_it: &[u8]) -> Option<Picked<'r>> {
        let description = self.description;
        let head = head(text);
        if let Some(begins) = &description.begins
            && let Some(found) = begins.captures(head)
        {
            self.groups.clear();
            learn(&mut self.groups, begins, &found);
        }
        let mut groups = Vec::new();
        let mut skip = 0;
        if let Some(before) = &description.before {
            let found = before.captures(head)?;
            skip = found.get(0).map_or(0, |whole| whole.end());
            learn(&mut groups, before, &found);
        }
        let rest = head.get(skip..)?;
        let (number, rule, found) = description
            .rules
            .iter()
            .enumerate()
            .find_map(|(number, rule)| Some((number, rule, rule.pattern.captures(rest)?)))?;
        learn(&mut groups, &rule.pattern, &found);
        let begin = skip + found.get(0).map_or(0, |whole| whole.start());
        let handler = if description.doubled { shape(before_it, head.get(..begin)?) } else { 0 };
        if description.begins.is_some() {
            self.groups.append(&mut groups);
            groups = self.groups.clone();
        }
        self.sink.count(RULES + number);
        if let Some(server) = &rule.server {
            let reader = self.reader(groups.clone(), None);
            if let Some(server) = reader.word(server) {
                self.sink.serve(&server);
            }
        }
        Some(Picked {
            rule,
            groups,
            json: found.name(JSON).map(|group| at + skip + group.start()),
            around: None,
            partial: false,
            layers: 0,
            handler,
        })
    }

    fn reader<'s>(&'s mut self, groups: Vec<(&'s str, String)>, around: Option<Ts>) -> Reader<'s, 'f> {
        Reader {
            description: &self.description.common,
            sink: self.sink,
            memory: self.memory.as_deref_mut(),
            groups,
            from: 0,
            around,
            hollow: false,
        }
    }

    /// Adds the messages of a line: whether there are any, or why what should be one is none.
    fn messages(&mut self, picked: Picked<'r>, line: Line, bytes: &[u8], from: usize) -> Result<bool, Broken> {
        let rule = picked.rule;
        self.sink.by(picked.handler);
        let (Some(written), Some(json)) = (rule.written, picked.json) else {
            let mut reader = self.reader(picked.groups, picked.around);
            return reader.embedded(&rule.messages, bytes, None).map_err(Broken::Said);
        };
        let at = from + json;
        if let (true, Written::Json, Some(message)) = (rule.whole, written, rule.messages.first()) {
            let mut reader = self.reader(picked.groups.clone(), picked.around);
            let facts = reader.told(message);
            match self.sink.value(&mut Cursor::new(bytes, at), &facts, Captured::Full) {
                Some(false) => {
                    self.sink.count(NO_MESSAGE);
                    return Ok(false);
                }
                Some(true) => return Ok(true),
                None => self.sink.take_back(),
            }
        }
        let value = match written {
            Written::Json => self.json(line, bytes, at, &picked),
            Written::Quoted => self.quoted(bytes, at),
            Written::Dump => self.dump(line, bytes, at, &picked),
        };
        let (text, end, repaired, hollow) = match value {
            Value::Own { text, end, repaired, hollow } => (text, end, repaired, hollow),
            Value::Here(end) => {
                let added = self.embedded(&picked, bytes.get(..end).unwrap_or_default(), at).map_err(Broken::Said)?;
                if !added {
                    self.no_message(rule);
                }
                return Ok(added);
            }
            Value::Broken => return self.broken(&picked, written, bytes, at),
        };
        if sse::looks_like(&text) {
            // Others than messages are events as well.
            return self.events(&picked, &text).map_err(Broken::Said);
        }
        if !begins_json(&text) {
            return Ok(false);
        }
        let mut reader = self.reader(picked.groups.clone(), picked.around);
        reader.hollow = hollow;
        let added = reader.embedded(&picked.rule.messages, &text, Some(0)).map_err(Broken::Said)?;
        if !added {
            self.no_message(rule);
            return Ok(false);
        }
        if repaired {
            self.sink.repaired();
        }
        if let Some(end) = end {
            self.sink.continue_to(end);
        }
        Ok(true)
    }

    fn embedded(&mut self, picked: &Picked<'r>, text: &[u8], at: usize) -> Result<bool, String> {
        let mut reader = self.reader(picked.groups.clone(), picked.around);
        reader.embedded(&picked.rule.messages, text, Some(at))
    }

    /// Counts what stands where a message should.
    fn no_message(&mut self, rule: &Rule) {
        if rule.messages.iter().any(|message| !message.body.is_empty() && message.when.is_empty()) {
            self.sink.count(NO_MESSAGE);
        }
    }

    /// The messages in the events of a stream.
    fn events(&mut self, picked: &Picked<'r>, text: &[u8]) -> Result<bool, String> {
        let (mut events, mut found) = (sse::Events::default(), Vec::new());
        events.feed(text, None, &mut found);
        events.finish(None, &mut found);
        let mut any = false;
        for event in found.iter().filter(|event| begins_json(&event.data)) {
            any |= self.embedded(picked, &event.data, 0)?;
        }
        Ok(any)
    }

    /// A message that does not end, or is none.
    fn broken(&mut self, picked: &Picked<'r>, written: Written, bytes: &[u8], at: usize) -> Result<bool, Broken> {
        let rest = bytes.get(at..).unwrap_or_default();
        let marks = &self.description.common.cut_marks;
        if marks.iter().any(|mark| memchr::memmem::find(rest, mark.as_bytes()).is_some())
            && self.embedded(picked, bytes, at) == Ok(true)
        {
            return Ok(true);
        }
        Err(match written {
            Written::Json => Broken::Json(at),
            Written::Quoted => Broken::Said("the text in quotes does not end: the line was cut".to_owned()),
            Written::Dump => Broken::Said("what is printed as a value does not end, or is none".to_owned()),
        })
    }

    fn json(&mut self, line: Line, bytes: &[u8], at: usize, picked: &Picked<'r>) -> Value {
        let mut cursor = Cursor::new(bytes, at);
        let rest = bytes.get(at..).unwrap_or_default();
        let undone = repair::undo(rest);
        if let Some(span) = cursor.value()
            // Brackets may match all the same where quotes are none.
            && (undone.is_none() || serde_json::from_slice::<IgnoredAny>(span.of(bytes)).is_ok())
        {
            return Value::Here(span.to);
        }
        let marks = &self.description.common.cut_marks;
        if marks.iter().any(|mark| memchr::memmem::find(rest, mark.as_bytes()).is_some()) {
            return Value::Broken;
        }
        let is_json = |text: &[u8]| Cursor::new(text, 0).value().is_some();
        if let Some(text) = &undone
            && let Some(end) = {
                let mut cursor = Cursor::new(text, 0);
                cursor.value().map(|_| cursor.at())
            }
        {
            let text = text.get(..end).unwrap_or_default().to_vec();
            return Value::Own { text, end: None, repaired: true, hollow: false };
        }
        let pasted = undone.is_some();
        let first = undone.unwrap_or_else(|| rest.to_vec());
        match self.gathered(line, &first, b"\"", picked, pasted) {
            Some(Gathered { text, end, torn }) if is_json(&text) => {
                Value::Own { text, end: Some(end), repaired: torn || pasted, hollow: false }
            }
            _ => Value::Broken,
        }
    }

    fn quoted(&mut self, bytes: &[u8], at: usize) -> Value {
        match literal::read(bytes.get(at..).unwrap_or_default()) {
            Some((text, _)) => Value::Own { text, end: None, repaired: false, hollow: false },
            None => Value::Broken,
        }
    }

    fn dump(&mut self, line: Line, bytes: &[u8], at: usize, picked: &Picked<'r>) -> Value {
        let rest = bytes.get(at..).unwrap_or_default();
        let own = |dump: dump::Dump, end| Value::Own {
            text: dump.json.into_bytes(),
            end,
            repaired: false,
            hollow: dump.hollow,
        };
        if let Some(dump) = dump::read(rest) {
            return own(dump, None);
        }
        let gathered = self.gathered(line, rest, b"'\"`", picked, false);
        match gathered.and_then(|Gathered { text, end, .. }| Some((dump::read(&text)?, end))) {
            Some((dump, end)) => own(dump, Some(end)),
            None => Value::Broken,
        }
    }

    fn gathered(
        &mut self,
        line: Line,
        first: &[u8],
        quotes: &'static [u8],
        picked: &Picked<'r>,
        pasted: bool,
    ) -> Option<Gathered> {
        let description = self.description;
        let read = |text: &[u8]| {
            let mut plain = if memchr::memchr(0x1b, text).is_some() { without_colour(text) } else { text.to_vec() };
            let mut partial = false;
            for _ in 0..picked.layers {
                let Some(dress) = undress(&plain) else { break };
                partial |= dress.partial;
                plain.drain(..dress.length);
            }
            let begins = match &description.begins {
                Some(begins) => begins.is_match(head(&plain)),
                None => description.is_record(&plain),
            };
            if begins {
                return None;
            }
            if pasted {
                plain = repair::undo(&plain).unwrap_or(plain);
            }
            Some(Plain { text: plain, partial })
        };
        gather(self.sink, line, first, quotes, picked.partial, &mut self.budget, read)
    }
}

impl LinesDescription {
    /// Whether a text reads like the beginning of a record of this log.
    fn is_record(&self, text: &[u8]) -> bool {
        let head = head(text);
        if time::prefix(head).is_some() {
            return true;
        }
        let skip = match &self.before {
            Some(before) => before.end(head),
            None => Some(0),
        };
        let Some(skip) = skip else { return false };
        let rest = head.get(skip..).unwrap_or_default();
        self.rules.iter().any(|rule| rule.pattern.is_match(rest))
    }

    /// Whether a line shows this format although it holds no message.
    pub fn is_sign(&self, text: &[u8]) -> bool {
        let Some(signs) = &self.signs else { return false };
        let mut at = 0;
        for _ in 0..=LAYERS {
            let Some(rest) = text.get(at..) else { return false };
            if signs.is_match(head(rest)) {
                return true;
            }
            let Some(dress) = undress(rest) else { return false };
            at += dress.length;
        }
        false
    }
}

fn head(text: &[u8]) -> &[u8] {
    text.get(..HEAD).unwrap_or(text)
}

/// Adds the named groups of a match.
fn learn<'r>(groups: &mut Vec<(&'r str, String)>, pattern: &'r Pattern, found: &regex::bytes::Captures<'_>) {
    for name in pattern.names().filter(|name| *name != JSON) {
        if let Some(group) = found.name(name) {
            groups.push((name, String::from_utf8_lossy(group.as_bytes()).into_owned()));
        }
    }
}

/// What is the same in all lines of one handler: what stands before the text, without numbers.
fn shape(carrier: &[u8], before: &[u8]) -> u64 {
    let mut shape: Vec<u8> = Vec::with_capacity(carrier.len() + before.len());
    for byte in carrier.iter().chain(before) {
        let byte = if byte.is_ascii_digit() { b'0' } else { *byte };
        if byte != b'0' || shape.last() != Some(&b'0') {
            shape.push(byte);
        }
    }
    crate::protocol::json::digest(&shape)
}
