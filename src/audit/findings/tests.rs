use crate::audit::audit;
use crate::audit::fixture::{Fixture, text, typed_arg};
use crate::audit::wording::tests::plain;
use crate::expect::{Expectations, Intended};
use crate::finding::{Finding, Severity};
use crate::schema::{ArgumentsShape, CallOutcome, RejectedRow, SessionQuality, ValueType};

const LISTED: &[crate::audit::fixture::Prompt] =
    &[("reply", &[("review", true, ""), ("tone", false, "One of: warm, formal. Default: warm.")])];

fn found(fixture: &Fixture, expectations: &Expectations) -> Vec<Finding> {
    audit(&fixture.frames, expectations).expect("sums close").findings
}

fn one(fixture: &Fixture, rule: &str) -> Finding {
    let mut found = found(fixture, &Expectations::default());
    found.retain(|finding| finding.rule == rule);
    assert_eq!(found.len(), 1, "{rule}: {found:#?}");
    found.remove(0)
}

fn desk() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").session("b", "desk", "form");
    fixture.listing("a", LISTED);
    fixture
}

#[test]
fn clean_traffic_has_nothing_above_a_note() {
    let mut fixture = desk();
    for at in 0..50 {
        let session = if at % 2 == 0 { "a" } else { "b" };
        fixture.call(session, "reply", &[("review", "fine"), ("tone", if at % 3 == 0 { "warm" } else { "formal" })]);
        fixture.call(session, "reply", &[("review", "so so")]);
    }
    let above: Vec<Finding> = found(&fixture, &Expectations::default())
        .into_iter()
        .filter(|finding| finding.severity != Severity::Note)
        .collect();
    assert_eq!(above, []);
}

#[test]
fn unintended_values_are_an_error_when_rendered_as_they_came() {
    let mut fixture = desk();
    for _ in 0..98 {
        fixture.call("a", "reply", &[("review", "fine"), ("tone", "warm")]);
    }
    fixture.call("a", "reply", &[("review", "fine"), ("tone", "blunt")]);
    fixture.call("b", "reply", &[("review", "fine"), ("tone", "")]);
    let finding = one(&fixture, "MT101");
    assert_eq!((finding.severity, finding.weight, finding.evidence.len()), (Severity::Error, 2, 2));
    let sentence = plain(&finding.sentence);
    for part in [
        "tone of reply (desk): 2 of 100 (2.00 %",
        "2 intended values (from description), 2 distinct values",
        "all were rendered as they came",
        "1 empty, sent by form",
        "for example blunt (novel, 1 call)",
        "clients: form, ide",
        "since 1970-01-01",
    ] {
        assert!(sentence.contains(part), "{part:?} in {sentence:?}");
    }
    let calls = fixture.frames.calls.len();
    for call in &mut fixture.frames.calls[calls - 2..] {
        call.outcome = CallOutcome::Error;
    }
    assert_eq!(one(&fixture, "MT101").severity, Severity::Warning);
}

#[test]
fn values_that_completion_offered_are_a_note() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").listing("a", &[("reply", &[("tone", false, "")])]);
    fixture.completion("a", "reply", "tone", &["warm", "cold"]);
    fixture.call("a", "reply", &[("tone", "blunt")]);
    assert_eq!(one(&fixture, "MT101").severity, Severity::Note);
}

#[test]
fn keys_and_prompts() {
    let mut fixture = desk();
    fixture.call("a", "reply", &[("Review", "fine")]);
    fixture.call("a", "reply", &[("review", " ")]);
    fixture.call("a", "no-such", &[]);
    let unknown = one(&fixture, "MT102");
    assert!(plain(&unknown.sentence).contains("it probably stands for review (same letters"));
    assert_eq!(one(&fixture, "MT103").weight, 1);
    assert_eq!(one(&fixture, "MT104").weight, 1);
    assert_eq!(one(&fixture, "MT106").subject, ["desk", "no-such"].map(text));
}

#[test]
fn types_and_structure() {
    let mut fixture = desk();
    fixture.call_with("a", "reply", vec![typed_arg(0, "review", ValueType::Number, "5")]);
    fixture.call("a", "reply", &[("review", "{\"a\": 1")]);
    assert!(plain(&one(&fixture, "MT105").sentence).contains("not a string (number 1)"));
    assert!(plain(&one(&fixture, "MT109").sentence).contains("1 of them do not parse"));
}

