//! Members about completion.

use super::Evidence;
use crate::report::json::described::object;

object! {
    /// asked = offered + empty + error + unanswered + not_captured; offered + empty = compared + superseded + no_later_call;
    /// later_calls = picked + edited + ignored + nothing_offered + left_out + later_not_captured.
    Completion {
        server: String,
        prompt: Option<String>,
        argument: Option<String>,
        asked: u64,
        /// Requests that came with the arguments filled so far.
        with_context: u64,
        /// Answers with a value.
        offered: u64,
        /// Answers without one.
        empty: u64,
        /// Answers that hold back values.
        capped: u64,
        error: u64,
        unanswered: u64,
        not_captured: u64,
        /// Calls of the prompt after an answer, each against the last answer before it.
        later_calls: u64,
        picked: u64,
        edited: u64,
        ignored: u64,
        nothing_offered: u64,
        /// The call does not carry the argument.
        left_out: u64,
        later_not_captured: u64,
        /// Answers that a later call was compared with.
        compared: u64,
        /// Answers that a newer one replaced before a call came.
        superseded: u64,
        /// Answers that no call followed.
        no_later_call: u64,
        /// Values offered that the argument's own set does not hold.
        outside: Vec<String>,
        answers_outside: u64,
        first: Option<Evidence>,
    }
}

object! {
    CompletionGap {
        server: String,
        prompt: Option<String>,
        argument: String,
        intended_source: &'static str,
        /// Values of the set.
        intended_values: u64,
        calls: u64,
        unintended: u64,
        /// Unintended calls with something in the field.
        typed_unintended: u64,
        asked: u64,
        /// `never asked` or `nothing offered`.
        state: &'static str,
    }
}
