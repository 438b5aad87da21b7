//! Many files as one stream of messages, by time.
//!
//! Each file is consumed in its own reading order; what is merged is the running maximum of its times. Ties go by the
//! files' natural order, so that the result does not depend on how the paths were given.

use super::blocks::{Blocks, Buffers};
use super::error::CaptureError;
use super::feed::{self, Feed, Piece};
use super::formats::Format;
use super::input::Input;
use super::settle::Settled;
use super::sink::Tally;
use super::{FileInfo, Source, Sources};
use crate::protocol::message::{Message, Text, Ts};
use crate::schema::{FileRow, RejectedRow};
use jiff::tz::TimeZone;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Bytes of a block. With many files open at once the blocks are smaller, so that memory does not grow with them.
const BLOCK: usize = 1 << 20;
const SMALL_BLOCK: usize = 128 << 10;
/// Files from which on blocks are small.
const MANY: usize = 32;

/// How far a file was read, for a later run that goes on from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumed {
    pub path: PathBuf,
    pub shown: Text,
    /// Behind the last finished line (or last whole message), in bytes of the text; of a plain file also on disk.
    pub offset: u64,
    /// Lines before the offset.
    pub line: u64,
    /// Whether the offset is one on disk, so that reading can go on there.
    pub resumable: bool,
    /// [`super::fingerprint`] of what was read; 0 for pipes.
    pub fingerprint: u64,
}

/// What reading left behind.
#[derive(Debug, Default)]
pub struct ReadOutcome {
    /// One row per source, in the order of their indices.
    pub files: Vec<FileRow>,
    pub errors: Vec<CaptureError>,
    pub consumed: Vec<Consumed>,
}

/// A source being read.
struct Open {
    feed: Feed,
    messages: std::vec::IntoIter<Message>,
    next: Option<Message>,
    bytes: Option<Arc<Vec<u8>>>,
    key: Ts,
    /// Lines before the current block, and in it.
    line_base: u64,
    block_lines: u64,
    tally: Tally,
    format: &'static dyn Format,
    settled: Settled,
    offset: u64,
    finished_line: u64,
}

struct Reader<'r> {
    sources: Vec<Source>,
    open: Vec<Option<Open>>,
    outcome: Vec<Option<(FileRow, Consumed)>>,
    errors: Vec<CaptureError>,
    rejected: &'r mut dyn FnMut(RejectedRow),
    pool: Arc<ThreadPool>,
    buffers: Arc<Buffers>,
    progress: Arc<AtomicU64>,
    block: usize,
}

impl Sources {
    /// Reads everything: `each` gets the messages in order, `rejected` the records that could not be read. `progress`
    /// counts the bytes taken from disk.
    pub fn read(
        self,
        mut each: impl FnMut(Message, &FileInfo),
        mut rejected: impl FnMut(RejectedRow),
        progress: &Arc<AtomicU64>,
    ) -> ReadOutcome {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let pool = match ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => Arc::new(pool),
            Err(error) => {
                let source = std::io::Error::other(error);
                let error = CaptureError::Unreadable { path: "threads for reading".to_owned(), source };
                return ReadOutcome { errors: vec![error], ..ReadOutcome::default() };
            }
        };
        let infos: Vec<FileInfo> = self.sources.iter().map(|source| source.info.clone()).collect();
        let count = self.sources.len();
        let mut reader = Reader {
            sources: self.sources,
            open: (0..count).map(|_| None).collect(),
            outcome: (0..count).map(|_| None).collect(),
            errors: Vec::new(),
            rejected: &mut rejected,
            pool,
            buffers: Arc::new(Buffers::default()),
            progress: progress.clone(),
            block: if count < MANY { BLOCK } else { SMALL_BLOCK },
        };
        let (mut timed, mut untimed) = (VecDeque::new(), VecDeque::new());
        for (index, info) in infos.iter().enumerate() {
            match info.first_ts {
                Some(ts) => timed.push_back((ts, index)),
                None => untimed.push_back((Ts(i64::MIN), index)),
            }
        }
        timed.make_contiguous().sort();
        let mut give = |message: Message| {
            if let Some(info) = infos.get(message.place.file as usize) {
                each(message, info);
            }
        };
        reader.merge(timed, threads, &mut give);
        // Files without any time stand behind each other.
        while let Some(next) = untimed.pop_front() {
            for (_, index) in untimed.iter().take(threads - 1) {
                reader.start(*index);
            }
            reader.merge(VecDeque::from([next]), 1, &mut give);
        }
        let mut outcome = ReadOutcome { errors: reader.errors, ..ReadOutcome::default() };
        for (row, consumed) in reader.outcome.into_iter().flatten() {
            outcome.files.push(row);
            outcome.consumed.push(consumed);
        }
        outcome
    }
}

