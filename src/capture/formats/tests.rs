//! Every variant, and what real captures do to each.

use super::ALL;
use crate::capture::sink::{Block, Decoded, FileFacts};
use crate::capture::{ReadOptions, Sources, discover};
use crate::protocol::message::*;
use proptest::prelude::*;
use std::sync::Arc;

fn decode(format: &str, text: &[u8]) -> Decoded {
    let block = Block { bytes: Arc::new(text.to_vec()), used: text.len(), first: true, last: true };
    super::by_name(format).unwrap().decode(&block, &FileFacts::default())
}

/// One line a message, so that a test reads like the capture: `direction kind id method`.
fn gist(message: &Message) -> String {
    let direction = match message.direction {
        Some(Direction::ClientToServer) => "c2s",
        Some(Direction::ServerToClient) => "s2c",
        None => "?",
    };
    let id = |id: Option<&Id>| match id {
        None => "none".to_owned(),
        Some(Id::Integer(number)) => number.to_string(),
        Some(Id::String(text)) => format!("\"{text}\""),
        Some(Id::Other(text)) => text.to_string(),
    };
    match &message.kind {
        Kind::Request { id: given, request } => format!("{direction} request {} {}", id(Some(given)), request.method),
        Kind::Notification(notification) => format!("{direction} notification {}", notification.method),
        Kind::Result { id: given, .. } => format!("{direction} result {}", id(given.as_ref())),
        Kind::Error { id: given, error } => {
            format!("{direction} error {} {}", id(given.as_ref()), error.code.unwrap_or_default())
        }
    }
}

fn gists(decoded: &Decoded) -> Vec<String> {
    decoded.messages.iter().map(gist).collect()
}

fn reasons(decoded: &Decoded) -> Vec<(u64, &str)> {
    decoded.rejected.iter().map(|row| (row.line, row.reason.as_str())).collect()
}

/// Writes a file of this name and reads it with detection.
fn read(name: &str, text: &str, options: &ReadOptions) -> (Vec<Message>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let (sources, errors): (Sources, _) = discover(&[path.display().to_string()], options);
    assert!(errors.is_empty(), "{errors:?}");
    let mut messages = Vec::new();
    let outcome = sources.read(|message, _| messages.push(message), |_| {}, &Arc::default());
    let row = &outcome.files[0];
    let said = [row.format.to_string(), row.format_version.as_deref().unwrap_or("-").to_owned()];
    (messages, said.into_iter().chain(row.notes.iter().map(|note| note.to_string())).collect())
}

fn sent(messages: &[Message]) -> Vec<String> {
    messages.iter().map(gist).collect()
}

mod jsonrpc {
    use super::*;

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
        let line =
            br#"[{"jsonrpc":"2.0","id":1,"method":"prompts/list"},7,{"jsonrpc":"2.0","method":"notifications/x"}]"#;
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
}

mod envelope {
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
        let sessions: Vec<_> =
            read("x.ndjson", text, &options).0.iter().map(|m| m.connection.session.clone()).collect();
        assert_eq!(sessions, [Some("t1".into()), Some("t2".into())]);
    }
}

mod desktop {
    use super::*;

    fn log(text: &str) -> Decoded {
        decode("claude-desktop", text.as_bytes())
    }

    #[test]
    fn variants_are_read_and_named() {
        let ping = r#"{"method":"ping","jsonrpc":"2.0","id":7}"#;
        let time = "2025-03-14T09:26:53.589Z";
        let cut = r#"{"method":"prompts/get","params":{"name":"scale","arguments":{"a":"xx... [812 chars truncated] ...yy"},"jsonrpc":"2.0","id":9}"#;
        for (name, line, variant, wanted) in [
            (
                "mcp.log",
                format!("{time} [info] Message from client: {ping}"),
                "V0 (no server named)",
                "c2s request 7 ping",
            ),
            ("mcp-server-a.log", format!("{time} [a] [info] Message from client: {ping}"), "V1", "c2s request 7 ping"),
            (
                "mcp-server-a.log",
                format!("{time} [a] [info] Message from client: {ping} {{ metadata: undefined }}"),
                "V2",
                "c2s request 7 ping",
            ),
            (
                "mcp-server-a.log",
                format!("{time} [a] [info] Message from client: {cut} {{ metadata: undefined }}"),
                "V2b (long bodies cut)",
                "c2s request 9 prompts/get",
            ),
            (
                "mcp-server-a.log",
                format!(
                    "{time} [a] [info] Message from client: method=\"prompts/get\" id=7 params {{ metadata: undefined }}"
                ),
                "V3 (bodies replaced by summaries), V2",
                "c2s request 7 prompts/get",
            ),
            (
                "mcp.log",
                format!("{time} [info] [a] Message from server: {ping}"),
                "V1, lines of mcp.log",
                "s2c request 7 ping",
            ),
            ("paste.txt", format!("[a] [info] Message from client: {ping}"), "V1", "c2s request 7 ping"),
        ] {
            let (messages, said) = read(name, &line, &ReadOptions::default());
            assert_eq!(said[..2], ["claude-desktop".to_owned(), variant.to_owned()], "{line}");
            assert_eq!(sent(&messages), [wanted], "{line}");
            let server = if variant.starts_with("V0") { None } else { Some("a") };
            assert_eq!(messages[0].connection.server.as_deref(), server, "{line}");
        }
    }

