use super::*;
use crate::audit::audit;
use crate::audit::fixture::Fixture;
use crate::audit::wording::tests::plain;
use crate::expect::Expectations;
use crate::protocol::message::Ts;

const MS: i64 = 1000;

/// `session` calls `reply` at `start` ms with this review, and is answered after `latency` ms.
fn call(fixture: &mut Fixture, session: &str, review: &str, start: i64, latency: f64) {
    let row = fixture.call(session, "reply", &[("review", review)]);
    row.ts = Some(Ts(start * MS));
    row.latency_ms = Some(latency);
}

/// Eight calls that a gateway passes on 3 ms later, answered 5 ms earlier.
fn gateway() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("outer", "gate", "ide").session("inner", "desk", "gate");
    for at in 0..8 {
        let review = format!("review {at}");
        call(&mut fixture, "outer", &review, at * 60_000, 50.0);
        call(&mut fixture, "inner", &review, at * 60_000 + 3, 42.0);
    }
    fixture
}

#[test]
fn both_sides_of_a_gateway_are_suspected_and_either_can_be_kept() {
    let fixture = gateway();
    let found = audit(&fixture.frames, &Expectations::default()).expect("sums close").findings;
    let finding = found.iter().find(|finding| finding.rule == "MT907").expect("a finding");
    let sentence = plain(&finding.sentence);
    assert!(sentence.contains("8 prompt calls and 0 questions in 1 pair of sessions"), "{sentence}");
    assert!(sentence.contains("median 3 ms"), "{sentence}");
    for (side, kept) in [(Side::Outer, "outer"), (Side::Inner, "inner")] {
        let mut frames = fixture.frames.clone();
        assert_eq!(keep(&mut frames, side), LeftOut { sessions: 1, calls: 8, questions: 0 });
        assert!(frames.calls.iter().all(|row| &*row.session == kept));
        assert_eq!((frames.calls.len(), frames.args.len(), frames.sessions.len()), (8, 8, 1));
        let audit = audit(&frames, &Expectations::default()).expect("sums close");
        assert!(audit.findings.iter().all(|finding| finding.rule != "MT907"));
    }
}

#[test]
fn both_sides_in_one_session_lose_one_twin_of_each() {
    let mut fixture = Fixture::new();
    fixture.session("s", "desk", "ide");
    for at in 0..6 {
        let review = format!("review {at}");
        call(&mut fixture, "s", &review, at * 60_000, 50.0);
        call(&mut fixture, "s", &review, at * 60_000 + 3, 60.0);
    }
    let mut frames = fixture.frames.clone();
    assert_eq!(keep(&mut frames, Side::Inner), LeftOut { sessions: 0, calls: 6, questions: 0 });
    assert!(frames.calls.iter().all(|row| row.latency_ms == Some(60.0)));
}

#[test]
fn a_chain_of_gateways_keeps_its_ends() {
    let mut fixture = gateway();
    fixture.session("deep", "store", "desk");
    for at in 0..8 {
        call(&mut fixture, "deep", &format!("review {at}"), at * 60_000 + 6, 30.0);
    }
    for (side, kept) in [(Side::Outer, "outer"), (Side::Inner, "deep")] {
        let mut frames = fixture.frames.clone();
        assert_eq!(keep(&mut frames, side).calls, 16);
        assert!(frames.calls.iter().all(|row| &*row.session == kept));
    }
}

#[test]
fn traffic_that_looks_alike_is_not_suspected() {
    // Two people use the same prompt in the same second, each as often first.
    let mut people = Fixture::new();
    people.session("a", "desk", "ide").session("b", "desk", "ide");
    // A client repeats each call after the answer; a few twins of many calls; a slow second client.
    let mut repeats = Fixture::new();
    repeats.session("s", "desk", "ide");
    let mut few = Fixture::new();
    few.session("a", "desk", "ide").session("b", "desk", "ide");
    let mut untimed = gateway();
    for at in 0..20 {
        let (first, second) = if at % 2 == 0 { ("a", "b") } else { ("b", "a") };
        call(&mut people, first, "fine", at * 60_000, 50.0);
        call(&mut people, second, "fine", at * 60_000 + 400, 50.0);
        call(&mut repeats, "s", "fine", at * 60_000, 50.0);
        call(&mut repeats, "s", "fine", at * 60_000 + 51, 50.0);
        let review = format!("review {at}");
        call(&mut few, "a", &review, at * 60_000, 50.0);
        call(&mut few, "b", if at < 6 { &review } else { "other" }, at * 60_000 + 3, 40.0);
    }
    for row in &mut untimed.frames.calls {
        row.ts = None;
    }
    for (name, fixture) in [("people", people), ("repeats", repeats), ("few", few), ("untimed", untimed)] {
        assert_eq!(suspected(&fixture.frames), [], "{name}");
    }
}