impl Reader<'_> {
    /// Merges sources by time. `pending` is sorted; a source is opened when the merge reaches its first time, and a
    /// few sooner, so that its first blocks are ready then.
    fn merge(&mut self, mut pending: VecDeque<(Ts, usize)>, ahead: usize, give: &mut dyn FnMut(Message)) {
        let mut heap: BinaryHeap<Reverse<(Ts, usize)>> = BinaryHeap::new();
        loop {
            while let Some(first) = pending.front().copied()
                && heap.peek().is_none_or(|Reverse(head)| first <= *head)
            {
                pending.pop_front();
                if self.begin(first.1, first.0) {
                    heap.push(Reverse(first));
                }
                for (_, index) in pending.iter().take(ahead.saturating_sub(1)) {
                    self.start(*index);
                }
            }
            let Some(Reverse((_, index))) = heap.pop() else { break };
            let limit = [heap.peek().map(|Reverse(head)| *head), pending.front().copied()].into_iter().flatten().min();
            if let Some(key) = self.emit(index, limit, give) {
                heap.push(Reverse((key, index)));
            }
        }
    }

    /// Opens a source and starts reading it.
    fn start(&mut self, index: usize) {
        if self.open.get(index).is_none_or(Option::is_some) || self.outcome.get(index).is_none_or(Option::is_some) {
            return;
        }
        let Some(source) = self.sources.get_mut(index) else { return };
        let format = source.format;
        let (offset, line) = source.resume;
        let input = match (source.open.take(), format) {
            (_, None) => None,
            (Some(input), _) => Some(Ok(input)),
            (None, _) => Some(Input::open(&source.path, &source.info.path, offset, &self.progress)),
        };
        match (input, format) {
            (Some(Ok(input)), Some(format)) => {
                let (facts, pool) = (source.facts.clone(), self.pool.clone());
                let pieces = if format.is_of_records() || format.reads_in_order() {
                    format.records(input, &facts).map(feed::Source::Records)
                } else {
                    let mut blocks = Blocks::new(input, format, self.block, self.buffers.clone());
                    if offset > 0 {
                        blocks.resume_at(offset);
                    }
                    Some(feed::Source::Lines(Box::new(blocks)))
                };
                let Some(pieces) = pieces else {
                    return self.close(index, &Tally::default(), 0, offset, line);
                };
                let feed = Feed::start(pieces, format, facts, pool, self.buffers.clone());
                let key = source.info.first_ts.unwrap_or(Ts(i64::MIN));
                let open = Open {
                    feed,
                    messages: Vec::new().into_iter(),
                    next: None,
                    bytes: None,
                    key,
                    line_base: line,
                    block_lines: 0,
                    tally: Tally::default(),
                    format,
                    settled: Settled::default(),
                    offset,
                    finished_line: line,
                };
                if let Some(slot) = self.open.get_mut(index) {
                    *slot = Some(open);
                }
            }
            (Some(Err(error)), _) => {
                self.errors.push(error);
                self.close(index, &Tally::default(), 0, offset, line);
            }
            _ => self.close(index, &Tally::default(), 0, offset, line),
        }
    }

    /// Brings a source to its first message. False where it has none.
    fn begin(&mut self, index: usize, key: Ts) -> bool {
        self.start(index);
        if let Some(Some(open)) = self.open.get_mut(index) {
            open.key = key;
        }
        self.advance(index)
    }

    /// Hands over messages while this source is the first in order; its next key, unless it has ended.
    fn emit(&mut self, index: usize, limit: Option<(Ts, usize)>, give: &mut dyn FnMut(Message)) -> Option<Ts> {
        loop {
            let open = self.open.get_mut(index)?.as_mut()?;
            if limit.is_some_and(|limit| (open.key, index) > limit) {
                return Some(open.key);
            }
            if let Some(message) = open.next.take() {
                give(message);
            }
            if !self.advance(index) {
                return None;
            }
        }
    }

    /// Takes the next message of a source, from the next block where one ended. False at the end of the source.
    fn advance(&mut self, index: usize) -> bool {
        loop {
            let Some(open) = self.open.get_mut(index).and_then(Option::as_mut) else { return false };
            if let Some(mut message) = open.messages.next() {
                message.place.position += open.line_base;
                open.key = open.key.max(message.ts.unwrap_or(open.key));
                open.next = Some(message);
                return true;
            }
            open.line_base += std::mem::take(&mut open.block_lines);
            let bytes = open.bytes.take();
            open.feed.give(bytes);
            let Some(piece) = open.feed.next() else {
                self.finish(index);
                return false;
            };
            let path = self.sources.get(index).map(|source| source.info.path.clone()).unwrap_or_default();
            open.take(piece, &path, self.rejected);
        }
    }

    fn finish(&mut self, index: usize) {
        let Some(open) = self.open.get_mut(index).and_then(Option::take) else { return };
        let end = open.feed.end();
        let disk_bytes = end.disk_bytes;
        self.errors.extend(end.error);
        if let Some(source) = self.sources.get_mut(index) {
            source.notes.extend(end.notes.into_iter().map(Text::from));
        }
        self.close(index, &open.tally, disk_bytes, open.offset, open.finished_line);
    }

    fn close(&mut self, index: usize, tally: &Tally, taken: u64, offset: u64, line: u64) {
        let Some(source) = self.sources.get(index) else { return };
        debug_assert!(tally.closes(), "every line is one thing: {tally:?}");
        let info = &source.info;
        let mut notes = source.notes.clone();
        notes.extend(remarks(tally).into_iter().map(Text::from));
        notes.extend(clocks(tally, source.facts.zone.as_ref()).map(Text::from));
        if let Some(format) = source.format {
            notes.extend(format.remarks(tally).into_iter().map(Text::from));
            if let Some(detail) = format.misfit(tally) {
                let (path, format) = (info.path.to_string(), info.format.to_owned());
                self.errors.push(CaptureError::NotAsDescribed { path, format, detail });
            }
        }
        let row = FileRow {
            file: info.path.clone(),
            format: info.format.into(),
            // Marks are of lines; formats of records are told by how they begin.
            format_version: source
                .format
                .and_then(|format| format.variant(tally.marks))
                .or_else(|| source.info.variant.clone().filter(|_| tally.marks == 0))
                .map(Text::from),
            why: info.why.as_str().into(),
            disk_bytes: if info.disk_bytes > 0 { info.disk_bytes } else { taken },
            bytes: tally.bytes,
            lines: tally.lines,
            message_lines: tally.message_lines,
            messages: tally.messages,
            other: tally.other,
            other_bytes: tally.other_bytes,
            noise: tally.noise,
            blank: tally.blank,
            continuation: tally.continuation,
            rejected: tally.rejected,
            duplicates: 0,
            duplicate_keys: tally.duplicate_keys,
            first_ts: tally.first_ts,
            last_ts: tally.last_ts,
            notes,
        };
        let consumed = Consumed {
            path: source.path.clone(),
            shown: info.path.clone(),
            offset,
            line,
            resumable: source.resumable,
            fingerprint: if info.disk_bytes == 0 { 0 } else { super::fingerprint(&source.path, offset).unwrap_or(0) },
        };
        if let Some(slot) = self.outcome.get_mut(index) {
            *slot = Some((row, consumed));
        }
    }
}

