//! Elicited columns.

use super::{Block, Line, Table, cut, tally};
use crate::audit::tables::{DeclaredBounds, Elicitation, Field};
use crate::audit::wording::{count, plural};
use crate::report::grid::{Cell, figure, rate};
use crate::report::model::{RenderOptions, Report};
use crate::report::words::equation;

fn terms(row: &Elicitation) -> [u64; 10] {
    [
        row.accept_usable,
        row.accept_unusable,
        row.accept_unchecked,
        row.accept_url,
        row.decline,
        row.cancel,
        row.error,
        row.malformed,
        row.unanswered,
        row.not_captured,
    ]
}

const TERMS: [&str; 10] = [
    "accepted and usable",
    "accepted and unusable",
    "accepted, unchecked",
    "accepted by url",
    "declined",
    "cancelled",
    "answered by an error",
    "malformed",
    "unanswered",
    "not captured",
];

fn asked_equation(asked: u64, terms: [u64; 10]) -> String {
    let terms: Vec<(u64, &str)> = terms.into_iter().zip(TERMS).collect();
    equation(&format!("{} asked", plural(asked, "question")), &terms)
}

pub fn equation_of_all(rows: &[Elicitation]) -> String {
    let mut sums = [0; 10];
    for row in rows {
        for (sum, term) in sums.iter_mut().zip(terms(row)) {
            *sum += term;
        }
    }
    asked_equation(rows.iter().map(|row| row.asked).sum(), sums)
}

/// `0 to 500` for bounds that were all alike, else how many there are.
pub fn bounds_text(bounds: &[DeclaredBounds]) -> Cell {
    let one = |bound: &Option<crate::protocol::message::Text>, none: &str| {
        bound.as_ref().map_or_else(|| none.to_owned(), ToString::to_string)
    };
    match bounds {
        [] => Cell::Nothing,
        [only] if only.minimum.is_none() && only.maximum.is_none() => Cell::Words("none"),
        [only] => Cell::Prose(format!("{} to {}", one(&only.minimum, "−∞"), one(&only.maximum, "∞"))),
        many => Cell::Prose(format!("{} different", many.len())),
    }
}

/// Columns with unusable answers, most first.
pub fn by_unusable(rows: &[Elicitation]) -> Vec<(&Elicitation, &Field)> {
    let mut fields: Vec<(&Elicitation, &Field)> =
        rows.iter().flat_map(|row| row.fields.iter().map(move |field| (row, field))).collect();
    fields.sort_by(|a, b| {
        faulty(b.1)
            .cmp(&faulty(a.1))
            .then_with(|| (&a.0.server, &a.0.operation, &a.1.field).cmp(&(&b.0.server, &b.0.operation, &b.1.field)))
    });
    fields
}

/// Answers in which a field is at fault.
pub fn faulty(field: &Field) -> u64 {
    field.unusable + field.missing_required
}

pub fn reasons_of(field: &Field) -> String {
    tally(field.reasons.iter().map(|(reason, n)| (reason.as_str(), *n)))
}

pub fn elicitations<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let rows = &report.audit.elicitations;
    let mut blocks = vec![Block::Heading("Elicited columns".to_owned())];
    let mut sorted: Vec<&Elicitation> = rows.iter().collect();
    sorted.sort_by_key(|row| std::cmp::Reverse((row.accept_unusable, row.asked)));
    let (shown, left_out) = cut(&sorted, options.top, "operation", |row| row.asked, "question", "elicitations");
    for row in shown {
        blocks.extend(operation(row, options));
    }
    blocks.extend(left_out.map(|text| Block::Line(Line::new(text))));
    blocks.extend(clients(report, options));
    blocks.extend(super::questions::questions(report, options));
    blocks
}

