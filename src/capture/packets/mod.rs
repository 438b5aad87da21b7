//! HTTP exchanges from captured packets: from frames to TCP, from TCP to HTTP/1, in the order of the file.
//!
//! What cannot be read (encrypted, HTTP/2, fragments, other protocols) is counted and said; what was not captured is
//! marked in the message it is missing from. Memory is bounded whatever the file holds: a connection that would take too
//! much is let go, and that is said as well.

mod blocks;
mod body;
mod connection;
mod counts;
mod file;
mod head;
mod link;
mod message;
mod parser;
mod stream;
#[cfg(test)]
mod tests;

use super::error::CaptureError;
use super::http::{Exchanges, Item};
use super::input::Input;
use super::records::Recognised;
use crate::protocol::message::Text;
pub use blocks::{Kind, kind};
use connection::{Connection, Output};
use counts::Counts;
use file::{File, Step};
use link::{Seen, Segment};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use stream::Mark;

/// Connections that are known at once, those that have ended among them; the one that was quiet for the longest time is
/// let go first.
const CONNECTIONS: usize = 1 << 14;
/// Bytes that all connections together hold back.
const HELD: usize = 256 << 20;
/// Exchanges given out while an event stream is open before its events are given out: fewer than are put into order
/// together.
const LAG: u64 = 1 << 11;
/// Packets looked at to tell the time a file begins.
const LOOKED_AT: usize = 64;

type Key = [SocketAddr; 2];

/// The exchanges in a capture file.
pub struct Packets {
    file: File,
    connections: HashMap<Key, Connection, ahash::RandomState>,
    /// Connections in the order of their use.
    used: BTreeMap<u64, Key>,
    clock: u64,
    weight: usize,
    limits: (usize, usize),
    counts: Counts,
    items: VecDeque<Item>,
    given: u64,
    /// Connections with an open event stream, and how many exchanges were given out before.
    streams: VecDeque<(u64, Key)>,
    ended: bool,
}

impl Packets {
    pub fn new(input: Input, path: Text) -> Self {
        Self::with_limits(input, path, CONNECTIONS, HELD)
    }

    fn with_limits(input: Input, path: Text, connections: usize, held: usize) -> Self {
        Self {
            file: File::new(input, path),
            connections: HashMap::default(),
            used: BTreeMap::new(),
            clock: 0,
            weight: 0,
            limits: (connections, held),
            counts: Counts::default(),
            items: VecDeque::new(),
            given: 0,
            streams: VecDeque::new(),
            ended: false,
        }
    }

    /// Reads one packet; false at the end of the file.
    fn step(&mut self) -> bool {
        let packet = match self.file.next() {
            None => {
                self.finish(None);
                return false;
            }
            Some(Step::Broken(error)) => {
                self.finish(Some(error));
                return false;
            }
            Some(Step::Rejected { number, size, reason, excerpt }) => {
                self.items.push_back(Item::Rejected { position: number, size, reason, excerpt });
                return true;
            }
            Some(Step::Packet(packet)) => packet,
        };
        let mark = Mark { frame: packet.number, size: packet.size(), ts: packet.ts, acknowledged: 0 };
        let counts = &mut self.counts;
        match link::read(packet.link, self.file.data(&packet)) {
            Seen::Tcp(segment) => {
                let mut table = Table {
                    connections: &mut self.connections,
                    used: &mut self.used,
                    clock: &mut self.clock,
                    weight: &mut self.weight,
                    streams: &mut self.streams,
                    limits: self.limits,
                };
                let mut out = Output { items: &mut self.items, counts, given: &mut self.given };
                table.take(&segment, mark, &mut out);
                return true;
            }
            Seen::Fragment => counts.fragments += 1,
            Seen::Quic => counts.quic += 1,
            Seen::Cut => counts.cut_packets += 1,
            Seen::Other => counts.not_tcp += 1,
        }
        self.items.push_back(Item::Other { position: mark.frame, size: mark.size });
        true
    }

    /// The file ends here, perhaps before its time.
    fn finish(&mut self, error: Option<CaptureError>) {
        self.ended = true;
        let mut out = Output { items: &mut self.items, counts: &mut self.counts, given: &mut self.given };
        for (_, key) in std::mem::take(&mut self.used) {
            if let Some(mut connection) = self.connections.remove(&key) {
                connection.finish(&mut out);
            }
        }
        self.weight = 0;
        self.items.extend(error.map(Item::Broken));
    }
}

impl Exchanges for Packets {
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
        self.file.taken()
    }

    fn notes(&mut self) -> Vec<String> {
        let mut notes = self.file.notes();
        notes.extend(self.counts.notes());
        notes
    }
}

