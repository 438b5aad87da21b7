//! Heads, interfaces and packets of capture files, taken apart.

use crate::protocol::message::Ts;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, InterfaceDescriptionBlock, OptionCode, PcapHeader};
use std::ops::Range;

/// How much of what cannot be read is shown.
const BEGINS: usize = 64;

/// What a file begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Pcap,
    Pcapng,
}

/// What kind of capture file begins like this.
pub fn kind(head: &[u8]) -> Option<Kind> {
    match head.get(..4)? {
        [0xd4, 0xc3, 0xb2, 0xa1]
        | [0xa1, 0xb2, 0xc3, 0xd4]
        | [0x4d, 0x3c, 0xb2, 0xa1]
        | [0xa1, 0xb2, 0x3c, 0x4d]
        // Written by patched recorders of old: records have eight bytes more.
        | [0x34, 0xcd, 0xb2, 0xa1]
        | [0xa1, 0xb2, 0xcd, 0x34] => Some(Kind::Pcap),
        [0x0a, 0x0d, 0x0d, 0x0a] => Some(Kind::Pcapng),
        _ => None,
    }
}

/// An interface of a pcapng section.
#[derive(Debug, Clone, Copy)]
pub struct Interface {
    pub link: u32,
    snap_length: u32,
    /// Units of time in a second, and what is added, in seconds.
    units: u64,
    offset: i64,
}

/// The link type of a pcap file; the upper bits say other things (the length of a checksum behind each packet).
pub fn link_of(header: &PcapHeader) -> u32 {
    header.network.0.cast_unsigned() & 0x03ff_ffff
}

/// A number of four bytes; 0 where there are none.
pub fn number(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let Some(four) = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>) else { return 0 };
    if big_endian { u32::from_be_bytes(*four) } else { u32::from_le_bytes(*four) }
}

/// What an interface says about its packets. The options are read here: the time zone's is in the section's byte order.
pub fn interface(found: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Interface {
    let option = |code: OptionCode| {
        found.options.iter().find(|option| option.code == code).and_then(|option| option.as_bytes().ok())
    };
    // A power of ten, or of two where the upper bit is set; microseconds where nothing is said.
    let units = match option(OptionCode::IfTsresol) {
        Some([power]) if power & 0x80 != 0 => 2_u64.checked_pow(u32::from(power & 0x7f)),
        Some([power]) => 10_u64.checked_pow(u32::from(*power)),
        _ => Some(1_000_000),
    };
    let offset = option(OptionCode::IfTsoffset).and_then(<[u8]>::first_chunk::<8>);
    let offset =
        offset.map_or(0, |eight| if big_endian { i64::from_be_bytes(*eight) } else { i64::from_le_bytes(*eight) });
    // Finer than 64 bits can count: the time is not known.
    let units = units.unwrap_or(0);
    Interface { link: found.linktype.0.cast_unsigned(), snap_length: found.snaplen, units, offset }
}

/// Time units since the epoch as a time.
pub fn moment(units: u64, interface: &Interface) -> Option<Ts> {
    let micros = (u128::from(units) * 1_000_000).checked_div(u128::from(interface.units))?;
    let offset = interface.offset.checked_mul(1_000_000)?;
    let micros = i64::try_from(micros).ok()?.checked_add(offset)?;
    // To the end of the year 9999: what is written must be readable again.
    (0..253_402_300_800_000_000).contains(&micros).then_some(Ts(micros))
}

/// Of a packet's block: its interface, its time in units, and where its bytes stand.
pub type Parts = (u32, Option<u64>, Range<usize>);

pub fn current(block: &[u8], big_endian: bool, first: Option<&Interface>) -> Option<Parts> {
    let parse = if big_endian { pcap_parser::pcapng::parse_block_be } else { pcap_parser::pcapng::parse_block_le };
    match parse(block).ok()?.1 {
        Block::EnhancedPacket(packet) => {
            let length = packet.packet_data().len();
            let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            Some((packet.if_id, Some(units), 28..28 + length))
        }
        Block::SimplePacket(packet) => {
            // How much of it was kept is not said: as much as the first interface keeps of any packet.
            let kept = first.map_or(0, |interface| interface.snap_length);
            let kept = if kept == 0 { packet.origlen } else { kept.min(packet.origlen) };
            let length = packet.data.len().min(kept as usize);
            Some((0, None, 12..12 + length))
        }
        _ => None,
    }
}

/// The packet block that recorders wrote until 2010.
pub fn obsolete(block: &[u8], big_endian: bool) -> Option<Parts> {
    let two = block.get(8..10)?.first_chunk::<2>()?;
    let index = if big_endian { u16::from_be_bytes(*two) } else { u16::from_le_bytes(*two) };
    let units = u64::from(number(block, 12, big_endian)) << 32 | u64::from(number(block, 16, big_endian));
    let end = 28_usize.checked_add(number(block, 20, big_endian) as usize)?;
    (end <= block.len().checked_sub(4)?).then_some((index.into(), Some(units), 28..end))
}

/// The beginning of something that is no text.
pub fn hex(bytes: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for byte in bytes.iter().take(BEGINS) {
        text += &format!("{byte:02x}");
    }
    text.into_bytes()
}
