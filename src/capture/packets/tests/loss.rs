use super::*;
use crate::protocol::message::Captured;

/// Two exchanges in small segments: the second's request begins at this segment, the answers at those.
struct Two {
    segments: Vec<Sent>,
    answer: usize,
    second: usize,
    second_answer: usize,
}

fn two() -> Two {
    two_at([1_000, 9_000])
}

fn two_at(sequence: [u32; 2]) -> Two {
    let mut wire = Wire::open_at(4_000, sequence);
    wire.send_split(CLIENT, post(&ask(1)), 60);
    let answer_at = wire.segments.len();
    wire.send_split(SERVER, answer(&result(1)), 60);
    let second = wire.segments.len();
    wire.send_split(CLIENT, post(&ask(2)), 60);
    let second_answer = wire.segments.len();
    wire.send_split(SERVER, answer(&result(2)), 60);
    wire.close();
    Two { segments: wire.segments, answer: answer_at, second, second_answer }
}

fn both() -> Vec<String> {
    (1..=2).flat_map(exchange).collect()
}

#[test]
fn segments_in_another_order_are_put_into_order() {
    let two = two();
    assert_eq!(told(&two.segments), both());
    for (a, b) in [(4, 5), (3, 6), (4, 6), (two.answer, two.answer + 1), (two.second, two.second + 1)] {
        let mut segments = two.segments.clone();
        segments.swap(a, b);
        let read = read_bytes(pcap(&segments));
        assert_eq!(sent(&read.messages), both(), "{a} and {b}");
        assert_eq!(notes(&read), Vec::<String>::new(), "{a} and {b}");
    }
}

/// Recorders that read several queues write the answer before the end of its request.
#[test]
fn an_answer_that_stands_before_its_request_is_still_its_answer() {
    let two = two();
    let mut segments = two.segments.clone();
    segments[3..two.second].rotate_left(two.answer - 3);
    assert_eq!(told(&segments), both());
}

#[test]
fn repeated_segments_count_once() {
    let two = two();
    let mut segments = two.segments.clone();
    segments.insert(two.answer + 1, segments[4].clone());
    segments.insert(two.second, segments[two.answer + 2].clone());
    let read = read_bytes(pcap(&segments));
    assert_eq!(sent(&read.messages), both());
    assert_eq!(notes(&read), ["2 packets repeat bytes that were captured before"]);
}

#[test]
fn of_two_contents_the_first_counts_and_the_difference_is_said() {
    let two = two();
    let at = 5;
    let mut other = two.segments[at].clone();
    other.payload.fill(b'x');
    let mut segments = two.segments.clone();
    segments.insert(at + 1, other.clone());
    let read = read_bytes(pcap(&segments));
    assert_eq!(sent(&read.messages), both());
    assert!(has_note(&read, "1 packets repeat bytes with another content"), "{:?}", notes(&read));

    // As well where the first was not in order yet.
    let mut segments = two.segments.clone();
    let early = segments.remove(at - 1);
    segments.insert(at, other);
    segments.insert(at + 1, early);
    let read = read_bytes(pcap(&segments));
    assert_eq!(sent(&read.messages), both());
    assert!(has_note(&read, "1 packets repeat bytes with another content"), "{:?}", notes(&read));
}

#[test]
fn segments_that_overlap_fill_what_is_missing() {
    let two = two();
    for cut in [1, 30, 59] {
        // The third segment of the request is sent again with the end of the second and the beginning of the fourth.
        let mut segments = two.segments.clone();
        let whole: Vec<u8> = segments[3..two.answer].iter().flat_map(|segment| segment.payload.clone()).collect();
        let first = segments[3].sequence;
        let (from, to) = (2 * 60 - cut, (3 * 60 + cut).min(whole.len()));
        segments[5].sequence = first + from as u32;
        segments[5].payload = whole[from..to].to_vec();
        assert_eq!(told(&segments), both(), "{cut}");
        segments.swap(4, 5);
        assert_eq!(told(&segments), both(), "{cut}, and early");
        segments.swap(3, 5);
        assert_eq!(told(&segments), both(), "{cut}, and late");
    }
}

#[test]
fn sequence_numbers_begin_anew_behind_the_last() {
    for first in [u32::MAX - 130, u32::MAX - 1, u32::MAX] {
        let two = two_at([first, first.wrapping_sub(77)]);
        assert_eq!(told(&two.segments), both(), "{first}");
        let mut segments = two.segments.clone();
        segments.swap(4, 5);
        segments.insert(6, segments[4].clone());
        assert_eq!(told(&segments), both(), "{first}");
    }
}

