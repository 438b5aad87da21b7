//! Words that several outputs share.

use super::model::Run;
use crate::audit::tables::{LedgerFile, LedgerTotals};
use crate::audit::wording::{count, plural};

/// A verdict on sessions, in words that stand alone.
pub fn verdict(verdict: &'static str) -> &'static str {
    if verdict == "both" { "a per-session cause and per-request ones" } else { verdict }
}

/// Which mode made the report.
pub fn privacy(run: &Run) -> &'static str {
    if run.revealed {
        "Values are shown in full (--reveal); credentials are masked."
    } else {
        "Private, long and multi-line values are shown as length and keyed hash (--reveal shows them)."
    }
}

/// `lines = messages + …`, summed over files, with what is zero left out of the right side but never of the sum.
pub fn lines_equation(files: &[LedgerFile]) -> String {
    let sum = |of: fn(&LedgerFile) -> u64| files.iter().map(of).sum::<u64>();
    let terms = [
        (sum(|file| file.message_lines), "with messages"),
        (sum(|file| file.continuation), "continuation"),
        (sum(|file| file.noise), "noise"),
        (sum(|file| file.blank), "blank"),
        (sum(|file| file.rejected), "rejected"),
        (sum(|file| file.duplicates), "duplicates"),
    ];
    equation(&format!("{} lines", count(sum(|file| file.lines))), &terms)
}

/// `whole = a this + b that`, terms of zero left out; all of them zero gives `whole = 0`.
pub fn equation(whole: &str, terms: &[(u64, &str)]) -> String {
    let terms: Vec<String> =
        terms.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{} {name}", count(*n))).collect();
    format!("{whole} = {}", if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") })
}

/// What was found in the files, in one line.
pub fn found(totals: &LedgerTotals, files: &[LedgerFile]) -> String {
    let other: u64 = files.iter().map(|file| file.other).sum();
    let mut text = format!(
        "{} ({} of kinds no analysis reads) in {}: {}, {}",
        plural(totals.messages, "message"),
        count(other),
        plural(totals.sessions, "session"),
        plural(totals.prompt_calls, "prompt call"),
        plural(totals.elicitations, "elicitation"),
    );
    if totals.prompt_wire_requests != totals.prompt_calls {
        text.push_str(&format!(" ({} prompts/get on the wire)", count(totals.prompt_wire_requests)));
    }
    text
}

/// Bytes in the largest unit that leaves at least one of it.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    UNITS
        .iter()
        .find(|(_, size)| bytes >= *size)
        .map_or_else(|| format!("{bytes} B"), |(unit, size)| format!("{:.1} {unit}", bytes as f64 / *size as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_leave_out_zeros_only() {
        assert_eq!(
            equation("5 calls", &[(3, "rendered"), (0, "error"), (2, "unanswered")]),
            "5 calls = 3 rendered + 2 unanswered"
        );
        assert_eq!(equation("0 calls", &[(0, "rendered")]), "0 calls = 0");
    }

    #[test]
    fn bytes_have_a_unit() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_500), "1.5 kB");
        assert_eq!(bytes(4_000_000_000), "4.0 GB");
    }
}
