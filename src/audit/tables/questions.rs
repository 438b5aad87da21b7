//! Tables about how questions are asked and answered (analyses.md §5): chains of questions, and who answers them.

use super::{Evidence, Rate};
use crate::protocol::message::Text;

/// Everything about questions that is no column of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Questions {
    pub chains: Vec<Chain>,
    pub answering: Vec<Answering>,
}

/// The questions of one operation, one after the other. A question that is asked again after an unusable answer is no
/// further step.
///
/// `started = finished + left + failed + not_known`.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    pub server: Text,
    pub operation_kind: &'static str,
    pub operation: Text,
    /// Runs of the operation that asked at least one question.
    pub started: u64,
    /// The last question was accepted, and the operation ended well.
    pub finished: u64,
    /// The last question was declined, cancelled or never answered.
    pub left: u64,
    /// The last question was answered by an error or a malformed answer, or accepted and the operation failed.
    pub failed: u64,
    /// The capture does not hold the end.
    pub not_known: u64,
    /// Questions of most finished runs (of the longest run, where none finished).
    pub usual_length: u32,
    /// Runs that answered their first question, and those of them that were left before the usual last one.
    pub entered: u64,
    pub lost: u64,
    pub steps: Vec<ChainStep>,
    /// Questions asked again after an unusable answer.
    pub repeats: u64,
}

/// `asked = answered + declined + cancelled + unanswered + failed + not_captured`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChainStep {
    /// From 1.
    pub step: u32,
    pub asked: u64,
    /// Answered by accept, usable or not.
    pub answered: u64,
    pub declined: u64,
    pub cancelled: u64,
    pub unanswered: u64,
    /// Answered by an error or a malformed answer.
    pub failed: u64,
    pub not_captured: u64,
    /// Runs that were left at this question.
    pub left: u64,
    /// Share of all runs that answered this step.
    pub still: Option<Rate>,
    /// Fields of the form that this step asks most often; none for url mode.
    pub fields: Vec<Text>,
}

/// What one client, in one version, does with questions.
///
/// `asked = accept + decline + cancel + error + malformed + unanswered + not_captured`.
#[derive(Debug, Clone, PartialEq)]
pub struct Answering {
    pub client: Text,
    pub version: Option<Text>,
    pub asked: u64,
    pub accept: u64,
    pub decline: u64,
    pub cancel: u64,
    pub error: u64,
    pub malformed: u64,
    pub unanswered: u64,
    pub not_captured: u64,
    /// Refusals (decline or cancel) with a known latency, and those of them under half a second.
    pub timed_refusals: u64,
    pub fast_refusals: u64,
    pub refusal_p50_ms: Option<f64>,
    pub refusal_p95_ms: Option<f64>,
    /// Refusals that carry content, and those whose content is an empty object.
    pub refused_with_content: u64,
    pub refused_with_empty: u64,
    /// Accepted with `{}` although the form requires a field.
    pub accepted_empty: u64,
    /// Named as refusing every question before anybody can have read it.
    pub refuses_unread: bool,
    /// The first such refusal.
    pub first: Option<Evidence>,
}
