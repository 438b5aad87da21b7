//! Escapes, one function per target, over text that is already free of invisible characters.

use std::fmt::Write as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Characters that one grapheme may have before it counts as a heap of combining marks.
const GRAPHEME_CHARS: usize = 8;

pub fn cut(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max * 4));
    // The grapheme that has to give way to `…` if more follow.
    let mut last = 0;
    for (count, grapheme) in text.graphemes(true).enumerate() {
        if count == max {
            out.truncate(last);
            out.push('…');
            return out;
        }
        last = out.len();
        match grapheme.char_indices().nth(GRAPHEME_CHARS) {
            Some((end, _)) => {
                out.push_str(&grapheme[..end]);
                out.push('…');
            }
            None => out.push_str(grapheme),
        }
    }
    out
}

/// For a table cell or running text of GitHub-flavoured Markdown: nothing becomes markup, a link or an element.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Intraword underscores are plain text, and names are full of them.
            '_' if before.is_alphanumeric() && after.is_alphanumeric() => out.push('_'),
            // Only at the start of a word could it be a heading or a reference.
            '#' if before.is_alphanumeric() => out.push('#'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => {
                out.push('\\');
                out.push(c);
            }
            // Bare addresses would become links.
            ':' if after == '/' => out.push_str("&#58;"),
            '@' => out.push_str("&#64;"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("&#46;"),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// Spreadsheets take a field that begins with one of these for a formula, in their full-width forms too; white space
/// before it does not help.
pub fn csv(text: &str) -> String {
    let first = text.trim_start().chars().next();
    let formula = matches!(first, Some('=' | '+' | '-' | '@' | '\t' | '\r' | '＝' | '＋' | '－' | '＠'))
        || text.starts_with(['␉', '␍']);
    if formula { format!("'{text}") } else { text.to_owned() }
}

/// The compiled-in font covers Latin, Greek, Cyrillic and punctuation; anything else is named by its code point when
/// it stands alone and shortened to `□` in longer text.
pub fn chart(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if super::super::chart::font::has_glyph(c) {
            out.push(c);
        } else {
            let _ = write!(out, "□");
        }
    }
    out
}
