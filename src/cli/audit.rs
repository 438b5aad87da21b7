//! `audit`: captures or a frames folder → tables → reports.

use super::Exit;
use super::args::{AuditArgs, Hop};
use super::error::CliError;
use super::ingest::{self, Ingested};
use super::plan::{self, FailOn, Outputs, Settings};
use super::progress::Voice;
use crate::audit::hops::{self, LeftOut, Side};
use crate::capture::formats::Formats;
use crate::expect;
use crate::frames::folder::Folder;
use crate::frames::{Frames, store};
use crate::protocol::message::Ts;
use crate::report::{
    HashKey, InputError, RenderOptions, Report, Run, Section, render_json, render_markdown, render_terminal,
};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

pub fn run(args: &AuditArgs, voice: Voice) -> Result<Exit, CliError> {
    // All that can be wrong about the command line, before the work.
    let filter = plan::filter(args)?;
    let thresholds = args.fail_on.iter().map(|text| FailOn::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let sections = sections(&args.only)?;
    let Settings { mut expectations, formats } = Settings::read(args.read.expect.as_deref())?;
    for flag in &args.intended {
        let intended = expect::parse_flag(flag).map_err(|error| CliError::usage(error.to_string()))?;
        expectations.intended.push(intended);
    }
    let key = args.hash_key_file.as_deref().map(plan::hash_key).transpose()?;
    let outputs = Outputs::of(args)?;

    let (folder, errors, _scratch) = frames(args, key, formats, &outputs, voice)?;
    let mut frames = store::load(&folder, &filter)?;
    if let Some(hop) = args.hop {
        voice.remark(one_hop(&mut frames, hop));
    }
    for unmet in crate::audit::unmet(&frames, &expectations) {
        let set = format!("{}.{}", unmet.intended.prompt, unmet.intended.argument);
        match unmet.intended.source {
            "command line" => voice.remark(format!("--intended {set}: {}", unmet.note)),
            // One file may serve many servers: what this capture lacks is no news.
            _ => voice.detail(format!("expectations, {set}: {}", unmet.note)),
        }
    }
    let rejected = frames.rejected.len();
    let audit =
        crate::audit::audit(&frames, &expectations).map_err(|unclosed| CliError::Failed(unclosed.to_string()))?;
    drop(frames);
    let findings_met = thresholds.iter().any(|threshold| threshold.is_met(&audit.findings));
    let complete = errors.is_empty() && rejected == 0;
    let report = Report {
        run: Run {
            version: env!("CARGO_PKG_VERSION").into(),
            at: Ts(jiff::Timestamp::now().as_microsecond()),
            revealed: args.reveal,
            lenient: args.read.lenient,
            complete,
            hash_key: HashKey::new(key.map_or_else(|| folder.hash_key(), Ok)?),
        },
        audit,
        errors,
    };

    let Outputs { json, markdown, out } = outputs;
    let alone = json.is_some() || markdown.is_some();
    let mut options = RenderOptions { top: args.top, reveal: args.reveal, sections, ..RenderOptions::default() };
    if let Some(out) = &out {
        out.write(&report, &options).map_err(CliError::io(out.path(), "write the reports"))?;
    }
    if let Some(target) = json {
        target.write(|to| render_json(&report, &options, to))?;
    }
    if let Some(target) = markdown {
        target.write(|to| render_markdown(&report, &options, to))?;
    }
    if !alone {
        options.colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        if let Some(width) = terminal_width() {
            options.width = width.clamp(60, 160);
        }
        let mut stdout = BufWriter::new(anstream::stdout().lock());
        render_terminal(&report, &options, &mut stdout).and_then(|()| stdout.flush()).map_err(CliError::output)?;
    }
    Ok(match (complete || args.read.lenient, findings_met) {
        (false, _) => Exit::Incomplete,
        (true, true) => Exit::Findings,
        (true, false) => Exit::Done,
    })
}

/// The frames to look at, what could not be read, and the folder to keep until the end of the run.
type FramesOf = (Folder, Vec<InputError>, Option<tempfile::TempDir>);

/// A frames folder is opened; captures are ingested into a temporary one. So there is one path to the answer.
fn frames(
    args: &AuditArgs,
    key: Option<[u8; 32]>,
    formats: Formats,
    outputs: &Outputs,
    voice: Voice,
) -> Result<FramesOf, CliError> {
    let folders: Vec<&String> = args.paths.iter().filter(|path| Folder::is_frames(Path::new(path))).collect();
    match (folders.as_slice(), args.paths.as_slice()) {
        ([folder], [_]) => Ok((Folder::open(Path::new(folder))?, Vec::new(), None)),
        ([], paths) => {
            let scratch = tempfile::Builder::new()
                .prefix("mcptally-")
                .tempdir()
                .map_err(CliError::io(&std::env::temp_dir(), "create a temporary folder"))?;
            let folder = Folder::open_or_create(scratch.path(), key)?;
            let Ingested { folder, errors, .. } = ingest::into(folder, paths, &args.read, formats, outputs, voice)?;
            Ok((folder, errors, Some(scratch)))
        }
        ([folder, ..], _) => Err(CliError::usage(format!(
            "{folder} is a frames folder: audit it alone, or add the captures to it first (`mcptally ingest CAPTURE... --frames {folder}`)"
        ))),
    }
}

fn sections(words: &[String]) -> Result<Vec<Section>, CliError> {
    words
        .iter()
        .map(|word| {
            Section::parse(word).ok_or_else(|| {
                let known: Vec<&str> = Section::ALL.iter().map(|section| section.as_str()).collect();
                CliError::usage(format!("--only {word}: no such section; the sections are {}", known.join(", ")))
            })
        })
        .collect()
}

/// Columns of the terminal, where standard output is one.
fn terminal_width() -> Option<u16> {
    console::Term::stdout().size_checked().map(|(_, columns)| columns)
}

/// Leaves the other side of gateways out, and says what that was.
fn one_hop(frames: &mut Frames, hop: Hop) -> String {
    let (side, name) = match hop {
        Hop::Outer => (Side::Outer, "outer"),
        Hop::Inner => (Side::Inner, "inner"),
    };
    let LeftOut { sessions, calls, questions } = hops::keep(frames, side);
    if calls == 0 {
        return format!("--hop {name}: no traffic stands twice here; nothing was left out");
    }
    format!(
        "--hop {name}: left out the other side of gateways: sessions {sessions}, prompt calls {calls}, questions {questions}"
    )
}
