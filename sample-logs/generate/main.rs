//! Writes the sample logs: `cargo run --release --example sample-logs [FOLDER]` (default: this repository's sample-logs).
//! Everything is drawn from fixed seeds, so every run writes the same bytes.

mod stories;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stories::File;

fn main() -> ExitCode {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-logs"), PathBuf::from);
    for file in stories::all() {
        match write(&file, &folder) {
            Ok(bytes) => println!("{bytes:>9}  {}", file.path),
            Err(error) => {
                eprintln!("{}: {error}", folder.join(&file.path).display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Writes one file and returns its size on disk.
fn write(file: &File, folder: &Path) -> io::Result<usize> {
    let path = folder.join(&file.path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let bytes = packed(file)?;
    std::fs::write(path, &bytes)?;
    Ok(bytes.len())
}

/// The bytes on disk: packed as the name's ending says.
fn packed(file: &File) -> io::Result<Vec<u8>> {
    let text = file.text.as_bytes();
    if file.path.ends_with(".gz") {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(text)?;
        packer.finish()
    } else if file.path.ends_with(".zst") {
        zstd::stream::encode_all(text, 19)
    } else {
        Ok(text.to_vec())
    }
}
