//! Messages become exchanges: questions meet their answers, and both become rows.
//!
//! Messages arrive in reading order. A row goes to the sink as soon as no later message can change it; what is still
//! open is kept, saved beside the frames, and closed by a later run that reads the rest.

mod calls;
pub mod check;
mod contract;
mod duplicates;
mod elicit;
mod ledger;
mod machine;
mod operations;
mod pair;
pub mod render;
mod rounds;
mod session;
mod state;

use crate::protocol::message::{Connection, Message, Text, Ts};
use crate::schema::{
    ArgRow, CallRow, CatalogRow, CompletionRow, DeclarationRow, ElicitationRow, FieldRow, ListingRow, MethodRow,
    SessionRow,
};
use check::Checker;
pub use duplicates::Dropped;
use duplicates::{Drops, Seen};
use machine::{Core, Out};
use serde::{Deserialize, Serialize};
pub use state::StateError;
use std::collections::HashMap;

/// Receives rows as they close. A row that was handed over is never changed by a later message.
pub trait Sink {
    fn call(&mut self, call: CallRow, args: Vec<ArgRow>);
    fn listing(&mut self, listing: ListingRow);
    fn completion(&mut self, completion: CompletionRow);
    fn elicitation(&mut self, elicitation: ElicitationRow, fields: Vec<FieldRow>);
}

/// What is known at the end of a run about things that have no end of their own; it replaces the run's before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub sessions: Vec<SessionRow>,
    pub methods: Vec<MethodRow>,
    pub declarations: Vec<DeclarationRow>,
    pub catalogs: Vec<CatalogRow>,
    /// Exact duplicates that this run dropped, by file; files without any are left out.
    pub duplicates: Vec<(Text, Dropped)>,
}

type Map<K, V> = HashMap<K, V, ahash::RandomState>;

/// Where in the reading order a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct At {
    seq: u64,
    ts: Option<Ts>,
    /// The time is no moment: as in [`Message::bounded`].
    bounded: bool,
    /// Index among the files this folder has seen.
    file: u32,
    position: u64,
}

impl At {
    /// Milliseconds since an earlier message; `None` where one of them has no time of its own.
    fn since(self, earlier: Self) -> Option<f64> {
        if self.bounded || earlier.bounded {
            return None;
        }
        // Captures span years at most, so that the difference of two times is exact in an f64.
        Some((self.ts?.0.checked_sub(earlier.ts?.0)?) as f64 / 1000.0)
    }
}

/// Pairs messages and turns them into rows.
#[derive(Default)]
pub struct Exchange {
    core: Core,
    seen: Seen,
    checker: Checker,
    /// The scope of every connection met in this run.
    scopes: Map<Connection, Scope>,
    last: Option<(Connection, Scope)>,
    /// Of every source of this run: its index among the folder's files.
    files: Vec<Option<(Text, u32)>>,
    drops: Drops,
}

/// What is looked up once per connection.
#[derive(Debug, Clone, Copy)]
struct Scope {
    number: u32,
    /// Distinguishes connections in the duplicate check.
    salt: u64,
    explicit: bool,
}

impl Exchange {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next message in reading order; `file` is the path of its source as given.
    pub fn message(&mut self, message: Message, file: &Text, sink: &mut dyn Sink) {
        let file = self.file(message.place.file, file);
        let scope = self.scope(&message.connection);
        self.core.seq += 1;
        let duplicate = self.seen.is_duplicate(&message, file, scope.salt, scope.explicit);
        self.drops.note(file, message.place, duplicate);
        if duplicate {
            return;
        }
        let Message { ts, bounded, place, .. } = message;
        let at = At { seq: self.core.seq, ts, bounded, file, position: place.position };
        self.core.message(message, at, scope.number, &mut Out { sink, checker: &mut self.checker });
    }

    /// Writes the rows that are still open, as they stand, and leaves the state as it is: a later run may close them.
    pub fn finish(&self, open: &mut dyn Sink) -> Snapshot {
        let mut core = self.core.clone();
        let snapshot = core.finish(&mut Out { sink: open, checker: &mut Checker::new() });
        Snapshot { duplicates: self.drops.by_file(|file| core.files.name(file)), ..snapshot }
    }

    fn file(&mut self, source: u32, file: &Text) -> u32 {
        let source = source as usize;
        if let Some(Some((known, index))) = self.files.get(source)
            && known == file
        {
            return *index;
        }
        let index = self.core.files.index(file);
        // Sources are numbered from 0 without gaps; one that is not is looked up every time.
        if source <= self.files.len() + 4096 {
            if self.files.len() <= source {
                self.files.resize(source + 1, None);
            }
            self.files[source] = Some((file.clone(), index));
        }
        index
    }

    fn scope(&mut self, connection: &Connection) -> Scope {
        if let Some((known, scope)) = &self.last
            && known == connection
        {
            return *scope;
        }
        let scope = match self.scopes.get(connection) {
            Some(scope) => *scope,
            None => {
                let number = self.core.sessions.scope(connection);
                let explicit = connection.session.is_some();
                let scope = Scope { number, salt: duplicates::salt(connection), explicit };
                self.scopes.insert(connection.clone(), scope);
                scope
            }
        };
        self.last = Some((connection.clone(), scope));
        scope
    }
}

#[cfg(test)]
mod tests;
