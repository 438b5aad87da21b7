//! Recorded HTTP traffic held against what its recording programs knew, as packets of it, what tshark makes of them,
//! and mitmproxy's flows tell. [`crate::http`] holds archives of the same traffic against the same facts.

use crate::http::{batches, everything, json_and_2026, renamed};
use crate::support::{capture, count, rows};
use crate::truth::{self, expected, part, truth};
use std::path::PathBuf;

const JSON_AND_2026: &str = "10-http-json-and-2026-pcap";
const BATCHES: &str = "11-batch-2025-03-26";

/// Files of the three servers, and the names under which the truth has them.
const SERVERS: [(&str, &str); 3] = [("py1-json", "py1-json"), ("py1-sse", "py1-sse"), ("ts2-2026", "ts2-http")];

fn recorded(ending: &str) -> [PathBuf; 3] {
    SERVERS.map(|(file, _)| capture(JSON_AND_2026, &format!("{file}{ending}")))
}

/// All three together, and each alone.
fn holds(files: [PathBuf; 3]) {
    truth::holds(&files, &json_and_2026(), 0);
    for (file, (_, session)) in files.into_iter().zip(SERVERS) {
        truth::holds(&[file], &expected(&part(&truth(JSON_AND_2026), session)), 0);
    }
}

#[test]
fn packets() {
    holds(recorded(".pcapng"));
}

#[test]
fn packets_as_tshark_prints_them_line_by_line() {
    holds(recorded(".ek.ndjson.gz"));
}

#[test]
fn packets_as_tshark_prints_them_in_one_array() {
    holds(recorded(".tshark.json.gz"));
}

#[test]
fn packets_with_their_bytes_as_tshark_prints_them() {
    let file = capture(JSON_AND_2026, "ts2-2026.ek-x.ndjson.gz");
    truth::holds(&[file], &expected(&part(&truth(JSON_AND_2026), "ts2-http")), 0);
}

#[test]
fn flows_of_the_same_traffic() {
    holds(recorded("-flows.mitm.gz"));
}

#[test]
fn flows_of_answers_as_event_streams() {
    truth::holds(&[capture("03-http-everything-sse", "flows.mitm.gz")], &everything(), 0);
}

#[test]
fn flows_of_a_session_that_missed_a_change() {
    truth::holds(&[capture("06-contract-change-http", "flows.mitm.gz")], &renamed(), 0);
}

#[test]
fn flows_of_batches() {
    let files = ["json", "sse"].map(|file| capture(BATCHES, &format!("{file}-flows.mitm.gz")));
    let report = truth::holds(&files, &batches(), 0);
    let batched: u64 = rows(&report, "calls").iter().map(|row| count(row, "in_batches")).sum();
    assert_eq!(batched, 14);
}
