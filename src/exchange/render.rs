//! What became of the arguments in a rendered prompt (analyses.md, section 7).

use crate::protocol::json::{clip, digest};
use crate::protocol::message::Text;
use crate::protocol::prompt::{Arguments, JsonType};
use ahash::AHashSet;
use aho_corasick::AhoCorasick;
use memchr::memmem;
use std::cell::LazyCell;
use std::ops::Range;
use std::sync::LazyLock;

/// A shorter value is masked only where it stands as a whole word: `a` is in every text.
const MIN_CHARS: usize = 3;
/// Values masked per text, longest first. It bounds the work that one hostile call can cause; no prompt declares so
/// many arguments.
const MAX_VALUES: usize = 256;
/// Longest name that a placeholder is believed to have, in bytes.
const MAX_NAME: usize = 64;

/// What one rendered text shows of its arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderedFacts {
    /// Length in Unicode scalar values.
    pub chars: u64,
    /// Hash of the text with the supplied values masked.
    pub skeleton: u64,
    /// Words of absence and unfilled placeholders outside the masked values, in order of appearance, each once.
    /// Candidates: whether one is a leak or the template's own word shows in other renderings.
    pub leaked: Vec<Text>,
    /// Arguments, in the order of the wire, whose value of at least three characters stands verbatim in the text.
    pub echoed: Vec<Text>,
}

/// Compares a rendered text with the arguments that were supplied for it.
pub fn rendered(text: &str, arguments: &Arguments) -> RenderedFacts {
    let supplied = supplied(arguments);
    let mut parts = vec![Part { range: 0..text.len(), argument: None }];
    let mut found = Vec::new();
    for value in supplied.iter().take(MAX_VALUES) {
        if mask(text, value, &mut parts) && !value.short {
            found.push(value.text);
        }
    }
    let echoes = |(_, value): &&(Text, _)| text_of(value).is_some_and(|text| found.contains(&text));
    RenderedFacts {
        chars: text.chars().count() as u64,
        skeleton: skeleton(text, &parts),
        leaked: leaked(text, &parts),
        echoed: arguments.entries.iter().filter(echoes).map(|(name, _)| name.clone()).collect(),
    }
}

/// A value to be masked, and the argument that stands for it.
struct Supplied<'a> {
    argument: &'a str,
    text: &'a str,
    short: bool,
}

/// Text that a template can have put in: a string, or a number as it was written.
fn text_of(value: &crate::protocol::prompt::Value) -> Option<&str> {
    matches!(value.json_type, JsonType::String | JsonType::Number).then_some(&*value.text)
}

/// Values, longest first; of equal values the argument whose name sorts first stands for both.
fn supplied(arguments: &Arguments) -> Vec<Supplied<'_>> {
    let mut values: Vec<Supplied<'_>> = arguments
        .entries
        .iter()
        .filter_map(|(argument, value)| Some((argument, text_of(value)?)))
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(argument, text)| Supplied { argument, text, short: text.chars().nth(MIN_CHARS - 1).is_none() })
        .collect();
    values.sort_by(|a, b| {
        b.text.len().cmp(&a.text.len()).then_with(|| a.text.cmp(b.text)).then_with(|| a.argument.cmp(b.argument))
    });
    values.dedup_by(|later, earlier| later.text == earlier.text);
    values
}

/// A piece of the text: as the template has it, or the value of an argument.
struct Part<'a> {
    range: Range<usize>,
    argument: Option<&'a str>,
}

/// Masks every occurrence of a value that is not masked yet; true if there was one.
fn mask<'a>(text: &str, value: &Supplied<'a>, parts: &mut Vec<Part<'a>>) -> bool {
    let finder = memmem::Finder::new(value.text);
    let occurs = |range: &Range<usize>| {
        let piece = text.get(range.clone()).unwrap_or_default();
        finder.find_iter(piece.as_bytes()).map(|at| range.start + at..range.start + at + value.text.len()).collect()
    };
    let mut masked = Vec::with_capacity(parts.len() + 2);
    let mut any = false;
    for part in parts.drain(..) {
        let places: Vec<Range<usize>> = if part.argument.is_none() { occurs(&part.range) } else { Vec::new() };
        let mut from = part.range.start;
        for place in places {
            if value.short && !whole_word(text, &place) {
                continue;
            }
            any = true;
            masked.push(Part { range: from..place.start, argument: None });
            from = place.end;
            masked.push(Part { range: place, argument: Some(value.argument) });
        }
        masked.push(Part { range: from..part.range.end, argument: part.argument });
    }
    *parts = masked;
    any
}

