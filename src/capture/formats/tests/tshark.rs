use super::*;
use crate::capture::tests::{Read, file, read as read_files};
use serde_json::{Value, json};

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a","arguments":{"b":"Zürich"}}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}"#;
const START: u64 = 1_769_940_000_000;

fn hex(text: &str, between: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(between)
}

/// How tshark prints a body.
fn masked(text: &str) -> String {
    text.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { '\u{fffd}' }).collect()
}

/// A packet of `-T ek` with these layers besides its frame and its TCP stream.
fn packet(number: u64, layers: Value) -> Value {
    let mut packet = json!({
        "timestamp": (START + number).to_string(),
        "layers": {
            "frame": {"frame_frame_number": number.to_string()},
            "ip": {"ip_ip_src": "10.0.0.2", "ip_ip_dst": "10.0.0.1"},
            "tcp": {"tcp_tcp_stream": "0", "tcp_tcp_srcport": "80", "tcp_tcp_dstport": "4000"},
        },
    });
    for (name, layer) in layers.as_object().unwrap() {
        packet["layers"][name] = layer.clone();
    }
    packet
}

fn request(body: &str) -> Value {
    json!({
        "http_http_request_method": "POST",
        "http_http_request_uri": "/mcp",
        "http_http_request_line": [
            "Host: notes.example.test\r\n",
            "MCP-Session-Id: s-1\r\n",
            "Content-Type: application/json\r\n",
            format!("Content-Length: {}\r\n", ASK.len()),
        ],
        "http_http_file_data": body,
    })
}

fn answer(body: &str) -> Value {
    json!({
        "http_http_response_code": "200",
        "http_http_response_line": ["Content-Type: application/json\r\n"],
        "http_http_file_data": body,
    })
}

fn lines(packets: &[Value]) -> String {
    let index = r#"{"index":{"_index":"packets-2026-02-01","_type":"doc"}}"#;
    packets.iter().map(|packet| format!("{index}\n{packet}\n")).collect()
}

fn read_bytes(text: impl AsRef<[u8]>) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "packets", text);
    let read = read_files(&[&path], &ReadOptions::default());
    assert!(read.errors.is_empty(), "{:?}", read.errors);
    read
}

fn notes(read: &Read) -> Vec<String> {
    read.outcome.files[0].notes.iter().map(ToString::to_string).collect()
}

const BOTH: [&str; 2] = ["c2s request 1 prompts/get", "s2c result 1"];

/// The value of the argument that was sent.
fn sent_value(read: &Read) -> String {
    let Kind::Request { request, .. } = &read.messages[0].kind else { panic!("no request") };
    let RequestBody::PromptsGet { arguments, .. } = &request.body else { panic!("no prompt") };
    let debug = format!("{arguments:?}");
    ["Zürich", "Z\u{fffd}\u{fffd}rich"].into_iter().find(|value| debug.contains(value)).unwrap_or(&debug).to_owned()
}

#[test]
fn a_message_stands_with_the_packet_that_ends_it() {
    let ask = ASK.replace("Zürich", "Rome12");
    let packets =
        [packet(4, json!({"http": request(&ask)})), packet(5, json!({})), packet(6, json!({"http": answer(ANSWER)}))];
    let read = read_bytes(lines(&packets));
    assert_eq!(sent(&read.messages), BOTH);
    assert_eq!(read.messages[0].place.position, 4);
    let times: Vec<_> = read.messages.iter().map(|message| message.ts.map(|ts| ts.0)).collect();
    assert_eq!(times, [4, 6].map(|number| Some(i64::try_from(START + number).unwrap() * 1_000)));
    let connection = &read.messages[1].connection;
    assert_eq!(connection.session.as_deref(), Some("s-1"));
    assert_eq!(connection.server.as_deref(), Some("notes.example.test/mcp"));
    let row = &read.outcome.files[0];
    assert_eq!((&*row.format, row.lines, row.message_lines, row.continuation, row.noise), ("tshark-ek", 3, 1, 1, 1));
    assert_eq!(row.bytes, lines(&packets).len() as u64);
    assert_eq!(notes(&read), Vec::<String>::new());
}

