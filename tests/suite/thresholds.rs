//! `[thresholds]` of `mcptally.toml` from the file to the report.

use crate::support::{rows, run, unwrapped};
use serde_json::json;
use std::fs;

fn audit_tickets(settings: &str, arguments: &[&str]) -> crate::support::Run {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("settings.toml");
    fs::write(&file, settings).expect("settings are written");
    let file = file.to_string_lossy().into_owned();
    run(["audit", "sample-logs/tickets", "--expect", &file].iter().chain(arguments))
}

/// Eighteen of the sessions fail throughout, 240 failures in all: where more are asked for, nothing is concluded, and the
/// report says who asked.
#[test]
fn a_moved_threshold_moves_the_verdict_and_is_named() {
    let verdict = |settings: &str| {
        let run = audit_tickets(settings, &["--json", "-"]);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let report = run.json();
        (rows(&report, "session_verdicts")[0]["verdict"].clone(), report["thresholds"].clone())
    };
    assert_eq!(verdict(""), (json!("per-session cause"), json!([])));
    let moved = json!([{"name": "session_bad_attempts", "value": 241.0, "default": 5.0}]);
    assert_eq!(verdict("[thresholds]\nsession_bad_attempts = 241\n"), (json!("not enough evidence"), moved));
    let text = audit_tickets("[thresholds]\nsession_bad_attempts = 241\n", &[]).text();
    assert!(text.contains("Thresholds moved by mcptally.toml: session_bad_attempts = 241 (default 5)"), "{text}");
}

#[test]
fn a_mistyped_threshold_stops_the_run_at_its_place() {
    let run = audit_tickets("[thresholds]\nsession_bad_attemps = 241\n", &[]);
    assert_eq!(run.status, Some(2));
    // The path, whose length is the machine's, decides where the message is broken.
    assert!(unwrapped(&run.stderr).contains("did you mean `session_bad_attempts`?"), "{}", run.stderr);
    assert!(run.stderr.contains("2 │ session_bad_attemps = 241"), "{}", run.stderr);
}

#[test]
fn every_threshold_is_explained() {
    let page = run(["explain", "thresholds"]);
    assert_eq!(page.status, Some(0), "{}", page.stderr);
    assert!(page.text().contains("session_level = 0.01\n"), "{}", page.text());
}
