//! The rules: an id that never changes, a name, a severity and the page that `explain` prints.

use super::Severity;

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub id: &'static str,
    pub name: &'static str,
    pub severity: Severity,
    /// What it means, why it matters, how it is computed, what to do.
    pub page: &'static str,
}

/// Every rule, by id.
pub const RULES: &[Rule] = &[];
