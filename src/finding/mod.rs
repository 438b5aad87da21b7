//! Findings are values: a rule, a subject, numbers, evidence. Rendering is somebody else's job.

pub mod evidence;
pub mod rule;

pub use rule::{RULES, Rule};

use evidence::{Evidence, Shown};
use serde::Serialize;
use std::collections::BTreeMap;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

impl Severity {
    /// `error`, `warning` or `note`: the word in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A part of a finding's sentence: ours, or text from traffic that a renderer must make printable.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Ours(String),
    /// A name from traffic (server, prompt, argument, key, client, tool): shown escaped, cut when long.
    Name(crate::protocol::message::Text),
    /// A value from traffic: shown under the privacy rule.
    Value(Shown),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Id of a rule in [`RULES`].
    pub rule: &'static str,
    pub severity: Severity,
    /// What it is about, e.g. server, prompt, argument: the raw names, in order.
    pub subject: Vec<crate::protocol::message::Text>,
    /// Extra text that tells findings of one rule and subject apart (a normalised value); part of the fingerprint.
    pub key: String,
    /// One sentence with numbers.
    pub sentence: Vec<Part>,
    pub numbers: BTreeMap<&'static str, f64>,
    pub evidence: Vec<Evidence>,
    /// What to do, one sentence.
    pub next_step: String,
    /// For ordering within a severity: calls or answers affected, descending.
    pub weight: u64,
}

impl Finding {
    /// A finding before its sentence is written, as heavy as its rule.
    pub fn of(rule: &Rule, subject: Vec<crate::protocol::message::Text>) -> Self {
        Self {
            rule: rule.id,
            severity: rule.severity,
            subject,
            key: String::new(),
            sentence: Vec::new(),
            numbers: BTreeMap::new(),
            evidence: Vec::new(),
            next_step: String::new(),
            weight: 0,
        }
    }

    /// Hash of rule, subject and normalised value: stable between runs, so that `compare` and suppressions do not flap.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.rule.as_bytes());
        for part in self.subject.iter().map(|name| name.as_bytes()).chain([self.key.as_bytes()]) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().to_hex()[..16].to_string()
    }
}