impl Open {
    fn take(&mut self, piece: Piece, path: &Text, rejected: &mut dyn FnMut(RejectedRow)) {
        let Piece { mut decoded, bytes, text_bytes, finished_bytes, absolute } = piece;
        self.format.settle(&mut decoded, &mut self.settled);
        self.block_lines = if absolute { 0 } else { decoded.tally.lines };
        self.offset += finished_bytes;
        self.finished_line += decoded.tally.lines - u64::from(finished_bytes < text_bytes);
        self.tally.add(&decoded.tally);
        for row in decoded.rejected {
            rejected(RejectedRow {
                file: path.clone(),
                position: self.line_base + row.line,
                reason: row.reason.into(),
                excerpt: row.excerpt.into(),
            });
        }
        self.messages = decoded.messages.into_iter();
        self.bytes = bytes;
    }
}

/// What a reader of the report should know about the file's lines.
fn remarks(tally: &Tally) -> Vec<String> {
    [
        (tally.padded, "lines with NUL bytes around them, left out"),
        (tally.not_utf8, "bodies with bytes that are not UTF-8, replaced by U+FFFD"),
        (tally.lossy_text, "strings that are no Unicode text, replaced by U+FFFD"),
        (tally.conflicts, "messages that only the other side sends than their record says"),
        (tally.odd_members, "members of batches that are no messages"),
        (tally.rejected_parts, "records with messages and a batch within a batch, which was rejected"),
        (
            tally.repaired,
            "messages repaired: quotes, entities or line breaks that pasting or a console had put in were undone, so that \
             values may differ from what was sent",
        ),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect()
}

/// How times without a zone were taken.
fn clocks(tally: &Tally, zone: Option<&TimeZone>) -> Option<String> {
    let taken = match zone {
        Some(zone) => format!("taken as {} (--timezone)", zone.iana_name().unwrap_or("given with --timezone")),
        None => "taken as UTC; --timezone says which zone they are in".to_owned(),
    };
    (tally.on_a_clock > 0).then(|| format!("{} times name no zone: {taken}", tally.on_a_clock))
}
