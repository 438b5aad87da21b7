//! `--out DIR`: every output as files.

use super::model::{RenderOptions, Report};
use std::io;
use std::path::{Path, PathBuf};

/// A folder for outputs, made before the work starts, so that a bad path fails at once.
#[derive(Debug)]
pub struct OutDir {
    root: PathBuf,
}

impl OutDir {
    pub fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Ok(Self { root: path.to_owned() })
    }

    pub fn write(&self, report: &Report, options: &RenderOptions) -> io::Result<()> {
        let mut file = std::fs::File::create(self.root.join("report.json"))?;
        super::json::render_json(report, options, &mut file)
    }
}
