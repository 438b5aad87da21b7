//! `formats`: what can be read, and how to describe what cannot.

use super::args::FormatsArgs;
use super::plan::Settings;
use super::progress::visible;
use super::{CliError, Exit};
use crate::capture::described;
use std::io::{self, Write};

pub fn run(args: &FormatsArgs) -> Result<Exit, CliError> {
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    if args.describe {
        out.write_all(described::GUIDE.as_bytes()).and_then(|()| out.flush()).map_err(CliError::output)?;
        return Ok(Exit::Done);
    }
    let formats = Settings::read(args.expect.as_deref())?.formats;
    let mut list = || -> io::Result<()> {
        for format in formats.distinct() {
            let about = format.about();
            let own = format.file().map(|file| format!(" (your own, of {})", visible(file))).unwrap_or_default();
            writeln!(out, "{}{own}\n  {}; written by {}", format.name(), visible(&about.what), visible(&about.writer))?;
            writeln!(out, "  looks like  {}", visible(format.looks_like()))?;
            let answers = [
                ("bodies", &about.bodies),
                ("values", &about.values),
                ("times", &about.times),
                ("direction", &about.direction),
                ("session", &about.session),
            ];
            let answers = answers.map(|(what, answer)| format!("{what}: {}", visible(answer)));
            writeln!(out, "  {}", answers.join(" · "))?;
        }
        writeln!(
            out,
            "\nA log in none of them? `mcptally formats --describe` says how to describe it in mcptally.toml."
        )?;
        out.flush()
    };
    list().map_err(CliError::output)?;
    Ok(Exit::Done)
}
