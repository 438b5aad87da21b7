use super::wire::{C, Line, S, accept, call_tool, elicit, line, run, tool_result};
use crate::schema::{
    CallOutcome, ElicitationOutcome, ElicitationStyle, OperationKind, OperationOutcome, OperationRule, Stray, Verdict,
};

fn all(lines: Vec<Line>) -> Vec<Line> {
    lines.into_iter().map(|line| line.session("s")).collect()
}

#[test]
fn a_question_belongs_to_the_only_open_operation() {
    let (rows, _) = run(&all(vec![
        line(C, call_tool(1, "pay")).at(0),
        line(S, elicit(0)).at(100),
        line(C, accept(0, r#"{"amount":900,"note":"for lunch"}"#)).at(2100),
        line(S, elicit(1)).at(2200),
        line(C, accept(1, r#"{"amount":90}"#)).at(2300),
        line(S, tool_result(1, "paid for lunch")).at(2400),
    ]));
    let [first, second] = rows.elicitations.as_slice() else { panic!("{:?}", rows.elicitations) };
    assert_eq!((first.operation_kind, &*first.operation), (OperationKind::ToolCall, "pay"));
    assert_eq!(first.operation_rule, OperationRule::OnlyOpen);
    assert_eq!((first.sequence, second.sequence), (1, 2));
    assert_eq!(first.operation_instance, second.operation_instance);
    assert_eq!((first.verdict, second.verdict), (Verdict::Unusable, Verdict::Usable));
    // The same form again: the first answer was not taken.
    assert_eq!(first.operation_outcome, OperationOutcome::AskedAgain);
    assert_eq!(second.operation_outcome, OperationOutcome::Ok);
    assert_eq!(first.latency_ms, Some(2000.0));
}

#[test]
fn no_duration_comes_from_a_time_that_is_only_a_bound() {
    let (rows, _) = run(&all(vec![
        line(C, call_tool(1, "pay")).at(0),
        line(S, elicit(0)).at(2100).bounded(),
        line(C, accept(0, r#"{"amount":90}"#)).at(2100),
        line(S, tool_result(1, "paid")).at(2400),
    ]));
    assert_eq!(rows.elicitations[0].outcome, ElicitationOutcome::Accept);
    assert_eq!(rows.elicitations[0].latency_ms, None);
}

#[test]
fn free_text_is_found_in_the_result() {
    let (rows, _) = run(&all(vec![
        line(C, call_tool(1, "pay")),
        line(S, elicit(0)),
        line(C, accept(0, r#"{"amount":90,"note":"for lunch"}"#)),
        line(S, tool_result(1, "paid 90 for lunch")),
    ]));
    let echoed: Vec<(&str, bool)> = rows.fields.iter().map(|field| (&*field.field, field.echoed)).collect();
    assert_eq!(echoed, [("amount", false), ("note", true)]);
}

#[test]
fn two_open_operations_are_ambiguous() {
    let (rows, _) = run(&all(vec![
        line(C, call_tool(1, "pay")),
        line(C, call_tool(2, "share")),
        line(S, elicit(0)),
        line(C, r#"{"id":0,"result":{"action":"decline","content":{"amount":1}}}"#),
        line(S, tool_result(1, "done")),
    ]));
    let row = &rows.elicitations[0];
    assert_eq!((row.operation_kind, row.operation_rule), (OperationKind::Ambiguous, OperationRule::Ambiguous));
    assert!(row.operation.starts_with("ambiguous:") && row.operation.ends_with(" How much?"), "{}", row.operation);
    assert_eq!(row.outcome, ElicitationOutcome::Decline);
    assert!(row.content_without_accept);
}

#[test]
fn a_cancelled_operation_carries_no_question() {
    let (rows, _) = run(&all(vec![
        line(C, call_tool(1, "pay")),
        line(C, r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#),
        line(C, call_tool(2, "share")),
        line(S, elicit(0)),
    ]));
    assert_eq!(&*rows.elicitations[0].operation, "share");
    assert_eq!(rows.elicitations[0].outcome, ElicitationOutcome::Unanswered);
    assert_eq!(rows.elicitations[0].operation_outcome, OperationOutcome::Unanswered);
}

#[test]
fn odd_answers_have_outcomes_of_their_own() {
    let mut lines = vec![line(C, call_tool(1, "pay"))];
    let answers = [
        r#""result":{"action":"Accept","content":{}}"#,
        r#""result":{}"#,
        r#""result":"yes""#,
        r#""error":{"code":-32603,"message":"no"}"#,
    ];
    for (id, answer) in (0..).zip(answers) {
        lines.push(line(S, elicit(id)));
        lines.push(line(C, format!(r#"{{"id":{id},{answer}}}"#)));
    }
    let (rows, _) = run(&all(lines));
    let outcomes: Vec<ElicitationOutcome> = rows.elicitations.iter().map(|row| row.outcome).collect();
    let malformed = ElicitationOutcome::Malformed;
    assert_eq!(outcomes, [malformed, malformed, malformed, ElicitationOutcome::Error]);
}

#[test]
fn url_elicitations_of_an_error_wait_for_their_completion() {
    let (rows, _) = run(&all(vec![
        line(C, call_tool(1, "pay")),
        line(
            S,
            r#"{"id":1,"error":{"code":-32042,"message":"sign in","data":{"elicitations":[{"elicitationId":"e1"},{"elicitationId":"e2"}]}}}"#,
        ),
        line(S, r#"{"method":"notifications/elicitation/complete","params":{"elicitationId":"e2"}}"#),
    ]));
    let found: Vec<_> = rows.elicitations.iter().map(|row| (&*row.mode, row.outcome, row.operation_outcome)).collect();
    assert_eq!(
        found,
        [
            ("url", ElicitationOutcome::Unanswered, OperationOutcome::Error),
            ("url", ElicitationOutcome::Accept, OperationOutcome::Error)
        ]
    );
}

fn ask(id: u32, responses: &str, state: &str) -> String {
    let responses = if responses.is_empty() { String::new() } else { format!(r#","inputResponses":{{{responses}}}"#) };
    let state = if state.is_empty() { String::new() } else { format!(r#","requestState":"{state}""#) };
    format!(
        r#"{{"id":{id},"method":"prompts/get","params":{{"name":"reply","arguments":{{"review":"r"}}{responses}{state}}}}}"#
    )
}

fn input_required(id: u32, key: &str, state: &str) -> String {
    let state = if state.is_empty() { String::new() } else { format!(r#","requestState":"{state}""#) };
    format!(
        r#"{{"id":{id},"result":{{"resultType":"input_required","inputRequests":{{"{key}":{{"method":"elicitation/create","params":{{"message":"Tone?","requestedSchema":{{"type":"object","properties":{{"tone":{{"type":"string","enum":["warm"]}}}},"required":["tone"]}}}}}}}}{state}}}}}"#
    )
}

fn warm(key: &str) -> String {
    format!(r#""{key}":{{"action":"accept","content":{{"tone":"warm"}}}}"#)
}

#[test]
fn retries_are_rounds_of_one_call() {
    let (rows, _) = run(&all(vec![
        line(C, ask(1, "", "")).at(0),
        line(S, input_required(1, "k", "s1")).at(10),
        line(C, ask(2, &warm("k"), "s1")).at(30),
        line(S, input_required(2, "l", "s2")).at(40),
        line(C, ask(3, &warm("l"), "s2")).at(60),
        line(S, super::wire::rendered(3, "done")).at(100),
    ]));
    assert_eq!(rows.calls.len(), 1);
    let call = &rows.calls[0];
    assert_eq!((call.rounds, call.outcome, call.latency_ms), (3, CallOutcome::Rendered, Some(100.0)));
    let found: Vec<_> = rows
        .elicitations
        .iter()
        .map(|row| (row.style, row.outcome, row.sequence, row.call, row.operation_outcome))
        .collect();
    let style = ElicitationStyle::InputRequired;
    assert_eq!(
        found,
        [
            (style, ElicitationOutcome::Accept, 1, Some(1), OperationOutcome::Ok),
            (style, ElicitationOutcome::Accept, 2, Some(1), OperationOutcome::Ok)
        ]
    );
    assert_eq!(rows.elicitations[1].latency_ms, Some(20.0));
}

#[test]
fn replays_odd_keys_and_unknown_states_are_stray() {
    let (rows, _) = run(&all(vec![
        line(C, ask(1, "", "")),
        line(S, input_required(1, "k", "s1")),
        // An odd KEY still belongs to the open call; the server asks again.
        line(C, ask(2, &warm("odd"), "s1")),
        line(S, input_required(2, "k", "s1")),
        line(C, ask(3, &warm("k"), "s1")),
        line(S, super::wire::rendered(3, "done")),
        // The call is finished: this is another one, with a replayed answer.
        line(C, ask(4, &warm("k"), "s1")),
        line(S, super::wire::rendered(4, "done")),
        line(C, ask(5, "", "")),
        line(S, input_required(5, "k", "s2")),
        line(C, ask(6, &warm("k"), "forged")),
        line(S, r#"{"id":6,"error":{"code":-32602,"message":"Invalid or expired requestState"}}"#),
    ]));
    let calls: Vec<_> = rows.calls.iter().map(|call| (call.rounds, call.outcome)).collect();
    assert_eq!(calls, [(3, CallOutcome::Rendered), (1, CallOutcome::Rendered), (2, CallOutcome::Error)]);
    let strays: Vec<_> = rows.elicitations.iter().map(|row| (row.stray, row.outcome, row.verdict)).collect();
    use ElicitationOutcome::{Accept, Unanswered};
    assert_eq!(
        strays,
        [
            (Stray::None, Unanswered, Verdict::None),
            (Stray::KeyNotAsked, Accept, Verdict::Usable),
            (Stray::None, Accept, Verdict::Usable),
            (Stray::Replayed, Accept, Verdict::Usable),
            (Stray::None, Unanswered, Verdict::None),
            (Stray::StateUnknown, Accept, Verdict::Usable),
        ]
    );
    assert_eq!(rows.elicitations[0].operation_outcome, OperationOutcome::AskedAgain);
}

#[test]
fn equal_calls_in_parallel_stay_two() {
    let (rows, _) = run(&all(vec![
        line(C, ask(1, "", "")),
        line(C, ask(2, "", "")),
        line(S, input_required(1, "k", "")),
        line(S, input_required(2, "k", "")),
        line(C, ask(3, &warm("k"), "")),
        line(C, ask(4, &warm("k"), "")),
        line(S, super::wire::rendered(3, "done")),
        line(S, super::wire::rendered(4, "done")),
        line(C, ask(5, "", "")),
        line(S, input_required(5, "k", "")),
    ]));
    let calls: Vec<_> = rows.calls.iter().map(|call| (call.rounds, call.outcome)).collect();
    assert_eq!(calls, [(2, CallOutcome::Rendered), (2, CallOutcome::Rendered), (1, CallOutcome::InputRequired)]);
    assert!(rows.elicitations.iter().all(|row| row.stray == Stray::None));
}

#[test]
fn rounds_join_where_the_clients_half_is_read_first() {
    let client = [
        line(C, ask(1, "", "")),
        line(C, ask(2, &warm("k"), "s1")),
        line(C, ask(3, &warm("k"), "s2")),
        line(C, call_tool(4, "pay")),
    ];
    let server = [
        line(S, input_required(1, "k", "s1")),
        line(S, input_required(2, "k", "s2")),
        line(S, super::wire::rendered(3, "done")),
        line(S, tool_result(4, "done")),
    ];
    let lines = client.into_iter().chain(server.into_iter().map(|line| line.file(1))).collect();
    let (rows, _) = run(&all(lines));
    let calls: Vec<_> = rows.calls.iter().map(|call| (call.rounds, call.outcome)).collect();
    assert_eq!(calls, [(3, CallOutcome::Rendered)]);
    let found: Vec<_> = rows.elicitations.iter().map(|row| (row.stray, row.outcome, row.operation_outcome)).collect();
    assert_eq!(
        found,
        [
            (Stray::None, ElicitationOutcome::Accept, OperationOutcome::AskedAgain),
            (Stray::None, ElicitationOutcome::Accept, OperationOutcome::Ok)
        ]
    );
}

#[test]
fn what_looked_like_an_early_retry_keeps_its_own_call() {
    let client = [line(C, ask(1, "", "")), line(C, ask(2, &warm("k"), "forged"))];
    let server = [line(S, super::wire::rendered(1, "one")).file(1), line(S, super::wire::rendered(2, "two")).file(1)];
    let (rows, _) = run(&all(client.into_iter().chain(server).collect()));
    let calls: Vec<_> = rows.calls.iter().map(|call| (call.position, call.outcome)).collect();
    assert_eq!(calls, [(1, CallOutcome::Rendered), (2, CallOutcome::Rendered)]);
    assert_eq!(rows.elicitations.iter().map(|row| row.stray).collect::<Vec<_>>(), [Stray::StateUnknown]);
}

#[test]
fn an_answer_read_first_tells_which_operation_was_open() {
    let client = [
        line(C, call_tool(1, "pay")),
        line(C, accept(0, r#"{"amount":1}"#)),
        line(C, call_tool(2, "share")),
        line(C, accept(1, r#"{"amount":2}"#)),
        line(C, call_tool(3, "pay")),
    ];
    let server = [
        line(S, elicit(0)),
        line(S, tool_result(1, "done")),
        line(S, elicit(1)),
        line(S, tool_result(2, "done")),
        line(S, tool_result(3, "done")),
    ];
    let lines = client.into_iter().chain(server.into_iter().map(|line| line.file(1))).collect();
    let (rows, _) = run(&all(lines));
    let found: Vec<_> = rows.elicitations.iter().map(|row| (&*row.operation, row.verdict)).collect();
    assert_eq!(found, [("pay", Verdict::Usable), ("share", Verdict::Usable)]);
}
