//! Members about time.

use super::{Evidence, Rate};
use crate::report::json::described::object;

object! {
    /// n and hits are the sums over the periods and what has no time.
    RateSeries {
        server: String,
        /// `failing`, `unintended`, `mismatched`, `unusable` or `declined`.
        kind: &'static str,
        prompt: Option<String>,
        argument: Option<String>,
        operation: Option<String>,
        n: u64,
        hits: u64,
        rate: Option<Rate>,
        sessions: u64,
        /// How many independent calls these are worth.
        n_effective: Option<f64>,
        n_without_time: u64,
        hits_without_time: u64,
        /// `day` or `week` (from Monday), UTC.
        unit: &'static str,
        /// Periods with calls.
        periods: Vec<Period>,
        change: Change,
    }
}

object! {
    /// `day` is the first of the period.
    Period { day: String, n: u64, hits: u64, rate: Option<Rate> }
}

object! {
    Change {
        /// `not enough evidence`, `no change`, `days differ`, `change` or `stretch`.
        verdict: &'static str,
        /// Greatest likelihood ratio G of any split.
        ratio: Option<f64>,
        p_value: Option<f64>,
        /// Holm across the series that were tested.
        p_adjusted: Option<f64>,
        /// Random orders of whole sessions.
        permutations: u64,
        /// The same with whole days, from eight days on.
        p_days: Option<f64>,
        last_before: Option<Evidence>,
        first_after: Option<Evidence>,
        /// Last call of a stretch.
        last_inside: Option<Evidence>,
        /// Before the split, or outside of the stretch.
        before: Option<Side>,
        /// After the split, or inside of the stretch.
        after: Option<Side>,
    }
}

object! {
    Side { n: u64, hits: u64, rate: Rate }
}

object! {
    Appearance {
        server: String,
        /// `unintended value`, `unknown key`, `reason` or `error code`.
        kind: &'static str,
        prompt: Option<String>,
        operation: Option<String>,
        /// The argument of a value, the field of a reason.
        argument: Option<String>,
        /// Null where withheld.
        what: Option<String>,
        /// Keyed hash of a value.
        hash: Option<String>,
        day: Option<String>,
        first: Evidence,
        /// Calls or accepted answers of the subject that came before.
        before: u64,
        calls: u64,
    }
}
