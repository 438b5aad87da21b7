//! The packets of an export, one at a time.

use super::{Layout, Tshark};
use crate::capture::blocks::{Blocks, Cut};
use crate::capture::elements::{Element, Elements};
use crate::capture::error::CaptureError;
use crate::capture::input::Input;
use crate::capture::sink::Block;

/// Bytes of lines read at a time.
const BLOCK: usize = 256 << 10;
/// How much of what cannot be read is shown.
const BEGINS: usize = 1024;

static EK: Tshark = Tshark(Layout::Ek);

/// One step of reading; positions count packets from 1.
pub enum Record {
    Frame { bytes: Vec<u8>, size: usize, position: u64 },
    Rejected { position: u64, size: usize, reason: String, excerpt: Vec<u8> },
    Broken(CaptureError),
}

pub struct Frames {
    source: Source,
    path: String,
    position: u64,
    /// Bytes of lines that only say where the next belongs.
    before: usize,
    broken: Option<CaptureError>,
    ended: bool,
}

enum Source {
    Lines(Box<Blocks>, Option<(Block, usize)>),
    Array(Box<Elements>),
}

impl Frames {
    pub fn new(input: Input, path: &str, layout: Layout) -> Self {
        let source = match layout {
            Layout::Ek => Source::Lines(Box::new(Blocks::new(input, &EK, BLOCK, Default::default())), None),
            Layout::Json => Source::Array(Box::new(Elements::new(input, &[]))),
        };
        Self { source, path: path.to_owned(), position: 0, before: 0, broken: None, ended: false }
    }

    pub fn taken(&self) -> u64 {
        match &self.source {
            Source::Lines(blocks, _) => blocks.taken(),
            Source::Array(elements) => elements.taken(),
        }
    }

    /// The next packet; `None` behind the last and behind [`Record::Broken`].
    pub fn next(&mut self) -> Option<Record> {
        if let Some(error) = self.broken.take() {
            return Some(Record::Broken(error));
        }
        if self.ended {
            return None;
        }
        match &mut self.source {
            Source::Lines(..) => self.line(),
            Source::Array(_) => self.element(),
        }
    }

    fn line(&mut self) -> Option<Record> {
        let Source::Lines(blocks, current) = &mut self.source else { return None };
        loop {
            let Some((block, at)) = current else {
                match blocks.next() {
                    Some(Cut::Block(block)) => *current = Some((block, 0)),
                    Some(Cut::TooLong { bytes, begins }) => {
                        self.position += 1;
                        let reason = format!("a packet of {bytes} bytes, longer than any that is read");
                        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
                        return Some(Record::Rejected { position: self.position, size, reason, excerpt: begins });
                    }
                    None => {
                        self.ended = true;
                        return blocks.take_error().map(Record::Broken);
                    }
                }
                continue;
            };
            let rest = block.text().get(*at..).unwrap_or_default();
            if rest.is_empty() {
                *current = None;
                continue;
            }
            let size = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let text = rest.get(..size).unwrap_or_default().trim_ascii();
            *at += size;
            self.before += size;
            if text.is_empty() || text.starts_with(b"{\"index\":") {
                continue;
            }
            self.position += 1;
            let (bytes, size) = (text.to_vec(), std::mem::take(&mut self.before));
            return Some(Record::Frame { bytes, size, position: self.position });
        }
    }

    fn element(&mut self) -> Option<Record> {
        let Source::Array(elements) = &mut self.source else { return None };
        let element = elements.next()?;
        self.position += 1;
        let position = self.position;
        let excerpt = |bytes: &[u8]| {
            let text =
                String::from_utf8_lossy(bytes.get(..bytes.len().min(4 * BEGINS)).unwrap_or_default()).into_owned();
            text.split_ascii_whitespace().collect::<Vec<_>>().join(" ").into_bytes()
        };
        Some(match element {
            Element::Text(bytes) => Record::Frame { size: bytes.len(), bytes, position },
            Element::TooLong(size, begins) => Record::Rejected {
                position,
                size: usize::try_from(size).unwrap_or(usize::MAX),
                reason: format!("a packet of {size} bytes, longer than any that is read"),
                excerpt: excerpt(&begins),
            },
            Element::Missing(reason) => self.stop("its beginning".to_owned(), &reason),
            Element::Cut(rest) if rest.is_empty() => {
                let place = format!("behind packet {}", position - 1);
                self.stop(place, "the file ends before its array does")
            }
            Element::Cut(rest) => {
                if let Record::Broken(error) = self.stop(format!("packet {position}"), "the file ends inside it") {
                    self.broken = Some(error);
                }
                let reason = "cut off at the end of the file".to_owned();
                Record::Rejected { position, size: rest.len(), reason, excerpt: excerpt(&rest) }
            }
        })
    }

    /// Why nothing follows. Damaged compression says more than that the text ends.
    fn stop(&mut self, place: String, detail: &str) -> Record {
        self.ended = true;
        let known = match &mut self.source {
            Source::Array(elements) => elements.take_error(),
            Source::Lines(..) => None,
        };
        let cut = CaptureError::Cut { path: self.path.clone(), place, detail: detail.to_owned() };
        Record::Broken(known.unwrap_or(cut))
    }
}
