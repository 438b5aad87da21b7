//! Sessions: every time, or now and then.

use super::{Block, Line, Table, cut};
use crate::audit::tables::{SessionUnit, SessionVerdict};
use crate::audit::wording::{count, expectation, percent, plural};
use crate::report::grid::{Cell, prompt, significant};
use crate::report::model::{RenderOptions, Report};
use crate::report::words::{self, equation};

/// Units with a bad attempt: stale ones first, then by bad attempts.
pub fn by_bad(units: &[SessionUnit]) -> Vec<&SessionUnit> {
    let mut sorted: Vec<&SessionUnit> = units.iter().filter(|unit| unit.bad > 0).collect();
    sorted.sort_by(|a, b| {
        let key = |unit: &SessionUnit| (unit.stale, persistent(unit), unit.bad);
        key(b).cmp(&key(a)).then_with(|| (&a.server, &a.prompt, &a.session).cmp(&(&b.server, &b.prompt, &b.session)))
    });
    sorted
}

/// Fails every time, or from some moment on.
pub fn persistent(unit: &SessionUnit) -> bool {
    matches!(unit.bad_pattern, "every time" | "went bad") || unit.stale
}

pub fn table(units: &[&SessionUnit], top: usize) -> Table {
    let mut table =
        Table::new(&["prompt", "session", "client", "bad", "of", "pattern", "cause", "stale", "told", "old keys"]);
    let (shown, left_out) = cut(units, top, "session", |unit| unit.attempts, "attempt", "sessions");
    for unit in shown {
        table.push(vec![
            prompt(&unit.prompt),
            Cell::Session(unit.session.clone()),
            unit.client.as_ref().into(),
            unit.bad.into(),
            unit.attempts.into(),
            unit.bad_pattern.into(),
            unit.cause.into(),
            unit.stale.into(),
            unit.told.into(),
            Cell::from(&unit.outdated_keys),
        ]);
    }
    table.left_out = left_out;
    table
}

/// One sentence for a verdict, and its equation.
pub fn verdict<'r>(row: &SessionVerdict) -> Vec<Block<'r>> {
    let mut text = format!(
        " on SERVER: {}; {} in {}",
        words::verdict(row.verdict),
        plural(row.attempts, "attempt"),
        plural(row.units, "unit")
    );
    if let Some(rate) = row.pooled_rate {
        text.push_str(&format!(", {} % bad", percent(rate)));
    }
    if let Some(expected) = row.all_bad_expected {
        text.push_str(&format!(
            "; units bad throughout: {} seen, {} expected by chance",
            count(row.all_bad_seen),
            if row.bad == 0 { "0".to_owned() } else { expectation(expected) }
        ));
    }
    if let Some(icc) = row.icc {
        text.push_str(&format!("; ICC {}", significant(icc)));
    }
    if let Some(p) = row.p_adjusted {
        text.push_str(&format!("; p {} (Holm)", significant(p)));
    }
    let (before, after) = text.split_once("SERVER").unwrap_or((&text, ""));
    let mut blocks =
        vec![Block::Line(Line::default().prompt(row.prompt.as_ref()).say(before).name(&row.server).say(after))];
    if row.bad > 0 {
        blocks.push(Block::Line(Line::new(equation(
            &format!("{} bad", plural(row.bad, "attempt")),
            &[
                (row.bad_in_runs, "in sessions that fail every time or from a moment on"),
                (row.bad_mixed, "in mixed sessions"),
                (row.bad_single, "in sessions with one attempt"),
            ],
        ))));
    }
    if let Some(change) = &row.across_change {
        blocks.push(Block::Line(Line::new(format!(
            "Alive across a change of the declaration: listed again {} bad, {} clean; not listed again {} bad, \
             {} clean (Fisher p {}); opened later {} bad, {} clean",
            count(change.listed_again_bad),
            count(change.listed_again_clean),
            count(change.not_listed_bad),
            count(change.not_listed_clean),
            change.fisher_p.map_or_else(|| "–".to_owned(), significant),
            count(change.opened_later_bad),
            count(change.opened_later_clean)
        ))));
    }
    blocks
}

pub fn sessions<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let audit = &report.audit;
    let mut blocks = vec![Block::Heading("Sessions".to_owned())];
    let mut verdicts: Vec<&SessionVerdict> = audit.session_verdicts.iter().collect();
    verdicts.sort_by_key(|row| std::cmp::Reverse(row.bad));
    let (shown, left_out) = cut(&verdicts, options.top, "prompt", |row| row.attempts, "attempt", "session_verdicts");
    for row in shown {
        blocks.extend(verdict(row));
    }
    blocks.extend(left_out.map(|text| Block::Line(Line::new(text))));
    let bad = by_bad(&audit.sessions);
    if !audit.sessions.is_empty() {
        let clean = audit.sessions.len() - bad.len();
        blocks.push(Block::Line(Line::new(format!(
            "{} of a prompt and a session under one declaration: {} with a bad attempt, {} without",
            plural(audit.sessions.len() as u64, "unit"),
            count(bad.len() as u64),
            count(clean as u64)
        ))));
    }
    if !bad.is_empty() {
        blocks.push(Block::Table(table(&bad, options.top)));
    }
    blocks
}
