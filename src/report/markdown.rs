//! An incident write-up in GitHub-flavoured Markdown.

use super::files::{Draft, Output};
use super::model::{RenderOptions, Report, Section};
use super::outline::{self, Block, Line, Table};
use super::printable::Page;
use super::{time, words};
use crate::finding::Finding;
use crate::finding::rule::RULES;
use std::io::{self, Write};

/// Graphemes of one cell; the whole text is in the CSV.
const CELL: usize = 80;
/// Graphemes of a sentence: as good as all of it, and a bound all the same.
const SENTENCE: usize = 4000;
/// Rows of evidence under a finding.
const EVIDENCE: usize = 3;

/// `report.md`.
pub struct Incident;

impl Output for Incident {
    fn paths(&self) -> &'static [&'static str] {
        &["report.md"]
    }

    fn write(&self, report: &Report, options: &RenderOptions, dir: &Draft) -> io::Result<()> {
        dir.file("report.md", |file| render_markdown(report, options, file))
    }
}

/// Writes findings, then the sections asked for (all of them by default).
pub fn render_markdown(report: &Report, options: &RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Markdown { page: Page::new(report, options), out };
    let run = &report.run;
    writeln!(page.out, "# Audit of MCP traffic\n")?;
    writeln!(
        page.out,
        "mcptally {}, {} UTC. {}{}\n",
        page.page.prose(&run.version).markdown(CELL),
        time::readable(run.at).unwrap_or_default(),
        words::privacy(run),
        if run.complete { "" } else { " **Not everything could be read; the sums cover what was read.**" },
    )?;
    let sections = if options.sections.is_empty() { Section::ALL } else { &options.sections };
    page.blocks(&outline::findings(report, options.top.max(50)))?;
    for section in sections {
        page.blocks(&outline::section(report, options, *section))?;
    }
    Ok(())
}

struct Markdown<'a> {
    page: Page<'a>,
    out: &'a mut dyn Write,
}

impl Markdown<'_> {
    fn blocks(&mut self, blocks: &[Block<'_>]) -> io::Result<()> {
        let mut in_list = false;
        for block in blocks {
            let is_line = matches!(block, Block::Line(_));
            if in_list && !is_line {
                writeln!(self.out)?;
            }
            in_list = is_line;
            match block {
                Block::Heading(text) => writeln!(self.out, "## {text}\n")?,
                Block::Subheading(line) => writeln!(self.out, "### {}\n", self.text(line))?,
                Block::Line(line) => writeln!(self.out, "- {}", self.text(line))?,
                Block::Table(table) => self.table(table)?,
                Block::Finding(finding) => self.finding(finding)?,
            }
        }
        if in_list {
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn text(&self, line: &Line) -> String {
        self.page.sentence(&line.0).markdown(SENTENCE)
    }

    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let name = RULES.iter().find(|rule| rule.id == finding.rule).map_or("", |rule| rule.name);
        writeln!(self.out, "### {} {} ({})\n", finding.rule, name, finding.severity.as_str())?;
        writeln!(self.out, "{}\n", self.page.sentence(&finding.sentence).markdown(SENTENCE))?;
        if !finding.next_step.is_empty() {
            writeln!(self.out, "Next step: {}\n", self.page.prose(&finding.next_step).markdown(SENTENCE))?;
        }
        for at in finding.evidence.iter().take(EVIDENCE) {
            let mut line = format!("- Evidence: {}:{}", self.page.name(&at.file).markdown(CELL), at.position);
            if let Some(time) = at.ts.and_then(time::readable) {
                line.push_str(&format!(", {time} UTC"));
            }
            if let Some(session) = &at.session {
                line.push_str(&format!(", session {}", self.page.name(session).markdown(CELL)));
            }
            writeln!(self.out, "{line}")?;
        }
        if finding.evidence.len() > EVIDENCE {
            let more = finding.evidence.len() - EVIDENCE;
            writeln!(
                self.out,
                "- {more} more of this finding in tables/evidence.csv, fingerprint {}",
                finding.fingerprint()
            )?;
        }
        if !finding.evidence.is_empty() {
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn table(&mut self, table: &Table) -> io::Result<()> {
        let numeric = |index: usize| table.rows.iter().all(|row| row[index].is_number());
        writeln!(self.out, "| {} |", table.columns.join(" | "))?;
        let rules: Vec<&str> =
            (0..table.columns.len()).map(|index| if numeric(index) { "---:" } else { "---" }).collect();
        writeln!(self.out, "| {} |", rules.join(" | "))?;
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.for_people(&self.page).markdown(CELL)).collect();
            writeln!(self.out, "| {} |", cells.join(" | "))?;
        }
        writeln!(self.out)?;
        if let Some(left_out) = &table.left_out {
            writeln!(self.out, "{left_out}\n")?;
        }
        Ok(())
    }
}
