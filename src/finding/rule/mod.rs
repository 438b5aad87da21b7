//! The rules: an id that never changes, a name, a severity and the page that `explain` prints.

pub mod completion;
pub mod elicitations;
pub mod input;
mod otherwise;
pub mod prompts;
pub mod questions;
pub mod sessions;
pub mod time;

use super::Severity;
pub use otherwise::OTHERWISE;

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub id: &'static str,
    pub name: &'static str,
    /// What a finding of this rule carries, unless [`Rule::otherwise`] says when it is lighter or heavier.
    pub severity: Severity,
    /// What it means, why it matters, how it is computed, what to do.
    pub page: &'static str,
}

impl Rule {
    pub fn find(id: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
    }

    /// The other severities that a finding of this rule can have, and when.
    pub fn otherwise(&self) -> impl Iterator<Item = (Severity, &'static str)> {
        let id = self.id;
        OTHERWISE.iter().filter(move |(rule, ..)| *rule == id).map(|&(_, severity, when)| (severity, when))
    }

    /// Whether the page says that a finding of this rule can have this severity.
    pub fn allows(&self, severity: Severity) -> bool {
        self.severity == severity || self.otherwise().any(|(other, _)| other == severity)
    }
}

/// Every rule, by id.
pub const RULES: &[Rule] = &[
    prompts::MT101,
    prompts::MT102,
    prompts::MT103,
    prompts::MT104,
    prompts::MT105,
    prompts::MT106,
    prompts::MT107,
    prompts::MT108,
    prompts::MT109,
    completion::MT121,
    completion::MT122,
    elicitations::MT201,
    elicitations::MT202,
    elicitations::MT203,
    elicitations::MT204,
    elicitations::MT205,
    elicitations::MT206,
    elicitations::MT207,
    elicitations::MT208,
    elicitations::MT209,
    elicitations::MT210,
    elicitations::MT211,
    elicitations::MT212,
    questions::MT213,
    questions::MT214,
    questions::MT215,
    questions::MT216,
    sessions::MT301,
    sessions::MT302,
    sessions::MT303,
    sessions::MT304,
    sessions::MT401,
    sessions::MT402,
    sessions::MT403,
    time::MT601,
    input::MT901,
    input::MT902,
    input::MT903,
    input::MT904,
    input::MT905,
    input::MT906,
    input::MT907,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_unique() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
        for rule in RULES {
            assert!(
                rule.id.len() == 5 && rule.id.starts_with("MT") && rule.id[2..].bytes().all(|b| b.is_ascii_digit())
            );
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }

    #[test]
    fn every_page_answers_the_four_questions() {
        for rule in RULES {
            let starts: Vec<&str> = rule
                .page
                .trim()
                .lines()
                .filter_map(|line| line.split_once(": ").map(|(start, _)| start))
                .filter(|start| ["Meaning", "Why it matters", "Computed", "What to do"].contains(start))
                .collect();
            assert_eq!(starts, ["Meaning", "Why it matters", "Computed", "What to do"], "{}", rule.id);
            let lines = rule.page.trim().lines().count();
            assert!((6..=15).contains(&lines), "{} has {lines} lines", rule.id);
            assert!(rule.page.lines().all(|line| line.chars().count() <= 100), "{} has a long line", rule.id);
        }
    }

    #[test]
    fn other_severities_are_of_rules_that_exist_and_say_when() {
        for (id, severity, when) in OTHERWISE {
            let rule = Rule::find(id).expect("a rule");
            assert_ne!(rule.severity, *severity, "{id} has this severity anyway");
            assert!(!when.is_empty() && when.chars().count() <= 80, "{id}");
            assert_eq!(rule.otherwise().filter(|(other, _)| other == severity).count(), 1, "{id}");
            assert!(rule.allows(*severity) && rule.allows(rule.severity), "{id}");
        }
    }

    #[test]
    fn a_rule_is_found_whatever_its_case() {
        assert_eq!(Rule::find("mt103").map(|rule| rule.id), Some("MT103"));
        assert!(Rule::find("MT999").is_none());
    }
}
