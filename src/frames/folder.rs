//! A frames folder: what lies in it, and how a run's parts become part of it.
//!
//! ```text
//! DIR/manifest.json                   version, hash key, sources already read, every other file with size and hash
//! DIR/state-00002.msgpack             what was open when the last run (here the second) ended
//! DIR/<frame>/part-00001.parquet      rows that no later traffic can change, one part a run
//! DIR/<frame>/open-00002.parquet      rows that later traffic may still close; each run writes its own
//! DIR/<frame>/snapshot-00002.parquet  frames that each run writes whole (sessions, messages, declarations, catalogs)
//! ```
//!
//! No file is written twice, and the manifest is replaced last, by a rename: a run that is interrupted leaves the
//! folder as it was.

use super::manifest::{self, MANIFEST, Manifest, SourceRecord, VERSION};
use super::part::{Hashing, PartRecord};
use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const STAGING: &str = ".staging";
const LOCK: &str = ".lock";

/// What can go wrong with a frames folder.
#[derive(Debug, thiserror::Error)]
pub enum FramesError {
    #[error("{path}: cannot {action}: {source}")]
    Io { path: String, action: &'static str, source: std::io::Error },
    #[error(
        "{path}: this frames folder was written as {found}, this program reads {VERSION}; ingest the captures again into a new folder"
    )]
    OtherVersion { path: String, found: String },
    #[error("{path}: {what}; ingest the captures again into a new folder")]
    Damaged { path: String, what: String },
    #[error("{path}: the folder exists and is no frames folder (it has no manifest.json); name a new or empty folder")]
    NotFrames { path: String },
    #[error(
        "{path}: the first ingest into this folder was interrupted and nothing of it is kept; run `mcptally ingest CAPTURE... --frames {path}` again"
    )]
    Unfinished { path: String },
    #[error("{path}: another ingest is writing into this folder, or has just done so; run this one again after it")]
    Busy { path: String },
    #[error("{path}: cannot write Parquet: {source}")]
    Write { path: String, source: parquet::errors::ParquetError },
    #[error("{path}: cannot build a record batch: {source}")]
    Batch { path: String, source: arrow::error::ArrowError },
    #[error("{path}: cannot read Parquet: {source}")]
    Read { path: String, source: Box<polars::prelude::PolarsError> },
}

impl FramesError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { path, action, source }
    }
}

/// An opened frames folder.
#[derive(Debug)]
pub struct Folder {
    pub root: PathBuf,
    pub manifest: Manifest,
}

