//! One direction of a TCP connection: segments as they were captured become bytes in the order they were sent.
//!
//! Source: RFC 9293. What was captured first counts; bytes that never were captured are a gap.

use crate::protocol::message::Ts;
use std::collections::{BTreeMap, VecDeque};

/// Bytes and pieces held back because bytes before them are missing: more than a receiver's window usually is.
const HELD_BYTES: usize = 16 << 20;
const HELD_PIECES: usize = 1 << 13;
/// Packets of the connection, or microseconds, for which missing bytes that their receiver has confirmed may still come:
/// recorders that read several queues write packets a little out of order.
const PATIENCE: u32 = 32;
const PATIENCE_MICROS: i64 = 1_000_000;
/// Microseconds for which bytes that nobody confirmed may still be sent again.
const UNCONFIRMED_MICROS: i64 = 10_000_000;
/// Segments whose content is remembered to see whether they are repeated with another.
const REMEMBERED: usize = 32;
/// A segment further ahead than any window (1 GiB, RFC 7323) can be belongs to another connection.
const FARTHEST: u64 = 1 << 30;

/// The packet that bytes came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    pub frame: u64,
    pub size: usize,
    pub ts: Option<Ts>,
    /// Where the other direction stood for the packet's sender.
    pub acknowledged: u64,
}

/// The packets that carry a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Records {
    /// The first packet; 0 where there is none.
    pub position: u64,
    pub size: usize,
    /// Packets behind the first that no earlier message is in.
    pub more: u64,
    /// An earlier message is in the first.
    pub shared: bool,
}

impl Records {
    /// A packet carries this message. `own` says that no message has it yet.
    pub fn take(&mut self, mark: &Mark, own: &mut bool) {
        let own = std::mem::take(own);
        if self.position == 0 {
            self.position = mark.frame;
            self.shared = !own;
        } else {
            self.more += u64::from(own);
        }
        if own {
            self.size += mark.size;
        }
    }

    /// Packets that are counted with this message.
    pub fn count(&self) -> u64 {
        self.more + u64::from(self.position > 0 && !self.shared)
    }
}

/// Bytes that came too early.
#[derive(Debug)]
struct Held {
    bytes: Vec<u8>,
    mark: Mark,
    /// No other piece of the packet was taken.
    own: bool,
    /// It begins the packet.
    starts: bool,
    /// Bytes behind these that were sent and not captured.
    missing: u64,
}

/// What comes next in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Give them out, then [`Stream::pass`]. They may begin their packet, which was not given out yet where it is `own`.
    Bytes { bytes: Vec<u8>, starts: bool, mark: Mark, own: bool },
    /// So many bytes were not captured.
    Gap(u64),
    /// Everything up to the end was given out.
    End,
}

/// What became of a segment.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// In order, from this offset of its payload on: give it out, then [`Stream::pass`].
    Now(usize),
    /// Kept for later.
    Later,
    /// Nothing in it is new; whether it differs from what came first.
    Repeated(bool),
    /// It cannot be of this connection.
    Elsewhere,
}

#[derive(Debug, Default)]
pub struct Stream {
    /// Where the next byte stands; sequence numbers continued beyond 32 bits. `None` until anything is known.
    next: Option<u64>,
    /// The sequence number of the first byte, where its SYN was captured.
    first: Option<u32>,
    /// The first byte sent is known, or one that was captured.
    anchored: bool,
    /// Where the receiver stands.
    confirmed: u64,
    held: BTreeMap<u64, Held>,
    held_bytes: usize,
    /// Where the stream ends.
    end: Option<u64>,
    ended: bool,
    /// Since when bytes are missing: time, and packets of the connection since.
    waiting: Option<(Option<Ts>, u32)>,
    recent: VecDeque<(u64, usize, u64)>,
    hasher: ahash::RandomState,
}

