use super::*;
use crate::capture::CaptureError;
use crate::capture::tests::{Read, file, read as read_files};

/// A tnetstring of a kind.
fn net(payload: impl AsRef<[u8]>, kind: char) -> Vec<u8> {
    let payload = payload.as_ref();
    let mut out = format!("{}:", payload.len()).into_bytes();
    out.extend_from_slice(payload);
    out.push(kind as u8);
    out
}

fn dict(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let inside: Vec<u8> = members.iter().flat_map(|(name, value)| [net(name, ';'), value.clone()].concat()).collect();
    net(inside, '}')
}

fn list(values: &[Vec<u8>]) -> Vec<u8> {
    net(values.concat(), ']')
}

fn null() -> Vec<u8> {
    net("", '~')
}

fn headers(pairs: &[(&str, &str)]) -> Vec<u8> {
    list(&pairs.iter().map(|(name, value)| list(&[net(name, ','), net(value, ',')])).collect::<Vec<_>>())
}

/// A request to `/mcp` at a second.
fn request(content: Vec<u8>, second: f64) -> Vec<u8> {
    dict(&[
        ("method", net("POST", ',')),
        ("scheme", net("https", ',')),
        ("host", net("10.0.0.7", ';')),
        ("port", net("443", '#')),
        ("path", net("/mcp", ',')),
        ("authority", net("", ',')),
        ("headers", headers(&[("Host", "notes.example.test"), ("MCP-Session-Id", "s-1")])),
        ("content", content),
        ("timestamp_start", net(format!("{second:.1}"), '^')),
        ("timestamp_end", net(format!("{:.1}", second + 0.1), '^')),
    ])
}

/// A response that takes half a second; `ends` is false where it broke off.
fn response(status: u16, kind: &str, content: Vec<u8>, second: f64, ends: bool) -> Vec<u8> {
    let end = if ends { net(format!("{:.1}", second + 0.5), '^') } else { null() };
    dict(&[
        ("status_code", net(status.to_string(), '#')),
        ("headers", headers(&[("Content-Type", kind)])),
        ("content", content),
        ("timestamp_start", net(format!("{second:.1}"), '^')),
        ("timestamp_end", end),
    ])
}

fn flow_of(version: Vec<u8>, kind: &str, request: Vec<u8>, response: Vec<u8>, more: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut members = vec![
        ("version", version),
        ("type", net(kind, ';')),
        ("client_conn", dict(&[("tls", net("true", '!'))])),
        ("request", request),
        ("response", response),
    ];
    members.extend_from_slice(more);
    dict(&members)
}

fn flow(request: Vec<u8>, response: Vec<u8>) -> Vec<u8> {
    flow_of(net("21", '#'), "http", request, response, &[])
}

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}"#;
const START: f64 = 1_769_940_000.0;

fn asked() -> Vec<u8> {
    request(net(ASK, ','), START)
}

fn answered() -> Vec<u8> {
    response(200, "application/json", net(ANSWER, ','), START + 1.0, true)
}

fn read_bytes(bytes: &[u8]) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "flows", bytes);
    read_files(&[&path], &ReadOptions::default())
}

fn notes(read: &Read) -> Vec<String> {
    read.outcome.files[0].notes.iter().map(|note| note.to_string()).collect()
}

fn said(errors: &[CaptureError]) -> Vec<String> {
    errors.iter().map(CaptureError::to_string).collect()
}

fn rejected(read: &Read) -> Vec<(u64, String)> {
    read.rejected.iter().map(|row| (row.position, row.reason.to_string())).collect()
}

#[test]
fn a_flow_is_a_request_and_its_answer() {
    let read = read_bytes(&[flow(asked(), answered()), b"\n".to_vec()].concat());
    assert_eq!(sent(&read.messages), ["c2s request 1 prompts/get", "s2c result 1"]);
    let times: Vec<Option<i64>> = read.messages.iter().map(|message| message.ts.map(|ts| ts.0)).collect();
    assert_eq!(times, [Some(1_769_940_000_000_000), Some(1_769_940_001_500_000)]);
    let connection = &read.messages[0].connection;
    assert_eq!(connection.session.as_deref(), Some("s-1"));
    assert_eq!(connection.server.as_deref(), Some("notes.example.test/mcp"), "as the client named it");
    let row = &read.outcome.files[0];
    assert_eq!((&*row.format, row.format_version.as_deref()), ("mitmproxy", Some("flow format 21")));
    assert_eq!((row.lines, row.message_lines), (1, 1));
}

