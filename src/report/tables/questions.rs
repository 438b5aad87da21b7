//! Tables of chains of questions and of those who answer them.

use crate::audit::tables::questions::Questions;
use crate::report::grid::{Cell, Grid, evidence, rate};

const OPERATION: [&str; 3] = ["server", "operation_kind", "operation"];

pub fn grids(questions: &Questions) -> Vec<Grid> {
    let mut all = chains(questions);
    all.push(answering(questions));
    all
}

fn chains(questions: &Questions) -> Vec<Grid> {
    let with = |name, columns: &[&'static str]| Grid::new(name, &[&OPERATION, columns].concat());
    let mut chains = with(
        "chains",
        &["started", "finished", "left", "failed", "not_known", "usual_length", "entered", "lost", "repeats"],
    );
    let mut steps = with(
        "chain",
        &[
            "step",
            "fields",
            "asked",
            "answered",
            "declined",
            "cancelled",
            "unanswered",
            "failed",
            "not_captured",
            "left",
            "still",
            "still_low",
            "still_high",
        ],
    );
    for row in &questions.chains {
        let subject = || row![&row.server, row.operation_kind, &row.operation];
        let counts = row![
            row.started,
            row.finished,
            row.left,
            row.failed,
            row.not_known,
            row.usual_length,
            row.entered,
            row.lost,
            row.repeats,
        ];
        chains.push([subject(), counts].concat());
        for step in &row.steps {
            let [still, low, high] = rate(step.still);
            let counts = row![
                step.step,
                &step.fields,
                step.asked,
                step.answered,
                step.declined,
                step.cancelled,
                step.unanswered,
                step.failed,
                step.not_captured,
                step.left,
                still,
                low,
                high,
            ];
            steps.push([subject(), counts].concat());
        }
    }
    vec![chains, steps]
}

fn answering(questions: &Questions) -> Grid {
    let mut grid = Grid::new(
        "answering",
        &[
            "client",
            "version",
            "asked",
            "accept",
            "decline",
            "cancel",
            "error",
            "malformed",
            "unanswered",
            "not_captured",
            "timed_refusals",
            "fast_refusals",
            "refusal_p50_ms",
            "refusal_p95_ms",
            "refused_with_content",
            "refused_with_empty",
            "accepted_empty",
            "refuses_unread",
            "first_file",
            "first_position",
            "first_ts",
            "first_session",
        ],
    );
    for row in &questions.answering {
        let mut cells = row![
            &row.client,
            row.version.as_ref(),
            row.asked,
            row.accept,
            row.decline,
            row.cancel,
            row.error,
            row.malformed,
            row.unanswered,
            row.not_captured,
            row.timed_refusals,
            row.fast_refusals,
            row.refusal_p50_ms,
            row.refusal_p95_ms,
            row.refused_with_content,
            row.refused_with_empty,
            row.accepted_empty,
            row.refuses_unread,
        ];
        cells.extend(evidence(row.first.as_ref()));
        grid.push(cells);
    }
    grid
}