impl Stream {
    /// Where a sequence number stands.
    fn place(&self, sequence: u32) -> u64 {
        match self.next {
            // The nearest place with these lower 32 bits.
            Some(next) => {
                let ahead = sequence.wrapping_sub(next as u32).cast_signed();
                next.saturating_add_signed(i64::from(ahead))
            }
            // Room below, for what was sent before.
            None => (1 << 32) + u64::from(sequence),
        }
    }

    /// A SYN names the sequence number before the first byte's. False where the addresses are used anew.
    pub fn begins_at(&mut self, sequence: u32) -> bool {
        let first = sequence.wrapping_add(1);
        if self.anchored || self.next.is_some_and(|next| self.place(first) != next) {
            return self.first == Some(first);
        }
        self.next = Some(self.place(first));
        self.first = Some(first);
        self.anchored = true;
        true
    }

    /// Its beginning was captured.
    pub fn has_begun(&self) -> bool {
        self.first.is_some()
    }

    pub fn position(&self) -> u64 {
        self.next.unwrap_or_default()
    }

    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Bytes it holds, about.
    pub fn weight(&self) -> usize {
        self.held_bytes + self.held.len() * size_of::<Held>()
    }

    /// Its receiver has everything before this number; gives its place.
    pub fn confirm(&mut self, sequence: u32) -> u64 {
        let place = self.place(sequence);
        self.next.get_or_insert(place);
        // A number far ahead is of another connection.
        if place.saturating_sub(self.position()) < FARTHEST {
            self.confirmed = self.confirmed.max(place);
        }
        place
    }

    /// Whether bytes were sent, and confirmed, that were not captured.
    pub fn lacks(&self) -> bool {
        !self.ended && self.end.is_none_or(|end| self.position() < end) && self.confirmed > self.position()
    }

    /// The stream ends behind this segment.
    pub fn ends_at(&mut self, sequence: u32, length: usize) {
        let place = self.place(sequence).saturating_add(length as u64);
        if place >= self.position() {
            self.next.get_or_insert(place);
            self.end.get_or_insert(place);
        }
    }

    /// Takes a segment with a payload; `missing` bytes behind it were not captured.
    pub fn take(&mut self, sequence: u32, payload: &[u8], missing: usize, mark: Mark) -> Taken {
        let from = self.place(sequence);
        let next = *self.next.get_or_insert(from);
        self.anchored |= from == next;
        let to = from + (payload.len() + missing) as u64;
        if from > next + FARTHEST || from + FARTHEST < next || self.ended && to > next {
            return Taken::Elsewhere;
        }
        if to <= next {
            return Taken::Repeated(self.differs(from, payload));
        }
        if from <= next && self.held.is_empty() {
            let offset = (next - from) as usize;
            if offset < payload.len() {
                self.remember(from, payload);
                return Taken::Now(offset);
            }
        }
        self.remember(from, payload);
        self.hold(from.max(next), from, payload, missing as u64, mark)
    }

    /// Steps over bytes that were given out, and over those behind them that were not captured.
    pub fn pass(&mut self, length: usize, missing: usize) -> Option<Arrival> {
        self.next = Some(self.position() + (length + missing) as u64);
        self.anchored = true;
        (missing > 0).then_some(Arrival::Gap(missing as u64))
    }

