//! What goes wrong is named, with the file and what to do, and the exit status says how far the run came.

use crate::support::{Run, capture, count, rows, run, run_in, run_with_input, unwrapped};
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
        r#"{"version":"mcptally.frames/1","tool":"0.0.1","hash_key":"","ingests":1,"sources":[],"last_ts":null,"duplicates":[]}"#,
    );

    let mut messages = BTreeSet::new();
    let faults = ["missing.ndjson", "noise.bin", "bare", "prose.txt", "old", "nothing-*.ndjson"];
    for path in faults {
        let message = fails(&run_in(at, ["audit", path]), path);
        messages.insert(message.replace(path, "PATH"));
    }
    assert_eq!(messages.len(), faults.len(), "faults share a message: {messages:#?}");
    let message = fails(&run_in(at, ["audit", "old"]), "mcptally.frames/1");
    assert!(message.contains("ingest"), "the message does not say what to do: {message}");
}

/// Among others an empty file is read to its end: it is named, and nothing is missing from the report. Nothing but
/// empty files is no capture.
#[test]
fn empty_files_are_named_and_alone_are_nothing_to_audit() {
    let folder = folder();
    let at = folder.path();
    write(at, "good.ndjson", GOOD);
    write(at, "empty.ndjson", "");
    write(at, "also-empty.log", "");
    let among = run_in(at, ["audit", "empty.ndjson", "good.ndjson"]);
    assert_eq!(among.status, Some(0), "{}", among.stderr);
    assert!(among.stderr.contains("empty.ndjson"), "{}", among.stderr);
    for verb in [&["audit"][..], &["audit", "--lenient"], &["ingest", "--frames", "frames"]] {
        let message = fails(&run_in(at, verb.iter().chain(&["empty.ndjson", "also-empty.log"])), "empty.ndjson");
        assert!(message.contains("also-empty.log"), "{message}");
    }
    assert!(!at.join("frames").exists());
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

/// The capture is still there afterwards, however it was found.
#[test]
fn an_output_over_a_capture_is_refused() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("logs/tables")).expect("a folder");
    for capture in ["logs/good.ndjson", "logs/report.json", "logs/tables/good.csv"] {
        write(folder.path(), capture, GOOD);
        let outputs: &[&[&str]] = if capture.ends_with("good.ndjson") {
            &[&["--json", "./logs/good.ndjson"], &["--markdown", "logs/good.ndjson"]]
        } else {
            &[&["--out", "logs"]]
        };
        for output in outputs {
            for path in [capture, "logs", "logs/**/*.*"] {
                fails(&run_in(folder.path(), ["audit", path].iter().chain(*output)), capture);
            }
        }
        assert_eq!(fs::read_to_string(folder.path().join(capture)).expect("still there"), GOOD);
        fs::remove_file(folder.path().join(capture)).expect("removed");
    }
    // A report of an earlier run is no capture, though it lies among them.
    write(folder.path(), "logs/good.ndjson", GOOD);
    for _ in 0..2 {
        let run = run_in(folder.path(), ["audit", "logs", "--out", "logs", "--json", "logs/alone.json"]);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
    }
    write(folder.path(), "good.ndjson", GOOD);
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

/// A line feed in a name divides no message.
#[cfg(unix)]
#[test]
fn a_name_of_two_lines_makes_no_lines_of_its_own() {
    let folder = folder();
    write(folder.path(), "two\nmcptally.ndjson", BROKEN);
    write(folder.path(), "two\nempty.ndjson", "");
    let paths: [&[&str]; 4] = [
        &["two\nmcptally.ndjson", "two\nempty.ndjson"],
        &["two\nmissing.ndjson"],
        &["two\nmissing.ndjson", "two\nempty.ndjson"],
        &["two\nmcptally.ndjson", "--json", "two\nnowhere/report.json"],
    ];
    for paths in paths {
        let run = run_in(folder.path(), ["audit", "-v"].iter().chain(paths));
        assert_eq!(run.status, Some(2));
        assert!(run.stderr.contains("two␊"), "{}", run.stderr);
        let ours = |line: &str| line.starts_with("mcptally: ") || line.starts_with("  two␊");
        assert!(run.stderr.lines().all(ours), "{}", run.stderr);
    }
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
        ("--intended", "hello.tone=,,,"),
        ("--format", "papyrus"),
        ("--since", "yesterday-ish"),
        ("--only", "everything"),
        ("--fail-on", "MT000"),
        ("--hash-key-file", "good.ndjson"),
    ] {
        fails(&run_in(folder.path(), ["audit", "good.ndjson", option, value]), value);
    }
    let period = ["audit", "good.ndjson", "--since", "2026-03-02", "--until", "2026-03-02"];
    fails(&run_in(folder.path(), period), "--since 2026-03-02");
}

