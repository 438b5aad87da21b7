//! Values of arguments, keys, handlers, declarations and completions.

use super::{Block, Line, Table, cut, tally};
use crate::audit::tables::Argument;
use crate::audit::wording::{count, percent, plural};
use crate::report::grid::{Cell, prompt, share, significant};
use crate::report::model::{RenderOptions, Report};
use crate::report::words::equation;

/// `calls = intended + unintended + absent + …`, or without a set `calls = present + absent + …`.
pub fn closure(row: &Argument) -> String {
    let rest =
        [(row.absent, "absent"), (row.not_captured, "not captured"), (row.not_declared_then, "not declared then")];
    let mut terms = if row.intended_source.is_some() {
        vec![
            (row.intended, "intended"),
            (row.unintended, "unintended"),
            (row.not_judged, "not judged (no set in effect)"),
        ]
    } else {
        vec![(row.present, "with a value")]
    };
    terms.extend(rest);
    equation(&format!("{} calls", count(row.calls)), &terms)
}

/// Arguments with a set first, most unintended calls first, then by calls.
pub fn by_unintended(arguments: &[Argument]) -> Vec<&Argument> {
    let mut sorted: Vec<&Argument> = arguments.iter().collect();
    sorted.sort_by(|a, b| {
        let key = |row: &Argument| (row.unintended, u64::from(row.intended_source.is_some()), row.calls);
        key(b).cmp(&key(a)).then_with(|| (&a.server, &a.prompt, &a.argument).cmp(&(&b.server, &b.prompt, &b.argument)))
    });
    sorted
}

/// What is to be said before values are listed, where the source did not keep them all.
fn values_lost<'r>(report: &Report) -> Option<Block<'r>> {
    let calls = &report.audit.calls;
    let lost: u64 = calls.iter().map(|row| row.arguments_not_captured).sum();
    let all: u64 = calls.iter().map(|row| row.calls).sum();
    let line = format!(
        "Values not captured by this source: those of {} of {}. What was sent is not known, and counted as not captured, \
         never as absent.",
        count(lost),
        plural(all, "prompt call")
    );
    (lost > 0).then(|| Block::Line(Line::new(line)))
}

pub fn values<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = vec![Block::Heading("Values of arguments".to_owned())];
    blocks.extend(values_lost(report));
    let sorted = by_unintended(&report.audit.arguments);
    let (shown, left_out) = cut(&sorted, options.top, "argument", |row| row.calls, "call", "arguments");
    for row in shown {
        blocks.extend(argument(row, options));
    }
    blocks.extend(left_out.map(|text| Block::Line(Line::new(text))));
    blocks
}

fn argument<'r>(row: &'r Argument, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = vec![
        Block::Subheading(
            Line::default().prompt(row.prompt.as_ref()).say(".").name(&row.argument).say(" on ").name(&row.server),
        ),
        Block::Line(Line::new(closure(row))),
    ];
    let mut line = |line: Line| blocks.push(Block::Line(line));
    match row.intended_source {
        Some(source) => {
            line(
                Line::new("Intended: ")
                    .names(&row.intended_values)
                    .say(format!(" (from: {source}); {} distinct values arrived", count(row.distinct))),
            );
        }
        None => line(Line::new(format!(
            "Open domain: no set of intended values is known; {} arrived",
            plural(row.distinct, "distinct value")
        ))),
    }
    if row.zero_length > 0 || row.empty > 0 || row.non_string > 0 {
        line(Line::new(format!(
            "Of those with a value: {} zero-length, {} blank, {} not a string",
            count(row.zero_length),
            count(row.empty.saturating_sub(row.zero_length)),
            count(row.non_string)
        )));
    }
    if !row.unused.is_empty() {
        line(Line::new("Intended and never used: ").names(&row.unused));
    }
    if row.unintended > 0 {
        let classes = tally(row.classes.iter().filter(|(class, _)| **class != "intended").map(|(c, n)| (*c, n.calls)));
        line(Line::new(format!("Unintended calls by class: {classes}")));
        line(Line::new(format!(
            "Rendered all the same: {} of {}",
            count(row.unintended_rendered),
            plural(row.unintended, "unintended call")
        )));
        let steps: Vec<String> =
            row.ladder.iter().map(|step| format!("{} {}", step.repair, count(step.recovered))).collect();
        if let (false, Some(last)) = (steps.is_empty(), row.ladder.last()) {
            line(Line::new(format!(
                "Calls recovered, cumulative: {}; {} beyond repair",
                steps.join(" → "),
                count(last.remaining)
            )));
        }
    }
    if let Some(tail) = &row.tail {
        let rows: Vec<String> = ["50", "80", "90", "100"]
            .iter()
            .filter_map(|share| tail.rows_for.get(share).map(|rows| format!("{share} %: {}", count(*rows))))
            .collect();
        line(Line::new(format!(
            "Tail without the empty string: {} seen once; rows of a mapping table for {}",
            plural(tail.singletons, "value"),
            rows.join(", ")
        )));
        let chance = match (tail.unseen_chance, tail.unseen_se) {
            (Some(chance), Some(se)) => {
                format!("{} % (standard error {} points)", percent(chance), significant(se * 100.0))
            }
            (Some(chance), None) => format!("{} %", percent(chance)),
            _ => "cannot be estimated (no repeats, or too few)".to_owned(),
        };
        let more = tail
            .new_values_expected
            .map(|new| format!("; new values expected in another such period: {}", significant(new)))
            .unwrap_or_default();
        line(Line::new(format!("Chance that the next unintended call carries a value never seen: {chance}{more}")));
        if let Some(test) = &tail.holdout {
            line(Line::new(format!(
                "A table of {} from the first half ({}) covers {} of {} in the second (95 % interval {}–{} %)",
                plural(test.rows, "row"),
                plural(test.train_calls, "call"),
                count(test.covered),
                plural(test.test_calls, "call"),
                percent(test.low),
                percent(test.high)
            )));
        }
    }
    let mut values = Table::new(&["value", "calls", "share", "class", "chars", "sessions", "clients", "first seen"]);
    let (shown, left_out) = cut(&row.values, options.top, "value", |value| value.calls, "call", "values");
    for value in shown {
        values.push(vec![
            Cell::Value(value.value.clone(), value.json_type),
            value.calls.into(),
            share(value.calls, row.present),
            value.class.into(),
            value.chars.into(),
            value.sessions.into(),
            value.clients.into(),
            value.first_ts.into(),
        ]);
    }
    values.left_out = left_out;
    if !values.rows.is_empty() {
        blocks.push(Block::Table(values));
    }
    if row.intended_source.is_some() && row.hosts.len() > 1 {
        let mut hosts = Table::new(&["client", "absent", "zero-length", "blank", "filled", "rendered", "error"]);
        let calls = |host: &crate::audit::tables::Host| host.absent + host.zero_length + host.blank + host.filled;
        let (shown, left_out) = cut(&row.hosts, options.top, "client", calls, "call", "hosts");
        for host in shown {
            hosts.push(vec![
                Cell::from(&host.client),
                host.absent.into(),
                host.zero_length.into(),
                host.blank.into(),
                host.filled.into(),
                host.rendered.into(),
                host.error.into(),
            ]);
        }
        hosts.left_out = left_out;
        blocks.push(Block::Table(hosts));
    }
    blocks
}