#[test]
fn bytes_that_are_missing_from_a_body_are_named_and_the_next_message_is_read() {
    let two = two();
    // The last segment of the first answer but one.
    let mut segments = two.segments.clone();
    let lost = segments.remove(two.second - 2);
    let read = read_bytes(pcap(&segments));
    assert_eq!(sent(&read.messages), both());
    let captured: Vec<Captured> = read.messages.iter().map(|message| message.captured).collect();
    assert!(captured[1] != Captured::Full, "{captured:?}");
    assert_eq!([captured[0], captured[2], captured[3]], [Captured::Full; 3]);
    let gap = format!("{} bytes in 1 places were sent and not captured", lost.payload.len());
    assert!(has_note(&read, &gap), "{:?}", notes(&read));

    // Of the second request: its head is whole, its arguments are not.
    let mut segments = two.segments.clone();
    segments.remove(two.second_answer - 1);
    let read = read_bytes(pcap(&segments));
    let told = sent(&read.messages);
    assert_eq!(told.len(), 4, "{told:?}");
    assert_ne!(read.messages[2].captured, Captured::Full);
}

#[test]
fn a_message_whose_head_is_missing_is_named_and_its_answer_is_no_other_requests() {
    let two = two();
    let mut segments = two.segments.clone();
    segments.remove(two.answer);
    let read = read_bytes(pcap(&segments));
    // The first answer is not known; nobody says that there was none.
    assert_eq!(sent(&read.messages), both());
    assert_eq!(read.messages[1].captured, Captured::Absent);
    assert_eq!(read.messages[3].captured, Captured::Full);
    assert!(has_note(&read, "1 requests were answered, and the answer was not captured"), "{:?}", notes(&read));

    let mut segments = two.segments.clone();
    segments.remove(two.second);
    let read = read_bytes(pcap(&segments));
    assert_eq!(sent(&read.messages), [&exchange(1)[..], &exchange(2)[1..]].concat());
    assert_eq!(read.messages[2].connection.server, read.messages[0].connection.server);
    assert!(has_note(&read, "1 answers belong to requests that were not captured"), "{:?}", notes(&read));
}

#[test]
fn a_capture_of_one_direction_tells_that_answers_are_not_known() {
    let two = two();
    let segments: Vec<Sent> = two.segments.iter().filter(|segment| segment.from.1 == 4_000).cloned().collect();
    let read = read_bytes(pcap(&segments));
    assert_eq!(sent(&read.messages), both());
    assert_eq!(read.messages[1].captured, Captured::Absent);
    assert_eq!(read.messages[3].captured, Captured::Absent);

    let segments: Vec<Sent> = two.segments.iter().filter(|segment| segment.from.1 == 80).cloned().collect();
    let mut signed = segments.clone();
    for segment in &mut signed {
        let text = String::from_utf8(segment.payload.clone()).unwrap();
        // As long as it was.
        segment.payload = text.replace("Content-Type: application/json", "MCP-Session-Id: aaaaaaaaaaaaaa").into_bytes();
    }
    assert!(told(&segments).is_empty(), "nothing says that this is the protocol");
    let read = read_bytes(pcap(&signed));
    assert_eq!(sent(&read.messages), ["s2c result 1", "s2c result 2"]);
    assert_eq!(read.messages[0].connection.server.as_deref(), Some("10.0.0.2:80"));
}

#[test]
fn a_request_that_nobody_answered_stays_open() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, post(&ask(1)));
    wire.flagged(SERVER, DATA, b"");
    let read = read_bytes(wire.pcap());
    assert_eq!(sent(&read.messages), ["c2s request 1 prompts/get"]);
}

#[test]
fn a_capture_that_begins_in_the_middle_is_read_from_the_next_message_on() {
    let two = two();
    for from in 4..two.second {
        let read = read_bytes(pcap(&two.segments[from..]));
        let told = sent(&read.messages);
        assert!(told.ends_with(&exchange(2)), "{from}: {told:?}");
        assert!(!has_note(&read, "0 bytes"), "{:?}", notes(&read));
        assert!(has_note(&read, "1 connections began before the capture"), "{from}: {:?}", notes(&read));
        assert!(notes(&read).iter().all(|note| !note.contains("sent and not captured")), "{from}: {:?}", notes(&read));
    }
}

#[test]
fn a_stream_goes_on_behind_what_is_missing() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, post(&ask(1)));
    wire.send(SERVER, STREAM);
    let notice = |number: usize| format!(r#"{{"jsonrpc":"2.0","method":"notifications/{number}"}}"#);
    for number in 0..4 {
        wire.send(SERVER, chunk(&event(&notice(number))));
        wire.flagged(CLIENT, DATA, b"");
    }
    wire.send(SERVER, chunk(&event(&result(1))));
    wire.send(SERVER, "0\r\n\r\n");
    wire.flagged(CLIENT, DATA, b"");
    let whole = told(&wire.segments);
    assert_eq!(whole.len(), 6);
    let mut segments = wire.segments.clone();
    segments.remove(7);
    let read = read_bytes(pcap(&segments));
    let expected: Vec<String> = whole.into_iter().filter(|line| !line.ends_with("notifications/1")).collect();
    assert_eq!(sent(&read.messages), expected);
}

