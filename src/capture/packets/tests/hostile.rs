use super::*;
use crate::capture::formats::Formats;
use crate::capture::formats::tests::check_records;
use proptest::prelude::*;

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    for name in ["pcap", "pcapng"] {
        check_records(Formats::default().named(name)[0], bytes)?;
    }
    // Every packet is counted once.
    let Ok(input) = Input::new(std::io::Cursor::new(bytes.to_vec()), "x", &Arc::default()) else { return Ok(()) };
    let mut packets = Packets::with_limits(input, "x".into(), 4, 10_000);
    let mut counted = 0;
    while let Some(item) = packets.next() {
        counted += match &item {
            Item::Exchange(exchange) => exchange.more + u64::from(!exchange.shared),
            Item::Other { .. } | Item::Rejected { .. } => 1,
            Item::Broken(_) => 0,
        };
        let weight: usize = packets.connections.values().map(Connection::weight).sum();
        prop_assert_eq!(weight, packets.weight);
        prop_assert!(weight <= 10_000);
    }
    prop_assert_eq!(counted, packets.file.packets());
    Ok(())
}

fn traffic() -> Vec<Sent> {
    let mut wire = Wire::open(4_000);
    wire.send_split(CLIENT, post(&ask(1)), 80);
    wire.send(SERVER, STREAM);
    wire.send(SERVER, chunk(&event(&result(1))));
    wire.send(SERVER, "0\r\n\r\n");
    wire.send(CLIENT, [post(&ask(2)), post(&ask(3))].concat());
    wire.send_split(SERVER, [answer(&result(2)), answer(&result(3))].concat(), 50);
    wire.close();
    wire.segments
}

fn pcapng(segments: &[Sent]) -> Vec<u8> {
    let mut bytes = [section(1, false), interface(1, &[(9, &[6])], false)].concat();
    for segment in segments {
        bytes.extend(enhanced(0, segment.ts as u64, &segment.packet(Wrap::Ethernet), false));
    }
    bytes
}

type Change = (prop::sample::Index, u8, u8);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 0..6)
}

fn change(bytes: &mut Vec<u8>, changes: Vec<Change>) {
    for (at, byte, how) in changes {
        if bytes.is_empty() {
            return;
        }
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            _ => bytes.truncate(at),
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes)?;
        for link in [0, 1, 101, 108, 113, 276] {
            check(&[pcap_head(link), pcap_record(START, &bytes, bytes.len())].concat())?;
        }
        check(&[section(1, false), bytes].concat())?;
    }

    #[test]
    fn files_with_bytes_changed_cut_and_moved(changes in changes()) {
        for mut bytes in [pcap(&traffic()), pcapng(&traffic())] {
            change(&mut bytes, changes.clone());
            check(&bytes)?;
        }
    }

    #[test]
    fn payloads_with_bytes_changed_cut_and_moved(which in 3..8_usize, changes in changes()) {
        let mut segments = traffic();
        change(&mut segments[which].payload, changes);
        check(&pcap(&segments))?;
    }

    #[test]
    fn segments_lost_repeated_and_in_any_order(
        order in prop::collection::vec((0..16_usize, -40..40_i32, 0..3_u8), 0..60),
    ) {
        let known = traffic();
        let segments: Vec<Sent> = order
            .into_iter()
            .filter_map(|(at, moved, flag)| {
                let mut segment = known.get(at)?.clone();
                if flag == 1 {
                    segment.sequence = segment.sequence.wrapping_add_signed(moved);
                }
                segment.flags.rst |= flag == 2 && moved > 30;
                Some(segment)
            })
            .collect();
        check(&pcap(&segments))?;
    }

    /// Whatever the order, what is whole is read as if it had come in order.
    #[test]
    fn the_order_of_segments_in_a_window_does_not_matter(swaps in prop::collection::vec((4..7_usize, 4..7_usize), 0..6)) {
        let mut wire = Wire::open(4_000);
        wire.send_split(CLIENT, post(&ask(1)), 60);
        wire.send(SERVER, answer(&result(1)));
        for (a, b) in swaps {
            wire.segments.swap(a, b);
        }
        prop_assert_eq!(told(&wire.segments), exchange(1));
    }
}
