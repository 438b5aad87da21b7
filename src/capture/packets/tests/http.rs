use super::*;
use crate::protocol::message::{Captured, Kind};
use std::io::Write as _;

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

fn chunk_of(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

#[test]
fn a_connection_is_used_for_many_exchanges() {
    let mut wire = Wire::open(4_000);
    for id in 1..=3 {
        wire.send_split(CLIENT, post(&ask(id)), 50);
        wire.send_split(SERVER, answer(&result(id)), 7);
    }
    let expected: Vec<String> = (1..=3).flat_map(exchange).collect();
    assert_eq!(told(&wire.segments), expected);
}

#[test]
fn requests_that_do_not_wait_are_answered_in_their_order() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, [post(&ask(1)), post(&ask(2)), post(&ask(3))].concat());
    wire.send(SERVER, [answer(&result(1)), answer(&result(2))].concat());
    wire.send(SERVER, answer(&result(3)));
    let read = read_bytes(wire.pcap());
    let mut told = sent(&read.messages);
    told.sort();
    let mut expected: Vec<String> = (1..=3).flat_map(exchange).collect();
    expected.sort();
    assert_eq!(told, expected);
    // One packet carries three requests, and counts once.
    let row = &read.outcome.files[0];
    assert_eq!((row.lines, row.message_lines, row.continuation, row.noise), (6, 1, 2, 3));
}

#[test]
fn bodies_end_as_they_say() {
    let body = result(1);
    let half = body.len() / 2;
    let chunked = [chunk(&body[..half]), chunk(&body[half..]), "0\r\nTrailer: x\r\n\r\n".to_owned()].concat();
    let head = |more: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}\r\n");
    let packed = gzip(&body);
    let transferred = [chunk_of(&packed[..20]), chunk_of(&packed[20..]), b"0\r\n\r\n".to_vec()].concat();
    let answers: [(&str, Vec<u8>); 7] = [
        ("length", answer(&body).into_bytes()),
        ("chunks", [head("Transfer-Encoding: chunked\r\n"), chunked].concat().into_bytes()),
        ("the end of the connection", [head(""), body.clone()].concat().into_bytes()),
        (
            "gzip",
            [head(&format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", packed.len())).as_bytes(), &packed]
                .concat(),
        ),
        (
            "gzip as a coding of the transfer",
            [head("Transfer-Encoding: gzip, chunked\r\n").as_bytes(), &transferred].concat(),
        ),
        (
            "two lengths that agree",
            [head(&format!("Content-Length: {0}\r\nContent-Length: {0}\r\n", body.len())), body.clone()]
                .concat()
                .into_bytes(),
        ),
        (
            "interim answers",
            ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n".to_owned(), answer(&body)]
                .concat()
                .into_bytes(),
        ),
    ];
    for (what, bytes) in answers {
        for size in [1, 3, 1_000] {
            let mut wire = Wire::open(4_000);
            wire.send(CLIENT, post(&ask(1)));
            wire.send_split(SERVER, &bytes, size);
            wire.close();
            let read = read_bytes(wire.pcap());
            assert_eq!(sent(&read.messages), exchange(1), "{what}, {size}");
            assert_eq!(read.messages[1].captured, Captured::Full, "{what}, {size}");
            assert_eq!(notes(&read), Vec::<String>::new(), "{what}, {size}");
        }
    }
}

#[test]
fn answers_without_a_body_do_not_take_what_follows() {
    let bare = |status: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 500\r\n\r\n");
    for (first, status) in [("HEAD", "200 OK"), ("GET", "304 Not Modified"), ("DELETE", "204 No Content")] {
        let mut wire = Wire::open(4_000);
        wire.send(CLIENT, format!("{first} /mcp HTTP/1.1\r\nHost: notes.example.test\r\n\r\n"));
        wire.send(SERVER, bare(status));
        wire.send(CLIENT, post(&ask(1)));
        wire.send(SERVER, answer(&result(1)));
        assert_eq!(told(&wire.segments), exchange(1), "{first} {status}");
    }
}

#[test]
fn a_request_waits_for_the_word_to_continue() {
    let mut wire = Wire::open(4_000);
    let body = ask(1);
    wire.send(
        CLIENT,
        format!("POST /mcp HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n", body.len()),
    );
    wire.send(SERVER, "HTTP/1.1 100 Continue\r\n\r\n");
    wire.send(CLIENT, body);
    wire.send(SERVER, answer(&result(1)));
    assert_eq!(told(&wire.segments), exchange(1));
}

#[test]
fn events_keep_their_own_times() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, post(&ask(1)));
    wire.send(SERVER, STREAM);
    let minutes = 300_000_000;
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
    for _ in 0..3 {
        wire.ts += minutes;
        wire.send(SERVER, chunk(&event(notice)));
    }
    wire.ts += minutes;
    wire.send(SERVER, chunk(&event(&result(1))));
    wire.send(SERVER, "0\r\n\r\n");
    let read = read_bytes(wire.pcap());
    let told = sent(&read.messages);
    assert_eq!((told.len(), &*told[4]), (5, "s2c result 1"));
    let times: Vec<i64> = read.messages.iter().map(|message| message.ts.unwrap().0 - START).collect();
    for (at, time) in times.iter().enumerate().skip(1) {
        assert_eq!(time / minutes, at as i64, "{times:?}");
    }
    assert_eq!(notes(&read), Vec::<String>::new());
}

