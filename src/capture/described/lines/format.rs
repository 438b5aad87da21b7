//! A description of text lines as a format.

use super::LinesDescription;
use super::engine::{DOUBLED, LineReader, NO_MESSAGE, RULES};
use crate::capture::described::engine::{BROKEN_PARTS, Memory, NO_REQUEST, REPEATED};
use crate::capture::described::stream::{InOrder, Lines};
use crate::capture::formats::{About, Format};
use crate::capture::input::Input;
use crate::capture::records::Records;
use crate::capture::settle::Settled;
use crate::capture::sink::{Block, Decoded, FileFacts, Sink, Tally};
use std::sync::OnceLock;

/// A log of text lines that is described.
pub struct DescribedLines {
    name: &'static str,
    looks_like: String,
    about: About,
    description: LinesDescription,
    /// The file of a user's own description.
    file: Option<String>,
    /// Itself: formats live as long as the run.
    own: OnceLock<&'static Self>,
}

impl DescribedLines {
    pub fn format(
        name: &'static str,
        about: About,
        looks_like: Option<String>,
        description: LinesDescription,
        file: Option<&str>,
    ) -> &'static Self {
        let looks_like = looks_like.unwrap_or_else(|| {
            let shown = description.rules.iter().find(|rule| !rule.messages.is_empty()).map(|rule| rule.shown.as_str());
            format!("lines like {}", shown.unwrap_or_default())
        });
        let file = file.map(str::to_owned);
        let own = OnceLock::new();
        let format: &'static Self = Box::leak(Box::new(Self { name, looks_like, about, description, file, own }));
        let _ = format.own.set(format);
        format
    }

    /// Rules of the user's own that no line followed: how their pattern is written, whether they are about messages,
    /// and the line of the description.
    fn never_followed(&self, tally: &Tally) -> impl Iterator<Item = (&str, bool, usize)> {
        self.description.rules.iter().enumerate().filter_map(move |(number, rule)| {
            let count = tally.left_out.get(RULES + number).copied().unwrap_or(0);
            (count == 0).then_some((rule.shown.as_str(), !rule.messages.is_empty(), rule.line))
        })
    }
}

impl InOrder for DescribedLines {
    fn lines(&self, block: &Block, file: &FileFacts, memory: &mut Option<Memory>) -> Decoded {
        let mut sink = Sink::new(file, block);
        let mut reader = LineReader::new(&self.description, &mut sink, memory.as_mut());
        while reader.next() {}
        sink.finish()
    }
}

impl Format for DescribedLines {
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

    fn is_sign(&self, line: &[u8]) -> bool {
        self.description.is_sign(line)
    }

    fn begins_record(&self, line: &[u8]) -> bool {
        match &self.description.begins {
            Some(begins) => begins.is_match(line),
            // The lines inside a value written over several lines are indented, its last begins with its bracket.
            None => !matches!(line.first(), None | Some(b' ' | b'\t' | b'}' | b']' | b')' | b'\r' | b'\n')),
        }
    }

    fn reads_in_order(&self) -> bool {
        self.description.needs_memory()
    }

    fn records(&self, input: Input, file: &FileFacts) -> Option<Box<dyn Records>> {
        let own = self.own.get().filter(|_| self.reads_in_order())?;
        Some(Box::new(Lines::new(input, *own, file.clone())))
    }

    fn decode(&self, block: &Block, file: &FileFacts) -> Decoded {
        self.lines(block, file, &mut self.reads_in_order().then(Memory::default))
    }

    fn settle(&self, decoded: &mut Decoded, settled: &mut Settled) {
        settled.serve(decoded);
        if self.description.doubled {
            settled.drop_doubles(decoded, DOUBLED);
        }
    }

    fn remarks(&self, tally: &Tally) -> Vec<String> {
        let left_out = |reason: usize| tally.left_out.get(reason).copied().unwrap_or(0);
        let mut remarks: Vec<String> = [
            (left_out(BROKEN_PARTS), "parts of lines that should be messages and are none, left out"),
            (left_out(REPEATED), "messages that were reported twice, counted once"),
            (left_out(NO_REQUEST), "answers whose requests stand before the beginning of the file, left out"),
            (left_out(NO_MESSAGE), "values where messages stand that are none, left out"),
            (left_out(DOUBLED), "messages that two handlers of the log wrote, counted once"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        for (number, rule) in self.description.rules.iter().enumerate() {
            if let (count @ 1.., Some(note)) = (left_out(RULES + number), &rule.note) {
                remarks.push(format!("{count} {note}"));
            }
        }
        if let Some(file) = self.file.as_deref().filter(|_| tally.messages > 0) {
            remarks.extend(self.never_followed(tally).map(|(pattern, _, line)| {
                format!("`match` of [formats.{}] ({file}, line {line}): `{pattern}` matched no line", self.name)
            }));
        }
        remarks
    }

    fn misfit(&self, tally: &Tally) -> Option<String> {
        let file = self.file.as_deref()?;
        let lines = tally.lines - tally.blank;
        if tally.messages > 0 || lines == 0 {
            return None;
        }
        let never = self.never_followed(tally).find(|(_, message, _)| *message);
        Some(match never {
            Some((pattern, _, line)) => format!(
                "`match` of [formats.{}] ({file}, line {line}): `{pattern}` matched none of {lines} lines",
                self.name
            ),
            None => format!("what [formats.{}] ({file}) finds is no message in any of {lines} lines", self.name),
        })
    }
}