#[test]
fn old_dumps_have_bytes_where_new_ones_have_text() {
    let bytes: Vec<u8> = flow_of(net("4", '#'), "http", asked(), answered(), &[]);
    let text = String::from_utf8(bytes).unwrap().replace("4:http;", "4:http,").replace("8:10.0.0.7;", "8:10.0.0.7,");
    let read = read_bytes(text.as_bytes());
    assert_eq!(sent(&read.messages), ["c2s request 1 prompts/get", "s2c result 1"]);
}

#[test]
fn what_was_streamed_through_is_not_captured() {
    let streamed = response(200, "application/json", null(), START + 1.0, true);
    let read = read_bytes(&flow(asked(), streamed));
    assert_eq!(sent(&read.messages), ["c2s request 1 prompts/get", "s2c result 1"]);
    assert_eq!(read.messages[1].captured, Captured::Absent);
    assert!(notes(&read)[0].starts_with("1 exchanges whose answer is not known"), "{:?}", notes(&read));
}

#[test]
fn no_answer_and_a_broken_off_answer_are_two_things() {
    let read = read_bytes(&flow(asked(), null()));
    assert_eq!(sent(&read.messages), ["c2s request 1 prompts/get"], "nothing came");

    // The stream broke off; the error's time ends it.
    let event = format!("data: {ANSWER}\n\ndata: {{\"jsonrpc\":");
    let open = response(200, "text/event-stream", net(event, ','), START + 1.0, false);
    let error = dict(&[("msg", net("connection closed", ';')), ("timestamp", net("1769940009.25", '^'))]);
    let read = read_bytes(&flow_of(net("21", '#'), "http", asked(), open, &[("error", error.clone())]));
    assert_eq!(sent(&read.messages)[..2], ["c2s request 1 prompts/get", "s2c result 1"]);
    assert_eq!(read.messages[1].ts, Some(Ts(1_769_940_009_250_000)));

    let open = response(200, "application/json", net("", ','), START + 1.0, false);
    let read = read_bytes(&flow_of(net("21", '#'), "http", asked(), open, &[("error", error)]));
    assert_eq!(read.messages[1].captured, Captured::Absent, "its body had not come yet");
}

#[test]
fn flows_that_are_not_http_are_counted_by_their_kind() {
    let other = |kind: &str| flow_of(net("21", '#'), kind, null(), null(), &[("messages", list(&[]))]);
    let socket = |content: &str| {
        let message = list(&[net("1", '#'), net("true", '!'), net(content, ','), net("1769940000.5", '^')]);
        let websocket = dict(&[("messages", list(&[message]))]);
        flow_of(net("21", '#'), "http", asked(), null(), &[("websocket", websocket)])
    };
    let read = read_bytes(
        &[other("tcp"), other("dns"), other("tcp"), socket("hello"), socket(ASK), flow(asked(), answered())].concat(),
    );
    assert_eq!(read.messages.len(), 2);
    assert_eq!(read.messages[0].place.position, 6);
    let row = &read.outcome.files[0];
    assert_eq!((row.lines, row.noise, row.rejected), (6, 4, 1));
    assert_eq!(notes(&read), ["4 flows are not HTTP: 1 WebSocket, 1 dns, 2 tcp"]);
    assert_eq!(rejected(&read)[0].0, 5);
    assert!(rejected(&read)[0].1.starts_with("JSON-RPC over a WebSocket"), "{:?}", rejected(&read));
}

