//! HTTP exchanges: a request and its answer, whoever recorded them, as messages.

mod body;
mod engine;
mod listed;
mod memory;
mod said;
pub mod sse;
mod talk;

pub use body::is_packed;
pub use engine::records;
pub use listed::Listed;
pub use said::{Content, remains};
pub use sse::looks_like as looks_like_events;

use super::error::CaptureError;
use crate::protocol::message::{Text, Ts};

/// What a recorder kept of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Body {
    /// There was none.
    #[default]
    Empty,
    /// There was one, or may have been, and the recorder did not keep it.
    NotStored,
    /// The bytes as the recorder kept them: chunks joined, still compressed where the headers say so.
    Whole(Vec<u8>),
    /// As far as it was kept.
    Cut(Vec<u8>),
    /// Pieces with their own times, in order, as packets show a stream. Where the protocol was switched to WebSocket
    /// (status 101), each is one message of the side whose body it is.
    Pieces(Vec<Piece>),
}

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    /// When it came.
    pub ts: Option<Ts>,
    /// Bytes of the body are missing before it. An empty piece that says so ends a body whose end is missing.
    pub after_gap: bool,
    pub bytes: Vec<u8>,
}

/// One side of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leg {
    /// Names in lower case, in the order they were sent; values as text.
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// When its first byte was sent.
    pub started: Option<Ts>,
    /// When its last byte was sent.
    pub ended: Option<Ts>,
}

impl Leg {
    /// The value of a header; the first of several.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpExchange {
    /// `POST`, `GET`, `DELETE`.
    pub method: String,
    /// As far as the recorder knew it: a whole URL, or a path.
    pub url: String,
    pub request: Leg,
    /// `None` where the recorder saw none.
    pub response: Option<Leg>,
    pub status: Option<u16>,
    /// The server as the recorder names it, where it does.
    pub server: Option<Text>,
    /// Where the record stands in its file, from 1: entry, flow, or the frame in which the request begins.
    pub position: u64,
    /// Size of the record in the capture, bytes; of several records, their sum.
    pub size: usize,
    /// Records behind the first that carry it, and no exchange before it: packets.
    pub more: u64,
    /// The first record carries an earlier exchange, too, and is counted with that one.
    pub shared: bool,
    /// The answer is a stream that goes on in a later exchange: what is not answered here may be answered there.
    pub goes_on: bool,
    /// The exchange was given out in parts, all of this name; their number is not known before the last.
    pub part_of: Option<u64>,
    /// Text of the answer was decoded as Latin-1 although it is UTF-8 (mitmproxy's archives): it is repaired where
    /// that is possible.
    pub mojibake: bool,
}

/// What a recorder's file holds, one after the other.
#[derive(Debug)]
pub enum Item {
    Exchange(Box<HttpExchange>),
    /// A record that is no HTTP exchange: a packet of something else, a flow that is not HTTP.
    Other {
        position: u64,
        size: usize,
    },
    /// A record that could not be read, and how it begins.
    Rejected {
        position: u64,
        size: usize,
        reason: String,
        excerpt: Vec<u8>,
    },
    /// Nothing can be read from here on; what stands before was read.
    Broken(CaptureError),
}

/// A file of exchanges, read in order with bounded memory. Exchanges come when they are complete, which may be long
/// after later ones began.
pub trait Exchanges: Send {
    /// The next record; `None` at the end and behind [`Item::Broken`].
    fn next(&mut self) -> Option<Item>;

    /// Bytes read from the disk so far.
    fn taken(&self) -> u64;

    /// What a reader of the report should know about the file; asked for behind the last record.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}
