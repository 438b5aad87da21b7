//! What was typed, made sense of: times, thresholds, filters, keys. Everything that can be wrong about the command
//! line is found here, before a byte of a capture is read.

use super::args::AuditArgs;
use super::error::CliError;
use crate::finding::{Finding, RULES, Severity};
use crate::frames::store::Filter;
use crate::protocol::message::Ts;
use std::path::Path;

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
    match format!("{text}T00:00:00Z").parse::<jiff::Timestamp>() {
        Ok(midnight) => Ok(Ts(midnight.as_microsecond())),
        Err(_) => Err(CliError::usage(format!(
            "{option} {text}: not a time; write a date (2026-03-01, midnight UTC) or a time with zone \
             (2026-03-01T08:00:00Z)"
        ))),
    }
}

/// Refuses an output that would be written over a file to be read, or over the other output. A report of an earlier
/// run inside a folder that is read is fair to replace: only files that were named count.
pub fn outputs(args: &AuditArgs) -> Result<(), CliError> {
    let outputs = [("--json", args.json.as_deref()), ("--markdown", args.markdown.as_deref())];
    if let [(_, Some(json)), (_, Some(markdown))] = outputs
        && json == markdown
    {
        let path = json.display();
        return Err(CliError::usage(format!("--json and --markdown both write {path}: give each a file of its own")));
    }
    let inputs = args.paths.iter().map(Path::new).chain(args.expect.as_deref());
    let inputs: Vec<_> = inputs.filter(|path| path.is_file()).filter_map(|path| path.canonicalize().ok()).collect();
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        if path.canonicalize().is_ok_and(|output| inputs.contains(&output)) {
            let path = path.display();
            return Err(CliError::usage(format!("{option} {path}: would be written over a file to be read")));
        }
    }
    Ok(())
}

/// The filter of an audit.
pub fn filter(args: &AuditArgs) -> Result<Filter, CliError> {
    let text = |value: &Option<String>| value.as_deref().map(Into::into);
    Ok(Filter {
        since: args.since.as_deref().map(|at| moment("--since", at)).transpose()?,
        until: args.until.as_deref().map(|at| moment("--until", at)).transpose()?,
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