impl Folder {
    /// Whether a path given by a user is a frames folder.
    pub fn is_frames(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    /// Opens a frames folder that must exist.
    pub fn open(root: &Path) -> Result<Self, FramesError> {
        Ok(Self { root: root.to_path_buf(), manifest: Manifest::read(root)? })
    }

    /// Opens a frames folder, or a new one where nothing (or an empty folder) is. Nothing is written before a run
    /// begins. The key is for folders that hold no run yet.
    pub fn open_or_create(root: &Path, hash_key: Option<[u8; 32]>) -> Result<Self, FramesError> {
        if Self::is_frames(root) {
            let mut folder = Self::open(root)?;
            if let (0, Some(key)) = (folder.manifest.ingests, hash_key) {
                folder.manifest.hash_key = manifest::hex(key);
            }
            return Ok(folder);
        }
        if root.exists() {
            for entry in fs::read_dir(root).map_err(FramesError::io(root, "read the folder"))? {
                let entry = entry.map_err(FramesError::io(root, "read the folder"))?;
                if ![manifest::UNFINISHED, LOCK].iter().any(|ours| entry.file_name() == *ours) {
                    return Err(FramesError::NotFrames { path: root.display().to_string() });
                }
            }
        }
        Ok(Self { root: root.to_path_buf(), manifest: Manifest::new(hash_key.unwrap_or_else(fresh_key)) })
    }

    /// Key of the hashes that reports print.
    pub fn hash_key(&self) -> Result<[u8; 32], FramesError> {
        blake3::Hash::from_hex(self.manifest.hash_key.as_bytes()).map(|hash| *hash.as_bytes()).map_err(|error| {
            FramesError::Damaged {
                path: self.root.display().to_string(),
                what: format!("the manifest's hash key cannot be read ({error})"),
            }
        })
    }

    /// State of the exchange when the last run ended; `None` for a new folder.
    pub fn state(&self) -> Result<Option<Vec<u8>>, FramesError> {
        let Some(state) = &self.manifest.state else { return Ok(None) };
        let path = self.checked(state)?;
        fs::read(&path).map(Some).map_err(FramesError::io(&path, "read"))
    }

    /// Path of a file of the folder that is as it was written.
    pub(super) fn checked(&self, part: &PartRecord) -> Result<PathBuf, FramesError> {
        part.check(&self.root)?;
        Ok(self.root.join(&part.path))
    }

    /// Where a run writes before it is known to have succeeded. Makes a new folder, and says in its manifest that no run
    /// has ended.
    ///
    /// # Errors
    /// Where another run writes into the folder, or did so since it was opened.
    pub(super) fn stage(&self) -> Result<Staging, FramesError> {
        let made = !self.root.exists();
        fs::create_dir_all(&self.root).map_err(FramesError::io(&self.root, "create the folder"))?;
        let path = self.root.join(LOCK);
        let lock = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(FramesError::io(&path, "write"))?;
        let busy = || FramesError::Busy { path: self.root.display().to_string() };
        match lock.try_lock() {
            // Some network file systems have no locks; the manifest still tells.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(busy()),
        }
        let ingests = if Self::is_frames(&self.root) { Manifest::read(&self.root)?.ingests } else { 0 };
        if ingests != self.manifest.ingests {
            return Err(busy());
        }
        if ingests == 0 {
            self.manifest.write(&self.root)?;
        }
        self.sweep()?;
        let path = self.root.join(STAGING);
        fs::create_dir(&path).map_err(FramesError::io(&path, "create the folder"))?;
        Ok(Staging { path, root: self.root.clone(), made, new: ingests == 0, _lock: lock })
    }

    /// Moves the staged files into place and replaces the manifest: from then on they are part of the folder.
    pub(super) fn commit(&mut self, staging: Staging, run: Run) -> Result<(), FramesError> {
        let mut manifest = self.manifest.clone();
        manifest.ingests += 1;
        manifest.tool = env!("CARGO_PKG_VERSION").into();
        let name = format!("state-{:05}.msgpack", manifest.ingests);
        let path = staging.path.join(&name);
        let mut file = Hashing::create(&path)?;
        file.write_all(run.state).map_err(FramesError::io(&path, "write"))?;
        let state = file.record(name);

        manifest.parts.retain(|part| part.names().is_some_and(|(_, name)| name.starts_with("part-")));
        for part in run.parts.iter().chain([&state]) {
            let to = self.root.join(&part.path);
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).map_err(FramesError::io(folder, "create the folder"))?;
            }
            fs::rename(staging.file(&part.path), &to).map_err(FramesError::io(&to, "move into place"))?;
        }
        manifest.state = Some(state);
        manifest.parts.extend(run.parts);
        for source in run.sources {
            manifest.sources.retain(|known| known.path != source.path);
            manifest.sources.push(source);
        }
        manifest.sources.sort_by(|a, b| a.path.cmp(&b.path));
        manifest.last_ts = manifest.last_ts.max(run.last_ts);
        manifest.write(&self.root)?;
        self.manifest = manifest;
        staging.done();
        self.sweep()
    }

    /// Removes what the manifest does not list: what the run before left open, and the remains of interrupted runs.
    fn sweep(&self) -> Result<(), FramesError> {
        let staging = self.root.join(STAGING);
        if staging.exists() {
            fs::remove_dir_all(&staging).map_err(FramesError::io(&staging, "remove the remains of a run"))?;
        }
        let listed = |path: &str| self.manifest.parts.iter().chain(&self.manifest.state).any(|part| part.path == path);
        for (name, path) in entries(&self.root)? {
            if is_numbered(&name, &["state-"], ".msgpack") && !listed(&name) {
                fs::remove_file(&path).map_err(FramesError::io(&path, "remove the remains of a run"))?;
            }
            // What else a person put beside the frames is not ours to touch.
            if !super::FRAMES.contains(&name.as_str()) || !path.is_dir() {
                continue;
            }
            for (part, path) in entries(&path)? {
                let ours = is_numbered(&part, &["part-", "open-", "snapshot-"], ".parquet");
                if ours && !listed(&format!("{name}/{part}")) {
                    fs::remove_file(&path).map_err(FramesError::io(&path, "remove the remains of a run"))?;
                }
            }
        }
        Ok(())
    }
}

/// What a run adds.
pub(super) struct Run<'a> {
    pub parts: Vec<PartRecord>,
    pub state: &'a [u8],
    pub sources: Vec<SourceRecord>,
    pub last_ts: Option<i64>,
}

/// A run's own corner of the folder. One that is dropped before the run is done leaves the folder as it was.
pub(super) struct Staging {
    path: PathBuf,
    root: PathBuf,
    /// The folder itself was made for this run.
    made: bool,
    /// No run has ended yet.
    new: bool,
    _lock: File,
}

impl Staging {
    /// Where a file of the folder is written first.
    pub fn file(&self, path: &str) -> PathBuf {
        self.path.join(path.replace('/', "@"))
    }

    fn done(mut self) {
        (self.made, self.new) = (false, false);
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A failure here is the second one: the first is being reported, and the next run sweeps again.
        let _ = fs::remove_dir_all(&self.path);
        if self.new && !super::FRAMES.iter().any(|frame| self.root.join(frame).exists()) {
            let _ = fs::remove_file(self.root.join(MANIFEST));
            let _ = fs::remove_file(self.root.join(LOCK));
        }
        if self.made {
            let _ = fs::remove_dir(&self.root);
        }
    }
}

/// Names and paths in a folder. Names that are not UTF-8 are none of ours.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, FramesError> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(FramesError::io(folder, "read the folder"))? {
        let entry = entry.map_err(FramesError::io(folder, "read the folder"))?;
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, entry.path()));
        }
    }
    Ok(entries)
}

/// Whether a file was named by a run: one of the prefixes, digits, the suffix.
fn is_numbered(name: &str, prefixes: &[&str], suffix: &str) -> bool {
    prefixes
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix)?.strip_suffix(suffix))
        .any(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A key nobody can guess: two runs of the standard library's random hasher seeds, and the time.
fn fresh_key() -> [u8; 32] {
    use std::hash::{BuildHasher, RandomState};
    let mut hasher = blake3::Hasher::new();
    for round in 0..4u8 {
        hasher.update(&RandomState::new().hash_one(round).to_le_bytes());
    }
    hasher.update(&jiff::Timestamp::now().as_nanosecond().to_le_bytes());
    *hasher.finalize().as_bytes()
}
