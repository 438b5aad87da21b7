//! Text that was copied and pasted: HTML entities, typographic quotes, lines broken by a terminal or a chat.
//!
//! A repair is tried only where text is no JSON as it stands, and counts only if what it gives is.

/// Undoes entities and typographic quotes; `None` where the text has neither.
pub fn undo(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let entities = ["&quot;", "&#34;", "&#x22;", "&#X22;"].iter().any(|entity| text.contains(entity));
    let quotes = text.contains(is_quote);
    if !entities && !quotes {
        return None;
    }
    let text = if entities { without_entities(text) } else { text.to_owned() };
    // What a person typed may hold such quotes; where plain ones stand as well, those are JSON's.
    let text = if quotes && !text.contains('"') { text.replace(is_quote, "\"") } else { text };
    Some(text.into_bytes())
}

fn is_quote(letter: char) -> bool {
    matches!(letter, '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{ff02}')
}

fn without_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        out.push_str(before);
        let meant = entity.bytes().take(10).position(|byte| byte == b';').and_then(|end| {
            let name = entity.get(1..end)?;
            Some((meaning(name)?, end + 1))
        });
        let (letter, length) = meant.unwrap_or(('&', 1));
        out.push(letter);
        rest = entity.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn meaning(name: &str) -> Option<char> {
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// Lines narrower than this were not broken by a terminal.
const NARROWEST: usize = 40;

/// Joins the lines into which a text was broken: with nothing between them where all but the last are as wide as a
/// terminal, else with the blank at which a chat breaks a line.
pub fn join<'l>(lines: impl Iterator<Item = &'l [u8]> + Clone) -> Vec<u8> {
    let widths: Vec<usize> = lines.clone().map(width).collect();
    let broken = widths.get(..widths.len().saturating_sub(1)).unwrap_or_default();
    let even = match broken {
        // Widths that terminals and their users have.
        [only] => matches!(only, 80 | 100 | 120 | 132 | 140 | 150 | 160 | 180 | 200 | 240),
        [first, rest @ ..] => *first >= NARROWEST && rest.iter().all(|width| width == first),
        [] => false,
    };
    let mut out = Vec::new();
    for (at, line) in lines.enumerate() {
        if at > 0 && !even && !out.ends_with(b" ") && !line.starts_with(b" ") {
            out.push(b' ');
        }
        out.extend_from_slice(line);
    }
    out
}

fn width(line: &[u8]) -> usize {
    String::from_utf8_lossy(line).chars().count()
}

/// Follows the brackets and quotes of a value over several lines.
#[derive(Debug)]
pub struct Balance {
    /// What quotes a string.
    quotes: &'static [u8],
    depth: usize,
    quote: Option<u8>,
    escaped: bool,
}

impl Balance {
    pub fn new(quotes: &'static [u8]) -> Self {
        Self { quotes, depth: 0, quote: None, escaped: false }
    }

    /// Takes the next bytes; how many there are up to the bracket that closes the outermost.
    pub fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            if std::mem::take(&mut self.escaped) {
                continue;
            }
            match (self.quote, byte) {
                (Some(_), b'\\') => self.escaped = true,
                (Some(quote), byte) if quote == *byte => self.quote = None,
                (Some(_), _) => {}
                (None, byte) if self.quotes.contains(byte) => self.quote = Some(*byte),
                (None, b'{' | b'[' | b'(') => self.depth += 1,
                (None, b'}' | b']' | b')') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the text so far ends inside a string.
    pub fn in_string(&self) -> bool {
        self.quote.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(text: &str) -> Option<String> {
        undo(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn entities_and_quotes_are_undone_where_they_are_those_of_json() {
        for (pasted, wanted) in [
            ("{&quot;a&quot;:&quot;x &amp;&lt;&#39;&#x41;&nope; & b&quot;}", Some("{\"a\":\"x &<'A&nope; & b\"}")),
            ("{\u{201c}a\u{201d}:\u{201e}b\u{201d}}", Some("{\"a\":\"b\"}")),
            ("{\"a\":\"\u{201c}b\u{201d}\"}", Some("{\"a\":\"\u{201c}b\u{201d}\"}")),
            ("{\"a\":\"&amp;\"}", None),
            ("&", None),
        ] {
            assert_eq!(undone(pasted).as_deref(), wanted, "{pasted}");
        }
    }

    #[test]
    fn lines_are_joined_as_they_were_broken() {
        let joined = |lines: &[&str]| String::from_utf8(join(lines.iter().map(|line| line.as_bytes()))).unwrap();
        assert_eq!(joined(&["{\"a\":\"one", "two three", "four\"}"]), "{\"a\":\"one two three four\"}");
        let wide = "x".repeat(80);
        assert_eq!(joined(&[&wide, "y"]), format!("{wide}y"));
        let wide = "é".repeat(61);
        assert_eq!(joined(&[&wide, &wide, "y"]), format!("{wide}{wide}y"));
        assert_eq!(joined(&[&wide, "y"]), format!("{wide} y"));
        assert_eq!(joined(&["a ", "b"]), "a b");
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let mut balance = Balance::new(b"\"");
        assert_eq!(balance.feed(br#"{"a":"}\"}"#), None);
        assert!(balance.in_string());
        assert_eq!(balance.feed(br#"","b":[1]} tail"#), Some(10));
    }
}
