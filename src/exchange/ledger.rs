//! Messages counted by file, method, kind and direction.

use super::Map;
use crate::protocol::message::{Direction, Text};
use crate::schema::MethodRow;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Counted {
    Request,
    Notification,
    Result,
    Error,
    /// A request without answer; counted beside its request.
    Unanswered,
    /// An answer without request; counted beside its result or error.
    Orphan,
}

impl Counted {
    fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Result => "result",
            Self::Error => "error",
            Self::Unanswered => "unanswered",
            Self::Orphan => "orphan",
        }
    }
}

fn direction_word(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::ClientToServer) => "c2s",
        Some(Direction::ServerToClient) => "s2c",
        None => "unknown",
    }
}

/// The method of an answer whose request is not known.
pub(super) const UNKNOWN: u32 = 0;

/// File, method, kind and sender of messages that are counted together.
type Key = (u32, u32, Counted, Option<Direction>);

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ledger {
    methods: Vec<Text>,
    numbers: Map<Text, u32>,
    counts: Map<Key, (u64, u64)>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { methods: vec!["?".into()], numbers: Map::default(), counts: Map::default() }
    }
}

impl Ledger {
    /// The number of a method's name.
    pub fn method(&mut self, name: &Text) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.methods.len()).unwrap_or(UNKNOWN);
        self.methods.push(name.clone());
        self.numbers.insert(name.clone(), number);
        number
    }

    pub fn count(&mut self, file: u32, method: u32, kind: Counted, direction: Option<Direction>, bytes: u32) {
        let (count, sum) = self.counts.entry((file, method, kind, direction)).or_default();
        *count += 1;
        *sum += u64::from(bytes);
    }

    pub fn rows(&self, file: impl Fn(u32) -> Text) -> Vec<MethodRow> {
        let mut rows: Vec<MethodRow> = self
            .counts
            .iter()
            .map(|(&(from, method, kind, direction), &(count, bytes))| MethodRow {
                file: file(from),
                method: self.methods.get(method as usize).cloned().unwrap_or_else(|| "?".into()),
                kind: kind.word().into(),
                direction: direction_word(direction).into(),
                count,
                bytes,
            })
            .collect();
        rows.sort_by(|a, b| {
            (&a.file, &a.method, &a.kind, &a.direction).cmp(&(&b.file, &b.method, &b.kind, &b.direction))
        });
        rows
    }
}

/// The files a folder has seen, over all its runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Files {
    names: Vec<Text>,
    numbers: Map<Text, u32>,
    duplicates: Vec<u64>,
}

impl Files {
    pub fn index(&mut self, name: &Text) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number);
        self.duplicates.push(0);
        number
    }

    pub fn name(&self, file: u32) -> Text {
        self.names.get(file as usize).cloned().unwrap_or_default()
    }

    pub fn duplicate(&mut self, file: u32) {
        if let Some(count) = self.duplicates.get_mut(file as usize) {
            *count += 1;
        }
    }

    pub fn duplicates(&self) -> Vec<(Text, u64)> {
        let mut counted: Vec<_> = self.names.iter().cloned().zip(self.duplicates.iter().copied()).collect();
        counted.sort();
        counted
    }
}
