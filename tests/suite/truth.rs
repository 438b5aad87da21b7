//! What `truth.json` says and what the report says, folded to the same facts.
//!
//! Any capture of a recording can be held against its truth: [`holds`] for all of a recording, [`part`] for one session.

use crate::support::{capture, count, rows, run};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

pub type Counts<K> = BTreeMap<K, u64>;

/// A prompt's name as it stands in `truth.json`: JSON text, `null` where no name was sent.
pub type Prompt = String;

/// What a capture and its truth are both folded to.
#[derive(Debug, Default, PartialEq)]
pub struct Facts {
    pub calls: Counts<Prompt>,
    pub ok: Counts<Prompt>,
    pub unanswered: Counts<Prompt>,
    pub error_codes: Counts<(Prompt, String)>,
    pub values: Counts<(Prompt, String, Given)>,
    pub unknown_keys: Counts<(Prompt, String)>,
    pub missing_required: Counts<(Prompt, String)>,
    pub non_strings: Counts<(Prompt, String)>,
    pub unknown_prompts: Counts<Prompt>,
    pub wire_requests: u64,
    pub listings: u64,
    pub sessions: u64,
    pub elicitations: u64,
    pub by_action: Counts<&'static str>,
    pub accepts_valid: u64,
    pub accepts_invalid: u64,
    pub invalid_reasons: Counts<String>,
    /// `None` where the truth does not tell.
    pub completions: Option<Counts<String>>,
    /// Answers to no open question. None of the recordings has one.
    pub stray: u64,
    /// Sessions, as the capture names them, that kept an outdated declaration.
    pub stale: BTreeSet<String>,
    pub completion_errors: u64,
}

/// A value as both sides can name it: its JSON type and its text, long ones by their length alone (the truth keeps no
/// text over 120 characters).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Given {
    Short(&'static str, String),
    Long(u64),
}

/// The truth beside the captures of a folder.
pub fn truth(folder: &str) -> Value {
    let text = fs::read_to_string(capture(folder, "truth.json")).expect("truth.json is readable");
    serde_json::from_str(&text).expect("truth.json is JSON")
}

/// The truth of one session of a recording, for captures that hold it alone. It knows nothing of completions, which are
/// counted over the whole recording only.
pub fn part(truth: &Value, session: &str) -> Value {
    let mut part = truth["per_session"][session].clone();
    part["sessions"] = serde_json::json!({ session: truth["sessions"][session] });
    part["completions"] = Value::Null;
    part
}

/// Audits files of a recording together, and gives the report.
pub fn audit(files: &[PathBuf], status: i32) -> Value {
    let files = files.iter().map(|file| file.as_os_str());
    let run = run(["audit".as_ref(), "--reveal".as_ref(), "--json".as_ref(), "-".as_ref()].into_iter().chain(files));
    assert_eq!(run.status, Some(status), "{}", run.stderr);
    let report = run.json();
    assert_eq!(report["schema"], "mcptally.report/1");
    report
}

/// Audits files of a recording together, holds the report against the facts, and gives it. `status` is that of the run:
/// 2 where records are rejected.
pub fn holds(files: &[PathBuf], expected: &Facts, status: i32) -> Value {
    let report = audit(files, status);
    same(&files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", "), &report, expected);
    closes(&report);
    report
}

/// Field by field, so that a failure names what differs.
fn same(name: &str, report: &Value, expected: &Facts) {
    let found = found(report);
    macro_rules! same {
        ($($field:ident),+) => {$(
            assert_eq!(found.$field, expected.$field, "{name}: {}", stringify!($field));
        )+};
    }
    same!(calls, ok, unanswered, error_codes, values, unknown_keys, missing_required, non_strings);
    same!(unknown_prompts, wire_requests, listings, sessions, elicitations, by_action);
    same!(accepts_valid, accepts_invalid, invalid_reasons, stray, stale);
    // A part of a recording has no truth of them.
    if let Some(completions) = &expected.completions {
        assert_eq!(found.completions.as_ref(), Some(completions), "{name}: completions");
        assert_eq!(found.completion_errors, expected.completion_errors, "{name}: completion errors");
    }
}

