use super::wire::{C, Rows, S, dropped, feed, get, initialize, initialized, line, rendered, run};
use crate::exchange::Exchange;
use crate::schema::{ArgumentsShape, BodyState, CallOutcome, ListingEvent, Presence};

fn counted(snapshot: &crate::exchange::Snapshot, kind: &str) -> Vec<(String, u64)> {
    let rows = snapshot.methods.iter().filter(|row| &*row.kind == kind);
    rows.map(|row| (format!("{} {}", row.method, row.direction), row.count)).collect()
}

#[test]
fn both_sides_use_the_same_ids() {
    let (_, snapshot) = run(&[
        line(C, r#"{"id":1,"method":"ping"}"#).session("s"),
        line(S, r#"{"id":1,"method":"roots/list"}"#).session("s"),
        line(C, r#"{"id":1,"result":{"roots":[]}}"#).session("s"),
        line(S, r#"{"id":1,"result":{}}"#).session("s"),
        line(C, r#"{"id":"1","method":"ping"}"#).session("s"),
    ]);
    let results = counted(&snapshot, "result");
    assert_eq!(results, [("ping s2c".to_owned(), 1), ("roots/list c2s".to_owned(), 1)]);
    assert_eq!(counted(&snapshot, "unanswered"), [("ping c2s".to_owned(), 1)]);
}

#[test]
fn an_id_used_again_while_open_leaves_the_older_unanswered() {
    let (rows, _) = run(&[
        line(C, get(1, "old")).session("s"),
        line(C, get(1, "new")).session("s"),
        line(S, rendered(1, "new")).session("s"),
        line(C, get(1, "newest")).session("s"),
        line(S, rendered(1, "newest")).session("s"),
    ]);
    let outcomes: Vec<CallOutcome> = rows.calls.iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Unanswered, CallOutcome::Rendered, CallOutcome::Rendered]);
}

#[test]
fn both_sides_of_a_gateway_that_passes_ids_on_are_answered() {
    let twice = |again: &str, at: i64| {
        let (rows, snapshot) = run(&[
            line(C, get(1, "warm")).session("s").at(0),
            line(C, get(1, again)).session("s").at(at),
            line(S, rendered(1, "text")).session("s").at(at + 10),
            line(S, rendered(1, "text")).session("s").at(at + 12),
        ]);
        let outcomes: Vec<CallOutcome> = rows.calls.iter().map(|call| call.outcome).collect();
        (outcomes, counted(&snapshot, "orphan").len())
    };
    use CallOutcome::{Rendered, Unanswered};
    assert_eq!(twice("warm", 3), (vec![Rendered, Rendered], 0));
    // Another request, or one much later, only uses the id again.
    assert_eq!(twice("formal", 3), (vec![Unanswered, Rendered], 1));
    assert_eq!(twice("warm", 60_000), (vec![Unanswered, Rendered], 1));
}

#[test]
fn a_client_that_repeats_one_request_leaves_a_bounded_number_open() {
    let repeats: Vec<_> = (0..50).map(|at| line(C, get(1, "warm")).session("s").at(at)).collect();
    let mut exchange = Exchange::new();
    let mut closed = Rows::default();
    feed(&mut exchange, &repeats, 0, &mut closed);
    let mut open = Rows::default();
    exchange.finish(&mut open);
    assert_eq!((closed.calls.len(), open.calls.len()), (42, 8));
}

#[test]
fn errors_without_a_usable_id_pair_with_nothing() {
    let error = r#""error":{"code":0,"message":"no"}"#;
    let (rows, snapshot) = run(&[
        line(C, get(1, "x")).session("s"),
        line(S, format!(r#"{{"id":null,{error}}}"#)).session("s"),
        line(S, format!(r#"{{{error}}}"#)).session("s"),
        line(S, format!(r#"{{"id":"server-error",{error}}}"#)).session("s"),
    ]);
    assert_eq!(rows.calls[0].outcome, CallOutcome::Unanswered);
    assert_eq!(counted(&snapshot, "orphan"), [("? s2c".to_owned(), 3)]);
}

#[test]
fn an_answer_read_first_waits_for_its_question() {
    // The server's half of a split capture was read before the client's; nothing has a time.
    let (rows, snapshot) = run(&[
        line(S, initialized(0, "desk")).file(1),
        line(S, rendered(1, "warm text")).file(1),
        line(C, initialize(0, "host")),
        line(C, get(1, "warm")),
    ]);
    assert_eq!(rows.calls[0].outcome, CallOutcome::Rendered);
    assert_eq!(rows.calls[0].server.as_deref(), Some("desk"));
    assert_eq!(rows.calls[0].echoed.len(), 1);
    assert!(counted(&snapshot, "orphan").is_empty());
    assert_eq!(snapshot.sessions.len(), 1);
}

#[test]
fn time_forbids_an_answer_before_its_question() {
    let (rows, snapshot) =
        run(&[line(S, rendered(1, "text")).session("s").at(10), line(C, get(1, "x")).session("s").at(20)]);
    assert_eq!(rows.calls[0].outcome, CallOutcome::Unanswered);
    assert_eq!(counted(&snapshot, "orphan").len(), 1);
    let (rows, _) = run(&[line(S, rendered(1, "text")).session("s").at(25), line(C, get(1, "x")).session("s").at(20)]);
    assert_eq!((rows.calls[0].outcome, rows.calls[0].latency_ms), (CallOutcome::Rendered, Some(5.0)));
}

#[test]
fn values_are_measured_whole_and_kept_short() {
    let long = "é".repeat(3000);
    let json = format!(
        r#"{{"id":1,"method":"prompts/get","params":{{"name":"","arguments":{{"a":"{long}","b":"","c":"x y\r\nz\u2028","d":5}}}}}}"#
    );
    let (rows, _) = run(&[line(C, json).session("s"), line(S, rendered(1, "t")).session("s")]);
    assert_eq!(rows.calls[0].prompt.as_deref(), Some(""));
    assert_eq!(rows.calls[0].arguments_as, ArgumentsShape::Object);
    let [a, b, c, d] = rows.args.as_slice() else { panic!("{:?}", rows.args) };
    assert_eq!((a.value.len(), a.value_chars, a.value_words), (4096, 3000, 1));
    assert_eq!((b.present_as, d.present_as), (Presence::Empty, Presence::Filled));
    assert_eq!((c.value_words, c.value_lines), (3, 3));
    assert_eq!(&*d.value, "5");
}

#[test]
fn a_redacted_log_tells_outcomes_and_no_values() {
    let (rows, _) = run(&[
        line(C, r#"{"id":7,"method":"prompts/get"}"#).server("desk").redacted(),
        line(S, r#"{"id":7,"error":{"code":-32602}}"#).server("desk").redacted(),
        line(C, r#"{"id":8,"method":"prompts/get"}"#).server("desk").redacted(),
    ]);
    let found: Vec<_> = rows.calls.iter().map(|call| (call.outcome, call.body_state, call.prompt_captured)).collect();
    assert_eq!(
        found,
        [(CallOutcome::Error, BodyState::Redacted, false), (CallOutcome::Unanswered, BodyState::Redacted, false)]
    );
    assert!(rows.calls.iter().all(|call| call.arguments_as == ArgumentsShape::NotCaptured));
}

#[test]
fn batch_members_are_calls_of_their_own() {
    let (rows, _) = run(&[
        line(C, format!("[{},{}]", get(1, "x"), get(2, "y"))).session("s"),
        line(S, format!("[{},{}]", rendered(2, "y"), rendered(1, "x"))).session("s"),
    ]);
    assert_eq!(rows.calls.len(), 2);
    assert!(rows.calls.iter().all(|call| call.batch && call.outcome == CallOutcome::Rendered && call.position == 1));
}

fn page(id: u32, prompt: &str, next: bool) -> String {
    let cursor = if next { r#","nextCursor":"n""# } else { "" };
    format!(r#"{{"id":{id},"result":{{"prompts":[{{"name":"{prompt}","arguments":[{{"name":"tone"}}]}}]{cursor}}}}}"#)
}

#[test]
fn pages_are_one_listing_and_an_unfinished_one_says_so() {
    let list = |id: u32, cursor: &str| format!(r#"{{"id":{id},"method":"prompts/list","params":{{{cursor}}}}}"#);
    let (rows, snapshot) = run(&[
        line(C, list(1, "")).session("s"),
        line(S, page(1, "a", true)).session("s"),
        line(C, list(2, r#""cursor":"n""#)).session("s"),
        line(S, page(2, "b", false)).session("s"),
        line(S, r#"{"method":"notifications/prompts/list_changed"}"#).session("s"),
        line(C, list(3, "")).session("s"),
        line(S, page(3, "a", true)).session("s"),
    ]);
    let found: Vec<_> = rows.listings.iter().map(|row| (row.event, row.complete, row.prompts, row.position)).collect();
    assert_eq!(
        found,
        [
            (ListingEvent::Listed, true, 2, 4),
            (ListingEvent::ListChanged, false, 0, 5),
            (ListingEvent::Listed, false, 1, 7)
        ]
    );
    assert_eq!(snapshot.catalogs.iter().filter(|row| row.listing == rows.listings[0].fingerprint).count(), 2);
    assert_eq!(snapshot.declarations.len(), 2);
}

#[test]
fn copies_are_dropped_where_they_can_be_told() {
    // Under a key any repeat at the same time is a copy.
    let (rows, snapshot) = run(&[
        line(C, get(1, "x")).session("s").at(5),
        line(C, get(1, "x")).session("s").at(5),
        line(S, rendered(1, "t")).session("s").at(6),
        line(S, rendered(1, "t")).session("s").at(6),
        line(C, get(1, "x")).session("s").at(7),
    ]);
    assert_eq!((rows.calls.len(), dropped(&snapshot)), (2, vec![("cap.0", 2, 2)]));
    // Without one, a file may hold equal messages of two connections; another file that holds as many is a copy.
    let (rows, snapshot) = run(&[
        line(C, get(1, "x")).server("desk").at(5),
        line(C, get(1, "x")).server("desk").at(5),
        line(C, get(1, "x")).server("desk").at(5).file(1),
        line(C, get(1, "x")).server("desk").at(5).file(1),
        line(C, get(1, "x")).server("desk").at(5).file(1),
    ]);
    assert_eq!(rows.calls.len(), 3);
    assert_eq!(dropped(&snapshot), [("cap.1", 2, 2)]);
    // Without times nothing is dropped.
    let (rows, snapshot) = run(&[line(C, get(1, "x")).session("s"), line(C, get(1, "x")).session("s")]);
    assert_eq!((rows.calls.len(), dropped(&snapshot)), (2, vec![]));
}

#[test]
fn a_record_is_a_copy_where_all_it_holds_was_dropped() {
    let batch = |file: u32, second: u32| line(C, format!("[{},{}]", get(1, "x"), get(second, "x"))).at(5).file(file);
    let (rows, snapshot) = run(&[batch(0, 2), batch(1, 2)]);
    assert_eq!((rows.calls.len(), dropped(&snapshot)), (2, vec![("cap.1", 2, 1)]));
    // A message that was not read before keeps its record.
    let (rows, snapshot) = run(&[batch(0, 2), batch(1, 3)]);
    assert_eq!((rows.calls.len(), dropped(&snapshot)), (3, vec![("cap.1", 1, 0)]));
}
