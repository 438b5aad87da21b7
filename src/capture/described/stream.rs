//! Records that are no lines, or that have to be read one after the other.

use super::engine::{Memory, Outcome, Reader, bare_message};
use super::records::Description;
use crate::capture::blocks::{Blocks, Cut};
use crate::capture::detect::sides;
use crate::capture::elements::{Element, Elements};
use crate::capture::error::CaptureError;
use crate::capture::formats::Format;
use crate::capture::input::Input;
use crate::capture::records::{Records, Stretch};
use crate::capture::sink::{Block, Decoded, FileFacts, Sides, Sink};

/// Bytes of records given out at a time.
const STRETCH: usize = 1 << 20;

pub struct Stream {
    elements: Elements,
    description: &'static Description,
    file: FileFacts,
    name: &'static str,
    memory: Memory,
    position: u64,
    ended: bool,
    /// The array does not close.
    open_end: bool,
}

impl Stream {
    pub fn new(elements: Elements, description: &'static Description, file: FileFacts, name: &'static str) -> Self {
        let memory = Memory::default();
        Self { elements, description, file, name, memory, position: 0, ended: false, open_end: false }
    }

    /// The next elements, and why none follow where that is an error.
    fn read(&mut self) -> (Vec<Element>, Option<CaptureError>) {
        let (mut read, mut bytes) = (Vec::new(), 0);
        while !self.ended && bytes < STRETCH {
            match self.elements.next() {
                None => self.ended = true,
                Some(Element::Missing(reason)) => {
                    self.ended = true;
                    let (path, format) = (self.file.path.to_string(), self.name.to_owned());
                    return (read, Some(CaptureError::NotAsDescribed { path, format, detail: reason }));
                }
                Some(Element::Cut(rest)) if rest.trim_ascii().is_empty() => self.open_end = true,
                Some(element) => {
                    bytes += match &element {
                        Element::Text(text) | Element::Cut(text) => text.len(),
                        _ => STRETCH,
                    };
                    read.push(element);
                }
            }
        }
        (read, if self.ended { self.elements.take_error() } else { None })
    }

    fn decode(&mut self, read: &[Element]) -> Decoded {
        let (file, block) = (self.file.clone(), Block::none());
        let mut sink = Sink::new(&file, &block);
        for element in read {
            self.position += 1;
            match element {
                Element::Text(text) => {
                    sink.next_record(self.position, text.len());
                    let mut reader = Reader {
                        description: self.description,
                        sink: &mut sink,
                        memory: Some(&mut self.memory),
                        groups: Vec::new(),
                        from: 0,
                        around: None,
                        hollow: false,
                    };
                    match reader.record(text, 0) {
                        Outcome::Messages => sink.message_line(),
                        Outcome::Foreign if bare_message(&mut sink, text, 0) => sink.message_line(),
                        Outcome::Noise | Outcome::Foreign => sink.noise(),
                        Outcome::NoJson => {
                            sink.take_back();
                            let error = serde_json::from_slice::<serde::de::IgnoredAny>(text).err();
                            let said = error.map_or_else(|| "nested too deeply".to_owned(), |error| error.to_string());
                            sink.reject_record(format!("not valid JSON: {said}"), text);
                        }
                        Outcome::Rejected(reason) => {
                            sink.take_back();
                            sink.reject_record(reason, text);
                        }
                    }
                }
                Element::TooLong(size, begins) => {
                    sink.next_record(self.position, usize::try_from(*size).unwrap_or(usize::MAX));
                    sink.reject_record(format!("a record of {size} bytes, too long to be read"), begins);
                }
                Element::Cut(rest) => {
                    sink.next_record(self.position, rest.len());
                    sink.reject_record("cut off at the end of the file", rest);
                }
                Element::Missing(_) => {}
            }
        }
        sink.finish()
    }
}

impl Records for Stream {
    fn next(&mut self) -> Option<Stretch> {
        if self.ended {
            return None;
        }
        let begins = self.position == 0;
        let (read, error) = self.read();
        if read.is_empty() && error.is_none() {
            return None;
        }
        let mut decoded = self.decode(&read);
        if begins && self.file.sides == Sides::default() {
            // What relative words mean is seen when messages were read: those of the beginning are read again then.
            let found = sides(&decoded.tally, None);
            if found != Sides::default() {
                self.file.sides = found;
                self.position = 0;
                self.memory = Memory::default();
                decoded = self.decode(&read);
            }
        }
        Some(Stretch { decoded, error })
    }

    fn taken(&self) -> u64 {
        self.elements.taken()
    }

    fn notes(&mut self) -> Vec<String> {
        if self.open_end {
            vec!["its array does not close: the file was cut, or is still being written".to_owned()]
        } else {
            Vec::new()
        }
    }
}

/// A format whose lines may have to be read one after the other.
pub trait InOrder: Format {
    /// Reads a block of lines, with what is remembered of those before it.
    fn lines(&self, block: &Block, file: &FileFacts, memory: &mut Option<Memory>) -> Decoded;
}

/// Lines that have to be read one after the other.
pub struct Lines<F: InOrder + 'static> {
    blocks: Blocks,
    format: &'static F,
    file: FileFacts,
    memory: Option<Memory>,
    lines: u64,
    ended: bool,
}

impl<F: InOrder> Lines<F> {
    pub fn new(input: Input, format: &'static F, file: FileFacts) -> Self {
        let blocks = Blocks::new(input, format, STRETCH, Default::default());
        Self { blocks, format, file, memory: Some(Memory::default()), lines: 0, ended: false }
    }
}

impl<F: InOrder> Records for Lines<F> {
    fn next(&mut self) -> Option<Stretch> {
        let mut decoded = match self.blocks.next() {
            Some(Cut::Block(block)) => {
                let mut decoded = self.format.lines(&block, &self.file, &mut self.memory);
                if self.lines == 0 && self.file.sides == Sides::default() {
                    let found = sides(&decoded.tally, None);
                    if found != Sides::default() {
                        self.file.sides = found;
                        self.memory = Some(Memory::default());
                        decoded = self.format.lines(&block, &self.file, &mut self.memory);
                    }
                }
                decoded
            }
            Some(Cut::TooLong { bytes, begins }) => crate::capture::feed::too_long(bytes, &begins),
            None => {
                let error = if std::mem::replace(&mut self.ended, true) { None } else { self.blocks.take_error() };
                return error.map(|error| Stretch { decoded: Decoded::default(), error: Some(error) });
            }
        };
        for message in &mut decoded.messages {
            message.place.position += self.lines;
        }
        for rejected in &mut decoded.rejected {
            rejected.line += self.lines;
        }
        self.lines += decoded.tally.lines;
        Some(Stretch { decoded, error: None })
    }

    fn taken(&self) -> u64 {
        self.blocks.taken()
    }
}
