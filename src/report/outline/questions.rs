//! Chains of questions, and those who answer them.

use super::{Block, Line, Table, cut, tally};
use crate::audit::tables::questions::{Answering, Chain};
use crate::audit::wording::{count, percent, plural};
use crate::report::grid::{Cell, share_of};
use crate::report::model::{RenderOptions, Report};
use crate::report::words::equation;

pub fn questions<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut blocks = chains(report, options);
    blocks.extend(answering(report, options));
    blocks
}

/// Chains of more than one question, those that lose most first.
pub fn by_lost(chains: &[Chain]) -> Vec<&Chain> {
    let mut sorted: Vec<&Chain> = chains.iter().filter(|chain| chain.steps.len() > 1).collect();
    sorted.sort_by(|a, b| {
        ((b.lost, b.left, b.started).cmp(&(a.lost, a.left, a.started)))
            .then_with(|| (&a.server, &a.operation).cmp(&(&b.server, &b.operation)))
    });
    sorted
}

fn chains<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let sorted = by_lost(&report.audit.questions.chains);
    let (shown, left_out) = cut(&sorted, options.top, "chain", |chain| chain.started, "run", "chains");
    let mut blocks = Vec::new();
    for chain in shown {
        blocks.push(Block::Subheading(
            Line::new("Questions of ")
                .name(&chain.operation)
                .say(" on ")
                .name(&chain.server)
                .say(", one after the other"),
        ));
        blocks.push(Block::Line(Line::new(equation(
            &plural(chain.started, "run"),
            &[
                (chain.finished, "finished"),
                (chain.left, "left at a question"),
                (chain.failed, "failed"),
                (chain.not_known, "not captured to their end"),
            ],
        ))));
        blocks.push(Block::Line(Line::new(lost(chain))));
        let mut table =
            Table::new(&["step", "asks for", "asked", "answered", "declined", "cancelled", "no answer", "still there"]);
        let (steps, steps_left_out) = cut(&chain.steps, options.top, "step", |step| step.asked, "question", "chain");
        for step in steps {
            table.push(vec![
                step.step.into(),
                Cell::from(&step.fields),
                step.asked.into(),
                step.answered.into(),
                step.declined.into(),
                step.cancelled.into(),
                (step.unanswered + step.failed + step.not_captured).into(),
                share_of(step.still.map(|still| still.rate)),
            ]);
        }
        table.left_out = steps_left_out;
        blocks.push(Block::Table(table));
    }
    blocks.extend(left_out.map(|text| Block::Line(Line::new(text))));
    blocks
}

fn lost(chain: &Chain) -> String {
    let share = if chain.entered > 0 {
        format!(" ({} %)", percent(chain.lost as f64 / chain.entered as f64))
    } else {
        String::new()
    };
    let repeats = match chain.repeats {
        0 => String::new(),
        repeats => format!("; asked again after an unusable answer: {}", plural(repeats, "question")),
    };
    if chain.usual_length < 2 {
        return format!("Most finished runs ask one question{repeats}");
    }
    format!(
        "Of {} whose first question was answered, {}{share} were left before the usual last one, the {}{repeats}",
        plural(chain.entered, "run"),
        count(chain.lost),
        ordinal(chain.usual_length)
    )
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn answering<'r>(report: &'r Report, options: &RenderOptions) -> Vec<Block<'r>> {
    let mut rows: Vec<&Answering> = report.audit.questions.answering.iter().collect();
    if rows.is_empty() {
        return Vec::new();
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.decline + row.cancel, row.asked)));
    let mut table = Table::new(&[
        "client",
        "version",
        "asked",
        "accepted",
        "declined",
        "cancelled",
        "no answer",
        "refusal p50 ms",
        "p95 ms",
        "unread",
    ]);
    let (shown, left_out) = cut(&rows, options.top, "client", |row| row.asked, "question", "answering");
    for row in shown {
        table.push(vec![
            Cell::from(&row.client),
            row.version.as_ref().into(),
            row.asked.into(),
            row.accept.into(),
            row.decline.into(),
            row.cancel.into(),
            (row.error + row.malformed + row.unanswered + row.not_captured).into(),
            row.refusal_p50_ms.into(),
            row.refusal_p95_ms.into(),
            row.refuses_unread.into(),
        ]);
    }
    table.left_out = left_out;
    let mut blocks = vec![
        Block::Subheading(Line::new(
            "What clients do with questions (unread: refused before anybody can have read it)",
        )),
        Block::Table(table),
    ];
    for row in shown {
        let odd = tally([
            ("refused with content", row.refused_with_content),
            ("refused with an empty object as content", row.refused_with_empty),
            ("accepted with nothing filled in though something is required", row.accepted_empty),
        ]);
        if !odd.is_empty() {
            blocks.push(Block::Line(Line::default().name(&row.client).say(format!(": {odd}"))));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::ordinal;

    #[test]
    fn ordinals() {
        let words: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111].map(ordinal).to_vec();
        assert_eq!(words, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th"]);
    }
}
