use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    mcptally::cli::run(mcptally::cli::args::Cli::parse()).into()
}