fn whole_word(text: &str, place: &Range<usize>) -> bool {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let before = text.get(..place.start).and_then(|before| before.chars().next_back());
    let after = text.get(place.end..).and_then(|after| after.chars().next());
    !before.is_some_and(word) && !after.is_some_and(word)
}

fn skeleton(text: &str, parts: &[Part<'_>]) -> u64 {
    let mut masked = String::with_capacity(text.len());
    for part in parts {
        match part.argument {
            Some(argument) => {
                // Control characters that no template has keep a placeholder from looking like text.
                masked.push('\u{1}');
                masked.push_str(argument);
                masked.push('\u{2}');
            }
            None => masked.push_str(text.get(part.range.clone()).unwrap_or_default()),
        }
    }
    digest(masked.as_bytes())
}

/// What Python, JavaScript and JSON print for a value that is not there.
const ABSENCE: [&str; 5] = ["None", "null", "undefined", "NaN", "[object Object]"];
/// How placeholders begin, after the words of absence.
const OPENINGS: [&str; 3] = ["{", "<", "%("];

static CANDIDATES: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(ABSENCE.iter().chain(&OPENINGS)).ok());

fn leaked(text: &str, parts: &[Part<'_>]) -> Vec<Text> {
    let mut found: Vec<Text> = Vec::new();
    let mut known: AHashSet<&str> = AHashSet::new();
    let closed = LazyCell::new(|| closed_tags(text));
    let Some(candidates) = CANDIDATES.as_ref() else { return found };
    for part in parts.iter().filter(|part| part.argument.is_none()) {
        let piece = text.get(part.range.clone()).unwrap_or_default();
        // A placeholder of two braces holds one of one brace: what was taken is not looked at again.
        let mut taken = 0;
        for candidate in candidates.find_iter(piece) {
            if candidate.start() < taken {
                continue;
            }
            let word = match ABSENCE.get(candidate.pattern().as_usize()) {
                Some(word) => {
                    let start = part.range.start + candidate.start();
                    Some(*word).filter(|word| whole_word(text, &(start..start + word.len())))
                }
                None => placeholder(piece, candidate.start()).filter(|word| !is_tag(word, &closed)),
            };
            let Some(word) = word else { continue };
            taken = candidate.start() + word.len();
            if known.insert(word) {
                found.push(word.into());
            }
        }
    }
    found
}

/// The placeholder that begins here, of the kinds that Python, JavaScript and template languages fill in.
fn placeholder(piece: &str, at: usize) -> Option<&str> {
    let dollar = at.checked_sub(1).filter(|before| piece.as_bytes().get(*before) == Some(&b'$'));
    let rest = piece.get(at..)?;
    let (open, close) = if rest.starts_with("{{") {
        ("{{", "}}")
    } else if rest.starts_with('{') {
        ("{", "}")
    } else if rest.starts_with('<') {
        ("<", ">")
    } else {
        ("%(", ")s")
    };
    let inside = rest.strip_prefix(open)?;
    let length = inside.bytes().take(MAX_NAME + 2).position(|byte| close.as_bytes().first() == Some(&byte))?;
    let name = inside.get(..length)?;
    // `{{ name }}` is how template languages like it.
    let name = if open == "{{" { name.trim() } else { name };
    if !plausible(name) || !inside.get(length..)?.starts_with(close) {
        return None;
    }
    let end = at + open.len() + length + close.len();
    piece.get(dollar.filter(|_| open == "{").unwrap_or(at)..end)
}

/// An argument's name: a letter or underscore, then letters, digits, `_`, `-` or `.`; at least two characters.
fn plausible(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    first
        && (2..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// Mark-up is no placeholder: `<review>` that is closed somewhere, or an element of HTML that needs no closing.
fn is_tag(word: &str, closed: &AHashSet<&str>) -> bool {
    let Some(name) = word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) else { return false };
    let void = ["br", "hr", "img", "li", "td", "th", "tr", "wbr"];
    void.contains(&&*name.to_ascii_lowercase()) || closed.contains(name)
}

/// Names of the elements that the text closes.
fn closed_tags(text: &str) -> AHashSet<&str> {
    let name = |at: usize| {
        let rest = clip(text.get(at + 2..)?, MAX_NAME + 1);
        rest.split_once('>').map(|(name, _)| name)
    };
    memmem::find_iter(text.as_bytes(), "</").filter_map(name).filter(|name| plausible(name)).collect()
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
