//! Messages in the order of their times, for records that stand in another: a span is written when it ends, behind all
//! that happened meanwhile.

use crate::capture::records::{Records, Stretch};
use crate::protocol::message::{Message, Ts};
use std::collections::BTreeMap;

/// Messages, and bytes of their records, that are held back until those before them may have come.
const HELD: usize = 1 << 16;
const HELD_BYTES: u64 = 64 << 20;

pub struct Ordered<R> {
    records: R,
    /// By time; messages of one time, and those without any, keep their order.
    held: BTreeMap<(Ts, u64), Message>,
    bytes: u64,
    count: u64,
    last: Ts,
    given: Ts,
    /// Messages that came so late that later ones had been given out.
    late: u64,
    ended: bool,
}

impl<R: Records> Ordered<R> {
    pub fn new(records: R) -> Self {
        let (last, given) = (Ts(i64::MIN), Ts(i64::MIN));
        Self { records, held: BTreeMap::new(), bytes: 0, count: 0, last, given, late: 0, ended: false }
    }

    fn hold(&mut self, message: Message) {
        self.last = message.ts.unwrap_or(self.last);
        self.count += 1;
        self.late += u64::from(self.last < self.given);
        self.bytes += u64::from(message.bytes);
        self.held.insert((self.last, self.count), message);
    }

    /// The earliest messages, until as many are held as may be.
    fn release(&mut self) -> Vec<Message> {
        let mut released = Vec::new();
        while self.ended || self.held.len() > HELD || self.bytes > HELD_BYTES {
            let Some(((ts, _), message)) = self.held.pop_first() else { break };
            self.given = self.given.max(ts);
            self.bytes = self.bytes.saturating_sub(u64::from(message.bytes));
            released.push(message);
        }
        released
    }
}

impl<R: Records> Records for Ordered<R> {
    fn next(&mut self) -> Option<Stretch> {
        if self.ended {
            return None;
        }
        let mut stretch = self.records.next().unwrap_or_else(|| {
            self.ended = true;
            Stretch::default()
        });
        // Nothing is asked for behind an error.
        self.ended |= stretch.error.is_some();
        for message in std::mem::take(&mut stretch.decoded.messages) {
            self.hold(message);
        }
        stretch.decoded.messages = self.release();
        Some(stretch)
    }

    fn taken(&self) -> u64 {
        self.records.taken()
    }

    fn notes(&mut self) -> Vec<String> {
        let mut notes = self.records.notes();
        if self.late > 0 {
            notes.push(format!("{} messages stand too far behind later ones to be put in order", self.late));
        }
        notes
    }
}
