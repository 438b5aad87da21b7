//! Open requests by scope, asker and typed id, and the answers that found none.

use super::{At, Map};
use crate::protocol::message::{Answer, Captured, Direction, Id, RpcError, Shape, Text, Ts, Unread};
use crate::protocol::parse::{self, Oddities};
use crate::protocol::prompt::Completion;
use crate::schema::OperationKind;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;

/// Answers without a request that are kept for one that is read later; more are counted and forgotten.
const MAX_ORPHANS: usize = 1 << 20;
/// Bytes of rendered text that such answers may hold together.
const MAX_ORPHAN_TEXT: usize = 64 << 20;

/// Microseconds within which a gateway passes a request on; a client that uses an id again is slower.
const TWIN_WITHIN: i64 = 2_000_000;
/// Sides of gateways in a row at which one request can have been recorded. More is a client that repeats itself, and
/// what stays open for one id has to be bounded: every answer is compared with all of it.
const MOST_TWINS: usize = 8;

/// `asker` sent the request; the answer comes from the other side.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct OpenKey {
    pub scope: u32,
    pub asker: Direction,
    pub id: Id,
}

/// What of a request its answer needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Ask {
    Plain,
    Handshake,
    List {
        first: bool,
    },
    Complete(Box<Completion>),
    Carrier(Carrier),
    /// The number of the elicitation.
    Elicit(u64),
    /// `tasks/get`: its answer can hold questions. The digest of `taskId`.
    Task(Option<u64>),
}

/// A request in whose course the server may ask the client something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Carrier {
    pub kind: OperationKind,
    pub name: Option<Text>,
    /// Equal for requests of equal method, name and arguments.
    pub signature: u64,
    /// The operation's number; most requests are asked nothing and need none.
    pub operation: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Open {
    pub lane: u32,
    pub at: At,
    pub method: u32,
    pub bytes: u32,
    pub captured: Captured,
    pub ask: Ask,
}

impl Open {
    /// Whether a later request says the same so soon that it can be this one, recorded at a gateway's other side.
    fn is_twin_of(&self, later: &Self) -> bool {
        let signature = |open: &Self| match &open.ask {
            Ask::Carrier(carrier) => carrier.signature,
            _ => 0,
        };
        let soon =
            |(first, then): (Ts, Ts)| then.0.checked_sub(first.0).is_some_and(|gap| (0..=TWIN_WITHIN).contains(&gap));
        self.method == later.method
            && signature(self) == signature(later)
            && self.at.ts.zip(later.at.ts).is_some_and(soon)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Reply {
    Result {
        answer: Answer,
        /// The tool result that was not read yet. It holds on to a block of the capture: it is read or dropped before
        /// the message is put away.
        #[serde(skip)]
        unread: Option<Unread>,
    },
    Error(RpcError),
}

impl Reply {
    pub fn shape(&self) -> Option<&Shape> {
        match self {
            Self::Result { answer, .. } => Some(&answer.shape),
            Self::Error(_) => None,
        }
    }

    /// Reads the text of a tool result that was left unread.
    pub fn read(&mut self) {
        if let Self::Result { answer, unread } = self
            && let Some(unread) = unread.take()
            && matches!(answer.shape, Shape::Tool { echo: None })
        {
            let json = String::from_utf8_lossy(unread.bytes());
            if let shape @ Shape::Tool { .. } = parse::answer(&json, &mut Oddities::default()).shape {
                answer.shape = shape;
            }
        }
    }

    /// Bytes of text that grow with what a server renders.
    fn weight(&self) -> usize {
        match self.shape() {
            Some(Shape::Rendered(rendered)) => rendered.text.len(),
            Some(Shape::Tool { echo: Some(text) }) => text.len(),
            _ => 0,
        }
    }

    /// Who sends results of this shape; `None` where both can.
    pub fn sender(&self) -> Option<Direction> {
        match self.shape()? {
            Shape::Elicitation(_) => Some(Direction::ClientToServer),
            Shape::Initialize { .. }
            | Shape::Prompts(_)
            | Shape::Rendered(_)
            | Shape::Completion(_)
            | Shape::InputRequired { .. }
            | Shape::Tool { .. } => Some(Direction::ServerToClient),
            Shape::Other | Shape::NotAnObject | Shape::NotCaptured | Shape::NotSeen => None,
        }
    }
}

/// How well a result's shape suits a request: 0 not, 1 possibly, 2 well.
pub(super) fn fit(ask: &Ask, reply: &Reply) -> u8 {
    let Some(shape) = reply.shape() else { return 1 };
    match (ask, shape) {
        (_, Shape::NotCaptured | Shape::NotSeen) => 1,
        (Ask::Handshake, Shape::Initialize { .. })
        | (Ask::List { .. }, Shape::Prompts(_))
        | (Ask::Complete(_), Shape::Completion(_))
        | (Ask::Carrier(_) | Ask::Task(_), Shape::InputRequired { .. })
        | (Ask::Elicit(_), Shape::Elicitation(_))
        | (Ask::Plain | Ask::Task(_), Shape::Other) => 2,
        (Ask::Carrier(carrier), Shape::Rendered(_)) => 2 * u8::from(carrier.kind == OperationKind::PromptGet),
        (Ask::Carrier(carrier), Shape::Tool { .. }) => 2 * u8::from(carrier.kind == OperationKind::ToolCall),
        (Ask::Carrier(carrier), Shape::Other) => 1 + u8::from(carrier.kind == OperationKind::ResourceRead),
        (_, Shape::Other | Shape::NotAnObject) => 1,
        (Ask::Plain | Ask::Task(_), Shape::Completion(_) | Shape::Tool { .. } | Shape::InputRequired { .. }) => 1,
        _ => 0,
    }
}

/// The request that suits an answer best, the oldest of equals: its index, how well it suits, its reading order.
fn best(found: &[Open], reply: &Reply) -> Option<(usize, u8, u64)> {
    if let [only] = found {
        return Some((0, fit(&only.ask, reply), only.at.seq));
    }
    let rated = found.iter().enumerate().map(|(at, open)| (at, fit(&open.ask, reply), open.at.seq));
    rated.min_by_key(|(_, fit, seq)| (u8::MAX - fit, *seq))
}

/// An answer read before its request, or without one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Orphan {
    pub at: At,
    pub captured: Captured,
    pub bytes: u32,
    pub reply: Reply,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    pub open: Map<OpenKey, Vec<Open>>,
    pub orphans: Map<OpenKey, Vec<Orphan>>,
    orphan_count: usize,
    orphan_text: usize,
}

impl Requests {
    /// Adds an open request and hands back the one of its lane that had the id before: it stays unanswered. Under an
    /// explicit session a gateway that passes ids on shows each request twice, and each answer: both stay open.
    pub fn add(&mut self, key: OpenKey, open: Open, explicit: bool) -> Option<Open> {
        match self.open.entry(key) {
            Entry::Vacant(room) => {
                room.insert(vec![open]);
                None
            }
            Entry::Occupied(mut known) => {
                let found = known.get_mut();
                let twins = if explicit { found.iter().filter(|other| other.is_twin_of(&open)).count() } else { 0 };
                match found.iter_mut().find(|other| other.lane == open.lane) {
                    Some(other) if !(1..MOST_TWINS).contains(&twins) => Some(std::mem::replace(other, open)),
                    Some(_) => {
                        found.push(open);
                        None
                    }
                    None => {
                        found.push(open);
                        None
                    }
                }
            }
        }
    }

