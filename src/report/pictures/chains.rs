//! Pictures of chains of questions.

use super::{Artist, SHORT};
use crate::audit::tables::questions::Chain;
use crate::audit::wording::{count, percent, plural};
use crate::report::chart::canvas::Canvas;
use crate::report::chart::chain::{Chain as Picture, Link, chain};

/// Steps drawn; those after it stand in the table.
const STEPS: usize = 12;

impl Artist<'_> {
    /// A chain that is usually longer than one question.
    pub fn chain(&self, row: &Chain) -> Option<(String, Canvas)> {
        if row.usual_length < 2 {
            return None;
        }
        let left_out = row.steps.len().saturating_sub(STEPS);
        let more = if left_out > 0 {
            format!("; {} not drawn", plural(left_out as u64, "later question"))
        } else {
            String::new()
        };
        let links = row.steps.iter().take(STEPS).map(|step| {
            let fields = match step.fields.as_slice() {
                [] => String::new(),
                [only] => format!(". {}", self.page.name(only).chart(SHORT)),
                [first, rest @ ..] => format!(". {} and {} more", self.page.name(first).chart(SHORT), rest.len()),
            };
            Link {
                label: format!("{}{fields}", step.step),
                asked: step.asked,
                answered: step.answered,
                left: step.left,
            }
        });
        let picture = Picture {
            title: format!(
                "{}: {} of {} ({} %) finish; {} of {} who answer the first question leave before the last",
                self.name(&row.operation),
                count(row.finished),
                plural(row.started, "run"),
                percent(row.finished as f64 / row.started.max(1) as f64),
                count(row.lost),
                count(row.entered),
            ),
            subtitle: format!(
                "{} = {} finished + {} left at a question + {} failed + {} not captured to their end{more}",
                plural(row.started, "run"),
                count(row.finished),
                count(row.left),
                count(row.failed),
                count(row.not_known),
            ),
            started: row.started,
            links: links.collect(),
            finished: row.finished,
        };
        Some((self.file("chain", &[Some(&row.server), Some(&row.operation)]), chain(&picture)))
    }
}
