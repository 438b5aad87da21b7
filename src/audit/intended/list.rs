//! Closed lists of values in an argument's description.
//!
//! MCP gives prompt arguments no `enum`, so authors write the permitted values into the description. Four forms are read
//! and nothing else, because a wrong set is worse than none:
//!
//! 1. after a lead-in with a colon, to the end of the sentence: `One of: a, b, c.`, `Allowed values are: a | b`; without
//!    the colon only if every value is quoted: `One of "a", "b".`
//! 2. quoted alternatives: `'lenient' or 'strict'`, `"a", "b" or "c"`;
//! 3. bars: `a | b | c`, standing alone, in brackets or after a colon;
//! 4. slashes in brackets: `(a/b/c)`; two values only where they are quoted or `(yes/no)` and its kin.
//!
//! A value is quoted or a single word; a remark in brackets after it (`warm (default)`) is left out, and so is the full stop
//! of the sentence. A list is open, and gives no set, where the sentence says so (`e.g.`, `such as`, `etc.`, `or any
//! other`), where a negation stands before it, or where words go on behind it (`'yes' or 'no' questions`). Names of JSON
//! types (`string | null`) and date patterns (`(dd/mm/yyyy)`) are no values. Two lists that differ cancel each other.

use crate::protocol::message::Text;
use regex::Regex;
use std::sync::LazyLock;

/// A pattern of this file; one that did not compile would match nothing.
fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

const QUOTED: &str = r#"(?:"[^"\n]{1,60}"|'[^'\n]{1,60}'|`[^`\n]{1,60}`|“[^”\n]{1,60}”|‘[^’\n]{1,60}’)"#;
const BARE: &str = r"[\p{L}\p{N}_][\p{L}\p{N}_.+#-]*";

static LEAD_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:one of|(?:(?:allowed|permitted|valid|possible|accepted|supported) )?(?:values|options|choices))(?: are)?(?P<colon> ?:)?\s+",
    )
});
static QUOTED_RUN: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"{QUOTED}(?:(?:\s*,\s*|\s*,?\s+or\s+|\s*\|\s*|\s*/\s*){QUOTED})+")));
static BAR_RUN: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"(?:{QUOTED}|{BARE})(?:\s*\|\s*(?:{QUOTED}|{BARE}))+")));
static SLASH_RUN: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"\(\s*(?:{QUOTED}|{BARE})(?:\s*/\s*(?:{QUOTED}|{BARE}))+\s*\)")));
static ITEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(&format!(r"^(?:(?P<quoted>{QUOTED})|(?P<bare>[\p{{L}}\p{{N}}_][^\s,|;()\[\]]*))")));
static REMARK: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^\s*\([^()\n]{0,80}\)"));
static BETWEEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)^(?:\s*,\s*(?:(?:or|and)\s+)?|\s+(?:or|and)\s+|\s*\|\s*)"));
static OPEN_BEFORE: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b(?:e\.?g\b|such as|for example|for instance|examples?\b|including|includes)"));
static OPEN_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\betc\b|\.\.\.|…|\band so on\b|\bamong others\b|\bor (?:similar|others?|another|any|anything|custom|your own|an?|the like|free text)\b",
    )
});
static NEGATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:not|never|no|other than|except|unlike|instead of|rather than|without|avoid|like|than)\s*$")
});
static NO_VALUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)^(?:string|number|integer|int|float|boolean|bool|null|undefined|object|array|list|any)$")
});
static DATE_PART: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?i)^(?:d{1,2}|m{1,3}|y{2,4}|h{1,2}|s{1,2})$"));

