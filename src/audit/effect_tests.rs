use super::super::context::Context;
use super::super::fixture::{Fixture, Prompt};
use super::{Rule, State};
use crate::expect::Expectations;

const OLD: &[Prompt] = &[("triage", &[("area", true, "")])];
const NEW: &[Prompt] = &[("triage", &[("product-area", true, "")])];
const REWORDED: &[Prompt] = &[("triage", &[("area", true, "One of: a, b.")])];

/// Version number in effect, version number seen and rule of the last call.
fn last(fixture: &Fixture) -> (Option<u32>, Option<u32>, Rule) {
    let expectations = Expectations::default();
    let context = Context::new(&fixture.frames, &expectations);
    let effect = context.effects.last().expect("a call");
    let in_effect = match effect.state {
        State::Declared(version) => Some(context.contract.versions[version].number),
        _ => None,
    };
    (in_effect, effect.seen.map(|version| context.contract.versions[version].number), effect.rule)
}

fn state(fixture: &Fixture) -> State {
    let expectations = Expectations::default();
    Context::new(&fixture.frames, &expectations).effects.last().expect("a call").state
}

fn two_sessions() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").session("b", "desk", "cli");
    fixture
}

#[test]
fn rule_1_another_sessions_listing() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.call("b", "triage", &[]);
    assert_eq!(last(&fixture), (Some(1), None, Rule::OtherSession));
}

#[test]
fn rule_1_the_sessions_first_listing_after_the_call() {
    let mut fixture = two_sessions();
    fixture.call("a", "triage", &[]);
    assert_eq!(state(&fixture), State::NoDeclaration);
    fixture.listing("a", OLD);
    assert_eq!(last(&fixture), (Some(1), None, Rule::OwnLater));
}

#[test]
fn rule_1_not_across_a_sign_of_change() {
    let mut told = two_sessions();
    told.call("a", "triage", &[]);
    told.notice("a").listing("a", OLD);
    assert_eq!(last(&told), (None, None, Rule::None));

    let mut shown = two_sessions();
    shown.call("a", "triage", &[]);
    shown.listing("b", OLD);
    shown.listing("a", NEW);
    assert_eq!(last(&shown), (None, None, Rule::None));
}

#[test]
fn rule_1_another_servers_listing_counts_for_nothing() {
    let mut fixture = two_sessions();
    fixture.session("c", "shop", "cli").listing("c", OLD);
    fixture.call("a", "triage", &[]);
    assert_eq!(state(&fixture), State::NoDeclaration);
}

#[test]
fn rule_2_own_and_any_agree() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.listing("b", OLD);
    fixture.call("a", "triage", &[]);
    assert_eq!(last(&fixture), (Some(1), Some(1), Rule::Own));
}

#[test]
fn rule_2_texts_move_on_under_equal_keys() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.listing("b", REWORDED);
    fixture.call("a", "triage", &[("area", "c")]);
    assert_eq!(last(&fixture), (Some(1), Some(1), Rule::Own));
    let expectations = Expectations::default();
    let context = Context::new(&fixture.frames, &expectations);
    let wording = context.effects[0].wording.expect("declared");
    assert!(context.contract.wordings[wording].arguments[0].description.is_some());
}

#[test]
fn rule_3_the_server_moved_on() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.listing("b", NEW);
    fixture.call("a", "triage", &[]);
    assert_eq!(last(&fixture), (Some(2), Some(1), Rule::MovedOn));
}

#[test]
fn rule_3_versions_side_by_side_are_variants() {
    let mut known_before = two_sessions();
    known_before.listing("b", NEW);
    known_before.listing("a", OLD);
    known_before.listing("b", NEW);
    known_before.call("a", "triage", &[]);
    assert_eq!(last(&known_before), (Some(2), Some(2), Rule::Variant));

    let mut listed_since = two_sessions();
    listed_since.session("c", "desk", "ide").listing("a", OLD);
    listed_since.listing("b", NEW);
    listed_since.listing("c", OLD);
    listed_since.listing("b", NEW);
    listed_since.call("a", "triage", &[]);
    assert_eq!(last(&listed_since), (Some(1), Some(1), Rule::Variant));
}