/// What stands right behind a gap is taken where it proves to be whole, and left where it may be the rest of more.
#[test]
fn the_first_event_behind_a_gap_is_read_where_its_data_is_a_message() {
    let notice = |word: &str| event(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/{word}"}}"#));
    let half = "data: 5,\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/half\"}]\n\n".to_owned();
    for (behind, wanted) in [(notice("whole"), vec!["notifications/whole"]), (half, vec![])] {
        let mut wire = Wire::open(4_000);
        wire.send(CLIENT, post(&ask(1)));
        wire.send(SERVER, STREAM);
        for text in ["data: [\n".to_owned(), behind, notice("last")] {
            wire.send(SERVER, chunk(&text));
            wire.flagged(CLIENT, DATA, b"");
        }
        wire.segments.remove(5);
        let read = read_bytes(pcap(&wire.segments));
        let methods: Vec<String> = sent(&read.messages)
            .iter()
            .filter_map(|line| Some(line.split_once("s2c notification ")?.1.to_owned()))
            .collect();
        assert_eq!(methods, [wanted, vec!["notifications/last"]].concat());
    }
}

/// The stream was given out in parts, and the capture ends before its answer: that is not known, and not missing.
#[test]
fn the_answer_of_a_stream_that_is_cut_is_not_captured() {
    let notice =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"message":"WORDS"}}"#;
    let notice = event(&notice.replace("WORDS", &"x".repeat(10_000)));
    for (ends, wanted) in [(false, Captured::Absent), (true, Captured::Full)] {
        let mut wire = Wire::open(4_000);
        wire.send(CLIENT, post(&ask(1)));
        wire.send(SERVER, STREAM);
        for _ in 0..300 {
            wire.send_split(SERVER, chunk(&notice), 1_400);
            wire.flagged(CLIENT, DATA, b"");
        }
        if ends {
            wire.send(SERVER, chunk(&event(&result(1))));
            wire.send(SERVER, "0\r\n\r\n");
        }
        let read = read_bytes(wire.pcap());
        let told = sent(&read.messages);
        assert_eq!((told.len(), told.last().map(String::as_str)), (302, Some("s2c result 1")), "{ends}");
        assert_eq!(read.messages.last().map(|message| message.captured), Some(wanted));
    }
}

/// A stream that was opened before the capture began: its chunks prove what they are.
#[test]
fn a_stream_whose_head_is_missing_is_read_from_its_next_chunk_on() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, "GET /mcp HTTP/1.1\r\nHost: notes.example.test\r\nMCP-Session-Id: s-1\r\n\r\n");
    wire.send(SERVER, STREAM);
    for _ in 0..3 {
        wire.send_split(
            SERVER,
            chunk(&event(r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#)),
            900,
        );
        wire.flagged(CLIENT, DATA, b"");
    }
    let read = read_bytes(pcap(&wire.segments[6..]));
    assert_eq!(sent(&read.messages).len(), 2, "{:?}", sent(&read.messages));
    assert_eq!(read.messages[0].connection.server.as_deref(), Some("10.0.0.2:80"));
    assert_eq!(read.messages[0].ts.map(|ts| ts.0), Some(wire.segments[7].ts));
    // What only looks like a chunk is none.
    let mut other = Wire::open(4_000);
    for text in ["1e\r\nno events at all\r\n", "5\r\ndata: x\r\n", "3\r\n: x\r\n"] {
        other.send(SERVER, text);
    }
    let read = read_bytes(pcap(&other.segments[3..]));
    assert!(read.messages.is_empty());
}

#[test]
fn packets_that_were_captured_in_part_are_marked() {
    let two = two();
    let mut bytes = pcap_head(1);
    let long = two.second - 1;
    for (at, segment) in two.segments.iter().enumerate() {
        let packet = segment.packet(Wrap::Ethernet);
        let kept = if at == long { packet.len() - 20 } else { packet.len() };
        bytes.extend(pcap_record(segment.ts, &packet[..kept], packet.len()));
    }
    let read = read_bytes(&bytes);
    assert_eq!(sent(&read.messages), both());
    assert_ne!(read.messages[1].captured, Captured::Full);
    assert!(has_note(&read, "1 packets were captured in part"), "{:?}", notes(&read));
}

#[test]
fn the_same_ports_are_used_for_another_connection() {
    let (mut first, mut again) = (Wire::open_at(4_000, [1_000, 9_000]), Wire::open_at(4_000, [70_000, 3_000]));
    for (wire, id) in [(&mut first, 1), (&mut again, 2)] {
        wire.send(CLIENT, post(&ask(id)));
        wire.send(SERVER, answer(&result(id)));
    }
    again.segments.iter_mut().for_each(|segment| segment.ts += 60 * STEP);
    for closed in [false, true] {
        if closed {
            first.close();
        }
        let segments = [first.segments.clone(), again.segments.clone()].concat();
        assert_eq!(told(&segments), both(), "{closed}");
        // Its SYN was not captured.
        let segments = [first.segments.clone(), again.segments[3..].to_vec()].concat();
        if closed {
            assert_eq!(told(&segments), both());
        }
    }
}

#[test]
fn a_connection_that_breaks_off_leaves_its_answer_unfinished() {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, post(&ask(1)));
    let whole = answer(&result(1));
    wire.send(SERVER, &whole[..whole.len() - 5]);
    wire.flagged(SERVER, Flags { rst: true, ..DATA }, b"");
    let read = read_bytes(wire.pcap());
    assert_eq!(sent(&read.messages), exchange(1));
    assert_ne!(read.messages[1].captured, Captured::Full);
}