#[test]
fn a_flow_format_that_is_not_known_ends_the_file_with_what_to_do() {
    for (version, shown) in [(net("22", '#'), "22"), (list(&[net("0", '#'), net("18", '#')]), "0.18")] {
        let strange = flow_of(version, "http", asked(), answered(), &[]);
        let read = read_bytes(&[flow(asked(), answered()), strange, flow(asked(), answered())].concat());
        assert_eq!(read.messages.len(), 2, "what stands before was read");
        let errors = said(&read.outcome.errors);
        for part in ["flows: flow 2 is of format version ", shown, "versions 4 to 21 can be read", "hardump"] {
            assert!(errors[0].contains(part), "{part}: {errors:?}");
        }
    }
}

#[test]
fn cut_files_and_odd_flows_are_said() {
    let whole = flow(asked(), answered());
    let cut = read_bytes(&[whole.clone(), whole[..whole.len() - 20].to_vec()].concat());
    assert_eq!(cut.messages.len(), 2);
    let length = whole.len();
    let reason = format!("the file ends inside this flow: {} of its {length} bytes are there", length - 20);
    assert_eq!(rejected(&cut), [(2, reason)]);

    let cut = read_bytes(&[whole.clone(), b"120".to_vec()].concat());
    assert_eq!(rejected(&cut), [(2, "the file ends inside the length of this flow".to_owned())]);

    let huge = read_bytes(&[whole.clone(), b"999999999999:1:a,".to_vec()].concat());
    assert_eq!(
        rejected(&huge),
        [(2, "the file ends inside this flow: 17 of its 1000000000013 bytes are there".to_owned())]
    );

    let odd = [
        (dict(&[("version", net("21", '#')), ("type", net("http", ';')), ("request", null())]), "without a request"),
        (dict(&[("version", net("21", '#')), ("request", asked())]), "names no type"),
        (dict(&[("type", net("http", ';'))]), "names no version"),
        (list(&[]), "a value that is no flow"),
        (net("1:a,", '}'), "a name without a value"),
        (net("", '?'), "a value of no known kind"),
    ];
    for (flow, wanted) in odd {
        let read = read_bytes(&[whole.clone(), flow, whole.clone()].concat());
        assert_eq!(read.messages.len(), 4, "{wanted}: the flow behind it is read");
        assert_eq!(read.rejected.len(), 1, "{wanted}");
        assert!(rejected(&read)[0].1.contains(wanted), "{:?}", rejected(&read));
    }

    let lost = read_bytes(&[whole.clone(), b"no length".to_vec(), whole].concat());
    assert_eq!(lost.messages.len(), 2);
    let errors = said(&lost.outcome.errors);
    assert!(errors[0].contains("flow 2: no length where a value begins"), "{errors:?}");
}

#[test]
fn nesting_costs_nothing() {
    let mut deep = net("", ']');
    for _ in 0..2_000 {
        deep = list(&[deep]);
    }
    let whole = flow(asked(), answered());
    let flows = [whole.clone(), flow_of(net("21", '#'), "http", asked(), answered(), &[("metadata", deep)])].concat();
    assert_eq!(read_bytes(&flows).messages.len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_change_of_bytes_is_accounted_for(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..5),
    ) {
        let mut bytes = [flow(asked(), answered()), flow(asked(), null()), flow(asked(), answered())].concat();
        let first = flow(asked(), answered()).len();
        for (at, byte, how) in changes {
            // The first flow stays, so that the file is recognised.
            let at = first + at.index(bytes.len() - first);
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
            if bytes.len() == first {
                break;
            }
        }
        // The sums close (which `read` asserts), and no byte is counted twice.
        let read = read_bytes(&bytes);
        let row = &read.outcome.files[0];
        prop_assert!(row.message_lines >= 1);
        prop_assert!(row.bytes <= bytes.len() as u64);
        prop_assert_eq!(row.rejected, read.rejected.len() as u64);
    }

    #[test]
    fn any_bytes_behind_a_flow(tail in prop::collection::vec(any::<u8>(), 0..200)) {
        let read = read_bytes(&[flow(asked(), answered()), tail].concat());
        prop_assert!(read.messages.len() >= 2);
    }
}
