//! Text that looks like a credential. It is masked in every output, revealed or not: a report is passed around, and
//! a mask that is wrong once costs less than a key that leaks once.

use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// What the text is. Random-looking names are common (session ids), so entropy alone masks values only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Value,
    Name,
}

/// Shortest run that entropy alone gives away, in characters.
const RANDOM_CHARS: usize = 32;
/// Shannon entropy from which such a run counts as random, in bits per character. Random base64 of 32 characters has
/// about 4.5, prose without spaces under 4.
const RANDOM_BITS: f64 = 3.5;
/// Share of neighbours of different kinds (lower, upper, digit) from which a run counts as random: words joined by
/// capitals change kind at one place in four, random base64 at more than half.
const RANDOM_CHANGES: f64 = 0.35;

/// The part to mask is the group named `secret`, else the whole match.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\b[srp]k[-_](?:live_|test_|ant-|proj-)?[A-Za-z0-9_-]{16,}",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"\bglpat-[A-Za-z0-9_-]{16,}",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}",
        r"\bAIza[A-Za-z0-9_-]{30,}",
        r"\bey[JK][A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*",
        r"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{12,})",
        r"://[^/\s:@]+:(?P<secret>[^/\s@]+)@",
        r#"(?i)(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key|authorization|credentials?)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;&]{4,})"#,
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

pub fn found(text: &str, scope: Scope) -> bool {
    !secrets(text, scope).is_empty()
}

/// Replaces what looks like a credential by what `mark` makes of it.
pub fn mask(text: &str, scope: Scope, mark: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets(text, scope) {
        out.push_str(&text[end..secret.start]);
        out.push_str(&mark(&text[secret.clone()]));
        end = secret.end;
    }
    out.push_str(&text[end..]);
    out
}

/// Where the secrets stand: in order, none overlapping.
fn secrets(text: &str, scope: Scope) -> Vec<Range<usize>> {
    // The shortest thing any pattern matches.
    if text.len() < 8 {
        return Vec::new();
    }
    let mut ranges: Vec<Range<usize>> = PATTERNS
        .iter()
        .flat_map(|pattern| pattern.captures_iter(text))
        .filter_map(|captures| captures.name("secret").or_else(|| captures.get(0)).map(|secret| secret.range()))
        .collect();
    if scope == Scope::Value {
        ranges.extend(random_runs(text));
    }
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

fn random_runs(text: &str) -> Vec<Range<usize>> {
    let in_run = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'_' | b'-' | b'=');
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let length = bytes[start..].iter().take_while(|b| in_run(**b)).count();
        if length >= RANDOM_CHARS && is_random(&bytes[start..start + length]) {
            runs.push(start..start + length);
        }
        start += length.max(1);
    }
    runs
}

fn is_random(run: &[u8]) -> bool {
    if is_uuid(run) {
        return false;
    }
    let hex = run.iter().all(u8::is_ascii_hexdigit) && run.iter().any(u8::is_ascii_digit);
    (hex && run.iter().any(u8::is_ascii_alphabetic)) || (entropy(run) >= RANDOM_BITS && changes(run) >= RANDOM_CHANGES)
}

/// Identifiers of this shape are in every log and open nothing.
fn is_uuid(run: &[u8]) -> bool {
    run.len() == 36
        && run.iter().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Shannon entropy of the byte frequencies, in bits per byte.
fn entropy(run: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for b in run {
        counts[usize::from(*b)] += 1;
    }
    let n = run.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / n).map(|p| -p * p.log2()).sum()
}

/// Share of neighbouring pairs whose kinds (lower, upper, digit) differ; pairs with a mark between words do not count.
fn changes(run: &[u8]) -> f64 {
    let kind = |b: u8| match b {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let changed = run
        .windows(2)
        .filter(|pair| kind(pair[0]) != kind(pair[1]) && kind(pair[0]) != 0 && kind(pair[1]) != 0)
        .count();
    changed as f64 / (run.len().max(2) - 1) as f64
}