#[test]
fn events_that_are_compressed_are_read() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, post(&ask(1)));
    wire.send(SERVER, STREAM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"));
    for part in gzip(&event(&result(1))).chunks(20) {
        wire.send(SERVER, chunk_of(part));
    }
    wire.send(SERVER, "0\r\n\r\n");
    assert_eq!(told(&wire.segments), exchange(1));
}

/// The stream is open for as long as there are exchanges, far more than are put into order together.
#[test]
fn a_stream_that_stays_open_is_given_out_in_parts() {
    let mut stream = Wire::open(4_000);
    let mut others = Wire::open(5_000);
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    stream.send(
        CLIENT,
        format!(
            "POST /mcp HTTP/1.1\r\nHost: notes.example.test\r\nContent-Length: {}\r\n\r\n{initialize}",
            initialize.len()
        ),
    );
    stream.send(SERVER, STREAM.replace("\r\n\r\n", "\r\nMCP-Session-Id: s-7\r\n\r\n"));
    stream.send(SERVER, chunk(&event(r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}"#)));
    let mut segments = std::mem::take(&mut stream.segments);
    let rounds = 4 * LAG as usize;
    for id in 0..rounds {
        others.send(CLIENT, post(&ask(id)));
        others.send(SERVER, answer(&result(id)));
        segments.append(&mut others.segments);
        if id % 100 == 0 {
            stream.ts = others.ts;
            others.ts += STEP;
            stream.send(SERVER, chunk(&event(r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#)));
            segments.append(&mut stream.segments);
        }
    }
    let read = read_bytes(pcap(&segments));
    assert_eq!(read.messages.len(), 2 * rounds + rounds.div_ceil(100) + 2);
    assert!(read.messages.is_sorted_by_key(|message| message.ts), "in the order of their times");
    let notices: Vec<_> =
        read.messages.iter().filter(|message| matches!(message.kind, Kind::Notification(_))).collect();
    assert!(notices.iter().all(|message| message.connection.session.as_deref() == Some("s-7")));
    assert!(!has_note(&read, "1 exchanges stand behind"), "{:?}", notes(&read));
}

#[test]
fn what_is_encrypted_or_not_http_1_is_said_with_what_to_do() {
    let talk = |client: &[u8], server: &[u8]| {
        let mut wire = Wire::open(4_000);
        wire.send(CLIENT, client);
        wire.send(SERVER, server);
        wire.send(CLIENT, [0x17, 3, 3, 0, 2, 9, 9]);
        read_bytes(wire.pcap())
    };
    let read = talk(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc], &[0x16, 3, 3, 0, 0x7a, 2]);
    assert!(read.messages.is_empty());
    let said = notes(&read).join("\n");
    assert!(said.contains("1 connections are encrypted (TLS)") && said.contains("keylog"), "{said}");
    assert!(said.contains("3 packets belong to connections that cannot be read"), "{said}");

    let read = talk(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0", &[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    assert!(has_note(&read, "1 connections speak HTTP/2"), "{:?}", notes(&read));

    let read =
        talk(b"GET /chat HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", b"HTTP/1.1 101 Switching\r\n\r\n\x81\x05hello");
    assert!(has_note(&read, "1 connections switched"), "{:?}", notes(&read));

    let read = talk(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n");
    assert!(has_note(&read, "1 connections are encrypted"), "{:?}", notes(&read));

    let read = talk(b"SSH-2.0-x\r\n", b"SSH-2.0-y\r\n");
    assert!(has_note(&read, "1 TCP connections carry no HTTP"), "{:?}", notes(&read));
}

#[test]
fn heads_that_cannot_be_read_are_rejected_and_what_follows_is_read() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, "GET /x\x01y HTTP/1.1\r\nHost: a\r\n\r\n");
    wire.send(SERVER, "HTTP/1.1 2x0 OK\r\n\r\n");
    wire.send(CLIENT, post(&ask(1)).replace("Content-Length: ", "Content-Length: 5, "));
    wire.send(CLIENT, post(&ask(2)));
    wire.send(SERVER, answer(&result(2)));
    let read = read_bytes(wire.pcap());
    assert_eq!(sent(&read.messages), exchange(2));
    let positions: Vec<u64> = read.rejected.iter().map(|row| row.position).collect();
    assert_eq!(positions, [4, 5, 6]);
    assert!(read.rejected[2].reason.contains("two lengths that differ"), "{:?}", read.rejected);
    assert!(has_note(&read, "3 messages have a head that cannot be read"), "{:?}", notes(&read));
}
