//! Formats that a user describes in `mcptally.toml`.

use crate::support::{count, rows, run_in};
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = r#"
[formats.gateway]
kind = "records"
match = [{ at = "/kind", is = "mcp" }]
body = "/rpc/raw"
time = "/at"
direction = { at = "/flow", table = { up = "client", down = "server" } }
session = "/conn/id"

[formats.gateway.about]
what = "the log of our gateway"

[[intended]]
prompt = "scale_recipe"
argument = "servings"
values = ["6"]
"#;

const LOG: &str = r#"{"kind":"mcp","at":"2026-02-01T10:00:00Z","flow":"up","conn":{"id":"c-1"},"rpc":{"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"scale_recipe\",\"arguments\":{\"servings\":\"6\"}}}"}}
{"kind":"health","at":"2026-02-01T10:00:01Z"}
{"kind":"mcp","at":"2026-02-01T10:00:02Z","flow":"down","conn":{"id":"c-1"},"rpc":{"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"messages\":[]}}"}}
"#;

fn folder(description: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("mcptally.toml"), description).expect("settings are written");
    fs::write(folder.path().join("gateway.log"), LOG).expect("a log is written");
    folder
}

fn calls(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, u64) {
    let run = run_in(folder, ["audit", "gateway.log", "--json"].iter().chain(arguments));
    if run.stdout.is_empty() {
        return (run.status, run.stderr, 0);
    }
    let report = run.json();
    let calls = rows(&report, "calls").iter().map(|row| count(row, "calls")).sum();
    (run.status, run.stderr, calls)
}

#[test]
fn a_described_log_is_recognised_and_read() {
    let folder = folder(DESCRIPTION);
    let run = run_in(folder.path(), ["inspect", "gateway.log"]);
    assert!(run.text().contains("gateway: 2 of the first 3 lines"), "{}", run.text());
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(calls(folder.path(), &[]), (Some(0), String::new(), 1));
    assert_eq!(calls(folder.path(), &["--format", "gateway"]), (Some(0), String::new(), 1));
    let listed = run_in(folder.path(), ["formats"]);
    assert!(
        listed.text().contains("gateway (your own, of mcptally.toml)\n  the log of our gateway"),
        "{}",
        listed.text()
    );
}

#[test]
fn settings_elsewhere_are_named() {
    let folder = folder(DESCRIPTION);
    fs::rename(folder.path().join("mcptally.toml"), folder.path().join("other.toml")).expect("it is moved");
    let (status, said, _) = calls(folder.path(), &[]);
    assert_eq!(status, Some(2), "{said}");
    assert_eq!(calls(folder.path(), &["--expect", "other.toml"]), (Some(0), String::new(), 1));
    for verb in ["inspect", "ingest"] {
        let frames: &[&str] = if verb == "ingest" { &["--frames", "frames"] } else { &[] };
        let run = run_in(folder.path(), [verb, "gateway.log", "--expect", "other.toml"].iter().chain(frames));
        assert_eq!(run.status, Some(0), "{verb}: {}", run.stderr);
    }
}

/// Each verb that reads captures shows what is wrong with a description where it stands.
#[test]
fn a_broken_description_is_shown_at_its_place() {
    for (wrong, said, place) in [
        ("time = \"/at\"", "tme", "tme"),
        ("body = \"/rpc/raw\"", "body = \"rpc\"", "no place"),
        ("up = \"client\"", "up = \"north\"", "says nothing about the sender"),
        ("[formats.gateway]", "[format.gateway]", "format"),
    ] {
        let broken = if said == "tme" { wrong.replace("time", "tme") } else { said.to_owned() };
        let folder = folder(&DESCRIPTION.replace(wrong, &broken));
        for verb in ["audit", "inspect"] {
            let run = run_in(folder.path(), [verb, "gateway.log"]);
            assert_eq!(run.status, Some(2), "{wrong}: {}", run.stderr);
            assert!(run.stderr.contains(place) && run.stderr.contains("mcptally.toml"), "{wrong}: {}", run.stderr);
            assert!(run.stderr.contains("[mcptally.toml:"), "where is not shown: {}", run.stderr);
        }
    }
}