#[test]
fn an_array_repeats_names_and_nests_them() {
    let head = r#""_index":"packets-2026-02-01","_type":"doc","_score":null"#;
    let frame = |number| {
        format!(
            r#""frame":{{"frame.time_epoch":"1769940000.00{number}000000","frame.number":"{number}"}},"tcp":{{"tcp.stream":"3"}}"#
        )
    };
    let asked = format!(
        r#""http":{{"POST /mcp HTTP/1.1\\r\\n":{{"http.request.method":"POST","http.request.uri":"/mcp"}},"http.host":"a.test",
        "http.request.line":"Host: a.test\r\n","http.request.line":"MCP-Session-Id: s-1\r\n","http.request.line":"X: y\r\n",
        "http.file_data":{}}}"#,
        Value::from(ASK.replace("Zürich", "Rome"))
    );
    let (half, rest) = ANSWER.split_at(20);
    let answered = format!(
        r#""http":{{"HTTP/1.1 200 OK\\r\\n":{{"http.response.code":"200"}},
        "http.response.line":"Transfer-Encoding: chunked\r\n","http.request_in":"1",
        "HTTP chunked response":{{"Data chunk":{{"http.chunk_size":"20","http.chunk_data":"{}"}},
        "Data chunk":{{"http.chunk_size":"29","http.chunk_data":"{}"}},"End":{{"http.chunk_size":"0"}}}},"http.file_data":"x"}}"#,
        hex(half, ":"),
        hex(rest, ":"),
    );
    let text = format!(
        "[\n{{{head},\"_source\":{{\"layers\":{{{},{asked}}}}}}},\n{{{head},\"_source\":{{\"layers\":{{{},{answered}}}}}}}\n]\n",
        frame(1),
        frame(2)
    );
    let read = read_bytes(&text);
    assert_eq!(sent(&read.messages), BOTH);
    assert_eq!(read.messages[0].connection.session.as_deref(), Some("s-1"), "the second of three lines");
    assert_eq!(read.messages[0].ts.map(|ts| ts.0), Some(1_769_940_000_001_000));
    assert_eq!(&*read.outcome.files[0].format, "tshark-json");

    let cut = read_bytes(&text[..text.len() - 40]);
    assert_eq!(sent(&cut.messages)[..1], BOTH[..1]);
    assert_eq!((cut.rejected.len(), cut.rejected[0].position), (1, 2));
    assert_eq!(cut.outcome.errors.len(), 1, "{:?}", cut.outcome.errors);
}

/// A body is text in which bytes were replaced; they are taken from wherever they are kept.
#[test]
fn letters_that_were_replaced_are_found_where_their_bytes_are() {
    let masked = masked(ASK);
    let whole = format!("POST /mcp HTTP/1.1\r\nHost: notes.example.test\r\n\r\n{ASK}");
    let with = |field: &str, value: Value| {
        let mut http = request(&masked);
        http[field] = value;
        json!({ "http": http })
    };
    let ways = [
        ("-x", with("http_http_file_data_raw", hex(ASK, "").into())),
        ("bytes in place of text", json!({ "http": request(&hex(ASK, ":")) })),
        (
            "packets that were put together",
            json!({"http": request(&masked), "tcp_tcp_reassembled_data": hex(&whole, ":")}),
        ),
        (
            "the last packet",
            json!({"http": request(&masked), "tcp": {"tcp_tcp_stream": "0", "tcp_tcp_payload": hex(ASK, ":")}}),
        ),
        ("decoded texts", json!({"http": request(&masked), "json": {"json_json_value_string": ["a", "Zürich"]}})),
        ("a body of no known type", json!({"http": request(&masked), "media": {"media_media_type": hex(ASK, ":")}})),
    ];
    for (what, layers) in ways {
        let read = read_bytes(lines(&[packet(1, layers), packet(2, json!({"http": answer(ANSWER)}))]));
        assert_eq!(sent(&read.messages), BOTH, "{what}");
        assert_eq!(sent_value(&read), "Zürich", "{what}");
        assert_eq!(notes(&read), Vec::<String>::new(), "{what}");
    }
    // Two texts look the same when their letters are replaced: neither is taken.
    for texts in [json!(["Zürich", "Zörich"]), json!(["München"])] {
        let layers = json!({"http": request(&masked), "json": {"json_json_value_string": texts}});
        let read = read_bytes(lines(&[packet(1, layers)]));
        assert_eq!(sent_value(&read), "Z\u{fffd}\u{fffd}rich");
        assert!(notes(&read)[0].starts_with("1 bodies hold letters"), "{:?}", notes(&read));
    }
    // Of packets that hold another number of bytes nothing is taken.
    let layers = json!({"http": request(&masked), "tcp": {"tcp_tcp_payload": hex("{\"jsonrpc\":", ":")}});
    assert_eq!(sent_value(&read_bytes(lines(&[packet(1, layers)]))), "Z\u{fffd}\u{fffd}rich");
}

