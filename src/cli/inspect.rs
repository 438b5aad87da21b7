//! `inspect`: what each file is and why we think so.

use super::args::InspectArgs;
use super::ingest;
use super::plan::{Outputs, Settings};
use super::progress::{Voice, visible};
use super::{CliError, Exit};
use crate::capture::{self, ReadOptions, Suggestion};
use crate::frames::folder::Folder;
use crate::frames::store::{self, Filter};
use crate::report::HashKey;
use crate::report::printable::Page;
use crate::schema::FileRow;
use std::io::{self, Write};

pub fn run(args: &InspectArgs, voice: Voice) -> Result<Exit, CliError> {
    let scratch = tempfile::Builder::new()
        .prefix("mcptally-")
        .tempdir()
        .map_err(CliError::io(&std::env::temp_dir(), "create a temporary folder"))?;
    let folder = Folder::open_or_create(scratch.path(), None)?;
    let formats = Settings::read(args.read.expect.as_deref())?.formats;
    let options = ReadOptions { formats: formats.clone(), ..ReadOptions::default() };
    let ingested = ingest::into(folder, &args.paths, &args.read, formats, &Outputs::default(), voice);
    let ingested = match ingested {
        Ok(ingested) => ingested,
        Err(error @ CliError::Nothing(_)) => {
            suggest(args, &options)?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    let frames = store::load(&ingested.folder, &Filter::default())?;
    let key = HashKey::new(ingested.folder.hash_key()?);
    let page = Page::with_key(&key, false);
    let shown = |text: &str| page.prose(text).terminal(200);
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    let mut show = || -> io::Result<()> {
        for file in &ingested.files {
            ledger(file, &shown, &mut out)?;
            let mut rejected = frames.rejected.iter().filter(|row| row.file == file.file);
            for row in rejected.by_ref().take(args.top) {
                writeln!(out, "  rejected line {}: {}", row.position, shown(&row.reason))?;
                writeln!(out, "    {}", shown(&row.excerpt))?;
            }
            let more = rejected.count();
            if more > 0 {
                writeln!(out, "  … and {more} more rejected records; `--top` shows more, `audit --out` writes all")?;
            }
        }
        out.flush()
    };
    show().map_err(CliError::output)?;
    drop(out);
    suggest(args, &options)?;
    let complete = ingested.errors.is_empty() && frames.rejected.is_empty();
    Ok(if complete || args.read.lenient { Exit::Done } else { Exit::Incomplete })
}

/// Prints descriptions for logs that no format knows.
fn suggest(args: &InspectArgs, options: &ReadOptions) -> Result<(), CliError> {
    if args.read.format.is_some() {
        return Ok(());
    }
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    for Suggestion { path, text } in capture::suggest(&args.paths, options) {
        let text: Vec<String> = text.lines().map(visible).collect();
        writeln!(
            out,
            "# {}: no known format, but it holds messages. Put this into mcptally.toml and run again\n\
             # (`mcptally formats --describe` says what it means):\n\n{}\n",
            visible(&path),
            text.join("\n")
        )
        .map_err(CliError::output)?;
    }
    out.flush().map_err(CliError::output)
}

fn ledger(file: &FileRow, shown: &dyn Fn(&str) -> String, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", shown(&file.file))?;
    let version = file.format_version.as_deref().map(|version| format!(" ({})", shown(version))).unwrap_or_default();
    writeln!(out, "  {}{version}: {}", file.format, shown(&file.why))?;
    writeln!(
        out,
        "  {} lines = {} with messages + {} continuation + {} noise + {} blank + {} rejected + {} duplicates",
        file.lines, file.message_lines, file.continuation, file.noise, file.blank, file.rejected, file.duplicates
    )?;
    writeln!(out, "  {} messages, {} of them of no analysis ({} bytes)", file.messages, file.other, file.other_bytes)?;
    for note in &file.notes {
        writeln!(out, "  note: {}", shown(note))?;
    }
    Ok(())
}
