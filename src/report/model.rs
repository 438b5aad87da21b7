//! One [`Report`]; every output is a view of it.

use crate::audit::tables::Audit;
use crate::protocol::message::{Text, Ts};
use std::fmt;

/// Everything a renderer reads. Renderers know no analysis.
#[derive(Debug, Clone)]
pub struct Report {
    pub run: Run,
    pub audit: Audit,
    /// Inputs that could not be read, in the order given.
    pub errors: Vec<InputError>,
}

/// What varies between two runs over equal input.
#[derive(Debug, Clone)]
pub struct Run {
    /// Version of the tool.
    pub version: Text,
    /// The moment of the run.
    pub at: Ts,
    /// Values were shown (`--reveal`).
    pub revealed: bool,
    pub lenient: bool,
    /// Every file was read and no record was rejected.
    pub complete: bool,
    pub hash_key: HashKey,
}

/// An input that could not be read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    pub file: Text,
    /// What is wrong and what to do.
    pub message: String,
}

/// The key under which hashes of hidden values are printed, so that they group within a report and between reports
/// made with the same key, and cannot be looked up by hashing guesses without it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashKey([u8; 32]);

impl HashKey {
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    #[cfg(test)]
    pub const fn zero() -> Self {
        Self([0; 32])
    }

    /// Ten hex characters (40 bits) of the keyed hash of an internal hash.
    pub fn digest(&self, hash: u64) -> String {
        self.digest_bytes(&hash.to_le_bytes())
    }

    /// The same of text for which no internal hash was kept.
    pub fn digest_text(&self, text: &str) -> String {
        self.digest_bytes(text.as_bytes())
    }

    fn digest_bytes(&self, bytes: &[u8]) -> String {
        blake3::keyed_hash(&self.0, bytes).to_hex()[..10].to_owned()
    }
}

/// The key itself never reaches an output, a log or a panic message.
impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

/// How a report is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderOptions {
    /// Rows of a list before it is cut; a cut list says what it leaves out.
    pub top: usize,
    /// Show values in full (credentials stay masked).
    pub reveal: bool,
    /// Sections to show in full; none means the first screen.
    pub sections: Vec<Section>,
    /// Columns of the terminal.
    pub width: u16,
    /// Write ANSI colours.
    pub colour: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { top: 10, reveal: false, sections: Vec::new(), width: 110, colour: false }
    }
}

/// The parts of a report that `--only` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    Ledger,
    Values,
    Keys,
    Elicitations,
    Sessions,
    Handlers,
    Contract,
    Provenance,
    Completion,
    Time,
}

impl Section {
    pub const ALL: &'static [Self] = &[
        Self::Ledger,
        Self::Values,
        Self::Keys,
        Self::Elicitations,
        Self::Sessions,
        Self::Handlers,
        Self::Contract,
        Self::Provenance,
        Self::Completion,
        Self::Time,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Values => "values",
            Self::Keys => "keys",
            Self::Elicitations => "elicitations",
            Self::Sessions => "sessions",
            Self::Handlers => "handlers",
            Self::Contract => "contract",
            Self::Provenance => "provenance",
            Self::Completion => "completion",
            Self::Time => "time",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|section| section.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_the_key_and_never_shows_it() {
        let (one, other) = (HashKey::new([7; 32]), HashKey::new([8; 32]));
        assert_eq!(one.digest(42), one.digest(42));
        assert_ne!(one.digest(42), other.digest(42));
        assert_ne!(one.digest(42), one.digest(43));
        assert_eq!(one.digest(42).len(), 10);
        assert_eq!(format!("{one:?}"), "HashKey(..)");
    }

    #[test]
    fn sections_have_one_word_each() {
        for section in Section::ALL {
            assert_eq!(Section::parse(section.as_str()), Some(*section));
        }
        assert_eq!(Section::parse("everything"), None);
    }
}