#[test]
fn answers_find_their_request_by_its_packet_else_by_their_connection() {
    let ask = |id: u64| request(&ASK.replace("\"id\":1", &format!("\"id\":{id}")).replace("Zürich", "x"));
    let reply = |id: u64, asked: Option<u64>| {
        let mut http = answer(&ANSWER.replace("\"id\":1", &format!("\"id\":{id}")));
        if let Some(asked) = asked {
            http["http_http_request_in"] = asked.to_string().into();
        }
        http
    };
    for named in [true, false] {
        let packets = [
            packet(1, json!({"http": ask(1)})),
            packet(2, json!({"http": ask(2)})),
            packet(3, json!({"http": reply(1, named.then_some(1))})),
            packet(4, json!({"http": reply(2, named.then_some(2))})),
        ];
        let read = read_bytes(lines(&packets));
        let told = sent(&read.messages);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(read.messages.iter().all(|message| message.connection.session.as_deref() == Some("s-1")));
        assert_eq!(notes(&read), Vec::<String>::new());
    }
    // Two messages in one packet.
    let packets =
        [packet(1, json!({"http": [ask(1), ask(2)]})), packet(2, json!({"http": [reply(1, None), reply(2, None)]}))];
    let read = read_bytes(lines(&packets));
    assert_eq!(sent(&read.messages).len(), 4);
    let row = &read.outcome.files[0];
    assert_eq!((row.lines, row.message_lines, row.continuation), (2, 1, 1));
    // An answer whose request is not in the file: the address is known, its session is not.
    let mut alone = reply(7, Some(99));
    alone["http_http_response_for_uri"] = "http://notes.example.test/mcp".into();
    let packets = [
        packet(1, json!({"http": ask(1)})),
        packet(2, json!({"http": reply(1, Some(1))})),
        packet(3, json!({"http": alone})),
    ];
    let read = read_bytes(lines(&packets));
    let other = read.messages.iter().find(|message| gist(message) == "s2c result 7").unwrap();
    assert_eq!(
        (other.connection.server.as_deref(), &other.connection.session),
        (Some("notes.example.test/mcp"), &None)
    );
    let said = notes(&read);
    assert!(said.iter().any(|note| note.starts_with("1 answers belong to requests")), "{said:?}");
}

#[test]
fn what_the_export_lacks_is_not_captured() {
    let ask = request(&ASK.replace("Zürich", "Rome12"));
    let no_answer = read_bytes(lines(&[packet(1, json!({"http": ask}))]));
    assert_eq!(sent(&no_answer.messages), BOTH);
    assert_eq!(no_answer.messages[1].captured, Captured::Absent);
    assert!(
        notes(&no_answer).iter().any(|note| note.starts_with("1 requests have no answer")),
        "{:?}",
        notes(&no_answer)
    );

    let mut cut = json!({"http_http_response_code": "200", "http_http_chunk_size": "20"});
    cut["http_http_response_line"] = json!(["Content-Type: application/json\r\n", "Transfer-Encoding: chunked\r\n"]);
    cut["http_http_chunk_data"] = hex(&ANSWER[..20], ":").into();
    let mut bare = json!({"http_http_response_code": "200"});
    bare["http_http_response_line"] = json!(["Content-Length: 900\r\n"]);
    for (what, answer) in [("no last chunk", cut), ("no body", bare)] {
        let read = read_bytes(lines(&[packet(1, json!({"http": ask})), packet(2, json!({"http": answer}))]));
        assert_eq!(sent(&read.messages), BOTH, "{what}");
        assert_ne!(read.messages[1].captured, Captured::Full, "{what}");
    }
}

