//! `--out DIR`: every output as files.

use super::json::write_line;
use super::model::{RenderOptions, Report};
use super::printable::Page;
use super::{csv, markdown, pictures};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// One output format of `--out`.
pub trait Output: Sync {
    /// Files or folders it writes, relative to the output folder.
    fn paths(&self) -> &'static [&'static str];
    fn write(&self, report: &Report, options: &RenderOptions, dir: &Draft) -> io::Result<()>;
}

/// Names the pictures that were not made.
pub const LEFT_OUT: &str = "left-out.txt";

/// Every output format, in the order written.
pub const OUTPUTS: &[&dyn Output] = &[&Json, &markdown::Incident, &Rejected, &csv::Tables, &pictures::Charts];

/// The folder that a user named for the outputs. Everything is rendered beside what lies there and moved into place
/// when it is whole: a run that fails leaves the report of an earlier one as it is.
#[derive(Debug)]
pub struct OutDir {
    root: PathBuf,
}

impl OutDir {
    /// Checks that the outputs can be written there, before the work starts. Leaves everything as it is.
    ///
    /// # Errors
    /// Where the path or one above it is a file, where an output's name is taken by something else, where one may not
    /// write.
    pub fn prepare(path: &Path) -> io::Result<Self> {
        let mut above = if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) };
        while fs::symlink_metadata(&above).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) && above.pop() {}
        beside(&above)?;
        for (name, is_folder) in names() {
            if fs::metadata(path.join(name)).is_ok_and(|known| known.is_dir() != is_folder) {
                let what = if is_folder { "there is a file" } else { "there is a folder" };
                return Err(io::Error::other(format!("{what} where {name} belongs")));
            }
        }
        Ok(Self { root: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Whether a file would be written over, or removed as a table or picture of an earlier run.
    pub fn replaces(&self, file: &Path) -> bool {
        let Ok(real) = file.canonicalize() else { return false };
        names().any(|(name, is_folder)| {
            let Ok(ours) = self.root.join(name).canonicalize() else { return false };
            if is_folder { real.parent() == Some(&ours) && is_output(&real) } else { real == ours }
        })
    }

    /// Renders everything and puts it into place. Tables and charts of an earlier run are removed, so that the folder
    /// holds one report.
    ///
    /// # Errors
    /// The first failure to render or to write.
    pub fn write(&self, report: &Report, options: &RenderOptions) -> io::Result<()> {
        fs::create_dir_all(&self.root)?;
        let scratch = beside(&self.root)?;
        let draft = Draft { root: scratch.path().to_owned() };
        for (name, _) in names().filter(|(_, is_folder)| *is_folder) {
            fs::create_dir(draft.path(name))?;
        }
        OUTPUTS.iter().try_for_each(|output| output.write(report, options, &draft))?;
        for (name, is_folder) in names() {
            let (from, to) = (draft.path(name), self.root.join(name));
            if !is_folder {
                fs::rename(from, to)?;
                continue;
            }
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&to)? {
                let path = entry?.path();
                if path.is_file() && is_output(&path) {
                    fs::remove_file(path)?;
                }
            }
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                fs::rename(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(())
    }
}

/// A folder in which outputs are rendered before they are moved to their place.
pub struct Draft {
    root: PathBuf,
}

impl Draft {
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

/// What the outputs write: names, and whether each is a folder.
fn names() -> impl Iterator<Item = (&'static str, bool)> {
    let names = OUTPUTS.iter().flat_map(|output| output.paths());
    names.map(|name| name.strip_suffix('/').map_or((*name, false), |folder| (folder, true)))
}

/// A hidden folder in this one, gone when it is dropped.
fn beside(folder: &Path) -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(".mcptally-").tempdir_in(folder)
}

/// Tables and pictures, and the note about pictures that were not made; whatever else a person put there stays.
fn is_output(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("csv" | "png" | "svg")) || path.file_name().is_some_and(|name| name == LEFT_OUT)
}

struct Json;

impl Output for Json {
    fn paths(&self) -> &'static [&'static str] {
        &["report.json"]
    }

    fn write(&self, report: &Report, options: &RenderOptions, dir: &Draft) -> io::Result<()> {
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

    fn write(&self, report: &Report, options: &RenderOptions, dir: &Draft) -> io::Result<()> {
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
