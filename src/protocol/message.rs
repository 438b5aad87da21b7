//! One message of the protocol, whatever file it came from.
//!
//! A decoder in `capture` produces [`Message`]s; `exchange` pairs them. Bodies of messages that no analysis
//! reads are reduced to their method, id and size before they leave the decoder.

use super::elicitation::{ElicitationAnswer, Question};
use super::prompt::{Arguments, Completion, CompletionAnswer, Listing, Rendered};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Shared, immutable text. Repeated text (sessions, methods, names) is one allocation.
pub type Text = Arc<str>;

/// A moment, in microseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ts(pub i64);

impl Ts {
    /// The moment on the calendar, in UTC; `None` outside its years (-9999 to 9999).
    pub fn on_calendar(self) -> Option<jiff::civil::DateTime> {
        EPOCH.checked_add(jiff::SignedDuration::from_micros(self.0)).ok()
    }

    /// Midnight UTC.
    pub fn of_day(day: jiff::civil::Date) -> Self {
        Self((day - EPOCH.date()).get_days() as i64 * 86_400_000_000)
    }
}

const EPOCH: jiff::civil::DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Direction {
    ClientToServer,
    ServerToClient,
}

impl Direction {
    pub fn opposite(self) -> Self {
        match self {
            Self::ClientToServer => Self::ServerToClient,
            Self::ServerToClient => Self::ClientToServer,
        }
    }
}

/// A JSON-RPC id. `1` and `"1"` are different ids (JSON-RPC 2.0, section 4).
/// Fractional and oversized numbers are kept by their exact text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Id {
    Integer(i64),
    String(Text),
    Other(Text),
}

/// Where a message stands, so that a person finds it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Index of the file in the run's list of sources.
    pub file: u32,
    /// Line number from 1 (HAR entry or frame number in other formats).
    pub position: u64,
    /// Index within a batch, 0 otherwise.
    pub member: u32,
}

/// What the capture kept of a message's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Captured {
    Full,
    /// The body was cut; what stands before the cut was used.
    Truncated,
    /// The writer replaced the body by a summary (method and id survive).
    Redacted,
    /// The source never writes bodies.
    Absent,
}

/// What the capture says about the connection a message belongs to; each part may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Connection {
    /// The source the message was read from: the file's path without what rotation or splitting into two directions
    /// adds, so that rotated siblings and a stdin/stdout pair share it.
    pub stream: Text,
    /// An explicit session key of the capture (envelope field, header, `--session-key`).
    pub session: Option<Text>,
    /// The server as the capture labels it (log tag, envelope field).
    pub server: Option<Text>,
    /// The client as the capture labels it.
    pub client: Option<Text>,
}

/// One JSON-RPC message with the facts its capture gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub place: Place,
    pub ts: Option<Ts>,
    /// The moment is not `ts` itself: the capture only tells between which others it lies (an event of a stream whose
    /// recorder kept the times of its beginning and end). No duration is computed from it.
    pub bounded: bool,
    /// `None` where neither the capture nor the content tells; `exchange` settles it from open requests.
    pub direction: Option<Direction>,
    pub connection: Connection,
    /// True for a member of a JSON-RPC array.
    pub batch: bool,
    pub captured: Captured,
    /// Size of the record in the capture, in bytes (0 for the second and later members of a batch).
    pub bytes: u32,
    /// Hash of the message's own bytes, for exact duplicates.
    pub digest: u64,
    pub kind: Kind,
    /// The JSON of a tool result that the decoder did not read (most of a capture's bytes). [`Message::tool_text`]
    /// reads it; it holds on to a whole block of the capture, so it must not outlive the handling of the message.
    pub unread: Option<Unread>,
}

impl Message {
    /// The text of a tool result, at most 64 KiB: read on demand, because only the few results that end an
    /// operation with questions are asked for it. `None` for other messages, and for results without text.
    pub fn tool_text(&self) -> Option<Text> {
        let Kind::Result { answer: Answer { shape: Shape::Tool { echo }, .. }, .. } = &self.kind else { return None };
        if echo.is_some() {
            return echo.clone();
        }
        let json = String::from_utf8_lossy(self.unread.as_ref()?.bytes());
        match super::parse::answer(&json, &mut super::parse::Oddities::default()).shape {
            Shape::Tool { echo } => echo,
            _ => None,
        }
    }
}

/// A stretch of a block of the capture.
#[derive(Clone, PartialEq, Eq)]
pub struct Unread {
    block: Arc<Vec<u8>>,
    span: Range<usize>,
}

