//! A frames folder gives back what was put in, over several ingests.

use super::append::Append;
use super::folder::{Folder, FramesError};
use super::store::{Filter, load};
use crate::exchange::{Sink as _, Snapshot};
use crate::protocol::message::Ts;
use crate::schema::{ArgRow, ArgumentsShape, BodyState, CallOutcome, CallRow, Presence, ValueType};

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
    std::fs::write(home.path().join("manifest.json"), r#"{"version":"mcptally.frames/99"}"#).unwrap();
    assert!(matches!(Folder::open(home.path()), Err(FramesError::OtherVersion { .. })));
    let foreign = tempfile::tempdir().unwrap();
    std::fs::write(foreign.path().join("photo.jpg"), "x").unwrap();
    assert!(matches!(Folder::open_or_create(foreign.path(), None), Err(FramesError::NotFrames { .. })));
}
