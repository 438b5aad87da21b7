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
        ("mcp.log", format!("{time} [info] Message from client: {ping}"), "V0 (no server named)", "c2s request 7 ping"),
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
    assert!(decoded.rejected[0].reason.starts_with("not valid JSON at column 106: "), "{}", decoded.rejected[0].reason);
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
