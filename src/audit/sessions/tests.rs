use super::*;
use crate::audit::fixture::{Fixture, Prompt};
use crate::audit::wording::tests::plain;
use crate::expect::Expectations;
use crate::finding::Severity;

const OLD: &[Prompt] = &[("reply", &[("review", true, ""), ("product-area", true, "")])];
const NEW: &[Prompt] = &[("reply", &[("review", true, ""), ("area", true, "")])];
const BEFORE: &[(&str, &str)] = &[("review", "Broken."), ("product-area", "billing")];
const AFTER: &[(&str, &str)] = &[("review", "Broken."), ("area", "billing")];

struct Result {
    units: Vec<SessionUnit>,
    verdicts: Vec<SessionVerdict>,
    findings: Vec<Finding>,
}

fn run(mut fixture: Fixture) -> Result {
    let (mut last, frames) = (fixture.seq, &mut fixture.frames);
    last += 1;
    for session in &mut frames.sessions {
        session.last_seq = last;
    }
    let expectations = Expectations::default();
    let (units, verdicts, findings) = sessions(&Context::new(frames, &expectations));
    Result { units, verdicts, findings }
}

impl Result {
    fn unit(&self, session: &str, version: Option<u32>) -> &SessionUnit {
        self.units.iter().find(|unit| &*unit.session == session && unit.version_in_effect == version).expect("a unit")
    }

    fn rules(&self) -> Vec<&str> {
        self.findings.iter().map(|finding| finding.rule).collect()
    }
}

fn fail(fixture: &mut Fixture, session: &str, arguments: &[(&str, &str)]) {
    let call = fixture.call(session, "reply", arguments);
    call.outcome = CallOutcome::Error;
    call.error_code = Some(-32602);
    call.error_message = Some("Invalid arguments".into());
}

/// The rename that was recorded: A lists again, B is told and does not, C comes later and lists after one try.
fn rename() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("A", "desk", "desk-A");
    fixture.listing("A", OLD);
    fixture.session("B", "desk", "desk-B");
    fixture.listing("B", OLD);
    for session in ["A", "B"] {
        for _ in 0..3 {
            fixture.call(session, "reply", BEFORE);
        }
    }
    fixture.notice("A").notice("B").notice("A").notice("B");
    fixture.listing("A", NEW);
    for _ in 0..5 {
        fixture.call("A", "reply", AFTER);
        fail(&mut fixture, "B", BEFORE);
    }
    fixture.session("C", "desk", "desk-C");
    fail(&mut fixture, "C", BEFORE);
    fixture.listing("C", NEW);
    fixture.call("C", "reply", AFTER);
    fixture
}

