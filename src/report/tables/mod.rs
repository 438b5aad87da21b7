//! Every table of the report with all its rows and columns: what the CSV files hold.

/// A row of mixed cells.
macro_rules! row {
    ($($cell:expr),* $(,)?) => {
        vec![$(Cell::from($cell)),*]
    };
}

mod completion;
mod elicited;
mod prompts;
mod questions;
mod rates;
mod sessions;

use super::grid::{Cell, Grid, evidence};
use super::model::Report;
use crate::audit::tables::Audit;

/// All tables, in the order of the report.
pub fn all(report: &Report) -> Vec<Grid> {
    let audit = &report.audit;
    let mut grids = vec![errors(report), files(audit), methods(audit)];
    grids.extend(prompts::call_grids(audit));
    grids.extend(prompts::argument_grids(&audit.arguments));
    grids.extend([prompts::unknown_keys(audit), prompts::missing_required(audit)]);
    grids.extend(elicited::elicitation_grids(&audit.elicitations));
    grids.extend(questions::grids(&audit.questions));
    grids.extend([
        elicited::clients(audit),
        sessions::sessions(audit),
        sessions::session_verdicts(audit),
        prompts::handlers(audit),
        prompts::contract(audit),
        completion::completion(audit),
        completion::gaps(audit),
    ]);
    grids.extend(rates::rate_grids(audit));
    grids.extend(findings(audit));
    grids.push(thresholds(audit));
    grids
}

fn errors(report: &Report) -> Grid {
    let mut grid = Grid::new("errors", &["file", "message"]);
    for error in &report.errors {
        grid.push(row![&error.file, error.message.clone()]);
    }
    grid
}

fn files(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "files",
        &[
            "file",
            "format",
            "format_version",
            "why",
            "bytes",
            "lines",
            "message_lines",
            "messages",
            "other",
            "other_bytes",
            "noise",
            "blank",
            "continuation",
            "rejected",
            "duplicates",
            "duplicate_keys",
            "first_ts",
            "last_ts",
            "notes",
        ],
    );
    for file in &audit.ledger.files {
        grid.push(row![
            &file.file,
            &file.format,
            file.format_version.as_ref(),
            file.why.to_string(),
            file.bytes,
            file.lines,
            file.message_lines,
            file.messages,
            file.other,
            file.other_bytes,
            file.noise,
            file.blank,
            file.continuation,
            file.rejected,
            file.duplicates,
            file.duplicate_keys,
            file.first_ts,
            file.last_ts,
            file.notes.join("; "),
        ]);
    }
    grid
}

fn methods(audit: &Audit) -> Grid {
    let mut grid =
        Grid::new("methods", &["method", "requests", "results", "errors", "notifications", "unanswered", "orphans"]);
    for row in &audit.ledger.methods {
        grid.push(row![
            &row.method,
            row.requests,
            row.results,
            row.errors,
            row.notifications,
            row.unanswered,
            row.orphans
        ]);
    }
    grid
}

fn findings(audit: &Audit) -> Vec<Grid> {
    let mut summary = Grid::new("findings", &["fingerprint", "rule", "severity", "subject", "sentence", "next_step"]);
    let mut rows = Grid::new("evidence", &["fingerprint", "rule", "file", "position", "ts", "session"]);
    for finding in &audit.findings {
        summary.push(row![
            finding.fingerprint(),
            finding.rule,
            finding.severity.as_str(),
            &finding.subject,
            Cell::Sentence(finding.sentence.clone()),
            finding.next_step.clone(),
        ]);
        for at in &finding.evidence {
            let mut cells = row![finding.fingerprint(), finding.rule];
            cells.extend(evidence(Some(at)));
            rows.push(cells);
        }
    }
    vec![summary, rows]
}

fn thresholds(audit: &Audit) -> Grid {
    let mut grid = Grid::new("thresholds", &["name", "value", "default"]);
    for moved in &audit.thresholds {
        grid.push(row![moved.name, moved.value, moved.default]);
    }
    grid
}
