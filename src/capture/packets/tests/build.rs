//! Packets and capture files, made by hand.

use etherparse::PacketBuilder;

/// When the first packet was captured, and what lies between two.
pub const START: i64 = 1_769_940_000_000_000;
pub const STEP: i64 = 1_000;

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

#[derive(Debug, Clone, Copy, Default)]
pub struct Flags {
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    pub ack: bool,
}

pub const DATA: Flags = Flags { syn: false, fin: false, rst: false, ack: true };

/// A segment, from which packets of any link type are made.
#[derive(Debug, Clone)]
pub struct Sent {
    pub from: ([u8; 4], u16),
    pub to: ([u8; 4], u16),
    pub sequence: u32,
    pub acknowledged: u32,
    pub flags: Flags,
    pub payload: Vec<u8>,
    pub ts: i64,
}

/// How packets are wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    Ethernet,
    Vlan,
    DoubleVlan,
    Ipv6,
    Cooked1,
    Cooked2,
    Null,
    Loop,
    Raw,
}

impl Wrap {
    pub const ALL: [Self; 9] = [
        Self::Ethernet,
        Self::Vlan,
        Self::DoubleVlan,
        Self::Ipv6,
        Self::Cooked1,
        Self::Cooked2,
        Self::Null,
        Self::Loop,
        Self::Raw,
    ];

    pub fn link(self) -> u32 {
        match self {
            Self::Ethernet | Self::Vlan | Self::DoubleVlan | Self::Ipv6 => 1,
            Self::Cooked1 => 113,
            Self::Cooked2 => 276,
            Self::Null => 0,
            Self::Loop => 108,
            Self::Raw => 101,
        }
    }
}

impl Sent {
    pub fn packet(&self, wrap: Wrap) -> Vec<u8> {
        let ip = self.ip();
        let macs = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        match wrap {
            Wrap::Ethernet => [&macs[..], &[8, 0], &ip].concat(),
            Wrap::Vlan => [&macs[..], &[0x81, 0, 0, 7, 8, 0], &ip].concat(),
            Wrap::DoubleVlan => [&macs[..], &[0x88, 0xa8, 0, 9, 0x81, 0, 0, 7, 8, 0], &ip].concat(),
            Wrap::Ipv6 => {
                let address = |short: [u8; 4]| [&[0xfd; 12][..], &short].concat().try_into().unwrap();
                let builder =
                    PacketBuilder::ethernet2([1; 6], [2; 6]).ipv6(address(self.from.0), address(self.to.0), 64);
                self.write(|out, payload| self.tcp_v6(builder).write(out, payload).unwrap())
            }
            Wrap::Cooked1 => [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0][..], &ip].concat(),
            Wrap::Cooked2 => {
                let head = [8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
                [&head[..], &ip].concat()
            }
            Wrap::Null => [&[2, 0, 0, 0][..], &ip].concat(),
            Wrap::Loop => [&[0, 0, 0, 2][..], &ip].concat(),
            Wrap::Raw => ip,
        }
    }

    fn ip(&self) -> Vec<u8> {
        let builder = PacketBuilder::ipv4(self.from.0, self.to.0, 64);
        self.write(|out, payload| self.tcp_v6(builder).write(out, payload).unwrap())
    }

    fn tcp_v6(
        &self,
        builder: etherparse::PacketBuilderStep<etherparse::IpHeaders>,
    ) -> etherparse::PacketBuilderStep<etherparse::TcpHeader> {
        let mut tcp = builder.tcp(self.from.1, self.to.1, self.sequence, 65_000);
        if self.flags.ack {
            tcp = tcp.ack(self.acknowledged);
        }
        if self.flags.syn {
            tcp = tcp.syn();
        }
        if self.flags.fin {
            tcp = tcp.fin();
        }
        if self.flags.rst {
            tcp = tcp.rst();
        }
        tcp
    }

    fn write(&self, write: impl FnOnce(&mut Vec<u8>, &[u8])) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, &self.payload);
        out
    }
}

/// A connection whose segments are made in order; tests then drop, move and change them.
pub struct Wire {
    pub ends: [([u8; 4], u16); 2],
    pub sequence: [u32; 2],
    pub ts: i64,
    pub segments: Vec<Sent>,
}

impl Wire {
    /// Between a port of the client's and port 80; the handshake is there.
    pub fn open(port: u16) -> Self {
        Self::open_at(port, [1_000, 9_000])
    }

    /// With the sequence numbers of the SYNs.
    pub fn open_at(port: u16, sequence: [u32; 2]) -> Self {
        let ends = [([10, 0, 0, 1], port), ([10, 0, 0, 2], 80)];
        let mut wire = Self { ends, sequence, ts: START, segments: Vec::new() };
        wire.flagged(CLIENT, Flags { syn: true, ..Flags::default() }, b"");
        wire.flagged(SERVER, Flags { syn: true, ack: true, ..Flags::default() }, b"");
        wire.flagged(CLIENT, DATA, b"");
        wire
    }

