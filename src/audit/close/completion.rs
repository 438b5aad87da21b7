//! Completion closes.

use super::{Unclosed, equal};
use crate::audit::tables::CompletionUse;

pub fn check(row: &CompletionUse) -> Result<(), Unclosed> {
    let names = [Some(&*row.server), row.prompt.as_deref(), row.argument.as_deref()];
    let equal = |equation, total, terms: &[u64]| equal("completion", &names, equation, total, terms);
    equal(
        "asked = offered + empty + error + unanswered + not_captured",
        row.asked,
        &[row.offered, row.empty, row.error, row.unanswered, row.not_captured],
    )?;
    equal(
        "offered + empty = compared + superseded + no_later_call",
        row.offered + row.empty,
        &[row.compared, row.superseded, row.no_later_call],
    )?;
    equal(
        "later_calls = picked + edited + ignored + nothing_offered + left_out + later_not_captured",
        row.later_calls,
        &[row.picked, row.edited, row.ignored, row.nothing_offered, row.left_out, row.later_not_captured],
    )
}
