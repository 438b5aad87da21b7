//! The only room that opens captures: from paths to messages in reading order.

mod blocks;
pub mod described;
mod detect;
mod dress;
mod dump;
mod elements;
pub mod error;
mod feed;
pub mod formats;
mod http;
mod input;
mod literal;
mod merge;
mod nested;
mod open;
mod order;
mod packets;
mod records;
mod repair;
mod rich;
mod rpc;
mod settle;
mod sink;
mod skim;
mod tally;
mod time;

pub use error::CaptureError;
pub use merge::{Consumed, ReadOutcome};

use crate::protocol::message::{Text, Ts};
use detect::Detection;
use formats::{Format, Formats};
use input::{Encoding, Input, Packing};
use jiff::tz::TimeZone;
use open::Found;
pub use open::STDIN;
use sink::FileFacts;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Bytes at the beginning of a file whose hash tells whether it is still the same file.
const FINGERPRINT_BYTES: usize = 4096;

/// Format of a file without content.
pub const EMPTY: &str = "empty";

/// How captures are to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format of all files, instead of what their content shows.
    pub format: Option<String>,
    /// A member of the envelope, or of `_meta`, that names the session.
    pub session_key: Option<String>,
    /// The zone of times that name none, instead of UTC.
    pub zone: Option<TimeZone>,
    /// The formats to choose from.
    pub formats: Formats,
    /// Where to go on in files that were read before, by path (as given or canonical): byte offset, and lines before it.
    /// Plain files only.
    pub resume: HashMap<PathBuf, (u64, u64)>,
}

/// What is known of a file before it is read.
#[derive(Debug, Clone)]
pub struct FileInfo {
    /// Index in the run's list of sources, as in `Place::file`.
    pub index: u32,
    /// Path as given.
    pub path: Text,
    pub format: &'static str,
    pub variant: Option<String>,
    /// What speaks for the format.
    pub why: String,
    /// Time of the first message that has one.
    pub first_ts: Option<Ts>,
    /// Size on disk; 0 for pipes.
    pub disk_bytes: u64,
    /// `plain`, `gzip` or `zstd`.
    pub packing: &'static str,
}

/// A file that was opened and recognised, closed again (pipes stay open).
struct Source {
    info: FileInfo,
    facts: FileFacts,
    /// `None` for an empty file.
    format: Option<&'static dyn Format>,
    path: PathBuf,
    /// Remarks for the reader.
    notes: Vec<Text>,
    resume: (u64, u64),
    /// Offsets in the text are offsets on disk.
    resumable: bool,
    /// A pipe cannot be opened twice.
    open: Option<Input>,
}

/// How a source is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// From where an earlier run stopped, or from the beginning.
    AsPlanned,
    FromTheBeginning,
    NotAtAll,
}

/// The files of a run, in natural order of their paths.
pub struct Sources {
    sources: Vec<Source>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Sources {
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// The files, in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = &FileInfo> {
        self.sources.iter().map(|source| &source.info)
    }

    /// Decides on each source, by what is known of it and its real path, without opening any again: a pipe can be read
    /// but once.
    pub fn settle(&mut self, mut decide: impl FnMut(&FileInfo, &Path) -> Reading) {
        self.sources.retain_mut(|source| match decide(&source.info, &source.path) {
            Reading::AsPlanned => true,
            Reading::FromTheBeginning => {
                source.resume = (0, 0);
                true
            }
            Reading::NotAtAll => false,
        });
        for (index, source) in self.sources.iter_mut().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            (source.info.index, source.facts.index) = (index, index);
        }
    }

    /// Bytes on disk that will be read.
    pub fn disk_bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.info.disk_bytes.saturating_sub(source.resume.0)).sum()
    }
}

