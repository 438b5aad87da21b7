//! Cuts text into blocks at line feeds.

use super::error::CaptureError;
use super::formats::Format;
use super::input::Input;
use super::sink::Block;
use std::sync::{Arc, Mutex, PoisonError};

/// A line longer than this is no record: it is skipped without being held.
pub const LONGEST_LINE: usize = 256 << 20;
/// How much of the next line has to be seen to tell whether a record begins there.
const LOOK: usize = 64;
/// Buffers larger than this (a long line made them grow) are given back to the system.
const KEPT: usize = 4 << 20;

/// Buffers used again and again, over all files.
#[derive(Default)]
pub struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    /// A buffer of at least `size` bytes.
    fn take(&self, size: usize) -> Vec<u8> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffer = kept.unwrap_or_default();
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        buffer
    }

    /// Gives a block back, unless somebody still holds on to it.
    pub fn give(&self, block: Arc<Vec<u8>>) {
        if let Ok(buffer) = Arc::try_unwrap(block)
            && buffer.len() <= KEPT
        {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}

pub enum Cut {
    Block(Block),
    /// A line that is too long: its bytes, and how it begins.
    TooLong {
        bytes: u64,
        begins: Vec<u8>,
    },
}

pub struct Blocks {
    input: Input,
    format: &'static dyn Format,
    size: usize,
    longest: usize,
    buffers: Arc<Buffers>,
    /// The beginning of the next block.
    carry: Vec<u8>,
    /// Where that is in the text.
    offset: u64,
    first: bool,
    /// Nothing more can be read; the error, if that is why.
    ended: bool,
    error: Option<CaptureError>,
}

impl Blocks {
    pub fn new(input: Input, format: &'static dyn Format, size: usize, buffers: Arc<Buffers>) -> Self {
        let longest = LONGEST_LINE;
        Self {
            input,
            format,
            size,
            longest,
            buffers,
            carry: Vec::new(),
            offset: 0,
            first: true,
            ended: false,
            error: None,
        }
    }

    /// Bytes read from the disk.
    pub fn taken(&self) -> u64 {
        self.input.taken()
    }

    /// Says that the input begins at an offset of the text, and drops a line feed that comes next: a resumed file goes on
    /// behind a line whose end was not there yet.
    pub fn resume_at(&mut self, offset: u64) {
        self.offset = offset;
        let mut byte = [0];
        match self.input.fill(&mut byte) {
            Ok(1) if byte != *b"\n" => self.carry.extend(byte),
            Ok(1) => self.offset += 1,
            Ok(_) => {}
            Err((_, error)) => self.fail(error),
        }
    }

    fn fail(&mut self, error: CaptureError) {
        self.ended = true;
        self.error = Some(error);
    }

    /// The next block; `None` at the end, or where reading failed: then `error` says why.
    pub fn next(&mut self) -> Option<Cut> {
        let mut buffer = self.buffers.take(self.size.max(self.carry.len() + LOOK));
        let mut used = self.carry.len();
        buffer.get_mut(..used)?.copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            if !self.ended {
                match self.input.fill(buffer.get_mut(used..).unwrap_or_default()) {
                    Ok(count) => used += count,
                    Err((count, error)) => {
                        used += count;
                        self.fail(error);
                    }
                }
                self.ended |= used < buffer.len();
            }
            let filled = buffer.get(..used).unwrap_or_default();
            if self.ended {
                if filled.is_empty() {
                    return None;
                }
                return Some(self.cut(buffer, used, used, true));
            }
            if let Some(end) = self.end(filled) {
                return Some(self.cut(buffer, used, end, false));
            }
            if used >= self.longest {
                return Some(self.too_long(buffer, used));
            }
            let larger = (buffer.len() * 2).min(self.longest + LOOK);
            buffer.resize(larger, 0);
        }
    }

    /// Why reading ended early.
    pub fn take_error(&mut self) -> Option<CaptureError> {
        self.error.take()
    }

    /// Where the block ends: behind the last line feed that a new record follows, else behind the last line feed.
    fn end(&self, filled: &[u8]) -> Option<usize> {
        let last = memchr::memrchr(b'\n', filled)? + 1;
        let mut end = last;
        // A record of more lines than half a block is cut anyway.
        while end > filled.len() / 2 {
            let next = filled.get(end..).unwrap_or_default();
            let seen = next.len() >= LOOK || memchr::memchr(b'\n', next).is_some();
            if seen && self.format.begins_record(next.get(..LOOK).unwrap_or(next)) {
                return Some(end);
            }
            end = memchr::memrchr(b'\n', filled.get(..end - 1)?).map_or(0, |at| at + 1);
        }
        Some(last)
    }

    fn cut(&mut self, buffer: Vec<u8>, used: usize, end: usize, last: bool) -> Cut {
        self.carry.extend_from_slice(buffer.get(end..used).unwrap_or_default());
        let first = std::mem::take(&mut self.first);
        // A file that could not be read on did not end here.
        let last = last && self.error.is_none();
        let offset = self.offset;
        self.offset += end as u64;
        Cut::Block(Block { bytes: Arc::new(buffer), offset, used: end, first, last })
    }

    fn too_long(&mut self, mut buffer: Vec<u8>, used: usize) -> Cut {
        let begins = buffer.get(..1024).unwrap_or_default().to_vec();
        let mut bytes = used as u64;
        self.first = false;
        buffer.truncate(self.size);
        buffer.shrink_to_fit();
        loop {
            let count = match self.input.fill(&mut buffer) {
                Ok(count) => count,
                Err((count, error)) => {
                    self.fail(error);
                    count
                }
            };
            self.ended |= count < buffer.len();
            let filled = buffer.get(..count).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', filled) {
                bytes += at as u64 + 1;
                self.carry.extend_from_slice(filled.get(at + 1..).unwrap_or_default());
                break;
            }
            bytes += count as u64;
            if self.ended {
                break;
            }
        }
        self.offset += bytes;
        Cut::TooLong { bytes, begins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Text that is not in memory: lines around one that is longer than allowed.
    fn cuts(longest: usize, long: u64) -> Vec<(u64, bool)> {
        let text = b"{}\n{}\n".chain(std::io::repeat(b'x').take(long)).chain(b"\n{}\n{}".as_slice());
        let input = Input::new(text, "x", &Arc::default()).unwrap();
        let format = super::super::formats::Formats::default().named("jsonrpc")[0];
        let mut blocks = Blocks::new(input, format, 1 << 12, Arc::default());
        blocks.longest = longest;
        let mut cuts = Vec::new();
        while let Some(cut) = blocks.next() {
            cuts.push(match cut {
                Cut::Block(block) => (block.used as u64, false),
                Cut::TooLong { bytes, begins } => {
                    assert!(begins.len() <= 1024 && begins.iter().all(|byte| *byte == b'x'));
                    (bytes, true)
                }
            });
        }
        assert!(blocks.take_error().is_none());
        assert_eq!(cuts.iter().map(|(bytes, _)| bytes).sum::<u64>(), 6 + long + 6);
        cuts
    }

    #[test]
    fn a_line_longer_than_allowed_is_skipped_and_its_neighbours_are_not() {
        assert_eq!(cuts(1 << 16, 1 << 24), [(6, false), ((1 << 24) + 1, true), (5, false)]);
    }

    #[test]
    fn a_line_longer_than_a_block_is_kept_whole() {
        assert_eq!(cuts(1 << 16, 1 << 15), [(6, false), ((1 << 15) + 6, false)]);
    }
}
