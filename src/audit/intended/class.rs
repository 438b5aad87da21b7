//! The class of an unintended value: the smallest repair that makes it an intended one, else what kind of text it is.

use crate::protocol::message::Text;
use crate::schema::{ArgRow, ValueType};
use unicode_normalization::UnicodeNormalization;

/// More words than this in a closed argument: text pasted into the wrong box.
pub const OVERSIZED_WORDS: u64 = 50;
/// More characters than this in a closed argument: text pasted into the wrong box.
pub const OVERSIZED_CHARS: u64 = 400;

/// First that fits, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    NotAString,
    /// Nothing left after trimming Unicode white space.
    Empty,
    /// Equal after trimming.
    Spacing,
    /// Also lower-cased.
    Case,
    /// Also stripped of trailing stops and surrounding quotes.
    Punctuation,
    /// Also NFKC.
    Unicode,
    /// Over 50 words or 400 characters.
    Oversized,
    /// A line break inside.
    Multiline,
    /// An intended value as a whole word among others. Never mapped: "not warm" is one.
    Qualified,
    /// One edit or swap away from exactly one intended value.
    Misspelt,
    Novel,
}

impl Class {
    pub const ALL: &'static [Self] = &[
        Self::NotAString,
        Self::Empty,
        Self::Spacing,
        Self::Case,
        Self::Punctuation,
        Self::Unicode,
        Self::Oversized,
        Self::Multiline,
        Self::Qualified,
        Self::Misspelt,
        Self::Novel,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAString => "not a string",
            Self::Empty => "empty",
            Self::Spacing => "spacing",
            Self::Case => "case",
            Self::Punctuation => "punctuation",
            Self::Unicode => "unicode",
            Self::Oversized => "oversized",
            Self::Multiline => "multiline",
            Self::Qualified => "qualified",
            Self::Misspelt => "misspelt",
            Self::Novel => "novel",
        }
    }
}

/// Picks one form.
type Form = fn(&Forms) -> &str;

/// The forms of a text by cumulative repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms {
    trimmed: String,
    lower: String,
    stripped: String,
    unicode: String,
}

impl Forms {
    pub fn new(text: &str) -> Self {
        let trimmed = text.trim();
        let lower = trimmed.to_lowercase();
        let stripped = strip(&lower).to_owned();
        let composed: String = text.nfkc().collect();
        let unicode = strip(&composed.trim().to_lowercase()).to_owned();
        Self { trimmed: trimmed.to_owned(), lower, stripped, unicode }
    }
}

const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('‘', '’'),
    ('‚', '‘'),
    ('«', '»'),
    ('»', '«'),
    ('‹', '›'),
];

/// Without trailing stops and surrounding quotes, to a fixpoint.
fn strip(text: &str) -> &str {
    let mut text = text;
    loop {
        let mut shorter = text.trim().trim_end_matches(['.', ',', ';', ':', '!', '?']).trim_end();
        let mut chars = shorter.chars();
        if let (Some(first), Some(last)) = (chars.next(), chars.next_back())
            && QUOTES.contains(&(first, last))
        {
            shorter = chars.as_str();
        }
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}

/// Whether the row holds only the beginning of the value.
pub fn is_cut(arg: &ArgRow) -> bool {
    // Every character takes at least one byte, so short rows need no counting.
    arg.value_chars > arg.value.len() as u64 || arg.value_chars > arg.value.chars().count() as u64
}

/// Whether a string has nothing left after trimming Unicode white space. Other JSON types are never blank.
pub fn is_blank(arg: &ArgRow) -> bool {
    arg.json_type == ValueType::String && arg.value_words == 0
}

/// Class of a value that is not byte-exactly intended, and whether the class's repair leads to exactly one intended value.
pub fn classify(arg: &ArgRow, intended: &[Text], forms: &[Forms]) -> (Class, bool) {
    if arg.json_type != ValueType::String {
        return (Class::NotAString, false);
    }
    if is_blank(arg) {
        return (Class::Empty, false);
    }
    let oversized = arg.value_words > OVERSIZED_WORDS || arg.value_chars > OVERSIZED_CHARS;
    if is_cut(arg) {
        return (Class::Oversized, false);
    }
    let own = Forms::new(&arg.value);
    let repairs: [(Class, Form); 4] = [
        (Class::Spacing, |forms| &forms.trimmed),
        (Class::Case, |forms| &forms.lower),
        (Class::Punctuation, |forms| &forms.stripped),
        (Class::Unicode, |forms| &forms.unicode),
    ];
    for (class, form) in repairs {
        let fits = forms.iter().filter(|known| form(known) == form(&own)).count();
        if fits > 0 {
            return (class, fits == 1);
        }
    }
    if oversized {
        return (Class::Oversized, false);
    }
    if arg.value.trim().contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return (Class::Multiline, false);
    }
    let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
    if intended.iter().zip(forms).any(|(value, known)| letters(value) >= 3 && is_among(&known.unicode, &own.unicode)) {
        return (Class::Qualified, false);
    }
    let near = intended
        .iter()
        .zip(forms)
        .filter(|(value, known)| letters(value) >= 4 && strsim::osa_distance(&known.unicode, &own.unicode) == 1)
        .count();
    if near == 1 { (Class::Misspelt, false) } else { (Class::Novel, false) }
}

/// Whether `word` stands in `text` as a whole word with others beside it. Hyphens, underscores and apostrophes belong to
/// words: "warm-ish" is not "warm".
fn is_among(word: &str, text: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '\'' | '’');
    if word.is_empty() {
        return false;
    }
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.chars().next_back().is_some_and(in_word)
            && !after.chars().next().is_some_and(in_word)
            && before.chars().chain(after.chars()).any(char::is_alphanumeric)
    })
}
