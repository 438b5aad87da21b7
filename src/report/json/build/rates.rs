//! Rates over time, and when things first came.

use super::{Names, finite};
use crate::audit::tables as from;
use crate::report::json::document::{Appearance, Change, Period, Rate, RateSeries, Side};

fn rate(rate: from::Rate) -> Rate {
    Rate { rate: rate.rate, low: rate.low, high: rate.high }
}

fn side(side: from::Side) -> Side {
    Side { n: side.n, hits: side.hits, rate: rate(side.rate) }
}

impl Names<'_> {
    pub fn rate_series(&self, row: &from::RateSeries) -> RateSeries {
        let periods = row.periods.iter().map(|period| Period {
            day: period.day.clone(),
            n: period.n,
            hits: period.hits,
            rate: period.rate.map(rate),
        });
        RateSeries {
            server: self.name(&row.server),
            kind: row.kind,
            prompt: self.optional(row.prompt.as_ref()),
            argument: self.optional(row.argument.as_ref()),
            operation: self.optional(row.operation.as_ref()),
            n: row.n,
            hits: row.hits,
            rate: row.rate.map(rate),
            sessions: row.sessions,
            n_effective: finite(row.n_effective),
            n_without_time: row.n_without_time,
            hits_without_time: row.hits_without_time,
            unit: row.unit,
            periods: periods.collect(),
            change: self.change(&row.change),
        }
    }

    fn change(&self, row: &from::Change) -> Change {
        let place = |at: &Option<from::Evidence>| at.as_ref().map(|at| self.evidence(at));
        Change {
            verdict: row.verdict,
            ratio: finite(row.ratio),
            p_value: row.p_value,
            p_adjusted: row.p_adjusted,
            permutations: row.permutations,
            p_days: row.p_days,
            last_before: place(&row.last_before),
            first_after: place(&row.first_after),
            last_inside: place(&row.last_inside),
            before: row.before.map(side),
            after: row.after.map(side),
        }
    }

    pub fn appearance(&self, row: &from::Appearance) -> Appearance {
        let (what, hash) = match &row.what {
            from::What::Value(value) => (self.0.exact(value).text, Some(self.0.digest(value))),
            from::What::Key(key) => (Some(self.name(key)), None),
            from::What::Word(word) => (Some(word.clone()), None),
        };
        Appearance {
            server: self.name(&row.server),
            kind: row.kind,
            prompt: self.optional(row.prompt.as_ref()),
            operation: self.optional(row.operation.as_ref()),
            argument: self.optional(row.argument.as_ref()),
            what,
            hash,
            day: row.day.clone(),
            first: self.evidence(&row.first),
            before: row.before,
            calls: row.calls,
        }
    }
}