/// What the report must say, from `truth.json`.
pub fn expected(truth: &Value) -> Facts {
    let mut facts = Facts::default();
    for (prompt, row) in truth.get("prompts_get").map(object).into_iter().flatten() {
        add(&mut facts.calls, prompt.clone(), count(row, "requests"));
        add(&mut facts.ok, prompt.clone(), count(row, "ok"));
        add(&mut facts.unanswered, prompt.clone(), count(row, "unanswered"));
        fold(&mut facts.error_codes, prompt, &row["error"]);
        fold(&mut facts.unknown_keys, prompt, &row["unknown_keys"]);
        fold(&mut facts.missing_required, prompt, &row["missing_required"]);
        fold(&mut facts.non_strings, prompt, &row["non_string_values"]);
        for (argument, values) in object(&row["arguments"]) {
            for (value, calls) in object(values) {
                let key = (prompt.clone(), argument.clone(), given_in_truth(value));
                add(&mut facts.values, key, calls.as_u64().expect("a count"));
            }
        }
    }
    for (prompt, calls) in truth.get("unknown_prompts").map(object).into_iter().flatten() {
        // The report's unknown prompts are names; a call without a name is in the truth's list as `null`.
        if prompt != "null" {
            add(&mut facts.unknown_prompts, prompt.clone(), calls.as_u64().expect("a count"));
        }
    }
    facts.wire_requests = truth.get("prompts_get_total_wire_requests").and_then(Value::as_u64).unwrap_or(0);
    facts.listings = truth.get("prompts_list_requests").and_then(Value::as_u64).unwrap_or(0);
    facts.sessions = object(&truth["sessions"]).len() as u64;
    if let Some(asked) = truth.get("elicitations") {
        facts.elicitations = count(asked, "total");
        for (action, answers) in object(&asked["by_action_on_wire"]) {
            // `Accept` and an answer without an action are malformed answers.
            let name = match action.as_str() {
                "accept" => "accept",
                "decline" => "decline",
                "cancel" => "cancel",
                _ => "malformed",
            };
            add(&mut facts.by_action, name, answers.as_u64().expect("a count"));
        }
        add(&mut facts.by_action, "error", count(asked, "answered_with_jsonrpc_error_by_the_client_sdk"));
        facts.accepts_valid = count(asked, "accepts_schema_valid");
        facts.accepts_invalid = count(asked, "accepts_schema_invalid");
        for (reason, answers) in object(&asked["invalid_reasons"]) {
            add(&mut facts.invalid_reasons, reason.clone(), answers.as_u64().expect("a count"));
        }
    }
    let asked = truth.get("completions");
    let mut completions = BTreeMap::new();
    for (argument, requests) in asked.and_then(|asked| asked["by_argument"].as_object()).into_iter().flatten() {
        add(&mut completions, argument.clone(), requests.as_u64().expect("a count"));
    }
    facts.completions = asked.is_none_or(Value::is_object).then_some(completions);
    if let Some(errors) = asked.and_then(|asked| asked["errors"].as_object()) {
        facts.completion_errors = errors.values().filter_map(Value::as_u64).sum();
    }
    without_zeros(facts)
}

