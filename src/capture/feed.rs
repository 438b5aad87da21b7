//! Pieces of one file, read in order, decoded on all cores, handed over in order.
//!
//! A task reads a block, lets the next task read on, and decodes its own: reading, decoding and the consumer overlap,
//! and no more than a few blocks of a file are ever in memory. Records that are no lines are read and decoded by one
//! task after the other.

use super::blocks::{Blocks, Buffers, Cut, LONGEST_LINE};
use super::error::CaptureError;
use super::formats::Format;
use super::records::{Records, Stretch};
use super::sink::{Decoded, FileFacts, Rejected};
use rayon::ThreadPool;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks of one file that may be read ahead of the consumer.
const AHEAD: usize = 4;

/// One block's worth of messages. The bytes are given back when the messages are done with.
pub struct Piece {
    pub decoded: Decoded,
    pub bytes: Option<Arc<Vec<u8>>>,
    /// Bytes of the text, and how many of them belong to lines that are finished.
    pub text_bytes: u64,
    pub finished_bytes: u64,
    /// Positions count from the beginning of the file, not of the piece.
    pub absolute: bool,
}

/// What is left to say when a file ends.
pub struct End {
    pub disk_bytes: u64,
    pub error: Option<CaptureError>,
    /// Remarks of the reader.
    pub notes: Vec<String>,
}

/// Where pieces come from.
pub enum Source {
    Lines(Box<Blocks>),
    /// `None` when nothing follows.
    Records(Box<dyn Records>),
}

/// What was read and is not decoded yet.
enum Taken {
    Cut(Cut),
    Stretch(Box<Decoded>),
}

impl Source {
    fn next(&mut self, ended: &mut Option<CaptureError>) -> Option<Taken> {
        if ended.is_some() {
            return None;
        }
        match self {
            Self::Lines(blocks) => blocks.next().map(Taken::Cut),
            Self::Records(records) => {
                let Stretch { decoded, error } = records.next()?;
                *ended = error;
                Some(Taken::Stretch(Box::new(decoded)))
            }
        }
    }

    fn taken(&self) -> u64 {
        match self {
            Self::Lines(blocks) => blocks.taken(),
            Self::Records(records) => records.taken(),
        }
    }

    fn take_error(&mut self) -> Option<CaptureError> {
        match self {
            Self::Lines(blocks) => blocks.take_error(),
            Self::Records(_) => None,
        }
    }

    fn notes(&mut self) -> Vec<String> {
        match self {
            Self::Lines(_) => Vec::new(),
            Self::Records(records) => records.notes(),
        }
    }
}

struct Shared {
    /// With what ended it before its time.
    source: Mutex<(Source, Option<CaptureError>)>,
    queue: Mutex<Queue>,
    ready: Condvar,
    format: &'static dyn Format,
    facts: FileFacts,
}

#[derive(Default)]
struct Queue {
    /// Number of the next block to be read, and to be handed over.
    read: u64,
    given: u64,
    done: BTreeMap<u64, Piece>,
    reading: bool,
    end: Option<End>,
}