#[test]
fn rule_4_another_session_listed_after_the_notice() {
    let mut before = two_sessions();
    before.listing("a", OLD);
    before.notice("a").listing("b", NEW);
    before.call("a", "triage", &[]);
    assert_eq!(last(&before), (Some(2), Some(1), Rule::AfterNotice));

    let mut after = two_sessions();
    after.listing("a", OLD);
    after.notice("a").call("a", "triage", &[]);
    after.listing("b", NEW);
    assert_eq!(last(&after), (Some(2), Some(1), Rule::AfterNotice));
}

#[test]
fn rule_4_a_listing_after_a_further_notice_tells_nothing() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.notice("a").call("a", "triage", &[]);
    fixture.notice("a").listing("b", NEW);
    assert_eq!(last(&fixture), (None, Some(1), Rule::Superseded));
    assert_eq!(state(&fixture), State::Superseded);
}

#[test]
fn rule_4_inferred_from_what_followed_earlier() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.notice("a").listing("a", NEW);
    fixture.listing("b", OLD);
    fixture.notice("b").call("b", "triage", &[]);
    assert_eq!(last(&fixture), (Some(2), Some(1), Rule::Inferred));
}

#[test]
fn rule_4_ends_when_the_session_lists_again() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.notice("a").notice("a").listing("a", NEW);
    fixture.call("a", "triage", &[]);
    assert_eq!(last(&fixture), (Some(2), Some(2), Rule::Own));
}

#[test]
fn a_complete_listing_without_the_prompt_makes_it_unknown() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.call("a", "no-such", &[]);
    assert_eq!(state(&fixture), State::UnknownPrompt);
    fixture.call("a", "", &[]);
    assert_eq!(state(&fixture), State::UnknownPrompt);
    fixture.call("a", "", &[]).prompt = None;
    assert_eq!(state(&fixture), State::NoName);
    let call = fixture.call("a", "", &[]);
    call.prompt = None;
    call.prompt_captured = false;
    assert_eq!(state(&fixture), State::NotCaptured);
}

#[test]
fn an_empty_listing_is_a_complete_one() {
    let mut fixture = two_sessions();
    fixture.listing("a", &[]);
    fixture.call("a", "triage", &[]);
    assert_eq!(state(&fixture), State::UnknownPrompt);
}

#[test]
fn an_incomplete_listing_judges_only_what_it_showed() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD).complete = false;
    fixture.call("a", "triage", &[]);
    assert_eq!(last(&fixture), (Some(1), Some(1), Rule::Own));
    fixture.call("a", "on-a-later-page", &[]);
    assert_eq!(state(&fixture), State::NoDeclaration);
}

#[test]
fn a_private_listing_serves_its_own_session() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD).cache_scope = Some("private".into());
    fixture.call("a", "triage", &[]);
    assert_eq!(last(&fixture), (Some(1), Some(1), Rule::Own));
    fixture.call("b", "triage", &[]);
    assert_eq!(state(&fixture), State::NoDeclaration);
}

#[test]
fn a_change_of_another_prompt_changes_nothing() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.listing("b", &[("triage", &[("area", true, "")]), ("more", &[])]);
    fixture.call("a", "triage", &[]);
    assert_eq!(last(&fixture), (Some(1), Some(1), Rule::Own));
}

#[test]
fn a_listing_whose_declarations_are_lost_is_not_used() {
    let mut fixture = two_sessions();
    fixture.listing("a", OLD);
    fixture.call("a", "triage", &[]);
    fixture.frames.declarations.clear();
    assert_eq!(state(&fixture), State::NoDeclaration);
}
