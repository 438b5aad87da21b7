//! What was typed, made sense of: times, thresholds, filters, keys. Everything that can be wrong about the command
//! line is found here, before a byte of a capture is read.

use super::args::AuditArgs;
use super::error::CliError;
use super::progress::visible;
use crate::capture::described;
use crate::capture::formats::Formats;
use crate::expect::{self, Expectations};
use crate::finding::{Finding, RULES, Severity};
use crate::frames::store::Filter;
use crate::protocol::message::Ts;
use crate::report::{OutDir, whole};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Read when it is there and `--expect` names no other.
const DEFAULT_SETTINGS: &str = "mcptally.toml";

/// What `mcptally.toml` says.
#[derive(Default)]
pub struct Settings {
    pub expectations: Expectations,
    /// Those that are built in, and before them the user's own.
    pub formats: Formats,
}

impl Settings {
    /// Reads the file that was named, else `./mcptally.toml` if it is there.
    ///
    /// # Errors
    /// A file that cannot be read or says something that means nothing: with the place.
    pub fn read(named: Option<&Path>) -> Result<Self, CliError> {
        let default = Path::new(DEFAULT_SETTINGS);
        let Some(path) = named.or_else(|| Some(default).filter(|path| path.is_file())) else {
            return Ok(Self::default());
        };
        let text = std::fs::read_to_string(path).map_err(CliError::io(path, "read the settings"))?;
        let name = visible(&path.display().to_string());
        let expectations = expect::parse(&name, &text).map_err(|error| CliError::Report(error.into()))?;
        let own = described::load(&name, &text).map_err(|error| CliError::Report(error.into()))?;
        let mut formats = Formats::default();
        formats.prefer(own);
        Ok(Self { expectations, formats })
    }
}

/// A threshold of `--fail-on`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailOn {
    pub what: FailOnWhat,
    /// Findings that must be there.
    pub count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailOnWhat {
    Rule(&'static str),
    /// This severity or worse.
    Severity(Severity),
}

impl FailOn {
    pub fn parse(text: &str) -> Result<Self, CliError> {
        let (what, count) = match text.split_once('=') {
            Some((what, count)) => {
                let count = count.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
                    CliError::usage(format!("--fail-on {text}: after `=` stands a number of findings, from 1"))
                })?;
                (what, count)
            }
            None => (text, 1),
        };
        let severity = match what {
            "error" => Some(Severity::Error),
            "warning" => Some(Severity::Warning),
            "note" => Some(Severity::Note),
            _ => None,
        };
        let what = match severity {
            Some(severity) => FailOnWhat::Severity(severity),
            None => match RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(what)) {
                Some(rule) => FailOnWhat::Rule(rule.id),
                None => {
                    return Err(CliError::usage(format!(
                        "--fail-on {text}: no such rule or severity; `mcptally explain` lists the rules, \
                         severities are error, warning, note"
                    )));
                }
            },
        };
        Ok(Self { what, count })
    }

    pub fn is_met(&self, findings: &[Finding]) -> bool {
        let count = findings
            .iter()
            .filter(|finding| match self.what {
                FailOnWhat::Rule(rule) => finding.rule == rule,
                FailOnWhat::Severity(severity) => finding.severity <= severity,
            })
            .count();
        count >= self.count
    }
}

/// A moment as people type it: a date (midnight UTC) or an RFC 3339 time.
pub fn moment(option: &str, text: &str) -> Result<Ts, CliError> {
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Ok(Ts(timestamp.as_microsecond()));
    }
    match text.parse::<jiff::civil::Date>() {
        Ok(day) if text.len() == "2026-03-01".len() => Ok(Ts::of_day(day)),
        _ => Err(CliError::usage(format!(
            "{option} {text}: not a time; write a date (2026-03-01, midnight UTC) or a time with zone \
             (2026-03-01T08:00:00Z)"
        ))),
    }
}

/// What a run writes, with the options that say so.
#[derive(Debug, Default)]
pub struct Outputs {
    pub json: Option<Target>,
    pub markdown: Option<Target>,
    pub out: Option<OutDir>,
}

