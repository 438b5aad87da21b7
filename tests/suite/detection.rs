//! Every fixture of `tests/formats` is recognised, by its content, as the format whose folder it lies in.

use crate::support::run;
use std::fs;
use std::path::{Path, PathBuf};

/// What a folder holds beside captures: what was read from them, and what describes them.
const NO_CAPTURES: [&str; 4] = ["snap", "new", "md", "toml"];

/// The fixtures with the names of their folders.
fn fixtures() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut fixtures = Vec::new();
    for folder in fs::read_dir(root).expect("tests/formats").flatten().filter(|entry| entry.path().is_dir()) {
        let format = folder.file_name().to_string_lossy().into_owned();
        collect(&folder.path(), &format, &mut fixtures);
    }
    fixtures.sort();
    fixtures
}

/// Formats whose files are known by the folders they lie in have folders inside theirs.
fn collect(folder: &Path, format: &str, fixtures: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).expect("a folder of fixtures").flatten() {
        let path = entry.path();
        let other = path.extension().and_then(|word| word.to_str()).is_some_and(|word| NO_CAPTURES.contains(&word));
        if path.is_dir() {
            collect(&path, format, fixtures);
        } else if !other {
            fixtures.push((format.to_owned(), path));
        }
    }
}

#[test]
fn each_fixture_is_recognised_as_what_it_is() {
    let fixtures = fixtures();
    assert!(!fixtures.is_empty());
    for (format, path) in fixtures {
        let run = run([Path::new("inspect"), &path]);
        let text = run.text();
        let said = text.lines().nth(1).unwrap_or_default().trim_start();
        let found = said.split([':', ' ']).next().unwrap_or_default();
        assert_eq!(found, format, "{}: {said}\n{}", path.display(), run.stderr);
        assert!(said.len() > found.len() + 2, "{}: no reason is given: {said}", path.display());
    }
}
