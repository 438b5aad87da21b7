//! Bare JSON-RPC: a message a line, as a tee on stdin and stdout leaves it, with the decorations people add.

use super::{About, Format, begins_json, has_colour, without_colour};
use crate::capture::sink::{Block, Decoded, Facts, FileFacts, Line, Side, Sink};
use crate::capture::skim::Cursor;
use crate::capture::time;
use crate::protocol::message::{Captured, Direction, Ts};
use serde::de::IgnoredAny;

pub struct JsonRpc;

const DECORATED: u32 = 1;
const EVENT_STREAM: u32 = 2;
const SPREAD: u32 = 4;
const TIMED: u32 = 8;

/// Bytes of a block that may be looked at in search of values spread over lines, beyond the lines themselves.
const SPREAD_BUDGET: usize = 16 << 20;

impl Format for JsonRpc {
    fn name(&self) -> &'static str {
        "jsonrpc"
    }

    fn looks_like(&self) -> &'static str {
        "{\"jsonrpc\":…} (bare messages)"
    }

    fn about(&self) -> About {
        About {
            what: "bare JSON-RPC messages, one a line or spread, decorated or not".into(),
            writer: "a tee on stdin and stdout, curl transcripts, event streams".into(),
            bodies: "yes".into(),
            values: "yes".into(),
            times: "where lines begin with one".into(),
            direction: "by content, decorations, file name".into(),
            session: "cut by handshakes and ids".into(),
        }
    }

    fn begins_record(&self, line: &[u8]) -> bool {
        // The lines inside a value written over several lines are indented, its last begins with its bracket.
        !matches!(line.first(), None | Some(b' ' | b'\t' | b'}' | b']' | b'\r' | b'\n'))
    }

    fn variant(&self, marks: u32) -> Option<String> {
        let names = [
            (DECORATED, "decorated lines"),
            (EVENT_STREAM, "event stream"),
            (SPREAD, "values over several lines"),
            (TIMED, "lines with times"),
        ];
        let found: Vec<&str> = names.iter().filter(|(bit, _)| marks & bit != 0).map(|(_, name)| *name).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }

    fn decode(&self, block: &Block, file: &FileFacts) -> Decoded {
        let mut sink = Sink::new(file, block);
        let mut budget = SPREAD_BUDGET;
        while let Some(line) = sink.next_line() {
            let text = line.of(sink.block());
            if has_colour(text) {
                let plain = without_colour(text);
                bare_line(&mut sink, line, &plain, 0, &mut budget);
            } else {
                let block = sink.block();
                bare_line(&mut sink, line, block.get(..line.to).unwrap_or_default(), line.from, &mut budget);
            }
        }
        sink.finish()
    }
}

/// Reads one line; `bytes[from..]` is its text.
fn bare_line(sink: &mut Sink<'_>, line: Line, bytes: &[u8], from: usize, budget: &mut usize) {
    let text = bytes.get(from..).unwrap_or_default();
    if text.iter().all(u8::is_ascii_whitespace) {
        return sink.blank();
    }
    let Some(start) = dress(text) else {
        if line.first && cut_at_start(text) {
            return sink.reject("cut off at the start of the file");
        }
        return sink.noise();
    };
    sink.mark(start.mark);
    let ts = start.ts.map(|(ts, zoned)| if zoned { ts } else { sink.on_a_clock(ts) });
    let facts = Facts { ts, side: start.side, ..Facts::default() };
    let mut cursor = Cursor::new(bytes, from + start.length);
    let mut any = false;
    loop {
        match sink.value(&mut cursor, &facts, Captured::Full) {
            Some(message) => any |= message,
            None => {
                sink.take_back();
                return broken(sink, line, bytes, from, start.length, &facts, budget);
            }
        }
        match cursor.peek() {
            None => break,
            // Values run together where a writer forgets the line feed.
            Some(b'{' | b'[') => {}
            Some(_) => {
                sink.take_back();
                let rest = bytes.get(from + start.length..).unwrap_or_default();
                if memchr::memchr(0x1b, rest).is_some() {
                    let plain = without_colour(rest);
                    return bare_line(sink, line, &plain, 0, budget);
                }
                return sink.reject(format!("text after the JSON value at column {}", cursor.at() - from + 1));
            }
        }
    }
    if any { sink.message_line() } else { sink.noise() }
}