#[test]
fn the_recorded_rename() {
    let result = run(rename());
    let counts: Vec<(&str, Option<u32>, u64, u64)> =
        result.units.iter().map(|unit| (&*unit.session, unit.version_in_effect, unit.failing, unit.attempts)).collect();
    assert_eq!(
        counts,
        [("A", Some(1), 0, 3), ("A", Some(2), 0, 5), ("B", Some(1), 0, 3), ("B", Some(2), 5, 5), ("C", Some(2), 1, 2)]
    );
    let (again, ignored, later) = (result.unit("A", Some(2)), result.unit("B", Some(2)), result.unit("C", Some(2)));
    assert_eq!((again.bad_pattern, again.told, again.cause), (patterns::CLEAN, Some(causes::TOLD), None));
    assert_eq!(ignored.failing_pattern, patterns::WENT_BAD);
    assert_eq!(ignored.mismatched_pattern, patterns::WENT_BAD);
    assert_eq!((ignored.cause, ignored.stale), (Some(causes::OUTDATED_DECLARATION), true));
    assert_eq!((ignored.told, ignored.declaration_seen), (Some(causes::TOLD_AND_IGNORED), Some(1)));
    assert_eq!(ignored.outdated_keys, [Text::from("product-area")]);
    assert_eq!((later.bad_pattern, later.stale), (patterns::RECOVERED, false));

    let verdict = &result.verdicts[0];
    assert_eq!((verdict.units, verdict.attempts, verdict.tested_bad, verdict.bad), (5, 18, 6, 6));
    assert_eq!((verdict.bad_in_runs, verdict.bad_mixed, verdict.bad_single), (6, 0, 0));
    assert_eq!(verdict.p_value, Some(4.0 / 924.0));
    assert_eq!(verdict.p_value.map(|p| format!("{p:.4}")).as_deref(), Some("0.0043"));
    assert!((verdict.icc.unwrap() - 0.8613861386138615).abs() < 1e-12, "all five units");
    assert_eq!((verdict.share_in_runs, verdict.verdict), (Some(1.0), verdict::PER_SESSION));
    assert_eq!(verdict.all_bad_seen, 1);
    let across = verdict.across_change.as_ref().unwrap();
    assert_eq!((across.listed_again_bad, across.listed_again_clean), (0, 1));
    assert_eq!((across.not_listed_bad, across.not_listed_clean), (1, 0));
    assert_eq!((across.opened_later_bad, across.opened_later_clean), (1, 0));
    assert_eq!(result.rules(), ["MT301", "MT302"]);
    let stale = &result.findings[0];
    assert_eq!((stale.severity, stale.weight), (Severity::Error, 5));
    assert_eq!(
        plain(&stale.sentence),
        "reply on desk: 1 of 3 sessions kept an outdated declaration, 5 attempts ended in an error and 0 rendered all \
         the same; outdated keys: product-area; 1 told by list_changed and did not list again; client: desk-B; since \
         1970-01-01 00:00 UTC; for example session B."
    );
}

/// The units after the change alone: 0/5, 5/5, 1/2, ICC 0.851, p 0.0043.
#[test]
fn the_recorded_rename_after_the_change() {
    let mut fixture = rename();
    fixture.frames.calls.retain(|call| call.seq > 12);
    let result = run(fixture);
    let verdict = &result.verdicts[0];
    assert_eq!((verdict.units, verdict.attempts), (3, 12));
    assert_eq!(verdict.icc.map(|icc| format!("{icc:.3}")).as_deref(), Some("0.851"));
    assert_eq!(verdict.p_value.map(|p| format!("{p:.4}")).as_deref(), Some("0.0043"));
}

/// One SDK drops an unknown key in silence: nothing fails, and the session is stale all the same.
#[test]
fn a_stale_session_that_renders_is_degraded() {
    let mut fixture = rename();
    for call in &mut fixture.frames.calls {
        call.outcome = CallOutcome::Rendered;
    }
    let result = run(fixture);
    let stale = result.unit("B", Some(2));
    assert_eq!((stale.failing, stale.mismatched, stale.degraded, stale.bad), (0, 5, 5, 5));
    assert_eq!((stale.failing_pattern, stale.mismatched_pattern), (patterns::CLEAN, patterns::WENT_BAD));
    assert!(stale.stale);
}

#[test]
fn never_told_is_not_told_and_ignored() {
    let mut fixture = Fixture::new();
    fixture.session("A", "desk", "a").session("B", "desk", "b");
    fixture.listing("A", OLD);
    fixture.listing("B", OLD);
    fixture.call("B", "reply", BEFORE);
    fixture.listing("A", NEW);
    for _ in 0..3 {
        fail(&mut fixture, "B", BEFORE);
    }
    let result = run(fixture);
    let unit = result.unit("B", Some(2));
    assert_eq!((unit.told, unit.stale), (Some(causes::NEVER_TOLD), true));
    let before = result.unit("B", Some(1));
    assert_eq!(
        (before.attempts, before.mismatched_pattern),
        (1, patterns::NOT_JUDGED),
        "the change may have been there"
    );
}