/// Lists what the arguments name, opens each file and recognises its format. What cannot be read is an error of its
/// own and does not stop the others.
pub fn discover(arguments: &[String], options: &ReadOptions) -> (Sources, Vec<CaptureError>) {
    let mut listing = open::list(arguments);
    let mut errors = std::mem::take(&mut listing.errors);
    let mut notes = std::mem::take(&mut listing.notes);
    let wanted = options.format.as_deref().map(|name| options.formats.named(name));
    if let (Some([]), Some(name)) = (wanted.as_deref(), &options.format) {
        errors.push(CaptureError::NoSuchFormat { name: name.clone(), known: options.formats.names() });
        return (Sources { sources: Vec::new(), notes }, errors);
    }
    listing.files.sort_by(|a, b| order::natural(&a.shown, &b.shown));
    let mut sources = Vec::new();
    let mut left_out: HashMap<String, Vec<String>> = HashMap::new();
    let mut held: HashMap<String, usize> = HashMap::new();
    for found in &listing.files {
        let folder = found.by.clone();
        match recognise(found, options, wanted.as_deref(), sources.len()) {
            Ok((source, warning)) => {
                errors.extend(warning);
                if let (Some(folder), Some(_)) = (folder, source.format) {
                    *held.entry(folder).or_default() += 1;
                }
                sources.push(source);
            }
            // Among a folder's files there are others than captures; only a file that was named has to be one.
            Err(CaptureError::UnknownFormat { path, .. } | CaptureError::Binary { path })
                if listing.folders.iter().any(|known| Some(&known.path) == found.by.as_ref()) =>
            {
                left_out.entry(folder.unwrap_or_default()).or_default().push(path);
            }
            Err(error) => errors.push(error),
        }
    }
    for folder in &listing.folders {
        let skipped = left_out.remove(&folder.path).unwrap_or_default();
        if !held.contains_key(&folder.path) {
            errors.push(CaptureError::NothingInFolder {
                path: folder.path.clone(),
                looked_at: folder.files,
                skipped: some_of(&skipped, ", none of a known format: "),
            });
        } else if !skipped.is_empty() {
            let count = skipped.len();
            notes.push(format!("{}: {count} files are no captures{}", folder.path, some_of(&skipped, ": ")));
        }
    }
    (Sources { sources, notes }, errors)
}

/// A few names, and how many more there are.
fn some_of(paths: &[String], before: &str) -> String {
    const SHOWN: usize = 5;
    let Some(shown) = paths.get(..SHOWN.min(paths.len())).filter(|shown| !shown.is_empty()) else {
        return String::new();
    };
    let more = paths.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{before}{}{more}", shown.join(", "))
}

