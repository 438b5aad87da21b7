use super::*;
use crate::audit::fixture::Fixture;
use crate::expect::Expectations;
use crate::schema::ArgumentsShape;

fn tables(fixture: &Fixture) -> (Vec<UnknownKey>, Vec<MissingRequired>) {
    let expectations = Expectations::default();
    keys(&Context::new(&fixture.frames, &expectations))
}

fn hint(fixture: &Fixture, key: &str) -> (Option<String>, Option<String>) {
    let (unknown, _) = tables(fixture);
    let row = unknown.iter().find(|row| &*row.key == key).expect("the key is unknown");
    (row.rename_of.as_ref().map(|name| name.to_string()), row.evidence.clone())
}

fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").session("b", "desk", "cli");
    fixture.listing("a", &[("triage", &[("ticket", true, ""), ("product-area", true, ""), ("note", false, "")])]);
    fixture
}

#[test]
fn outcomes_and_missing_close() {
    let mut fixture = fixture();
    fixture.call("a", "triage", &[("ticket", "1"), ("productArea", "x")]);
    fixture.call("b", "triage", &[("ticket", "1"), ("productArea", "x")]).outcome = CallOutcome::Error;
    fixture.call("b", "triage", &[("ticket", ""), ("product-area", "x")]);
    fixture.call("b", "triage", &[]).arguments_as = ArgumentsShape::Array;
    fixture.call("b", "triage", &[]).arguments_as = ArgumentsShape::NotCaptured;
    let (unknown, missing) = tables(&fixture);
    assert_eq!(unknown.len(), 1);
    let key = &unknown[0];
    assert_eq!((key.calls, key.rendered, key.error, key.sessions), (2, 1, 1, 2));
    assert_eq!(key.clients, ["cli", "ide"].map(Text::from));
    assert!(!key.earlier_version);
    let row = |name: &str| missing.iter().find(|row| &*row.argument == name).expect("a row");
    assert_eq!((row("product-area").calls, row("product-area").rendered, row("product-area").error), (3, 2, 1));
    assert_eq!(row("product-area").clients.get("cli"), Some(&2));
    assert_eq!((row("ticket").calls, row("ticket").required_but_empty), (1, 1));
}

#[test]
fn nothing_is_judged_without_a_declaration() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide");
    fixture.call("a", "triage", &[("x", "1")]);
    assert_eq!(tables(&fixture), (Vec::new(), Vec::new()));
    let mut superseded = Fixture::new();
    superseded.session("a", "desk", "ide").listing("a", &[("triage", &[("y", true, "")])]);
    superseded.notice("a").call("a", "triage", &[("x", "1")]);
    assert_eq!(tables(&superseded), (Vec::new(), Vec::new()));
}

#[test]
fn a_key_of_an_earlier_version_is_told_from_one_that_nobody_declared() {
    let mut fixture = fixture();
    fixture.listing("a", &[("triage", &[("ticket", true, ""), ("area", true, "")])]);
    fixture.call("a", "triage", &[("ticket", "1"), ("product-area", "x"), ("typo", "y")]);
    let (unknown, _) = tables(&fixture);
    let earlier: Vec<(&str, bool)> = unknown.iter().map(|row| (&*row.key, row.earlier_version)).collect();
    assert_eq!(earlier, [("product-area", true), ("typo", false)]);
}

#[test]
fn rename_by_same_letters() {
    let mut fixture = fixture();
    fixture.call("a", "triage", &[("ticket", "1"), ("productArea", "x")]);
    let (name, evidence) = hint(&fixture, "productArea");
    assert_eq!(name.as_deref(), Some("product-area"));
    assert!(evidence.is_some_and(|evidence| evidence.starts_with("same letters")));
}

#[test]
fn rename_by_token_subset_unless_both_are_sent() {
    let mut one = fixture();
    one.call("a", "triage", &[("ticket", "1"), ("area", "x")]);
    let (name, evidence) = hint(&one, "area");
    assert_eq!(name.as_deref(), Some("product-area"));
    assert!(evidence.is_some_and(|evidence| evidence.starts_with("token subset")));

    let mut both = fixture();
    both.call("a", "triage", &[("ticket", "1"), ("area", "x"), ("product-area", "y")]);
    assert_eq!(hint(&both, "area"), (None, None));
}

#[test]
fn rename_by_complementarity_with_its_table() {
    let mut fixture = fixture();
    for _ in 0..3 {
        fixture.call("a", "triage", &[("ticket", "1"), ("team", "x")]);
        fixture.call("b", "triage", &[("ticket", "1"), ("product-area", "x")]);
    }
    let (name, evidence) = hint(&fixture, "team");
    assert_eq!(name.as_deref(), Some("product-area"));
    assert_eq!(
        evidence.as_deref(),
        Some("complementarity: calls with only this key 3, only the declared one 3, both 0, neither 0")
    );
    fixture.call("b", "triage", &[("ticket", "1")]);
    assert_eq!(hint(&fixture, "team"), (None, None));
}

#[test]
fn names_are_cut_into_words() {
    assert!(same_letters("product_area", "productArea"));
    assert!(same_letters("Product.Area", "product-area"));
    assert!(!same_letters("area", "area"));
    assert!(token_subset("area", "productArea"));
    assert!(token_subset("product-area-2", "area"));
    assert!(!token_subset("areas", "product-area"));
    assert!(!token_subset("", "area"));
    assert!(!token_subset("a-b", "b-a"));
}

/// Every call sends names of its own, none of them declared: the work must follow what was sent, not its square.
#[test]
fn thousands_of_unknown_keys_are_compared_in_one_pass() {
    let names: Vec<String> = (0..1_000).map(|n| format!("declared{n}")).collect();
    let keys: Vec<String> = (0..1_000).map(|n| format!("sent{n}")).collect();
    let mut fixture = Fixture::new();
    let declared: Vec<(&str, bool, &str)> = names.iter().map(|name| (&**name, false, "")).collect();
    let sent: Vec<(&str, &str)> = keys.iter().map(|key| (&**key, "x")).collect();
    fixture.session("a", "desk", "ide").listing("a", &[("triage", &declared)]);
    for _ in 0..3 {
        fixture.call("a", "triage", &sent);
    }
    fixture.call("a", "triage", &[("declared7", "x"), ("sent-7", "x")]);
    let (unknown, _) = tables(&fixture);
    assert_eq!(unknown.len(), 1_001);
    let row = |key: &str| unknown.iter().find(|row| &*row.key == key).expect("the key is unknown");
    assert_eq!((row("sent7").calls, row("sent7").rename_of.as_deref()), (3, Some("declared7")));
    assert_eq!((row("sent-7").calls, row("sent-7").rename_of.as_deref()), (1, None));
}
