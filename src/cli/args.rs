//! What was typed. What it means is [`super::plan`]'s business.

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::tz::TimeZone;
use std::path::PathBuf;

/// Counts what Model Context Protocol traffic held: capture files in, sums that close out.
#[derive(Debug, Parser)]
#[command(
    name = "mcptally",
    version,
    after_help = "Exit status: 0 the work was done; 1 --fail-on was met; 2 it could not be done, or not completely."
)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
    /// Colour the terminal output
    #[arg(long, value_enum, default_value_t = ColorWhen::Auto, global = true, value_name = "WHEN")]
    pub color: ColorWhen,
    /// Say less: no progress, no remarks on standard error
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more on standard error
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
}

/// A side of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Hop {
    /// What clients sent
    Outer,
    /// What servers got
    Inner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Audit captures (files, folders, globs, - for standard input) or a frames folder
    Audit(Box<AuditArgs>),
    /// Read captures once and add them to a frames folder
    Ingest(IngestArgs),
    /// Say what each file is, why we think so, its ledger and its first rejected lines
    Inspect(InspectArgs),
    /// Say what a finding means and what to do; without RULE, all of them
    Explain {
        /// Id of a rule, such as MT101; or `thresholds`
        rule: Option<String>,
    },
    /// List the capture formats that can be read, and say how to describe one of your own
    Formats(FormatsArgs),
    /// Print shell completions
    Completions { shell: clap_complete::Shell },
    /// Print the manual page
    Man,
}

/// How captures are read.
#[derive(Debug, Clone, Default, Args)]
pub struct ReadArgs {
    /// Read every file as this format instead of detecting it (see `mcptally formats`)
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Settings: formats of your own and expectations (default: ./mcptally.toml if there)
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Take the session from this member of the record or of params._meta
    #[arg(long, value_name = "KEY")]
    pub session_key: Option<String>,
    /// Zone of times that name none, as IANA calls it (Europe/Berlin); without it they are taken as UTC
    #[arg(long, value_name = "ZONE", value_parser = time_zone)]
    pub timezone: Option<TimeZone>,
    /// Exit 0 although records were rejected or files could not be read
    #[arg(long)]
    pub lenient: bool,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Capture files, folders or globs, - for standard input; or one frames folder
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Also write report.json, report.md, rejected.ndjson, tables/*.csv, charts/*.png and *.svg
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write report.json alone (- is standard output)
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Write the Markdown report alone (- is standard output)
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub markdown: Option<PathBuf>,
    /// Show these sections only: ledger, values, keys, elicitations, sessions, handlers, contract, provenance, completion, time
    #[arg(long, value_name = "SECTION", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Calls and questions from this time on (2026-03-01 or 2026-03-01T08:00:00Z)
    #[arg(long, value_name = "T")]
    pub since: Option<String>,
    /// Calls and questions before this time
    #[arg(long, value_name = "T")]
    pub until: Option<String>,
    /// Of this server
    #[arg(long, value_name = "S")]
    pub server: Option<String>,
    /// Of this prompt
    #[arg(long, value_name = "P")]
    pub prompt: Option<String>,
    /// Of this client
    #[arg(long, value_name = "C")]
    pub client: Option<String>,
    /// Of this session
    #[arg(long, value_name = "S")]
    pub session: Option<String>,
    /// Where a gateway was captured on both of its sides: count this one only
    #[arg(long, value_enum, value_name = "SIDE")]
    pub hop: Option<Hop>,
    /// The intended values of an argument; repeatable
    #[arg(long, value_name = "PROMPT.ARGUMENT=a,b,c")]
    pub intended: Vec<String>,
    /// Rows of each list on the terminal and in Markdown
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Show the text that people typed
    #[arg(long)]
    pub reveal: bool,
    /// 32-byte key of the printed hashes, as 64 hex digits, so that hashes compare between runs
    #[arg(long, value_name = "FILE")]
    pub hash_key_file: Option<PathBuf>,
    /// Exit 1 when a finding of this rule or severity (error, warning, note) is there, or N of them
    #[arg(long, value_name = "RULE|SEVERITY[=N]")]
    pub fail_on: Vec<String>,
}

#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Capture files, folders or globs, - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// The frames folder: made if it is not there, added to if it is
    #[arg(long, value_name = "DIR")]
    pub frames: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// 32-byte key of the printed hashes, as 64 hex digits (new folders only)
    #[arg(long, value_name = "FILE")]
    pub hash_key_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct FormatsArgs {
    /// Say how a format of your own is described, instead of listing formats
    #[arg(long)]
    pub describe: bool,
    /// Settings with formats of your own (default: ./mcptally.toml if there)
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Capture files, folders or globs, - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Rejected lines shown for each file
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub top: usize,
}

fn time_zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| "no such time zone; names are those of the IANA, such as Europe/Berlin".to_owned())
}
