//! Recorded traffic held against what its recording programs knew.
//!
//! `truth.json` beside each capture was folded from what the driving program asked and what its SDK handed back, never
//! from the capture. Where the truth and the report name a thing differently, the mapping stands beside its check.

use crate::support::{capture, count, rows, run};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const RENDERINGS: [&str; 3] = ["raw.ndjson", "envelope.ndjson", "claude-desktop.log"];

type Counts<K> = BTreeMap<K, u64>;

/// A prompt's name as it stands in `truth.json`: JSON text, `null` where no name was sent.
type Prompt = String;

/// What a capture and its truth are both folded to.
#[derive(Debug, Default, PartialEq)]
struct Facts {
    calls: Counts<Prompt>,
    ok: Counts<Prompt>,
    unanswered: Counts<Prompt>,
    error_codes: Counts<(Prompt, String)>,
    values: Counts<(Prompt, String, Given)>,
    unknown_keys: Counts<(Prompt, String)>,
    missing_required: Counts<(Prompt, String)>,
    non_strings: Counts<(Prompt, String)>,
    unknown_prompts: Counts<Prompt>,
    wire_requests: u64,
    listings: u64,
    sessions: u64,
    elicitations: u64,
    by_action: Counts<&'static str>,
    accepts_valid: u64,
    accepts_invalid: u64,
    invalid_reasons: Counts<String>,
    completions: Counts<String>,
    completion_errors: u64,
}

/// A value as both sides can name it: its JSON type and its text, long ones by their length alone (the truth keeps no
/// text over 120 characters).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    Short(&'static str, String),
    Long(u64),
}

#[test]
fn prompts_over_stdio() {
    holds("01-stdio-prompts-py1x", 0);
}

#[test]
fn elicitations_of_2025() {
    holds("05-stdio-elicitation-2025", 0);
}

#[test]
fn input_required_of_2026() {
    holds("08-stdio-2026-input-required-py2", 0);
}

/// Each of the four sessions wrote one line that is no JSON: four rejected records, exit status 2.
#[test]
fn batches_nobody_answers() {
    let reports = holds("11-batch-2025-03-26/stdio-raw", 2);
    for (rendering, report) in RENDERINGS.iter().zip(&reports) {
        assert_eq!(count(&report["ledger"]["totals"], "rejected"), 4, "{rendering}");
        let batched: u64 = rows(report, "calls").iter().map(|row| count(row, "in_batches")).sum();
        assert_eq!(batched, 8, "{rendering}");
    }
}

/// Bare lines carry nothing that tells the three sessions apart, and of the desktop log's two tags one stands for two
/// sessions: the report says so.
#[test]
fn interleaved_sessions() {
    let reports = holds("14-two-servers-interleaved", 0);
    let says_so = |report: &Value| rows(report, "findings").iter().any(|finding| finding["rule"] == "MT903");
    assert!(says_so(&reports[0]), "bare lines");
    assert!(!says_so(&reports[1]), "envelopes name their sessions");
    assert!(says_so(&reports[2]), "desktop log");
    let qualities = |report: &Value| -> BTreeSet<(String, String)> {
        rows(report, "sessions").iter().map(|row| (text(&row["server"]), text(&row["session_quality"]))).collect()
    };
    let pairs = |list: [(&str, &str); 2]| list.map(|(server, quality)| (server.to_owned(), quality.to_owned())).into();
    assert_eq!(qualities(&reports[0]), pairs([("support-desk-py1", "guess"), ("support-desk-ts1", "guess")]));
    assert_eq!(qualities(&reports[1]), pairs([("support-desk-py1", "exact"), ("support-desk-ts1", "exact")]));
    assert_eq!(qualities(&reports[2]), pairs([("support-desk-py1", "guess"), ("support-desk-ts1", "cut")]));
}

/// The handlers that print `None` and `undefined` are named, and only where another call of the prompt has a value
/// there (the truth counts kinds of holes, the report counts calls).
#[test]
fn holes_in_rendered_text() {
    let leaks = |folder: &str, prompt: &str, server: &str| -> u64 {
        let report = audit(folder, "envelope.ndjson", 0);
        rows(&report, "handlers")
            .iter()
            .filter(|row| row["kind"] == "leak" && row["prompt"] == prompt && row["server"] == server)
            .map(|row| count(row, "defects"))
            .sum()
    };
    assert_eq!(leaks("01-stdio-prompts-py1x", "reply_to_review", "support-desk-py1"), 7);
    assert_eq!(leaks("14-two-servers-interleaved", "reply_to_review", "support-desk-py1"), 14);
    // 14 calls without an area, 7 without a tone: calls that lack both are counted once.
    let both = leaks("14-two-servers-interleaved", "reply_to_review", "support-desk-ts1");
    assert!((14..=16).contains(&both), "{both}");
    assert_eq!(leaks("08-stdio-2026-input-required-py2", "reply_interactive", "support-desk-py2-mrtr"), 5);
}

/// Where the capture names its sessions, each session's attempts and failures are those its program saw.
#[test]
fn attempts_of_each_session() {
    for folder in ["01-stdio-prompts-py1x", "14-two-servers-interleaved"] {
        let truth = truth(folder);
        let report = audit(folder, "envelope.ndjson", 0);
        let mut seen: Counts<(String, Prompt)> = BTreeMap::new();
        let mut failing: Counts<(String, Prompt)> = BTreeMap::new();
        for row in rows(&report, "sessions") {
            let key = (text(&row["session"]), row["prompt"].to_string());
            add(&mut seen, key.clone(), count(row, "attempts"));
            add(&mut failing, key, count(row, "failing"));
        }
        let mut expected_seen = BTreeMap::new();
        let mut expected_failing = BTreeMap::new();
        for (session, facts) in object(&truth["per_session"]) {
            for (prompt, row) in object(&facts["prompts_get"]) {
                let key = (session.clone(), prompt.clone());
                add(&mut expected_seen, key.clone(), count(row, "requests") - count(row, "unanswered"));
                add(&mut expected_failing, key, object(&row["error"]).values().filter_map(Value::as_u64).sum());
            }
        }
        assert_eq!(seen, expected_seen, "{folder}");
        assert_eq!(failing, expected_failing, "{folder}");
    }
}

