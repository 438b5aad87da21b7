//! What a finding weighs stands on its rule's page, and nowhere does a finding say otherwise.

use crate::support::{rows, run};
use std::collections::{BTreeMap, BTreeSet};

/// The severities that the page of each rule names: `MT101 unintended values (error)`, then `A note where …` lines.
fn pages() -> BTreeMap<String, BTreeSet<String>> {
    let printed = run(["explain"]);
    assert_eq!(printed.status, Some(0), "{}", printed.stderr);
    let mut pages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut rule = String::new();
    for line in printed.text().lines() {
        if line.starts_with("MT") {
            let (id, rest) = line.split_once(' ').expect("a name after the id");
            let usual = rest.rsplit_once('(').expect("a severity").1.trim_end_matches(')');
            rule = id.to_owned();
            assert!(pages.insert(rule.clone(), BTreeSet::from([usual.to_owned()])).is_none(), "{id} has two pages");
        }
        let other = line.strip_prefix("  A ").and_then(|line| line.split_once(" where "));
        if let Some((severity, _)) = other.filter(|(severity, _)| ["error", "warning", "note"].contains(severity)) {
            pages.entry(rule.clone()).or_default().insert(severity.to_owned());
        }
    }
    pages
}

#[test]
fn every_finding_weighs_what_its_page_says() {
    let pages = pages();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    for folder in ["sample-logs", "tests/captures", "tests/formats"] {
        // The fixtures of formats hold records that are broken on purpose.
        for finding in rows(&run(["audit", folder, "--json", "-", "--lenient"]).json(), "findings") {
            let [rule, severity] = ["rule", "severity"].map(|name| finding[name].as_str().expect("text").to_owned());
            let page = pages.get(&rule).unwrap_or_else(|| panic!("{rule} has no page"));
            assert!(page.contains(&severity), "{rule} is {severity} in {folder}, its page says {page:?}: {finding}");
            seen.insert((rule, severity));
        }
    }
    // Rules whose page and findings once differed.
    for (rule, severity) in [("MT204", "error"), ("MT101", "error")] {
        assert!(seen.contains(&(rule.to_owned(), severity.to_owned())), "{seen:?}");
    }
    assert!(seen.len() >= 15, "{seen:?}");
}
