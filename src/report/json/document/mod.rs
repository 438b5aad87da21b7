//! The members of `report.json` (schema `mcptally.report/1`), in the order they are written.

mod completion;
mod elicited;
mod questions;
mod rates;

pub use completion::*;
pub use elicited::*;
pub use questions::*;
pub use rates::*;

use super::described::{Never, object};
use std::collections::BTreeMap;

object! {
    /// What an audit found.
    Document {
        /// Always `mcptally.report/1`. Members are added within a major version, never renamed or removed.
        schema: &'static str,
        /// What varies between two runs over equal input with an equal hash key.
        run: RunFacts,
        /// Inputs that could not be read, or not to their end.
        errors: Vec<InputFault>,
        ledger: Ledger,
        calls: Vec<Calls>,
        arguments: Vec<Argument>,
        unknown_keys: Vec<UnknownKey>,
        missing_required: Vec<MissingRequired>,
        elicitations: Vec<Elicitation>,
        questions: Questions,
        clients: Vec<Client>,
        sessions: Vec<Session>,
        session_verdicts: Vec<SessionVerdict>,
        handlers: Vec<Handler>,
        contract: Vec<Contract>,
        /// Null: this version does not analyse where calls came from.
        provenance: Never,
        completion: Vec<Completion>,
        /// Arguments with a closed set for which completion never offered a value.
        completion_gaps: Vec<CompletionGap>,
        /// Every rate over time.
        rates: Vec<RateSeries>,
        /// When each unintended value, unknown key, reason and error code first came.
        appearances: Vec<Appearance>,
        findings: Vec<FindingItem>,
        /// Thresholds of mcptally.toml that differ from their defaults.
        thresholds: Vec<MovedThreshold>,
    }
}

