//! The report for a terminal.

use super::grid::Cell;
use super::model::{RenderOptions, Report, Section};
use super::outline::{self, Block, Table};
use super::printable::Page;
use super::{time, words};
use crate::finding::{Finding, Severity};
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};
use std::io::{self, Write};
use unicode_segmentation::UnicodeSegmentation as _;

/// Narrowest page.
const NARROWEST: usize = 40;
const INDENT: &str = "  ";
/// Spaces between columns.
const GAP: u16 = 2;

const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// Writes the first screen, or the sections asked for.
pub fn render_terminal(report: &Report, options: &RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Terminal {
        page: Page::new(report, options),
        width: usize::from(options.width).max(NARROWEST),
        colour: options.colour,
        out,
    };
    page.title(report)?;
    if options.sections.is_empty() {
        page.blocks(&outline::first_screen(report, options))?;
        page.more()
    } else {
        options.sections.iter().try_for_each(|section| page.blocks(&outline::section(report, options, *section)))
    }
}

struct Terminal<'a> {
    page: Page<'a>,
    width: usize,
    colour: bool,
    out: &'a mut dyn Write,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Note => AnsiColor::Cyan.on_default(),
    }
}

impl Terminal<'_> {
    fn title(&mut self, report: &Report) -> io::Result<()> {
        let run = &report.run;
        let at = time::readable(run.at).unwrap_or_default();
        let version = self.page.prose(&run.version);
        let title = format!("mcptally {}, {at} UTC", version.whole());
        self.line(BOLD, "", &title)?;
        self.line(DIM, "", words::privacy(run))?;
        if !run.complete {
            let text = if run.lenient {
                "Not everything could be read (forgiven by --lenient); the sums cover what was read."
            } else {
                "Not everything could be read; the sums cover what was read."
            };
            self.line(style(Severity::Warning), "", text)?;
        }
        Ok(())
    }

    fn more(&mut self) -> io::Result<()> {
        let names: Vec<&str> = Section::ALL.iter().map(|section| section.as_str()).collect();
        writeln!(self.out)?;
        let text = format!(
            "More: --only {}; all rows, charts and report.json: --out DIR; what a finding means: mcptally explain RULE",
            names.join(",")
        );
        self.line(DIM, "", &text)
    }

    fn blocks(&mut self, blocks: &[Block<'_>]) -> io::Result<()> {
        for block in blocks {
            match block {
                Block::Heading(text) => {
                    writeln!(self.out)?;
                    self.line(BOLD, "", &text.to_uppercase())?;
                }
                Block::Subheading(line) => {
                    writeln!(self.out)?;
                    let text = self.page.sentence(&line.0).whole().to_owned();
                    self.line(BOLD, INDENT, &text)?;
                }
                Block::Line(line) => {
                    let text = self.page.sentence(&line.0).whole().to_owned();
                    self.line(Style::new(), INDENT, &text)?;
                }
                Block::Table(table) => self.table(table)?,
                Block::Finding(finding) => self.finding(finding)?,
            }
        }
        Ok(())
    }

    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let sentence = self.page.sentence(&finding.sentence).whole().to_owned();
        let next = self.page.prose(&finding.next_step).whole().to_owned();
        let head = format!("{INDENT}{:<7} {} ", finding.severity.as_str(), finding.rule);
        let indent = " ".repeat(head.chars().count());
        let lines = wrap(&sentence, self.width.saturating_sub(indent.len()));
        for (index, line) in lines.iter().enumerate() {
            let before = if index == 0 { self.paint(style(finding.severity), &head) } else { indent.clone() };
            writeln!(self.out, "{before}{line}")?;
        }
        if !next.is_empty() {
            self.line(DIM, &indent, &format!("→ {next}"))?;
        }
        Ok(())
    }

    fn table(&mut self, table: &Table) -> io::Result<()> {
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| cell.for_people(&self.page).terminal(room(cell))).collect())
            .collect();
        let numeric: Vec<bool> = (0..table.columns.len())
            .map(|index| {
                table.rows.iter().map(|row| &row[index]).all(|cell| cell.is_number() || *cell == Cell::Nothing)
            })
            .collect();
        let widths = widths(&table.columns, &rows, &numeric, self.width.saturating_sub(INDENT.len()));
        let mut grid = comfy_table::Table::new();
        grid.load_style(RULED).set_content_arrangement(ContentArrangement::Dynamic).set_header(table.columns.clone());
        for row in rows {
            grid.add_row(row);
        }
        for (index, column) in grid.column_iter_mut().enumerate() {
            column.set_padding((0, GAP));
            if numeric[index] {
                column.set_cell_alignment(CellAlignment::Right);
            }
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(widths[index] + GAP)));
        }
        for line in grid.lines() {
            writeln!(self.out, "{INDENT}{}", line.trim_end())?;
        }
        if let Some(left_out) = &table.left_out {
            self.line(DIM, INDENT, left_out)?;
        }
        Ok(())
    }

    /// One paragraph, wrapped.
    fn line(&mut self, style: Style, indent: &str, text: &str) -> io::Result<()> {
        for line in wrap(text, self.width.saturating_sub(indent.len())) {
            let line = self.paint(style, &line);
            writeln!(self.out, "{indent}{line}")?;
        }
        Ok(())
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Graphemes that a cell may have; the whole text is in the CSV.
fn room(cell: &Cell) -> usize {
    match cell {
        Cell::Session(_) => 14,
        Cell::Prose(_) | Cell::Names(_) => 240,
        _ => 44,
    }
}

/// How wide each column is, in graphemes: as wide as its content if all fit, else the widest columns of text give way
/// first, down to their longest word, and only then break words.
fn widths(columns: &[&str], rows: &[Vec<String>], numeric: &[bool], room: usize) -> Vec<u16> {
    let graphemes = |text: &str| text.graphemes(true).count();
    let longest_word = |text: &str| text.split(' ').map(graphemes).max().unwrap_or(0);
    let cells = |index: usize| rows.iter().map(move |row| row[index].as_str());
    let all: Vec<usize> = (0..columns.len())
        .map(|index| cells(index).chain([columns[index]]).map(graphemes).max().unwrap_or(1))
        .collect();
    let words: Vec<usize> = (0..columns.len())
        .map(|index| {
            let least = |text: &str| if numeric[index] { graphemes(text) } else { longest_word(text) };
            let content = cells(index).map(least).max().unwrap_or(1);
            content.max(longest_word(columns[index]))
        })
        .collect();
    let broken: Vec<usize> =
        (0..columns.len()).map(|index| if numeric[index] { words[index] } else { words[index].min(8) }).collect();
    let gaps = columns.len() * usize::from(GAP);
    let mut widths = all;
    for least in [words, broken] {
        while widths.iter().sum::<usize>() + gaps > room {
            let widest =
                (0..widths.len()).filter(|index| widths[*index] > least[*index]).max_by_key(|index| widths[*index]);
            match widest {
                Some(index) => widths[index] -= 1,
                None => break,
            }
        }
    }
    widths.into_iter().map(|width| u16::try_from(width.max(1)).unwrap_or(u16::MAX)).collect()
}

/// Breaks text at spaces so that no line is wider than `width` graphemes; a longer word stands on lines of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(NARROWEST / 2);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let graphemes: Vec<&str> = word.graphemes(true).collect();
        for (index, piece) in graphemes.chunks(width).enumerate() {
            let gap = usize::from(index == 0 && used > 0);
            if used + gap + piece.len() > width {
                lines.push(String::new());
                used = 0;
            } else if gap > 0 {
                lines.last_mut().map(|line| line.push(' ')).unwrap_or_default();
                used += 1;
            }
            if let Some(line) = lines.last_mut() {
                line.extend(piece.iter().copied());
            }
            used += piece.len();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_at_spaces_and_long_words_break() {
        assert_eq!(wrap("aaaa bbbb cccc dddd eeee", 20), ["aaaa bbbb cccc dddd", "eeee"]);
        assert_eq!(wrap(&"x".repeat(45), 20), ["x".repeat(20), "x".repeat(20), "x".repeat(5)]);
        assert_eq!(wrap("", 20), [""]);
    }
}
