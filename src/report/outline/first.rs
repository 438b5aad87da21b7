//! The first screen: what was read and does it add up, what is wrong, and the three lists that send a reader on.

use super::{Block, Line, Table, cut, elicited, findings, ledger, prompts, sessions, tally};
use crate::report::grid::{Cell, figure, prompt, share};
use crate::report::model::{RenderOptions, Report};

pub fn first_screen<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = vec![Block::Heading("What was read".to_owned())];
    blocks.extend(ledger::equations(report));
    blocks.extend(ledger::errors(report, options));
    blocks.extend(findings(report, options.top));
    blocks.extend(arguments(report, options));
    blocks.extend(columns(report, options));
    blocks.extend(failing(report, options));
    blocks
}

fn arguments<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let rows = prompts::by_unintended(&report.audit.arguments);
    let rows: Vec<_> = rows.into_iter().filter(|row| row.unintended > 0).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&[
        "prompt",
        "argument",
        "calls",
        "intended",
        "unintended",
        "share",
        "absent",
        "not judged",
        "distinct",
    ]);
    let (shown, left_out) = cut(&rows, options.top, "argument", |row| row.unintended, "unintended call", "arguments");
    for row in shown {
        table.push(vec![
            prompt(&row.prompt),
            Cell::from(&row.argument),
            row.calls.into(),
            row.intended.into(),
            row.unintended.into(),
            share(row.unintended, row.calls),
            row.absent.into(),
            (row.not_captured + row.not_declared_then + row.not_judged).into(),
            row.unintended_distinct.into(),
        ]);
    }
    table.left_out = left_out;
    let mut blocks = vec![
        Block::Heading("Arguments with most unintended calls".to_owned()),
        Block::Table(table),
        Block::Line(Line::new(
            "calls = intended + unintended + absent + not judged (no declaration, set or body to judge by); distinct \
             counts unintended values",
        )),
    ];
    for row in shown {
        let classes = row.classes.iter().filter(|(class, _)| **class != "intended");
        let line = Line::default().prompt(row.prompt.as_ref()).say(".").name(&row.argument);
        let classes = tally(classes.map(|(class, n)| (*class, n.calls)));
        blocks.push(Block::Line(line.say(format!(", unintended calls by class: {classes}"))));
    }
    blocks
}

fn columns<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let fields = elicited::by_unusable(&report.audit.elicitations);
    let fields: Vec<_> = fields.into_iter().filter(|(_, field)| elicited::faulty(field) > 0).collect();
    if fields.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&[
        "operation",
        "field",
        "accepted",
        "usable",
        "at fault",
        "not there",
        "min",
        "median",
        "max",
        "declared",
    ]);
    let (shown, left_out) =
        cut(&fields, options.top, "column", |(_, field)| elicited::faulty(field), "answer at fault", "fields");
    for (row, field) in shown {
        table.push(vec![
            Cell::from(&row.operation),
            Cell::from(&field.field),
            field.accepted.into(),
            field.usable.into(),
            elicited::faulty(field).into(),
            (field.absent_optional + field.no_content + field.unchecked).into(),
            figure(field.min.as_ref()),
            field.median.into(),
            figure(field.max.as_ref()),
            elicited::bounds_text(&field.declared_bounds),
        ]);
    }
    table.left_out = left_out;
    let mut blocks = vec![
        Block::Heading("Elicited columns with unusable answers".to_owned()),
        Block::Table(table),
        Block::Line(Line::new(
            "accepted = usable + at fault (unusable or required and missing) + not there (optional, without content, \
             unchecked)",
        )),
    ];
    for (row, field) in shown {
        let line = Line::default().name(&row.operation).say(".").name(&field.field);
        blocks.push(Block::Line(line.say(format!(": {}", elicited::reasons_of(field)))));
    }
    blocks
}

fn failing<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let audit = &report.audit;
    let failing: Vec<_> =
        sessions::by_bad(&audit.sessions).into_iter().filter(|unit| sessions::persistent(unit)).collect();
    let verdicts: Vec<_> = audit.session_verdicts.iter().filter(|row| row.bad > 0).collect();
    if failing.is_empty() && verdicts.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Sessions that fail every time".to_owned())];
    let (shown, left_out) = cut(&verdicts, options.top, "prompt", |row| row.bad, "bad attempt", "session_verdicts");
    for row in shown {
        blocks.extend(sessions::verdict(row));
    }
    blocks.extend(left_out.map(|text| Block::Line(Line::new(text))));
    if failing.is_empty() {
        blocks.push(Block::Line(Line::new("No session fails every time.")));
    } else {
        blocks.push(Block::Table(sessions::table(&failing, options.top)));
    }
    blocks
}