object! {
    /// See `mcptally explain thresholds`.
    MovedThreshold { name: &'static str, value: f64, default: f64 }
}

object! {
    RunFacts {
        version: String,
        /// The moment of the run.
        at: Option<String>,
        /// Values are shown in full (credentials stay masked).
        revealed: bool,
        lenient: bool,
        /// Every file was read and no record was rejected.
        complete: bool,
    }
}

object! {
    InputFault { file: String, message: String }
}

object! {
    /// What was read, and that it adds up.
    Ledger { files: Vec<LedgerFile>, methods: Vec<LedgerMethod>, totals: LedgerTotals }
}

object! {
    /// lines = message_lines + continuation + noise + blank + rejected + duplicates.
    LedgerFile {
        file: String,
        format: String,
        format_version: Option<String>,
        /// Why this format was chosen.
        why: String,
        /// Size after decompression.
        bytes: u64,
        lines: u64,
        message_lines: u64,
        /// Messages; a batch line holds several.
        messages: u64,
        /// Messages that no analysis reads, not decoded.
        other: u64,
        /// Bytes of the lines that hold only such messages.
        other_bytes: u64,
        noise: u64,
        blank: u64,
        continuation: u64,
        rejected: u64,
        duplicates: u64,
        /// Objects in which a key stood twice.
        duplicate_keys: u64,
        first_ts: Option<String>,
        last_ts: Option<String>,
        notes: Vec<String>,
    }
}

object! {
    LedgerMethod {
        method: String,
        requests: u64,
        results: u64,
        errors: u64,
        notifications: u64,
        /// Requests without an answer: `requests + orphans = results + errors + unanswered`.
        unanswered: u64,
        /// Answers without a request.
        orphans: u64,
    }
}

object! {
    LedgerTotals {
        files: u64,
        messages: u64,
        /// Calls: a prompts/get with the retries that answer its questions is one.
        prompt_calls: u64,
        /// prompts/get requests on the wire.
        prompt_wire_requests: u64,
        elicitations: u64,
        sessions: u64,
        rejected: u64,
    }
}

object! {
    /// calls = rendered + error + input_required + unanswered + not_captured.
    Calls {
        server: String,
        /// Null: no name was sent.
        prompt: Option<String>,
        /// False where the capture did not keep the name.
        prompt_captured: bool,
        calls: u64,
        wire_requests: u64,
        in_batches: u64,
        rendered: u64,
        error: u64,
        input_required: u64,
        unanswered: u64,
        not_captured: u64,
        /// Calls whose arguments the source did not keep: nothing is known of their values.
        arguments_not_captured: u64,
        error_codes: BTreeMap<String, u64>,
        /// Calls with at least one unintended argument.
        unintended_calls: u64,
        /// Whether a declaration was in effect, and why not.
        declaration: BTreeMap<String, u64>,
        /// By which rule the declaration in effect was found.
        in_effect_rules: BTreeMap<String, u64>,
        /// Calls of sessions that could not be told apart.
        guessed_sessions: u64,
        /// Words of absence in rendered text, by word.
        leaked: BTreeMap<String, u64>,
        leaked_calls: u64,
    }
}

object! {
    /// calls = present + absent + not_captured + not_declared_then; where a set is known,
    /// present = intended + unintended + not_judged.
    Argument {
        server: String,
        prompt: Option<String>,
        argument: String,
        /// Some version of the prompt declares it.
        declared: bool,
        required: Option<bool>,
        calls: u64,
        present: u64,
        absent: u64,
        /// Present with zero-length text (part of `empty`).
        zero_length: u64,
        /// Present with nothing left after trimming white space.
        empty: u64,
        not_captured: u64,
        not_declared_then: u64,
        not_judged: u64,
        distinct: u64,
        non_string: u64,
        /// Where the intended set comes from; null: open domain.
        intended_source: Option<String>,
        intended_values: Vec<String>,
        /// Intended values nobody used.
        unused: Vec<String>,
        intended: u64,
        unintended: u64,
        unintended_distinct: u64,
        /// Unintended calls whose prompt was rendered all the same.
        unintended_rendered: u64,
        classes: BTreeMap<String, ClassCount>,
        /// Cumulative: calls recovered after each repair.
        ladder: Vec<Repair>,
        tail: Option<Tail>,
        hosts: Vec<Host>,
        /// Values that parse as a JSON object or array.
        json_values: u64,
        /// Values that start like one and fail.
        broken_json_values: u64,
        /// Per day (UTC), where times are known.
        days: Vec<Day>,
        values: Vec<ValueItem>,
    }
}

object! {
    ClassCount { calls: u64, distinct: u64 }
}

object! {
    Repair { repair: String, recovered: u64, remaining: u64 }
}

object! {
    /// The unintended values without the empty string.
    Tail {
        singletons: u64,
        mean: Option<f64>,
        /// Good-Turing: chance that the next unintended call carries a value never seen.
        unseen_chance: Option<f64>,
        unseen_se: Option<f64>,
        /// Good-Toulmin: new values in another such period.
        new_values_expected: Option<f64>,
        /// Percent of unintended calls to rows of a mapping table.
        rows_for: BTreeMap<String, u64>,
        holdout: Option<Holdout>,
    }
}

object! {
    /// A mapping table built from the first half of the period and tried on the second.
    Holdout { train_calls: u64, test_calls: u64, rows: u64, covered: u64, low: f64, high: f64 }
}

object! {
    Host { client: String, absent: u64, zero_length: u64, blank: u64, filled: u64, rendered: u64, error: u64 }
}

object! {
    Day { day: String, intended: u64, unintended: u64 }
}

object! {
    ValueItem {
        /// Null where withheld.
        value: Option<String>,
        /// `private`, `credential` or `cut` (only the beginning is given); null where the value is whole.
        withheld: Option<&'static str>,
        /// Keyed hash: equal values have equal hashes in reports made with one key.
        hash: String,
        json_type: &'static str,
        calls: u64,
        /// `intended`, or why it is not; null in an open domain.
        class as "class": Option<&'static str>,
        chars: u64,
        words: u64,
        sessions: u64,
        clients: u64,
        first_ts: Option<String>,
        last_ts: Option<String>,
    }
}

object! {
    UnknownKey {
        server: String,
        prompt: Option<String>,
        key: String,
        calls: u64,
        sessions: u64,
        clients: Vec<String>,
        rendered: u64,
        error: u64,
        input_required: u64,
        unanswered: u64,
        not_captured: u64,
        /// The key belonged to an earlier declaration.
        earlier_version: bool,
        /// The declared argument it probably stands for.
        rename_of: Option<String>,
        evidence: Option<String>,
    }
}

object! {
    MissingRequired {
        server: String,
        prompt: Option<String>,
        argument: String,
        calls: u64,
        rendered: u64,
        error: u64,
        input_required: u64,
        unanswered: u64,
        not_captured: u64,
        /// Calls by client.
        clients: BTreeMap<String, u64>,
        /// Present but empty (not part of `calls`).
        required_but_empty: u64,
    }
}

object! {
    Evidence { file: String, position: u64, ts: Option<String>, session: Option<String> }
}

object! {
    Session {
        server: String,
        prompt: Option<String>,
        session: String,
        client: Option<String>,
        client_version: Option<String>,
        session_quality: &'static str,
        /// Number of the version in effect, from 1; null: none captured.
        version_in_effect: Option<u32>,
        attempts: u64,
        failing: u64,
        mismatched: u64,
        degraded: u64,
        bad: u64,
        failing_pattern: &'static str,
        mismatched_pattern: &'static str,
        bad_pattern: &'static str,
        cause: Option<&'static str>,
        stale: bool,
        listed_at: Option<String>,
        declaration_seen: Option<u32>,
        told: Option<&'static str>,
        outdated_keys: Vec<String>,
        first: Option<Evidence>,
    }
}

object! {
    SessionVerdict {
        server: String,
        prompt: Option<String>,
        units: u64,
        attempts: u64,
        bad: u64,
        /// What counted as bad: `bad`, or `failing` where no declaration was captured.
        track: &'static str,
        /// Bad attempts over units with two attempts or more.
        tested_bad: u64,
        /// bad / attempts over units with two attempts or more.
        pooled_rate: Option<f64>,
        all_bad_seen: u64,
        all_bad_expected: Option<f64>,
        share_in_runs: Option<f64>,
        icc: Option<f64>,
        n_effective: Option<f64>,
        p_value: Option<f64>,
        /// Holm across prompts.
        p_adjusted: Option<f64>,
        verdict: &'static str,
        bad_in_runs: u64,
        bad_mixed: u64,
        bad_single: u64,
        across_change: Option<AcrossChange>,
    }
}

object! {
    /// Sessions alive across a change of the declaration, with an attempt after it.
    AcrossChange {
        listed_again_bad: u64,
        listed_again_clean: u64,
        not_listed_bad: u64,
        not_listed_clean: u64,
        opened_later_bad: u64,
        opened_later_clean: u64,
        fisher_p: Option<f64>,
    }
}

object! {
    Handler {
        server: String,
        prompt: Option<String>,
        kind: &'static str,
        argument: Option<String>,
        seen: u64,
        rendered: u64,
        rendered_empty: u64,
        error: u64,
        defects: u64,
    }
}

object! {
    Contract {
        server: String,
        prompt: String,
        version: u32,
        first_seen: Option<String>,
        last_seen: Option<String>,
        arguments: Vec<String>,
        diff: Vec<String>,
        list_changed: u64,
        listed_again: u64,
        never_listed_again: u64,
    }
}

object! {
    FindingItem {
        rule: &'static str,
        severity: String,
        /// Stable between runs.
        fingerprint: String,
        /// Names, outermost first.
        subject: Vec<String>,
        sentence: String,
        numbers: BTreeMap<String, f64>,
        evidence: Vec<Evidence>,
        next_step: String,
    }
}
