//! When a finding is lighter or heavier than its rule usually is.

use crate::finding::Severity::{self, Note, Warning};

/// Rule, severity and when: one row for each severity beside the usual one. `explain` prints them, and a finding with
/// a severity that neither its rule nor this table has is a defect.
pub const OTHERWISE: &[(&str, Severity, &str)] = &[
    ("MT101", Warning, "where fewer than one call in a hundred was rendered with such a value"),
    ("MT101", Note, "where only completion offers a set"),
    ("MT601", Note, "where the rate fell"),
];