/// Audits the three renderings of a capture and holds each against the truth.
fn holds(folder: &str, status: i32) -> Vec<Value> {
    let expected = expected(folder);
    RENDERINGS
        .iter()
        .map(|rendering| {
            let report = audit(folder, rendering, status);
            let found = found(&report);
            // Field by field, so that a failure names what differs.
            macro_rules! same {
                ($($field:ident),+) => {$(
                    assert_eq!(found.$field, expected.$field, "{folder}/{rendering}: {}", stringify!($field));
                )+};
            }
            same!(calls, ok, unanswered, error_codes, values, unknown_keys, missing_required, non_strings);
            same!(unknown_prompts, wire_requests, listings, sessions, elicitations, by_action);
            same!(accepts_valid, accepts_invalid, invalid_reasons, completions, completion_errors);
            closes(&report);
            // None of these recordings has a stray answer or a session that missed a change.
            for row in rows(&report, "elicitations") {
                for kind in ["replayed", "key_not_asked", "state_unknown"] {
                    assert_eq!(count(&row["stray"], kind), 0, "{folder}/{rendering}: stray {kind}");
                }
            }
            for row in rows(&report, "sessions") {
                assert_eq!(row["stale"], Value::Bool(false), "{folder}/{rendering}: {row}");
            }
            report
        })
        .collect()
}

fn audit(folder: &str, rendering: &str, status: i32) -> Value {
    let file = capture(folder, rendering);
    let run = run(["audit".as_ref(), file.as_os_str(), "--reveal".as_ref(), "--json".as_ref(), "-".as_ref()]);
    assert_eq!(run.status, Some(status), "{folder}/{rendering}: {}", run.stderr);
    let report = run.json();
    assert_eq!(report["schema"], "mcptally.report/1");
    report
}

fn truth(folder: &str) -> Value {
    let text = fs::read_to_string(capture(folder, "truth.json")).expect("truth.json is readable");
    serde_json::from_str(&text).expect("truth.json is JSON")
}

/// What the report must say, from `truth.json` (and, for batches, from the wire).
fn expected(folder: &str) -> Facts {
    let truth = truth(folder);
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
    if let Some(asked) = truth.get("completions") {
        for (argument, requests) in object(&asked["by_argument"]) {
            add(&mut facts.completions, argument.clone(), requests.as_u64().expect("a count"));
        }
        facts.completion_errors = object(&asked["errors"]).values().filter_map(Value::as_u64).sum();
    }
    // The truth of the batch recording keeps members of arrays apart (`other`: sent, not answered); the report counts
    // them as the calls they are.
    for call in batch_members(folder) {
        let prompt = call["params"]["name"].to_string();
        add(&mut facts.calls, prompt.clone(), 1);
        add(&mut facts.unanswered, prompt.clone(), 1);
        for (argument, value) in object(&call["params"]["arguments"]) {
            add(&mut facts.values, (prompt.clone(), argument.clone(), given(value)), 1);
        }
        facts.wire_requests += 1;
    }
    without_zeros(facts)
}

/// `prompts/get` requests that stand in a JSON array on the wire.
fn batch_members(folder: &str) -> Vec<Value> {
    let text = fs::read_to_string(capture(folder, "raw.ndjson")).expect("the capture is readable");
    text.split('\n')
        .filter(|line| line.starts_with('['))
        .filter_map(|line| serde_json::from_str::<Vec<Value>>(line).ok())
        .flatten()
        .filter(|member| member["method"] == "prompts/get")
        .collect()
}

/// What the report says. Servers and clients are folded together: the truth counts per prompt.
fn found(report: &Value) -> Facts {
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
    for row in rows(report, "completion") {
        let name = format!("{}/{}", text(&row["prompt"]), text(&row["argument"]));
        add(&mut facts.completions, name, count(row, "asked"));
        facts.completion_errors += count(row, "error");
    }
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
                other => other,
            };
            add(facts, format!("{word}:{name}"), answers.as_u64().expect("a count"));
        }
    }
}

/// The equations of the report.
fn closes(report: &Value) {
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

fn given(value: &Value) -> Given {
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

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}"))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn fold(counts: &mut Counts<(Prompt, String)>, prompt: &str, row: &Value) {
    for (name, number) in object(row) {
        add(counts, (prompt.to_owned(), name.clone()), number.as_u64().expect("a count"));
    }
}

fn add<K: Ord>(counts: &mut Counts<K>, key: K, number: u64) {
    *counts.entry(key).or_default() += number;
}

/// Rows that count nothing say the same as no row.
fn without_zeros(mut facts: Facts) -> Facts {
    macro_rules! drop_zeros {
        ($($field:ident),+) => {$( facts.$field.retain(|_, number| *number > 0); )+};
    }
    drop_zeros!(calls, ok, unanswered, error_codes, values, unknown_keys, missing_required, non_strings);
    drop_zeros!(unknown_prompts, by_action, invalid_reasons, completions);
    facts
}
