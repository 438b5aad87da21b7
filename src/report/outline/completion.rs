//! Completion: what was asked, offered and taken.

use super::{Block, Line, Table, cut};
use crate::audit::tables::CompletionUse;
use crate::audit::wording::plural;
use crate::report::grid::{Cell, prompt};
use crate::report::model::{RenderOptions, Report};
use crate::report::words::equation;

pub fn completion<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let audit = &report.audit;
    let mut blocks = vec![Block::Heading("Completion".to_owned())];
    if !audit.completion.is_empty() {
        let sum = |of: fn(&CompletionUse) -> u64| audit.completion.iter().map(of).sum::<u64>();
        blocks.push(Block::Line(Line::new(equation(
            &plural(sum(|row| row.asked), "request"),
            &[
                (sum(|row| row.offered), "answered with values"),
                (sum(|row| row.empty), "answered with none"),
                (sum(|row| row.error), "refused"),
                (sum(|row| row.unanswered), "unanswered"),
                (sum(|row| row.not_captured), "not captured"),
            ],
        ))));
        blocks.push(Block::Line(Line::new(equation(
            &plural(sum(|row| row.later_calls), "later call"),
            &[
                (sum(|row| row.picked), "picked"),
                (sum(|row| row.edited), "edited"),
                (sum(|row| row.ignored), "ignored the offer"),
                (sum(|row| row.nothing_offered), "were offered nothing"),
                (sum(|row| row.left_out), "left the argument out"),
                (sum(|row| row.later_not_captured), "not captured"),
            ],
        ))));
        blocks.push(Block::Table(table(&audit.completion, options)));
    }
    if !audit.completion_gaps.is_empty() {
        blocks.push(Block::Subheading(Line::new("Closed sets that completion never offered")));
        let mut table = Table::new(&["prompt", "argument", "values", "from", "calls", "unintended", "completion"]);
        let (shown, left_out) = cut(
            &audit.completion_gaps,
            options.top,
            "argument",
            |row| row.unintended,
            "unintended call",
            "completion_gaps",
        );
        for row in shown {
            table.push(vec![
                prompt(&row.prompt),
                Cell::from(&row.argument),
                row.intended_values.into(),
                row.intended_source.into(),
                row.calls.into(),
                row.unintended.into(),
                row.state.into(),
            ]);
        }
        table.left_out = left_out;
        blocks.push(Block::Table(table));
    }
    blocks
}

fn table(rows: &[CompletionUse], options: &RenderOptions) -> Table {
    let mut table = Table::new(&[
        "prompt",
        "argument",
        "asked",
        "offered",
        "capped",
        "error",
        "picked",
        "edited",
        "ignored",
        "none offered",
        "left out",
        "no later call",
    ]);
    let (shown, left_out) = cut(rows, options.top, "argument", |row| row.asked, "request", "completion");
    for row in shown {
        table.push(vec![
            prompt(&row.prompt),
            row.argument.as_ref().map_or(Cell::NoName, Cell::from),
            row.asked.into(),
            row.offered.into(),
            row.capped.into(),
            row.error.into(),
            row.picked.into(),
            row.edited.into(),
            row.ignored.into(),
            row.nothing_offered.into(),
            row.left_out.into(),
            row.no_later_call.into(),
        ]);
    }
    table.left_out = left_out;
    table
}
