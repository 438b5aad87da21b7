//! Tables of §11: rates over time, and when something first appeared.

use super::{Evidence, Rate, Shown};
use crate::protocol::message::Text;

/// One rate of one subject over time. `n = sum of periods + without_time`, and so are the hits.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSeries {
    pub server: Text,
    /// `failing`, `unintended`, `mismatched`, `unusable` or `declined`.
    pub kind: &'static str,
    /// The prompt of a rate of calls; `None` where no name was sent, and for a rate of answers.
    pub prompt: Option<Text>,
    pub argument: Option<Text>,
    /// The operation that asked, for a rate of answers.
    pub operation: Option<Text>,
    pub n: u64,
    pub hits: u64,
    pub rate: Option<Rate>,
    pub sessions: u64,
    /// How many independent calls these are worth, given how alike those of one session are.
    pub n_effective: Option<f64>,
    /// Calls and hits without a time, which stand in no period.
    pub n_without_time: u64,
    pub hits_without_time: u64,
    /// `day` or `week` (from Monday), UTC.
    pub unit: &'static str,
    /// Periods with calls, in order.
    pub periods: Vec<Period>,
    pub change: Change,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Period {
    /// First day, `2026-06-01`.
    pub day: String,
    pub n: u64,
    pub hits: u64,
    /// A period stands here only where it has calls.
    pub rate: Option<Rate>,
}

/// Whether the rate changed, as far as the test can say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// `not enough evidence`, `no change`, `days differ` (supported over sessions and not over days), `change`, or `stretch`
    /// (from one moment to another, with the rate before and after alike).
    pub verdict: &'static str,
    /// The greatest likelihood ratio G of any split.
    pub ratio: Option<f64>,
    pub p_value: Option<f64>,
    /// Holm across the series that were tested.
    pub p_adjusted: Option<f64>,
    pub permutations: u64,
    /// The same statistic with whole days permuted, where there are days enough.
    pub p_days: Option<f64>,
    /// The split: the last call before it and the first after it.
    pub last_before: Option<Evidence>,
    pub first_after: Option<Evidence>,
    /// Of a stretch: its last call.
    pub last_inside: Option<Evidence>,
    /// Before and after the split; outside and inside of a stretch.
    pub before: Option<Side>,
    pub after: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    pub n: u64,
    pub hits: u64,
    pub rate: Rate,
}

/// When a value, key, reason or error code first came.
#[derive(Debug, Clone, PartialEq)]
pub struct Appearance {
    pub server: Text,
    /// `unintended value`, `unknown key`, `reason` or `error code`.
    pub kind: &'static str,
    pub prompt: Option<Text>,
    pub operation: Option<Text>,
    /// The argument of a value, the field of a reason.
    pub argument: Option<Text>,
    pub what: What,
    /// UTC; `None` where no time is known.
    pub day: Option<String>,
    pub first: Evidence,
    /// Calls of the prompt, or accepted answers of the operation, that came before it.
    pub before: u64,
    /// Calls or answers that carry it.
    pub calls: u64,
}

/// What appeared: text from traffic, a name from traffic, or a word of ours.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Value(Shown),
    Key(Text),
    Word(String),
}
