//! `explain`: the page of a rule.

use super::{CliError, Exit};
use crate::expect::THRESHOLDS;
use crate::finding::{RULES, Rule};
use std::io::{self, Write};

pub fn run(rule: Option<&str>) -> Result<Exit, CliError> {
    let mut out = anstream::stdout().lock();
    match rule {
        Some("thresholds") => thresholds(&mut out).map_err(CliError::output)?,
        Some(id) => {
            let Some(rule) = RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id)) else {
                let known: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
                return Err(CliError::usage(format!(
                    "no rule {id}; the rules are {}; `thresholds` is a page too",
                    known.join(", ")
                )));
            };
            page(rule, &mut out).map_err(CliError::output)?;
        }
        None => {
            for (number, rule) in RULES.iter().enumerate() {
                if number > 0 {
                    writeln!(out).map_err(CliError::output)?;
                }
                page(rule, &mut out).map_err(CliError::output)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn page(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {} ({})", rule.id, rule.name, rule.severity.as_str())?;
    for (other, when) in rule.otherwise() {
        writeln!(out, "  A {} {when}.", other.as_str())?;
    }
    for line in rule.page.trim().lines() {
        writeln!(out, "  {}", line.trim_end())?;
    }
    Ok(())
}

/// What `[thresholds]` of mcptally.toml may set.
fn thresholds(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Thresholds, set in mcptally.toml under [thresholds]; the values are the defaults.")?;
    for threshold in THRESHOLDS {
        writeln!(out, "\n{} = {}\n  {}", threshold.name, threshold.default, threshold.reason)?;
    }
    Ok(())
}
