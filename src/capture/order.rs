//! The order of files, and what their names tell.

use crate::protocol::message::Direction;
use std::cmp::Ordering;

/// Words of a file's name that say which half of the traffic it holds.
const CLIENT_WORDS: [&str; 4] = ["stdin", "in", "client", "c2s"];
const SERVER_WORDS: [&str; 4] = ["stdout", "out", "server", "s2c"];

/// Extensions that say how a file is kept, not what it is.
const EXTENSIONS: [&str; 8] = ["log", "ndjson", "jsonl", "json", "txt", "out", "gz", "zst"];

/// Natural order of paths: runs of digits by their number, and of rotated files (`x.log.2`, `x.log.1`, `x.log`) the
/// highest, which is the oldest, first.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (a_base, a_turn) = rotation(a);
    let (b_base, b_turn) = rotation(b);
    by_numbers(a_base, b_base).then(b_turn.cmp(&a_turn)).then_with(|| a.cmp(b))
}

/// A path without what compression and rotation append, and the number of the rotation.
fn rotation(path: &str) -> (&str, u64) {
    let path = path.strip_suffix(".gz").or_else(|| path.strip_suffix(".zst")).unwrap_or(path);
    match path.rsplit_once('.') {
        // Longer numbers are dates.
        Some((base, digits)) if (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            (base, digits.parse().unwrap_or(0))
        }
        _ => (path, 0),
    }
}

fn by_numbers(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (x, a_rest) = part(a);
        let (y, b_rest) = part(b);
        let order = match (x.first(), y.first()) {
            (None, None) => return Ordering::Equal,
            (Some(p), Some(q)) if p.is_ascii_digit() && q.is_ascii_digit() => {
                let (p, q) = (significant(x), significant(y));
                p.len().cmp(&q.len()).then_with(|| p.cmp(q))
            }
            _ => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (a_rest, b_rest);
    }
}

fn significant(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

/// The run of digits, or the single other byte, at the beginning.
fn part(text: &[u8]) -> (&[u8], &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at(digits.max(1).min(text.len()))
}

/// What rotated siblings and the two halves of a split capture share: the path without extensions, numbers, dates and
/// the words for a direction at the end of its name.
pub fn stream(path: &str) -> String {
    let (folder, name) = match path.rfind(['/', '\\']) {
        Some(at) => path.split_at(at + 1),
        None => ("", path),
    };
    if is_desktop(name) {
        // The log of all servers repeats the logs of each; the server's tag tells connections apart.
        return format!("{folder}mcp*.log");
    }
    let mut words: Vec<&str> = name.split(['.', '-', '_', ' ']).filter(|word| !word.is_empty()).collect();
    while let Some(last) = words.last() {
        let lower = last.to_ascii_lowercase();
        let counts = lower.bytes().all(|byte| byte.is_ascii_digit() || byte == b't' || byte == b'z');
        let appended = counts || EXTENSIONS.contains(&&*lower) || hint_of(&lower).is_some();
        if !appended {
            break;
        }
        words.pop();
    }
    if let Some(first) = words.first()
        && hint_of(&first.to_ascii_lowercase()).is_some()
    {
        words.remove(0);
    }
    if let Some(last) = words.last_mut() {
        let bare = last.trim_end_matches(|letter: char| letter.is_ascii_digit());
        *last = if bare.is_empty() { last } else { bare };
    }
    format!("{folder}{}", words.join("-"))
}

fn is_desktop(name: &str) -> bool {
    name.strip_prefix("mcp").is_some_and(|rest| {
        rest.starts_with("-server-")
            || rest.split('.').next().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()))
    }) && name.contains(".log")
}

/// Whether the file is the desktop log that holds the lines of all servers.
pub fn is_combined(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    is_desktop(name) && !name.starts_with("mcp-server-")
}

/// The server a desktop log's name tells.
pub fn server(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?.strip_prefix("mcp-server-")?;
    let end = name.find(".log")?;
    name.get(..end).filter(|name| !name.is_empty())
}

fn hint_of(word: &str) -> Option<Direction> {
    if CLIENT_WORDS.contains(&word) {
        return Some(Direction::ClientToServer);
    }
    SERVER_WORDS.contains(&word).then_some(Direction::ServerToClient)
}

/// The direction a file's name tells, if it tells one.
pub fn hint(path: &str) -> Option<Direction> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let mut hints = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter_map(hint_of);
    let first = hints.next()?;
    hints.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_a_rotated_set_comes_first() {
        let mut paths = ["a.log", "a.log.1", "a.log.10.gz", "a.log.2", "b-10.log", "b-9.log", "b-9.log.1"];
        paths.sort_by(|a, b| natural(a, b));
        assert_eq!(paths, ["a.log.10.gz", "a.log.2", "a.log.1", "a.log", "b-9.log.1", "b-9.log", "b-10.log"]);
    }

    #[test]
    fn rotated_siblings_and_halves_share_a_stream() {
        for (a, b) in [
            ("x/cap.ndjson", "x/cap.ndjson.2.gz"),
            ("x/cap.stdin.ndjson", "x/cap.stdout.ndjson"),
            ("stdin.log", "stdout.log"),
            ("in-cap.jsonl", "out-cap.jsonl"),
            ("part-1.ndjson", "part-2.ndjson"),
            ("day-2026-02-01.log", "day-2026-02-02.log"),
            ("logs/mcp.log", "logs/mcp-server-notes.log"),
        ] {
            assert_eq!(stream(a), stream(b), "{a} {b}");
        }
        assert_ne!(stream("x/cap.ndjson"), stream("y/cap.ndjson"));
        assert_ne!(stream("raw.ndjson"), stream("envelope.ndjson"));
    }

    #[test]
    fn names_tell_a_direction_or_none() {
        assert_eq!(hint("x/stdin.ndjson"), Some(Direction::ClientToServer));
        assert_eq!(hint("run-7.out"), Some(Direction::ServerToClient));
        assert_eq!(hint("client-to-server.log"), None);
        assert_eq!(hint("x/mining.log"), None);
        assert_eq!(server("logs/mcp-server-Notes (Reference).log"), Some("Notes (Reference)"));
        assert!(is_combined("logs/mcp.log") && is_combined("mcp1.log") && !is_combined("mcp-server-a.log"));
    }
}