#[test]
fn absent_and_empty_treated_differently() {
    let mut fixture = desk();
    fixture.call("a", "reply", &[("review", "fine")]).rendered_skeleton = Some(1);
    fixture.call("b", "reply", &[("review", "fine"), ("tone", "")]).rendered_skeleton = Some(2);
    assert!(plain(&one(&fixture, "MT107").sentence).contains("both are rendered, to different texts"));
    fixture.frames.calls[1].rendered_skeleton = Some(1);
    assert!(found(&fixture, &Expectations::default()).iter().all(|finding| finding.rule != "MT107"));
    fixture.frames.calls[1].outcome = CallOutcome::Error;
    assert!(plain(&one(&fixture, "MT107").sentence).contains("absent is rendered, empty is refused"));
}

#[test]
fn lists_in_prose_and_expectations_that_fit_nothing() {
    let mut fixture = desk();
    fixture.call("a", "reply", &[("review", "fine"), ("tone", "warm")]);
    assert_eq!(one(&fixture, "MT108").key, "unused");
    let mut expectations = Expectations::default();
    expectations.intended.push(Intended {
        server: None,
        prompt: text("reply"),
        argument: text("tune"),
        values: vec![text("warm")],
        source: "command line",
    });
    let keys: Vec<String> = found(&fixture, &expectations)
        .into_iter()
        .filter(|finding| finding.rule == "MT108")
        .map(|finding| finding.key)
        .collect();
    assert_eq!(keys, ["unused", "nowhere"]);
}

#[test]
fn declarations_missing_or_side_by_side() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").call("a", "reply", &[]);
    assert_eq!(one(&fixture, "MT303").severity, Severity::Note);
    fixture.session("b", "shop", "ide").listing("b", LISTED);
    fixture.notice("b").call("b", "reply", &[("review", "x")]);
    assert!(plain(&one(&fixture, "MT304").sentence).contains("1 of 1 calls came after the session was told"));
}

#[test]
fn what_the_input_lacks() {
    let mut fixture = desk();
    fixture.call("a", "reply", &[]).arguments_as = ArgumentsShape::NotCaptured;
    fixture.frames.sessions[1].session_quality = SessionQuality::Guess;
    assert_eq!(one(&fixture, "MT902").weight, 1);
    assert_eq!(one(&fixture, "MT903").severity, Severity::Warning);
    fixture.frames.rejected.push(RejectedRow {
        file: text("a.ndjson"),
        position: 7,
        reason: text("no JSON"),
        excerpt: text("{"),
    });
    fixture.frames.files.push(crate::schema::FileRow {
        file: text("a.ndjson"),
        format: text("bare"),
        format_version: None,
        why: text("test"),
        disk_bytes: 1,
        bytes: 1,
        lines: 4,
        message_lines: 1,
        messages: 1,
        other: 0,
        other_bytes: 0,
        noise: 1,
        blank: 0,
        continuation: 0,
        rejected: 1,
        duplicates: 1,
        duplicate_keys: 2,
        first_ts: None,
        last_ts: None,
        notes: Vec::new(),
    });
    fixture.frames.methods.push(crate::schema::MethodRow {
        file: text("a.ndjson"),
        method: text("notifications/initialized"),
        kind: text("notification"),
        direction: text("c2s"),
        count: 1,
        bytes: 1,
    });
    assert!(
        plain(&one(&fixture, "MT901").sentence)
            .contains("1 of 4 records could not be read; the first is line 7: no JSON")
    );
    assert_eq!(one(&fixture, "MT904").weight, 1);
    assert_eq!(one(&fixture, "MT906").weight, 2);
    fixture.frames.files[0].lines = 5;
    let fault = audit(&fixture.frames, &Expectations::default()).expect_err("a line is lost");
    assert_eq!(fault.table, "ledger.files");
}

#[test]
fn suppressed_findings_are_not_reported() {
    let mut fixture = desk();
    fixture.call("a", "no-such", &[]);
    let finding = one(&fixture, "MT106");
    for known in [finding.rule.to_owned(), finding.fingerprint()] {
        let expectations = Expectations { suppressed: vec![text(&known)], ..Expectations::default() };
        assert!(found(&fixture, &expectations).iter().all(|finding| finding.rule != "MT106"));
    }
}