    #[test]
    fn summaries_keep_method_and_id_and_say_that_the_body_is_gone() {
        let decoded = log(
            "2026-08-19T07:00:01.442Z [r] [info] Message from client: method=\"prompts/get\" id=7 params { metadata: undefined }\n\
             2026-08-19T07:00:01.443Z [r] [info] Message from server: method=\"elicitation/create\" id=0 params\n\
             2026-08-19T07:00:01.444Z [r] [info] Message from client: id=0\n\
             2026-08-19T07:00:01.445Z [r] [info] Message from server: id=7 result (3 blocks) and more\n\
             2026-08-19T07:00:01.446Z [r] [info] Message from server: id=8 error(code=-32602)\n\
             2026-08-19T07:00:01.447Z [r] [info] Message from server: method=\"notifications/prompts/list_changed\"\n\
             2026-08-19T07:00:01.448Z [r] [info] Message from client: method=\"ping\" id=abc-1\n",
        );
        assert_eq!(
            gists(&decoded),
            [
                "c2s request 7 prompts/get",
                "s2c request 0 elicitation/create",
                "c2s result 0",
                "s2c result 7",
                "s2c error 8 -32602",
                "s2c notification notifications/prompts/list_changed",
                "c2s request \"abc-1\" ping",
            ]
        );
        assert!(decoded.messages.iter().all(|message| message.captured == Captured::Redacted));
    }

    #[test]
    fn cut_bodies_need_the_mark_and_others_are_rejected() {
        let prefix = "2026-01-01T00:00:00.000Z [a] [info] Message from server: ";
        let decoded = log(&format!(
            "{prefix}{{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{{\"messages\":[{{\"text\":\"aa [99 chars truncated] bb\n\
             {prefix}{{\"result\":{{\"content\":[{{\"text\":\"aa [99 chars truncated] bb\"}},\"jsonrpc\":\"2.0\",\"id\":\"x\"}} {{ metadata: undefined }}\n\
             {prefix}{{\"jsonrpc\":\"2.0\",\"id\":60,\"method\":\"prompts/get\" {{ metadata: undefined }}\n\
             {prefix}undefined\n"
        ));
        assert_eq!(gists(&decoded), ["s2c result 5", "s2c result \"x\""]);
        assert!(decoded.messages.iter().all(|message| message.captured == Captured::Truncated));
        let found: Vec<u64> = decoded.rejected.iter().map(|row| row.line).collect();
        assert_eq!(found, [3, 4]);
        assert!(
            decoded.rejected[0].reason.starts_with("not valid JSON at column 106: "),
            "{}",
            decoded.rejected[0].reason
        );
    }

    #[test]
    fn a_prompt_whose_arguments_were_cut_keeps_its_name() {
        let decoded = log(
            "2026-01-01T00:00:00.000Z [a] [info] Message from client: {\"method\":\"prompts/get\",\"params\":{\"name\":\"scale\",\"arguments\":{\"a\":\"x [9 chars truncated] y\"},\"jsonrpc\":\"2.0\",\"id\":3}\n",
        );
        let Kind::Request { request, .. } = &decoded.messages[0].kind else { unreachable!("{decoded:?}") };
        let RequestBody::PromptsGet { name, arguments } = &request.body else { unreachable!("{request:?}") };
        assert_eq!(*name, PromptName::Name("scale".into()));
        assert_eq!(arguments.shape, crate::protocol::prompt::ArgumentsAs::NotCaptured);
    }

