//! The tables an audit yields. Member names are those of `report.json` (schema `mcptally.report/1`) and never change
//! within a major version; more members are added at the end of a struct.
//!
//! Text from traffic is raw here. Only `report::printable` makes it fit for a page: a renderer never prints a
//! [`Shown`] or a raw name without it.

pub mod questions;

use crate::protocol::message::{Text, Ts};
use crate::schema::{Reason, SessionQuality, ValueType};
use serde::Serialize;
use std::collections::BTreeMap;

mod completion;
mod rates;

pub use crate::finding::evidence::{Evidence, Shown};
pub use completion::{CompletionGap, CompletionUse};
pub use rates::{Appearance, Change, Period, RateSeries, Side, What};

/// A proportion with its Wilson 95 % interval. `None` stands where n is 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

// ---- ledger -------------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    pub files: Vec<LedgerFile>,
    pub methods: Vec<LedgerMethod>,
    pub totals: LedgerTotals,
}

/// `lines = message_lines + continuation + noise + blank + rejected + duplicates`.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerFile {
    pub file: Text,
    pub format: Text,
    pub format_version: Option<Text>,
    pub why: Text,
    pub bytes: u64,
    pub lines: u64,
    pub message_lines: u64,
    pub messages: u64,
    pub other: u64,
    pub other_bytes: u64,
    pub noise: u64,
    pub blank: u64,
    pub continuation: u64,
    pub rejected: u64,
    pub duplicates: u64,
    pub duplicate_keys: u64,
    pub first_ts: Option<Ts>,
    pub last_ts: Option<Ts>,
    pub notes: Vec<Text>,
}

/// `requests + orphans = results + errors + unanswered`; over all methods, requests, results, errors and notifications
/// are the messages.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerMethod {
    pub method: Text,
    pub requests: u64,
    pub results: u64,
    pub errors: u64,
    pub notifications: u64,
    pub unanswered: u64,
    pub orphans: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct LedgerTotals {
    pub files: u64,
    pub messages: u64,
    pub prompt_calls: u64,
    pub prompt_wire_requests: u64,
    pub elicitations: u64,
    pub sessions: u64,
    pub rejected: u64,
}

// ---- §2 to §4 -------------------------------------------------------------------------------------------------------

/// `calls = rendered + error + input_required + unanswered + not_captured`.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptCalls {
    pub server: Text,
    /// `None`: no name was sent.
    pub prompt: Option<Text>,
    pub calls: u64,
    pub wire_requests: u64,
    pub in_batches: u64,
    pub rendered: u64,
    pub error: u64,
    pub input_required: u64,
    pub unanswered: u64,
    pub not_captured: u64,
    /// Calls whose arguments the source did not keep: nothing is known of their values.
    pub arguments_not_captured: u64,
    /// Code (or `none`) → calls.
    pub error_codes: BTreeMap<String, u64>,
    /// Calls with at least one unintended argument.
    pub unintended_calls: u64,
    /// `declared`, `unknown prompt`, `no declaration captured`, `superseded` … → calls.
    pub declaration: BTreeMap<&'static str, u64>,
    /// Rule of protocol.md by which the declaration in effect was found → calls.
    pub in_effect_rules: BTreeMap<&'static str, u64>,
    /// Calls of sessions that could not be told apart.
    pub guessed_sessions: u64,
    /// Calls with words of absence in the rendered text (§7), by word.
    pub leaked: BTreeMap<Text, u64>,
    pub leaked_calls: u64,
    /// False where the capture did not keep the name itself.
    pub prompt_captured: bool,
}