#[test]
fn five_badly_typed_calls_are_every_time_and_not_stale() {
    let mut fixture = Fixture::new();
    fixture.session("A", "desk", "a");
    fixture.listing("A", OLD);
    for _ in 0..5 {
        fail(&mut fixture, "A", BEFORE);
    }
    let result = run(fixture);
    let unit = result.unit("A", Some(1));
    assert_eq!((unit.failing_pattern, unit.mismatched_pattern), (patterns::EVERY_TIME, patterns::CLEAN));
    assert_eq!((unit.cause, unit.stale), (Some(causes::SAME_INPUT), false));
    assert_eq!(result.verdicts[0].verdict, verdict::NOT_ENOUGH);
    assert!(result.findings.is_empty());
}

#[test]
fn causes_by_their_evidence() {
    // A replays old keys after it listed the new version; B sends a key nobody declared.
    let mut fixture = Fixture::new();
    fixture.session("A", "desk", "a").session("B", "desk", "b");
    fixture.listing("A", OLD);
    fixture.listing("A", NEW);
    fixture.listing("B", NEW);
    for _ in 0..2 {
        fail(&mut fixture, "A", BEFORE);
        fail(&mut fixture, "B", &[("review", "x"), ("area", "y"), ("produktarea", "z")]);
    }
    let result = run(fixture);
    let replayed = result.unit("A", Some(2));
    assert_eq!((replayed.cause, replayed.stale), (Some(causes::REPLAYED_INVOCATION), true));
    let typo = result.unit("B", Some(2));
    assert_eq!(
        (typo.cause, typo.stale, typo.mismatched_pattern),
        (Some(causes::NEVER_DECLARED), false, patterns::EVERY_TIME)
    );
}

#[test]
fn an_outage_hits_other_sessions_too() {
    let mut fixture = Fixture::new();
    for session in ["A", "B", "C"] {
        fixture.session(session, "desk", "a");
        fixture.listing(session, OLD);
    }
    for round in ["1", "2"] {
        for session in ["A", "B", "C"] {
            fail(&mut fixture, session, &[("review", round), ("product-area", session)]);
        }
    }
    let mut two_sessions = Fixture { frames: fixture.frames.clone(), seq: fixture.seq };
    two_sessions.frames.calls.retain(|call| &*call.session != "C");
    let result = run(fixture);
    assert_eq!(result.unit("A", Some(1)).cause, Some(causes::OUTAGE));
    assert!(result.findings.is_empty(), "{:?}", result.rules());
    assert_eq!(run(two_sessions).unit("A", Some(1)).cause, Some(causes::UNEXPLAINED), "one other proves nothing");
}

/// A good client across a change: clean, one failure, a listing, clean again.
#[test]
fn the_life_of_a_good_client_is_not_stale() {
    let mut fixture = Fixture::new();
    fixture.session("A", "desk", "a").session("B", "desk", "b");
    fixture.listing("A", OLD);
    fixture.call("A", "reply", BEFORE);
    fixture.call("A", "reply", BEFORE);
    fixture.notice("A");
    fixture.listing("B", NEW);
    fail(&mut fixture, "A", BEFORE);
    fixture.listing("A", NEW);
    fixture.call("A", "reply", AFTER);
    let result = run(fixture);
    let unit = result.unit("A", Some(2));
    assert_eq!((unit.bad_pattern, unit.stale, unit.cause), (patterns::WENT_BAD_RECOVERED, false, None));
    assert!(result.findings.is_empty());
}

#[test]
fn what_is_no_attempt_and_what_is_not_judged() {
    let mut fixture = Fixture::new();
    fixture.session("A", "desk", "a").session("G", "desk", "g").session("S", "desk", "s");
    fixture.listing("A", OLD);
    fixture.call("A", "reply", BEFORE).outcome = CallOutcome::Unanswered;
    let url = fixture.call("A", "reply", BEFORE);
    (url.outcome, url.error_code) = (CallOutcome::Error, Some(-32042));
    for session in ["G", "S"] {
        for _ in 0..6 {
            fail(&mut fixture, session, BEFORE);
        }
    }
    fixture.frames.sessions[1].session_quality = SessionQuality::Guess;
    fixture.frames.sessions[2].session_quality = SessionQuality::Stateless;
    let result = run(fixture);
    let patterns_of = |session: &str| {
        let unit = result.unit(session, Some(1));
        (unit.attempts, unit.failing_pattern, unit.mismatched_pattern, unit.cause)
    };
    assert_eq!(patterns_of("A"), (0, patterns::NO_ATTEMPT, patterns::NO_ATTEMPT, None));
    assert_eq!(patterns_of("G"), (6, patterns::NOT_JUDGED, patterns::NOT_JUDGED, None));
    assert_eq!(patterns_of("S"), (6, patterns::NO_SESSIONS, patterns::NO_SESSIONS, None));
    assert_eq!((result.verdicts[0].units, result.verdicts[0].bad), (0, 0));
}

