//! A description of records as formats.

use super::engine::{BROKEN_PARTS, CONDITIONS, Memory, NO_REQUEST, Outcome, REPEATED, Reader, bare_message};
use super::language::is_optional;
use super::ordered::Ordered;
use super::records::{Arrangement, Description};
use super::stream::{InOrder, Lines, Stream};
use crate::capture::elements::{Element, Elements};
use crate::capture::formats::{About, Format, has_colour, without_colour};
use crate::capture::input::Input;
use crate::capture::records::{Recognised, Records};
use crate::capture::sink::{Block, Decoded, FileFacts, Line, Sink, Tally};
use crate::protocol::message::Ts;
use std::sync::{Arc, OnceLock};

/// Records of a file's beginning that are looked at to recognise it.
const LOOKED_AT: usize = 100;

/// One way in which the records of a described format are laid out.
pub struct Described {
    name: &'static str,
    looks_like: String,
    about: About,
    description: &'static Description,
    arrangement: Arrangement,
    /// The file of a user's own description.
    file: Option<String>,
    /// Itself: formats live as long as the run.
    own: OnceLock<&'static Self>,
}

/// The formats of a description: one for each of its arrangements.
pub fn formats(
    name: &'static str,
    about: About,
    looks_like: Option<String>,
    description: Description,
    file: Option<&str>,
) -> Vec<&'static dyn Format> {
    let description: &'static Description = Box::leak(Box::new(description));
    let looks_like = looks_like.unwrap_or_else(|| {
        let places: Vec<&str> = description.pointers.iter().map(|pointer| pointer.shown.as_str()).take(4).collect();
        format!("JSON records with {}", places.join(", "))
    });
    let mut formats: Vec<&'static dyn Format> = Vec::new();
    for arrangement in &description.arrangements {
        let format: &'static Described = Box::leak(Box::new(Described {
            name,
            looks_like: looks_like.clone(),
            about: about.clone(),
            description,
            arrangement: *arrangement,
            file: file.map(str::to_owned),
            own: OnceLock::new(),
        }));
        let _ = format.own.set(format);
        formats.push(format);
    }
    formats
}