fn matches(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// The values of a closed list in a description, in the order written, each once; `None` where there is no such list.
pub fn closed_list(description: &str) -> Option<Vec<Text>> {
    let mut lists = Vec::new();
    for (start, end, values) in candidates(description) {
        if is_open(description, start, end) {
            return None;
        }
        let mut once: Vec<Text> = Vec::new();
        for value in values {
            let value = value.trim();
            if !value.is_empty() && !once.iter().any(|known| &**known == value) {
                once.push(value.into());
            }
        }
        let typed = once.iter().any(|value| matches(&NO_VALUES, value));
        let date = once.iter().all(|value| matches(&DATE_PART, value));
        if once.len() >= 2 && !typed && !date && !lists.contains(&once) {
            lists.push(once);
        }
    }
    // The same list in two forms at once ("One of: 'a' or 'b'") is one list.
    if lists.len() == 1 { lists.pop() } else { None }
}

/// Start, end and raw values of every list, in any of the forms.
fn candidates(text: &str) -> Vec<(usize, usize, Vec<String>)> {
    let mut found: Vec<(usize, usize, Vec<String>)> = Vec::new();
    if let Some(lead_in) = LEAD_IN.as_ref() {
        for lead in lead_in.captures_iter(text) {
            let Some(whole) = lead.get(0) else { continue };
            let quoted_only = lead.name("colon").is_none();
            if let Some((length, values)) = after_lead_in(&text[whole.end()..], quoted_only) {
                found.push((whole.start(), whole.end() + length, values));
            }
        }
    }
    let runs: [(&LazyLock<Option<Regex>>, Form); 3] =
        [(&QUOTED_RUN, Form::Quoted), (&BAR_RUN, Form::Bars), (&SLASH_RUN, Form::Slashes)];
    for (regex, form) in runs {
        let Some(regex) = regex.as_ref() else { continue };
        for run in regex.find_iter(text) {
            let inside = found.iter().any(|(start, end, _)| *start <= run.start() && run.end() <= *end);
            if !inside && let Some(values) = run_values(text, run.start(), run.end(), form) {
                let stop = usize::from(run.as_str().ends_with('.'));
                found.push((run.start(), run.end() - stop, values));
            }
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Quoted,
    Bars,
    Slashes,
}

/// Values behind a lead-in and how far they reach.
fn after_lead_in(text: &str, quoted_only: bool) -> Option<(usize, Vec<String>)> {
    let (item, between, remark) = (ITEM.as_ref()?, BETWEEN.as_ref()?, REMARK.as_ref()?);
    let mut at = 0;
    let mut values = Vec::new();
    loop {
        let found = item.captures(&text[at..])?;
        let whole = found.get(0)?.as_str();
        at += whole.len();
        let mut stopped = false;
        if found.name("quoted").is_some() {
            values.push(unquote(whole).to_owned());
        } else if quoted_only {
            return None;
        } else {
            let value = whole.strip_suffix('.').unwrap_or(whole);
            stopped = value.len() < whole.len();
            if value.ends_with([':', '!', '?', '.', '…']) || value.eq_ignore_ascii_case("etc") {
                return None;
            }
            values.push(value.to_owned());
        }
        if stopped {
            // The full stop belongs to the sentence.
            at -= 1;
            break;
        }
        at += remark.find(&text[at..]).map_or(0, |found| found.end());
        let Some(separator) = between.find(&text[at..]) else { break };
        at += separator.end();
    }
    // One value made of bars or slashes alone is a list of its own.
    if let [only] = values.as_slice()
        && !quoted_only
    {
        values = only.split('/').map(str::to_owned).collect();
    }
    ends_here(&text[at..]).then_some((at, values))
}

fn run_values(text: &str, start: usize, end: usize, form: Form) -> Option<Vec<String>> {
    let (before, run, after) = (&text[..start], &text[start..end], &text[end..]);
    let values: Vec<String> = match form {
        Form::Quoted => {
            let opened = before.chars().next_back().is_none_or(|c| c.is_whitespace() || "([:".contains(c));
            let quoted = Regex::new(QUOTED).ok()?;
            let pieces: Vec<_> = quoted.find_iter(run).collect();
            let last_two = pieces.len().checked_sub(2).map(|at| &run[pieces[at].end()..pieces[at + 1].start()])?;
            let closed = last_two.contains("or") || last_two.contains(['|', '/']);
            if !opened || !closed || matches(&NEGATED, before) {
                return None;
            }
            pieces.iter().map(|piece| unquote(piece.as_str()).to_owned()).collect()
        }
        Form::Bars => {
            let before = before.trim_end_matches([' ', '\t']);
            if !before.is_empty() && !before.ends_with(['(', '[', ':', '\n', '`']) {
                return None;
            }
            let mut values: Vec<String> = run.split('|').map(|value| unquote(value.trim()).to_owned()).collect();
            if let Some(last) = values.last_mut()
                && last.ends_with('.')
            {
                last.pop();
            }
            values
        }
        Form::Slashes => {
            let inner = run.trim_start_matches('(').trim_end_matches(')');
            let parts: Vec<&str> = inner.split('/').map(str::trim).collect();
            let quoted = parts.iter().all(|part| unquote(part).len() < part.len());
            let pair = [("yes", "no"), ("true", "false"), ("on", "off")];
            let known = |parts: &[&str]| pair.iter().any(|(yes, no)| parts == [*yes, *no] || parts == [*no, *yes]);
            if parts.len() < 3 && !quoted && !known(&parts) {
                return None;
            }
            return Some(parts.into_iter().map(|part| unquote(part).to_owned()).collect());
        }
    };
    // A full stop that the pattern took for a part of the last value, and white space behind it, end a sentence.
    (run.ends_with('.') || ends_here(after)).then_some(values)
}

fn unquote(text: &str) -> &str {
    let mut chars = text.chars();
    match (chars.next(), chars.next_back()) {
        (Some('"'), Some('"')) | (Some('\''), Some('\'')) | (Some('`'), Some('`')) => chars.as_str(),
        (Some('“'), Some('”')) | (Some('‘'), Some('’')) => chars.as_str(),
        _ => text,
    }
}

/// Whether a list may end before this text: no word goes on.
fn ends_here(after: &str) -> bool {
    let rest = after.trim_start_matches([' ', '\t', '`']);
    rest.is_empty() || rest.starts_with(['.', ',', ';', ':', ')', ']', '(', '\n', '\r', '!', '—', '–'])
}

/// Whether the sentence says that the list is not all there is.
fn is_open(text: &str, start: usize, end: usize) -> bool {
    let before = &text[..start];
    let sentence = before.rfind(". ").into_iter().chain(before.rfind('\n')).max();
    // "e.g. " ends no sentence.
    let from = sentence.filter(|&at| !before[..at].to_lowercase().ends_with("e.g")).map_or(0, |at| at + 1);
    let after = &text[end..];
    let until = after.find(". ").into_iter().chain(after.find('\n')).min().unwrap_or(after.len());
    let after = &after[..until];
    matches(&OPEN_BEFORE, &before[from..]) || matches(&OPEN_AFTER, after) || after.trim_start().starts_with("..")
}

#[cfg(test)]
mod tests {
    use super::closed_list;
    use proptest::prelude::*;

    fn values(description: &str) -> Vec<String> {
        closed_list(description).unwrap_or_default().iter().map(|value| value.to_string()).collect()
    }

    #[test]
    fn lead_ins() {
        for description in [
            "One of: a, b, c.",
            "one of: a, b, c",
            "Tone of the reply. One of: a, b or c. Defaults to a.",
            "The tone (one of: a, b, c)",
            "Must be one of: a, b, and c; case matters",
            "Allowed values: a, b, c",
            "Allowed values are: a | b | c.",
            "Possible values: 'a', 'b', 'c'.",
            "One of: a (default), b, c (new).",
            "One of: a/b/c",
            "One of 'a', 'b', 'c'.",
            "Valid options: a, b, c\nAsk when in doubt.",
        ] {
            assert_eq!(values(description), ["a", "b", "c"], "{description}");
        }
        assert_eq!(values("One of: text/plain, text/html."), ["text/plain", "text/html"]);
        assert_eq!(values("One of: 1.0, 1.1, 2.0."), ["1.0", "1.1", "2.0"]);
        assert_eq!(values("One of: 'very warm', \"cold\"."), ["very warm", "cold"]);
    }

    #[test]
    fn quoted_alternatives() {
        assert_eq!(values("'lenient' or 'strict'"), ["lenient", "strict"]);
        assert_eq!(values("How to read it: 'lenient' or 'strict'. Mind the gap."), ["lenient", "strict"]);
        assert_eq!(values("Either \"a\", \"b\", or \"c\" (default \"a\")"), ["a", "b", "c"]);
        assert_eq!(values("`fast` | `slow`"), ["fast", "slow"]);
    }

    #[test]
    fn bars_and_slashes() {
        assert_eq!(values("a | b | c"), ["a", "b", "c"]);
        assert_eq!(values("Tone: warm|firm|neutral."), ["warm", "firm", "neutral"]);
        assert_eq!(values("The tone (warm | firm)"), ["warm", "firm"]);
        assert_eq!(values("Severity (low/mid/high)"), ["low", "mid", "high"]);
        assert_eq!(values("Include drafts (yes/no)"), ["yes", "no"]);
    }

    #[test]
    fn the_same_list_twice_is_one_and_two_lists_are_none() {
        assert_eq!(values("One of: a, b. Again: a | b"), ["a", "b"]);
        assert_eq!(values("One of: a, b. Or the short form: x | y"), [""; 0]);
    }

    #[test]
    fn no_list() {
        for description in [
            "",
            "One of the best, or not",
            "one of many, really",
            "warm, firm or neutral",
            "Name, email or phone",
            "One of: a",
            "One of: a, b, c, etc.",
            "One of: a, b, ...",
            "One of: a, b, or any other tone",
            "e.g. 'lenient' or 'strict'",
            "A mode, such as 'lenient' or 'strict'",
            "For example one of: a, b",
            "Anything but not 'a' or 'b'",
            "Ask 'yes' or 'no' questions",
            "The customer's or the vendor's name",
            "Use 'a' and 'b'",
            "string | null",
            "A date (dd/mm/yyyy)",
            "Speed (km/h)",
            "Owner and/or repository (owner/repo)",
            "His or her (he/she) name",
            "| a | b |",
            "very warm | cold day",
            "Options: see the manual, or ask",
            "One of: warm, formal, playful tones",
            "Options: a, b. Something else, e.g. c",
        ] {
            let expected: &[&str] = if description.starts_with("Options: a") { &["a", "b"] } else { &[] };
            assert_eq!(values(description), expected, "{description}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(description in "\\PC*") {
            closed_list(&description);
        }

        #[test]
        fn pieces_of_lists_never_panic(description in "(One of|values| |: |, |or |'|\"|\\(|\\)|/|\\||a|é|“|”|\\.|\\n|etc){0,24}") {
            closed_list(&description);
        }

        #[test]
        fn written_lists_are_read(items in prop::collection::btree_set("[a-z]{4,8}x", 2..6)) {
            let items: Vec<String> = items.into_iter().collect();
            let written = values(&format!("The tone. One of: {}.", items.join(", ")));
            prop_assert_eq!(written, items);
        }
    }
}
