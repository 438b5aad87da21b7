//! What carriers of logs put before a line: Docker, Kubernetes, journald, syslog, and people who quote.

use super::time;
use crate::protocol::message::Ts;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::LazyLock;

/// How far a decoration is looked for.
const LOOK: usize = 512;

/// Something put before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dress {
    pub length: usize,
    /// Its time, where it has one with a zone.
    pub ts: Option<Ts>,
    /// The line goes on in the next: a container runtime cuts at 16 KiB.
    pub partial: bool,
}

struct Kind {
    pattern: Option<Regex>,
    partial: bool,
}

/// The outermost decoration of a line.
pub fn undress(line: &[u8]) -> Option<Dress> {
    static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
        let time = r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d))";
        let program = r"\S+ [^\s:\[\]{}]+(?:\[\d+\])?: ";
        [
            // The log files of containers (CRI), whole lines and parts.
            (format!("^{time} (?:stdout|stderr) F "), false),
            (format!("^{time} (?:stdout|stderr) P "), true),
            // syslog (RFC 5424), syslog as it was before (RFC 3164) and journald.
            (format!(r"^<\d{{1,3}}>1 (?:{time}|-) \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]]*\])+) "), false),
            (format!(r"^(?:<\d{{1,3}}>)?(?:{time}|[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?) {program}"), false),
            // docker logs -t, docker compose logs, kubectl logs --prefix.
            (format!("^{time} "), false),
            (r"^[A-Za-z0-9][A-Za-z0-9_.-]* +\| ?".to_owned(), false),
            (r"^\[pod/[^\]\s]+\] ".to_owned(), false),
            // A quotation.
            ("^(?:> ?)+".to_owned(), false),
        ]
        .into_iter()
        .map(|(pattern, partial)| Kind { pattern: RegexBuilder::new(&pattern).unicode(false).build().ok(), partial })
        .collect()
    });
    // Each of them begins with one of these; most lines of most logs do not.
    if !line.first().is_some_and(|first| first.is_ascii_alphanumeric() || b"<[>".contains(first)) {
        return None;
    }
    let head = line.get(..LOOK).unwrap_or(line);
    KINDS.iter().find_map(|kind| {
        let found = kind.pattern.as_ref()?.captures(head)?;
        let ts = found.name("at").and_then(|at| time::text(at.as_bytes()));
        Some(Dress { length: found.get(0)?.end(), ts, partial: kind.partial })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_are_known_by_their_prefixes() {
        let moment = time::text(b"2026-02-01T10:00:00.125Z");
        for (line, ts) in [
            ("2026-02-01T10:00:00.125000000Z stdout F read: {}", moment),
            ("2026-02-01T11:00:00.125+01:00 read: {}", moment),
            ("recipes-1  | read: {}", None),
            ("[pod/recipes-7d4b9/server] read: {}", None),
            ("Feb  1 10:00:00 host recipes[4711]: read: {}", None),
            ("<34>Feb 01 10:00:00 host recipes: read: {}", None),
            ("2026-02-01T10:00:00.125+0000 host recipes[4711]: read: {}", moment),
            ("<165>1 2026-02-01T10:00:00.125Z host recipes 4711 ID1 [a@1 b=\"c\"] read: {}", moment),
            ("<165>1 - host recipes 4711 - - read: {}", None),
            ("> > read: {}", None),
        ] {
            let dress = undress(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(&line[dress.length..], "read: {}", "{line}");
            assert_eq!(dress.ts, ts, "{line}");
            assert!(!dress.partial);
        }
        let part = undress(b"2026-02-01T10:00:00.125Z stdout P {\"a\":").unwrap();
        assert!(part.partial);
    }

    #[test]
    fn logs_of_their_own_are_left_alone() {
        for line in ["read: {}", "{\"a\":1}", "[info] text", "2026-02-01 10:00:00.125 [info] text", "", "é | x"] {
            assert_eq!(undress(line.as_bytes()), None, "{line}");
        }
    }
}
