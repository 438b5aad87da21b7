use super::*;
use crate::audit::fixture::Fixture;
use crate::audit::wording::tests::plain;
use crate::expect::{Expectations, Intended};
use crate::finding::Finding;
use crate::schema::ArgumentsShape;

fn rows(fixture: &Fixture) -> Vec<CompletionUse> {
    completion(&Context::new(&fixture.frames, &Expectations::default()))
}

fn desk() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").session("b", "desk", "ide");
    fixture
}

/// The three sums of [`CompletionUse`].
fn closes(row: &CompletionUse) {
    assert_eq!(row.asked, row.offered + row.empty + row.error + row.unanswered + row.not_captured);
    assert_eq!(row.offered + row.empty, row.compared + row.superseded + row.no_later_call);
    let calls = row.picked + row.edited + row.ignored + row.nothing_offered + row.left_out + row.later_not_captured;
    assert_eq!(row.later_calls, calls);
}

#[test]
fn later_calls_against_the_last_answer() {
    let mut fixture = desk();
    fixture.call("a", "reply", &[("tone", "warm")]);
    fixture.completion("a", "reply", "tone", &["warm", "cold"]);
    for tone in ["warm", "warm and short", "Warm", "blunt"] {
        fixture.call("a", "reply", &[("tone", tone)]);
    }
    fixture.completion("a", "reply", "tone", &[]);
    fixture.call("a", "reply", &[("tone", "warm")]);
    fixture.call("a", "reply", &[]);
    fixture.completion("a", "reply", "tone", &["x"]).has_more = true;
    fixture.completion("b", "reply", "tone", &["x"]).outcome = CallOutcome::Error;
    let rows = rows(&fixture);
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.asked, row.offered, row.empty, row.capped, row.error), (4, 2, 1, 1, 1));
    assert_eq!((row.later_calls, row.picked, row.edited, row.ignored), (6, 1, 2, 1));
    assert_eq!((row.nothing_offered, row.left_out), (1, 1));
    assert_eq!((row.compared, row.superseded, row.no_later_call), (2, 0, 1));
    closes(row);
}

#[test]
fn a_host_that_asks_at_every_key_has_one_answer_a_call() {
    let mut fixture = desk();
    for (typed, offered) in [("", &["warm", "cold"] as &[&str]), ("w", &["warm"]), ("wa", &["warm"])] {
        let row = fixture.completion("a", "reply", "tone", offered);
        (row.typed, row.context) = (Some(typed.into()), typed == "wa");
    }
    fixture.call("a", "reply", &[("tone", "warm")]);
    let rows = rows(&fixture);
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.asked, row.with_context, row.picked), (3, 1, 1));
    assert_eq!((row.compared, row.superseded, row.no_later_call), (1, 2, 0));
    closes(row);
}

#[test]
fn what_was_not_captured_is_a_term_of_its_own() {
    let mut fixture = desk();
    fixture.completion("a", "reply", "tone", &["warm"]);
    fixture.completion("a", "reply", "tone", &[]).outcome = CallOutcome::NotCaptured;
    fixture.completion("a", "reply", "tone", &[]).outcome = CallOutcome::Unanswered;
    let unnamed = fixture.completion("a", "reply", "tone", &["warm"]);
    (unnamed.prompt, unnamed.argument) = (None, None);
    fixture.call("a", "reply", &[]).arguments_as = ArgumentsShape::NotCaptured;
    let rows = rows(&fixture);
    assert_eq!(rows.len(), 2);
    rows.iter().for_each(closes);
    assert_eq!((rows[0].prompt.as_ref(), rows[0].no_later_call), (None, 1));
    assert_eq!((rows[1].not_captured, rows[1].unanswered, rows[1].later_not_captured), (1, 1, 1));
    // Another session's call is no later call of this one.
    let mut fixture = desk();
    fixture.completion("a", "reply", "tone", &["warm"]);
    fixture.call("b", "reply", &[("tone", "warm")]);
    let rows = self::rows(&fixture);
    assert_eq!((rows[0].later_calls, rows[0].no_later_call), (0, 1));
}

#[test]
fn an_edit_keeps_the_offered_word_whole() {
    for (offered, value) in [
        ("warm", "warm, please"),
        ("warm", "rather warm"),
        ("warm", " WARM "),
        ("formal", "fromal"),
        ("Kassel", "kassel-nord"),
    ] {
        assert!(is_edit(offered, value), "{offered} {value}");
    }
    for (offered, value) in
        [("x", "phoenix"), ("no", "nobody"), ("a", "b"), ("", "warm"), ("warm", ""), ("red", "bed"), ("warm", "formal")]
    {
        assert!(!is_edit(offered, value), "{offered} {value}");
    }
}