#[test]
fn an_intended_set_that_judges_nothing_is_noted() {
    let folder = folder();
    write(folder.path(), "good.ndjson", GOOD);
    for (set, what) in [("helo.tone=a,b", "`helo`"), ("hello.tone=a,b", "`tone`")] {
        let run = run_in(folder.path(), ["audit", "good.ndjson", "--intended", set]);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains("--intended") && run.stderr.contains(what), "{}", run.stderr);
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

/// A run that fails after its outputs were accepted: none of them is begun.
#[test]
fn a_failed_run_leaves_earlier_reports_as_they_are() {
    let folder = folder();
    let at = folder.path();
    write(at, "good.ndjson", GOOD);
    let outputs = ["--json", "report.json", "--markdown", "report.md", "--out", "out"];
    let content = || -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let files = walkdir::WalkDir::new(at).sort_by_file_name().into_iter().map(|entry| entry.expect("an entry"));
        let files = files.filter(|entry| entry.file_type().is_file());
        files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).expect("readable"))).collect()
    };
    let before = content();
    fails(&run_in(at, ["audit", "missing.ndjson"].iter().chain(&outputs)), "missing.ndjson");
    assert_eq!(content(), before, "nothing was made");
    assert!(!at.join("out").exists());
    assert_eq!(run_in(at, ["audit", "good.ndjson"].iter().chain(&outputs)).status, Some(0));
    let before = content();
    assert!(before.len() > 10);
    fails(&run_in(at, ["audit", "missing.ndjson"].iter().chain(&outputs)), "missing.ndjson");
    assert_eq!(content(), before, "nothing was touched");
}

/// A part of the frames that is gone makes wrong sums, not fewer: it is an error, and the part is named.
#[test]
fn a_frames_folder_without_one_of_its_parts_is_refused() {
    let folder = folder();
    let at = folder.path();
    write(at, "good.ndjson", GOOD);
    assert_eq!(run_in(at, ["ingest", "good.ndjson", "--frames", "frames"]).status, Some(0));
    let part = "frames/prompt_calls/part-00001.parquet";
    let whole = fs::read(at.join(part)).expect("a part");
    write(at, part, &whole[..whole.len() / 2]);
    assert!(fails(&run_in(at, ["audit", "frames"]), part).contains("ingest the captures again"));
    fs::remove_file(at.join(part)).expect("removed");
    assert!(fails(&run_in(at, ["audit", "frames"]), part).contains("ingest the captures again"));
}

/// Standard input can be read but once: not again after it is known which files were read before.
#[test]
fn standard_input_is_read_once_beside_a_file_read_before() {
    let folder = folder();
    let at = folder.path();
    write(at, "good.ndjson", GOOD);
    assert_eq!(run_in(at, ["ingest", "good.ndjson", "--frames", "frames"]).status, Some(0));
    let run = run_with_input(at, ["ingest", "-", "good.ndjson", "-", "--frames", "frames"], GOOD);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let report = run_in(at, ["audit", "frames", "--json", "-"]).json();
    assert_eq!(count(&report["ledger"]["totals"], "prompt_calls"), 2);
    let files: Vec<_> = rows(&report["ledger"], "files").iter().map(|file| file["file"].as_str()).collect();
    assert_eq!(files, [Some("good.ndjson"), Some("-")]);
    // A file that is not there is still an error when another was read before.
    fails(&run_in(at, ["ingest", "good.ndjson", "missing.ndjson", "--frames", "frames"]), "missing.ndjson");
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

/// A batch within a batch is lost to every SDK; a report that is silent about it would count too few calls.
#[test]
fn a_batch_within_a_batch_is_rejected_and_said() {
    let folder = folder();
    let at = folder.path();
    let get = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"prompts/get","params":{{"name":"hello"}}}}"#);
    let nested = format!("[[{}]]", get(7));
    let beside = format!("[{},[{}]]", get(8), get(9));
    write(at, "mixed.ndjson", format!("{GOOD}{nested}\n{beside}\n"));
    write(at, "only.ndjson", format!("{nested}\n"));
    let entry = |body: &str, answer: &str| {
        let headers = serde_json::json!([{"name": "Mcp-Session-Id", "value": "s-1"}]);
        serde_json::json!({
            "startedDateTime": "2026-02-01T10:00:00.000Z", "time": 5,
            "request": {"method": "POST", "url": "http://desk/mcp", "headers": headers,
                        "postData": {"mimeType": "application/json", "text": body}},
            "response": {"status": 200, "headers": headers,
                         "content": {"mimeType": "application/json", "text": answer}},
        })
    };
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
    let entries = [
        entry(&get(1), r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}"#),
        entry(&nested, ""),
        entry(&nested, refused),
    ];
    write(at, "http.har", serde_json::json!({"log": {"version": "1.2", "entries": entries}}).to_string());

    for (file, places, calls) in [("mixed.ndjson", &[3, 4][..], 2), ("http.har", &[2, 3], 1)] {
        let run = run_in(at, ["audit", file, "--out", "out", "--json", "-"]);
        let message = fails(&run, file);
        assert!(message.contains("a batch within a batch"), "{message}");
        let report = run.json();
        assert_eq!(count(&report["ledger"]["totals"], "prompt_calls"), calls, "{file}");
        assert_eq!(count(&report["ledger"]["totals"], "rejected"), 2, "{file}");
        assert!(rows(&report, "findings").iter().any(|finding| finding["rule"] == "MT901"), "{file}");
        let rejected = fs::read_to_string(at.join("out/rejected.ndjson")).expect("a list");
        let rejected: Vec<Value> = rejected.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
        let found: Vec<u64> = rejected.iter().map(|row| count(row, "position")).collect();
        assert_eq!(found, places, "{file}");
        assert!(rejected.iter().all(|row| row["reason"].as_str().is_some_and(|text| text.contains("line of its own"))));
        assert_eq!(run_in(at, ["ingest", file, "--frames", &format!("{file}.frames")]).status, Some(2), "{file}");
        assert_eq!(run_in(at, ["audit", file, "--lenient"]).status, Some(0), "{file}");
    }
    let message = fails(&run_in(at, ["audit", "only.ndjson"]), "only.ndjson");
    assert!(message.contains("line 1 is a batch within a batch"), "{message}");
}
