//! Members about chains of questions and those who answer them.

use super::{Evidence, Rate};
use crate::report::json::described::object;

object! {
    /// What goes across elicited columns.
    Questions {
        chains: Vec<Chain>,
        answering: Vec<Answering>,
    }
}

object! {
    /// The questions of one operation, one after the other. started = finished + left + failed + not_known.
    Chain {
        server: String,
        operation_kind: &'static str,
        operation: String,
        /// Runs of the operation that asked at least one question.
        started: u64,
        /// The last question was accepted, and the operation ended well.
        finished: u64,
        /// The last question was declined, cancelled or never answered.
        left: u64,
        /// The last question was answered by an error or a malformed answer, or the operation failed after it.
        failed: u64,
        /// The capture does not hold the end.
        not_known: u64,
        /// Questions of most finished runs.
        usual_length: u32,
        /// Runs that answered their first question.
        entered: u64,
        /// Those of them that were left before the usual last question.
        lost: u64,
        /// Questions asked again after an unusable answer; they are no steps of their own.
        repeats: u64,
        steps: Vec<Step>,
    }
}

object! {
    /// asked = answered + declined + cancelled + unanswered + failed + not_captured.
    Step {
        step: u32,
        asked: u64,
        /// Answered by accept, usable or not.
        answered: u64,
        declined: u64,
        cancelled: u64,
        unanswered: u64,
        failed: u64,
        not_captured: u64,
        /// Runs that were left at this question.
        left: u64,
        /// answered / started.
        still: Option<Rate>,
        /// Fields of the form that this step asks most often.
        fields: Vec<String>,
    }
}

object! {
    /// asked = accept + decline + cancel + error + malformed + unanswered + not_captured.
    Answering {
        client: String,
        version: Option<String>,
        asked: u64,
        accept: u64,
        decline: u64,
        cancel: u64,
        error: u64,
        malformed: u64,
        unanswered: u64,
        not_captured: u64,
        /// Declines and cancels with a known latency.
        timed_refusals: u64,
        fast_refusals: u64,
        refusal_p50_ms: Option<f64>,
        refusal_p95_ms: Option<f64>,
        /// Declines and cancels that carry content.
        refused_with_content: u64,
        /// Declines and cancels whose content is an empty object.
        refused_with_empty: u64,
        /// Accepted with an empty object although the form requires a field.
        accepted_empty: u64,
        refuses_unread: bool,
        /// The first refusal.
        first: Option<Evidence>,
    }
}
