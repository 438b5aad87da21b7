//! The sample logs as stories: what happened, who spoke, and the figures that an audit of them has to find.
//! `sample-logs/README.md` lists those figures.

mod chance;
mod desktop;
mod filler;
mod json;
mod notes;
mod parcels;
mod recipes;
mod reports;
mod returns;
mod storefront;
mod talk;
mod tickets;
mod tones;
mod words;

use std::io::{self, Write};
use std::path::Path;

/// A sample file: its text and how it is packed on disk.
pub struct File {
    /// Relative to the sample folder, with `/`.
    pub path: String,
    pub text: String,
}

impl File {
    fn new(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), text }
    }

    /// The bytes on disk: packed as the name's ending says.
    pub fn packed(&self) -> io::Result<Vec<u8>> {
        if self.path.ends_with(".gz") {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            packer.write_all(self.text.as_bytes())?;
            packer.finish()
        } else if self.path.ends_with(".zst") {
            zstd::stream::encode_all(self.text.as_bytes(), 19)
        } else {
            Ok(self.text.clone().into_bytes())
        }
    }

    /// Writes the file and returns its size on disk.
    pub fn write_under(&self, folder: &Path) -> io::Result<usize> {
        let path = folder.join(&self.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let bytes = self.packed()?;
        std::fs::write(path, &bytes)?;
        Ok(bytes.len())
    }
}

/// Every sample file, in the order of the README.
pub fn all() -> Vec<File> {
    [
        storefront::files(),
        reports::files(),
        tickets::files(),
        returns::files(),
        parcels::files(),
        recipes::files(),
        notes::files(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
