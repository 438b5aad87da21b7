//! Recorded traffic held against what its recording programs knew.
//!
//! `truth.json` beside each capture was folded from what the driving program asked and what its SDK handed back, never
//! from the capture. Where the truth and the report name a thing differently, the mapping stands beside its check.

use crate::support::{capture, count, rows};
use crate::truth::{self, Counts, Prompt, add, audit, expected, given, object, text, truth};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const RENDERINGS: [&str; 3] = ["raw.ndjson", "envelope.ndjson", "claude-desktop.log"];

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
        let report = audit(&[capture(folder, "envelope.ndjson")], 0);
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
        let report = audit(&[capture(folder, "envelope.ndjson")], 0);
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
    let mut expected = expected(&truth(folder));
    // The truth of the batch recording keeps members of arrays apart (`other`: sent, not answered); the report counts
    // them as the calls they are.
    for call in batch_members(folder) {
        let prompt = call["params"]["name"].to_string();
        add(&mut expected.calls, prompt.clone(), 1);
        add(&mut expected.unanswered, prompt.clone(), 1);
        for (argument, value) in object(&call["params"]["arguments"]) {
            add(&mut expected.values, (prompt.clone(), argument.clone(), given(value)), 1);
        }
        expected.wire_requests += 1;
    }
    RENDERINGS.iter().map(|rendering| truth::holds(&[capture(folder, rendering)], &expected, status)).collect()
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
