//! Captured packets, as tcpdump, dumpcap and Wireshark write them.

use super::{About, Format};
use crate::capture::http;
use crate::capture::input::Input;
use crate::capture::packets::{self, Kind, Packets};
use crate::capture::records::{Recognised, Records};
use crate::capture::sink::FileFacts;

/// A kind of capture file.
pub struct Pcap(pub Kind);

impl Format for Pcap {
    fn name(&self) -> &'static str {
        match self.0 {
            Kind::Pcap => "pcap",
            Kind::Pcapng => "pcapng",
        }
    }

    fn looks_like(&self) -> &'static str {
        "packets of HTTP without encryption (a capture file)"
    }

    fn about(&self) -> About {
        let (what, writer) = match self.0 {
            Kind::Pcap => ("captured packets (pcap)", "tcpdump -w, and what else libpcap writes"),
            Kind::Pcapng => ("captured packets (pcapng)", "Wireshark, dumpcap, tshark -w"),
        };
        About {
            what: what.into(),
            writer: writer.into(),
            bodies: "yes, where HTTP/1 is not encrypted; TLS and HTTP/2 are counted, not read".into(),
            values: "yes, where HTTP/1 is not encrypted".into(),
            times: "of each packet, UTC; messages inside an event stream have their own".into(),
            direction: "request or answer".into(),
            session: "the header Mcp-Session-Id, else the address (2024-11-05)".into(),
        }
    }

    fn recognise(&self, head: &[u8], _whole: bool) -> Option<Recognised> {
        packets::recognise(head).filter(|_| packets::kind(head) == Some(self.0))
    }

    fn records(&self, input: Input, file: &FileFacts) -> Option<Box<dyn Records>> {
        Some(http::records(Box::new(Packets::new(input, file.path.clone())), file))
    }

    fn is_of_records(&self) -> bool {
        true
    }
}
