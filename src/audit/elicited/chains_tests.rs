use super::*;
use crate::audit::context::Context;
use crate::audit::elicited::elicitations;
use crate::audit::elicited::rows::question;
use crate::audit::fixture::{Fixture, hash};
use crate::audit::wording::tests::plain;
use crate::expect::Expectations;
use crate::schema::ElicitationOutcome::{Accept, Cancel, Decline, Error, NotCaptured, Unanswered};

fn desk() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("s1", "desk", "pane").session("s2", "desk", "runner");
    fixture
}

/// One run of `book` whose questions are answered like this; every question asks for a field of its own.
fn run(fixture: &mut Fixture, session: &str, outcomes: &[ElicitationOutcome], end: OperationOutcome) {
    let instance = 1_000 + fixture.seq;
    for (sequence, outcome) in (1..).zip(outcomes) {
        let schema = format!(r#"{{"type":"object","properties":{{"field{sequence}":{{"type":"string"}}}}}}"#);
        let row = question(fixture, session);
        (row.operation, row.operation_instance, row.sequence) = ("book".into(), instance, sequence);
        (row.schema, row.schema_hash) = (Some(Text::from(schema.as_str())), hash(&schema));
        row.outcome = *outcome;
        row.verdict = if *outcome == Accept { Verdict::Usable } else { Verdict::None };
        row.operation_outcome = end;
    }
}

fn runs(fixture: &mut Fixture, times: usize, outcomes: &[ElicitationOutcome]) {
    for _ in 0..times {
        run(fixture, "s1", outcomes, OperationOutcome::Ok);
    }
}

fn chains_of(fixture: &Fixture) -> (Vec<Chain>, Vec<Finding>) {
    let expectations = Expectations::default();
    let (_, questions, mut findings) = elicitations(&Context::new(&fixture.frames, &expectations));
    findings.retain(|finding| finding.rule == "MT213");
    (questions.chains, findings)
}

#[test]
fn a_chain_counts_who_is_still_there() {
    let mut fixture = desk();
    runs(&mut fixture, 6, &[Accept, Accept, Accept]);
    runs(&mut fixture, 2, &[Accept, Decline]);
    runs(&mut fixture, 1, &[Cancel]);
    run(&mut fixture, "s1", &[Accept, Error], OperationOutcome::IsError);
    run(&mut fixture, "s1", &[Accept, NotCaptured], OperationOutcome::Ok);
    let (chains, findings) = chains_of(&fixture);
    let [chain] = chains.as_slice() else { panic!("one chain") };
    assert_eq!((chain.started, chain.finished, chain.left, chain.failed, chain.not_known), (11, 6, 3, 1, 1));
    assert_eq!((chain.usual_length, chain.entered, chain.lost, chain.repeats), (3, 10, 2, 0));
    let steps: Vec<(u64, u64, u64)> = chain.steps.iter().map(|step| (step.asked, step.answered, step.left)).collect();
    assert_eq!(steps, [(11, 10, 1), (10, 6, 2), (6, 6, 0)]);
    let still: Vec<f64> = chain.steps.iter().filter_map(|step| step.still).map(|still| still.rate).collect();
    assert_eq!(still, [10.0 / 11.0, 6.0 / 11.0, 6.0 / 11.0]);
    assert_eq!(chain.steps[1].fields, ["field2".into()]);
    assert_eq!(findings, []);
}

#[test]
fn a_question_asked_again_after_an_unusable_answer_is_no_step() {
    let mut fixture = desk();
    run(&mut fixture, "s1", &[Accept, Accept, Accept], OperationOutcome::Ok);
    let rows = &mut fixture.frames.elicitations;
    let (schema, schema_hash) = (rows[0].schema.clone(), rows[0].schema_hash);
    (rows[1].schema, rows[1].schema_hash) = (schema, schema_hash);
    (rows[0].verdict, rows[0].operation_outcome) = (Verdict::Unusable, OperationOutcome::AskedAgain);
    let (chains, _) = chains_of(&fixture);
    assert_eq!((chains[0].steps.len(), chains[0].repeats, chains[0].finished), (2, 1, 1));
    // After a usable answer the same form is a question of its own: the next guest's name, for example.
    fixture.frames.elicitations[0].verdict = Verdict::Usable;
    let (chains, _) = chains_of(&fixture);
    assert_eq!((chains[0].steps.len(), chains[0].repeats), (3, 0));
}

#[test]
fn what_the_capture_does_not_hold_is_not_left() {
    let mut fixture = desk();
    // Cut by the capture's end, against a server that gave up waiting.
    run(&mut fixture, "s1", &[Accept, Unanswered], OperationOutcome::Unanswered);
    run(&mut fixture, "s1", &[Accept, Unanswered], OperationOutcome::IsError);
    // A retry that never came.
    run(&mut fixture, "s1", &[Unanswered], OperationOutcome::Unanswered);
    fixture.frames.elicitations[4].style = ElicitationStyle::InputRequired;
    // Listed by error -32042 and settled: the request is sent anew.
    run(&mut fixture, "s1", &[Accept], OperationOutcome::Error);
    fixture.frames.elicitations[5].operation_rule = OperationRule::Carried;
    let (chains, _) = chains_of(&fixture);
    let chain = &chains[0];
    assert_eq!((chain.started, chain.left, chain.failed, chain.not_known), (4, 2, 0, 2));
}

#[test]
fn people_who_leave_in_the_middle_are_found() {
    let mut fixture = desk();
    runs(&mut fixture, 20, &[Accept, Accept, Accept, Accept]);
    runs(&mut fixture, 18, &[Accept, Accept, Decline]);
    runs(&mut fixture, 7, &[Accept, Cancel]);
    runs(&mut fixture, 2, &[Decline]);
    let (_, findings) = chains_of(&fixture);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.weight, finding.evidence.len()), (25, 20));
    let sentence = plain(&finding.sentence);
    assert!(
        sentence.starts_with("book on desk: 25 of 45 (55.6 %, 95 % interval 41.2–69.1 %) runs whose first"),
        "{sentence}"
    );
    assert!(sentence.contains("the last of 4 questions; 20 of 47 runs finish"), "{sentence}");
    assert!(
        sentence.contains("most go at question 3 (18 of 38 asked, which asks for field3); client: pane"),
        "{sentence}"
    );
}

