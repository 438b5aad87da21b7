//! Packets one after the other from a pcap or pcapng file.
//!
//! Sources: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. Blocks are taken apart by `pcap_parser`; where one ends
//! is looked at here, so that a block that is cut, too long or of an unknown kind does not end the reading.

use super::blocks::{Interface, Kind, current, hex, interface, kind, link_of, moment, number, obsolete};
use super::link;
use crate::capture::error::CaptureError;
use crate::capture::input::{Input, Packing};
use crate::protocol::message::{Text, Ts};
use pcap_parser::Block;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// A packet or block longer than this is skipped: recorders cut packets at 256 KiB.
const LONGEST: usize = 16 << 20;
/// Interfaces of a section beyond these are not known: no recorder has as many.
const INTERFACES: usize = 1 << 16;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const SECRETS: u32 = 10;

/// A packet; its bytes are [`File::data`]'s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// As packet analysers count them, from 1.
    pub number: u64,
    pub ts: Option<Ts>,
    /// Link type of its interface.
    pub link: u32,
    data: Range<usize>,
}

impl Packet {
    pub fn size(&self) -> usize {
        self.data.len()
    }
}

/// One step of reading.
#[derive(Debug)]
pub enum Step {
    Packet(Packet),
    /// A packet that cannot be read.
    Rejected {
        number: u64,
        size: usize,
        reason: String,
        excerpt: Vec<u8>,
    },
    /// Nothing can be read from here on.
    Broken(CaptureError),
}

/// How the records that follow are written.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// Nothing was read.
    Begin,
    Pcap {
        big_endian: bool,
        nanoseconds: bool,
        link: u32,
    },
    Pcapng {
        big_endian: bool,
    },
}

/// Reads a capture file packet by packet.
pub struct File {
    input: Input,
    path: Text,
    buffer: Vec<u8>,
    /// Everything before is done with.
    at: usize,
    /// Bytes of the file before the buffer.
    before: u64,
    packets: u64,
    layout: Layout,
    /// Of the pcapng section.
    interfaces: Vec<Interface>,
    /// The input ended, or failed.
    ended: bool,
    error: Option<CaptureError>,
    done: bool,
    /// Blocks that are no packets and were passed over, by their type.
    skipped: BTreeMap<u32, u64>,
    /// Link types that are not known: at which byte each was first named, and the packets that came over it.
    strange: BTreeMap<u32, (u64, u64)>,
}

impl File {
    pub fn new(input: Input, path: Text) -> Self {
        Self {
            input,
            path,
            buffer: Vec::new(),
            at: 0,
            before: 0,
            packets: 0,
            layout: Layout::Begin,
            interfaces: Vec::new(),
            ended: false,
            error: None,
            done: false,
            skipped: BTreeMap::new(),
            strange: BTreeMap::new(),
        }
    }

    pub fn taken(&self) -> u64 {
        self.input.taken()
    }

    /// Packets that were seen, those among them that cannot be read.
    #[cfg(test)]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The bytes of the packet that came last.
    pub fn data(&self, packet: &Packet) -> &[u8] {
        self.buffer.get(packet.data.clone()).unwrap_or_default()
    }