/// Opens a file and tells its format. An empty file is a source without format, and a warning.
fn recognise(
    found: &Found,
    options: &ReadOptions,
    wanted: Option<&[&'static dyn Format]>,
    index: usize,
) -> Result<(Source, Option<CaptureError>), CaptureError> {
    let shown = found.shown.as_str();
    let progress = Arc::new(AtomicU64::new(0));
    let pipe = shown == STDIN || !found.path.is_file();
    let unreadable = |source| CaptureError::Unreadable { path: found.shown.clone(), source };
    let disk_bytes = if pipe { 0 } else { std::fs::metadata(&found.path).map_err(unreadable)?.len() };
    let mut input = if shown == STDIN {
        Input::new(std::io::stdin(), shown, &progress)?
    } else {
        Input::open(&found.path, shown, 0, &progress)?
    };
    let path: Text = shown.into();
    let mut facts = FileFacts {
        index: u32::try_from(index).unwrap_or(u32::MAX),
        path: path.clone(),
        stream: order::stream(shown).into(),
        server: order::server(shown).map(Text::from),
        combined: order::is_combined(shown),
        session_key: options.session_key.as_deref().map(Text::from),
        zone: options.zone.clone(),
        ..FileFacts::default()
    };
    let (detection, head, warning) =
        match detect::detect(&mut input, &facts, order::hint(shown), wanted, &options.formats) {
            Ok((detection, head)) => (Some(detection), head, None),
            Err(error @ CaptureError::Empty { .. }) => (None, Vec::new(), Some(error)),
            Err(error) => return Err(error),
        };
    // Records have no line from which reading could go on, nor has what depends on lines before.
    let of_records = detection
        .as_ref()
        .is_some_and(|detection| detection.format.is_of_records() || detection.format.reads_in_order());
    let plain = input.packing == Packing::Plain && input.encoding != Encoding::Utf16 && !of_records;
    let known = options.resume.get(&found.path).or_else(|| options.resume.get(&found.path.canonicalize().ok()?));
    let resume = known.copied().filter(|(offset, _)| plain && !pipe && *offset <= disk_bytes);
    let notes = notes(&input, detection.as_ref());
    let packing = input.packing.name();
    facts.sides = detection.as_ref().map(|detection| detection.sides).unwrap_or_default();
    // Lines before the first that names the server are of the same.
    facts.server = facts.server.or_else(|| detection.as_ref()?.server.clone());
    let info = FileInfo {
        index: facts.index,
        path,
        format: detection.as_ref().map_or(EMPTY, |detection| detection.format.name()),
        variant: detection.as_ref().and_then(|detection| detection.variant.clone()),
        why: detection.as_ref().map_or_else(|| "the file is empty".to_owned(), |detection| detection.why.clone()),
        first_ts: detection.as_ref().and_then(|detection| detection.first_ts),
        disk_bytes,
        packing,
    };
    let source = Source {
        info,
        facts,
        format: detection.map(|detection| detection.format),
        path: found.path.clone(),
        notes,
        resume: resume.unwrap_or_default(),
        resumable: plain && !pipe,
        open: pipe.then(|| input.push_back(head)),
    };
    Ok((source, warning))
}

/// A description for a JSON log whose format is not known.
pub struct Suggestion {
    /// The path as people know it.
    pub path: String,
    /// A `[formats.NAME]` that reads it.
    pub text: String,
}

/// Suggests descriptions for those of the files that are in no known format and hold messages in JSON. Pipes are left
/// out: what was read of them is gone.
pub fn suggest(arguments: &[String], options: &ReadOptions) -> Vec<Suggestion> {
    /// Bytes of a file that are looked at.
    const LOOKED_AT: usize = 16 << 20;
    let mut suggestions = Vec::new();
    let mut files = open::list(arguments).files;
    files.sort_by(|a, b| order::natural(&a.shown, &b.shown));
    for found in files.into_iter().filter(|found| found.path.is_file()) {
        let facts = FileFacts { path: found.shown.as_str().into(), ..FileFacts::default() };
        let open = || Input::open(&found.path, &found.shown, 0, &Arc::default()).ok();
        let Some(mut input) = open() else { continue };
        if !matches!(
            detect::detect(&mut input, &facts, None, None, &options.formats),
            Err(CaptureError::UnknownFormat { .. })
        ) {
            continue;
        }
        let Some(mut input) = open() else { continue };
        let mut head = vec![0; LOOKED_AT];
        let count = input.fill(&mut head).unwrap_or_else(|(count, _)| count);
        head.truncate(count);
        let name = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(text) = described::suggest(&head, count < LOOKED_AT, &name) {
            suggestions.push(Suggestion { path: found.shown, text });
        }
    }
    suggestions
}

/// Hash of the beginning of a file on disk, at most 4 KiB and at most `up_to` bytes: a file that has grown since `up_to`
/// bytes of it were read still has it, one that was replaced does not.
pub fn fingerprint(path: &Path, up_to: u64) -> std::io::Result<u64> {
    let mut head = Vec::with_capacity(FINGERPRINT_BYTES);
    File::open(path)?.take(up_to.min(FINGERPRINT_BYTES as u64)).read_to_end(&mut head)?;
    Ok(crate::protocol::json::digest(&head))
}

fn notes(input: &Input, detection: Option<&Detection>) -> Vec<Text> {
    use crate::protocol::message::Direction::ClientToServer;
    let mut notes: Vec<Text> = Vec::new();
    match input.encoding {
        Encoding::Utf8 => {}
        Encoding::Utf8Marked => notes.push("begins with a byte order mark".into()),
        Encoding::Utf16 => notes.push("UTF-16, read as UTF-8".into()),
    }
    if input.packing != Packing::Plain {
        notes.push(format!("{}-compressed", input.packing.name()).into());
    }
    let Some(sides) = detection.map(|detection| detection.sides) else { return notes };
    if let Some(direction) = sides.inward {
        let who = if direction == ClientToServer { "the client" } else { "the server" };
        notes.push(format!("`in` and its kin mean: sent by {who}, as messages show that only one side sends").into());
    }
    if let Some(direction) = sides.name {
        let who = if direction == ClientToServer { "the client" } else { "the server" };
        notes.push(format!("its name says: sent by {who}, used where the messages do not tell").into());
    }
    notes
}

#[cfg(test)]
mod tests;
