//! An HTTP message as far as it has come.

use super::counts::Counts;
use super::head::Start;
use super::stream::Records;
use crate::capture::http::Piece;
use crate::protocol::message::Ts;

/// Bytes of a body that are kept; the rest is left out and the body marked as cut.
const LONGEST_BODY: usize = 64 << 20;
/// What a message takes beside its body.
pub const OVERHEAD: usize = 512;
/// What a piece of a body takes beside its bytes.
pub const PIECE: usize = 64;

#[derive(Debug, Clone)]
pub struct Message {
    pub records: Records,
    /// Where its first byte stands in its direction, and where the other direction stood for its sender then.
    pub begins: u64,
    pub acknowledged: u64,
    /// Messages before it may have been lost.
    pub after_loss: bool,
    pub started: Option<Ts>,
    pub ended: Option<Ts>,
    pub start: Start,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub pieces: Vec<Piece>,
    /// Its content is an event stream: pieces keep their times.
    pub stream: bool,
    /// Bytes it holds, about.
    pub weight: usize,
    /// It grew too long and is not kept any further.
    pub full: bool,
    pub done: bool,
    /// The message was given out in part.
    pub resumed: Option<Resumed>,
}

/// Where a message stands that was given out in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// The packet that was read then.
    pub at: u64,
    /// The packet in which its exchange began: the name of the exchange.
    pub of: u64,
}

impl Message {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A message that begins like this one.
    pub fn without_body(&self) -> Self {
        let (start, headers) = (self.start.clone(), self.headers.clone());
        Self { start, headers, pieces: Vec::new(), weight: OVERHEAD + weight(&self.headers), ..*self }
    }

    /// Takes content; the bytes it holds more now.
    pub fn keep(&mut self, bytes: &[u8], ts: Option<Ts>, counts: &mut Counts) -> usize {
        self.ended = ts.or(self.ended);
        if self.full || bytes.is_empty() {
            return 0;
        }
        if self.weight + bytes.len() > LONGEST_BODY {
            self.full = true;
            counts.long_bodies += 1;
            self.lack(ts);
            return 0;
        }
        let before = self.weight;
        match self.pieces.last_mut() {
            // What follows a gap has the time of its own packet.
            Some(last) if last.bytes.is_empty() => {
                last.bytes.extend_from_slice(bytes);
                last.ts = ts;
                self.weight += PIECE;
            }
            Some(last) if !self.stream || last.ts == ts => last.bytes.extend_from_slice(bytes),
            _ => {
                self.pieces.push(Piece { ts, after_gap: false, bytes: bytes.to_vec() });
                self.weight += PIECE;
            }
        }
        self.weight += bytes.len();
        self.weight - before
    }

    /// Bytes are missing here.
    pub fn lack(&mut self, ts: Option<Ts>) {
        if self.pieces.last().is_none_or(|last| !last.after_gap || !last.bytes.is_empty()) {
            self.pieces.push(Piece { ts, after_gap: true, bytes: Vec::new() });
        }
    }
}

pub fn weight(headers: &[(String, String)]) -> usize {
    headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum()
}