impl Unread {
    pub fn new(block: Arc<Vec<u8>>, span: Range<usize>) -> Self {
        Self { block, span }
    }

    pub fn bytes(&self) -> &[u8] {
        self.block.get(self.span.clone()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Unread({} bytes)", self.span.len())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Request {
        id: Id,
        request: Request,
    },
    Notification(Notification),
    /// `id` is `None` where it was missing or null (some servers answer that way).
    Result {
        id: Option<Id>,
        answer: Answer,
    },
    Error {
        id: Option<Id>,
        error: RpcError,
    },
}

/// A JSON-RPC error object. Code 0 is a code (several SDKs use it).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    pub code: Option<i64>,
    /// At most 4 KiB.
    pub message: Text,
    /// Elicitations of error -32042 (2025-11-25, url mode): their `elicitationId`s.
    pub elicitations: Vec<Text>,
}

/// A request: its method, what revision 2026-07-28 puts into every request, and the body if it is ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub method: Text,
    /// Boxed, as are rare bodies: a message is moved often, and this would be a third of it.
    pub meta: Box<RequestMeta>,
    pub body: RequestBody,
}

/// `_meta` of revision 2026-07-28 and the members of a multi round-trip retry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestMeta {
    pub protocol: Option<Text>,
    pub client: Option<Implementation>,
    pub capabilities: Option<Elicits>,
    /// `params.inputResponses`: KEY → answer, in order. `Some` marks a retry, even when empty.
    pub input_responses: Option<Vec<(Text, ElicitationAnswer)>>,
    /// Digest of the exact `params.requestState`.
    pub request_state: Option<u64>,
    /// Whether the request carries a `_meta` key that marks a person's choice (configurable).
    pub marker: Option<Text>,
}

/// `clientInfo` or `serverInfo`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Implementation {
    pub name: Text,
    pub version: Option<Text>,
}

/// What a client declared about elicitation. An empty `elicitation: {}` means form (2025-06-18).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elicits {
    pub form: bool,
    pub url: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RequestBody {
    Initialize {
        protocol: Option<Text>,
        client: Option<Implementation>,
        elicits: Elicits,
    },
    Discover,
    /// `first` is false for a follow-up page (a `cursor` was sent).
    PromptsList {
        first: bool,
    },
    PromptsGet {
        name: PromptName,
        arguments: Arguments,
    },
    Complete(Box<Completion>),
    /// A `tools/call`, `resources/read` or other request that may carry questions.
    /// `name` is the tool's name or the resource's uri; `arguments` a digest of the exact arguments.
    Operation {
        name: Option<Text>,
        arguments: u64,
    },
    Elicit(Box<Question>),
    /// Nothing of the body is read.
    Other,
}

/// `params.name` of a `prompts/get`: `""` and no name at all are two things.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PromptName {
    Name(Text),
    Missing,
    /// The body was not captured.
    NotCaptured,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    pub method: Text,
    /// `elicitationId` of `notifications/elicitation/complete`, `requestId` text of `notifications/cancelled`.
    pub subject: Option<Id>,
}

/// What a result's shape says. A result carries no method, so that `exchange` compares the shape with the
/// request it answers; a result is parsed here once, by the members at its top level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub shape: Shape,
    /// `_meta["io.modelcontextprotocol/serverInfo"]` (2026-07-28).
    pub server: Option<Implementation>,
    /// `isError` of a tool result.
    pub is_error: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// `protocolVersion`, `serverInfo`, `capabilities.prompts.listChanged`.
    Initialize {
        protocol: Option<Text>,
        server: Option<Implementation>,
        list_changed: bool,
    },
    Prompts(Box<Listing>),
    /// `messages`: what a `prompts/get` renders.
    Rendered(Box<Rendered>),
    Completion(CompletionAnswer),
    /// `action`: the answer to `elicitation/create`; also an answer with an odd or missing action.
    Elicitation(Box<ElicitationAnswer>),
    /// `resultType: input_required`: KEY → question (other methods under `inputRequests` are left out), and the
    /// digest of `requestState`.
    InputRequired {
        questions: Vec<(Text, Question)>,
        state: Option<u64>,
    },
    /// A tool result (`content` or `isError`). Its text is mostly left unread: ask [`Message::tool_text`].
    Tool {
        echo: Option<Text>,
    },
    /// Any other object; for the answer of an elicitation this is what a malformed answer looks like.
    Other,
    /// `result` was no object (its JSON type's name).
    NotAnObject,
    /// The body was not captured.
    NotCaptured,
    /// The source keeps no answers at all: what came, and whether anything did, is not known.
    NotSeen,
}
