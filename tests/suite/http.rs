//! Recorded HTTP traffic held against what its recording programs knew, as archives of it tell.
//!
//! Readers of other recordings of the same traffic hold theirs against the same facts.

use crate::support::{capture, count, rows};
use crate::truth::{self, Facts, add, expected, part, truth};
use serde_json::json;
use std::path::PathBuf;

const EVERYTHING: &str = "03-http-everything-sse";
const RENAMED: &str = "06-contract-change-http";
const JSON_AND_2026: &str = "10-http-json-and-2026-pcap";
const BATCHES: &str = "11-batch-2025-03-26";

/// What a report of the recording must say, whatever recorded it.
pub fn everything() -> Facts {
    let mut facts = expected(&truth(EVERYTHING));
    // The truth has the batch of session raw-c under `other`: one call that rendered `5`, one of no such prompt.
    let (args, none) = (json!("args-prompt").to_string(), json!("no-such-prompt").to_string());
    for prompt in [&args, &none] {
        add(&mut facts.calls, prompt.clone(), 1);
    }
    add(&mut facts.ok, args.clone(), 1);
    add(&mut facts.values, (args, "city".to_owned(), truth::given(&json!("5"))), 1);
    add(&mut facts.error_codes, (none.clone(), "-32602".to_owned()), 1);
    add(&mut facts.unknown_prompts, none, 1);
    facts.wire_requests += 2;
    // So are five listings that the server refused, of which one names a session that never was and one names none.
    facts.listings += 5;
    facts.sessions += 2;
    facts
}

/// As [`everything`], of the recording in which one session, B, keeps an outdated declaration.
pub fn renamed() -> Facts {
    let truth = truth(RENAMED);
    let mut facts = expected(&truth);
    facts.stale.insert(truth::text(&truth["sessions"]["B"]["mcp_session_id"]));
    facts
}

/// As [`everything`], of the three servers together.
pub fn json_and_2026() -> Facts {
    expected(&truth(JSON_AND_2026))
}

/// As [`everything`], of both servers together.
pub fn batches() -> Facts {
    expected(&truth(BATCHES))
}

fn archive(folder: &str, name: &str) -> PathBuf {
    capture(folder, name)
}

#[test]
fn answers_as_event_streams() {
    truth::holds(&[archive(EVERYTHING, "capture.har.gz")], &everything(), 0);
}

#[test]
fn a_session_that_missed_a_change() {
    truth::holds(&[archive(RENAMED, "capture.har.gz")], &renamed(), 0);
}

#[test]
fn answers_as_json_and_the_revision_of_2026() {
    let names = [("py1-json", "py1-json"), ("py1-sse", "py1-sse"), ("ts2-2026", "ts2-http")];
    let files = names.map(|(file, _)| archive(JSON_AND_2026, &format!("{file}-capture.har.gz")));
    truth::holds(&files, &json_and_2026(), 0);
    for (file, (_, session)) in files.into_iter().zip(names) {
        truth::holds(&[file], &expected(&part(&truth(JSON_AND_2026), session)), 0);
    }
}

#[test]
fn batches_and_their_answers() {
    let names = [("json", "old-json"), ("sse", "old-sse")];
    let files = names.map(|(file, _)| archive(BATCHES, &format!("{file}-capture.har.gz")));
    let report = truth::holds(&files, &batches(), 0);
    // Seven in each session: two batches of three (one with a notification) and one of a single call.
    let batched: u64 = rows(&report, "calls").iter().map(|row| count(row, "in_batches")).sum();
    assert_eq!(batched, 14);
    for (file, (_, session)) in files.into_iter().zip(names) {
        truth::holds(&[file], &expected(&part(&truth(BATCHES), session)), 0);
    }
}