#[test]
fn look_alikes_are_no_chain_that_loses_people() {
    type Story = (&'static str, fn(&mut Fixture));
    let stories: [Story; 7] = [
        ("an optional last question", |fixture| {
            runs(fixture, 12, &[Accept, Accept, Accept, Accept]);
            runs(fixture, 40, &[Accept, Accept, Accept, Decline]);
        }),
        ("an optional question in the middle", |fixture| runs(fixture, 60, &[Accept, Decline, Accept])),
        ("an unwanted operation, declined at once", |fixture| {
            runs(fixture, 30, &[Accept, Accept]);
            runs(fixture, 90, &[Decline]);
        }),
        ("few runs", |fixture| {
            runs(fixture, 5, &[Accept, Accept, Accept]);
            runs(fixture, 14, &[Accept, Decline]);
        }),
        ("a third by chance", |fixture| {
            runs(fixture, 14, &[Accept, Accept, Accept]);
            runs(fixture, 8, &[Accept, Decline]);
        }),
        ("one question", |fixture| {
            runs(fixture, 20, &[Accept]);
            runs(fixture, 40, &[Decline]);
        }),
        ("a branch that few take", |fixture| {
            runs(fixture, 60, &[Accept]);
            runs(fixture, 40, &[Accept, Decline]);
        }),
    ];
    for (name, story) in stories {
        let mut fixture = desk();
        story(&mut fixture);
        let (_, findings) = chains_of(&fixture);
        assert!(findings.is_empty(), "{name}: {}", plain(&findings[0].sentence));
    }
}

#[test]
fn a_client_that_refuses_unread_is_no_person_who_leaves() {
    let mut fixture = desk();
    runs(&mut fixture, 20, &[Accept, Accept, Accept]);
    for _ in 0..400 {
        run(&mut fixture, "s2", &[Decline], OperationOutcome::Ok);
    }
    // Now and then somebody opens its window.
    for _ in 0..21 {
        run(&mut fixture, "s2", &[Accept, Decline], OperationOutcome::Ok);
    }
    let (_, findings) = chains_of(&fixture);
    assert_eq!(findings.len(), 1, "with times of people they are people");
    for row in fixture.frames.elicitations.iter_mut().filter(|row| &*row.session == "s2") {
        (row.latency_ms, row.schema_booleans) = (Some(20.0), 0);
    }
    let (_, findings) = chains_of(&fixture);
    assert_eq!(findings, []);
}