impl Format for Described {
    fn name(&self) -> &'static str {
        self.name
    }

    fn looks_like(&self) -> &str {
        &self.looks_like
    }

    fn about(&self) -> About {
        self.about.clone()
    }

    fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    fn unmistakable(&self) -> bool {
        !self.description.matches.is_empty()
    }

    fn is_sign(&self, line: &[u8]) -> bool {
        if self.description.matches.is_empty() {
            return false;
        }
        let (file, block) = (FileFacts::default(), Block::none());
        let mut sink = Sink::new(&file, &block);
        let (outcome, _) = self.line(&mut sink, line, 0, None);
        matches!(outcome, Some(Outcome::Noise | Outcome::Messages | Outcome::Rejected(_)))
    }

    fn recognise(&self, head: &[u8], whole: bool) -> Option<Recognised> {
        if !self.is_of_records() || self.description.matches.is_empty() {
            return None;
        }
        if self.arrangement == Arrangement::Lines {
            return self.recognise_lines(head, whole);
        }
        let input = Input::new(std::io::Cursor::new(head.to_vec()), "", &Arc::default()).ok()?;
        let (file, block) = (FileFacts::default(), Block::none());
        let mut sink = Sink::new(&file, &block);
        let mut elements = self.elements(input)?;
        let (mut seen, mut ours, mut memory) = (0, 0, Default::default());
        while let Some(Element::Text(text)) = elements.next() {
            seen += 1;
            sink.next_record(seen, text.len());
            let mut reader = Reader {
                description: self.description,
                sink: &mut sink,
                memory: Some(&mut memory),
                groups: Vec::new(),
                from: 0,
                around: None,
                hollow: false,
            };
            ours += u64::from(!matches!(reader.record(&text, 0), Outcome::Foreign | Outcome::NoJson));
            if seen >= LOOKED_AT as u64 {
                break;
            }
        }
        // Records of others may stand between them, but not be the rule.
        if ours == 0 || ours * 2 < seen {
            return None;
        }
        let decoded = sink.finish();
        let count = decoded.tally.messages;
        let first = if whole && seen < LOOKED_AT as u64 { "the" } else { "the first" };
        Some(Recognised {
            why: format!("{ours} of {first} {seen} records are of it, with {count} messages: {}", self.looks_like),
            variant: None,
            first_ts: self.first_ts(&decoded),
        })
    }

    fn records(&self, input: Input, file: &FileFacts) -> Option<Box<dyn Records>> {
        if self.arrangement == Arrangement::Lines {
            let lines = Lines::new(input, *self.own.get()?, file.clone());
            return Some(if self.description.by_time { Box::new(Ordered::new(lines)) } else { Box::new(lines) });
        }
        let stream = Stream::new(self.elements(input)?, self.description, file.clone(), self.name);
        Some(if self.description.by_time { Box::new(Ordered::new(stream)) } else { Box::new(stream) })
    }

    fn is_of_records(&self) -> bool {
        self.arrangement != Arrangement::Lines || self.description.needs_memory()
    }

    fn remarks(&self, tally: &Tally) -> Vec<String> {
        let left_out = |reason: usize| tally.left_out.get(reason).copied().unwrap_or(0);
        let mut remarks: Vec<String> = [
            (left_out(BROKEN_PARTS), "parts of records that should be messages and are none, left out"),
            (left_out(REPEATED), "messages that both sides reported, counted once"),
            (left_out(NO_REQUEST), "answers whose requests stand before the beginning of the file, left out"),
            (tally.nested, "messages that stand bare between the records, counted as well"),
            (tally.missing(), "records are missing by the recorder's own count: it dropped them"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        let conditions = self.description.noise.iter().chain(&self.description.counted);
        for (at, condition) in conditions.enumerate() {
            if let (count @ 1.., Some(note)) = (left_out(CONDITIONS + at), &condition.note) {
                remarks.push(format!("{count} {note}"));
            }
        }
        if self.file.is_some() && tally.found != 0 {
            remarks.extend(self.never_found(tally).map(|(place, what, line)| {
                let file = self.file.as_deref().unwrap_or_default();
                format!("`{what}` of [formats.{}] ({file}, line {line}): `{place}` was found in no record", self.name)
            }));
        }
        remarks
    }

    fn misfit(&self, tally: &Tally) -> Option<String> {
        let file = self.file.as_deref()?;
        let records = tally.lines - tally.blank - tally.continuation;
        if tally.messages > 0 || records == 0 {
            return None;
        }
        let detail = match self.never_found(tally).find(|(_, what, _)| matches!(*what, "body" | "method")) {
            _ if tally.found == 0 => {
                format!("`match` of [formats.{}] ({file}) holds for none of {records} records", self.name)
            }
            Some((place, what, line)) => {
                format!(
                    "`{what}` of [formats.{}] ({file}, line {line}): `{place}` was found in none of {records} records",
                    self.name
                )
            }
            None => format!("what [formats.{}] ({file}) finds is no message in any of {records} records", self.name),
        };
        Some(detail)
    }

    fn decode(&self, block: &Block, file: &FileFacts) -> Decoded {
        self.lines(block, file, &mut None)
    }
}

impl InOrder for Described {
    fn lines(&self, block: &Block, file: &FileFacts, memory: &mut Option<Memory>) -> Decoded {
        let mut sink = Sink::new(file, block);
        while let Some(line) = sink.next_line() {
            let text = line.of(sink.block());
            if has_colour(text) {
                let plain = without_colour(text);
                self.one_line(&mut sink, line, &plain, 0, memory.as_mut());
            } else {
                let block = sink.block();
                let text = block.get(..line.to).unwrap_or_default();
                self.one_line(&mut sink, line, text, line.from, memory.as_mut());
            }
        }
        sink.finish()
    }
}

impl Described {
    fn elements(&self, input: Input) -> Option<Elements> {
        match self.arrangement {
            Arrangement::Array(path) => Some(Elements::new(input, path)),
            Arrangement::Values => Some(Elements::values(input)),
            Arrangement::Lines => None,
        }
    }

    fn recognise_lines(&self, head: &[u8], whole: bool) -> Option<Recognised> {
        let lines = if whole { head } else { head.get(..memchr::memrchr(b'\n', head)? + 1)? };
        let block = Block { offset: 0, bytes: Arc::new(lines.to_vec()), used: lines.len(), first: true, last: whole };
        let decoded = self.lines(&block, &FileFacts::default(), &mut Some(Memory::default()));
        let signs = lines.split(|byte| *byte == b'\n').filter(|line| self.is_sign(line)).count() as u64;
        let held = decoded.tally.lines - decoded.tally.blank;
        // Other logs quote such lines.
        if signs == 0 || signs * 2 < held {
            return None;
        }
        let count = decoded.tally.messages;
        Some(Recognised {
            why: format!("{signs} of the first {held} lines are of it, with {count} messages: {}", self.looks_like),
            variant: None,
            first_ts: self.first_ts(&decoded),
        })
    }

    /// Reads one line, and says where its JSON begins; `None` where it holds no JSON.
    fn line(
        &self,
        sink: &mut Sink<'_>,
        bytes: &[u8],
        from: usize,
        memory: Option<&mut Memory>,
    ) -> (Option<Outcome>, usize) {
        let text = bytes.get(from..).unwrap_or_default();
        let mut groups = Vec::new();
        let mut at = from + (text.len() - text.trim_ascii_start().len());
        if bytes.get(at) != Some(&b'{')
            && let Some(before) = &self.description.before
        {
            // What stands before the JSON is short; the JSON itself may be large.
            let head = text.get(..text.iter().position(|byte| *byte == b'{').unwrap_or(0)).unwrap_or_default();
            if let Some(captures) = before
                .captures(head)
                .filter(|captures| captures.get(0).is_some_and(|whole| whole.start() == 0 && whole.end() == head.len()))
            {
                at = from + head.len();
                for name in before.names() {
                    if let Some(group) = captures.name(name) {
                        groups.push((name, String::from_utf8_lossy(group.as_bytes()).into_owned()));
                    }
                }
            }
        }
        if bytes.get(at) != Some(&b'{') {
            return (None, at);
        }
        let mut reader =
            Reader { description: self.description, sink, memory, groups, from: at, around: None, hollow: false };
        (Some(reader.record(bytes, at)), at)
    }

    fn one_line(&self, sink: &mut Sink<'_>, line: Line, bytes: &[u8], from: usize, memory: Option<&mut Memory>) {
        let text = bytes.get(from..).unwrap_or_default();
        if text.iter().all(u8::is_ascii_whitespace) {
            return sink.blank();
        }
        let (outcome, at) = self.line(sink, bytes, from, memory);
        match outcome {
            Some(Outcome::Messages) => sink.message_line(),
            Some(Outcome::Foreign) if bare_message(sink, bytes, at) => sink.message_line(),
            Some(Outcome::Noise | Outcome::Foreign) => sink.noise(),
            Some(Outcome::NoJson) => {
                sink.take_back();
                sink.reject_json(bytes.get(at..).unwrap_or_default(), at - from);
            }
            Some(Outcome::Rejected(reason)) => {
                sink.take_back();
                sink.reject(reason);
            }
            None => {
                let end = text.trim_ascii_end();
                let cut = line.first && end.last() == Some(&b'}') && memchr::memmem::find(text, b"\":").is_some();
                if cut { sink.reject("cut off at the start of the file") } else { sink.noise() }
            }
        }
    }

    /// The time with which the file begins.
    fn first_ts(&self, decoded: &Decoded) -> Option<Ts> {
        let mut times = decoded.messages.iter().filter_map(|message| message.ts);
        if self.description.by_time { times.min() } else { times.next() }
    }

    /// Places that no record had: as they are written, what they are for, and the line of the description.
    fn never_found(&self, tally: &Tally) -> impl Iterator<Item = (&str, &'static str, usize)> {
        let description = self.description;
        description.pointers.iter().enumerate().filter_map(move |(at, pointer)| {
            let alternatives = description
                .pointers
                .iter()
                .enumerate()
                .filter(|(_, other)| (other.what, other.line) == (pointer.what, pointer.line));
            let missed = alternatives.clone().all(|(at, _)| tally.found & 1 << at == 0);
            let first = alternatives.clone().next().is_some_and(|(first, _)| first == at);
            (missed && first && !is_optional(pointer.what)).then_some((
                pointer.shown.as_str(),
                pointer.what,
                pointer.line,
            ))
        })
    }
}
