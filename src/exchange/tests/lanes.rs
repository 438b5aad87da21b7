use super::wire::{C, Line, Rows, S, get, initialize, initialized, line, rendered, run};
use crate::schema::{CallOutcome, SessionQuality};

fn by_session(rows: &Rows) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for call in &rows.calls {
        let value = rows.args.iter().find(|arg| arg.call == call.call).map_or("", |arg| &*arg.value);
        match found.iter_mut().find(|(session, _)| *session == &*call.session) {
            Some((_, values)) => values.push(value),
            None => found.push((&call.session, vec![value])),
        }
    }
    found
}

#[test]
fn handshakes_open_lanes_and_ids_keep_them_apart() {
    // Two connections to one server in one stream; the second starts while the first is in use, and ids collide.
    let (rows, snapshot) = run(&[
        line(C, initialize(0, "first")),
        line(S, initialized(0, "desk")),
        line(C, r#"{"method":"notifications/initialized"}"#),
        line(C, get(1, "a1")),
        line(S, rendered(1, "a1")),
        line(C, get(2, "a2")),
        line(C, initialize(0, "second")),
        line(S, rendered(2, "a2")),
        line(S, initialized(0, "desk")),
        line(C, r#"{"method":"notifications/initialized"}"#),
        line(C, get(3, "a3")),
        line(C, get(1, "b1")),
        line(S, rendered(1, "b1")),
        line(S, rendered(3, "a3")),
        line(C, get(4, "a4")),
        line(C, get(2, "b2")),
        line(S, rendered(2, "b2")),
        line(S, rendered(4, "a4")),
    ]);
    assert_eq!(by_session(&rows), [("cap#1", vec!["a1", "a2", "a3", "a4"]), ("cap#2", vec!["b1", "b2"])]);
    assert!(rows.calls.iter().all(|call| call.outcome == CallOutcome::Rendered && call.echoed.len() <= 1));
    assert_eq!(rows.calls.iter().filter_map(|call| call.client.as_deref()).filter(|name| *name == "second").count(), 2);
    // Only ids told them apart.
    assert!(snapshot.sessions.iter().all(|session| session.session_quality == SessionQuality::Guess));
}

#[test]
fn connections_one_after_the_other_are_cut_surely() {
    let one = |tone| {
        vec![
            line(C, initialize(0, "host")),
            line(S, initialized(0, "desk")),
            line(C, r#"{"method":"notifications/initialized"}"#),
            line(C, get(1, tone)),
            line(S, rendered(1, "text")),
        ]
    };
    let lines: Vec<Line> = ["x", "y", "z"].into_iter().flat_map(one).collect();
    let (rows, snapshot) = run(&lines);
    assert_eq!(by_session(&rows), [("cap#1", vec!["x"]), ("cap#2", vec!["y"]), ("cap#3", vec!["z"])]);
    assert!(snapshot.sessions.iter().all(|session| session.session_quality == SessionQuality::Cut));
    assert!(snapshot.sessions.iter().all(|session| session.messages == 5 && session.server.as_deref() == Some("desk")));
}

#[test]
fn a_rotated_tail_continues_the_lane_of_its_stream() {
    let (rows, _) = run(&[
        line(C, initialize(0, "host")),
        line(S, initialized(0, "desk")),
        line(C, get(1, "x")),
        line(S, rendered(1, "text")).file(1),
        line(C, get(2, "y")).file(1),
        line(S, rendered(2, "text")).file(1),
    ]);
    assert_eq!(by_session(&rows), [("cap#1", vec!["x", "y"])]);
}

#[test]
fn string_ids_stay_out_of_the_chain() {
    let (rows, _) = run(&[
        line(C, initialize(0, "host")),
        line(S, initialized(0, "desk")),
        line(C, r#"{"id":"listen-1","method":"subscriptions/listen"}"#),
        line(C, get(1, "x")),
        line(S, rendered(1, "text")),
    ]);
    assert_eq!(by_session(&rows), [("cap#1", vec!["x"])]);
}

#[test]
fn server_labels_keep_streams_apart() {
    let (rows, snapshot) = run(&[
        line(C, initialize(0, "host")).server("notes"),
        line(C, initialize(0, "host")).server("desk"),
        line(S, initialized(0, "n")).server("notes"),
        line(S, initialized(0, "d")).server("desk"),
        line(C, get(1, "x")).server("desk"),
        line(C, get(1, "y")).server("notes"),
    ]);
    assert_eq!(by_session(&rows), [("desk#1", vec!["x"]), ("notes#1", vec!["y"])]);
    assert!(snapshot.sessions.iter().all(|session| session.session_quality == SessionQuality::Cut));
}

#[test]
fn one_key_with_two_servers_is_two_sessions() {
    let (rows, snapshot) =
        run(&[line(C, get(1, "x")).session("s").server("desk"), line(C, get(1, "y")).session("s").server("notes")]);
    assert_eq!(by_session(&rows), [("s", vec!["x"]), ("s@notes", vec!["y"])]);
    assert!(snapshot.sessions.iter().all(|session| session.session_quality == SessionQuality::Exact));
}

#[test]
fn traffic_without_handshake_is_grouped_by_server_and_client() {
    let request = |id: u32, client: &str| {
        format!(
            r#"{{"id":{id},"method":"prompts/get","params":{{"name":"reply","arguments":{{"tone":"{client}{id}"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"{client}","version":"1"}}}}}}}}"#
        )
    };
    let answer = |id: u32| {
        format!(
            r#"{{"id":{id},"result":{{"messages":[],"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"desk","version":"1"}}}}}}}}"#
        )
    };
    let (rows, snapshot) = run(&[
        line(C, request(1, "a")),
        line(C, request(1, "b")),
        line(S, answer(1)),
        line(S, answer(1)),
        line(C, request(2, "a")),
        line(S, answer(2)),
    ]);
    assert_eq!(by_session(&rows), [("desk/a 1", vec!["a1", "a2"]), ("desk/b 1", vec!["b1"])]);
    assert!(snapshot.sessions.iter().all(|session| session.session_quality == SessionQuality::Stateless));
    assert_eq!(snapshot.sessions[0].protocol.as_deref(), Some("2026-07-28"));
}

#[test]
fn unknown_directions_are_settled_by_what_is_open() {
    let (rows, snapshot) = run(&[
        line(None, initialize(0, "host")),
        line(None, initialized(0, "desk")),
        line(None, super::wire::call_tool(1, "pay")),
        line(None, super::wire::elicit(1)),
        line(None, super::wire::accept(1, r#"{"amount":5}"#)),
        line(None, super::wire::tool_result(1, "done")),
    ]);
    assert_eq!(rows.elicitations.len(), 1);
    assert_eq!(rows.elicitations[0].operation.as_ref(), "pay");
    assert!(
        snapshot.methods.iter().all(|row| !["orphan", "unanswered"].contains(&&*row.kind)),
        "{:?}",
        snapshot.methods
    );
}

#[test]
fn a_key_that_connects_to_another_server_begins_another_session() {
    let (rows, snapshot) = run(&[
        line(C, initialize(0, "host")).session("chat"),
        line(S, initialized(0, "desk")).session("chat"),
        line(C, get(1, "x")).session("chat"),
        line(C, initialize(0, "host")).session("chat"),
        line(S, initialized(0, "notes")).session("chat"),
        line(C, get(1, "y")).session("chat"),
        line(C, initialize(0, "host")).session("chat"),
        line(S, initialized(0, "desk")).session("chat"),
        line(C, get(2, "z")).session("chat"),
    ]);
    assert_eq!(by_session(&rows), [("chat", vec!["x", "z"]), ("chat@notes", vec!["y"])]);
    let servers: Vec<_> = snapshot.sessions.iter().map(|row| (&*row.session, row.server.as_deref())).collect();
    assert_eq!(servers, [("chat", Some("desk")), ("chat@notes", Some("notes"))]);
}
