//! What goes wrong is named, with the file and what to do, and the exit status says how far the run came.

use crate::support::{Run, capture, count, rows, run, run_in};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"hello"}}
{"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}
"#;
/// The third line is cut.
const BROKEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"hello"}}
{"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}}
{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"na
{"jsonrpc":"2.0","id":3,"method":"ping"}
"#;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::write(folder.join(name), content).expect("a file is written");
}

/// Status and message of a run that must fail and must name what it failed on.
fn fails(run: &Run, names: &str) -> String {
    assert_eq!(run.status, Some(2), "{}\n{}", run.text(), run.stderr);
    let message = unwrapped(&run.stderr);
    assert!(message.contains(names), "the message does not name `{names}`: {message}");
    message
}

/// Text as it reads, whatever the line width it was broken for.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().filter(|word| !matches!(*word, "│" | "|")).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_fault_has_its_own_message() {
    let folder = folder();
    let at = folder.path();
    write(at, "empty.ndjson", "");
    write(at, "noise.bin", (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<u8>>());
    fs::create_dir(at.join("bare")).expect("a folder");
    write(at, "prose.txt", "nothing here was sent by a program\nnor was this\n");
    fs::create_dir_all(at.join("old")).expect("a folder");
    write(
        at,
        "old/manifest.json",
        r#"{"version":"mcptally.frames/0","tool":"0.0.1","hash_key":"","ingests":1,"sources":[]}"#,
    );

    let mut messages = BTreeSet::new();
    let faults = ["missing.ndjson", "noise.bin", "bare", "prose.txt", "old", "nothing-*.ndjson"];
    for path in faults {
        let message = fails(&run_in(at, ["audit", path]), path);
        messages.insert(message.replace(path, "PATH"));
    }
    // An empty file is read to its end: it is named, and nothing is missing from the report.
    let run = run_in(at, ["audit", "empty.ndjson"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("empty.ndjson"), "{}", run.stderr);
    messages.insert(run.stderr.replace("empty.ndjson", "PATH"));
    assert_eq!(messages.len(), faults.len() + 1, "faults share a message: {messages:#?}");
    let message = fails(&run_in(at, ["audit", "old"]), "mcptally.frames/0");
    assert!(message.contains("ingest"), "the message does not say what to do: {message}");
}

/// Skipped where everything can be read (root ignores permissions).
#[cfg(unix)]
#[test]
fn an_unreadable_file_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    write(folder.path(), "locked.ndjson", GOOD);
    write(folder.path(), "open.ndjson", GOOD);
    let locked = folder.path().join("locked.ndjson");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("permissions are set");
    if fs::File::open(&locked).is_ok() {
        return;
    }
    let run = run_in(folder.path(), ["audit", "locked.ndjson", "open.ndjson", "--json", "-"]);
    fails(&run, "locked.ndjson");
    assert_eq!(count(&run.json()["ledger"]["totals"], "prompt_calls"), 1, "the other file is read all the same");
}

#[test]
fn a_folder_in_place_of_a_file_is_named() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    fs::create_dir(folder.path().join("expectations")).expect("a folder");
    fails(&run_in(folder.path(), ["audit", "good.ndjson", "--expect", "expectations"]), "expectations");
    fails(&run_in(folder.path(), ["audit", "good.ndjson", "--json", "expectations"]), "expectations");
}

/// A bad output path fails before the work is done.
#[test]
fn an_output_that_cannot_be_made_is_named() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    let run = run_in(folder.path(), ["audit", "good.ndjson", "--json", "nowhere/report.json"]);
    fails(&run, "nowhere/report.json");
    assert!(run.stdout.is_empty());
}

/// The capture is still there afterwards.
#[test]
fn an_output_over_a_capture_is_refused() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    for option in ["--json", "--markdown"] {
        fails(&run_in(folder.path(), ["audit", "good.ndjson", option, "./good.ndjson"]), "./good.ndjson");
    }
    assert_eq!(fs::read_to_string(folder.path().join("good.ndjson")).expect("still there"), GOOD);
    let both = run_in(folder.path(), ["audit", "good.ndjson", "--json", "-", "--markdown", "-"]);
    fails(&both, "--json and --markdown");
    assert!(both.stdout.is_empty());
}

/// A pattern meets hidden names and names that are not UTF-8; messages show what a name hides.
#[cfg(unix)]
#[test]
fn any_file_name_can_be_met_and_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder();
    write(folder.path(), ".hidden.ndjson", GOOD);
    write(folder.path(), "turned\u{202e}\u{1b}[31m.ndjson", BROKEN);
    let name = std::ffi::OsStr::from_bytes(b"\xff\xfe.ndjson");
    if fs::write(folder.path().join(name), GOOD).is_err() {
        return;
    }
    let files = |pattern: &str| {
        let run = run_in(folder.path(), ["audit", pattern, "--json", "-"]);
        assert!(!run.stderr.contains(['\u{202e}', '\u{1b}']), "{:?}", run.stderr);
        let named: Vec<String> =
            rows(&run.json()["ledger"], "files").iter().map(|file| file["file"].to_string()).collect();
        (run.stderr, named)
    };
    let (stderr, named) = files("*.ndjson");
    assert!(stderr.contains("U+202E"), "{stderr}");
    assert!(named.iter().any(|file| file.contains("turned")) && !named.iter().any(|file| file.contains("hidden")));
    assert_eq!(files("**/*.ndjson").1, named);
    let (_, named) = files(".*.ndjson");
    assert_eq!(named, ["\".hidden.ndjson\""]);
}

