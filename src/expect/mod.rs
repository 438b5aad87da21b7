//! What the operator expects: `mcptally.toml` and `--intended`.

mod file;
mod thresholds;

pub use file::{FileError, FlagError, parse, parse_flag};
pub use thresholds::{Moved, THRESHOLDS, Threshold, Thresholds};

use crate::protocol::message::Text;

/// The intended values of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intended {
    /// `None`: whatever server has the prompt.
    pub server: Option<Text>,
    pub prompt: Text,
    pub argument: Text,
    pub values: Vec<Text>,
    /// `expectations` or `command line`.
    pub source: &'static str,
}

/// Everything an audit is told beside the frames.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expectations {
    /// Expectations file first, then the command line: the first that names an argument wins.
    pub intended: Vec<Intended>,
    /// Finding fingerprints or rule ids that are not reported.
    pub suppressed: Vec<Text>,
    /// Where analyses begin to speak.
    pub thresholds: Thresholds,
}
