//! The files of a frames folder: each is written once, hashed while it is written, and checked before it is read.

use super::folder::FramesError;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// One file of the folder, as the manifest knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRecord {
    /// Relative to the folder, with `/`: `prompt_calls/part-00001.parquet`.
    pub path: String,
    pub bytes: u64,
    /// BLAKE3 of the whole file, 64 hex digits.
    pub blake3: String,
}

impl PartRecord {
    /// Folder and file name of a part of a frame; `None` for a path that leads anywhere else.
    pub fn names(&self) -> Option<(&str, &str)> {
        let (frame, name) = self.path.split_once('/')?;
        let plain = |text: &str| !text.is_empty() && !text.starts_with('.') && !text.contains(['/', '\\', ':']);
        (plain(frame) && plain(name)).then_some((frame, name))
    }

    /// Reads the file and compares it with what was written. A reader of Parquet trusts what a footer says, so that a
    /// damaged one may not reach it.
    ///
    /// # Errors
    /// A file that is missing, longer or shorter, or not the same.
    pub fn check(&self, root: &Path) -> Result<(), FramesError> {
        let path = root.join(&self.path);
        let damaged = |what: String| FramesError::Damaged { path: path.display().to_string(), what };
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(damaged("the manifest lists this part and it is not there".to_owned()));
            }
            Err(error) => return Err(FramesError::io(&path, "read")(error)),
        };
        let bytes = file.metadata().map_err(FramesError::io(&path, "read"))?.len();
        if bytes != self.bytes {
            return Err(damaged(format!("the part was changed: it has {bytes} bytes, {} were written", self.bytes)));
        }
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut file, &mut hasher).map_err(FramesError::io(&path, "read"))?;
        if hasher.finalize().to_hex().as_str() != self.blake3 {
            return Err(damaged("the part was changed: its hash is not that of what was written".to_owned()));
        }
        Ok(())
    }
}

/// A file that is being written, with its length and hash so far.
pub struct Hashing {
    file: File,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Hashing {
    pub fn create(path: &Path) -> Result<Self, FramesError> {
        let file = File::create(path).map_err(FramesError::io(path, "write"))?;
        Ok(Self { file, hasher: blake3::Hasher::new(), bytes: 0 })
    }

    /// What the manifest is to know of the file, under the path it will have in the folder.
    pub fn record(self, path: String) -> PartRecord {
        PartRecord { path, bytes: self.bytes, blake3: self.hasher.finalize().to_hex().to_string() }
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
