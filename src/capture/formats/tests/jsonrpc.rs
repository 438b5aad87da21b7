use super::*;
use crate::capture::nested;

#[test]
fn ids_and_odd_members_are_kept_as_they_are() {
    let decoded = decode(
        "jsonrpc",
        br#"{"jsonrpc":"2.0","id":0,"method":"ping"}
{"method":"prompts/list","jsonrpc":"2.0","id":"0"}
{"jsonrpc":"2.0","id":1.5,"method":"prompts/list","params":[]}
{"jsonrpc":"2.0","id":null,"method":"ping","params":null}
{"jsonrpc":"2.0","id":null,"error":{"code":0,"message":""}}
{"jsonrpc":"2.0","error":{"code":-32600,"message":"no id"}}
{"result":{},"id":7}
{"jsonrpc":"2.0","id":8,"result":null}
{"jsonrpc":"2.0","method":"log","params":{"id":3}}
{"jsonrpc":"2.0","id":9,"met\u0068od":"prompts\/get","params":{}}
"#,
    );
    assert_eq!(
        gists(&decoded),
        [
            "? request 0 ping",
            "c2s request \"0\" prompts/list",
            "c2s request 1.5 prompts/list",
            "? request null ping",
            "? error none 0",
            "? error none -32600",
            "? result 7",
            "? result 8",
            "? notification log",
            "c2s request 9 prompts/get",
        ]
    );
    assert!(decoded.rejected.is_empty());
}

#[test]
fn the_last_of_two_equal_members_counts_and_is_counted() {
    let decoded = decode("jsonrpc", br#"{"id":1,"method":"ping","id":2,"jsonrpc":"2.0"}"#);
    assert_eq!(gists(&decoded), ["? request 2 ping"]);
    assert_eq!(decoded.tally.duplicate_keys, 1);
}

#[test]
fn a_batch_is_one_line_and_several_messages() {
    let line = br#"[{"jsonrpc":"2.0","id":1,"method":"prompts/list"},7,{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    let decoded = decode("jsonrpc", &[line.as_slice(), b"\n[]\n[{\"a\":1}]\n"].concat());
    assert_eq!(gists(&decoded), ["c2s request 1 prompts/list", "? notification notifications/x"]);
    assert!(decoded.messages.iter().all(|message| message.batch));
    let places: Vec<_> = decoded.messages.iter().map(|message| (message.place.member, message.bytes)).collect();
    assert_eq!(places, [(0, line.len() as u32 + 1), (1, 0)]);
    assert_eq!((decoded.tally.message_lines, decoded.tally.noise, decoded.tally.odd_members), (1, 2, 1));
}

#[test]
fn decorations_are_stripped_and_give_times() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for dress in [
        "> ",
        "<- ",
        "--> ",
        "\u{2192} ",
        "C: ",
        "IN ",
        "OUT: ",
        "SERVER: ",
        "Request: ",
        "data: ",
        "data:",
        "  ",
        "> c2s: ",
    ] {
        let decoded = decode("jsonrpc", format!("{dress}{ping}\r\n").as_bytes());
        assert_eq!(decoded.messages.len(), 1, "{dress}");
    }
    let timed = decode("jsonrpc", format!("2026-02-01T10:00:00Z --> {ping}").as_bytes());
    assert_eq!(timed.messages[0].ts, Some(Ts(1_769_940_000_000_000)));
    let coloured = decode("jsonrpc", format!("\u{1b}[32m> {ping}\u{1b}[0m\n{ping}\u{1b}[0m\n").as_bytes());
    assert_eq!(coloured.messages.len(), 2);
    // Prose that quotes a message is no message.
    assert!(decode("jsonrpc", format!("DEBUG sending {ping}").as_bytes()).messages.is_empty());
}

#[test]
fn noise_is_told_from_broken_records() {
    let decoded = decode(
        "jsonrpc",
        b"event: message\n: comment\nContent-Length: 40\n```json\n\n{\"level\":\"info\"}\n[warn] x\n\
          {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"} tail\n",
    );
    assert_eq!((decoded.tally.noise, decoded.tally.blank), (6, 1));
    assert_eq!(
        reasons(&decoded),
        [
            (8, "not valid JSON at column 39: EOF while parsing an object"),
            (9, "text after the JSON value at column 42"),
        ]
    );
}