    /// What a reader of the report should know.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let unknown = |kind: u32| !matches!(kind, 4 | 5 | SECRETS);
        let kinds: Vec<String> = self
            .skipped
            .iter()
            .filter(|(kind, _)| unknown(**kind))
            .map(|(kind, count)| format!("{count} of type {kind:#x}"))
            .collect();
        if !kinds.is_empty() {
            notes.push(format!("blocks that hold no packets in a known form, left out: {}", kinds.join(", ")));
        }
        if self.skipped.contains_key(&SECRETS) {
            notes.push(
                "the file holds keys of TLS connections, which are not used here: give what tshark makes of it \
                 (tshark -r FILE -T ek -x)"
                    .to_owned(),
            );
        }
        notes
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    /// Reads on, and drops what is done with. False at the end.
    fn more(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.buffer.drain(..self.at);
        self.before += self.at as u64;
        self.at = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK, 0);
        let count = match self.input.fill(self.buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(count) => count,
            Err((count, error)) => {
                self.error = Some(error);
                self.ended = true;
                count
            }
        };
        self.ended |= count < CHUNK;
        self.buffer.truncate(filled + count);
        count > 0
    }

    /// Has at least so many bytes in the buffer, if there are.
    fn reach(&mut self, length: usize) -> bool {
        while self.rest().len() < length {
            if !self.more() {
                return false;
            }
        }
        true
    }

    /// Where reading stands: a byte of the file, or of what was unpacked from it.
    fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    fn broken(&mut self, kind: &'static str, detail: impl Into<String>) -> Step {
        self.done = true;
        let offset = match self.input.packing {
            Packing::Plain => self.offset(),
            _ => self.input.taken(),
        };
        let detail = format!("behind packet {}: {}", self.packets, detail.into());
        Step::Broken(CaptureError::Corrupt { path: self.path.to_string(), kind, offset, detail })
    }

    fn version(&mut self, what: &'static str, found: String, supported: &str) -> Step {
        self.done = true;
        Step::Broken(CaptureError::Version {
            path: self.path.to_string(),
            what,
            position: 1,
            found,
            supported: supported.to_owned(),
            advice: "write it anew with the program that knows it (editcap -F pcapng FILE NEW)",
        })
    }

    /// The last packet, which the file ends in. An input that failed says more.
    fn cut(&mut self, wanted: usize) -> Step {
        self.packets += 1;
        let seen = self.rest().len();
        let excerpt = hex(self.rest());
        self.at = self.buffer.len();
        let reason = format!("the file ends inside this packet: {seen} of its {wanted} bytes are there");
        Step::Rejected { number: self.packets, size: seen, reason, excerpt }
    }

    /// Steps over something that is longer than any packet. False where the file ends in it.
    fn skip(&mut self, length: u64) -> bool {
        let mut left = length;
        loop {
            let step = self.rest().len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.at += step;
            left -= step as u64;
            if left == 0 {
                return true;
            }
            if !self.more() {
                return false;
            }
        }
    }

    fn too_long(&mut self, wanted: u64) -> Step {
        let excerpt = hex(self.rest());
        let whole = self.skip(wanted);
        self.packets += 1;
        let end = if whole { "" } else { ", and the file ends in it" };
        let reason = format!("a packet of {wanted} bytes{end}; the longest that is read has {} MiB", LONGEST >> 20);
        let size = usize::try_from(wanted).unwrap_or(usize::MAX);
        Step::Rejected { number: self.packets, size, reason, excerpt }
    }

    /// The next packet; `None` behind the last.
    pub fn next(&mut self) -> Option<Step> {
        while !self.done {
            let step = match self.layout {
                Layout::Begin => self.begin(),
                Layout::Pcap { big_endian, nanoseconds, link } => self.record(big_endian, nanoseconds, link),
                Layout::Pcapng { big_endian } => self.block(big_endian),
            };
            if step.is_some() {
                return step;
            }
        }
        None
    }

    /// Behind the last packet: why nothing follows.
    fn end(&mut self) -> Option<Step> {
        self.done = true;
        if let Some(error) = self.error.take() {
            return Some(Step::Broken(error));
        }
        // Said last, because packets of other interfaces could be read.
        let (link, (offset, packets)) = std::mem::take(&mut self.strange).into_iter().find(|(_, seen)| seen.1 > 0)?;
        Some(Step::Broken(self.unknown_link(link, offset, packets)))
    }

    fn unknown_link(&self, link: u32, offset: u64, packets: u64) -> CaptureError {
        CaptureError::LinkType { path: self.path.to_string(), offset, link, packets }
    }

    /// The head of the file.
    fn begin(&mut self) -> Option<Step> {
        self.reach(24);
        match kind(self.rest()) {
            Some(Kind::Pcapng) => {
                self.layout = Layout::Pcapng { big_endian: false };
                None
            }
            Some(Kind::Pcap) => self.pcap_head(),
            None => Some(self.broken("packet capture", "no magic number of pcap or pcapng stands at its beginning")),
        }
    }

    fn pcap_head(&mut self) -> Option<Step> {
        let header = match pcap_parser::parse_pcap_header(self.rest()) {
            Ok((_, header)) => header,
            Err(_) if self.rest().len() < 24 => {
                return Some(self.broken("pcap", "the file ends inside its first 24 bytes"));
            }
            // The one form of the magic number that is left.
            Err(_) => return Some(self.version("pcap file", "of a patched recorder".to_owned(), "2.3 and 2.4")),
        };
        if header.is_modified_format() {
            return Some(self.version("pcap file", "of a patched recorder".to_owned(), "2.3 and 2.4"));
        }
        if header.version_major != 2 {
            let found = format!("{}.{}", header.version_major, header.version_minor);
            return Some(self.version("pcap file", found, "2.3 and 2.4"));
        }
        let link = link_of(&header);
        if !link::is_known(link) {
            self.done = true;
            let offset = self.offset() + 20;
            return Some(Step::Broken(self.unknown_link(link, offset, 0)));
        }
        self.layout =
            Layout::Pcap { big_endian: header.is_bigendian(), nanoseconds: header.is_nanosecond_precision(), link };
        self.at += 24;
        None
    }

    /// A record of a pcap file.
    fn record(&mut self, big_endian: bool, nanoseconds: bool, link: u32) -> Option<Step> {
        if !self.reach(16) {
            if self.rest().is_empty() {
                return self.end();
            }
            return Some(self.cut(16));
        }
        let captured = number(self.rest(), 8, big_endian);
        if captured as usize > LONGEST {
            return Some(self.too_long(16 + u64::from(captured)));
        }
        let wanted = 16 + captured as usize;
        if !self.reach(wanted) {
            return Some(self.cut(wanted));
        }
        let parse = if big_endian { pcap_parser::parse_pcap_frame_be } else { pcap_parser::parse_pcap_frame };
        let Ok((_, record)) = parse(self.rest()) else {
            return Some(self.broken("pcap", "a packet that cannot be read"));
        };
        let fraction = i64::from(record.ts_usec) / if nanoseconds { 1_000 } else { 1 };
        let ts = Ts(i64::from(record.ts_sec) * 1_000_000 + fraction);
        let data = self.at + 16..self.at + wanted;
        self.at += wanted;
        self.packets += 1;
        Some(Step::Packet(Packet { number: self.packets, ts: Some(ts), link, data }))
    }

    /// A block of a pcapng file.
    fn block(&mut self, big_endian: bool) -> Option<Step> {
        if !self.reach(12) {
            if self.rest().is_empty() {
                return self.end();
            }
            return Some(self.cut(12));
        }
        let mut big_endian = big_endian;
        let kind = number(self.rest(), 0, big_endian);
        if kind == SECTION {
            big_endian = match self.rest().get(8..12) {
                Some([0x1a, 0x2b, 0x3c, 0x4d]) => true,
                Some([0x4d, 0x3c, 0x2b, 0x1a]) => false,
                _ => return Some(self.broken("pcapng", "a section that does not say its byte order")),
            };
        }
        let length = number(self.rest(), 4, big_endian);
        if length < 12 || !length.is_multiple_of(4) {
            return Some(self.broken("pcapng", format!("a block that says it has {length} bytes")));
        }
        let wanted = length as usize;
        let is_packet = matches!(kind, ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET);
        if wanted > LONGEST {
            if is_packet {
                return Some(self.too_long(length.into()));
            }
            self.skip(length.into());
            *self.skipped.entry(kind).or_default() += 1;
            return None;
        }
        if !self.reach(wanted) {
            if self.error.is_none() && !is_packet {
                return Some(self.broken("pcapng", "the file ends inside a block"));
            }
            return Some(self.cut(wanted));
        }
        if number(self.rest(), wanted - 4, big_endian) != length {
            return Some(self.broken("pcapng", "a block whose length does not stand at its end"));
        }
        match kind {
            SECTION | INTERFACE => self.describe(wanted, big_endian),
            _ if is_packet => self.packet(kind, wanted, big_endian),
            _ => {
                self.at += wanted;
                *self.skipped.entry(kind).or_default() += 1;
                None
            }
        }
    }

    /// A block that says how others are written.
    fn describe(&mut self, wanted: usize, big_endian: bool) -> Option<Step> {
        let parse = if big_endian { pcap_parser::pcapng::parse_block_be } else { pcap_parser::pcapng::parse_block_le };
        let block = self.buffer.get(self.at..self.at + wanted).unwrap_or_default();
        match parse(block) {
            Ok((_, Block::SectionHeader(section))) => {
                if section.major_version != 1 {
                    let found = format!("{}.{}", section.major_version, section.minor_version);
                    return Some(self.version("pcapng section", found, "1.0 and 1.2"));
                }
                self.layout = Layout::Pcapng { big_endian };
                self.interfaces.clear();
            }
            Ok((_, Block::InterfaceDescription(found))) => {
                let interface = interface(&found, big_endian);
                if self.interfaces.len() < INTERFACES {
                    self.interfaces.push(interface);
                }
                if !link::is_known(interface.link) {
                    // Bytes 8 and 9 of the block name the type.
                    let offset = self.offset() + 8;
                    self.strange.entry(interface.link).or_insert((offset, 0));
                }
            }
            _ => return Some(self.broken("pcapng", "a block that says what follows, and cannot be read")),
        }
        self.at += wanted;
        None
    }

    /// A block with a packet.
    fn packet(&mut self, kind: u32, wanted: usize, big_endian: bool) -> Option<Step> {
        self.packets += 1;
        let from = self.at;
        self.at += wanted;
        let block = self.buffer.get(from..self.at).unwrap_or_default();
        let interfaces = &self.interfaces;
        let found = match kind {
            OBSOLETE_PACKET => obsolete(block, big_endian),
            _ => current(block, big_endian, interfaces.first()),
        };
        let refused = |reason: &str| Step::Rejected {
            number: self.packets,
            size: wanted,
            reason: reason.to_owned(),
            excerpt: hex(block),
        };
        let Some((index, units, data)) = found else {
            return Some(refused("a packet that says it is longer than the block it stands in"));
        };
        let Some(interface) = usize::try_from(index).ok().and_then(|index| interfaces.get(index)).copied() else {
            return Some(refused("a packet of an interface that the file does not describe"));
        };
        if let Some((_, packets)) = self.strange.get_mut(&interface.link) {
            *packets += 1;
        }
        let ts = units.and_then(|units| moment(units, &interface));
        let data = from + data.start..from + data.end;
        Some(Step::Packet(Packet { number: self.packets, ts, link: interface.link, data }))
    }
}
