//! What tshark prints of packets: `-T ek` (a line for each, with or without `-x`) and `-T json` (one array).
//!
//! tshark has put TCP together and taken HTTP apart; a message stands with the packet that ends it.

mod exchange;
mod fields;
mod frames;

use super::{About, Format};
use crate::capture::error::CaptureError;
use crate::capture::http::{self, Body, Exchanges, HttpExchange, Item, Leg};
use crate::capture::input::Input;
use crate::capture::records::{Recognised, Records};
use crate::capture::sink::FileFacts;
use crate::capture::skim::Cursor;
use crate::protocol::message::Ts;
use exchange::{Counts, Dissected, Side};
use fields::Frame;
use frames::{Frames, Record};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Requests that wait for their answer, and the bytes that they hold.
const WAITING: usize = 1 << 14;
const WAITING_BYTES: usize = 256 << 20;

/// How packets are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Ek,
    Json,
}

pub struct Tshark(pub Layout);

impl Format for Tshark {
    fn name(&self) -> &'static str {
        match self.0 {
            Layout::Ek => "tshark-ek",
            Layout::Json => "tshark-json",
        }
    }

    fn looks_like(&self) -> &'static str {
        match self.0 {
            Layout::Ek => "{\"timestamp\":…,\"layers\":{\"frame\":{…},…,\"http\":{\"http_http_request_method\":…}}}",
            Layout::Json => "[{\"_index\":\"packets-…\",\"_source\":{\"layers\":{\"frame\":{…},…,\"http\":{…}}}}]",
        }
    }

    fn about(&self) -> About {
        let what = match self.0 {
            Layout::Ek => "packets as lines of JSON (tshark -T ek, with or without -x)",
            Layout::Json => "packets as one JSON array (tshark -T json, Wireshark's export)",
        };
        About {
            what: what.into(),
            writer: "tshark, Wireshark".into(),
            bodies: "yes, of HTTP/1 that is not encrypted or was decrypted; answers that had not ended are not there"
                .into(),
            values: "yes; other letters than ASCII as far as the packets' bytes or their JSON are there (-x holds all)"
                .into(),
            times: "when a message had come; messages inside an event stream stand between".into(),
            direction: "request or answer".into(),
            session: "the header Mcp-Session-Id, else the address (2024-11-05)".into(),
        }
    }

    fn recognise(&self, head: &[u8], whole: bool) -> Option<Recognised> {
        let why = match self.0 {
            Layout::Ek => "its lines are packets with `layers`, as tshark -T ek prints them",
            Layout::Json => "it is an array of packets with `_source` and `layers`, as tshark -T json prints it",
        };
        is_layout(self.0, head).then(|| {
            let (first_ts, raw) = beginning(self.0, head, whole);
            Recognised { why: why.to_owned(), variant: raw.then(|| "with bytes (-x)".to_owned()), first_ts }
        })
    }

    fn records(&self, input: Input, file: &FileFacts) -> Option<Box<dyn Records>> {
        Some(http::records(Box::new(Export::new(Frames::new(input, &file.path, self.0))), file))
    }

    fn is_of_records(&self) -> bool {
        true
    }
}

/// Whether a file begins with packets in this layout; it may end anywhere behind the first name inside `layers`.
fn is_layout(layout: Layout, head: &[u8]) -> bool {
    let first = || -> Option<()> {
        let mut cursor = Cursor::new(head, 0);
        match layout {
            Layout::Json => {
                cursor.take(b'[')?;
                enter(&mut cursor, b"_source")?;
                enter(&mut cursor, b"layers")
            }
            Layout::Ek => {
                // A line that says where the next belongs, if the export is as it was printed.
                let mut behind = Cursor::new(head, 0);
                if enter(&mut behind, b"index").is_some() {
                    cursor.value()?;
                }
                enter(&mut cursor, b"layers")
            }
        }
    };
    first().is_some()
}

/// Steps into the object that is a member of the next object.
fn enter(cursor: &mut Cursor<'_>, wanted: &[u8]) -> Option<()> {
    cursor.take(b'{')?;
    let mut first = true;
    while let Some(name) = cursor.member(&mut first)? {
        if name.of(cursor.bytes()) == wanted {
            return (cursor.peek()? == b'{').then_some(());
        }
        cursor.value()?;
    }
    None
}

/// The earliest time of the packets that are seen, and whether their bytes are there.
fn beginning(layout: Layout, head: &[u8], whole: bool) -> (Option<Ts>, bool) {
    let bytes =
        if whole { head.to_vec() } else { head.get(..head.len().saturating_sub(1)).unwrap_or_default().to_vec() };
    let raw = memchr::memmem::find(head, b"\"frame_raw\"").is_some();
    let Ok(input) = Input::new(std::io::Cursor::new(bytes), "", &Default::default()) else { return (None, raw) };
    let mut frames = Frames::new(input, "", layout);
    let mut earliest = None;
    while let Some(Record::Frame { bytes, .. }) = frames.next() {
        let ts = Frame::read(&bytes).ok().and_then(|frame| frame.ts);
        earliest = [earliest, ts].into_iter().flatten().min();
    }
    (earliest, raw)
}

/// A request that waits.
struct Waiting {
    asked: Dissected,
    size: usize,
}

/// The exchanges of an export.
struct Export {
    frames: Frames,
    /// Requests in the order of the file; their numbers by frame and by TCP stream.
    waiting: BTreeMap<u64, Waiting>,
    by_frame: HashMap<u64, u64, ahash::RandomState>,
    by_stream: HashMap<String, VecDeque<u64>, ahash::RandomState>,
    next: u64,
    bytes: usize,
    limits: (usize, usize),
    items: VecDeque<Item>,
    counts: Counts,
    broken: Option<CaptureError>,
    ended: bool,
}