#[test]
fn a_place_that_is_never_found_is_named_with_what_to_do() {
    let folder = folder(&DESCRIPTION.replace("/rpc/raw", "/rpc/body"));
    let run = run_in(folder.path(), ["audit", "gateway.log", "--format", "gateway"]);
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert!(
        run.stderr.contains(
            "gateway.log: not as gateway is described: `body` of [formats.gateway] (mcptally.toml, line 5): `/rpc/body` \
             was found in none of 3 records; correct the description, or give another --format"
        ),
        "{}",
        run.stderr
    );
}

const LINES: &str = r#"
[formats.gateway]
kind = "lines"
before = '(?P<at>\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d) \[(?P<conn>\w+)\] '
time = { at = "$at", format = ["%d.%m.%Y %H:%M:%S"] }
session = "$conn"

[[formats.gateway.line]]
match = '^(?P<who>up|down) (?P<json>\{)'
direction = { at = "$who", table = { up = "client", down = "server" } }

[[formats.gateway.line]]
match = '^closed'
note = "connections that were closed"
"#;

const TEXT: &str = r#"starting
01.07.2026 10:00:00 [c1] up {"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"scale_recipe","arguments":{"servings":"6"}}} (214 bytes)
01.07.2026 10:00:01 [c1] down {"jsonrpc":"2.0","id":1,"result":{"messages":[]}} (61 bytes)
01.07.2026 10:00:02 [c1] closed
"#;

fn text_folder(description: &str) -> tempfile::TempDir {
    let folder = folder(description);
    fs::write(folder.path().join("gateway.log"), TEXT).expect("a log is written");
    folder
}

#[test]
fn a_described_text_log_is_recognised_and_read() {
    let folder = text_folder(LINES);
    let run = run_in(folder.path(), ["inspect", "gateway.log"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    for said in [
        "gateway: 2 of the first 4 lines are lines with messages",
        "1 connections that were closed",
        "2 times name no zone: taken as UTC; --timezone says which zone they are in",
    ] {
        assert!(run.text().contains(said), "{said}: {}", run.text());
    }
    assert_eq!(calls(folder.path(), &[]), (Some(0), String::new(), 1));
}

/// The zone of a clock is said on the command line; the report says which was taken.
#[test]
fn local_times_are_read_in_the_zone_that_was_given() {
    let folder = text_folder(LINES);
    let first = |zone: Option<&str>| {
        let options = zone.map(|zone| format!("--timezone={zone}"));
        let run = run_in(folder.path(), ["audit", "gateway.log", "--json"].into_iter().chain(options.as_deref()));
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let report = run.text();
        let said = zone.map_or("taken as UTC".to_owned(), |zone| format!("2 times name no zone: taken as {zone}"));
        assert!(report.contains(&said), "{said}: {report}");
        report
    };
    assert!(first(None).contains("2026-07-01T10:00:00"));
    assert!(first(Some("Europe/Berlin")).contains("2026-07-01T08:00:00"));
    let run = run_in(folder.path(), ["audit", "gateway.log", "--timezone", "Mars/Olympus"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("such as Europe/Berlin"), "{}", run.stderr);
}

#[test]
fn a_pattern_that_never_matches_is_named_with_what_to_do() {
    let folder = text_folder(&LINES.replace("up|down", "north|south"));
    let run = run_in(folder.path(), ["audit", "gateway.log", "--format", "gateway"]);
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert!(
        run.stderr.contains(
            "gateway.log: not as gateway is described: `match` of [formats.gateway] (mcptally.toml, line 9): \
             `^(?P<who>north|south) (?P<json>\\{)` matched none of 4 lines; correct the description, or give another \
             --format"
        ),
        "{}",
        run.stderr
    );
    // One of several that matches nothing is told, and no error.
    let folder = text_folder(&LINES.replace("^closed", "^opened"));
    let run = run_in(folder.path(), ["inspect", "gateway.log"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.text().contains("(mcptally.toml, line 13): `^opened` matched no line"), "{}", run.text());
}
