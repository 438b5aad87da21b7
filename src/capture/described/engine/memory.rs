//! What is remembered from record to record.

use std::collections::{HashMap, HashSet, VecDeque};

/// Keys of messages, and open requests, that are remembered.
const REMEMBERED: usize = 1 << 16;

/// What is remembered from record to record.
#[derive(Debug, Default)]
pub struct Memory {
    shown: HashSet<u64, ahash::RandomState>,
    shown_before: HashSet<u64, ahash::RandomState>,
    /// Ids of requests without one, by what their answers share with them.
    open: HashMap<String, VecDeque<String>, ahash::RandomState>,
    open_count: usize,
}

impl Memory {
    pub(super) fn is_shown(&self, key: u64) -> bool {
        self.shown.contains(&key) || self.shown_before.contains(&key)
    }

    pub(super) fn show(&mut self, key: u64) {
        if self.shown.len() >= REMEMBERED {
            self.shown_before = std::mem::take(&mut self.shown);
        }
        self.shown.insert(key);
    }

    pub(super) fn ask(&mut self, key: String, id: String) {
        if self.open_count >= REMEMBERED {
            self.open.clear();
            self.open_count = 0;
        }
        self.open_count += 1;
        self.open.entry(key).or_default().push_back(id);
    }

    pub(super) fn answer(&mut self, key: &str) -> Option<String> {
        let id = self.open.get_mut(key)?.pop_front()?;
        self.open_count = self.open_count.saturating_sub(1);
        Some(id)
    }
}