/// `calls = present + absent + not_captured + not_declared_then` always, and where a set is known
/// `present = intended + unintended + not_judged`.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    pub server: Text,
    pub prompt: Option<Text>,
    pub argument: Text,
    pub calls: u64,
    pub present: u64,
    pub absent: u64,
    /// Present with zero-length text (part of `empty`).
    pub zero_length: u64,
    /// Present with nothing left after trimming white space.
    pub empty: u64,
    pub not_captured: u64,
    /// Calls judged by a declaration that lacks this argument, and that do not carry it.
    pub not_declared_then: u64,
    pub distinct: u64,
    pub non_string: u64,
    /// `expectations`, `command line`, `description`, `completion (offered, not enforced)`; `None`: open domain.
    pub intended_source: Option<&'static str>,
    pub intended_values: Vec<Text>,
    pub intended: u64,
    pub unintended: u64,
    pub unintended_distinct: u64,
    pub classes: BTreeMap<&'static str, ClassCount>,
    pub ladder: Vec<Repair>,
    pub tail: Option<Tail>,
    pub hosts: Vec<Host>,
    /// Calls descending, then bytes.
    pub values: Vec<ValueCount>,
    /// Intended values nobody used.
    pub unused: Vec<Text>,
    /// Shares of values that parse as a JSON object or array, and that start like one and fail.
    pub json_values: u64,
    pub broken_json_values: u64,
    pub required: Option<bool>,
    /// Unintended calls whose prompt was rendered all the same.
    pub unintended_rendered: u64,
    /// Calls per day (UTC), where times are known: (day, intended, unintended).
    pub days: Vec<(String, u64, u64)>,
    /// Some version of the prompt declares it; false for a key that was only ever sent.
    pub declared: bool,
    /// Present in a call whose declaration in effect gives no set, though another's does (0 in most captures).
    pub not_judged: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ClassCount {
    pub calls: u64,
    pub distinct: u64,
}

/// One step of the repair ladder, cumulative.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repair {
    /// `exact`, `trim`, `case`, `punctuation`, `unicode`, `empty means default`.
    pub repair: &'static str,
    pub recovered: u64,
    pub remaining: u64,
}

/// The unintended values without the empty string.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tail {
    pub singletons: u64,
    /// Mean unintended calls per distinct value.
    pub mean: Option<f64>,
    /// Good–Turing chance that the next unintended call carries a value never seen; null under two or without repeats.
    pub unseen_chance: Option<f64>,
    pub unseen_se: Option<f64>,
    /// Good–Toulmin, another such period.
    pub new_values_expected: Option<f64>,
    /// Percent of unintended calls → rows of a mapping table.
    pub rows_for: BTreeMap<&'static str, u64>,
    pub holdout: Option<Holdout>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Holdout {
    pub train_calls: u64,
    pub test_calls: u64,
    pub rows: u64,
    pub covered: u64,
    pub low: f64,
    pub high: f64,
}

