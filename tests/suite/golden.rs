//! The reports of the sample logs, as they were when a person last read them. `INSTA_UPDATE=always cargo test --release`
//! writes them again; what changed is then read in the diff before it is committed.

use crate::support::run_in;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A fixed key, so that the hashes of hidden values are the same in every run.
const KEY: &str = "1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c5b6a7988";

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Runs over `sample-logs` in the repository's root, with the key given.
fn audit(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let key = folder.path().join("key");
    fs::write(&key, KEY).expect("a key is written");
    let key = key.to_string_lossy().into_owned();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = run_in(root, ["audit", "sample-logs", "--hash-key-file", &key].iter().chain(arguments));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    run.text()
}

/// The moment of the run and the version are all that may differ between two runs.
fn without_run(text: &str) -> String {
    let Some(start) = text.find("mcptally ") else { return text.to_owned() };
    let end = text[start..].find(" UTC").map_or(start, |at| start + at + " UTC".len());
    format!("{}mcptally VERSION, TIME UTC{}", &text[..start], &text[end..])
}

/// Lists are cut to what a person reads; their lengths stand for the rest.
fn shortened(value: &mut Value, rows: usize) {
    match value {
        Value::Array(items) => {
            let left_out = items.len().saturating_sub(rows);
            items.truncate(rows);
            items.iter_mut().for_each(|item| shortened(item, rows));
            if left_out > 0 {
                items.push(Value::String(format!("… {left_out} more")));
            }
        }
        Value::Object(members) => members.values_mut().for_each(|member| shortened(member, rows)),
        _ => {}
    }
}

#[test]
fn terminal() {
    snapshot("terminal", &without_run(&audit(&[])));
}

/// Every section, as `--only` shows it.
#[test]
fn sections() {
    let all = "ledger,values,keys,elicitations,sessions,handlers,contract,completion";
    snapshot("sections", &without_run(&audit(&["--only", all, "--top", "4"])));
}

#[test]
fn markdown() {
    snapshot("report.md", &without_run(&audit(&["--markdown", "-", "--top", "5"])));
}

#[test]
fn json() {
    let mut report: Value = serde_json::from_str(&audit(&["--json", "-"])).expect("JSON");
    for varying in ["at", "version"] {
        report["run"][varying] = Value::Null;
    }
    shortened(&mut report, 2);
    snapshot("report.json", &serde_json::to_string_pretty(&report).expect("JSON"));
}

/// Every table in one snapshot, each under its name.
#[test]
fn tables() {
    const ROWS: usize = 8;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out");
    audit(&["--out", &out.to_string_lossy()]);
    let mut paths: Vec<_> = fs::read_dir(out.join("tables"))
        .expect("a folder of tables")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let table = fs::read_to_string(&path).expect("a table is text");
        let lines: Vec<&str> = table.lines().collect();
        text.push_str(&format!("== {}\n", path.file_name().unwrap_or_default().to_string_lossy()));
        text.push_str(&lines[..lines.len().min(ROWS + 1)].join("\n"));
        if lines.len() > ROWS + 1 {
            text.push_str(&format!("\n… {} more", lines.len() - ROWS - 1));
        }
        text.push_str("\n\n");
    }
    snapshot("tables.csv", &text);
}
