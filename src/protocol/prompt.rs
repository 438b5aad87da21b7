//! Prompts: declarations, arguments, rendered results, completions.

use super::message::{PromptName, Text};
use serde::{Deserialize, Serialize};

/// The JSON type of a value as it stood on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum JsonType {
    String,
    Number,
    Boolean,
    Null,
    Object,
    Array,
}

/// A value with the exact text it had.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Value {
    pub json_type: JsonType,
    /// A string's decoded text (lone surrogates become U+FFFD); a number's or literal's exact text;
    /// canonical JSON (keys sorted, no spaces) of an object or array.
    pub text: Text,
}

/// `params.arguments` of a `prompts/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arguments {
    pub shape: ArgumentsAs,
    /// In the order of the wire; of a key that stands twice, the last value.
    pub entries: Vec<(Text, Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ArgumentsAs {
    Object,
    Absent,
    Null,
    Array,
    Other,
    NotCaptured,
}

/// One page of a `prompts/list` result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    pub prompts: Vec<Declaration>,
    /// More pages follow.
    pub next_cursor: bool,
    pub ttl_ms: Option<f64>,
    pub cache_scope: Option<Text>,
}

/// One prompt as a listing declares it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Declaration {
    pub name: Text,
    pub title: Option<Text>,
    pub description: Option<Text>,
    pub arguments: Vec<DeclaredArgument>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeclaredArgument {
    pub name: Text,
    pub title: Option<Text>,
    pub description: Option<Text>,
    /// Absent means false (specification, server/prompts).
    pub required: bool,
    /// Names of members the protocol does not define (`type`, `enum`, `pattern`, `default`, ...), sorted.
    pub extra_members: Vec<Text>,
}

/// What a prompt rendered to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rendered {
    pub messages: u32,
    /// All text contents (text and embedded text resources), joined by line feeds.
    pub text: String,
}

/// `completion/complete` for a prompt (`ref/prompt`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    pub prompt: PromptName,
    pub argument: Option<Text>,
    pub typed: Option<Text>,
    /// `context.arguments` was present and not empty.
    pub context: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompletionAnswer {
    pub values: Vec<Text>,
    pub total: Option<f64>,
    pub has_more: bool,
}