impl Outputs {
    /// What is to be written can be written, as far as can be known before the work; nothing of it is touched.
    ///
    /// # Errors
    /// Two outputs in one place, an output over a file that was named, a place that cannot be written.
    pub fn of(args: &AuditArgs) -> Result<Self, CliError> {
        if let (Some(json), Some(markdown)) = (&args.json, &args.markdown)
            && (json == markdown || real(json).is_some_and(|json| Some(json) == real(markdown)))
        {
            let path = json.display();
            return Err(CliError::usage(format!(
                "--json and --markdown both write {path}: give each a file of its own"
            )));
        }
        let target = |path: &Option<PathBuf>| path.as_deref().map(Target::open).transpose();
        let out = args.out.as_deref();
        let outputs = Self {
            json: target(&args.json)?,
            markdown: target(&args.markdown)?,
            out: out.map(|dir| OutDir::prepare(dir).map_err(CliError::io(dir, "write the reports"))).transpose()?,
        };
        let read =
            args.paths.iter().map(Path::new).chain(args.read.expect.as_deref()).chain(args.hash_key_file.as_deref());
        match read.filter(|path| path.is_file()).find_map(|path| outputs.refuse(path)) {
            Some(refusal) => Err(refusal),
            None => Ok(outputs),
        }
    }

    /// The refusal to write over a file that is read. Reports of an earlier run may be written over: none is a capture.
    pub fn refuse(&self, read: &Path) -> Option<CliError> {
        let over = real(read)?;
        let files = [("--json", &self.json), ("--markdown", &self.markdown)];
        let file = files.into_iter().find_map(|(option, target)| match target {
            Some(Target::File(path)) if real(path).as_ref() == Some(&over) => {
                Some((option, path.display().to_string()))
            }
            _ => None,
        });
        let folder = || {
            let out = self.out.as_ref().filter(|out| out.replaces(read))?;
            Some(("--out", out.path().display().to_string()))
        };
        let (option, output) = file.or_else(folder)?;
        let read = read.display();
        Some(CliError::usage(format!(
            "{option} {output}: {read} is read and would be written over; name another place"
        )))
    }
}

fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Where one output goes.
#[derive(Debug)]
pub enum Target {
    Stdout,
    File(PathBuf),
}

impl Target {
    fn open(path: &Path) -> Result<Self, CliError> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        whole::probe(path).map_err(CliError::io(path, "write"))?;
        Ok(Self::File(path.to_path_buf()))
    }

    pub fn write(self, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        match self {
            Self::Stdout => {
                let mut out = BufWriter::new(io::stdout().lock());
                render(&mut out).and_then(|()| out.flush()).map_err(CliError::output)
            }
            Self::File(path) => whole::write(&path, render).map_err(CliError::io(&path, "write")),
        }
    }
}

/// The filter of an audit.
pub fn filter(args: &AuditArgs) -> Result<Filter, CliError> {
    let text = |value: &Option<String>| value.as_deref().map(Into::into);
    let since = args.since.as_deref().map(|at| moment("--since", at)).transpose()?;
    let until = args.until.as_deref().map(|at| moment("--until", at)).transpose()?;
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err(CliError::usage(format!(
            "--since {} is not before --until {}: nothing lies between them (a day ends where the next begins)",
            args.since.as_deref().unwrap_or_default(),
            args.until.as_deref().unwrap_or_default()
        )));
    }
    Ok(Filter {
        since,
        until,
        server: text(&args.server),
        prompt: text(&args.prompt),
        client: text(&args.client),
        session: text(&args.session),
    })
}

/// Reads a key of 64 hex digits.
pub fn hash_key(path: &Path) -> Result<[u8; 32], CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::usage(format!("--hash-key-file {}: cannot read: {error}", path.display())))?;
    blake3::Hash::from_hex(text.trim().as_bytes()).map(|hash| *hash.as_bytes()).map_err(|_| {
        CliError::usage(format!(
            "--hash-key-file {}: the key is 64 hex digits on one line, for instance made by `openssl rand -hex 32`",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_midnight_utc_and_times_need_a_zone() {
        assert_eq!(moment("--since", "2026-03-01").ok(), Some(Ts(1_772_323_200_000_000)));
        assert_eq!(moment("--since", "2026-03-01T01:00:00+01:00").ok(), Some(Ts(1_772_323_200_000_000)));
        assert_eq!(moment("--until", "9999-12-31").ok(), Some(Ts(253_402_214_400_000_000)));
        assert!(moment("--since", "2026-03-01T01:00:00").is_err());
        assert!(moment("--since", "yesterday").is_err());
    }

    #[test]
    fn thresholds_name_a_known_rule_or_severity() {
        assert_eq!(
            FailOn::parse("warning=3").ok(),
            Some(FailOn { what: FailOnWhat::Severity(Severity::Warning), count: 3 })
        );
        assert!(FailOn::parse("MT999").is_err());
        assert!(FailOn::parse("error=0").is_err());
    }
}
