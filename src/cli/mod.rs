//! The command line: one small file per verb.

pub mod args;
mod audit;
mod error;
mod explain;
mod formats;
mod ingest;
mod inspect;
pub mod plan;
mod progress;
mod shell;

use args::{Cli, ColorWhen, Verb};
use error::CliError;
use std::io::Write as _;
use std::process::ExitCode;

/// How a run ended. 2 wins over 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The work was done.
    Done,
    /// The work was done, and what `--fail-on` names was found.
    Findings,
    /// It could not be done, or not completely.
    Incomplete,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Findings => Self::from(1),
            Exit::Incomplete => Self::from(2),
        }
    }
}

/// Runs what was typed and says on standard error why it could not be done.
pub fn run(cli: Cli) -> Exit {
    match cli.color {
        ColorWhen::Auto => {}
        ColorWhen::Always => anstream::ColorChoice::Always.write_global(),
        ColorWhen::Never => anstream::ColorChoice::Never.write_global(),
    }
    let voice = progress::Voice { quiet: cli.quiet, verbose: cli.verbose };
    let outcome = match &cli.verb {
        Verb::Audit(args) => audit::run(args, voice),
        Verb::Ingest(args) => ingest::run(args, voice),
        Verb::Inspect(args) => inspect::run(args, voice),
        Verb::Explain { rule } => explain::run(rule.as_deref()),
        Verb::Formats(args) => formats::run(args),
        Verb::Completions { shell } => shell::completions(*shell),
        Verb::Man => shell::man(),
    };
    match outcome {
        Ok(exit) => exit,
        Err(error) if error.is_broken_pipe() => Exit::Done,
        // Its marks are for the terminal, its text is the user's own file.
        Err(error::CliError::Report(report)) => {
            let _ = writeln!(anstream::stderr(), "mcptally: {report:?}");
            Exit::Incomplete
        }
        Err(error @ error::CliError::Nothing(_)) => {
            let _ = writeln!(anstream::stderr(), "mcptally: {error}");
            Exit::Incomplete
        }
        Err(error) => {
            voice.problem(error);
            Exit::Incomplete
        }
    }
}
