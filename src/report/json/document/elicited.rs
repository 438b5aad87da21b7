//! Members about elicitations.

use super::Evidence;
use crate::report::json::described::object;
use std::collections::BTreeMap;

object! {
    /// asked = accept_usable + accept_unusable + accept_unchecked + accept_url + decline + cancel + error + malformed
    /// + unanswered + not_captured.
    Elicitation {
        server: String,
        operation_kind: &'static str,
        operation: String,
        asked: u64,
        accept_usable: u64,
        accept_unusable: u64,
        accept_unchecked: u64,
        accept_url: u64,
        decline: u64,
        cancel: u64,
        error: u64,
        malformed: u64,
        unanswered: u64,
        not_captured: u64,
        acted_on_unusable: u64,
        refused_usable: u64,
        /// Answers that closed no question, beside the equation.
        stray: Stray,
        /// The verdict reason of each unusable answer.
        reasons: BTreeMap<String, u64>,
        /// Those reasons by cause.
        causes: BTreeMap<String, u64>,
        /// Verdict, then outcome of the operation.
        handled: BTreeMap<String, BTreeMap<String, u64>>,
        /// Distinct schemas asked with.
        schemas: u64,
        chain: Vec<ChainStep>,
        loops: u64,
        /// Cause of an unusable answer, then what came of asking once more.
        reprompts: BTreeMap<String, Reprompt>,
        months: Vec<Month>,
        fields: Vec<Field>,
    }
}

object! {
    Reprompt {
        /// The same question again.
        asked: u64,
        usable: u64,
    }
}

object! {
    Stray { replayed: u64, key_not_asked: u64, state_unknown: u64 }
}

object! {
    /// The questions of one operation, in order.
    ChainStep { step: u32, asked: u64, accepted: u64 }
}

object! {
    Month { month: String, accepted: u64, unusable: u64 }
}

object! {
    /// accepted = usable + unusable + missing_required + absent_optional + no_content + unchecked.
    Field {
        field: String,
        declared: bool,
        kind as "type": Option<String>,
        accepted: u64,
        usable: u64,
        unusable: u64,
        missing_required: u64,
        absent_optional: u64,
        no_content: u64,
        unchecked: u64,
        reasons: BTreeMap<String, u64>,
        reasons_by_client: Vec<ReasonByClient>,
        declared_bounds: Vec<DeclaredBounds>,
        /// What the statistics are over.
        measure: &'static str,
        n: u64,
        distinct: u64,
        /// Exact text.
        min: Option<String>,
        /// Exact text.
        max: Option<String>,
        mean: Option<f64>,
        /// Standard deviation with n - 1.
        sd: Option<f64>,
        /// Quantiles by Hyndman and Fan's type 7.
        p1: Option<f64>,
        p5: Option<f64>,
        median: Option<f64>,
        p95: Option<f64>,
        p99: Option<f64>,
        /// Numbers that were sent as text.
        text_numbers: TextNumbers,
        /// Values of booleans and enums.
        counts: BTreeMap<String, u64>,
        min_at: Option<Evidence>,
        max_at: Option<Evidence>,
        only_extremes: bool,
        shows_at_extremes: u64,
        cannot_show: u64,
        enum_varies: bool,
        bounds_vary: bool,
        /// Of `not in enum`: where else the value is known from.
        enum_origins: BTreeMap<String, u64>,
        /// Values that stand verbatim in the operation's result.
        echoed: u64,
        /// Texts over 200 characters where the schema sets no maxLength.
        long_unlimited: u64,
    }
}

object! {
    ReasonByClient { client: String, version: Option<String>, reason: &'static str, count: u64 }
}

object! {
    DeclaredBounds { minimum: Option<String>, maximum: Option<String>, asked: u64 }
}

object! {
    TextNumbers { n: u64, min: Option<String>, max: Option<String> }
}

object! {
    /// A proportion with its Wilson 95 % interval.
    Rate { rate: f64, low: f64, high: f64 }
}

object! {
    Client {
        client: String,
        version: Option<String>,
        calls: u64,
        unintended_calls: u64,
        elicited: u64,
        usable: u64,
        unusable: u64,
        /// unusable / (usable + unusable) of form answers.
        unusable_rate: Option<Rate>,
        latency_p50_ms: Option<f64>,
        latency_p95_ms: Option<f64>,
        /// Accepted answers under 500 ms.
        fast_share: Option<f64>,
        defaults_share: Option<f64>,
        same_as_previous_share: Option<f64>,
        nobody_at_keyboard: bool,
        /// Questions although the capability or mode was not declared.
        not_declared: u64,
        content_without_accept: u64,
    }
}
