//! From a packet's bytes to what it carries over TCP.
//!
//! Link types are those of <https://www.tcpdump.org/linktypes.html>.

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::{IpAddr, SocketAddr};

const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const LOOP: u32 = 108;
const LINUX_SLL: u32 = 113;
const LINUX_SLL2: u32 = 276;

/// Raw IP: as registered, as two BSDs write it into files, and of one version only.
const RAW: [u32; 5] = [101, 12, 14, 228, 229];

/// Length of the head of Linux cooked packets, of either version.
const SLL_HEAD: usize = 16;
const SLL2_HEAD: usize = 20;

/// The port of HTTP/3.
const HTTPS: u16 = 443;

/// What a packet holds of TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment<'p> {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub sequence: u32,
    /// What its sender has received.
    pub acknowledged: Option<u32>,
    pub begins: bool,
    pub ends: bool,
    pub resets: bool,
    pub payload: &'p [u8],
    /// Bytes of the payload behind these that were sent and not captured.
    pub missing: usize,
}

/// What a packet is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen<'p> {
    Tcp(Segment<'p>),
    /// A part of an IP packet.
    Fragment,
    /// UDP of the port of HTTP/3.
    Quic,
    /// It was captured in part, and the heads are not all there.
    Cut,
    Other,
}

/// Whether packets of a link type can be read.
pub fn is_known(link: u32) -> bool {
    matches!(link, NULL | ETHERNET | LOOP | LINUX_SLL | LINUX_SLL2) || RAW.contains(&link)
}

/// For people.
pub fn name(link: u32) -> &'static str {
    match link {
        NULL | LOOP => "loopback",
        ETHERNET => "Ethernet",
        LINUX_SLL => "Linux cooked v1",
        LINUX_SLL2 => "Linux cooked v2",
        _ if RAW.contains(&link) => "raw IP",
        _ => "unknown link type",
    }
}

/// Reads a packet of a link type that is known.
pub fn read(link: u32, bytes: &[u8]) -> Seen<'_> {
    let packet = match link {
        ETHERNET => LaxSlicedPacket::from_ethernet(bytes).ok(),
        // Four bytes name the family of addresses; the version in IP's own head says the same.
        NULL | LOOP => bytes.get(4..).and_then(|rest| LaxSlicedPacket::from_ip(rest).ok()),
        LINUX_SLL => cooked(bytes, 14, SLL_HEAD),
        LINUX_SLL2 => cooked(bytes, 0, SLL2_HEAD),
        _ => LaxSlicedPacket::from_ip(bytes).ok(),
    };
    packet.map_or(Seen::Other, |packet| taken(&packet))
}

/// A cooked packet: where the type of what it carries stands, and how long its head is.
fn cooked(bytes: &[u8], kind: usize, head: usize) -> Option<LaxSlicedPacket<'_>> {
    let kind = bytes.get(kind..)?.first_chunk::<2>()?;
    Some(LaxSlicedPacket::from_ether_type(EtherType(u16::from_be_bytes(*kind)), bytes.get(head..)?))
}

fn taken<'p>(packet: &LaxSlicedPacket<'p>) -> Seen<'p> {
    // Where the payload would end, by the head, from the beginning of the IP packet; 0 where that is left to the network
    // card. And where what was captured of it ends.
    let (addresses, declared, head, payload) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let more = ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            let addresses: [IpAddr; 2] = [header.source_addr().into(), header.destination_addr().into()];
            (addresses, usize::from(header.total_len()), header.slice().len() + more, ip.payload())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let addresses: [IpAddr; 2] = [header.source_addr().into(), header.destination_addr().into()];
            let declared = match usize::from(header.payload_length()) {
                0 => 0,
                length => 40 + length,
            };
            (addresses, declared, 40 + ip.extensions().slice().len(), ip.payload())
        }
        _ if packet.stop_err.is_some() => return Seen::Cut,
        _ => return Seen::Other,
    };
    if payload.fragmented {
        return Seen::Fragment;
    }
    match &packet.transport {
        Some(TransportSlice::Tcp(tcp)) => Seen::Tcp(Segment {
            from: SocketAddr::new(addresses[0], tcp.source_port()),
            to: SocketAddr::new(addresses[1], tcp.destination_port()),
            sequence: tcp.sequence_number(),
            acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
            begins: tcp.syn(),
            ends: tcp.fin(),
            resets: tcp.rst(),
            payload: tcp.payload(),
            missing: declared.saturating_sub(head + payload.payload.len()),
        }),
        Some(TransportSlice::Udp(udp)) if [udp.source_port(), udp.destination_port()].contains(&HTTPS) => Seen::Quic,
        None if packet.stop_err.is_some() && payload.incomplete => Seen::Cut,
        _ => Seen::Other,
    }
}