pub fn keys<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let audit = &report.audit;
    let mut blocks = vec![Block::Heading("Unknown keys and missing arguments".to_owned())];
    blocks.extend(values_lost(report));
    let mut table = Table::new(&[
        "prompt",
        "unknown key",
        "calls",
        "sessions",
        "clients",
        "rendered",
        "error",
        "no outcome",
        "earlier version",
        "probably",
    ]);
    let (shown, left_out) = cut(&audit.unknown_keys, options.top, "key", |row| row.calls, "call", "unknown_keys");
    for row in shown {
        table.push(vec![
            prompt(&row.prompt),
            Cell::from(&row.key),
            row.calls.into(),
            row.sessions.into(),
            Cell::from(&row.clients),
            row.rendered.into(),
            row.error.into(),
            (row.input_required + row.unanswered + row.not_captured).into(),
            row.earlier_version.into(),
            row.rename_of.as_ref().into(),
        ]);
    }
    table.left_out = left_out;
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
        for row in shown {
            if let Some(evidence) = &row.evidence {
                let line = Line::default().prompt(row.prompt.as_ref()).say(".").name(&row.key);
                blocks.push(Block::Line(line.say(": ").say(evidence.clone())));
            }
        }
    }
    let mut table = Table::new(&[
        "prompt",
        "required argument",
        "missing in calls",
        "rendered",
        "error",
        "no outcome",
        "present but empty",
        "clients",
    ]);
    let (shown, left_out) =
        cut(&audit.missing_required, options.top, "argument", |row| row.calls, "call", "missing_required");
    for row in shown {
        table.push(vec![
            prompt(&row.prompt),
            Cell::from(&row.argument),
            row.calls.into(),
            row.rendered.into(),
            row.error.into(),
            (row.input_required + row.unanswered + row.not_captured).into(),
            row.required_but_empty.into(),
            Cell::from(&row.clients.keys().cloned().collect::<Vec<_>>()),
        ]);
    }
    table.left_out = left_out;
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    blocks
}

pub fn handlers<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = vec![Block::Heading("What the handlers let through".to_owned())];
    let mut table =
        Table::new(&["prompt", "kind", "argument", "seen", "rendered", "rendered empty", "error", "defects"]);
    let mut sorted: Vec<_> = report.audit.handlers.iter().collect();
    sorted.sort_by_key(|row| std::cmp::Reverse(row.defects));
    let (shown, left_out) = cut(&sorted, options.top.max(20), "row", |row| row.seen, "call", "handlers");
    for row in shown {
        table.push(vec![
            prompt(&row.prompt),
            row.kind.into(),
            row.argument.as_ref().into(),
            if row.seen == 0 { Cell::Words("not seen") } else { row.seen.into() },
            row.rendered.into(),
            row.rendered_empty.into(),
            row.error.into(),
            row.defects.into(),
        ]);
    }
    table.left_out = left_out;
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    blocks
}

pub fn contract<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = vec![Block::Heading("Declarations over time".to_owned())];
    let mut table = Table::new(&[
        "server",
        "prompt",
        "version",
        "first seen",
        "last seen",
        "arguments",
        "change",
        "listed again",
        "never again",
    ]);
    let sessions = |row: &crate::audit::tables::ContractVersion| row.listed_again + row.never_listed_again;
    let (shown, left_out) =
        cut(&report.audit.contract, options.top.max(20), "version", sessions, "session", "contract");
    for row in shown {
        table.push(vec![
            Cell::from(&row.server),
            Cell::from(&row.prompt),
            row.version.into(),
            row.first_seen.into(),
            row.last_seen.into(),
            Cell::from(&row.arguments),
            if row.diff.is_empty() { Cell::Nothing } else { row.diff.join("; ").into() },
            row.listed_again.into(),
            row.never_listed_again.into(),
        ]);
    }
    table.left_out = left_out;
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    blocks
}
