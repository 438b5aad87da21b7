//! What `inspect` suggests for a JSON log that it does not know reads that log, pasted as it was printed.

use crate::support::{count, rows, run_in};
use serde_json::{Value, json};
use std::fs;

fn asks(id: u64, servings: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "prompts/get",
           "params": {"name": "scale_recipe", "arguments": {"servings": servings}}})
}

fn answers(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"messages": []}})
}

fn changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Logs that no format knows, each with what its description must find: prompt calls, lines of it, words of it.
fn logs() -> Vec<(&'static str, String, u64, Vec<&'static str>)> {
    let at = |second: u32| format!("2026-02-01T10:00:{second:02}Z");
    let wrapped = |second, flow, message: Value| {
        json!({"at": at(second), "flow": flow, "ctx": {"connection": "c-1", "serverName": "recipes"},
               "rpc": {"raw": message.to_string()}})
    };
    let nested = lines(&[
        json!({"at": at(0), "note": "listening"}),
        wrapped(1, "up", asks(1, "6")),
        wrapped(2, "down", changed()),
        wrapped(3, "down", answers(1)),
        wrapped(4, "up", asks(2, "4")),
        wrapped(5, "down", answers(2)),
    ]);
    let pair = |second: u64, id| json!({"started": 1_769_940_000_000_u64 + second * 1000, "latency_ms": 12, "mcp": {"in": asks(id, "6"), "out": answers(id)}});
    let pairs =
        serde_json::to_string_pretty(&json!({"meta": {"v": 1}, "trace": {"exchanges": [pair(0, 1), pair(5, 2)]}}));
    let array = serde_json::to_string_pretty(&json!([
        {"when": at(0), "who": "agent", "call": {"inner": asks(1, "6")}},
        {"when": at(1), "who": "tool-host", "call": {"inner": changed()}},
        {"when": at(2), "who": "tool-host", "call": {"inner": answers(1)}},
    ]));
    let several = lines(&[
        json!({"time": at(0), "session": "s-1", "calls": [{"wire": asks(1, "6")}, {"wire": asks(2, "4")}]}),
        json!({"time": at(1), "session": "s-1", "calls": [{"wire": answers(1)}, {"wire": answers(2)}]}),
    ]);
    let behind = [asks(1, "6"), answers(1)].iter().enumerate().fold(String::new(), |log, (second, message)| {
        format!("{log}2026-02-01 10:00:0{second},000 INFO wire {}\n", json!({"v": {"deep": message}}))
    });
    vec![
        (
            "nested.log",
            nested,
            2,
            vec![
                "body = \"/rpc/raw\"",
                "time = \"/at\"",
                "session = \"/ctx/connection\"",
                "server = \"/ctx/serverName\"",
                "direction = { at = \"/flow\", table = { \"down\" = \"server\", \"up\" = \"client\" } }",
            ],
        ),
        (
            "pairs.json",
            pairs.unwrap_or_default(),
            2,
            vec![
                "records = \"/trace/exchanges\"",
                "body = \"/mcp/in\"",
                "body = \"/mcp/out\"",
                "plus = \"/latency_ms\"",
            ],
        ),
        (
            "array.json",
            array.unwrap_or_default(),
            1,
            vec!["records = \"array\"", "body = \"/call/inner\"", "\"agent\" = \"client\", \"tool-host\" = \"server\""],
        ),
        ("several.jsonl", several, 2, vec!["each = \"/calls/*\"", "body = \"./wire\"", "session = \"/session\""]),
        ("behind.txt", behind, 1, vec!["before = ", "time = \"$at\"", "body = \"/v/deep\""]),
    ]
}

#[test]
fn a_suggestion_reads_the_log_it_was_made_for() {
    for (name, log, calls, wanted) in logs() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(name), log).expect("a log is written");
        let run = run_in(folder.path(), ["inspect", name]);
        assert_eq!(run.status, Some(2), "{name}: the log is not known: {}", run.text());
        let suggested = run.text();
        for line in wanted {
            assert!(suggested.contains(line), "{name}: no {line} in\n{suggested}");
        }
        fs::write(folder.path().join("mcptally.toml"), &suggested).expect("the suggestion is pasted");
        let run = run_in(folder.path(), ["audit", name, "--json"]);
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{name}:\n{suggested}");
        let report = run.json();
        let row = &rows(&report["ledger"], "files")[0];
        assert_eq!(count(row, "rejected"), 0, "{name}: {row}");
        assert_eq!(rows(&report, "calls").iter().map(|row| count(row, "calls")).sum::<u64>(), calls, "{name}");
        assert_eq!(rows(&report, "calls").iter().map(|row| count(row, "rendered")).sum::<u64>(), calls, "{name}");
        assert!(row["first_ts"].is_string(), "{name}: no times: {row}");
        let again = run_in(folder.path(), ["inspect", name]);
        assert!(!again.text().contains("no known format"), "{name}: {}", again.text());
    }
}

#[test]
fn nothing_is_suggested_for_a_log_without_messages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.jsonl"), "{\"level\":\"info\",\"text\":\"hello\"}\n").expect("written");
    let run = run_in(folder.path(), ["inspect", "a.jsonl"]);
    assert_eq!((run.status, run.text().as_str()), (Some(2), ""), "{}", run.stderr);
}