    /// Keeps what is new in a segment: what is held already was captured first.
    fn hold(&mut self, begin: u64, from: u64, payload: &[u8], missing: u64, mark: Mark) -> Taken {
        let to = from + payload.len() as u64;
        let mut at = begin;
        let mut own = true;
        let mut differs = false;
        let mut pieces = Vec::new();
        let part = |from_place: u64, to_place: u64| {
            let (a, b) = (from_place.saturating_sub(from) as usize, to_place.saturating_sub(from) as usize);
            payload.get(a..b).unwrap_or_default()
        };
        let before = self.held.range(..=begin).next_back().map_or(begin, |(place, _)| *place);
        for (place, held) in self.held.range(before..to) {
            let end = place + held.bytes.len() as u64;
            if end <= at {
                continue;
            }
            if *place > at {
                pieces.push((at, part(at, *place).to_vec()));
            }
            let (a, b) = (at.max(*place), end.min(to));
            if a < b {
                let known = held.bytes.get((a - place) as usize..(b - place) as usize);
                differs |= known != Some(part(a, b));
            }
            at = at.max(end);
        }
        if at < to {
            pieces.push((at, part(at, to).to_vec()));
        }
        if pieces.is_empty() {
            return Taken::Repeated(differs);
        }
        let last = pieces.len() - 1;
        for (index, (place, bytes)) in pieces.into_iter().enumerate() {
            self.held_bytes += bytes.len();
            let missing = if index == last && place + bytes.len() as u64 == to { missing } else { 0 };
            self.held.insert(place, Held { bytes, mark, own, starts: place == from, missing });
            own = false;
        }
        Taken::Later
    }

    /// What can be given out now: `tick` is the time of the packet that was read last, `all` asks for everything that is
    /// held.
    pub fn arrive(&mut self, tick: Option<Ts>, all: bool) -> Option<Arrival> {
        let next = self.next?;
        if let Some((place, _)) = self.held.first_key_value() {
            let place = *place;
            if place > next {
                if !all && !self.gives_up(place, tick) {
                    return None;
                }
                self.waiting = None;
                let known = self.anchored;
                self.next = Some(place);
                self.anchored = true;
                // What was sent before the capture began is no loss.
                return if known { Some(Arrival::Gap(place - next)) } else { self.arrive(tick, all) };
            }
            let (place, mut held) = self.held.pop_first()?;
            self.waiting = None;
            self.held_bytes -= held.bytes.len();
            if held.missing > 0 {
                // They count as sent when something behind them is there.
                let behind = place + held.bytes.len() as u64 + held.missing;
                let nothing = Held { bytes: Vec::new(), own: false, starts: false, missing: 0, mark: held.mark };
                self.held.entry(behind).or_insert(nothing);
            }
            let offset = (next - place) as usize;
            let starts = held.starts && offset == 0;
            let bytes = held.bytes.split_off(offset.min(held.bytes.len()));
            return Some(Arrival::Bytes { bytes, starts, mark: held.mark, own: held.own });
        }
        if self.end.is_some_and(|end| end <= next) && !self.ended {
            self.ended = true;
            return Some(Arrival::End);
        }
        if let Some(end) = self.end.filter(|end| all && *end > next && !self.ended) {
            self.next = Some(end);
            return Some(Arrival::Gap(end - next));
        }
        None
    }

    /// Whether the bytes before `place` will not come any more.
    fn gives_up(&mut self, place: u64, tick: Option<Ts>) -> bool {
        let (since, packets) = self.waiting.get_or_insert((tick, 0));
        *packets += 1;
        let waited = match (*since, tick) {
            (Some(since), Some(now)) => now.0.saturating_sub(since.0),
            _ => 0,
        };
        let confirmed = self.confirmed >= place && (*packets > PATIENCE || waited > PATIENCE_MICROS);
        confirmed || waited > UNCONFIRMED_MICROS || self.held_bytes > HELD_BYTES || self.held.len() > HELD_PIECES
    }

    fn remember(&mut self, from: u64, payload: &[u8]) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((from, payload.len(), self.hasher.hash_one(payload)));
    }

    /// Whether a repeated segment holds other bytes than it did first, as far as that is remembered. One byte is a probe
    /// whether the connection is alive, and may hold anything.
    fn differs(&self, from: u64, payload: &[u8]) -> bool {
        let known = self.recent.iter().find(|(place, length, _)| *place == from && *length == payload.len());
        payload.len() > 1 && known.is_some_and(|(_, _, hash)| *hash != self.hasher.hash_one(payload))
    }
}
