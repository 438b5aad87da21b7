//! Tables of completion.

use crate::audit::tables::Audit;
use crate::report::grid::{Cell, Grid, evidence, prompt};
use crate::schema::ValueType;

pub fn completion(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "completion",
        &[
            "server",
            "prompt",
            "argument",
            "asked",
            "with_context",
            "offered",
            "empty",
            "capped",
            "error",
            "unanswered",
            "not_captured",
            "later_calls",
            "picked",
            "edited",
            "ignored",
            "nothing_offered",
            "left_out",
            "later_not_captured",
            "compared",
            "superseded",
            "no_later_call",
            "outside",
            "first_outside",
            "answers_outside",
            "file",
            "position",
            "ts",
            "session",
        ],
    );
    for row in &audit.completion {
        let first_outside = row.outside.first().map(|value| Cell::Value(value.clone(), ValueType::String));
        let [file, position, ts, session] = evidence(row.first.as_ref());
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            row.argument.as_ref(),
            row.asked,
            row.with_context,
            row.offered,
            row.empty,
            row.capped,
            row.error,
            row.unanswered,
            row.not_captured,
            row.later_calls,
            row.picked,
            row.edited,
            row.ignored,
            row.nothing_offered,
            row.left_out,
            row.later_not_captured,
            row.compared,
            row.superseded,
            row.no_later_call,
            row.outside.len() as u64,
            first_outside,
            row.answers_outside,
            file,
            position,
            ts,
            session,
        ]);
    }
    grid
}

pub fn gaps(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "completion_gaps",
        &[
            "server",
            "prompt",
            "argument",
            "intended_source",
            "intended_values",
            "calls",
            "unintended",
            "typed_unintended",
            "asked",
            "state",
        ],
    );
    for row in &audit.completion_gaps {
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            &row.argument,
            row.intended_source,
            row.intended_values,
            row.calls,
            row.unintended,
            row.typed_unintended,
            row.asked,
            row.state,
        ]);
    }
    grid
}
