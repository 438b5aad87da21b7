//! `ingest`: captures → a frames folder. `audit` takes the same way, into a folder that it throws away.

use super::Exit;
use super::args::{IngestArgs, ReadArgs};
use super::error::CliError;
use super::plan::{self, Outputs, Settings};
use super::progress::{Voice, watch};
use crate::audit::wording::plural;
use crate::capture::formats::Formats;
use crate::capture::{self, CaptureError, Consumed, EMPTY, FileInfo, ReadOptions, Reading, STDIN};
use crate::exchange::{Dropped, Exchange};
use crate::frames::SourceRecord;
use crate::frames::append::Append;
use crate::frames::folder::Folder;
use crate::protocol::message::{Text, Ts};
use crate::report::InputError;
use crate::schema::{FileRow, RejectedRow};
use ahash::AHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What an ingest leaves behind.
pub struct Ingested {
    pub folder: Folder,
    pub errors: Vec<InputError>,
    pub files: Vec<FileRow>,
    /// Records that were rejected, whole or in part.
    pub rejected: u64,
}

pub fn run(args: &IngestArgs, voice: Voice) -> Result<Exit, CliError> {
    let key = args.hash_key_file.as_deref().map(plan::hash_key).transpose()?;
    let formats = Settings::read(args.read.expect.as_deref())?.formats;
    let folder = Folder::open_or_create(&args.frames, key)?;
    if let Some(key) = key
        && key != folder.hash_key()?
    {
        return Err(CliError::usage(format!(
            "--hash-key-file: {} has another key already; give the file to `mcptally audit` instead",
            args.frames.display()
        )));
    }
    let Ingested { files, errors, folder, rejected } =
        into(folder, &args.paths, &args.read, formats, &Outputs::default(), voice)?;
    let messages: u64 = files.iter().map(|file| file.messages).sum();
    voice.remark(format!(
        "{}: {}, {}, {} added; see `mcptally audit {}`",
        folder.root.display(),
        plural(files.len() as u64, "file"),
        plural(messages, "message"),
        plural(rejected, "rejected record"),
        folder.root.display()
    ));
    let complete = errors.is_empty() && rejected == 0;
    Ok(if complete || args.read.lenient { Exit::Done } else { Exit::Incomplete })
}

/// Reads captures, in one of `formats` each, into a frames folder. `outputs` is what the run will write: no capture may be among it.
///
/// # Errors
/// Only what makes the whole run impossible; a file that cannot be read is in [`Ingested::errors`].
pub fn into(
    folder: Folder,
    paths: &[String],
    read: &ReadArgs,
    formats: Formats,
    outputs: &Outputs,
    voice: Voice,
) -> Result<Ingested, CliError> {
    let known = Known::of(&folder);
    let options = ReadOptions {
        format: read.format.clone(),
        session_key: read.session_key.clone(),
        zone: read.timezone.clone(),
        formats,
        resume: known.resume(),
    };
    let (mut sources, mut errors) = capture::discover(paths, &options);
    // A file that was read to its end must not be counted again; one that was replaced is read from its beginning.
    let mut repeated = Vec::new();
    let mut refused = None;
    sources.settle(|info, path| {
        // An empty file among them may be the empty list of an earlier report.
        if info.format != EMPTY {
            refused = refused.take().or_else(|| outputs.refuse(path));
        }
        let reading = known.reading(info, path);
        if reading == Reading::NotAtAll {
            repeated.push(info.path.clone());
        }
        reading
    });
    if let Some(refused) = refused {
        return Err(refused);
    }
    for path in &repeated {
        voice.remark(format!("{path}: was read into this folder before; nothing in it is new"));
    }
    if repeated.is_empty() && sources.iter().all(|info| info.format == EMPTY) {
        return Err(CliError::Nothing(errors.iter().map(ToString::to_string).collect()));
    }
    for note in &sources.notes {
        voice.detail(note);
    }

    let mut exchange = match folder.state()? {
        Some(state) => Exchange::resume(&state).map_err(|error| {
            CliError::Failed(format!("{}: {error}; ingest the captures again into a new folder", folder.root.display()))
        })?,
        None => Exchange::new(),
    };
    let append = RefCell::new(Append::begin(folder)?);
    let progress = Arc::new(AtomicU64::new(0));
    let watching = watch(voice.bar(Some(sources.disk_bytes()).filter(|bytes| *bytes > 0)), &progress);
    let mut rejected = Rejections::default();
    let mut outcome = sources.read(
        |message, info| exchange.message(message, &info.path, &mut append.borrow_mut().closed),
        |row| {
            rejected.add(&row);
            append.borrow_mut().closed.rejected(&row);
        },
        &progress,
    );
    drop(watching);
    rejected.tell(voice);
    let mut append = append.into_inner();
    note_older(&mut outcome.files, append.last_ts(), voice);
    errors.append(&mut outcome.errors);
    let mut snapshot = exchange.finish(&mut append.open);
    settle_duplicates(&mut outcome.files, std::mem::take(&mut snapshot.duplicates));
    let state = exchange
        .save()
        .map_err(|error| CliError::Failed(format!("the state of the exchange cannot be saved: {error}")))?;
    let records = outcome.consumed.iter().filter_map(record).collect();
    let folder = append.finish(&snapshot, &outcome.files, &state, records)?;
    for error in &errors {
        voice.problem(error);
    }
    errors.retain(|error| !error.is_warning());
    let errors = errors.iter().map(input_error).collect();
    Ok(Ingested { folder, errors, files: outcome.files, rejected: rejected.count() })
}

