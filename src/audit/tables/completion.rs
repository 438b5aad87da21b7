//! Tables of §10: what completion offered, and whether calls took it.

use super::{Evidence, Shown};
use crate::protocol::message::Text;

/// `asked = offered + empty + error + unanswered + not_captured`;
/// `offered + empty = compared + superseded + no_later_call`;
/// `later_calls = picked + edited + ignored + nothing_offered + left_out + later_not_captured`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompletionUse {
    pub server: Text,
    /// `None`: the request named no prompt, or the capture did not keep it.
    pub prompt: Option<Text>,
    pub argument: Option<Text>,
    /// Requests, and those that came with the arguments filled so far.
    pub asked: u64,
    pub with_context: u64,
    /// Answers with a value, and those without.
    pub offered: u64,
    pub empty: u64,
    /// Answers that hold back values (`hasMore`, or a `total` above their number); part of `offered` and `empty`.
    pub capped: u64,
    pub error: u64,
    pub unanswered: u64,
    pub not_captured: u64,
    /// Calls of the prompt after an answer in their session, each against the last answer before it.
    pub later_calls: u64,
    pub picked: u64,
    pub edited: u64,
    pub ignored: u64,
    pub nothing_offered: u64,
    /// The call does not carry the argument.
    pub left_out: u64,
    /// The call's arguments were not captured.
    pub later_not_captured: u64,
    /// Answers that a later call was compared with; that a newer answer replaced before any call; that no call followed.
    pub compared: u64,
    pub superseded: u64,
    pub no_later_call: u64,
    /// Values offered that no version of the argument's own set holds, each once, sorted; empty where it has no set.
    pub outside: Vec<Shown>,
    /// Answers that offered one of them.
    pub answers_outside: u64,
    /// The first request, and the first answer with a value outside the set.
    pub first: Option<Evidence>,
    pub first_outside: Option<Evidence>,
}

/// An argument with a closed set for which completion never offered a value.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionGap {
    pub server: Text,
    pub prompt: Option<Text>,
    pub argument: Text,
    pub intended_source: &'static str,
    pub intended_values: u64,
    pub calls: u64,
    pub unintended: u64,
    /// Unintended calls with something in the field: those that a list to pick from could have spared.
    pub typed_unintended: u64,
    pub asked: u64,
    /// `never asked` (what the server could have offered is not known) or `nothing offered`.
    pub state: &'static str,
}