/// The connections of a file.
struct Table<'t> {
    connections: &'t mut HashMap<Key, Connection, ahash::RandomState>,
    used: &'t mut BTreeMap<u64, Key>,
    clock: &'t mut u64,
    weight: &'t mut usize,
    streams: &'t mut VecDeque<(u64, Key)>,
    limits: (usize, usize),
}

impl Table<'_> {
    fn take(&mut self, segment: &Segment<'_>, mark: Mark, out: &mut Output<'_>) {
        let mut key = [segment.from, segment.to];
        key.sort();
        let from = usize::from(key[0] != segment.from);
        if !self.connections.contains_key(&key) {
            if !segment.begins && segment.payload.is_empty() && segment.missing == 0 {
                // The rest of a connection that said nothing here.
                return out.other(&mark);
            }
            self.make_room(out);
            self.connections.insert(key, Connection::new(key));
        }
        self.touch(key);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let before = connection.weight();
        if !connection.take(from, segment, mark, out) {
            connection.finish(out);
            let mut fresh = Connection::new(key);
            (fresh.touched, fresh.queued) = (connection.touched, connection.queued);
            fresh.take(from, segment, mark, out);
            *connection = fresh;
        }
        let after = connection.weight();
        if !connection.queued && connection.streams() {
            connection.queued = true;
            self.streams.push_back((*out.given, key));
        }
        *self.weight = self.weight.saturating_sub(before) + after;
        self.follow_streams(out);
        while *self.weight > self.limits.1 && self.let_go_heaviest(out) {}
    }

    fn touch(&mut self, key: Key) {
        *self.clock += 1;
        if let Some(connection) = self.connections.get_mut(&key) {
            self.used.remove(&connection.touched);
            connection.touched = *self.clock;
            self.used.insert(*self.clock, key);
        }
    }

    /// Gives out what has come of streams that have been open for long.
    fn follow_streams(&mut self, out: &mut Output<'_>) {
        while let Some((since, key)) = self.streams.front().copied()
            && out.given.saturating_sub(since) >= LAG
        {
            self.streams.pop_front();
            let Some(connection) = self.connections.get_mut(&key).filter(|connection| connection.queued) else {
                continue;
            };
            connection.queued = false;
            let before = connection.weight();
            if connection.streams() {
                connection.portion(out);
            }
            *self.weight = self.weight.saturating_sub(before) + connection.weight();
        }
    }

    /// Lets go of the connection that was quiet for the longest time, where there are too many.
    fn make_room(&mut self, out: &mut Output<'_>) {
        while self.connections.len() >= self.limits.0
            && let Some((_, key)) = self.used.pop_first()
        {
            if let Some(mut connection) = self.connections.remove(&key) {
                *self.weight = self.weight.saturating_sub(connection.weight());
                // Of one that is idle nothing is lost but the name of its server.
                out.counts.crowded_out += u64::from(connection.is_open() && connection.weight() > 0);
                connection.finish(out);
            }
        }
    }

    /// Lets go of the connection that holds most. The search is long, and makes room for long.
    fn let_go_heaviest(&mut self, out: &mut Output<'_>) -> bool {
        let heaviest = self.connections.iter().max_by_key(|(_, connection)| (connection.weight(), connection.touched));
        let Some(key) = heaviest.map(|(key, _)| *key) else { return false };
        let Some(mut connection) = self.connections.remove(&key) else { return false };
        self.used.remove(&connection.touched);
        *self.weight = self.weight.saturating_sub(connection.weight());
        out.counts.too_heavy += 1;
        connection.finish(out);
        true
    }
}

/// Whether bytes begin with an HTTP/1 message.
pub fn begins_message(bytes: &[u8]) -> bool {
    matches!(head::looks(bytes), head::Looks::Http(_))
}

/// What the beginning of a capture file tells.
pub fn recognise(head: &[u8]) -> Option<Recognised> {
    let kind = kind(head)?;
    let why = match kind {
        Kind::Pcap => "it begins with the magic number of pcap",
        Kind::Pcapng => "it begins with a section of pcapng",
    };
    let mut found = Recognised { why: why.to_owned(), variant: None, first_ts: None };
    let Ok(input) = Input::new(std::io::Cursor::new(head.to_vec()), "", &Arc::default()) else { return Some(found) };
    let mut file = File::new(input, Text::default());
    let mut links = Vec::new();
    for _ in 0..LOOKED_AT {
        let Some(Step::Packet(packet)) = file.next() else { break };
        found.first_ts = [found.first_ts, packet.ts].into_iter().flatten().min();
        if !links.contains(&link::name(packet.link)) {
            links.push(link::name(packet.link));
        }
    }
    found.variant = (!links.is_empty()).then(|| links.join(", "));
    Some(found)
}
