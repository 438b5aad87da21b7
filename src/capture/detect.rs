//! Which format a file is in, by its content, and why.

use super::error::CaptureError;
use super::formats::jsonrpc::JsonRpc;
use super::formats::{Format, Formats};
use super::input::Input;
use super::nested;
use super::records::Recognised;
use super::sink::{Block, Decoded, FileFacts, Sides, Tally};
use crate::protocol::message::{Direction, Text, Ts};
use std::sync::Arc;

/// Bytes looked at first, and where one look does not suffice (a first line may be long), then at most.
const HEAD: usize = 64 << 10;
const LONGEST_HEAD: usize = 16 << 20;

/// What was found out about a file.
#[derive(Clone)]
pub struct Detection {
    pub format: &'static dyn Format,
    pub variant: Option<String>,
    /// For people: what speaks for the format.
    pub why: String,
    /// Time of the first message that has one.
    pub first_ts: Option<Ts>,
    pub sides: Sides,
    /// The server that its first lines name.
    pub server: Option<Text>,
}

/// Reads the beginning of a file and tells its format. Also returns what was read.
pub fn detect(
    input: &mut Input,
    facts: &FileFacts,
    name_hint: Option<Direction>,
    wanted: Option<&[&'static dyn Format]>,
    formats: &Formats,
) -> Result<(Detection, Vec<u8>), CaptureError> {
    let candidates: Vec<_> = wanted.map_or_else(|| formats.iter().collect(), <[_]>::to_vec);
    let path = || facts.path.to_string();
    let mut head = Vec::new();
    let mut size = HEAD;
    loop {
        let known = head.len();
        head.resize(size, 0);
        // An error comes again when the file is read; what stands before it is looked at now.
        let (count, failed) = match input.fill(head.get_mut(known..).unwrap_or_default()) {
            Ok(count) => (count, None),
            Err((count, error)) => (count, Some(error)),
        };
        head.truncate(known + count);
        let whole = head.len() < size;
        if let (true, Some(error)) = (head.is_empty(), failed) {
            return Err(error);
        }
        if head.is_empty() {
            return Err(CaptureError::Empty { path: path() });
        }
        if let Some(detection) = recognise(&head, whole, &candidates, wanted.is_some()) {
            return Ok((detection, head));
        }
        if known == 0 {
            refuse_known(&head, &facts.path)?;
        }
        match judge(&head, whole, facts, name_hint, &candidates, wanted.is_some()) {
            Some(detection) => return Ok((detection, head)),
            None if !whole && size < LONGEST_HEAD => size *= 16,
            None => return Err(unknown(&head, facts, formats)),
        }
    }
}

/// The format that is known without reading messages.
fn recognise(head: &[u8], whole: bool, candidates: &[&'static dyn Format], given: bool) -> Option<Detection> {
    let recognised = candidates.iter().find_map(|format| Some((format, format.recognise(head, whole)?)));
    // A format of records that was asked for says itself what is wrong with a file that is none.
    let asked = || candidates.iter().find(|_| given && candidates.iter().all(|format| format.is_of_records()));
    let nothing = Recognised { why: String::new(), variant: None, first_ts: None };
    recognised.or_else(|| Some((asked()?, nothing))).map(|(format, found)| {
        let why = if given { "given with --format".to_owned() } else { found.why };
        let (variant, first_ts) = (found.variant, found.first_ts);
        Detection { format: *format, variant, why, first_ts, sides: Sides::default(), server: None }
    })
}

/// One format's reading of the head.
struct Trial {
    format: &'static dyn Format,
    decoded: Decoded,
    /// Lines with messages in the format's own form, and where there are none, lines that show the format.
    own: u64,
    signs: u64,
}

fn judge(
    head: &[u8],
    whole: bool,
    facts: &FileFacts,
    name_hint: Option<Direction>,
    candidates: &[&'static dyn Format],
    given: bool,
) -> Option<Detection> {
    let lines = if whole { head } else { head.get(..memchr::memrchr(b'\n', head)? + 1)? };
    let block = Block { offset: 0, bytes: Arc::new(lines.to_vec()), used: lines.len(), first: true, last: whole };
    let mut best: Option<Trial> = None;
    for format in candidates.iter().copied().filter(|format| !format.is_of_records()) {
        let decoded = format.decode(&block, facts);
        // Messages in another form than the format's own say nothing for it.
        let own = decoded.tally.message_lines.saturating_sub(decoded.tally.nested);
        let signs = if own > 0 {
            0
        } else {
            lines.split(|byte| *byte == b'\n').filter(|line| format.is_sign(line)).count() as u64
        };
        let trial = Trial { format, decoded, own, signs };
        if trial.own > 0 && format.unmistakable() {
            best = Some(trial);
            break;
        }
        let rank = |trial: &Trial| (trial.own, trial.signs);
        if best.as_ref().is_none_or(|best| rank(&trial) > rank(best)) {
            best = Some(trial);
        }
    }
    let trial = best?;
    let tally = &trial.decoded.tally;
    if trial.own == 0 && trial.signs == 0 && (!given || !whole) {
        return None;
    }
    let why = why(&trial, given);
    Some(Detection {
        format: trial.format,
        variant: trial.format.variant(tally.marks),
        why,
        first_ts: trial.decoded.messages.iter().find_map(|message| message.ts),
        sides: sides(tally, name_hint),
        server: trial.decoded.servers.as_ref().map(|(first, _)| first.clone()),
    })
}

fn why(trial: &Trial, given: bool) -> String {
    let tally = &trial.decoded.tally;
    let shape = trial.format.looks_like();
    if given {
        return "given with --format".to_owned();
    }
    let lines = tally.lines - tally.blank - tally.continuation;
    let (count, what) = match trial.own {
        0 => (trial.signs, "of the log, none with a message"),
        count => (count, "with messages"),
    };
    format!("{count} of the first {lines} lines are lines {what}: {shape}")
}

/// What relative words mean, from messages that only one side sends. One in twenty may disagree.
pub fn sides(tally: &Tally, name_hint: Option<Direction>) -> Sides {
    let [inward, rightward, unsaid] = tally.evidence.map(|[c2s, s2c]| match (c2s, s2c) {
        (0, 0) => None,
        (c2s, s2c) if s2c * 20 <= c2s => Some(Direction::ClientToServer),
        (c2s, s2c) if c2s * 20 <= s2c => Some(Direction::ServerToClient),
        _ => None,
    });
    let mixed = unsaid.is_none() && tally.evidence[2] != [0, 0];
    let name = name_hint.filter(|hint| !mixed && unsaid.is_none_or(|unsaid| unsaid == *hint));
    Sides { inward, rightward, name }
}

/// Formats that are known by their first bytes and cannot be read.
fn refuse_known(head: &[u8], path: &str) -> Result<(), CaptureError> {
    if head.starts_with(b"SQLite format 3\0") {
        let (what, advice) = ("an SQLite database", "export its messages as JSON lines");
        return Err(CaptureError::Unsupported { path: path.to_owned(), what, advice });
    }
    Ok(())
}

fn unknown(head: &[u8], facts: &FileFacts, formats: &Formats) -> CaptureError {
    let path = facts.path.to_string();
    let sample = head.get(..4096).unwrap_or(head);
    // Padding after a crash is zeros as well, but not among other control characters.
    let control = sample.iter().filter(|byte| **byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b)).count();
    let text = std::str::from_utf8(sample).is_ok()
        || String::from_utf8_lossy(sample).matches('\u{fffd}').count() * 20 < sample.len();
    if control * 20 > sample.len() || !text {
        return CaptureError::Binary { path };
    }
    let lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    let mut detail = format!("none of the first {lines} lines holds a message in a form that is known");
    if let Some(line) = nested_batch(head, facts) {
        detail.push_str(&format!("; line {line} is {}", nested::REASON));
    }
    CaptureError::UnknownFormat { path, detail, known: formats.names() }
}

/// The first line that is nothing but a batch within a batch.
fn nested_batch(head: &[u8], facts: &FileFacts) -> Option<u64> {
    let block = Block { offset: 0, bytes: Arc::new(head.to_vec()), used: head.len(), first: true, last: false };
    let decoded = JsonRpc.decode(&block, facts);
    decoded.rejected.iter().find(|rejected| rejected.reason == nested::REASON).map(|rejected| rejected.line)
}
