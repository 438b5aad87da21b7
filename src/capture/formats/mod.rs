//! The formats that can be read. A new one is a description beside this file, or a file of its own and a line in
//! [`FIRST`] or [`LAST`].

mod desktop;
mod envelope;
mod har;
mod inspector_network;
pub(super) mod jsonrpc;
mod mitmproxy;
mod pcap;
#[cfg(test)]
pub(super) mod tests;
mod tshark;
mod words;

pub(super) use words::{Word, word};

use super::described;
use super::input::Input;
use super::packets::Kind;
use super::records::{Recognised, Records};
use super::settle::Settled;
use super::sink::{Block, Decoded, FileFacts, Tally};
use std::borrow::Cow;

/// What a format is, who writes it, and what a capture in it can and cannot answer: a word or two each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    pub what: Cow<'static, str>,
    pub writer: Cow<'static, str>,
    /// Whether bodies are there: `yes`, `no`, `requests only`.
    pub bodies: Cow<'static, str>,
    /// Whether argument values and elicited values can be counted.
    pub values: Cow<'static, str>,
    /// Resolution and zone of times.
    pub times: Cow<'static, str>,
    /// How the sender is known.
    pub direction: Cow<'static, str>,
    /// How sessions are known.
    pub session: Cow<'static, str>,
}

/// A way of writing messages down: line by line ([`Format::decode`]) or, where records are no lines, as a stream of
/// records ([`Format::records`]).
pub trait Format: Sync {
    /// The name that `--format` takes and reports show.
    fn name(&self) -> &'static str;
    /// How a line of it looks, for people.
    fn looks_like(&self) -> &str;
    /// What it is and what it can answer, for `mcptally formats`.
    fn about(&self) -> About;
    /// The file that describes it, for a format of the user's own.
    fn file(&self) -> Option<&str> {
        None
    }
    /// No other format has lines like these: one line with a message decides.
    fn unmistakable(&self) -> bool {
        false
    }
    /// Whether a line that holds no message shows this format all the same.
    fn is_sign(&self, _line: &[u8]) -> bool {
        false
    }
    /// Whether a block may begin with this line (of which the beginning is given).
    fn begins_record(&self, _line: &[u8]) -> bool {
        true
    }
    /// The variant that the marks of [`super::sink::Tally`] show.
    fn variant(&self, _marks: u32) -> Option<String> {
        None
    }
    /// What a reader of the report should know about a file, from the counts over all of it.
    fn remarks(&self, _tally: &Tally) -> Vec<String> {
        Vec::new()
    }
    /// Why a file that was read as this format cannot be it, from the counts over all of it.
    fn misfit(&self, _tally: &Tally) -> Option<String> {
        None
    }
    /// Whether the beginning of a file (`whole`: all of it) is this format, for formats that are known without reading
    /// any message: by magic bytes or by the outermost JSON. The first that recognises a file reads it.
    fn recognise(&self, _head: &[u8], _whole: bool) -> Option<Recognised> {
        None
    }
    /// Reads a whole input record by record. `None` for formats of lines; whoever overrides this has
    /// [`Format::is_of_records`] say so.
    fn records(&self, _input: Input, _file: &FileFacts) -> Option<Box<dyn Records>> {
        None
    }
    /// Whether the format is read by [`Format::records`].
    fn is_of_records(&self) -> bool {
        false
    }
    /// Whether its lines have to be read one after the other, by [`Format::records`].
    fn reads_in_order(&self) -> bool {
        false
    }
    /// Settles what the blocks of a file could not tell each by itself, block after block.
    fn settle(&self, _decoded: &mut Decoded, _settled: &mut Settled) {}
    /// Reads a block of lines. Formats of records leave it out.
    fn decode(&self, _block: &Block, _file: &FileFacts) -> Decoded {
        Decoded::default()
    }
}

/// In order of precedence where two fit equally well: these, those that are described, and the general ones.
#[rustfmt::skip]
static FIRST: &[&dyn Format] = &[
    &har::Har,
    &inspector_network::InspectorNetwork,
    &desktop::Desktop,
    &mitmproxy::Mitmproxy,
    &pcap::Pcap(Kind::Pcap),
    &pcap::Pcap(Kind::Pcapng),
    &tshark::Tshark(tshark::Layout::Ek),
    &tshark::Tshark(tshark::Layout::Json),
];
static LAST: &[&dyn Format] = &[&jsonrpc::JsonRpc, &envelope::Envelope];

/// The formats that a run knows.
#[derive(Clone)]
pub struct Formats(Vec<&'static dyn Format>);

impl Default for Formats {
    /// Those that are built in.
    fn default() -> Self {
        Self([FIRST, described::built_in(), LAST].concat())
    }
}

impl std::fmt::Debug for Formats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Formats({})", self.names())
    }
}

impl Formats {
    /// In order of precedence where two fit equally well.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Format> {
        self.0.iter().copied()
    }

    /// Adds formats that come before all others; of those known it replaces the ones with their names.
    pub fn prefer(&mut self, formats: Vec<&'static dyn Format>) {
        self.0.retain(|known| formats.iter().all(|format| format.name() != known.name()));
        self.0.splice(0..0, formats);
    }

    /// The formats of a name: a description has one for each way in which its records can be laid out.
    pub fn named(&self, name: &str) -> Vec<&'static dyn Format> {
        self.iter().filter(|format| format.name() == name).collect()
    }

    /// One format for each name.
    pub fn distinct(&self) -> Vec<&'static dyn Format> {
        let mut distinct: Vec<&'static dyn Format> = Vec::new();
        for format in self.iter() {
            if distinct.iter().all(|known| known.name() != format.name()) {
                distinct.push(format);
            }
        }
        distinct
    }

    /// The names of all formats, for messages.
    pub fn names(&self) -> String {
        self.distinct().iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
    }
}

/// Colour codes stand around a record, never inside its JSON; this looks only where they begin.
pub(super) fn has_colour(line: &[u8]) -> bool {
    let head = line.get(..256).unwrap_or(line);
    head.contains(&0x1b)
}

/// The text without terminal control sequences (`ESC [ … letter` and `ESC ] … BEL`).
pub(super) fn without_colour(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != 0x1b {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'[') => while bytes.next().is_some_and(|byte| !(0x40..=0x7e).contains(&byte)) {},
            Some(b']') => while bytes.next().is_some_and(|byte| byte != 0x07) {},
            _ => {}
        }
    }
    out
}

/// Whether text begins like an object with a member, or an array of such, or an array of such arrays.
pub(super) fn begins_json(text: &[u8]) -> bool {
    let mut marks = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    match marks.next() {
        Some(b'{') => matches!(marks.next(), Some(b'"' | b'}') | None),
        Some(b'[') => match marks.next() {
            Some(b'[') => marks.find(|byte| !matches!(byte, b'[' | b']' | b',')) == Some(b'{'),
            next => matches!(next, Some(b'{') | None),
        },
        _ => false,
    }
}