const TONE: (&str, bool, &str) = ("tone", false, "The tone. One of: warm, cold.");

fn found(fixture: &Fixture, expectations: &Expectations) -> Vec<Finding> {
    let audit = crate::audit::audit(&fixture.frames, expectations).expect("every sum closes");
    audit.findings.into_iter().filter(|finding| finding.rule.starts_with("MT12")).collect()
}

fn sent(fixture: &mut Fixture, tones: &[&str]) {
    for tone in tones {
        fixture.call("a", "reply", &[("tone", tone)]);
    }
}

#[test]
fn a_closed_set_without_completion_is_named_where_people_miss_it() {
    let mut fixture = desk();
    fixture.listing("a", &[("reply", &[TONE])]);
    sent(&mut fixture, &["warm", "icy", "Warm", "short", "kind", "cold!", ""]);
    let found = found(&fixture, &Expectations::default());
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding.rule, "MT121");
    assert_eq!(
        plain(&finding.sentence),
        "tone of reply (desk): 2 values stand in its description, and 5 of 7 calls carry something else that was typed; \
         no client ever asked for completion."
    );
}

#[test]
fn no_gap_is_reported_where_people_hit_the_set_or_the_field_was_empty_or_completion_offered() {
    // Everyone hits the set; the empty ones come from a host, not from a person who lacked a list.
    let mut fixture = desk();
    fixture.listing("a", &[("reply", &[TONE])]);
    sent(&mut fixture, &["warm", "cold", "cold", "", "", "", "", "", "", "icy"]);
    assert_eq!(found(&fixture, &Expectations::default()), []);
    // An open argument has no list to offer.
    let mut fixture = desk();
    fixture.listing("a", &[("reply", &[("review", true, "The review.")])]);
    sent(&mut fixture, &["a", "b", "c", "d", "e", "f"]);
    assert_eq!(found(&fixture, &Expectations::default()), []);
    // It was offered and people typed something else: not the server's lack.
    let mut fixture = desk();
    fixture.listing("a", &[("reply", &[TONE])]);
    fixture.completion("a", "reply", "tone", &["warm", "cold"]);
    sent(&mut fixture, &["icy", "Warm", "short", "kind", "cold!", "blunt"]);
    assert_eq!(found(&fixture, &Expectations::default()), []);
    // A request whose names were not kept may have been this one.
    let mut fixture = desk();
    fixture.listing("a", &[("reply", &[TONE])]);
    let row = fixture.completion("a", "reply", "tone", &["warm"]);
    (row.prompt, row.argument) = (None, None);
    sent(&mut fixture, &["icy", "Warm", "short", "kind", "cold!", "blunt"]);
    assert_eq!(found(&fixture, &Expectations::default()), []);
}

#[test]
fn completion_that_offers_what_nobody_intends_is_named() {
    let mut fixture = desk();
    fixture.listing("a", &[("reply", &[TONE])]);
    fixture.completion("a", "reply", "tone", &["warm", "warmer", "icy"]);
    sent(&mut fixture, &["icy"]);
    let found = found(&fixture, &Expectations::default());
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding.rule, "MT122");
    assert_eq!(
        plain(&finding.sentence),
        "tone of reply (desk): completion offers 2 values that the argument's own set does not hold, in 1 of 1 answer: icy, \
         warmer; 1 later call carried an offered value."
    );
}

#[test]
fn offers_of_an_earlier_list_and_of_an_open_argument_are_no_fault() {
    let mut fixture = desk();
    fixture.listing("a", &[("reply", &[("tone", false, "One of: warm, icy.")])]);
    fixture.completion("a", "reply", "tone", &["warm", "icy"]);
    fixture.listing("a", &[("reply", &[TONE])]);
    fixture.completion("a", "reply", "tone", &["warm", "cold"]);
    fixture.completion("a", "reply", "review", &["anything"]);
    sent(&mut fixture, &["warm"]);
    assert_eq!(found(&fixture, &Expectations::default()), []);
    // What the operator expects goes before what the description says.
    let intended = Intended {
        server: None,
        prompt: "reply".into(),
        argument: "tone".into(),
        values: vec!["warm".into()],
        source: "expectations",
    };
    let expectations = Expectations { intended: vec![intended], ..Expectations::default() };
    assert_eq!(found(&fixture, &expectations).len(), 1);
}