/// Reads with small limits; also what was held at most.
fn bounded(bytes: Vec<u8>, connections: usize, held: usize) -> (u64, usize, usize, Counts) {
    let input = Input::new(std::io::Cursor::new(bytes), "x", &Arc::default()).unwrap();
    let mut packets = Packets::with_limits(input, "x".into(), connections, held);
    let (mut packets_seen, mut most, mut known) = (0, 0, 0);
    while let Some(item) = packets.next() {
        packets_seen += match &item {
            Item::Exchange(exchange) => exchange.more + u64::from(!exchange.shared),
            Item::Other { .. } | Item::Rejected { .. } => 1,
            Item::Broken(_) => 0,
        };
        let weight: usize = packets.connections.values().map(Connection::weight).sum();
        assert_eq!(weight, packets.weight, "what is held is known");
        most = most.max(weight);
        known = known.max(packets.connections.len());
    }
    (packets_seen, most, known, packets.counts)
}

#[test]
fn connections_beyond_the_limit_are_let_go_and_counted() {
    let mut segments = Vec::new();
    for port in 0..50 {
        let mut wire = Wire::open(4_000 + port);
        wire.send(CLIENT, post(&ask(1)));
        segments.extend(wire.segments);
    }
    let (packets, _, known, counts) = bounded(pcap(&segments), 8, 1 << 30);
    assert_eq!((packets, known, counts.crowded_out), (200, 8, 42));
    assert_eq!(counts.lost_answers, 0, "they were never sent");
}

/// Of a connection on which everything was answered nothing is lost.
#[test]
fn idle_connections_beyond_the_limit_are_let_go_without_a_word() {
    let mut segments = Vec::new();
    for port in 0..50 {
        let mut wire = Wire::open(4_000 + port);
        wire.send(CLIENT, post(&ask(1)));
        wire.send(SERVER, answer(&result(1)));
        segments.extend(wire.segments);
    }
    let (packets, _, known, counts) = bounded(pcap(&segments), 8, 1 << 30);
    assert_eq!((packets, known, counts.crowded_out), (250, 8, 0));
}

#[test]
fn bytes_beyond_the_limit_are_let_go_and_counted() {
    let mut wires: Vec<Wire> = (0..10).map(|port| Wire::open(4_000 + port)).collect();
    for wire in &mut wires {
        wire.send(CLIENT, format!("POST /mcp HTTP/1.1\r\nMCP-Session-Id: a\r\nContent-Length: {}\r\n\r\n", 1 << 20));
    }
    for _ in 0..40 {
        for wire in &mut wires {
            wire.send(CLIENT, [b'x'; 1_000]);
        }
    }
    let segments: Vec<Sent> = wires.iter().flat_map(|wire| wire.segments.clone()).collect();
    let (packets, most, _, counts) = bounded(pcap(&segments), 100, 100_000);
    assert_eq!(packets, segments.len() as u64);
    assert!(counts.too_heavy > 0 && most < 102_000, "{most} {counts:?}");
}

#[test]
fn bytes_that_wait_for_others_are_bounded() {
    // Nobody says that the first byte came, and it never does.
    let mut wire = Wire::open(4_000);
    wire.sequence[CLIENT] = wire.sequence[CLIENT].wrapping_add(1);
    for _ in 0..20_000 {
        wire.send(CLIENT, [b'x'; 10]);
    }
    for segment in &mut wire.segments[3..] {
        segment.ts = START;
    }
    let (packets, most, _, counts) = bounded(wire.pcap(), 10, 1 << 30);
    assert_eq!(packets, 20_003);
    assert!(most < 2 << 20, "{most}");
    assert_eq!(counts.gaps, 1);
}
