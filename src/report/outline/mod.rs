//! What a reader is told, in which order: the same blocks for the terminal and for Markdown.

mod completion;
mod elicited;
mod first;
mod ledger;
mod prompts;
mod questions;
mod rates;
mod sessions;

pub use elicited::by_unusable;
pub use first::first_screen;
use ledger::ledger;
pub use prompts::by_unintended;
pub use questions::by_lost;
pub use rates::by_change;

use super::grid::Cell;
use super::model::{RenderOptions, Report, Section};
use crate::audit::wording::{count, plural};
use crate::finding::Part;
use crate::finding::evidence::Shown;
use crate::finding::{Finding, Severity};
use crate::protocol::message::Text;
use crate::schema::ValueType;

/// A piece of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block<'r> {
    /// Begins a section.
    Heading(String),
    /// Begins a part of a section.
    Subheading(Line),
    Line(Line),
    Table(Table),
    Finding(&'r Finding),
}

/// A table of a section: fewer columns than the CSV, and perhaps fewer rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<Cell>>,
    /// What a cut leaves out.
    pub left_out: Option<String>,
}

/// A line of text, ours or from traffic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line(pub Vec<Part>);

impl Line {
    pub fn new(words: impl Into<String>) -> Self {
        Self::default().say(words)
    }

    pub fn say(mut self, words: impl Into<String>) -> Self {
        self.0.push(Part::Ours(words.into()));
        self
    }

    pub fn name(mut self, name: &Text) -> Self {
        self.0.push(Part::Name(name.clone()));
        self
    }

    pub fn value(mut self, value: &Shown, json_type: ValueType) -> Self {
        match json_type {
            ValueType::String => self.0.push(Part::Value(value.clone())),
            ValueType::Null => return self.say("(null)"),
            other => {
                self.0.push(Part::Value(value.clone()));
                return self.say(format!(" ({})", other.as_str()));
            }
        }
        self
    }

    /// `a, b, c`.
    pub fn names<'n>(mut self, names: impl IntoIterator<Item = &'n Text>) -> Self {
        for (index, name) in names.into_iter().enumerate() {
            if index > 0 {
                self = self.say(", ");
            }
            self = self.name(name);
        }
        self
    }

    /// `prompt on server`, or what stands for a prompt without a name.
    pub fn prompt(self, prompt: Option<&Text>) -> Self {
        match prompt {
            Some(prompt) => self.name(prompt),
            None => self.say("(no name)"),
        }
    }
}

impl Table {
    pub fn new(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), left_out: None }
    }

    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }
}

/// The first `top` of a list, and a sentence about the rest: how many, how much of the sum, and where they are.
pub fn cut<'i, T>(
    items: &'i [T],
    top: usize,
    noun: &str,
    weight: impl Fn(&T) -> u64,
    weight_noun: &str,
    csv: &str,
) -> (&'i [T], Option<String>) {
    if items.len() <= top {
        return (items, None);
    }
    let (shown, rest) = items.split_at(top);
    let sum: u64 = rest.iter().map(weight).sum();
    let sentence = format!(
        "Left out: {} with {}; all are in tables/{csv}.csv (--out).",
        plural(rest.len() as u64, noun),
        plural(sum, weight_noun)
    );
    (shown, Some(sentence))
}

/// The blocks of one section, in full up to `top` rows a list.
pub fn section<'r>(report: &'r Report, options: &RenderOptions, section: Section) -> Vec<Block<'r>> {
    let mut blocks = match section {
        Section::Ledger => ledger(report, options),
        Section::Values => prompts::values(report, options),
        Section::Keys => prompts::keys(report, options),
        Section::Elicitations => elicited::elicitations(report, options),
        Section::Sessions => sessions::sessions(report, options),
        Section::Handlers => prompts::handlers(report, options),
        Section::Contract => prompts::contract(report, options),
        Section::Provenance => vec![
            Block::Heading("Provenance".to_owned()),
            Block::Line(Line::new("Not analysed: this version does not ask where a prompts/get came from.")),
        ],
        Section::Completion => completion::completion(report, options),
        Section::Time => rates::rates(report, options),
    };
    if blocks.len() == 1 {
        blocks.push(Block::Line(Line::new("None in this traffic.")));
    }
    blocks
}

/// The findings, worst first, at most `top` of them.
pub fn findings<'r>(report: &'r Report, top: usize) -> Vec<Block<'r>> {
    let all = &report.audit.findings;
    let number = |severity| all.iter().filter(|finding| finding.severity == severity).count() as u64;
    let mut sorted: Vec<&Finding> = all.iter().collect();
    sorted.sort_by(|a, b| (a.severity, b.weight, a.rule).cmp(&(b.severity, a.weight, b.rule)));
    let mut blocks = vec![Block::Heading("What is wrong".to_owned())];
    if all.is_empty() {
        blocks.push(Block::Line(Line::new("No findings.")));
        return blocks;
    }
    blocks.push(Block::Line(Line::new(format!(
        "{}: {}, {}, {}.",
        plural(all.len() as u64, "finding"),
        plural(number(Severity::Error), "error"),
        plural(number(Severity::Warning), "warning"),
        plural(number(Severity::Note), "note")
    ))));
    let rest = sorted.split_off(sorted.len().min(top));
    blocks.extend(sorted.into_iter().map(Block::Finding));
    if !rest.is_empty() {
        let left = |severity| rest.iter().filter(|finding| finding.severity == severity).count() as u64;
        blocks.push(Block::Line(Line::new(format!(
            "Left out: {} ({}, {}, {}); all are in tables/findings.csv (--out).",
            plural(rest.len() as u64, "finding"),
            plural(left(Severity::Error), "error"),
            plural(left(Severity::Warning), "warning"),
            plural(left(Severity::Note), "note")
        ))));
    }
    blocks
}

/// `a 3, b 2`, largest first, terms of zero left out.
pub fn tally<'w>(counts: impl IntoIterator<Item = (&'w str, u64)>) -> String {
    let mut counts: Vec<(&str, u64)> = counts.into_iter().filter(|(_, n)| *n > 0).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts.iter().map(|(word, n)| format!("{word} {}", count(*n))).collect::<Vec<_>>().join(", ")
}