/// What the report says. Servers and clients are folded together: the truth counts per prompt.
pub fn found(report: &Value) -> Facts {
    let mut facts = Facts::default();
    for row in rows(report, "calls") {
        let prompt = row["prompt"].to_string();
        add(&mut facts.calls, prompt.clone(), count(row, "calls"));
        // The truth's `ok`: the last round was no error.
        add(&mut facts.ok, prompt.clone(), count(row, "rendered") + count(row, "input_required"));
        add(&mut facts.unanswered, prompt.clone(), count(row, "unanswered"));
        fold(&mut facts.error_codes, &prompt, &row["error_codes"]);
        assert_eq!(count(row, "not_captured"), 0, "{row}");
        if let Some(calls) = row["declaration"]["unknown prompt"].as_u64() {
            add(&mut facts.unknown_prompts, prompt, calls);
        }
    }
    for row in rows(report, "arguments") {
        let prompt = row["prompt"].to_string();
        let argument = text(&row["argument"]);
        add(&mut facts.non_strings, (prompt.clone(), argument.clone()), count(row, "non_string"));
        for value in rows(row, "values") {
            let key = (prompt.clone(), argument.clone(), given_in_report(value));
            add(&mut facts.values, key, count(value, "calls"));
        }
    }
    for row in rows(report, "unknown_keys") {
        add(&mut facts.unknown_keys, (row["prompt"].to_string(), text(&row["key"])), count(row, "calls"));
    }
    for row in rows(report, "missing_required") {
        add(&mut facts.missing_required, (row["prompt"].to_string(), text(&row["argument"])), count(row, "calls"));
    }
    let totals = &report["ledger"]["totals"];
    facts.wire_requests = count(totals, "prompt_wire_requests");
    facts.sessions = count(totals, "sessions");
    facts.elicitations = count(totals, "elicitations");
    facts.listings = rows(&report["ledger"], "methods")
        .iter()
        .filter(|row| row["method"] == "prompts/list")
        .map(|row| count(row, "requests"))
        .sum();
    for row in rows(report, "elicitations") {
        let accepts =
            ["accept_usable", "accept_unusable", "accept_unchecked", "accept_url"].map(|name| count(row, name));
        add(&mut facts.by_action, "accept", accepts.iter().sum());
        for name in ["decline", "cancel", "malformed", "error"] {
            add(&mut facts.by_action, name, count(row, name));
        }
        facts.accepts_valid += count(row, "accept_usable") + count(row, "accept_url");
        facts.accepts_invalid += count(row, "accept_unusable");
        reasons(row, &mut facts.invalid_reasons);
    }
    let mut completions = BTreeMap::new();
    for row in rows(report, "completion") {
        let name = format!("{}/{}", text(&row["prompt"]), text(&row["argument"]));
        add(&mut completions, name, count(row, "asked"));
        facts.completion_errors += count(row, "error");
    }
    facts.completions = Some(completions);
    for row in rows(report, "elicitations") {
        facts.stray +=
            ["replayed", "key_not_asked", "state_unknown"].map(|kind| count(&row["stray"], kind)).iter().sum::<u64>();
    }
    let stale = rows(report, "sessions").iter().filter(|row| row["stale"] == Value::Bool(true));
    facts.stale = stale.map(|row| text(&row["session"])).collect();
    without_zeros(facts)
}

/// All reasons by field, in the truth's words. The truth has one word, `type`, for a value of another type, for a
/// number with a fraction where an integer is asked, and for a nested value; reasons that belong to no field stand on
/// the elicitation.
fn reasons(elicitation: &Value, facts: &mut Counts<String>) {
    for (reason, word) in [("content missing", "no-content"), ("content not an object", "content-not-object")] {
        add(facts, word.to_owned(), elicitation["reasons"][reason].as_u64().unwrap_or(0));
    }
    for field in rows(elicitation, "fields") {
        let name = text(&field["field"]);
        add(facts, format!("required:{name}"), count(field, "missing_required"));
        for (reason, answers) in object(&field["reasons"]) {
            let word = match reason.as_str() {
                // Counted above, by its own column.
                "missing required" => continue,
                "wrong type" | "not an integer" | "nested value" => "type",
                "unknown key" => "unknown",
                "below minimum" => "minimum",
                "above maximum" => "maximum",
                "not in enum" => "enum",
                "too long" => "maxLength",
                "too many items" => "maxItems",
                "bad format" => "format",
                other => other,
            };
            add(facts, format!("{word}:{name}"), answers.as_u64().expect("a count"));
        }
    }
}

