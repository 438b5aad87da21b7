//! Writes the sample logs: `cargo run --release --example sample-logs [FOLDER]` (default: this repository's sample-logs).
//! Everything is drawn from fixed seeds, so every run writes the same bytes.

mod stories;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-logs"), PathBuf::from);
    for file in stories::all() {
        match file.write_under(&folder) {
            Ok(bytes) => println!("{bytes:>9}  {}", file.path),
            Err(error) => {
                eprintln!("{}: {error}", folder.join(&file.path).display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
