//! Runs the binary and reads what it says.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a run left behind.
pub struct Run {
    /// Exit status; `None` where a signal ended the program.
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            panic!("no JSON on stdout ({error}): {}\n{}", self.text(), self.stderr);
        })
    }
}

/// Runs `mcptally` in `folder`, with nothing of the caller's environment that changes what it prints.
pub fn run_in<I, S>(folder: &Path, arguments: I) -> Run
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    run_with_input(folder, arguments, "")
}

/// As [`run_in`], with something on standard input.
pub fn run_with_input<I, S>(folder: &Path, arguments: I, input: &str) -> Run
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut standard_input = tempfile::tempfile().expect("a temporary file");
    standard_input.write_all(input.as_bytes()).and_then(|()| standard_input.rewind()).expect("input is written");
    let output = Command::new(env!("CARGO_BIN_EXE_mcptally"))
        .args(arguments)
        .stdin(standard_input)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "120")
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("the binary starts");
    let run = Run {
        status: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(
        run.status.is_some_and(|status| status != 101) && !run.stderr.contains("panicked at"),
        "a panic: {}",
        run.stderr
    );
    run
}

/// Runs `mcptally` in the repository's root, where no `mcptally.toml` lies.
pub fn run<I, S>(arguments: I) -> Run
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    run_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

/// Path of a recorded capture.
pub fn capture(folder: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(folder).join(file)
}

/// Members of an array, none where there is no array.
pub fn rows<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A count; a missing member is an error in the report, never zero.
pub fn count(row: &Value, name: &str) -> u64 {
    row.get(name).and_then(Value::as_u64).unwrap_or_else(|| panic!("no count `{name}` in {row}"))
}

/// Text as it reads, whatever the line width it was broken for.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().filter(|word| !matches!(*word, "│" | "|")).collect::<Vec<_>>().join(" ")
}
