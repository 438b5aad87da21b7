//! What a frames folder says of itself.

use super::folder::FramesError;
use super::part::PartRecord;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// Version of the folder's layout and columns. Another version is refused, never guessed at.
pub const VERSION: &str = "mcptally.frames/2";

pub(super) const MANIFEST: &str = "manifest.json";
/// The manifest while it is written.
pub(super) const UNFINISHED: &str = "manifest.json.new";

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
    /// Runs that were added whole; 0 in a folder whose first run has not ended.
    pub ingests: u32,
    pub sources: Vec<SourceRecord>,
    /// Latest time of what was read, in microseconds since the epoch: earlier logs come out of order.
    pub last_ts: Option<i64>,
    /// What was open when the last run ended; `None` before the first.
    pub state: Option<PartRecord>,
    /// Every Parquet file of the folder. A file that is not listed is the remains of an interrupted run.
    pub parts: Vec<PartRecord>,
}

impl Manifest {
    pub(super) fn new(hash_key: [u8; 32]) -> Self {
        Self {
            version: VERSION.into(),
            tool: env!("CARGO_PKG_VERSION").into(),
            hash_key: hex(hash_key),
            ingests: 0,
            sources: Vec::new(),
            last_ts: None,
            state: None,
            parts: Vec::new(),
        }
    }

    pub(super) fn read(root: &Path) -> Result<Self, FramesError> {
        let path = root.join(MANIFEST);
        let text = fs::read(&path).map_err(FramesError::io(&path, "read"))?;
        let damaged = |what: String| FramesError::Damaged { path: path.display().to_string(), what };
        let unreadable = |error: serde_json::Error| damaged(format!("the manifest cannot be read ({error})"));
        #[derive(Deserialize)]
        struct Version {
            version: String,
        }
        let version: Version = serde_json::from_slice(&text).map_err(unreadable)?;
        if version.version != VERSION {
            return Err(FramesError::OtherVersion { path: root.display().to_string(), found: version.version });
        }
        let manifest: Self = serde_json::from_slice(&text).map_err(unreadable)?;
        match manifest.parts.iter().find(|part| part.names().is_none()) {
            Some(part) => Err(damaged(format!("the manifest lists {:?}, which is no part of a frame", part.path))),
            None => Ok(manifest),
        }
    }

    /// Writes beside the manifest and renames, so that a reader sees the old one or the new one.
    pub(super) fn write(&self, root: &Path) -> Result<(), FramesError> {
        let (beside, path) = (root.join(UNFINISHED), root.join(MANIFEST));
        let text = serde_json::to_vec_pretty(self).map_err(|error| FramesError::Damaged {
            path: path.display().to_string(),
            what: format!("the manifest cannot be written ({error})"),
        })?;
        let mut file = fs::File::create(&beside).map_err(FramesError::io(&beside, "write"))?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(FramesError::io(&beside, "write"))?;
        fs::rename(&beside, &path).map_err(FramesError::io(&path, "move into place"))
    }

    /// Parts of a frame, in the order of their names. "open" < "part-…" < "snapshot": rows carry their own order.
    pub(super) fn parts_of(&self, frame: &str) -> Vec<&PartRecord> {
        let mut parts: Vec<_> =
            self.parts.iter().filter(|part| part.names().is_some_and(|(folder, _)| folder == frame)).collect();
        parts.sort_by(|a, b| a.path.cmp(&b.path));
        parts
    }
}

/// Bytes of a key as people write them.
pub(super) fn hex(key: [u8; 32]) -> String {
    blake3::Hash::from_bytes(key).to_hex().to_string()
}