/// `absent + zero_length + blank + filled` are the calls of one client that were judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    pub client: Text,
    pub absent: u64,
    pub zero_length: u64,
    pub blank: u64,
    pub filled: u64,
    pub rendered: u64,
    pub error: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ValueCount {
    pub value: Shown,
    pub json_type: ValueType,
    pub calls: u64,
    /// `intended`, a class of analyses.md §3, or `None` in an open domain.
    pub class: Option<&'static str>,
    pub chars: u64,
    pub words: u64,
    pub sessions: u64,
    pub clients: u64,
    pub first_ts: Option<Ts>,
    pub last_ts: Option<Ts>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnknownKey {
    pub server: Text,
    pub prompt: Option<Text>,
    pub key: Text,
    pub calls: u64,
    pub sessions: u64,
    pub clients: Vec<Text>,
    pub rendered: u64,
    pub error: u64,
    pub input_required: u64,
    pub unanswered: u64,
    pub not_captured: u64,
    /// The key belonged to an earlier declaration of this prompt.
    pub earlier_version: bool,
    /// The declared argument it probably stands for.
    pub rename_of: Option<Text>,
    /// Why: `same letters`, `token subset`, `complementarity` with its 2×2.
    pub evidence: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MissingRequired {
    pub server: Text,
    pub prompt: Option<Text>,
    pub argument: Text,
    pub calls: u64,
    pub rendered: u64,
    pub error: u64,
    pub input_required: u64,
    pub unanswered: u64,
    pub not_captured: u64,
    /// Client → calls.
    pub clients: BTreeMap<Text, u64>,
    /// Present but empty (not part of `calls`).
    pub required_but_empty: u64,
}

// ---- §5 -----------------------------------------------------------------------------------------------------------

/// `asked = accept_usable + accept_unusable + accept_unchecked + accept_url + decline + cancel + error + malformed
/// + unanswered + not_captured`.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    pub server: Text,
    pub operation_kind: &'static str,
    pub operation: Text,
    pub asked: u64,
    pub accept_usable: u64,
    pub accept_unusable: u64,
    pub accept_unchecked: u64,
    pub accept_url: u64,
    pub decline: u64,
    pub cancel: u64,
    pub error: u64,
    pub malformed: u64,
    pub unanswered: u64,
    pub not_captured: u64,
    pub acted_on_unusable: u64,
    pub refused_usable: u64,
    pub stray: StrayCounts,
    /// Verdict reason (first in precedence) → accepted answers.
    pub reasons: BTreeMap<Reason, u64>,
    /// Reasons by cause.
    pub causes: BTreeMap<&'static str, u64>,
    pub fields: Vec<Field>,
    /// Verdict (`usable`, `unusable`) → outcome of the operation → answers.
    pub handled: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Distinct schemas asked with.
    pub schemas: u64,
    /// Position in the operation → (asked, answered by accept).
    pub chain: Vec<(u32, u64, u64)>,
    /// Operations in which a question was repeated more than once after an unusable accept.
    pub loops: u64,
    /// Unusable per month (UTC): (month, accepted, unusable).
    pub months: Vec<(String, u64, u64)>,
    /// Cause of an unusable answer → (asked the same again, usable then).
    pub reprompts: BTreeMap<&'static str, (u64, u64)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StrayCounts {
    pub replayed: u64,
    pub key_not_asked: u64,
    pub state_unknown: u64,
}

/// `accepted = usable + unusable + missing_required + absent_optional + no_content + unchecked`.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub field: Text,
    pub declared: bool,
    /// Declared type of most rows: `string`, `number`, `integer`, `boolean`, `enum`, `array`; with a format: `date`, `date-time`.
    pub kind: Option<Text>,
    pub accepted: u64,
    pub usable: u64,
    pub unusable: u64,
    pub missing_required: u64,
    pub absent_optional: u64,
    pub no_content: u64,
    pub unchecked: u64,
    pub reasons: BTreeMap<Reason, u64>,
    pub reasons_by_client: Vec<ReasonByClient>,
    pub declared_bounds: Vec<DeclaredBounds>,
    /// What the statistics are over: `number`, `length`, `date`, `date-time`, `items`, `counts`.
    pub measure: &'static str,
    pub n: u64,
    pub distinct: u64,
    /// Exact text of the extremes (a number's own text, a date, a length).
    pub min: Option<Text>,
    pub max: Option<Text>,
    pub mean: Option<f64>,
    pub sd: Option<f64>,
    pub p1: Option<f64>,
    pub p5: Option<f64>,
    pub median: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub text_numbers: TextNumbers,
    /// Values of booleans and enums → answers.
    pub counts: BTreeMap<Shown, u64>,
    pub min_at: Option<Evidence>,
    pub max_at: Option<Evidence>,
    /// Set with n ≥ 101 when only the extremes betray.
    pub only_extremes: bool,
    /// Unusable answers that show at the extremes, and that cannot.
    pub shows_at_extremes: u64,
    pub cannot_show: u64,
    /// The permitted values differ between sessions.
    pub enum_varies: bool,
    /// Bounds differ between sessions.
    pub bounds_vary: bool,
    /// Of `not in enum`: where the value is known from → answers.
    pub enum_origins: BTreeMap<&'static str, u64>,
    /// Numbers in arrival order, for the chart (at most 20,000, evenly thinned; `n` says how many there are).
    pub points: Vec<f64>,
    /// Values that stand verbatim in the operation's result.
    pub echoed: u64,
    /// Texts over 200 characters where the schema sets no `maxLength`.
    pub long_unlimited: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ReasonByClient {
    pub client: Text,
    pub version: Option<Text>,
    pub reason: Reason,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredBounds {
    pub minimum: Option<Text>,
    pub maximum: Option<Text>,
    pub asked: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextNumbers {
    pub n: u64,
    pub min: Option<Text>,
    pub max: Option<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    pub client: Text,
    pub version: Option<Text>,
    pub calls: u64,
    pub unintended_calls: u64,
    pub elicited: u64,
    pub usable: u64,
    pub unusable: u64,
    pub unusable_rate: Option<Rate>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    /// Share of accepted answers under 500 ms.
    pub fast_share: Option<f64>,
    pub defaults_share: Option<f64>,
    pub same_as_previous_share: Option<f64>,
    /// Named as answering without a person (n ≥ 10, at least 95 % fast and 95 % alike).
    pub nobody_at_keyboard: bool,
    /// Questions sent although the client did not declare the capability or mode.
    pub not_declared: u64,
    /// `decline` or `cancel` with content.
    pub content_without_accept: u64,
}

// ---- §6 -----------------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq)]
pub struct SessionUnit {
    pub server: Text,
    pub prompt: Option<Text>,
    pub session: Text,
    pub client: Option<Text>,
    pub client_version: Option<Text>,
    pub session_quality: SessionQuality,
    /// Number of the version in effect among the prompt's versions (1 is the first); `None`: none captured.
    pub version_in_effect: Option<u32>,
    pub attempts: u64,
    pub failing: u64,
    pub mismatched: u64,
    pub degraded: u64,
    pub bad: u64,
    pub failing_pattern: &'static str,
    pub mismatched_pattern: &'static str,
    pub bad_pattern: &'static str,
    pub cause: Option<&'static str>,
    pub stale: bool,
    pub listed_at: Option<Ts>,
    /// Number of the version the session saw.
    pub declaration_seen: Option<u32>,
    /// `told`, `never told`, `told and ignored`; `None` where nothing changed.
    pub told: Option<&'static str>,
    pub outdated_keys: Vec<Text>,
    pub first: Option<Evidence>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SessionVerdict {
    pub server: Text,
    pub prompt: Option<Text>,
    pub units: u64,
    pub attempts: u64,
    pub bad: u64,
    pub pooled_rate: Option<f64>,
    pub all_bad_seen: u64,
    pub all_bad_expected: Option<f64>,
    pub share_in_runs: Option<f64>,
    pub icc: Option<f64>,
    pub n_effective: Option<f64>,
    pub p_value: Option<f64>,
    pub p_adjusted: Option<f64>,
    pub verdict: &'static str,
    /// Failures: in every-time and went-bad runs, in mixed units, in single units. They add up to all bad attempts.
    pub bad_in_runs: u64,
    pub bad_mixed: u64,
    pub bad_single: u64,
    pub across_change: Option<AcrossChange>,
    /// Bad attempts over units with two attempts or more: the numerator of `pooled_rate`.
    pub tested_bad: u64,
    /// What counted as bad: `bad`, or `failing` where no declaration was captured to judge keys by.
    pub track: &'static str,
}

/// Sessions alive across a change of the declaration, with an attempt after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcrossChange {
    pub listed_again_bad: u64,
    pub listed_again_clean: u64,
    pub not_listed_bad: u64,
    pub not_listed_clean: u64,
    pub opened_later_bad: u64,
    pub opened_later_clean: u64,
    /// Fisher's exact test, two-sided, of the first two rows.
    pub fisher_p: Option<f64>,
}

// ---- §7, §8 ---------------------------------------------------------------------------------------------------

/// What the handler did with one kind of argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    pub server: Text,
    pub prompt: Option<Text>,
    /// `missing required`, `required but empty`, `line break in closed argument`, `oversized in closed argument`,
    /// `unintended in closed argument`, `over 100 KB`, `unknown key`, `leak`, `silent default`.
    pub kind: &'static str,
    pub argument: Option<Text>,
    pub seen: u64,
    pub rendered: u64,
    pub rendered_empty: u64,
    pub error: u64,
    pub defects: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ContractVersion {
    pub server: Text,
    pub prompt: Text,
    pub version: u32,
    pub first_seen: Option<Ts>,
    pub last_seen: Option<Ts>,
    pub arguments: Vec<Text>,
    /// Sentences: `renamed area to product-area`, `added x`, `removed y`, `z now required`.
    pub diff: Vec<String>,
    pub list_changed: u64,
    pub listed_again: u64,
    pub never_listed_again: u64,
}

/// All tables and findings of one audit.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    pub ledger: Ledger,
    pub calls: Vec<PromptCalls>,
    pub arguments: Vec<Argument>,
    pub unknown_keys: Vec<UnknownKey>,
    pub missing_required: Vec<MissingRequired>,
    pub elicitations: Vec<Elicitation>,
    pub questions: questions::Questions,
    pub clients: Vec<Client>,
    pub sessions: Vec<SessionUnit>,
    pub session_verdicts: Vec<SessionVerdict>,
    pub handlers: Vec<Handler>,
    pub contract: Vec<ContractVersion>,
    pub completion: Vec<CompletionUse>,
    pub completion_gaps: Vec<CompletionGap>,
    pub rates: Vec<RateSeries>,
    pub appearances: Vec<Appearance>,
    pub findings: Vec<crate::finding::Finding>,
    /// Thresholds that the operator moved.
    pub thresholds: Vec<crate::expect::Moved>,
    /// Records that could not be read, in reading order (`rejected.ndjson`).
    pub rejected: Vec<crate::schema::RejectedRow>,
}