#[test]
fn a_missing_file_does_not_stop_the_others() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    let run = run_in(folder.path(), ["audit", "missing.ndjson", "good.ndjson", "--json", "-"]);
    fails(&run, "missing.ndjson");
    let report = run.json();
    assert_eq!(count(&report["ledger"]["totals"], "prompt_calls"), 1);
    assert_eq!(report["run"]["complete"], Value::Bool(false));
    let lenient = run_in(folder.path(), ["audit", "missing.ndjson", "good.ndjson", "--lenient", "--json", "-"]);
    assert_eq!(lenient.status, Some(0), "{}", lenient.stderr);
}

#[test]
fn a_bad_expectations_file_is_shown_at_its_span() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    write(folder.path(), "mcptally.toml", "# tones\n[[intended]]\nprompt = \"hello\"\nargument = 5\n");
    let message = fails(&run_in(folder.path(), ["audit", "good.ndjson"]), "mcptally.toml");
    assert!(message.contains("argument = 5"), "the faulty line is not shown: {message}");
    assert!(message.contains(":4:"), "the line number is not shown: {message}");
    write(folder.path(), "mcptally.toml", "[[intended]\n");
    let message = fails(&run_in(folder.path(), ["audit", "good.ndjson"]), "mcptally.toml");
    assert!(message.contains("[[intended]"), "the faulty line is not shown: {message}");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    for (option, value) in [
        ("--intended", "hello"),
        ("--format", "papyrus"),
        ("--since", "yesterday-ish"),
        ("--only", "everything"),
        ("--fail-on", "MT000"),
        ("--hash-key-file", "good.ndjson"),
    ] {
        fails(&run_in(folder.path(), ["audit", "good.ndjson", option, value]), value);
    }
}

#[test]
fn a_rejected_record_is_listed_and_makes_the_status_2() {
    let folder = folder();
    write(folder.path(), "broken.ndjson", BROKEN);
    let run = run_in(folder.path(), ["audit", "broken.ndjson", "--json", "-", "--out", "out"]);
    fails(&run, "broken.ndjson");
    let report = run.json();
    let file = &rows(&report["ledger"], "files")[0];
    assert_eq!((count(file, "lines"), count(file, "rejected")), (4, 1));
    assert_eq!(count(&report["ledger"]["totals"], "prompt_calls"), 1);
    let rejected = fs::read_to_string(folder.path().join("out/rejected.ndjson")).expect("rejected.ndjson");
    let records: Vec<Value> =
        rejected.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["file"], "broken.ndjson");
    assert_eq!(records[0]["position"], 3);
    assert!(records[0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    // A record nobody could read may hold anything: its text is shown on request only.
    assert_eq!(records[0]["excerpt"], Value::Null);
    assert_eq!(count(&records[0], "excerpt_chars"), 60);
    run_in(folder.path(), ["audit", "broken.ndjson", "--reveal", "--out", "revealed", "--json", "revealed.json"]);
    let rejected = fs::read_to_string(folder.path().join("revealed/rejected.ndjson")).expect("rejected.ndjson");
    assert!(rejected.contains("prompts/get"), "{rejected}");

    let lenient = run_in(folder.path(), ["audit", "broken.ndjson", "--lenient"]);
    assert_eq!(lenient.status, Some(0), "{}", lenient.stderr);
    let ingest = run_in(folder.path(), ["ingest", "broken.ndjson", "--frames", "frames"]);
    fails(&ingest, "broken.ndjson");
    // What was rejected once is still incomplete when the frames are audited later.
    let later = run_in(folder.path(), ["audit", "frames", "--json", "-"]);
    assert_eq!(later.status, Some(2), "{}", later.stderr);
    assert_eq!(count(&later.json()["ledger"]["totals"], "rejected"), 1);
}

#[test]
fn fail_on_sets_the_status_and_2_wins() {
    let capture = capture("05-stdio-elicitation-2025", "envelope.ndjson");
    let file = capture.to_string_lossy().into_owned();
    let status = |arguments: &[&str]| run(["audit", file.as_str()].iter().chain(arguments)).status;
    assert_eq!(status(&[]), Some(0));
    assert_eq!(status(&["--fail-on", "error"]), Some(1));
    assert_eq!(status(&["--fail-on", "error=100000"]), Some(0));

    let report = run(["audit", file.as_str(), "--json", "-"]).json();
    let rule = rows(&report, "findings")[0]["rule"].as_str().expect("a rule").to_owned();
    assert_eq!(status(&["--fail-on", &rule]), Some(1));

    let folder = folder();
    write(folder.path(), "broken.ndjson", BROKEN);
    let both = run_in(folder.path(), ["audit", file.as_str(), "broken.ndjson", "--fail-on", "error"]);
    assert_eq!(both.status, Some(2), "{}", both.stderr);
    let lenient = run_in(folder.path(), ["audit", file.as_str(), "broken.ndjson", "--fail-on", "error", "--lenient"]);
    assert_eq!(lenient.status, Some(1), "{}", lenient.stderr);
}

#[test]
fn a_frames_folder_is_not_written_over() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    fs::create_dir(folder.path().join("mine")).expect("a folder");
    write(folder.path(), "mine/letter.txt", "dear all");
    fails(&run_in(folder.path(), ["ingest", "good.ndjson", "--frames", "mine"]), "mine");
    assert_eq!(fs::read_to_string(folder.path().join("mine/letter.txt")).expect("still there"), "dear all");
}
