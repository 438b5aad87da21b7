//! What was read, and that it adds up.

use super::{Block, Line, Table, cut};
use crate::audit::tables::{LedgerMethod, PromptCalls};
use crate::audit::wording::{count, plural};
use crate::report::grid::Cell;
use crate::report::model::{RenderOptions, Report};
use crate::report::words::{bytes, equation, found, lines_equation};

/// The equations of the ledger, for the first screen and the section.
pub fn equations<'r>(report: &Report) -> Vec<Block<'r>> {
    let ledger = &report.audit.ledger;
    let files = &ledger.files;
    let size: u64 = files.iter().map(|file| file.bytes).sum();
    let first = files.iter().filter_map(|file| file.first_ts).min();
    let last = files.iter().filter_map(|file| file.last_ts).max();
    let period = match (first.and_then(crate::report::time::day), last.and_then(crate::report::time::day)) {
        (Some(first), Some(last)) if first == last => format!(", {first}"),
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => ", without times".to_owned(),
    };
    let mut lines = vec![
        format!("{} of {}{period}", plural(files.len() as u64, "file"), bytes(size)),
        lines_equation(files),
        found(&ledger.totals, files),
    ];
    lines.extend(requests_equation(&ledger.methods));
    let calls = &report.audit.calls;
    if !calls.is_empty() {
        let sum = |of: fn(&PromptCalls) -> u64| calls.iter().map(of).sum::<u64>();
        lines.push(equation(
            &format!("{} prompt calls", count(sum(|row| row.calls))),
            &[
                (sum(|row| row.rendered), "rendered"),
                (sum(|row| row.error), "answered by an error"),
                (sum(|row| row.input_required), "left at input_required"),
                (sum(|row| row.unanswered), "unanswered"),
                (sum(|row| row.not_captured), "not captured"),
            ],
        ));
    }
    if !report.audit.elicitations.is_empty() {
        lines.push(super::elicited::equation_of_all(&report.audit.elicitations));
    }
    if !report.audit.thresholds.is_empty() {
        let moved: Vec<String> = report.audit.thresholds.iter().map(ToString::to_string).collect();
        lines.push(format!("Thresholds moved by mcptally.toml: {}", moved.join(", ")));
    }
    lines.into_iter().map(|line| Block::Line(Line::new(line))).collect()
}

/// Every request and its answer; an answer whose request is not in the capture stands on the left side as well.
fn requests_equation(methods: &[LedgerMethod]) -> Option<String> {
    let sum = |of: fn(&LedgerMethod) -> u64| methods.iter().map(of).sum::<u64>();
    let (requests, orphans) = (sum(|row| row.requests), sum(|row| row.orphans));
    let whole = match orphans {
        0 if requests == 0 => return None,
        0 => plural(requests, "request"),
        orphans => format!("{} + {} without a request", plural(requests, "request"), plural(orphans, "answer")),
    };
    let terms = [
        (sum(|row| row.results), "answered by a result"),
        (sum(|row| row.errors), "by an error"),
        (sum(|row| row.unanswered), "unanswered"),
    ];
    Some(equation(&whole, &terms))
}

/// Inputs that could not be read, and records that were rejected.
pub fn errors<'r>(report: &Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = Vec::new();
    let (shown, left_out) = cut(&report.errors, options.top, "input", |_| 1, "message", "errors");
    for error in shown {
        blocks.push(Block::Line(
            Line::new("Not read to its end: ").name(&error.file).say(": ").say(error.message.clone()),
        ));
    }
    blocks.extend(left_out.map(|text| Block::Line(Line::new(text))));
    let rejected = &report.audit.rejected;
    if let Some(first) = rejected.first() {
        let line = Line::new(format!("{} rejected", plural(rejected.len() as u64, "record")))
            .say(", the first at ")
            .name(&first.file)
            .say(format!(":{}: {}", first.position, first.reason));
        blocks.push(Block::Line(line.say("; all are in rejected.ndjson (--out).")));
    }
    blocks
}

pub fn ledger<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let ledger = &report.audit.ledger;
    let mut blocks = vec![Block::Heading("What was read".to_owned())];
    blocks.extend(equations(report));
    blocks.extend(errors(report, options));
    let mut files = Table::new(&[
        "file", "format", "bytes", "lines", "messages", "other", "noise", "blank", "cont.", "rejected", "dupl.",
    ]);
    let (shown, left_out) = cut(&ledger.files, options.top, "file", |file| file.lines, "line", "files");
    for file in shown {
        files.push(vec![
            Cell::from(&file.file),
            Cell::from(&file.format),
            Cell::Prose(bytes(file.bytes)),
            file.lines.into(),
            file.messages.into(),
            file.other.into(),
            file.noise.into(),
            file.blank.into(),
            file.continuation.into(),
            file.rejected.into(),
            file.duplicates.into(),
        ]);
    }
    files.left_out = left_out;
    blocks.push(Block::Table(files));
    for file in shown {
        for note in &file.notes {
            blocks.push(Block::Line(Line::default().name(&file.file).say(": ").say(note.to_string())));
        }
    }
    let mut methods =
        Table::new(&["method", "requests", "results", "errors", "notifications", "unanswered", "orphans"]);
    let all = |row: &LedgerMethod| row.requests + row.notifications + row.orphans;
    let (shown, left_out) = cut(&ledger.methods, options.top.max(20), "method", all, "message", "methods");
    for row in shown {
        methods.push(vec![
            Cell::from(&row.method),
            row.requests.into(),
            row.results.into(),
            row.errors.into(),
            row.notifications.into(),
            row.unanswered.into(),
            row.orphans.into(),
        ]);
    }
    methods.left_out = left_out;
    if !methods.rows.is_empty() {
        blocks.push(Block::Table(methods));
    }
    blocks
}
