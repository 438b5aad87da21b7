//! Completion.

use super::Names;
use crate::audit::tables as from;
use crate::report::json::document::{Completion, CompletionGap};

impl Names<'_> {
    pub fn completion(&self, row: &from::CompletionUse) -> Completion {
        Completion {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            argument: self.optional(row.argument.as_ref()),
            asked: row.asked,
            with_context: row.with_context,
            offered: row.offered,
            empty: row.empty,
            capped: row.capped,
            error: row.error,
            unanswered: row.unanswered,
            not_captured: row.not_captured,
            later_calls: row.later_calls,
            picked: row.picked,
            edited: row.edited,
            ignored: row.ignored,
            nothing_offered: row.nothing_offered,
            left_out: row.left_out,
            later_not_captured: row.later_not_captured,
            compared: row.compared,
            superseded: row.superseded,
            no_later_call: row.no_later_call,
            outside: row.outside.iter().map(|value| self.0.value(value).whole().to_owned()).collect(),
            answers_outside: row.answers_outside,
            first: row.first.as_ref().map(|at| self.evidence(at)),
        }
    }

    pub fn completion_gap(&self, row: &from::CompletionGap) -> CompletionGap {
        CompletionGap {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            argument: self.name(&row.argument),
            intended_source: row.intended_source,
            intended_values: row.intended_values,
            calls: row.calls,
            unintended: row.unintended,
            typed_unintended: row.typed_unintended,
            asked: row.asked,
            state: row.state,
        }
    }
}