/// A line whose JSON does not close: perhaps it goes on in the next lines.
fn broken(sink: &mut Sink<'_>, line: Line, bytes: &[u8], from: usize, dress: usize, facts: &Facts, budget: &mut usize) {
    let block = sink.block();
    let in_block = std::ptr::eq(bytes.as_ptr(), block.as_ptr());
    let rest = block.get(from + dress..).unwrap_or_default();
    if in_block && !line.unfinished && *budget > 0 {
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        let whole = matches!(values.next(), Some(Ok(_)));
        let length = values.byte_offset();
        *budget = budget.saturating_sub(if whole { 0 } else { rest.len() });
        if whole {
            let mut cursor = Cursor::new(block, from + dress);
            let message = sink.value(&mut cursor, facts, Captured::Full);
            if message == Some(true) {
                sink.continue_to(from + dress + length);
                sink.mark(SPREAD);
                return sink.message_line();
            }
            // What is said of the value is said of its first line.
            sink.take_back();
            sink.noise();
            return sink.continue_to(from + dress + length);
        }
    }
    if line.first && from + dress == 0 && cut_at_start(bytes) && !begins_json(bytes) {
        return sink.reject("cut off at the start of the file");
    }
    sink.reject_json(bytes.get(from + dress..).unwrap_or_default(), dress);
}

/// The end of a message: what is left when a file begins in the middle of one.
fn cut_at_start(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    matches!(text.last(), Some(b'}' | b']')) && memchr::memmem::find(text, b"\":").is_some()
}

/// What stands before the JSON on a line.
struct Dress {
    length: usize,
    /// With whether its zone is told.
    ts: Option<(Ts, bool)>,
    side: Side,
    mark: u32,
}

/// Words before a message: decorations and who they say it is from.
const WORDS: &[(&str, Side, u32)] = &[
    ("data:", Side::Unsaid, EVENT_STREAM),
    ("-->", Side::Rightward(true), DECORATED),
    ("<--", Side::Rightward(false), DECORATED),
    (">>>", Side::Rightward(true), DECORATED),
    ("<<<", Side::Rightward(false), DECORATED),
    ("->", Side::Rightward(true), DECORATED),
    ("<-", Side::Rightward(false), DECORATED),
    (">>", Side::Rightward(true), DECORATED),
    ("<<", Side::Rightward(false), DECORATED),
    (">", Side::Rightward(true), DECORATED),
    ("<", Side::Rightward(false), DECORATED),
    ("\u{2192}", Side::Rightward(true), DECORATED),
    ("\u{2190}", Side::Rightward(false), DECORATED),
    ("client:", Side::Said(Direction::ClientToServer), DECORATED),
    ("server:", Side::Said(Direction::ServerToClient), DECORATED),
    ("c:", Side::Said(Direction::ClientToServer), DECORATED),
    ("s:", Side::Said(Direction::ServerToClient), DECORATED),
    ("c2s", Side::Said(Direction::ClientToServer), DECORATED),
    ("s2c", Side::Said(Direction::ServerToClient), DECORATED),
    // A kind of message, no sender: servers ask as well.
    ("request:", Side::Unsaid, DECORATED),
    ("response:", Side::Unsaid, DECORATED),
    ("out", Side::Inward(false), DECORATED),
    ("in", Side::Inward(true), DECORATED),
    (":", Side::Unsaid, 0),
];

/// What stands before the message of a line; `None` where the line holds no JSON behind known decorations.
fn dress(text: &[u8]) -> Option<Dress> {
    if begins_json(text) {
        return Some(Dress { length: 0, ts: None, side: Side::Unsaid, mark: 0 });
    }
    let mut dress = Dress { length: 0, ts: None, side: Side::Unsaid, mark: 0 };
    // A time, then at most three decorations (`> IN: {…}`).
    for _ in 0..5 {
        let rest = text.get(dress.length..)?;
        let rest = rest.trim_ascii_start();
        dress.length = text.len() - rest.len();
        if begins_json(rest) {
            return Some(dress);
        }
        if dress.ts.is_none()
            && let Some((ts, length, zoned)) = time::prefix(rest)
        {
            dress.ts = Some((ts, zoned));
            dress.mark |= TIMED;
            dress.length += length;
            continue;
        }
        let (word, side, mark) = WORDS
            .iter()
            .find(|(word, ..)| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes())))?;
        dress.length += word.len();
        dress.mark |= mark;
        if *side != Side::Unsaid {
            dress.side = *side;
        }
    }
    None
}
