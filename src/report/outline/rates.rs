//! Rates over time, and what came new.

use super::{Block, Line, Table, cut};
use crate::audit::tables::{Appearance, Evidence, RateSeries, What};
use crate::audit::wording::count;
use crate::report::grid::{Cell, share_of, significant};
use crate::report::model::{RenderOptions, Report};
use crate::schema::ValueType;

/// What came after fewer calls than this was there from the beginning.
const FROM_THE_BEGINNING: u64 = 20;

/// Named changes first, then by the size of the likelihood ratio.
pub fn by_change(rows: &[RateSeries]) -> Vec<&RateSeries> {
    let rank = |row: &RateSeries| match row.change.verdict {
        "change" | "stretch" => 0,
        "days differ" => 1,
        "no change" => 2,
        _ => 3,
    };
    let mut sorted: Vec<&RateSeries> = rows.iter().filter(|row| row.hits > 0).collect();
    sorted.sort_by(|a, b| {
        let ratio = |row: &RateSeries| row.change.ratio.unwrap_or_default();
        rank(a).cmp(&rank(b)).then(ratio(b).total_cmp(&ratio(a)))
    });
    sorted
}

pub fn rates<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let audit = &report.audit;
    let mut blocks = vec![Block::Heading("Rates over time".to_owned())];
    let rows = by_change(&audit.rates);
    if !rows.is_empty() {
        blocks.push(Block::Table(table(&rows, options)));
        let never = audit.rates.len() - rows.len();
        let mut text =
            "A change is named only where random orders of whole sessions support it (Holm over all series), and \
                        from eight days on random orders of whole days too. Every period is in tables/rate_periods.csv"
                .to_owned();
        if never > 0 {
            text.push_str(&format!("; {} series without a hit stand in tables/rates.csv", count(never as u64)));
        }
        blocks.push(Block::Line(Line::new(text + ".")));
    }
    let new: Vec<&Appearance> = audit.appearances.iter().filter(|row| row.before >= FROM_THE_BEGINNING).collect();
    if !new.is_empty() {
        blocks.push(Block::Subheading(Line::new(format!(
            "What came new, after {FROM_THE_BEGINNING} calls or more without it"
        ))));
        blocks.push(Block::Table(appearances(&new, options)));
    }
    blocks
}

fn time(at: Option<&Evidence>) -> Cell {
    at.and_then(|at| at.ts).into()
}

fn table(rows: &[&RateSeries], options: &RenderOptions) -> Table {
    let columns = [
        "prompt or operation",
        "argument",
        "rate of",
        "hits",
        "of",
        "share",
        "verdict",
        "before",
        "after",
        "since",
        "p (Holm)",
    ];
    let mut table = Table::new(&columns);
    let (shown, left_out) = cut(rows, options.top, "rate", |row| row.hits, "hit", "rates");
    for row in shown {
        let change = &row.change;
        table.push(vec![
            row.operation.as_ref().or(row.prompt.as_ref()).map_or(Cell::NoName, Cell::from),
            row.argument.as_ref().into(),
            row.kind.into(),
            row.hits.into(),
            row.n.into(),
            share_of(row.rate.map(|rate| rate.rate)),
            change.verdict.into(),
            share_of(change.before.map(|side| side.rate.rate)),
            share_of(change.after.map(|side| side.rate.rate)),
            time(change.first_after.as_ref()),
            change.p_adjusted.map(significant).into(),
        ]);
    }
    table.left_out = left_out;
    table
}

fn appearances(rows: &[&Appearance], options: &RenderOptions) -> Table {
    let mut table =
        Table::new(&["first day", "what", "kind", "prompt or operation", "argument", "calls before", "calls"]);
    let (shown, left_out) = cut(rows, options.top, "first appearance", |row| row.calls, "call", "appearances");
    for row in shown {
        let what = match &row.what {
            What::Value(value) => Cell::Value(value.clone(), ValueType::String),
            What::Key(key) => key.into(),
            What::Word(word) => word.clone().into(),
        };
        table.push(vec![
            row.day.clone().into(),
            what,
            row.kind.into(),
            row.operation.as_ref().or(row.prompt.as_ref()).map_or(Cell::NoName, Cell::from),
            row.argument.as_ref().into(),
            row.before.into(),
            row.calls.into(),
        ]);
    }
    table.left_out = left_out;
    table
}
