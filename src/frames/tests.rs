//! A frames folder gives back what was put in, over several ingests.

use super::append::Append;
use super::folder::{Folder, FramesError};
use super::store::{Filter, load};
use crate::exchange::{Sink as _, Snapshot};
use crate::protocol::message::Ts;
use crate::schema::{ArgRow, ArgumentsShape, BodyState, CallOutcome, CallRow, Presence, ValueType};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn call(number: u64, outcome: CallOutcome) -> CallRow {
    CallRow {
        call: number,
        file: "a.ndjson".into(),
        position: number + 1,
        seq: number * 10,
        ts: (number.is_multiple_of(2)).then_some(Ts(1_700_000_000_000_000 + number as i64)),
        session: "s-1".into(),
        server: Some("desk".into()),
        client: None,
        client_version: None,
        protocol: Some("2025-11-25".into()),
        prompt: Some(if number == 3 { "" } else { "reply" }.into()),
        prompt_captured: true,
        rounds: 1,
        batch: false,
        arguments_as: ArgumentsShape::Object,
        arguments_hash: u64::MAX - number,
        arguments_changed: false,
        outcome,
        error_code: (outcome == CallOutcome::Error).then_some(0),
        error_message: None,
        latency_ms: Some(1.5),
        answered_seq: None,
        rendered_messages: Some(2),
        rendered_chars: Some(80),
        rendered_skeleton: None,
        leaked: vec!["None".into(), "undefined".into()],
        echoed: Vec::new(),
        body_state: BodyState::Full,
    }
}

fn arg(call: u64, value: &str) -> ArgRow {
    ArgRow {
        call,
        key: "tone".into(),
        present_as: Presence::Filled,
        json_type: ValueType::String,
        value: value.into(),
        value_chars: value.chars().count() as u64,
        value_words: 1,
        value_lines: 1,
        value_hash: 7,
    }
}

fn nothing() -> Snapshot {
    Snapshot { sessions: vec![], methods: vec![], declarations: vec![], catalogs: vec![], ..Default::default() }
}

#[test]
fn rows_come_back_in_reading_order_and_open_rows_are_replaced() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("frames");

    let mut first = Append::begin(Folder::open_or_create(&root, None).unwrap()).unwrap();
    let rows = [call(2, CallOutcome::Rendered), call(1, CallOutcome::Error)];
    for row in &rows {
        first.closed.call(row.clone(), vec![arg(row.call, "warm\u{2028}\u{0}")]);
    }
    first.open.call(call(3, CallOutcome::Unanswered), vec![]);
    let folder = first.finish(&nothing(), &[], b"state", vec![]).unwrap();
    let frames = load(&folder, &Filter::default()).unwrap();
    assert_eq!(
        frames.calls,
        [call(1, CallOutcome::Error), call(2, CallOutcome::Rendered), call(3, CallOutcome::Unanswered)]
    );
    assert_eq!(frames.args, [arg(1, "warm\u{2028}\u{0}"), arg(2, "warm\u{2028}\u{0}")]);

    let mut second = Append::begin(Folder::open(&root).unwrap()).unwrap();
    second.closed.call(call(3, CallOutcome::Rendered), vec![]);
    let folder = second.finish(&nothing(), &[], b"state", vec![]).unwrap();
    let outcomes: Vec<_> =
        load(&folder, &Filter::default()).unwrap().calls.iter().map(|row| (row.call, row.outcome)).collect();
    assert_eq!(outcomes, [(1, CallOutcome::Error), (2, CallOutcome::Rendered), (3, CallOutcome::Rendered)]);
    assert_eq!(folder.state().unwrap().as_deref(), Some(&b"state"[..]));
}