#[test]
fn stateless_traffic_has_no_sessions() {
    let mut fixture = Fixture::new();
    fixture.session("S", "desk", "s");
    fixture.call("S", "reply", BEFORE);
    fixture.frames.sessions[0].session_quality = SessionQuality::Stateless;
    assert_eq!(run(fixture).verdicts[0].verdict, verdict::NO_SESSIONS);
}

/// Without a declaration failing is all that can be said; the table says so.
#[test]
fn without_a_declaration_the_failing_track_is_tested() {
    let mut fixture = Fixture::new();
    for number in 0..10 {
        let session = format!("s{number}");
        fixture.session(&session, "desk", "a");
        for _ in 0..4 {
            if number < 3 {
                fail(&mut fixture, &session, BEFORE);
            } else {
                fixture.call(&session, "reply", BEFORE);
            }
        }
    }
    let result = run(fixture);
    let verdict = &result.verdicts[0];
    assert_eq!((verdict.track, verdict.units, verdict.tested_bad), ("failing", 10, 12));
    assert_eq!(verdict.verdict, verdict::PER_SESSION);
    assert_eq!(result.unit("s0", None).bad_pattern, patterns::NOT_JUDGED);
    assert_eq!(result.rules(), ["MT302"]);
}

/// Every session fails one time in four, at random: requests are to blame, and nothing is found.
#[test]
fn scattered_failures_are_per_request() {
    let mut fixture = Fixture::new();
    for number in 0..40u32 {
        let session = format!("s{number:02}");
        fixture.session(&session, "desk", "a");
        fixture.listing(&session, OLD);
        for attempt in 0..8u32 {
            if (number * 7 + attempt * 3) % 4 == 0 {
                fail(&mut fixture, &session, BEFORE);
            } else {
                fixture.call(&session, "reply", BEFORE);
            }
        }
    }
    let result = run(fixture);
    assert_eq!(result.verdicts[0].verdict, verdict::PER_REQUEST);
    assert!(result.findings.is_empty());
}

/// A fault of one day hits all sessions of that day: within the day nothing gathers.
#[test]
fn a_dated_fault_is_not_per_session() {
    let mut fixture = Fixture::new();
    for number in 0..12i64 {
        let session = format!("s{number:02}");
        fixture.session(&session, "desk", "a");
        fixture.listing(&session, OLD);
        for _ in 0..5 {
            if number < 3 {
                fail(&mut fixture, &session, BEFORE);
            } else {
                fixture.call(&session, "reply", BEFORE);
            }
        }
    }
    for call in &mut fixture.frames.calls {
        let number: i64 = call.session[1..].parse().unwrap();
        call.ts = Some(Ts(number / 3 * 86_400_000_000 + call.seq as i64));
    }
    let result = run(fixture);
    assert_eq!((result.verdicts[0].p_value, result.verdicts[0].verdict), (None, verdict::NOT_ENOUGH));
}

#[test]
fn without_times_across_files_there_is_no_order() {
    let mut fixture = rename();
    for (index, call) in fixture.frames.calls.iter_mut().enumerate() {
        call.ts = None;
        call.file = format!("{}.ndjson", index % 2).into();
    }
    let result = run(fixture);
    assert_eq!(result.unit("B", Some(2)).failing_pattern, patterns::EVERY_TIME);
    assert_eq!(result.unit("C", Some(2)).failing_pattern, patterns::MIXED);
}
