use super::wire::{
    C, Line, Rows, S, accept, call_tool, dropped, elicit, feed, get, initialize, initialized, line, rendered, run,
    tool_result,
};
use crate::exchange::{Exchange, StateError};

/// Two connections, pages, a question, a round and things that stay open.
fn month() -> Vec<Line> {
    let round = r#"{"id":8,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}}"#;
    let retry = r#"{"id":9,"method":"prompts/get","params":{"name":"reply","arguments":{"tone":"r"},"requestState":"s","inputResponses":{"k":{"action":"decline"}}}}"#;
    let lines = vec![
        line(C, initialize(0, "host")),
        line(C, initialize(0, "other")),
        line(S, initialized(0, "desk")),
        line(S, initialized(0, "desk")),
        line(C, r#"{"id":1,"method":"prompts/list"}"#),
        line(S, r#"{"id":1,"result":{"prompts":[{"name":"reply"}],"nextCursor":"n"}}"#),
        line(C, r#"{"id":2,"method":"prompts/list","params":{"cursor":"n"}}"#),
        line(S, r#"{"id":2,"result":{"prompts":[{"name":"triage"}]}}"#),
        line(C, get(3, "warm")),
        line(C, get(1, "cold")),
        line(S, rendered(3, "warm")),
        line(C, call_tool(4, "pay")),
        line(S, elicit(0)),
        line(C, accept(0, r#"{"amount":700,"note":"xyz"}"#)),
        line(S, rendered(1, "cold")),
        line(S, tool_result(4, "xyz")),
        line(C, get(8, "r")),
        line(S, round),
        line(C, retry),
        line(S, rendered(9, "r")),
        line(S, rendered(77, "nobody asked")),
        line(C, get(10, "never answered")),
        line(C, call_tool(11, "pay")),
        line(S, elicit(1)),
    ];
    (0..).zip(lines).map(|(at, line)| line.at(at * 1000)).collect()
}

#[test]
fn a_capture_in_two_runs_gives_the_rows_of_one() {
    let lines = month();
    let (whole, whole_snapshot) = run(&lines);
    assert!(whole.calls.len() == 4 && whole.elicitations.len() == 3 && whole.listings.len() == 1, "{whole:?}");
    for cut in 0..=lines.len() {
        let mut closed = Rows::default();
        let mut exchange = Exchange::new();
        feed(&mut exchange, &lines[..cut], 0, &mut closed);
        let before = exchange.finish(&mut Rows::default());
        let mut exchange = Exchange::resume(&exchange.save().expect("saves")).expect("resumes");
        let mut again = Rows::default();
        assert_eq!(exchange.finish(&mut again), before, "cut at {cut}");
        feed(&mut exchange, &lines[cut..], cut, &mut closed);
        let mut open = Rows::default();
        let snapshot = exchange.finish(&mut open);
        assert_eq!(closed.and(open), whole, "cut at {cut}");
        assert_eq!(snapshot, whole_snapshot, "cut at {cut}");
    }
}

#[test]
fn a_later_run_with_earlier_lines_still_closes_what_was_open() {
    let lines = [line(C, get(1, "x")).session("s").at(1000), line(S, rendered(1, "x")).session("s").at(2000).file(1)];
    let mut exchange = Exchange::new();
    let mut closed = Rows::default();
    feed(&mut exchange, &lines[1..], 0, &mut closed);
    let mut exchange = Exchange::resume(&exchange.save().expect("saves")).expect("resumes");
    feed(&mut exchange, &lines[..1], 0, &mut closed);
    let mut open = Rows::default();
    exchange.finish(&mut open);
    assert_eq!(open.calls[0].latency_ms, Some(1000.0));
    assert!(closed.calls.is_empty());
}

#[test]
fn copies_are_known_after_a_resume() {
    let lines = month();
    let mut exchange = Exchange::new();
    let mut closed = Rows::default();
    feed(&mut exchange, &lines, 0, &mut closed);
    let known = closed.clone();
    let mut exchange = Exchange::resume(&exchange.save().expect("saves")).expect("resumes");
    let copy: Vec<Line> = lines.into_iter().map(|line| line.file(1)).collect();
    feed(&mut exchange, &copy, 0, &mut closed);
    assert_eq!(closed, known);
    let snapshot = exchange.finish(&mut Rows::default());
    assert_eq!(dropped(&snapshot), [("cap.1", 24, 24)]);
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let bytes = Exchange::new().save().expect("saves");
    assert!(matches!(Exchange::resume(&[]), Err(StateError::Damaged)));
    let mut other = bytes.clone();
    other[0] = 99;
    assert!(matches!(Exchange::resume(&other), Err(StateError::OtherVersion { found: 99 })));
    for at in 1..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(Exchange::resume(&damaged).is_err(), "byte {at}");
    }
}