    pub fn flagged(&mut self, from: usize, flags: Flags, payload: &[u8]) {
        self.segments.push(Sent {
            from: self.ends[from],
            to: self.ends[1 - from],
            sequence: self.sequence[from],
            acknowledged: self.sequence[1 - from],
            flags,
            payload: payload.to_vec(),
            ts: self.ts,
        });
        self.ts += STEP;
        let length = payload.len() as u32 + u32::from(flags.syn) + u32::from(flags.fin);
        self.sequence[from] = self.sequence[from].wrapping_add(length);
    }

    pub fn send(&mut self, from: usize, payload: impl AsRef<[u8]>) {
        self.flagged(from, DATA, payload.as_ref());
    }

    /// In segments of a size.
    pub fn send_split(&mut self, from: usize, payload: impl AsRef<[u8]>, size: usize) {
        for part in payload.as_ref().chunks(size) {
            self.send(from, part);
        }
    }

    pub fn close(&mut self) {
        for from in [SERVER, CLIENT] {
            self.flagged(from, Flags { fin: true, ..DATA }, b"");
        }
    }

    pub fn pcap(&self) -> Vec<u8> {
        pcap(&self.segments)
    }
}

/// A file in which the segments stand over Ethernet.
pub fn pcap(segments: &[Sent]) -> Vec<u8> {
    pcap_of(segments, Wrap::Ethernet)
}

pub fn pcap_of(segments: &[Sent], wrap: Wrap) -> Vec<u8> {
    let packets: Vec<(i64, Vec<u8>)> = segments.iter().map(|segment| (segment.ts, segment.packet(wrap))).collect();
    pcap_file(wrap.link(), &packets)
}

pub fn pcap_head(link: u32) -> Vec<u8> {
    let mut out = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
    out.extend(link.to_le_bytes());
    out
}

pub fn pcap_record(ts: i64, bytes: &[u8], original: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for number in [(ts / 1_000_000) as u32, (ts % 1_000_000) as u32, bytes.len() as u32, original as u32] {
        out.extend(number.to_le_bytes());
    }
    out.extend_from_slice(bytes);
    out
}

pub fn pcap_file(link: u32, packets: &[(i64, Vec<u8>)]) -> Vec<u8> {
    let records = packets.iter().flat_map(|(ts, bytes)| pcap_record(*ts, bytes, bytes.len()));
    pcap_head(link).into_iter().chain(records).collect()
}

/// A block of a pcapng file.
pub fn block(kind: u32, body: &[u8], big_endian: bool) -> Vec<u8> {
    let number = |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let padding = (4 - body.len() % 4) % 4;
    let length = number((12 + body.len() + padding) as u32);
    [&number(kind)[..], &length, body, &[0; 3][..padding], &length].concat()
}

pub fn section(major: u16, big_endian: bool) -> Vec<u8> {
    let body = if big_endian {
        [&[0x1a, 0x2b, 0x3c, 0x4d][..], &major.to_be_bytes(), &[0, 0], &[0xff; 8]].concat()
    } else {
        [&[0x4d, 0x3c, 0x2b, 0x1a][..], &major.to_le_bytes(), &[0, 0], &[0xff; 8]].concat()
    };
    block(0x0a0d_0d0a, &body, big_endian)
}

/// An interface; options as code and value.
pub fn interface(link: u16, options: &[(u16, &[u8])], big_endian: bool) -> Vec<u8> {
    let number = |number: u16| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let mut body = [&number(link)[..], &[0; 2], &[0; 4]].concat();
    for (code, value) in options {
        body.extend([number(*code), number(value.len() as u16)].concat());
        body.extend_from_slice(value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    block(1, &body, big_endian)
}

pub fn enhanced(interface: u32, units: u64, bytes: &[u8], big_endian: bool) -> Vec<u8> {
    let number = |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let numbers = [interface, (units >> 32) as u32, units as u32, bytes.len() as u32, bytes.len() as u32];
    let body = [numbers.map(number).concat(), bytes.to_vec()].concat();
    block(6, &body, big_endian)
}

/// A request of the protocol, as HTTP.
pub fn post(body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: notes.example.test\r\nContent-Type: application/json\r\nMCP-Session-Id: s-1\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

pub fn ask(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"prompts/get","params":{{"name":"a","arguments":{{"b":"{id}"}}}}}}"#
    )
}

pub fn result(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"messages":[]}}}}"#)
}

pub fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

pub const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

pub fn event(data: &str) -> String {
    format!("event: message\ndata: {data}\n\n")
}
