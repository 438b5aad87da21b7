//! What was counted while a file was read.

use crate::protocol::message::{Text, Ts};
use std::collections::BTreeMap;

/// Counts over one block, and over a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    pub bytes: u64,
    pub lines: u64,
    pub message_lines: u64,
    pub messages: u64,
    pub other: u64,
    pub other_bytes: u64,
    pub noise: u64,
    pub blank: u64,
    pub continuation: u64,
    pub rejected: u64,
    pub duplicate_keys: u64,
    pub first_ts: Option<Ts>,
    pub last_ts: Option<Ts>,
    /// Signs of the format's variants, a bit each.
    pub marks: u32,
    pub lossy_text: u64,
    pub not_utf8: u64,
    /// Messages that only one side sends, against what their record says.
    pub conflicts: u64,
    /// Members of a batch that are no messages.
    pub odd_members: u64,
    /// Records that hold messages and of which a part was rejected.
    pub rejected_parts: u64,
    /// Lines with NUL bytes around them.
    pub padded: u64,
    /// Lines with a message in another form than the format's own.
    pub nested: u64,
    /// Of messages that only one side sends, how they were marked: `[inward, rightward, name][c2s, s2c]` for
    /// `in` or `>`; `out` and `<` count on the other side.
    pub evidence: [[u64; 2]; 3],
    /// Times without a zone.
    pub on_a_clock: u64,
    /// Messages that were pasted text and had to be repaired.
    pub repaired: u64,
    /// Which places of a description were found, a bit each.
    pub found: u64,
    /// Records that were left out, by the number of their reason in a description.
    pub left_out: Vec<u64>,
    /// Of the recorder's own numbers, by session: lowest, highest, how many.
    pub sequences: BTreeMap<Text, (u64, u64, u64)>,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.message_lines += other.message_lines;
        self.messages += other.messages;
        self.other += other.other;
        self.other_bytes += other.other_bytes;
        self.noise += other.noise;
        self.blank += other.blank;
        self.continuation += other.continuation;
        self.rejected += other.rejected;
        self.duplicate_keys += other.duplicate_keys;
        self.first_ts = [self.first_ts, other.first_ts].into_iter().flatten().min();
        self.last_ts = self.last_ts.max(other.last_ts);
        self.marks |= other.marks;
        self.lossy_text += other.lossy_text;
        self.not_utf8 += other.not_utf8;
        self.conflicts += other.conflicts;
        self.odd_members += other.odd_members;
        self.rejected_parts += other.rejected_parts;
        self.padded += other.padded;
        self.nested += other.nested;
        for (sum, more) in self.evidence.iter_mut().flatten().zip(other.evidence.iter().flatten()) {
            *sum += more;
        }
        self.on_a_clock += other.on_a_clock;
        self.repaired += other.repaired;
        self.found |= other.found;
        for (reason, count) in other.left_out.iter().enumerate() {
            self.leave_out(reason, *count);
        }
        for (session, (low, high, count)) in &other.sequences {
            let known = self.sequences.entry(session.clone()).or_insert((*low, *high, 0));
            *known = (known.0.min(*low), known.1.max(*high), known.2 + count);
        }
    }

    pub(super) fn leave_out(&mut self, reason: usize, count: u64) {
        if self.left_out.len() <= reason {
            self.left_out.resize(reason + 1, 0);
        }
        if let Some(sum) = self.left_out.get_mut(reason) {
            *sum += count;
        }
    }

    /// Records that are missing by the recorder's own numbers.
    pub fn missing(&self) -> u64 {
        self.sequences.values().map(|(low, high, count)| (high - low).saturating_add(1).saturating_sub(*count)).sum()
    }

    /// Every line is one thing.
    pub fn closes(&self) -> bool {
        self.lines == self.message_lines + self.noise + self.blank + self.continuation + self.rejected
    }
}