    #[test]
    fn standard_error_never_counts_and_dumps_are_continuations() {
        let decoded = log("2026-01-01T00:00:00.000Z [a] [info] Initializing server... { metadata: undefined }\n\
             {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\"}\n\
             Traceback (most recent call last):\n  File \"x\"\n\n\
             2026-01-01T00:00:01.000Z [a] [error] failed {\n  metadata: {\n    stack: 'Error\\n' +\n\n  }\n}\n\
             2026-01-01T00:00:02.000Z [a] [error] invalid\n[\n  {\n    \"jsonrpc\": \"2.0\"\n  }\n]\n\
             2026-01-01T00:00:03.000Z [a] [info] Message from client: {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
        assert_eq!(gists(&decoded), ["c2s request 2 ping"]);
        let tally = &decoded.tally;
        assert_eq!((tally.noise, tally.blank, tally.continuation, tally.rejected), (6, 1, 10, 0));
    }

    #[test]
    fn names_that_look_like_levels_and_other_odd_tags_are_read() {
        let ping = r#"Message from client: {"method":"ping","jsonrpc":"2.0","id":7}"#;
        let server = |name: &str, tags: &str| {
            let line = format!("2026-01-01T00:00:00.000Z {tags} {ping}\r\n");
            let messages = read(name, &line, &ReadOptions::default()).0;
            messages[0].connection.server.as_deref().map(str::to_owned)
        };
        assert_eq!(server("mcp-server-info.log", "[info] [error]"), Some("info".to_owned()));
        assert_eq!(server("mcp.log", "[error] [info]"), Some("info".to_owned()));
        assert_eq!(server("mcp-server-x.log", "[Notes (Réf) 2.0] [warn]"), Some("Notes (Réf) 2.0".to_owned()));
        assert_eq!(server("mcp-server-x.log", "[info]"), Some("x".to_owned()));
        assert_eq!(server("mcp-server-x.log", "\u{1b}[2m[y] [debug]\u{1b}[0m"), Some("y".to_owned()));
    }

    #[test]
    fn a_log_without_messages_is_a_log_all_the_same() {
        let text = "npm warn x\n2026-01-01T00:00:00.000Z [a] [info] Initializing server...\n";
        let (messages, said) = read("mcp-server-a.log", text, &ReadOptions::default());
        assert!(messages.is_empty());
        assert_eq!(said[0], "claude-desktop");
    }
}

mod hostile {
    use super::*;

    const LINES: [&str; 12] = [
        r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a","arguments":{"b":"c"}}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
        r#"--> {"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#,
        r#"data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#,
        r#"{"ts":"2026-02-01T10:00:00Z","dir":"in","session":"s","msg":{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}}"#,
        r#"{"t":1769940000125,"direction":"out","raw":"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"messages\":[]}}"}"#,
        r#"2026-02-01T10:00:00.000Z [a b] [info] Message from client: {"method":"ping","jsonrpc":"2.0","id":0} { metadata: undefined }"#,
        r#"2026-02-01T10:00:00.000Z [a] [info] Message from server: {"result":{"content":[{"text":"x... 12 chars truncated ...y"}]},"jsonrpc":"2.0","id":7}"#,
        r#"2026-02-01T10:00:00.000Z [info] [a] Message from client: method="prompts/get" id=3 params"#,
        r#"2026-02-01T10:00:00.000Z [a] [error] failed {"#,
        "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"ping\"\n}",
        "\u{1b}[32m> IN: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\u{1b}[0m\r",
    ];

    fn check(text: &[u8]) -> Result<(), TestCaseError> {
        for format in ALL {
            let decoded = decode(format.name(), text);
            prop_assert!(decoded.tally.closes(), "{}: {:?}", format.name(), decoded.tally);
            prop_assert_eq!(decoded.tally.lines, text.split_inclusive(|byte| *byte == b'\n').count() as u64);
            prop_assert_eq!(decoded.tally.messages, decoded.messages.len() as u64);
            prop_assert_eq!(decoded.tally.rejected, decoded.rejected.len() as u64);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..400)) {
            check(&text)?;
        }

        #[test]
        fn lines_with_bytes_changed_cut_and_moved(
            picks in prop::collection::vec(0..LINES.len(), 1..6),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 0..6),
        ) {
            let mut text = picks.iter().map(|pick| LINES[*pick]).collect::<Vec<_>>().join("\n").into_bytes();
            for (at, byte, how) in changes {
                if text.is_empty() {
                    break;
                }
                let at = at.index(text.len());
                match how {
                    0 => text[at] = byte,
                    1 => text.insert(at, byte),
                    2 => drop(text.remove(at)),
                    _ => text.truncate(at),
                }
            }
            check(&text)?;
        }
    }
}