#[test]
fn filters_keep_calls_and_their_arguments_together() {
    let home = tempfile::tempdir().unwrap();
    let mut append = Append::begin(Folder::open_or_create(&home.path().join("f"), None).unwrap()).unwrap();
    for number in 0..5 {
        append.closed.call(call(number, CallOutcome::Rendered), vec![arg(number, "warm")]);
    }
    let folder = append.finish(&nothing(), &[], b"", vec![]).unwrap();
    let filter = Filter { since: Some(Ts(1_700_000_000_000_002)), ..Default::default() };
    let frames = load(&folder, &filter).unwrap();
    assert_eq!(frames.calls.iter().map(|call| call.call).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(frames.args.iter().map(|arg| arg.call).collect::<Vec<_>>(), [2, 4]);
    let filter = Filter { prompt: Some("".into()), ..Default::default() };
    assert_eq!(load(&folder, &filter).unwrap().calls.len(), 1);
}

#[test]
fn another_version_and_a_foreign_folder_are_refused() {
    let home = tempfile::tempdir().unwrap();
    for version in [1, 99] {
        let manifest = format!(r#"{{"version":"mcptally.frames/{version}","sources":[]}}"#);
        std::fs::write(home.path().join("manifest.json"), manifest).unwrap();
        assert!(matches!(Folder::open(home.path()), Err(FramesError::OtherVersion { .. })));
    }
    let foreign = tempfile::tempdir().unwrap();
    std::fs::write(foreign.path().join("photo.jpg"), "x").unwrap();
    assert!(matches!(Folder::open_or_create(foreign.path(), None), Err(FramesError::NotFrames { .. })));
}

/// A folder with one finished run: calls 1 and 2, call 3 open.
fn folder_of_one_run(root: &Path) -> Folder {
    let mut append = Append::begin(Folder::open_or_create(root, None).unwrap()).unwrap();
    for number in [1, 2] {
        append.closed.call(call(number, CallOutcome::Rendered), vec![arg(number, "warm")]);
    }
    append.open.call(call(3, CallOutcome::Unanswered), vec![]);
    append.finish(&nothing(), &[], b"state", vec![]).unwrap()
}

/// Every file below the folder, with its content.
fn content(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_part_that_is_not_as_written_is_named_and_never_read() {
    let home = tempfile::tempdir().unwrap();
    let folder = folder_of_one_run(home.path());
    let parts: Vec<String> = folder.manifest.parts.iter().map(|part| part.path.clone()).collect();
    assert!(parts.iter().any(|part| part.starts_with("prompt_calls/open-")), "{parts:?}");
    for part in parts {
        let path = home.path().join(&part);
        let whole = fs::read(&path).unwrap();
        // The last eight bytes are the length of the footer and the magic: what a reader trusts first.
        let mut footer = whole.clone();
        footer[whole.len() - 5] ^= 0x80;
        let mut middle = whole.clone();
        middle[whole.len() / 2] ^= 1;
        for changed in [None, Some(&footer), Some(&middle), Some(&whole[..whole.len() - 1].to_vec()), Some(&Vec::new())]
        {
            match changed {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let error = load(&Folder::open(home.path()).unwrap(), &Filter::default()).unwrap_err();
            assert!(matches!(error, FramesError::Damaged { .. }), "{error}");
            let message = error.to_string();
            assert!(message.contains(&part) && message.contains("ingest the captures again"), "{message}");
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(load(&folder, &Filter::default()).unwrap().calls.len(), 3);
    fs::write(home.path().join(&folder.manifest.state.as_ref().unwrap().path), b"stat").unwrap();
    assert!(matches!(folder.state(), Err(FramesError::Damaged { .. })));
}

#[test]
fn a_manifest_that_leads_out_of_the_folder_is_refused() {
    let home = tempfile::tempdir().unwrap();
    folder_of_one_run(home.path());
    let path = home.path().join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    for elsewhere in ["../part-00001.parquet", "/etc/passwd", "a/../../b", "prompt_calls/", "part.parquet"] {
        fs::write(&path, text.replace("prompt_calls/part-00001.parquet", elsewhere)).unwrap();
        assert!(matches!(Folder::open(home.path()), Err(FramesError::Damaged { .. })), "{elsewhere}");
    }
}

#[test]
fn a_run_that_is_given_up_leaves_no_trace() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("frames");
    drop(Append::begin(Folder::open_or_create(&root, None).unwrap()).unwrap());
    assert!(!root.exists());

    folder_of_one_run(&root);
    let before = content(&root);
    let mut second = Append::begin(Folder::open(&root).unwrap()).unwrap();
    second.closed.call(call(3, CallOutcome::Rendered), vec![]);
    drop(second);
    assert_eq!(content(&root), before);
}

/// Killed while it wrote, or between moving its parts into place and replacing the manifest.
#[test]
fn a_run_that_is_killed_leaves_the_folder_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("frames");
    std::mem::forget(Append::begin(Folder::open_or_create(&root, None).unwrap()).unwrap());
    let unfinished = load(&Folder::open(&root).unwrap(), &Filter::default()).unwrap_err();
    assert!(matches!(unfinished, FramesError::Unfinished { .. }), "{unfinished}");
    // The lock of a killed run goes with it.
    fs::remove_file(root.join(".lock")).unwrap();

    let folder = folder_of_one_run(&root);
    let before = load(&folder, &Filter::default()).unwrap().calls;
    let mut killed = Append::begin(Folder::open(&root).unwrap()).unwrap();
    killed.closed.call(call(3, CallOutcome::Rendered), vec![]);
    std::mem::forget(killed);
    fs::remove_file(root.join(".lock")).unwrap();
    for name in ["part-00002", "open-00002"] {
        let at = |name: &str| root.join(format!("prompt_calls/{name}.parquet"));
        fs::copy(at("part-00001"), at(name)).unwrap();
    }
    assert_eq!(load(&Folder::open(&root).unwrap(), &Filter::default()).unwrap().calls, before);

    // Nor does anything of it come back when the next run has no rows of that frame.
    let next = Append::begin(Folder::open(&root).unwrap()).unwrap();
    let folder = next.finish(&nothing(), &[], b"", vec![]).unwrap();
    let calls = load(&folder, &Filter::default()).unwrap().calls;
    assert_eq!(calls.iter().map(|call| call.call).collect::<Vec<_>>(), [1, 2]);
    let listed: BTreeSet<PathBuf> = folder.manifest.parts.iter().map(|part| root.join(&part.path)).collect();
    let parquet = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "parquet");
    assert_eq!(content(&root).into_keys().filter(parquet).collect::<BTreeSet<_>>(), listed);
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("frames");
    folder_of_one_run(&root);
    let opened = Folder::open(&root).unwrap();
    let first = Append::begin(Folder::open(&root).unwrap()).unwrap();
    assert!(matches!(Append::begin(Folder::open(&root).unwrap()), Err(FramesError::Busy { .. })));
    first.finish(&nothing(), &[], b"", vec![]).unwrap();
    // What this one knows of the folder is out of date.
    assert!(matches!(Append::begin(opened), Err(FramesError::Busy { .. })));
}
