//! Answers that may not depend on how a capture came: in which order, in how many files, read in how many steps.

use crate::support::{Run, capture, count, rows, run};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

const PROMPTS: &str = "01-stdio-prompts-py1x";
const ELICITATIONS: &str = "05-stdio-elicitation-2025";
const ROUNDS: &str = "08-stdio-2026-input-required-py2";
const INTERLEAVED: &str = "14-two-servers-interleaved";

/// A folder with a hash key, so that hashes compare between runs.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("key"), "07".repeat(32)).expect("a key is written");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn audit(&self, paths: &[PathBuf]) -> Value {
        let key = self.path("key").to_string_lossy().into_owned();
        let mut report = self.run("audit", paths, &["--json", "-", "--hash-key-file", &key]).json();
        report.as_object_mut().expect("a report is an object").remove("run");
        report
    }

    fn ingest(&self, paths: &[PathBuf], frames: &str) {
        let frames = self.path(frames).to_string_lossy().into_owned();
        self.run("ingest", paths, &["--frames", &frames]);
    }

    fn run(&self, verb: &str, paths: &[PathBuf], more: &[&str]) -> Run {
        let mut arguments: Vec<OsString> = vec![verb.into()];
        arguments.extend(paths.iter().map(|path| path.clone().into_os_string()));
        arguments.extend(more.iter().map(OsString::from));
        let run = run(arguments);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        run
    }

    /// Writes a capture's lines to two files, the first `cut` of them to the first.
    fn split(&self, source: &Path, cut: usize) -> [PathBuf; 2] {
        let text = fs::read_to_string(source).expect("the capture is readable");
        let end = text.match_indices('\n').nth(cut - 1).expect("more lines than the cut").0 + 1;
        let name = source.file_name().expect("a file").to_string_lossy().into_owned();
        // The names a rotation leaves: the older part carries the number.
        let parts = [self.path(&format!("{name}.1")), self.path(&name)];
        fs::write(&parts[0], &text[..end]).expect("a part is written");
        fs::write(&parts[1], &text[end..]).expect("a part is written");
        parts
    }
}

/// The report without what names the files, which a split changes by its nature.
fn without_places(mut report: Value) -> Value {
    report["ledger"].as_object_mut().expect("a ledger").remove("files");
    report["ledger"]["totals"].as_object_mut().expect("totals").remove("files");
    remove_members(&mut report, &["file", "position"]);
    report
}

fn remove_members(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !names.contains(&name.as_str()));
            members.values_mut().for_each(|member| remove_members(member, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove_members(item, names)),
        _ => {}
    }
}

/// Member by member, so that a failure shows the place and not two whole reports.
fn assert_same(left: &Value, right: &Value, what: &str) {
    fn compare(left: &Value, right: &Value, path: &str, what: &str) {
        match (left, right) {
            (Value::Object(a), Value::Object(b)) => {
                let names = |members: &serde_json::Map<String, Value>| members.keys().cloned().collect::<Vec<_>>();
                assert_eq!(names(a), names(b), "{what}: members of {path}");
                for (name, member) in a {
                    compare(member, &b[name], &format!("{path}.{name}"), what);
                }
            }
            (Value::Array(a), Value::Array(b)) => {
                assert_eq!(a.len(), b.len(), "{what}: length of {path}: {left} against {right}");
                for (index, (a, b)) in a.iter().zip(b).enumerate() {
                    compare(a, b, &format!("{path}[{index}]"), what);
                }
            }
            _ => assert_eq!(left, right, "{what}: {path}"),
        }
    }
    compare(left, right, "report", what);
}

#[test]
fn the_order_of_files_is_irrelevant() {
    let bench = Bench::new();
    let files = [
        capture(PROMPTS, "envelope.ndjson"),
        capture(ELICITATIONS, "claude-desktop.log"),
        capture(ROUNDS, "raw.ndjson"),
        capture(INTERLEAVED, "envelope.ndjson"),
    ];
    let given = bench.audit(&files);
    for turn in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let turned: Vec<PathBuf> = turn.iter().map(|index| files[*index].clone()).collect();
        assert_same(&given, &bench.audit(&turned), &format!("order {turn:?}"));
    }
}

