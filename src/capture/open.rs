//! What was typed, as a list of files: paths, folders, patterns, standard input.

use super::error::CaptureError;
use std::path::{Path, PathBuf};

/// A file to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// The path as people know it.
    pub shown: String,
    /// The folder or pattern it was found with; `None` where it was named itself.
    pub by: Option<String>,
}

/// How standard input is written.
pub const STDIN: &str = "-";

/// Stars match no separators. Hidden names are left out by [`names_hidden`]: the option for that panics on a name that
/// is not UTF-8.
const AS_SHELLS_DO: glob::MatchOptions =
    glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };

/// Whether a part of the path is hidden and the pattern has no part with a dot in front that asks for it.
fn names_hidden(pattern: &str, path: &Path) -> bool {
    let asked: Vec<glob::Pattern> = pattern
        .split(std::path::is_separator)
        .filter(|part| part.starts_with('.'))
        .filter_map(|part| glob::Pattern::new(part).ok())
        .collect();
    path.components().any(|part| match part {
        std::path::Component::Normal(name) => {
            let name = name.to_string_lossy();
            name.starts_with('.') && !asked.iter().any(|part| part.matches(&name))
        }
        _ => false,
    })
}

/// What the arguments name, in no particular order.
#[derive(Debug, Default)]
pub struct Listing {
    pub files: Vec<Found>,
    pub folders: Vec<Folder>,
    pub notes: Vec<String>,
    pub errors: Vec<CaptureError>,
}

#[derive(Debug)]
pub struct Folder {
    pub path: String,
    pub files: usize,
}

pub fn list(arguments: &[String]) -> Listing {
    let mut listing = Listing::default();
    for argument in arguments {
        let path = Path::new(argument);
        if argument == STDIN {
            listing.files.push(Found { path: path.to_owned(), shown: STDIN.to_owned(), by: None });
        } else if path.is_dir() {
            listing.folder(path, argument);
        } else if path.exists() {
            listing.files.push(Found { path: path.to_owned(), shown: argument.clone(), by: None });
        } else if argument.contains(['*', '?', '[']) {
            listing.pattern(argument);
        } else {
            listing.errors.push(CaptureError::Missing { path: argument.clone() });
        }
    }
    listing.without_repeats();
    listing
}

impl Listing {
    fn folder(&mut self, path: &Path, argument: &str) {
        let mut hidden = 0;
        let mut files = 0;
        // The folder that was named may be hidden itself.
        let mut walk = walkdir::WalkDir::new(path).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(path).display().to_string();
                    self.errors.push(CaptureError::Unreadable { path, source: error.into() });
                    continue;
                }
            };
            if entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.') {
                hidden += 1;
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            } else if entry.file_type().is_file() {
                files += 1;
                let shown = entry.path().display().to_string();
                self.files.push(Found { path: entry.into_path(), shown, by: Some(argument.to_owned()) });
            }
        }
        if hidden > 0 {
            self.notes.push(format!("{argument}: {hidden} hidden files or folders left out"));
        }
        self.folders.push(Folder { path: argument.to_owned(), files });
    }

    fn pattern(&mut self, pattern: &str) {
        let paths = match glob::glob_with(pattern, AS_SHELLS_DO) {
            Ok(paths) => paths,
            Err(error) => {
                let detail = error.to_string();
                return self.errors.push(CaptureError::BadPattern { pattern: pattern.to_owned(), detail });
            }
        };
        let mut any = false;
        for path in paths {
            match path {
                Ok(path) if names_hidden(pattern, &path) => {}
                Ok(path) if path.is_dir() => {
                    any = true;
                    let shown = path.display().to_string();
                    self.folder(&path, &shown);
                }
                Ok(path) => {
                    any = true;
                    let shown = path.display().to_string();
                    self.files.push(Found { path, shown, by: Some(pattern.to_owned()) });
                }
                Err(error) => {
                    any = true;
                    let path = error.path().display().to_string();
                    self.errors.push(CaptureError::Unreadable { path, source: error.into() });
                }
            }
        }
        if !any {
            self.errors.push(CaptureError::NoMatch { pattern: pattern.to_owned() });
        }
    }

    /// A file that several arguments name is read once; one that was named itself counts as named.
    fn without_repeats(&mut self) {
        let mut known: std::collections::BTreeMap<PathBuf, Found> = std::collections::BTreeMap::new();
        let mut repeats = 0;
        for found in self.files.drain(..) {
            let real = found.path.canonicalize().unwrap_or_else(|_| found.path.clone());
            match known.entry(real) {
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(found);
                }
                std::collections::btree_map::Entry::Occupied(mut taken) => {
                    repeats += 1;
                    let better = (found.by.is_some(), &found.shown) < (taken.get().by.is_some(), &taken.get().shown);
                    if better {
                        taken.insert(found);
                    }
                }
            }
        }
        if repeats > 0 {
            self.notes.push(format!("{repeats} files were named more than once and are read once"));
        }
        self.files = known.into_values().collect();
        self.notes.sort();
    }
}