fn operation<'r>(row: &'r Elicitation, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = vec![
        Block::Subheading(
            Line::new(format!("{} ", row.operation_kind)).name(&row.operation).say(" on ").name(&row.server),
        ),
        Block::Line(Line::new(asked_equation(row.asked, terms(row)))),
    ];
    let mut line = |text: String| blocks.push(Block::Line(Line::new(text)));
    if row.accept_unusable > 0 {
        line(format!("Why unusable: {}", tally(row.reasons.iter().map(|(reason, n)| (reason.as_str(), *n)))));
        line(format!("By cause: {}", tally(row.causes.iter().map(|(cause, n)| (*cause, *n)))));
        line(format!("Acted on all the same: {}", plural(row.acted_on_unusable, "unusable answer")));
    }
    if row.refused_usable > 0 {
        line(format!("Refused although usable: {}", plural(row.refused_usable, "answer")));
    }
    let stray = row.stray;
    if stray.replayed + stray.key_not_asked + stray.state_unknown > 0 {
        line(format!(
            "Stray answers, beside the equation: {}",
            tally([
                ("replayed", stray.replayed),
                ("key not asked", stray.key_not_asked),
                ("state unknown", stray.state_unknown)
            ])
        ));
    }
    let mut numbers = Table::new(&[
        "field",
        "type",
        "accepted",
        "usable",
        "at fault",
        "not there",
        "n",
        "min",
        "p5",
        "median",
        "p95",
        "max",
        "declared",
    ]);
    let (shown, left_out) = cut(&row.fields, options.top, "field", |field| field.accepted, "answer", "fields");
    for field in shown {
        numbers.push(vec![
            Cell::from(&field.field),
            if field.declared { field.kind.as_ref().into() } else { Cell::Words("undeclared") },
            field.accepted.into(),
            field.usable.into(),
            faulty(field).into(),
            (field.absent_optional + field.no_content + field.unchecked).into(),
            field.n.into(),
            figure(field.min.as_ref()),
            field.p5.into(),
            field.median.into(),
            field.p95.into(),
            figure(field.max.as_ref()),
            bounds_text(&field.declared_bounds),
        ]);
    }
    numbers.left_out = left_out;
    if !numbers.rows.is_empty() {
        blocks.push(Block::Table(numbers));
    }
    for field in shown {
        if !field.reasons.is_empty() {
            blocks.push(Block::Line(Line::default().name(&field.field).say(format!(": {}", reasons_of(field)))));
        }
        if faulty(field) > 0 {
            blocks.push(Block::Line(Line::default().name(&field.field).say(format!(
                ": of its faults {} at the extremes and {} cannot",
                if field.shows_at_extremes == 1 {
                    "1 shows".to_owned()
                } else {
                    format!("{} show", count(field.shows_at_extremes))
                },
                count(field.cannot_show)
            ))));
        }
        if field.only_extremes {
            blocks.push(Block::Line(
                Line::default()
                    .name(&field.field)
                    .say(": only minimum and maximum betray it; the 1st to 99th percentile lie inside the bounds"),
            ));
        }
        if field.text_numbers.n > 0 {
            blocks.push(Block::Line(Line::default().name(&field.field).say(format!(
                ": {} sent as text, {} to {}",
                plural(field.text_numbers.n, "number"),
                field.text_numbers.min.as_deref().unwrap_or("?"),
                field.text_numbers.max.as_deref().unwrap_or("?")
            ))));
        }
        if !field.counts.is_empty() {
            blocks.push(counts(field, options));
        }
    }
    blocks
}

fn counts<'r>(field: &Field, options: &RenderOptions) -> Block<'r> {
    let mut counts: Vec<_> = field.counts.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let (shown, left_out) = cut(&counts, options.top, "value", |(_, n)| **n, "answer", "counts");
    let mut line = Line::default().name(&field.field).say(": ");
    for (index, (value, n)) in shown.iter().enumerate() {
        line = line
            .say(if index > 0 { ", " } else { "" })
            .value(value, crate::schema::ValueType::String)
            .say(format!(" {}", count(**n)));
    }
    if let Some(left_out) = left_out {
        line = line.say(". ").say(left_out);
    }
    Block::Line(line)
}

fn clients<'r>(report: &Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut rows: Vec<_> = report.audit.clients.iter().filter(|row| row.elicited > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.unusable, row.elicited)));
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&[
        "client",
        "version",
        "asked",
        "usable",
        "unusable",
        "rate",
        "low",
        "high",
        "p50 ms",
        "under 500 ms",
        "nobody there",
    ]);
    let (shown, left_out) = cut(&rows, options.top, "client", |row| row.elicited, "question", "clients");
    for row in shown {
        let [point, low, high] = rate(row.unusable_rate);
        table.push(vec![
            Cell::from(&row.client),
            row.version.as_ref().into(),
            row.elicited.into(),
            row.usable.into(),
            row.unusable.into(),
            point,
            low,
            high,
            row.latency_p50_ms.into(),
            crate::report::grid::share_of(row.fast_share),
            row.nobody_at_keyboard.into(),
        ]);
    }
    table.left_out = left_out;
    vec![
        Block::Subheading(Line::new("By client (rate of unusable answers with its Wilson 95 % interval)")),
        Block::Table(table),
    ]
}