/// Explicit sessions, or one lane with times: a cut between any two lines changes nothing. Cuts fall between a
/// question and its answer as well as between exchanges.
#[test]
fn a_capture_cut_in_two_says_the_same() {
    let bench = Bench::new();
    for (folder, file) in [
        (PROMPTS, "envelope.ndjson"),
        (ELICITATIONS, "envelope.ndjson"),
        (ROUNDS, "envelope.ndjson"),
        (INTERLEAVED, "envelope.ndjson"),
        (PROMPTS, "claude-desktop.log"),
        (ROUNDS, "claude-desktop.log"),
    ] {
        let source = capture(folder, file);
        let whole = without_places(bench.audit(std::slice::from_ref(&source)));
        for cut in cuts(&source) {
            let [older, newer] = bench.split(&source, cut);
            let what = format!("{folder}/{file} cut after line {cut}");
            assert_same(&whole, &without_places(bench.audit(&[newer, older])), &what);
        }
    }
}

#[test]
fn frames_say_what_captures_say() {
    let bench = Bench::new();
    for (index, (folder, file)) in [
        (PROMPTS, "raw.ndjson"),
        (ELICITATIONS, "claude-desktop.log"),
        (ROUNDS, "envelope.ndjson"),
        (INTERLEAVED, "raw.ndjson"),
    ]
    .into_iter()
    .enumerate()
    {
        let frames = format!("frames-{index}");
        let files = [capture(folder, file)];
        bench.ingest(&files, &frames);
        let from_frames = bench.audit(&[bench.path(&frames)]);
        assert_same(&bench.audit(&files), &from_frames, &format!("{folder}/{file}"));
    }
}

/// The question in the first ingest, its answer in the second.
#[test]
fn two_ingests_say_what_one_says() {
    let bench = Bench::new();
    let mut round = 0;
    for (folder, file) in
        [(PROMPTS, "envelope.ndjson"), (ELICITATIONS, "envelope.ndjson"), (ROUNDS, "claude-desktop.log")]
    {
        let source = capture(folder, file);
        for cut in cuts(&source) {
            round += 1;
            let [older, newer] = bench.split(&source, cut);
            let (once, twice) = (format!("once-{round}"), format!("twice-{round}"));
            bench.ingest(&[older.clone(), newer.clone()], &once);
            bench.ingest(&[older], &twice);
            bench.ingest(&[newer], &twice);
            let what = format!("{folder}/{file} cut after line {cut}");
            assert_same(&bench.audit(&[bench.path(&once)]), &bench.audit(&[bench.path(&twice)]), &what);
        }
    }
}

/// What was read once is not counted again.
#[test]
fn an_ingested_file_is_counted_once() {
    let bench = Bench::new();
    let file = [capture(PROMPTS, "envelope.ndjson")];
    bench.ingest(&file, "frames");
    let once = bench.audit(&[bench.path("frames")]);
    bench.ingest(&file, "frames");
    assert_same(&once, &bench.audit(&[bench.path("frames")]), "ingested twice");
}

/// Line numbers to cut after: both ends, and primes through the middle that hit answers and questions alike.
fn cuts(source: &Path) -> Vec<usize> {
    let lines = fs::read_to_string(source).expect("the capture is readable").matches('\n').count();
    let mut cuts: Vec<usize> = [1, 7, 23, 37, 53, 71, 89].into_iter().filter(|cut| cut + 1 < lines).collect();
    cuts.push(lines - 1);
    cuts
}

/// A copy of a record is no message, however many messages the record holds: batches, and exchanges of HTTP archives.
#[test]
fn copies_of_records_with_several_messages_change_nothing() {
    for (folder, file) in [("11-batch-2025-03-26", "sse-capture.har.gz"), (PROMPTS, "envelope.ndjson")] {
        let bench = Bench::new();
        let both = ["a", "b"].map(|name| bench.path(&format!("{name}-{file}")));
        for copy in &both {
            fs::copy(capture(folder, file), copy).expect("a copy");
        }
        let (once, twice) = (bench.audit(&both[..1]), bench.audit(&both));
        for table in ["calls", "arguments", "elicitations", "sessions"] {
            assert_eq!(twice[table], once[table], "{file}: {table}");
        }
        // Notifications have no id by which they could be told to be the same one.
        let paired = |report: &Value| -> Vec<Value> {
            let methods = rows(&report["ledger"], "methods").iter();
            methods.filter(|row| count(row, "notifications") == 0).cloned().collect()
        };
        assert!(!paired(&once).is_empty());
        assert_eq!(paired(&twice), paired(&once), "{file}");
    }
}
