//! Elicitation: the question, the answer, and whether the answer keeps the schema it was asked with.

use super::message::Text;
use super::prompt::Value;
use serde::{Deserialize, Serialize};

/// `elicitation/create` params, whether sent as a request or inside `inputRequests`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// `form` where absent (2025-11-25).
    pub mode: Mode,
    pub message: Text,
    /// Exact JSON text of `requestedSchema`; `None` where missing or not captured.
    pub schema: Option<Text>,
    /// `elicitationId` of url mode.
    pub elicitation_id: Option<Text>,
    pub captured: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mode {
    Form,
    Url,
    Other(Text),
}

/// The client's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElicitationAnswer {
    pub action: Action,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    Accept,
    Decline,
    Cancel,
    /// A word that is none of the three (its exact JSON text), or no action at all.
    Malformed(Option<Text>),
    /// The answer is no object.
    NotAnObject,
    NotCaptured,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Content {
    Absent,
    Null,
    /// The members in wire order (a repeated key keeps its last value), and the exact JSON text of the whole.
    Object {
        members: Vec<(Text, Value)>,
        json: Text,
    },
    /// Not an object: its value.
    Other(Value),
}
