//! Exact duplicates: the same message read twice, because a gateway logged both of its hops or because files overlap.
//!
//! Only messages with an id and a time can be told to be the same one. Under an explicit session any repeat is a
//! duplicate. Without one, two connections can send equal bytes within a clock tick; there the k-th occurrence in a
//! file is a duplicate only where another file already showed k of them.

use super::Map;
use crate::protocol::json::digest;
use crate::protocol::message::{Connection, Direction, Kind, Message, Place, RequestBody, Shape, Text};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;

/// Messages of other methods are remembered at least this long, counted in messages: files are read merged by time,
/// so that copies are close. Messages that become rows are remembered for good.
const WINDOW: usize = 1 << 16;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Shown {
    /// The file that showed the message most often.
    file: u32,
    count: u32,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Seen {
    kept: Map<u64, Shown>,
    recent: Map<u64, Shown>,
    older: Map<u64, Shown>,
}

/// Exact duplicates that were dropped from a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    pub messages: u64,
    /// Records whose first message was dropped and which showed no other before the next record began.
    pub records: u64,
}

/// What a run dropped, by the index of the file.
#[derive(Default)]
pub(super) struct Drops(Vec<(Dropped, Option<u64>)>);

impl Drops {
    /// Notes a message, and whether it is a duplicate.
    pub fn note(&mut self, file: u32, place: Place, duplicate: bool) {
        let file = file as usize;
        if !duplicate && file >= self.0.len() {
            return;
        }
        if file >= self.0.len() {
            self.0.resize(file + 1, Default::default());
        }
        let Some((dropped, open)) = self.0.get_mut(file) else { return };
        dropped.messages += u64::from(duplicate);
        if place.member == 0 {
            dropped.records += u64::from(duplicate);
            *open = duplicate.then_some(place.position);
        } else if !duplicate && *open == Some(place.position) {
            dropped.records -= 1;
            *open = None;
        }
    }

    pub fn by_file(&self, name: impl Fn(u32) -> Text) -> Vec<(Text, Dropped)> {
        let some = self.0.iter().enumerate().filter(|(_, (dropped, _))| dropped.messages > 0);
        let mut found: Vec<_> = some.map(|(file, (dropped, _))| (name(file as u32), *dropped)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }
}

/// What tells the connections of equal messages apart. The stream is no part of it: overlapping copies have two.
pub(super) fn salt(connection: &Connection) -> u64 {
    let mut bytes = Vec::new();
    for part in [&connection.session, &connection.server] {
        if let Some(text) = part {
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes.push(0);
        bytes.push(u8::from(part.is_some()));
    }
    digest(&bytes)
}

impl Seen {
    /// Whether this message was already read; remembers it if not.
    pub fn is_duplicate(&mut self, message: &Message, file: u32, salt: u64, explicit: bool) -> bool {
        let Some(ts) = message.ts else { return false };
        let has_id = match &message.kind {
            Kind::Request { .. } => true,
            Kind::Notification(_) => false,
            Kind::Result { id, .. } | Kind::Error { id, .. } => id.is_some(),
        };
        if !has_id {
            return false;
        }
        let direction = match message.direction {
            Some(Direction::ClientToServer) => 1,
            Some(Direction::ServerToClient) => 2,
            None => 3,
        };
        // The id is part of the message's bytes and so of its digest.
        let key = mix(message.digest ^ mix(salt ^ mix((ts.0 as u64) ^ direction)));
        let keep = becomes_row(&message.kind);
        let Some(most) = self.first_or_most(key, file, keep) else { return false };
        if explicit {
            return true;
        }
        let own_key = mix(key ^ mix(u64::from(file) + 1));
        let own = if most.file == file { most.count } else { self.get(own_key, keep).map_or(0, |shown| shown.count) };
        let count = own.saturating_add(1);
        if count <= most.count {
            self.set(own_key, Shown { file, count }, keep);
            return true;
        }
        if most.file != file {
            let other_key = mix(key ^ mix(u64::from(most.file) + 1));
            self.set(other_key, most, keep);
        }
        self.set(key, Shown { file, count }, keep);
        false
    }

    /// What was shown of a message; `None`, and remembered, where it is the first.
    fn first_or_most(&mut self, key: u64, file: u32, keep: bool) -> Option<Shown> {
        if !keep && let Some(shown) = self.older.get(&key) {
            // The newer generation holds what changed since.
            return Some(self.recent.get(&key).copied().unwrap_or(*shown));
        }
        match self.generation(keep).entry(key) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(room) => {
                room.insert(Shown { file, count: 1 });
                None
            }
        }
    }

    fn get(&self, key: u64, keep: bool) -> Option<Shown> {
        let maps = if keep { [&self.kept, &self.kept] } else { [&self.recent, &self.older] };
        maps.into_iter().find_map(|map| map.get(&key)).copied()
    }

    fn set(&mut self, key: u64, shown: Shown, keep: bool) {
        self.generation(keep).insert(key, shown);
    }

    /// The map that a message is remembered in.
    fn generation(&mut self, keep: bool) -> &mut Map<u64, Shown> {
        if keep {
            return &mut self.kept;
        }
        if self.recent.len() >= WINDOW {
            std::mem::swap(&mut self.older, &mut self.recent);
            self.recent.clear();
        }
        &mut self.recent
    }
}

fn becomes_row(kind: &Kind) -> bool {
    match kind {
        Kind::Request { request, .. } => {
            !matches!(request.body, RequestBody::Other | RequestBody::Operation { .. })
                || request.meta.input_responses.is_some()
        }
        Kind::Notification(_) => false,
        Kind::Result { answer, .. } => {
            !matches!(answer.shape, Shape::Other | Shape::Tool { .. } | Shape::NotCaptured | Shape::NotSeen)
        }
        Kind::Error { .. } => true,
    }
}

/// Finaliser of splitmix64 (Steele, Lea and Flood 2014): every bit of the input reaches every bit of the output.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
