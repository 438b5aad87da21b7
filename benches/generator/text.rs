//! Text that is made once and copied from ever after, and the numbers that choose from it.

use super::json::Style;

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

const WORDS: &[&str] = &[
    "the", "of", "parcel", "order", "arrived", "support", "kind", "broken", "refund", "customer", "line", "returns",
    "value", "error", "when", "file", "report", "total", "section", "update", "config", "service", "module", "result",
    "week", "page", "under", "between", "column", "request", "message", "action", "prompt", "content", "record",
    "table",
];

/// Breaks and marks, as JSON writes them inside a string.
const MARKS: &[&str] = &[". ", ", ", " ", " ", " ", " ", "\\n", "\\n\\n", " \\\"", "\\\" ", "; ", "\\t", " - ", ": "];

/// A letter as UTF-8 and as an escape.
const LETTERS: &[(&str, &str)] = &[("é", "\\u00e9"), ("–", "\\u2013"), ("ü", "\\u00fc"), ("日", "\\u65e5")];

/// Where pieces may begin, and how much text follows the last of them.
const BEGIN_BYTES: usize = 2 << 20;
const LONGEST: usize = 220 << 10;

/// A piece of the pool: its first word and the word after its last.
pub type Piece = (usize, usize);

/// Escaped text, the same words in both styles.
pub struct Pool {
    compact: Words,
    spaced: Words,
}

#[derive(Default)]
struct Words {
    text: String,
    /// Where each word starts, ascending.
    starts: Vec<u32>,
}

impl Pool {
    pub fn new(random: &mut Random) -> Self {
        let mut pool = Self { compact: Words::default(), spaced: Words::default() };
        while pool.compact.text.len() < BEGIN_BYTES + LONGEST {
            let word = WORDS[random.below(WORDS.len() as u64) as usize];
            let mark = MARKS[random.below(MARKS.len() as u64) as usize];
            let (letter, escape) = match random.below(60) {
                0 => LETTERS[random.below(LETTERS.len() as u64) as usize],
                _ => ("", ""),
            };
            for (words, letter) in [(&mut pool.compact, letter), (&mut pool.spaced, escape)] {
                words.starts.push(words.text.len() as u32);
                words.text.push_str(word);
                words.text.push_str(letter);
                words.text.push_str(mark);
            }
        }
        pool
    }

    /// A piece of about `length` bytes.
    pub fn pick(&self, random: &mut Random, length: usize) -> Piece {
        let starts = &self.compact.starts;
        let begin = random.below(BEGIN_BYTES as u64) as usize;
        let at = |byte: usize| starts.partition_point(|start| (*start as usize) < byte);
        let first = at(begin);
        (first, at(begin + length).clamp(first + 1, starts.len() - 1))
    }

    /// The piece's text in this style.
    pub fn slice(&self, style: Style, (first, end): Piece) -> &str {
        let words = match style {
            Style::Compact => &self.compact,
            Style::Spaced => &self.spaced,
        };
        &words.text[words.starts[first] as usize..words.starts[end] as usize]
    }
}