pub struct Feed {
    shared: Arc<Shared>,
    pool: Arc<ThreadPool>,
    buffers: Arc<Buffers>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Feed {
    /// Starts reading.
    pub fn start(
        source: Source,
        format: &'static dyn Format,
        facts: FileFacts,
        pool: Arc<ThreadPool>,
        buffers: Arc<Buffers>,
    ) -> Self {
        let queue = Queue { reading: true, ..Queue::default() };
        let shared = Arc::new(Shared {
            source: Mutex::new((source, None)),
            queue: Mutex::new(queue),
            ready: Condvar::new(),
            format,
            facts,
        });
        spawn(&pool, &shared);
        Self { shared, pool, buffers }
    }

    /// The next block's messages; `None` at the end.
    pub fn next(&mut self) -> Option<Piece> {
        let mut queue = lock(&self.shared.queue);
        loop {
            let wanted = queue.given;
            if let Some(piece) = queue.done.remove(&wanted) {
                queue.given += 1;
                if !queue.reading && queue.end.is_none() {
                    queue.reading = true;
                    spawn(&self.pool, &self.shared);
                }
                return Some(piece);
            }
            if queue.end.is_some() && wanted == queue.read {
                return None;
            }
            queue = self.shared.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives back a block's bytes when its messages were handed over.
    pub fn give(&self, bytes: Option<Arc<Vec<u8>>>) {
        if let Some(bytes) = bytes {
            self.buffers.give(bytes);
        }
    }

    /// After the last block: how the file ended.
    pub fn end(self) -> End {
        lock(&self.shared.queue).end.take().unwrap_or(End { disk_bytes: 0, error: None, notes: Vec::new() })
    }
}

fn spawn(pool: &Arc<ThreadPool>, shared: &Arc<Shared>) {
    let (next_pool, shared) = (Arc::downgrade(pool), shared.clone());
    pool.spawn(move || {
        let Some(pool) = next_pool.upgrade() else { return };
        work(&pool, &shared);
    });
}

/// Reads a block, has the next one read, and decodes.
fn work(pool: &Arc<ThreadPool>, shared: &Arc<Shared>) {
    let (taken, end) = {
        let mut guard = lock(&shared.source);
        let (source, ended) = &mut *guard;
        let taken = source.next(ended);
        let end = taken.is_none().then(|| End {
            disk_bytes: source.taken(),
            error: ended.take().or_else(|| source.take_error()),
            notes: source.notes(),
        });
        (taken, end)
    };
    let Some(taken) = taken else {
        let mut queue = lock(&shared.queue);
        queue.reading = false;
        queue.end = end;
        shared.ready.notify_all();
        return;
    };
    let number = {
        let mut queue = lock(&shared.queue);
        let number = queue.read;
        queue.read += 1;
        queue.reading = queue.read - queue.given < AHEAD as u64;
        if queue.reading {
            spawn(pool, shared);
        }
        number
    };
    let piece = decode(shared, taken);
    lock(&shared.queue).done.insert(number, piece);
    shared.ready.notify_all();
}

fn decode(shared: &Shared, taken: Taken) -> Piece {
    match taken {
        Taken::Stretch(decoded) => {
            let bytes = decoded.tally.bytes;
            Piece { decoded: *decoded, bytes: None, text_bytes: bytes, finished_bytes: bytes, absolute: true }
        }
        Taken::Cut(Cut::Block(block)) => {
            let decoded = shared.format.decode(&block, &shared.facts);
            let text = block.text();
            // A last line without line feed may still grow, unless it is a whole message.
            let finished = match text.last() {
                Some(b'\n') => text.len(),
                _ if decoded.messages.last().is_some_and(|last| last.place.position == decoded.tally.lines) => {
                    text.len()
                }
                _ => memchr::memrchr(b'\n', text).map_or(0, |at| at + 1),
            };
            let (text_bytes, finished_bytes) = (text.len() as u64, finished as u64);
            Piece { decoded, bytes: Some(block.bytes), text_bytes, finished_bytes, absolute: false }
        }
        Taken::Cut(Cut::TooLong { bytes, begins }) => {
            let decoded = too_long(bytes, &begins);
            Piece { decoded, bytes: None, text_bytes: bytes, finished_bytes: bytes, absolute: false }
        }
    }
}

/// A line that is longer than any that is read.
pub fn too_long(bytes: u64, begins: &[u8]) -> Decoded {
    let mut decoded = Decoded::default();
    decoded.tally.bytes = bytes;
    decoded.tally.lines = 1;
    decoded.tally.rejected = 1;
    decoded.rejected.push(Rejected {
        line: 1,
        reason: format!("a line of {bytes} bytes; the longest that is read has {} MiB", LONGEST_LINE >> 20),
        excerpt: String::from_utf8_lossy(begins).chars().take(200).collect(),
    });
    decoded
}
