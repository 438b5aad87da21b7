use super::*;
use crate::audit::context::Context;
use crate::audit::elicited::elicitations;
use crate::audit::elicited::rows::{fault, field, question};
use crate::audit::fixture::Fixture;
use crate::audit::wording::tests::plain;
use crate::expect::Expectations;
use crate::schema::ElicitationOutcome::{Accept, Cancel, Decline};
use crate::schema::ValueType;

fn answering_of(fixture: &Fixture) -> (Vec<Answering>, Vec<Finding>) {
    let expectations = Expectations::default();
    let (_, questions, mut findings) = elicitations(&Context::new(&fixture.frames, &expectations));
    findings.retain(|finding| ["MT214", "MT215", "MT216"].contains(&finding.rule));
    (questions.answering, findings)
}

fn rules(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule).collect()
}

/// `n` answers of one client; the n-th by outcome and latency.
fn answers(n: u64, answer: fn(u64) -> (ElicitationOutcome, f64)) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "deny-bot");
    for at in 0..n {
        let (outcome, latency) = answer(at);
        let row = question(&mut fixture, "a");
        (row.outcome, row.latency_ms) = (outcome, Some(latency));
        row.verdict = if outcome == Accept { Verdict::Usable } else { Verdict::None };
    }
    fixture
}

#[test]
fn everything_declined_within_forty_milliseconds() {
    let fixture = answers(40, |at| (Decline, 10.0 + (at % 30) as f64));
    let (rows, findings) = answering_of(&fixture);
    let [row] = rows.as_slice() else { panic!("one client") };
    assert_eq!((row.asked, row.decline, row.fast_refusals, row.timed_refusals), (40, 40, 40, 40));
    assert_eq!((row.refuses_unread, row.refusal_p50_ms), (true, Some(19.5)));
    assert_eq!(rules(&findings), ["MT214"]);
    let sentence = plain(&findings[0].sentence);
    assert!(
        sentence.starts_with(
            "deny-bot 1.0 refuses questions before anybody can have read them: 40 of 40 (100 %, 95 % interval 91.2–100 \
             %) questions were refused (40 declined, 0 cancelled), 40 of 40 within half a second (median 20 ms"
        ),
        "{sentence}"
    );
    assert!(sentence.contains("asked by set_budget; since"), "{sentence}");
}

#[test]
fn look_alikes_have_read_the_question() {
    type Story = (&'static str, Fixture);
    let mut yes_no = answers(40, |_| (Decline, 20.0));
    for row in &mut yes_no.frames.elicitations {
        (row.schema_properties, row.schema_booleans) = (1, 1);
    }
    let mut untimed = answers(40, |_| (Decline, 20.0));
    for row in &mut untimed.frames.elicitations {
        row.latency_ms = None;
    }
    let stories: [Story; 7] = [
        ("a person who declines twice", answers(2, |_| (Decline, 300.0))),
        ("nine fast ones", answers(9, |_| (Decline, 20.0))),
        ("a person who always declines", answers(40, |at| (Decline, 900.0 + 200.0 * at as f64))),
        ("a fast client that accepts too", answers(40, |at| (if at % 4 == 0 { Accept } else { Decline }, 20.0))),
        ("declined or cancelled as it comes", answers(40, |at| (if at % 2 == 0 { Cancel } else { Decline }, 20.0))),
        ("an OK box", yes_no),
        ("no times", untimed),
    ];
    for (name, fixture) in stories {
        let (rows, findings) = answering_of(&fixture);
        assert!(!rows[0].refuses_unread && findings.is_empty(), "{name}: {:?}", rules(&findings));
    }
}

#[test]
fn a_refusal_that_carries_the_form() {
    let mut fixture = answers(5, |at| (if at < 4 { Decline } else { Cancel }, 4_000.0));
    let contents = [Some("{\"limit\":5}"), Some("{}"), None, Some("\"no\""), Some("{\"limit\":7}")];
    for (row, content) in fixture.frames.elicitations.iter_mut().zip(contents) {
        row.content_without_accept = content.is_some();
        row.content_hash = content.map(|content| digest(content.as_bytes()));
    }
    let (rows, findings) = answering_of(&fixture);
    assert_eq!((rows[0].refused_with_content, rows[0].refused_with_empty), (3, 1));
    assert_eq!(rules(&findings), ["MT215"]);
    assert!(plain(&findings[0].sentence).starts_with("deny-bot 1.0: 3 of 5 (60.0 %"));
    // What some SDKs write for nothing.
    for row in &mut fixture.frames.elicitations {
        row.content_hash = row.content_without_accept.then(|| digest(b"{}"));
    }
    let (rows, findings) = answering_of(&fixture);
    assert_eq!((rows[0].refused_with_content, rows[0].refused_with_empty, findings.len()), (0, 4, 0));
}

#[test]
fn accepted_with_nothing_filled_in() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "clicker");
    question(&mut fixture, "a").content_hash = Some(digest(b"{}"));
    field(&mut fixture, "limit", ValueType::Number, "");
    fault(&mut fixture, Reason::MissingRequired, true);
    // A form without required fields may be accepted as it stands; a field may be missing from a form that was filled.
    question(&mut fixture, "a").content_hash = Some(digest(b"{}"));
    question(&mut fixture, "a").content_hash = Some(digest(b"{\"note\":\"x\"}"));
    field(&mut fixture, "limit", ValueType::Number, "");
    fault(&mut fixture, Reason::MissingRequired, true);
    let (rows, findings) = answering_of(&fixture);
    assert_eq!((rows[0].accept, rows[0].accepted_empty), (3, 1));
    assert_eq!(rules(&findings), ["MT216"]);
    assert_eq!(findings[0].evidence[0].position, fixture.frames.elicitations[0].position);
}
