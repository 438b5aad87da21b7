//! `completions` and `man`: printed by the binary, so that they cannot go stale.

use super::args::Cli;
use super::{CliError, Exit};
use clap::CommandFactory as _;
use std::io::Write as _;

pub fn completions(shell: clap_complete::Shell) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcptally", &mut script);
    std::io::stdout().write_all(&script).map_err(CliError::output)?;
    Ok(Exit::Done)
}

pub fn man() -> Result<Exit, CliError> {
    clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout()).map_err(CliError::output)?;
    Ok(Exit::Done)
}