/// Logs of programs and web servers have a `method`, an `id` and an `error` as well.
#[test]
fn records_of_something_else_are_no_messages() {
    for (line, wanted) in [
        (r#"{"method":"GET","url":"/mcp","status":200}"#, None),
        (r#"{"method":"POST","id":7,"params":{"a":1}}"#, None),
        (r#"{"method":"prompts/get","duration_ms":12}"#, None),
        (r#"{"method":"ping","level":"info"}"#, None),
        (r#"{"level":"error","id":7,"error":"no such table"}"#, None),
        (r#"{"id":7,"error":"no such table"}"#, None),
        (r#"{"id":7,"result":"ok","elapsed":3}"#, None),
        (r#"{"result":{"messages":[]}}"#, None),
        (r#"{"jsonrpc":"2.0","method":"GET","id":7}"#, Some("? request 7 GET")),
        (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no"},"at":"now"}"#, Some("? error none 1")),
        // Home-made servers leave `jsonrpc` out.
        (r#"{"method":"prompts/get","params":{"name":"a"},"id":7}"#, Some("c2s request 7 prompts/get")),
        (r#"{"method":"prompts\/get","id":7}"#, Some("c2s request 7 prompts/get")),
        (r#"{"method":"prompts/get","params":{"name":"a"},"id":7,"at":"now"}"#, Some("c2s request 7 prompts/get")),
        (r#"{"method":"ping","id":7}"#, Some("? request 7 ping")),
        (r#"{"id":7,"result":{"messages":[]}}"#, Some("? result 7")),
        (r#"{"id":7,"error":{"code":-32602,"message":"no"}}"#, Some("? error 7 -32602")),
    ] {
        let decoded = decode("jsonrpc", line.as_bytes());
        assert_eq!(gists(&decoded).first().map(String::as_str), wanted, "{line}");
        assert_eq!(decoded.tally.rejected, 0, "{line}");
    }
}

#[test]
fn values_over_several_lines_and_several_values_on_a_line_are_read() {
    let pretty = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"ping\"\n}\n";
    let run_together = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
    let decoded = decode("jsonrpc", format!("{pretty}{run_together}\n{pretty}").as_bytes());
    assert_eq!(gists(&decoded), [1, 2, 3, 1].map(|id| format!("? request {id} ping")));
    let lines: Vec<u64> = decoded.messages.iter().map(|message| message.place.position).collect();
    assert_eq!(lines, [1, 6, 6, 7]);
    assert_eq!((decoded.tally.message_lines, decoded.tally.continuation, decoded.tally.lines), (3, 8, 11));
    let bytes: u64 = decoded.messages.iter().map(|message| u64::from(message.bytes)).sum();
    assert_eq!(bytes, decoded.tally.bytes);
}

#[test]
fn cut_ends_and_padding_have_their_own_reasons() {
    let decoded = decode(
        "jsonrpc",
        b"ms\":{\"name\":\"a\"}}\n\0\0{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\0\0\0\n{\"jsonrpc\":\"2.0\",\"id",
    );
    assert_eq!(reasons(&decoded), [(1, "cut off at the start of the file"), (4, "cut off at the end of the file")]);
    assert_eq!((decoded.messages.len(), decoded.tally.padded, decoded.tally.blank), (1, 2, 1));
}

#[test]
fn names_of_split_halves_tell_the_direction_of_answers() {
    let answers = r#"{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}"#;
    let asks = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#;
    let both = r#"{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{}}"#;
    let directions = |name: &str, lines: &[&str]| {
        sent(&read(name, &lines.join("\n"), &ReadOptions::default()).0)
            .iter()
            .map(|gist| gist[..3].to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(directions("stdin.ndjson", &[asks, answers]), ["c2s", "c2s"]);
    assert_eq!(directions("stdout.ndjson", &[both, answers]), ["s2c", "s2c"]);
    // A file named after its client that holds both halves: the name tells nothing.
    assert_eq!(directions("client.ndjson", &[asks, both, answers]), ["c2s", "s2c", "? r"]);
}

#[test]
fn bodies_are_parsed_only_where_they_are_ours_and_errors_and_servers_are_found() {
    let decoded = decode(
        "jsonrpc",
        br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"messages\":[]}"}],"isError":true,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"desk","version":"2"}}}}
{"jsonrpc":"2.0","id":2,"result":{"prompts":[]}}
{"jsonrpc":"2.0","id":3,"result":{"\u0061ction":"accept","content":{}}}
{"jsonrpc":"2.0","id":4,"result":{"roots":[]}}
{"jsonrpc":"2.0","id":5,"result":[]}
{"jsonrpc":"2.0","id":6,"result":{"content":{"action":"accept"}}}
{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{}}}
"#,
    );
    let answers: Vec<&Answer> = decoded
        .messages
        .iter()
        .filter_map(|message| match &message.kind {
            Kind::Result { answer, .. } => Some(answer),
            _ => None,
        })
        .collect();
    assert!(matches!(answers[0].shape, Shape::Tool { echo: None }) && answers[0].is_error);
    assert_eq!(answers[0].server.as_ref().map(|server| &*server.name), Some("desk"));
    assert_eq!(decoded.messages[0].tool_text().as_deref(), Some("{\"messages\":[]}"));
    assert!(matches!(answers[1].shape, Shape::Prompts(_)));
    assert!(matches!(answers[2].shape, Shape::Elicitation(_)));
    assert!(matches!(answers[3].shape, Shape::Other));
    assert!(matches!(answers[4].shape, Shape::NotAnObject));
    assert!(matches!(answers[5].shape, Shape::Other));
    assert!(matches!(answers[6].shape, Shape::InputRequired { .. }));
    assert_eq!(decoded.tally.other, 4);
}

proptest! {
    /// Skipping what is not ours gives the answer that parsing everything gives.
    #[test]
    fn a_skipped_result_is_what_a_full_parse_says(
        members in prop::collection::vec((
            prop::sample::select(vec![
                "content", "isError", "messages", "prompts", "completion", "action", "resultType", "inputRequests",
                "capabilities", "serverInfo", "_meta", "structuredContent", "roots", "nextCursor",
            ]),
            prop::sample::select(vec![
                "[]", "{}", "true", "false", "null", "\"complete\"", "\"input_required\"", "\"accept\"",
                r#"[{"type":"text","text":"a\"b"}]"#, r#"{"io.modelcontextprotocol/serverInfo":{"name":"x"}}"#,
                r#"{"prompts":{"listChanged":true}}"#, r#"{"action":"accept","messages":[]}"#,
            ]),
        ), 0..5),
        spaced in any::<bool>(),
    ) {
        let mut known = std::collections::BTreeMap::new();
        for (name, value) in members {
            known.insert(name, value);
        }
        let (comma, colon) = if spaced { (", ", ": ") } else { (",", ":") };
        let inside: Vec<String> = known.iter().map(|(name, value)| format!("\"{name}\"{colon}{value}")).collect();
        let result = format!("{{{}}}", inside.join(comma));
        let decoded = decode("jsonrpc", format!("{{\"id\":1,\"result\":{result}}}").as_bytes());
        let mut wanted = crate::protocol::parse::answer(&result, &mut Default::default());
        if let Shape::Tool { echo } = &mut wanted.shape {
            prop_assert_eq!(decoded.messages[0].tool_text(), echo.take());
        }
        match &decoded.messages[0].kind {
            Kind::Result { answer, .. } => {
                let mut answer = answer.clone();
                if let Shape::Tool { echo } = &mut answer.shape {
                    *echo = None;
                }
                prop_assert_eq!(answer, wanted);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

/// JSON-RPC forbids a batch within a batch: its messages are not read, and neither are they noise.
#[test]
fn a_batch_within_a_batch_is_rejected_whatever_stands_around_it() {
    let get = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"prompts/get","params":{{"name":"p"}}}}"#);
    let (first, second) = (get(1), get(2));
    let alone = format!("[[{first}]]");
    let beside = format!("[{first},[{second}]]");
    let pretty = format!("[\n [\n  {first}\n ]\n]");
    let snooped = |raw: &str| {
        format!(r#"{{"session_id":"s","seq":1,"ts":"2026-02-01T10:00:00Z","direction":"c2s","raw":{raw}}}"#)
    };
    for (format, text, kept) in [
        ("jsonrpc", alone.clone(), 0),
        ("jsonrpc", beside.clone(), 1),
        ("jsonrpc", format!("> {alone}{second}"), 1),
        ("jsonrpc", pretty, 0),
        ("envelope", format!(r#"{{"dir":"in","msg":{alone}}}"#), 0),
        ("envelope", format!(r#"{{"dir":"in","msg":{beside}}}"#), 1),
        ("envelope", format!(r#"{{"dir":"in","msg":{}}}"#, serde_json::Value::from(alone.as_str())), 0),
        ("envelope", alone.clone(), 0),
        ("claude-desktop", format!("2026-02-01T10:00:00.000Z [desk] [info] Message from client: {alone}"), 0),
        ("claude-desktop", format!("2026-02-01T10:00:00.000Z [desk] [info] Message from client: {beside}"), 1),
        ("mcpsnoop", snooped(&alone), 0),
        ("mcpsnoop", snooped(&beside), 1),
    ] {
        let decoded = decode(format, format!("{text}\n").as_bytes());
        let rejected: Vec<_> = decoded.rejected.iter().map(|rejected| (rejected.line, &*rejected.reason)).collect();
        assert_eq!(rejected, [(1, nested::REASON)], "{format}: {text}");
        assert_eq!(decoded.messages.len(), kept, "{format}: {text}");
        let tally = &decoded.tally;
        assert!(tally.closes(), "{tally:?}");
        let counted = (tally.message_lines, tally.rejected, tally.rejected_parts, tally.noise);
        assert_eq!(counted, if kept > 0 { (1, 0, 1, 0) } else { (0, 1, 0, 0) }, "{format}: {text}");
        assert!(decoded.rejected[0].excerpt.contains("prompts/get"), "{}", decoded.rejected[0].excerpt);
    }
    // Arrays of arrays without a message are what they were: no traffic.
    let decoded = decode("jsonrpc", b"[[1,2],[3]]\n[[]]\n[[{\"level\":\"info\"}]]\n");
    assert_eq!((decoded.tally.noise, decoded.rejected.len()), (3, 0));
}