#[test]
fn what_is_not_read_is_said_with_what_to_do() {
    let packets = [
        packet(1, json!({"http": request(&ASK.replace("Zürich", "Rome12"))})),
        packet(2, json!({"tls": {"tls_tls_record": "x"}})),
        packet(3, json!({"tls": {}, "http2": {"http2_http2_stream": "x"}})),
        packet(4, json!({"http": {"http_http_file_data": "a part"}})),
        packet(5, json!({"http": answer(ANSWER)})),
        packet(6, json!({"udp": {}})),
    ];
    let read = read_bytes(lines(&packets));
    assert_eq!(sent(&read.messages), BOTH);
    let said = notes(&read);
    for begins in ["1 packets are encrypted (TLS)", "1 packets are HTTP/2", "1 packets hold a part of a body"] {
        assert!(said.iter().any(|note| note.starts_with(begins)), "{begins}: {said:?}");
    }
    assert_eq!(read.outcome.files[0].noise, 4);
}

#[test]
fn chosen_fields_alone_suffice() {
    let chosen = |packet: Value| json!({"timestamp": START.to_string(), "layers": packet}).to_string();
    let asked = json!({
        "frame_number": ["1"], "tcp_stream": ["0"], "http_request_method": ["POST"], "http_request_uri": ["/mcp"],
        "http_request_line": ["Host: a.test\r\n", "MCP-Session-Id: s-1\r\n"], "http_file_data": [ASK.replace("ü", "u")],
    });
    let answered = json!({
        "frame_number": ["2"], "tcp_stream": ["0"], "http_response_code": ["200"], "http_file_data": [hex(ANSWER, ":")],
    });
    let read = read_bytes(format!("{}\n{}\n", chosen(asked), chosen(answered)));
    assert_eq!(sent(&read.messages), BOTH);
    assert_eq!(&*read.outcome.files[0].format, "tshark-ek");
}

#[test]
fn lines_that_are_no_packets_are_rejected() {
    let whole = lines(&[packet(1, json!({"http": request(&ASK.replace("Zürich", "x"))}))]);
    let text = format!("{whole}{{\"layers\":\n{{\"a\":1}}\n{}", &whole[..whole.len() - 9]);
    let read = read_bytes(&text);
    let rejected: Vec<(u64, &str)> = read.rejected.iter().map(|row| (row.position, &*row.reason)).collect();
    assert_eq!(
        rejected,
        [(2, "not valid JSON"), (3, "no packet: it has no `layers`"), (4, "not valid JSON")],
        "{rejected:?}"
    );
    assert_eq!(read.outcome.files[0].bytes, text.len() as u64);
}

/// Other logs that nest alike are not taken for packets.
#[test]
fn lines_that_only_look_alike_are_no_packets() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        r#"{"layers":["eth","ip"],"timestamp":"1"}"#,
        r#"{"index":{"_index":"logs"}}"#,
        r#"[{"_index":"logs","_source":{"message":"x"}}]"#,
        r#"[{"_source":{"layers":"none"}}]"#,
    ] {
        let path = file(folder.path(), "log", text);
        let read = read_files(&[&path], &ReadOptions::default());
        assert!(read.errors[0].to_string().contains("no known format"), "{text}: {:?}", read.errors);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn exports_with_bytes_changed_cut_and_moved(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 0..6),
    ) {
        let packets = [
            packet(1, json!({"http": request(&masked(ASK)), "json": {"json_json_value_string": ["Zürich"]}})),
            packet(2, json!({"http": [answer(ANSWER), answer("")], "tcp_tcp_reassembled_data": hex(ANSWER, ":")})),
            packet(3, json!({"tls": {}})),
        ];
        for mut bytes in [lines(&packets).into_bytes(), format!("[{}]", json!({"_source": packets[0]})).into_bytes()] {
            for (at, byte, how) in changes.clone() {
                if bytes.is_empty() {
                    break;
                }
                let at = at.index(bytes.len());
                match how {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.truncate(at),
                }
            }
            for name in ["tshark-ek", "tshark-json"] {
                check_records(Formats::default().named(name)[0], &bytes)?;
            }
        }
    }
}
