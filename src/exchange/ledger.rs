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

/// The method of an answer whose request is not known.
pub(super) const UNKNOWN: u32 = 0;

/// Messages and their bytes, by kind and sender.
type Cells = [[(u64, u64); SENDERS.len()]; KINDS.len()];

const KINDS: [Counted; 6] =
    [Counted::Request, Counted::Notification, Counted::Result, Counted::Error, Counted::Unanswered, Counted::Orphan];
const SENDERS: [&str; 3] = ["c2s", "s2c", "unknown"];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ledger {
    methods: Vec<Text>,
    numbers: Map<Text, u32>,
    /// By file and method.
    counts: Map<u64, Cells>,
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
        let cells = self.counts.entry(u64::from(file) << 32 | u64::from(method)).or_default();
        let sender = match direction {
            Some(Direction::ClientToServer) => 0,
            Some(Direction::ServerToClient) => 1,
            None => 2,
        };
        let (count, sum) = &mut cells[kind as usize][sender];
        *count += 1;
        *sum += u64::from(bytes);
    }

    pub fn rows(&self, file: impl Fn(u32) -> Text) -> Vec<MethodRow> {
        let mut rows = Vec::new();
        for (key, cells) in &self.counts {
            let (from, method) = ((key >> 32) as u32, (*key & u64::from(u32::MAX)) as usize);
            for (kind, by_sender) in KINDS.iter().zip(cells) {
                for (sender, &(count, bytes)) in SENDERS.iter().zip(by_sender) {
                    if count > 0 {
                        rows.push(MethodRow {
                            file: file(from),
                            method: self.methods.get(method).cloned().unwrap_or_else(|| "?".into()),
                            kind: kind.word().into(),
                            direction: (*sender).into(),
                            count,
                            bytes,
                        });
                    }
                }
            }
        }
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
    /// Of every file: whether the client and the server speak in it.
    senders: Vec<[bool; 2]>,
}

impl Files {
    pub fn index(&mut self, name: &Text) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number);
        self.senders.push([false; 2]);
        number
    }

    pub fn heard(&mut self, file: u32, sender: Direction) {
        if let Some(heard) = self.senders.get_mut(file as usize) {
            heard[usize::from(sender == Direction::ServerToClient)] = true;
        }
    }

    /// The file holds one half of a capture: so far only this side spoke in it.
    pub fn half_of(&self, file: u32, sender: Direction) -> bool {
        let server = sender == Direction::ServerToClient;
        self.senders.get(file as usize) == Some(&[!server, server])
    }

    pub fn name(&self, file: u32) -> Text {
        self.names.get(file as usize).cloned().unwrap_or_default()
    }
}
