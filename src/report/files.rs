//! `--out DIR`: every output as files.

use super::json::write_line;
use super::model::{RenderOptions, Report};
use super::printable::Page;
use super::{csv, markdown, pictures};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// One output format of `--out`.
pub trait Output: Sync {
    /// Files or folders it writes, relative to the output folder.
    fn paths(&self) -> &'static [&'static str];
    fn write(&self, report: &Report, options: &RenderOptions, dir: &OutDir) -> io::Result<()>;
}

/// Every output format, in the order written.
pub const OUTPUTS: &[&dyn Output] = &[&Json, &markdown::Incident, &Rejected, &csv::Tables, &pictures::Charts];

/// A folder for outputs, made before the work starts, so that a bad path fails at once.
#[derive(Debug)]
pub struct OutDir {
    root: PathBuf,
}

impl OutDir {
    /// Creates the folder and everything in it that the outputs need, and tries to write there. Tables and charts of
    /// an earlier run are removed, so that the folder holds one report.
    ///
    /// # Errors
    /// Where the path is a file, or the folder cannot be made or written.
    pub fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let dir = Self { root: path.to_owned() };
        for name in OUTPUTS.iter().flat_map(|output| output.paths()) {
            match name.strip_suffix('/') {
                Some(folder) => {
                    let folder = dir.root.join(folder);
                    std::fs::create_dir_all(&folder)?;
                    remove_earlier(&folder)?;
                }
                None => drop(File::create(dir.root.join(name))?),
            }
        }
        Ok(dir)
    }

    pub fn write(&self, report: &Report, options: &RenderOptions) -> io::Result<()> {
        OUTPUTS.iter().try_for_each(|output| output.write(report, options, self))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes one file through `fill`.
    pub fn file(&self, name: &str, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(self.path(name))?);
        fill(&mut file)?;
        file.flush()
    }
}

/// Removes tables and pictures; whatever else a person put there stays.
fn remove_earlier(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let ours = path.extension().and_then(|extension| extension.to_str());
        if path.is_file() && matches!(ours, Some("csv" | "png" | "svg")) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

struct Json;

impl Output for Json {
    fn paths(&self) -> &'static [&'static str] {
        &["report.json"]
    }

    fn write(&self, report: &Report, options: &RenderOptions, dir: &OutDir) -> io::Result<()> {
        dir.file("report.json", |file| super::json::render_json(report, options, file))
    }
}

/// Records that could not be read. Their text is hidden like any other traffic unless revealed.
struct Rejected;

#[derive(Serialize)]
struct RejectedLine {
    file: String,
    position: u64,
    reason: String,
    excerpt: Option<String>,
    excerpt_chars: u64,
    excerpt_hash: String,
}

impl Output for Rejected {
    fn paths(&self) -> &'static [&'static str] {
        &["rejected.ndjson"]
    }

    fn write(&self, report: &Report, options: &RenderOptions, dir: &OutDir) -> io::Result<()> {
        let page = Page::new(report, options);
        dir.file("rejected.ndjson", |file| {
            for row in &report.audit.rejected {
                let line = RejectedLine {
                    file: page.exact_name(&row.file),
                    position: row.position,
                    reason: page.prose(&row.reason).whole().to_owned(),
                    excerpt: page.exact_text(&row.excerpt).text,
                    excerpt_chars: row.excerpt.chars().count() as u64,
                    excerpt_hash: report.run.hash_key.digest_text(&row.excerpt),
                };
                write_line(&line, file)?;
            }
            Ok(())
        })
    }
}