/// Questions and answers meet in the order in which they are ingested. Logs from before what a folder holds are read
/// all the same, and the report says so: sessions and declarations are sure only when all logs are read in one run or
/// in the order of their times.
fn note_older(files: &mut [FileRow], last: Option<Ts>, voice: Voice) {
    let Some(last) = last else { return };
    for file in files.iter_mut().filter(|file| file.first_ts.is_some_and(|first| first < last)) {
        voice.problem(format!(
            "{}: begins before what the folder already holds; to be sure of sessions and declarations, ingest all \
             captures into a new folder in one run",
            file.file
        ));
        file.notes.push("begins before what an earlier ingest read: sessions and declarations are not sure".into());
    }
}

/// The first record of each file that could not be read, and how many there are.
#[derive(Default)]
struct Rejections(BTreeMap<Text, (u64, Text, u64)>);

impl Rejections {
    fn add(&mut self, row: &RejectedRow) {
        let first = self.0.entry(row.file.clone()).or_insert_with(|| (row.position, row.reason.clone(), 0));
        if row.position < first.0 {
            (first.0, first.1) = (row.position, row.reason.clone());
        }
        first.2 += 1;
    }

    fn count(&self) -> u64 {
        self.0.values().map(|(.., count)| count).sum()
    }

    fn tell(&self, voice: Voice) {
        for (file, (line, reason, count)) in &self.0 {
            let records = plural(*count, "record");
            voice.remark(format!(
                "{file}:{line}: {reason}; {records} could not be read: `mcptally audit --out DIR` lists all in \
                 rejected.ndjson, --format names another format, --lenient accepts the loss"
            ));
        }
    }
}

fn input_error(error: &CaptureError) -> InputError {
    InputError { file: error.path().unwrap_or("(command line)").into(), message: error.to_string() }
}

fn record(consumed: &Consumed) -> Option<SourceRecord> {
    // Standard input has no name under which it could come again.
    if &*consumed.shown == STDIN {
        return None;
    }
    let path = std::fs::canonicalize(&consumed.path).ok()?;
    Some(SourceRecord {
        path: path.display().to_string(),
        head: format!("{:016x}", consumed.fingerprint),
        consumed: consumed.offset,
        lines: consumed.line,
        resumable: consumed.resumable,
    })
}

/// The sources a folder holds already.
struct Known {
    sources: AHashMap<PathBuf, SourceRecord>,
}

impl Known {
    fn of(folder: &Folder) -> Self {
        let sources =
            folder.manifest.sources.iter().map(|source| (PathBuf::from(&source.path), source.clone())).collect();
        Self { sources }
    }

    fn resume(&self) -> std::collections::HashMap<PathBuf, (u64, u64)> {
        let resumable = self.sources.iter().filter(|(_, source)| source.resumable);
        resumable.map(|(path, source)| (path.clone(), (source.consumed, source.lines))).collect()
    }

    /// How a source is to be read, given what was read of it before.
    fn reading(&self, info: &FileInfo, path: &Path) -> Reading {
        let Some(real) = path.canonicalize().ok().filter(|_| &*info.path != STDIN) else { return Reading::AsPlanned };
        let Some(source) = self.sources.get(&real) else { return Reading::AsPlanned };
        let head = capture::fingerprint(&real, source.consumed).unwrap_or_default();
        if source.head != format!("{head:016x}") {
            Reading::FromTheBeginning
        } else if !source.resumable || source.consumed >= info.disk_bytes {
            Reading::NotAtAll
        } else {
            Reading::AsPlanned
        }
    }
}

/// Exact duplicates are counted as such and not as messages: a record counts as one where its first message was dropped.
fn settle_duplicates(files: &mut [FileRow], dropped: Vec<(Text, Dropped)>) {
    let dropped: AHashMap<Text, Dropped> = dropped.into_iter().collect();
    for file in files {
        let Some(dropped) = dropped.get(&file.file) else { continue };
        // Records that share a number in their file are one to its ledger.
        file.duplicates = dropped.records.min(file.message_lines);
        file.message_lines -= file.duplicates;
        file.messages = file.messages.saturating_sub(dropped.messages);
    }
}
