use super::*;

#[test]
fn payloads_come_under_many_names_as_objects_and_as_text() {
    let decoded = decode(
        "envelope",
        br#"{"ts":"2026-02-01T10:00:00Z","dir":"c2s","session":"a","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"timestamp":1769940001,"direction":"server->client","sessionId":7,"payload":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}
{"t":1769940002000,"from":"client","raw":"\"{\\\"id\\\":2,\\\"method\\\":\\\"ping\\\"}\"","server_label":"desk","client":"app"}
{"type":"request","source":"Server_To_Client","message":"x","frame":[{"jsonrpc":"2.0","id":3,"method":"ping"}]}
{"ts":"2026-02-01 10:00:03,5","dir":"client \u2192 server","content":{"id":4,"method":"ping","jsonrpc":"2.0"}}
"#,
    );
    assert_eq!(
        gists(&decoded),
        ["c2s request 1 ping", "s2c result 1", "c2s request 2 ping", "s2c request 3 ping", "c2s request 4 ping"]
    );
    let times: Vec<_> =
        decoded.messages.iter().map(|message| message.ts.map(|ts| ts.0 / 100_000 - 17_699_400_000)).collect();
    assert_eq!(times, [Some(0), Some(10), Some(20), None, Some(35)]);
    let sessions: Vec<_> = decoded.messages.iter().map(|message| message.connection.session.as_deref()).collect();
    assert_eq!(sessions, [Some("a"), Some("7"), None, None, None]);
    assert_eq!(decoded.messages[2].connection.server.as_deref(), Some("desk"));
    assert_eq!(decoded.messages[2].connection.client.as_deref(), Some("app"));
    assert!(decoded.messages[3].batch);
}

#[test]
fn what_is_no_message_is_noise_and_what_is_broken_is_rejected() {
    let decoded = decode(
        "envelope",
        br#"{"direction":"stderr","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}
{"direction":"meta","raw":{"command":["x"],"cwd":"/"}}
{"direction":"c2s","text":"warming up"}
plain text

{"jsonrpc":"2.0","id":1,"method":"ping"}
{"dir":"c2s","msg":"{\"jsonrpc\":\"2.0\",\"id\":60,\"method\":\"prompts/get\""}
{"dir":"c2s","msg":{"jsonrpc":"2.0"
{"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":7}}
"#,
    );
    assert_eq!(gists(&decoded), ["? request 1 ping"]);
    assert_eq!((decoded.tally.noise, decoded.tally.blank), (4, 1));
    assert_eq!(
        reasons(&decoded),
        [
            (7, "the text in `msg` is not valid JSON: EOF while parsing an object at line 1 column 47"),
            (8, "not valid JSON at column 35: EOF while parsing an object"),
            (9, "`msg` holds no JSON-RPC message: its `method` is not a string"),
        ]
    );
}

#[test]
fn relative_words_take_their_meaning_from_messages_that_one_side_sends() {
    let line = |dir: &str, rpc: &str| format!("{{\"dir\":\"{dir}\",\"msg\":{{\"jsonrpc\":\"2.0\",{rpc}}}}}\n");
    let asks = r#""id":1,"method":"prompts/list""#;
    let answers = r#""id":1,"result":{}"#;
    let at_server = [line("in", asks), line("out", answers), line("in", answers)].concat();
    let at_client = [line("send", asks), line("receive", answers)].concat();
    let untold = [line("in", answers), line("out", answers)].concat();
    let heads = |text: &str| {
        let (messages, said) = read("x.ndjson", text, &ReadOptions::default());
        (sent(&messages).iter().map(|gist| gist[..3].to_owned()).collect::<Vec<_>>(), said)
    };
    assert_eq!(heads(&at_server).0, ["c2s", "s2c", "c2s"]);
    assert!(heads(&at_server).1.iter().any(|note| note.contains("sent by the client")));
    assert_eq!(heads(&at_client).0, ["c2s", "s2c"]);
    assert_eq!(heads(&untold).0, ["? r", "? r"]);
}

#[test]
fn a_session_key_is_a_member_of_the_envelope_or_of_meta() {
    let text = r#"{"dir":"c2s","tab":"t1","session":"s","msg":{"id":1,"method":"ping","jsonrpc":"2.0"}}
{"dir":"c2s","msg":{"id":2,"method":"ping","params":{"_meta":{"tab":"t2"}},"jsonrpc":"2.0"}}"#;
    let options = ReadOptions { session_key: Some("tab".to_owned()), ..ReadOptions::default() };
    let sessions: Vec<_> = read("x.ndjson", text, &options).0.iter().map(|m| m.connection.session.clone()).collect();
    assert_eq!(sessions, [Some("t1".into()), Some("t2".into())]);
}