/// The equations of the report.
pub fn closes(report: &Value) {
    let sum = |row: &Value, names: &[&str]| -> u64 { names.iter().map(|name| count(row, name)).sum() };
    for row in rows(report, "calls") {
        let parts = ["rendered", "error", "input_required", "unanswered", "not_captured"];
        assert_eq!(count(row, "calls"), sum(row, &parts), "{row}");
    }
    for row in rows(report, "arguments") {
        assert_eq!(count(row, "calls"), sum(row, &["present", "absent", "not_captured", "not_declared_then"]), "{row}");
        let values: u64 = rows(row, "values").iter().map(|value| count(value, "calls")).sum();
        assert_eq!(count(row, "present"), values, "{row}");
    }
    for row in rows(report, "elicitations") {
        let parts = [
            "accept_usable",
            "accept_unusable",
            "accept_unchecked",
            "accept_url",
            "decline",
            "cancel",
            "error",
            "malformed",
            "unanswered",
            "not_captured",
        ];
        assert_eq!(count(row, "asked"), sum(row, &parts), "{row}");
        for field in rows(row, "fields") {
            let parts = ["usable", "unusable", "missing_required", "absent_optional", "no_content", "unchecked"];
            assert_eq!(count(field, "accepted"), sum(field, &parts), "{field}");
        }
    }
}

/// A value of `truth.json`: JSON text, or `<6299 chars, sha256 …>` for a long one.
fn given_in_truth(text: &str) -> Given {
    match text.strip_prefix('<').and_then(|rest| rest.split_once(" chars")) {
        Some((chars, _)) => Given::Long(chars.parse().expect("a length")),
        None => given(&serde_json::from_str(text).expect("a value of the truth is JSON")),
    }
}

pub fn given(value: &Value) -> Given {
    let (json_type, text) = match value {
        Value::String(text) => ("string", text.clone()),
        Value::Number(number) => ("number", number.to_string()),
        Value::Bool(flag) => ("boolean", flag.to_string()),
        Value::Null => ("null", "null".to_owned()),
        // Members sorted, no spaces: serde_json's map sorts by key.
        Value::Array(_) => ("array", value.to_string()),
        Value::Object(_) => ("object", value.to_string()),
    };
    shorten(json_type, text.chars().count() as u64, text)
}

fn given_in_report(row: &Value) -> Given {
    let json_type = match row["json_type"].as_str() {
        Some("string") => "string",
        Some("number") => "number",
        Some("boolean") => "boolean",
        Some("null") => "null",
        Some("array") => "array",
        Some("object") => "object",
        other => panic!("json_type {other:?}"),
    };
    shorten(json_type, count(row, "chars"), text(&row["value"]))
}

fn shorten(json_type: &'static str, chars: u64, text: String) -> Given {
    if chars > 120 { Given::Long(chars) } else { Given::Short(json_type, text) }
}

pub fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}"))
}

pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn fold(counts: &mut Counts<(Prompt, String)>, prompt: &str, row: &Value) {
    for (name, number) in object(row) {
        add(counts, (prompt.to_owned(), name.clone()), number.as_u64().expect("a count"));
    }
}

pub fn add<K: Ord>(counts: &mut Counts<K>, key: K, number: u64) {
    *counts.entry(key).or_default() += number;
}

/// Rows that count nothing say the same as no row.
fn without_zeros(mut facts: Facts) -> Facts {
    macro_rules! drop_zeros {
        ($($field:ident),+) => {$( facts.$field.retain(|_, number| *number > 0); )+};
    }
    drop_zeros!(calls, ok, unanswered, error_codes, values, unknown_keys, missing_required, non_strings);
    drop_zeros!(unknown_prompts, by_action, invalid_reasons);
    facts
}