    /// Takes the open request of this lane with this id.
    pub fn take(&mut self, key: &OpenKey, lane: u32) -> Option<Open> {
        let found = self.open.get_mut(key)?;
        let at = found.iter().position(|open| open.lane == lane)?;
        let open = found.remove(at);
        if found.is_empty() {
            self.open.remove(key);
        }
        Some(open)
    }

    /// How well the best open request suits an answer, with the reading order of that request.
    pub fn best(&self, key: &OpenKey, reply: &Reply) -> Option<(u8, u64)> {
        best(self.open.get(key)?, reply).map(|(_, fit, seq)| (fit, seq))
    }

    /// Takes the request that suits an answer best; of equals, the oldest. Within lanes one that does not suit is
    /// another lane's; under an explicit session the id alone decides.
    pub fn take_answered(&mut self, key: OpenKey, reply: &Reply, explicit: bool) -> Result<(OpenKey, Open), OpenKey> {
        let Entry::Occupied(mut known) = self.open.entry(key.clone()) else { return Err(key) };
        let Some((at, fit, _)) = best(known.get(), reply) else { return Err(key) };
        if fit == 0 && !explicit {
            return Err(key);
        }
        let open = known.get_mut().remove(at);
        if known.get().is_empty() {
            known.remove();
        }
        Ok((key, open))
    }

    pub fn carrier(&self, key: &OpenKey, seq: u64) -> Option<&Carrier> {
        let open = self.open.get(key)?.iter().find(|open| open.at.seq == seq)?;
        match &open.ask {
            Ask::Carrier(carrier) => Some(carrier),
            _ => None,
        }
    }

    /// A carrier to give an operation to, with what its request's capture kept.
    pub fn operation_of(&mut self, key: &OpenKey, seq: u64) -> Option<(&mut Carrier, At, Captured)> {
        let open = self.open.get_mut(key)?.iter_mut().find(|open| open.at.seq == seq)?;
        match &mut open.ask {
            Ask::Carrier(carrier) => Some((carrier, open.at, open.captured)),
            _ => None,
        }
    }

    /// Whether there is room for an answer whose request may be read later.
    pub fn has_room(&self, reply: &Reply) -> bool {
        self.orphan_count < MAX_ORPHANS && self.orphan_text + reply.weight() <= MAX_ORPHAN_TEXT
    }

    pub fn keep(&mut self, key: OpenKey, orphan: Orphan) {
        self.orphan_count += 1;
        self.orphan_text += orphan.reply.weight();
        self.orphans.entry(key).or_default().push(orphan);
    }

    /// Takes the kept answer that a request without answer can have had: one that suits it and that time allows.
    pub fn take_orphan(&mut self, key: &OpenKey, open: &Open, explicit: bool) -> Option<Orphan> {
        let kept = self.orphans.get_mut(key)?;
        let allowed = |orphan: &Orphan| match (open.at.ts, orphan.at.ts) {
            (Some(asked), Some(answered)) => answered >= asked,
            // Without times the order within a file is the order of events; between files it is not known.
            _ => open.at.file != orphan.at.file,
        };
        let suits = |orphan: &Orphan| explicit || fit(&open.ask, &orphan.reply) > 0;
        let (at, _) = kept
            .iter()
            .enumerate()
            .filter(|(_, orphan)| allowed(orphan) && suits(orphan))
            .min_by_key(|(_, orphan)| (orphan.at.ts, orphan.at.seq))?;
        let orphan = kept.remove(at);
        if kept.is_empty() {
            self.orphans.remove(key);
        }
        self.orphan_count = self.orphan_count.saturating_sub(1);
        self.orphan_text = self.orphan_text.saturating_sub(orphan.reply.weight());
        Some(orphan)
    }
}