impl Export {
    fn new(frames: Frames) -> Self {
        Self {
            frames,
            waiting: BTreeMap::new(),
            by_frame: HashMap::default(),
            by_stream: HashMap::default(),
            next: 0,
            bytes: 0,
            limits: (WAITING, WAITING_BYTES),
            items: VecDeque::new(),
            counts: Counts::default(),
            broken: None,
            ended: false,
        }
    }

    fn step(&mut self) {
        match self.frames.next() {
            None => self.finish(),
            Some(Record::Broken(error)) => {
                self.broken = Some(error);
                self.finish();
            }
            Some(Record::Rejected { position, size, reason, excerpt }) => {
                self.items.push_back(Item::Rejected { position, size, reason, excerpt });
            }
            Some(Record::Frame { bytes, size, position }) => match Frame::read(&bytes) {
                Ok(frame) => self.take(frame, size, position),
                Err(reason) => {
                    let excerpt = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect::<Vec<_>>();
                    let excerpt = excerpt.concat().into_iter().take(1024).collect();
                    self.items.push_back(Item::Rejected { position, size, reason, excerpt });
                }
            },
        }
    }

    fn take(&mut self, mut frame: Frame, size: usize, ordinal: u64) {
        let position = frame.number.unwrap_or(ordinal);
        let found = exchange::messages(&mut frame, &mut self.counts);
        if found.is_empty() {
            return self.items.push_back(Item::Other { position, size });
        }
        // The packet counts with the first message it carries.
        let mut own = Some(size);
        for mut message in found {
            message.position = position;
            let size = own.take();
            match message.side {
                Side::Request { .. } => self.ask(message, size),
                Side::Answer { .. } => self.answer(message, size),
            }
        }
    }

    fn ask(&mut self, asked: Dissected, size: Option<usize>) {
        let number = self.next;
        self.next += 1;
        self.by_frame.insert(asked.position, number);
        if let Some(stream) = &asked.stream {
            self.by_stream.entry(stream.clone()).or_default().push_back(number);
        }
        self.bytes += asked.weight();
        let mut asked = asked;
        asked.shared = size.is_none();
        self.waiting.insert(number, Waiting { asked, size: size.unwrap_or(0) });
        while self.waiting.len() > self.limits.0 || self.bytes > self.limits.1 {
            let Some((&oldest, _)) = self.waiting.first_key_value() else { break };
            self.counts.let_go += 1;
            self.give(Some(oldest), None);
        }
    }

    fn answer(&mut self, answer: Dissected, size: Option<usize>) {
        let named = answer.answers.map(|frame| self.by_frame.get(&frame).copied());
        let number = match named {
            Some(number) => number,
            // tshark does not say which request: the oldest of its connection.
            None => answer.stream.as_ref().and_then(|stream| self.by_stream.get(stream)?.front().copied()),
        };
        self.give(number, Some((answer, size)));
    }

    /// Gives out an exchange of a request, an answer, or both.
    fn give(&mut self, number: Option<u64>, answer: Option<(Dissected, Option<usize>)>) {
        let waiting = number.and_then(|number| self.forget(number));
        let mut exchange = HttpExchange::default();
        match waiting {
            Some(Waiting { asked, size }) => {
                (exchange.position, exchange.size, exchange.shared) = (asked.position, size, asked.shared);
                if let Side::Request { method, url } = asked.side {
                    (exchange.method, exchange.url) = (method, url);
                }
                exchange.request = asked.leg;
                match answer {
                    Some((answer, size)) => {
                        exchange.more = u64::from(size.is_some());
                        exchange.size += size.unwrap_or(0);
                        if let Side::Answer { status, .. } = answer.side {
                            exchange.status = status;
                        }
                        exchange.response = Some(answer.leg);
                    }
                    None => {
                        self.counts.without_answer += 1;
                        exchange.response = Some(Leg { body: Body::NotStored, ..Leg::default() });
                    }
                }
            }
            None => {
                let Some((answer, size)) = answer else { return };
                self.counts.only_answers += 1;
                (exchange.position, exchange.size, exchange.shared) =
                    (answer.position, size.unwrap_or(0), size.is_none());
                if let Side::Answer { status, url } = answer.side {
                    exchange.status = status;
                    exchange.url = url.unwrap_or_default();
                }
                if exchange.url.is_empty() {
                    exchange.server = answer.server.map(Into::into);
                }
                exchange.response = Some(answer.leg);
            }
        }
        self.items.push_back(Item::Exchange(Box::new(exchange)));
    }

    fn forget(&mut self, number: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(waiting.asked.weight());
        if self.by_frame.get(&waiting.asked.position) == Some(&number) {
            self.by_frame.remove(&waiting.asked.position);
        }
        if let Some(stream) = &waiting.asked.stream
            && let Some(queue) = self.by_stream.get_mut(stream)
        {
            if queue.front() == Some(&number) {
                queue.pop_front();
            } else {
                queue.retain(|known| *known != number);
            }
            if queue.is_empty() {
                self.by_stream.remove(stream);
            }
        }
        Some(waiting)
    }

    fn finish(&mut self) {
        self.ended = true;
        while let Some((&oldest, _)) = self.waiting.first_key_value() {
            self.give(Some(oldest), None);
        }
        self.items.extend(self.broken.take().map(Item::Broken));
    }
}

impl Exchanges for Export {
    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Some(item);
            }
            if self.ended {
                return None;
            }
            self.step();
        }
    }

    fn taken(&self) -> u64 {
        self.frames.taken()
    }

    fn notes(&mut self) -> Vec<String> {
        self.counts.notes()
    }
}
