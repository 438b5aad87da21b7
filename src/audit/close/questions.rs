//! Sums of chains of questions and of those who answer them.

use super::{Unclosed, equal};
use crate::audit::tables::questions::{Answering, Chain, Questions};

pub fn check(questions: &Questions) -> Result<(), Unclosed> {
    questions.chains.iter().try_for_each(chain)?;
    questions.answering.iter().try_for_each(answering)
}

fn chain(row: &Chain) -> Result<(), Unclosed> {
    let names = [Some(&*row.server), Some(row.operation_kind), Some(&*row.operation)];
    equal(
        "chains",
        &names,
        "started = finished + left + failed + not_known",
        row.started,
        &[row.finished, row.left, row.failed, row.not_known],
    )?;
    let left: Vec<u64> = row.steps.iter().map(|step| step.left).collect();
    equal("chains", &names, "left = sum of left at each step", row.left, &left)?;
    row.steps.iter().try_for_each(|step| {
        equal(
            "chain",
            &names,
            "asked = answered + declined + cancelled + unanswered + failed + not_captured",
            step.asked,
            &[step.answered, step.declined, step.cancelled, step.unanswered, step.failed, step.not_captured],
        )
    })
}

fn answering(row: &Answering) -> Result<(), Unclosed> {
    equal(
        "answering",
        &[Some(&row.client), row.version.as_deref()],
        "asked = accept + decline + cancel + error + malformed + unanswered + not_captured",
        row.asked,
        &[row.accept, row.decline, row.cancel, row.error, row.malformed, row.unanswered, row.not_captured],
    )
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
