//! A frames folder: what lies in it, its manifest, and how a run's parts become part of it.
//!
//! ```text
//! DIR/manifest.json               version, hash key, sources already read
//! DIR/state.msgpack               what was open when the last ingest ended
//! DIR/<frame>/part-00001.parquet  rows that no later traffic can change, one part an ingest
//! DIR/<frame>/open.parquet        rows that later traffic may still close; rewritten by every ingest
//! DIR/<frame>/snapshot.parquet    frames that are rewritten whole (sessions, messages, declarations, catalogs)
//! ```

use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Version of the folder's layout and columns. Another version is refused, never guessed at.
pub const VERSION: &str = "mcptally.frames/1";

const MANIFEST: &str = "manifest.json";
const STATE: &str = "state.msgpack";
const STAGING: &str = ".staging";

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

/// A source that was read into the folder, so that it is not counted twice and a grown file is read on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecord {
    pub path: String,
    /// Hash of the first 4 KiB.
    pub head: String,
    /// Bytes read, up to the end of the last complete line.
    pub consumed: u64,
    /// Lines read.
    pub lines: u64,
    /// Reading can go on at `consumed` when the file has grown (a compressed file must be read whole).
    pub resumable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub version: String,
    /// Version of the program that wrote last.
    pub tool: String,
    /// Key of the hashes that reports print, 64 hex digits.
    pub hash_key: String,
    pub ingests: u32,
    pub sources: Vec<SourceRecord>,
    /// Latest time of what was read, in microseconds since the epoch: earlier logs come out of order.
    pub last_ts: Option<i64>,
    /// Exact duplicates dropped by all runs, by file.
    pub duplicates: Vec<(String, u64)>,
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
        let path = root.join(MANIFEST);
        let text = fs::read(&path).map_err(FramesError::io(&path, "read"))?;
        let damaged = |what: String| FramesError::Damaged { path: path.display().to_string(), what };
        #[derive(Deserialize)]
        struct Version {
            version: String,
        }
        let version: Version =
            serde_json::from_slice(&text).map_err(|error| damaged(format!("the manifest cannot be read ({error})")))?;
        if version.version != VERSION {
            return Err(FramesError::OtherVersion { path: root.display().to_string(), found: version.version });
        }
        let manifest =
            serde_json::from_slice(&text).map_err(|error| damaged(format!("the manifest cannot be read ({error})")))?;
        Ok(Self { root: root.to_path_buf(), manifest })
    }

    /// Opens a frames folder, or makes a new one where nothing (or an empty folder) is.
    pub fn open_or_create(root: &Path, hash_key: Option<[u8; 32]>) -> Result<Self, FramesError> {
        if Self::is_frames(root) {
            return Self::open(root);
        }
        fs::create_dir_all(root).map_err(FramesError::io(root, "create the folder"))?;
        let used = fs::read_dir(root).map_err(FramesError::io(root, "read the folder"))?.next().is_some();
        if used {
            return Err(FramesError::NotFrames { path: root.display().to_string() });
        }
        let key = hash_key.unwrap_or_else(fresh_key);
        let manifest = Manifest {
            version: VERSION.into(),
            tool: env!("CARGO_PKG_VERSION").into(),
            hash_key: blake3::Hash::from_bytes(key).to_hex().to_string(),
            ingests: 0,
            sources: Vec::new(),
            last_ts: None,
            duplicates: Vec::new(),
        };
        Ok(Self { root: root.to_path_buf(), manifest })
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

    /// State of the exchange when the last ingest ended; `None` for a new folder.
    pub fn state(&self) -> Result<Option<Vec<u8>>, FramesError> {
        let path = self.root.join(STATE);
        if self.manifest.ingests == 0 {
            return Ok(None);
        }
        fs::read(&path).map(Some).map_err(FramesError::io(&path, "read"))
    }

    /// Parquet files of a frame, in the order they were written.
    pub fn parts(&self, frame: &str) -> Result<Vec<PathBuf>, FramesError> {
        let folder = self.root.join(frame);
        let mut parts = Vec::new();
        if folder.is_dir() {
            for entry in fs::read_dir(&folder).map_err(FramesError::io(&folder, "read the folder"))? {
                let path = entry.map_err(FramesError::io(&folder, "read the folder"))?.path();
                if path.extension().is_some_and(|extension| extension == "parquet") {
                    parts.push(path);
                }
            }
        }
        // "open" < "part-…" < "snapshot": rows carry their own order.
        parts.sort();
        Ok(parts)
    }

    /// Where a run writes before it is known to have succeeded.
    pub(crate) fn staging(&self) -> Result<PathBuf, FramesError> {
        let path = self.root.join(STAGING);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(FramesError::io(&path, "remove the remains of an interrupted run"))?;
        }
        fs::create_dir_all(&path).map_err(FramesError::io(&path, "create the folder"))?;
        Ok(path)
    }

    /// Moves the staged files into place and writes state and manifest. The manifest comes last: a run that is
    /// interrupted before leaves at most files of a part number that the next run overwrites.
    pub(crate) fn commit(
        &mut self,
        state: &[u8],
        sources: Vec<SourceRecord>,
        duplicates: Vec<(String, u64)>,
        last_ts: Option<i64>,
    ) -> Result<(), FramesError> {
        let staging = self.root.join(STAGING);
        for entry in fs::read_dir(&staging).map_err(FramesError::io(&staging, "read the folder"))? {
            let from = entry.map_err(FramesError::io(&staging, "read the folder"))?.path();
            let name = from.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let Some((frame, part)) = name.split_once('@') else { continue };
            let folder = self.root.join(frame);
            fs::create_dir_all(&folder).map_err(FramesError::io(&folder, "create the folder"))?;
            let to = folder.join(part);
            fs::rename(&from, &to).map_err(FramesError::io(&to, "move into place"))?;
        }
        fs::remove_dir_all(&staging).map_err(FramesError::io(&staging, "remove"))?;
        write_whole(&self.root.join(STATE), state)?;
        for source in sources {
            self.manifest.sources.retain(|known| known.path != source.path);
            self.manifest.sources.push(source);
        }
        self.manifest.sources.sort_by(|a, b| a.path.cmp(&b.path));
        self.manifest.duplicates = duplicates;
        self.manifest.last_ts = self.manifest.last_ts.max(last_ts);
        self.manifest.ingests += 1;
        self.manifest.tool = env!("CARGO_PKG_VERSION").into();
        let path = self.root.join(MANIFEST);
        let text = serde_json::to_vec_pretty(&self.manifest).map_err(|error| FramesError::Damaged {
            path: path.display().to_string(),
            what: format!("the manifest cannot be written ({error})"),
        })?;
        write_whole(&path, &text)
    }
}

/// Writes beside the target and renames, so that a reader never sees half a file.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FramesError> {
    let beside = path.with_extension("new");
    let mut file = fs::File::create(&beside).map_err(FramesError::io(&beside, "write"))?;
    file.write_all(bytes).map_err(FramesError::io(&beside, "write"))?;
    fs::rename(&beside, path).map_err(FramesError::io(path, "move into place"))
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
