//! Tables of rates over time, and of when things first came.

use crate::audit::tables::{Audit, RateSeries, What};
use crate::report::grid::{Cell, Grid, evidence, rate};
use crate::schema::ValueType;

const SUBJECT: [&str; 5] = ["server", "kind", "prompt", "operation", "argument"];

pub fn rate_grids(audit: &Audit) -> Vec<Grid> {
    let with = |name, columns: &[&'static str]| Grid::new(name, &[&SUBJECT, columns].concat());
    let mut series = with(
        "rates",
        &[
            "n",
            "hits",
            "rate",
            "low",
            "high",
            "sessions",
            "n_effective",
            "n_without_time",
            "hits_without_time",
            "unit",
            "verdict",
            "likelihood_ratio",
            "p_value",
            "p_adjusted",
            "permutations",
            "p_days",
            "n_before",
            "hits_before",
            "n_after",
            "hits_after",
            "last_before",
            "file",
            "position",
            "ts",
            "session",
            "last_inside",
        ],
    );
    let mut periods = with("rate_periods", &["day", "n", "hits", "rate", "low", "high"]);
    for row in &audit.rates {
        let subject =
            || row![&row.server, row.kind, row.prompt.as_ref(), row.operation.as_ref(), row.argument.as_ref()];
        series.push([subject(), row![row.n, row.hits], rate(row.rate).to_vec(), change(row)].concat());
        for period in &row.periods {
            let counts = row![period.day.clone(), period.n, period.hits];
            periods.push([subject(), counts, rate(period.rate).to_vec()].concat());
        }
    }
    vec![series, periods, appearances(audit)]
}

fn change(row: &RateSeries) -> Vec<Cell> {
    let change = &row.change;
    let ts = |at: &Option<crate::audit::tables::Evidence>| at.as_ref().and_then(|at| at.ts);
    let [file, position, first, session] = evidence(change.first_after.as_ref());
    row![
        row.sessions,
        row.n_effective,
        row.n_without_time,
        row.hits_without_time,
        row.unit,
        change.verdict,
        change.ratio,
        change.p_value,
        change.p_adjusted,
        change.permutations,
        change.p_days,
        change.before.map(|side| side.n),
        change.before.map(|side| side.hits),
        change.after.map(|side| side.n),
        change.after.map(|side| side.hits),
        ts(&change.last_before),
        file,
        position,
        first,
        session,
        ts(&change.last_inside),
    ]
}

fn appearances(audit: &Audit) -> Grid {
    let columns = ["what", "hash", "day", "before", "calls", "file", "position", "ts", "session"];
    let mut grid = Grid::new("appearances", &[&SUBJECT[..], &columns].concat());
    for row in &audit.appearances {
        let (what, hash) = match &row.what {
            What::Value(value) => (Cell::Value(value.clone(), ValueType::String), Cell::Hash(value.hash)),
            What::Key(key) => (key.into(), Cell::Nothing),
            What::Word(word) => (word.clone().into(), Cell::Nothing),
        };
        let [file, position, ts, session] = evidence(Some(&row.first));
        grid.push(row![
            &row.server,
            row.kind,
            row.prompt.as_ref(),
            row.operation.as_ref(),
            row.argument.as_ref(),
            what,
            hash,
            row.day.clone(),
            row.before,
            row.calls,
            file,
            position,
            ts,
            session,
        ]);
    }
    grid
}
