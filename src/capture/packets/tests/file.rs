use super::*;

/// A connection with one exchange.
fn one() -> Wire {
    let mut wire = Wire::open(4_000);
    wire.send(CLIENT, post(&ask(1)));
    wire.send(SERVER, answer(&result(1)));
    wire.close();
    wire
}

fn errors(read: &Read) -> Vec<String> {
    read.outcome.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn an_exchange_keeps_its_times_its_place_and_its_packets() {
    let read = read_bytes(one().pcap());
    assert_eq!(sent(&read.messages), exchange(1));
    let times: Vec<_> = read.messages.iter().map(|message| message.ts.map(|ts| ts.0)).collect();
    assert_eq!(times, [Some(START + 3 * STEP), Some(START + 4 * STEP)]);
    assert_eq!(read.messages[0].place.position, 4, "the frame in which the request begins");
    let connection = &read.messages[1].connection;
    assert_eq!(connection.session.as_deref(), Some("s-1"));
    assert_eq!(connection.server.as_deref(), Some("notes.example.test/mcp"), "as its client calls it");
    let row = &read.outcome.files[0];
    assert_eq!((&*row.format, row.format_version.as_deref()), ("pcap", Some("Ethernet")));
    assert_eq!((row.lines, row.message_lines, row.continuation, row.noise), (7, 1, 1, 5));
    assert_eq!(notes(&read), Vec::<String>::new());
}

#[test]
fn every_kind_of_link() {
    for wrap in Wrap::ALL {
        let read = read_bytes(pcap_of(&one().segments, wrap));
        assert_eq!(sent(&read.messages), exchange(1), "{wrap:?}");
        assert_eq!(notes(&read), Vec::<String>::new(), "{wrap:?}");
    }
}

#[test]
fn nanoseconds_and_the_other_byte_order() {
    let little = one().pcap();
    let mut nano = little.clone();
    nano[..4].copy_from_slice(&[0x4d, 0x3c, 0xb2, 0xa1]);
    let read = read_bytes(&nano);
    // The same fraction, a thousand times smaller.
    assert_eq!(read.messages[0].ts.map(|ts| ts.0), Some(START + 3 * STEP / 1_000));

    let mut big = vec![0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1];
    for segment in one().segments {
        let packet = segment.packet(Wrap::Ethernet);
        let (seconds, micros) = ((segment.ts / 1_000_000) as u32, (segment.ts % 1_000_000) as u32);
        for number in [seconds, micros, packet.len() as u32, packet.len() as u32] {
            big.extend(number.to_be_bytes());
        }
        big.extend(packet);
    }
    let read = read_bytes(&big);
    assert_eq!(sent(&read.messages), exchange(1));
    assert_eq!(read.messages[0].ts.map(|ts| ts.0), Some(START + 3 * STEP));
}

#[test]
fn pcapng_with_interfaces_that_differ() {
    // A time in units of 10^-9 and of 2^-10 seconds, and one in a zone of its own.
    for big_endian in [false, true] {
        let offset = 3_600_i64;
        let zone = if big_endian { offset.to_be_bytes() } else { offset.to_le_bytes() };
        let mut bytes = section(1, big_endian);
        bytes.extend(interface(1, &[(9, &[9])], big_endian));
        bytes.extend(block(0x4d3c_2b1a, b"who knows", big_endian));
        bytes.extend(interface(113, &[(9, &[0x80 | 10])], big_endian));
        bytes.extend(interface(276, &[(2, b"eth0"), (14, &zone)], big_endian));
        for (at, segment) in one().segments.iter().enumerate() {
            let micros = segment.ts as u64;
            let packet = |wrap| segment.packet(wrap);
            bytes.extend(match at % 3 {
                0 => enhanced(0, micros * 1_000, &packet(Wrap::Ethernet), big_endian),
                1 => enhanced(1, micros * 1_024 / 1_000_000, &packet(Wrap::Cooked1), big_endian),
                _ => enhanced(2, micros - 3_600_000_000, &packet(Wrap::Cooked2), big_endian),
            });
        }
        let read = read_bytes(&bytes);
        assert_eq!(sent(&read.messages), exchange(1), "{big_endian}");
        let seconds = |at: usize| read.messages[at].ts.map(|ts| ts.0);
        assert_eq!(seconds(0), Some(START + 3 * STEP));
        assert!(
            seconds(1).is_some_and(|micros| (START + 3 * STEP..START + 5 * STEP).contains(&micros)),
            "{:?}",
            seconds(1)
        );
        assert_eq!(notes(&read), ["blocks that hold no packets in a known form, left out: 1 of type 0x4d3c2b1a"]);
        let row = &read.outcome.files[0];
        assert_eq!(row.format_version.as_deref(), Some("Ethernet, Linux cooked v1, Linux cooked v2"));
        assert_eq!((&*row.format, row.lines), ("pcapng", 7));
    }
}

#[test]
fn old_and_simple_packets_and_a_second_section() {
    let mut bytes = section(1, false);
    bytes.extend(interface(1, &[], false));
    for (at, segment) in one().segments.iter().enumerate() {
        let packet = segment.packet(Wrap::Ethernet);
        let length = (packet.len() as u32).to_le_bytes();
        bytes.extend(if at == 4 {
            // The answer, in the other byte order.
            [section(1, true), interface(1, &[], true), enhanced(0, segment.ts as u64, &packet, true)].concat()
        } else if at > 4 {
            enhanced(0, segment.ts as u64, &packet, true)
        } else if at % 2 == 0 {
            block(3, &[&length[..], &packet].concat(), false)
        } else {
            let times = [(segment.ts as u64 >> 32) as u32, segment.ts as u32].map(u32::to_le_bytes).concat();
            block(2, &[&[0, 0, 0xff, 0xff][..], &times, &length, &length, &packet].concat(), false)
        });
    }
    let read = read_bytes(&bytes);
    assert_eq!(sent(&read.messages), exchange(1));
    let times: Vec<_> = read.messages.iter().map(|message| message.ts.map(|ts| ts.0)).collect();
    assert_eq!(times, [Some(START + 3 * STEP), Some(START + 4 * STEP)]);
}

#[test]
fn link_types_that_are_not_known_are_named_with_their_place() {
    let packet = (START, vec![1, 2, 3]);
    let read = read_bytes(pcap_file(147, &[packet]));
    let said = errors(&read);
    assert_eq!(said.len(), 1);
    for part in ["a.pcap", "at byte 20 ", "link type 147", "tcpdump -i"] {
        assert!(said[0].contains(part), "{part}: {said:?}");
    }

    // Other interfaces of the file are read all the same.
    let mut bytes = [section(1, false), interface(220, &[], false), interface(1, &[], false)].concat();
    let at = section(1, false).len() + 8;
    bytes.extend(enhanced(0, 1, b"usb", false));
    for segment in one().segments {
        bytes.extend(enhanced(1, segment.ts as u64, &segment.packet(Wrap::Ethernet), false));
    }
    let read = read_bytes(&bytes);
    assert_eq!(sent(&read.messages), exchange(1));
    let said = errors(&read);
    assert!(said[0].contains(&format!("at byte {at} it says that 1 of its packets are of link type 220")), "{said:?}");
    // An interface over which nothing came is no loss.
    let bytes = [section(1, false), interface(220, &[], false)].concat();
    assert_eq!(errors(&read_bytes(&bytes)), Vec::<String>::new());
}

#[test]
fn versions_that_are_not_known_end_the_file() {
    let mut future = one().pcap();
    future[4] = 3;
    let mut section = section(2, false);
    section.extend(interface(1, &[], false));
    let mut patched = one().pcap();
    patched[..4].copy_from_slice(&[0x34, 0xcd, 0xb2, 0xa1]);
    for (bytes, found) in [(future, "version 3.4"), (section, "version 2.0"), (patched, "of a patched recorder")] {
        let read = read_bytes(&bytes);
        let said = errors(&read);
        assert!(said[0].contains(found) && said[0].contains("editcap"), "{said:?}");
        assert!(read.messages.is_empty());
    }
}

#[test]
fn a_file_that_is_cut_is_read_up_to_there() {
    let whole = one().pcap();
    let read = read_bytes(&whole[..whole.len() - 10]);
    assert_eq!(sent(&read.messages), exchange(1));
    assert_eq!(read.rejected.len(), 1);
    assert_eq!(read.rejected[0].position, 7);
    assert!(read.rejected[0].reason.starts_with("the file ends inside this packet: "), "{:?}", read.rejected);
    let row = &read.outcome.files[0];
    assert_eq!((row.lines, row.rejected), (7, 1));

    let mut bytes = [section(1, false), interface(1, &[], false)].concat();
    for segment in one().segments {
        bytes.extend(enhanced(0, segment.ts as u64, &segment.packet(Wrap::Ethernet), false));
    }
    let read = read_bytes(&bytes[..bytes.len() - 10]);
    assert_eq!(sent(&read.messages), exchange(1));
    assert_eq!((read.rejected.len(), read.rejected[0].position), (1, 7));

    // A head alone, and not all of one.
    assert_eq!(errors(&read_bytes(pcap_head(1))), Vec::<String>::new());
    let said = errors(&read_bytes(&pcap_head(1)[..20]));
    assert!(said[0].contains("ends inside its first 24 bytes"), "{said:?}");
}

#[test]
fn damage_is_named_with_its_place() {
    let mut bytes = [section(1, false), interface(1, &[], false)].concat();
    let place = bytes.len();
    bytes.extend([6, 0, 0, 0, 0xfe, 0xff, 0, 0, 1, 2, 3, 4, 5]);
    let said = errors(&read_bytes(&bytes));
    assert!(said[0].contains(&format!("near byte {place} ")), "{said:?}");

    let bytes = [section(1, false), interface(1, &[], false), enhanced(3, 1, b"x", false)].concat();
    let read = read_bytes(&bytes);
    assert_eq!(&*read.rejected[0].reason, "a packet of an interface that the file does not describe");
}

#[test]
fn what_is_not_tcp_is_counted_by_what_it_is() {
    let mut packets: Vec<(i64, Vec<u8>)> =
        one().segments.iter().map(|segment| (segment.ts, segment.packet(Wrap::Ethernet))).collect();
    let udp = |port| {
        let mut out = Vec::new();
        let builder = etherparse::PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
        builder.udp(5_000, port).write(&mut out, b"hello").unwrap();
        out
    };
    // More fragments follow; and the last one.
    let fragment = |flags: [u8; 2]| {
        let mut packet = one().segments[3].packet(Wrap::Ethernet);
        packet[20..22].copy_from_slice(&flags);
        packet
    };
    packets.push((START, udp(53)));
    packets.push((START, udp(443)));
    packets.push((START, fragment([0x20, 0])));
    packets.push((START, fragment([0, 9])));
    packets.push((START, vec![0xff; 5]));
    let read = read_bytes(pcap_file(1, &packets));
    assert_eq!(sent(&read.messages), exchange(1));
    for begins in ["1 packets are UDP on port 443", "2 packets are fragments", "2 packets are no TCP"] {
        assert!(has_note(&read, begins), "{begins}: {:?}", notes(&read));
    }
    let row = &read.outcome.files[0];
    assert_eq!((row.lines, row.noise), (12, 10));
}
