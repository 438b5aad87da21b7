//! Rates over time close.

use super::{Unclosed, equal};
use crate::audit::tables::RateSeries;

pub fn check(row: &RateSeries) -> Result<(), Unclosed> {
    let subject = row.prompt.as_deref().or(row.operation.as_deref());
    let names = [Some(&*row.server), Some(row.kind), subject, row.argument.as_deref()];
    let mut calls: Vec<u64> = row.periods.iter().map(|period| period.n).collect();
    let mut hits: Vec<u64> = row.periods.iter().map(|period| period.hits).collect();
    calls.push(row.n_without_time);
    hits.push(row.hits_without_time);
    equal("rates", &names, "n = sum of periods + without time", row.n, &calls)?;
    equal("rates", &names, "hits = sum of periods + without time", row.hits, &hits)
}
