use super::change::{CHANGE, DAYS_DIFFER, NO_CHANGE, NOT_ENOUGH, STRETCH};
use super::*;
use crate::audit::fixture::Fixture;
use crate::audit::tables::{Appearance, What};
use crate::audit::wording::tests::plain;
use crate::expect::Expectations;
use crate::finding::Severity;

/// 1 June 2026, a Monday.
const START: i64 = 1_780_272_000_000_000;

fn day(number: i64) -> i64 {
    START + number * DAY
}

/// Thirty days of three sessions with ten calls each; `fails` says which calls of which day end in an error: day, session of
/// the day, call of the session.
fn month(days: i64, fails: impl Fn(i64, i64, i64) -> bool) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("listing", "desk", "ide");
    for number in 0..days {
        for session in 0..3 {
            let name = format!("s{number}-{session}");
            fixture.session(&name, "desk", "ide");
            for call in 0..10 {
                let row = fixture.call(&name, "reply", &[]);
                row.ts = Some(Ts(day(number) + (session * 20 + call) * 60_000_000));
                if fails(number, session, call) {
                    (row.outcome, row.error_code) = (CallOutcome::Error, Some(-32603));
                }
            }
        }
    }
    fixture
}

fn audited(fixture: &Fixture) -> (RateSeries, Vec<Finding>) {
    let expectations = Expectations::default();
    let context = Context::new(&fixture.frames, &expectations);
    let (rows, found) = rates(&context);
    (rows.into_iter().find(|row| row.kind == FAILING).expect("a rate of errors"), found)
}

/// Scattered failures, about one call in eight, by no pattern of days or sessions.
fn scattered(number: i64, session: i64, call: i64) -> bool {
    (number * 7919 + session * 104_729 + call * 1_299_709 + number * session * 31) % 8 == 3
}

#[test]
fn a_change_is_named_with_its_moment_and_both_rates() {
    let fixture = month(30, |number, session, call| number >= 17 && (session + call) % 2 == 0);
    let (row, found) = audited(&fixture);
    assert_eq!(row.change.verdict, CHANGE);
    let (before, after) = (row.change.before.expect("a side"), row.change.after.expect("a side"));
    assert_eq!((before.hits, before.n, after.hits, after.n), (0, 510, 195, 390));
    let first = row.change.first_after.as_ref().and_then(|at| at.ts);
    assert_eq!(first, Some(Ts(day(17))));
    assert_eq!(row.change.p_value, Some(0.001));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.rule, finding.severity), ("MT601", Severity::Warning));
    assert_eq!(
        plain(&finding.sentence),
        "errors of reply (desk) rose from 0 of 510 (0 %, 95 % interval 0–0.75 %) to 195 of 390 (50.0 %, 95 % interval \
         45.1–54.9 %), between 2026-06-17 00:49 and 2026-06-18 00:00 UTC; p 0.001 by 999 orders of whole sessions, Holm over \
         1 series."
    );
}

#[test]
fn a_fall_is_a_note() {
    let fixture = month(20, |number, session, call| number < 10 && (session + call) % 2 == 0);
    let (row, found) = audited(&fixture);
    assert_eq!(row.change.verdict, CHANGE);
    assert_eq!(found.iter().map(|finding| finding.severity).collect::<Vec<_>>(), [Severity::Note]);
}

#[test]
fn a_month_without_a_change_names_none() {
    let (row, found) = audited(&month(30, scattered));
    assert_eq!((row.change.verdict, found), (NO_CHANGE, Vec::new()));
    assert!(row.change.p_value.is_some_and(|p| p > 0.05), "{:?}", row.change);
}

#[test]
fn sessions_that_fail_throughout_are_no_change() {
    // Six sessions of ninety fail in every call, wherever they stand: by calls that would look like a change.
    for bad in [[2, 5, 9, 60, 61, 88], [70, 75, 77, 80, 84, 85], [1, 30, 40, 41, 42, 80]] {
        let (row, found) = audited(&month(30, |number, session, _| bad.contains(&(number * 3 + session))));
        assert_ne!((row.change.verdict, found.len()), (CHANGE, 1), "{bad:?}: {:?}", row.change);
    }
}

#[test]
fn one_unlucky_day_among_many_is_no_change() {
    for unlucky in [0, 3, 15, 28, 29] {
        let (row, found) =
            audited(&month(30, |number, session, call| number == unlucky || scattered(number, session, call)));
        assert!([NO_CHANGE, DAYS_DIFFER].contains(&row.change.verdict), "day {unlucky}: {:?}", row.change);
        assert_eq!(found, [], "day {unlucky}");
        // Sessions alone would support a change at the month's end: it takes the days to see that it is one of them.
        assert!(unlucky != 29 || row.change.verdict == DAYS_DIFFER, "{:?}", row.change);
    }
    // Nor among five, where days are too few to be permuted.
    for unlucky in [0, 2, 4] {
        let (row, found) = audited(&month(5, |number, _, _| number == unlucky));
        let verdict = if unlucky == 2 { NO_CHANGE } else { DAYS_DIFFER };
        assert_eq!((row.change.verdict, found), (verdict, Vec::new()), "day {unlucky} of five: {:?}", row.change);
    }
}

#[test]
fn days_that_differ_all_month_are_no_change() {
    for bad in [[3, 4, 9, 16, 17, 22, 27], [0, 1, 2, 11, 12, 20, 21], [5, 14, 15, 20, 21, 28, 29]] {
        let fixture = month(30, |number, session, call| bad.contains(&number) && (session + call) % 3 > 0);
        let (row, found) = audited(&fixture);
        assert!([NO_CHANGE, DAYS_DIFFER].contains(&row.change.verdict), "{bad:?}: {:?}", row.change);
        assert_eq!(found, []);
    }
}

#[test]
fn days_of_an_outage_are_a_stretch_with_both_ends() {
    let (row, found) =
        audited(&month(30, |number, session, call| (18..24).contains(&number) || (session, call) == (0, 0)));
    assert_eq!(row.change.verdict, STRETCH, "{:?}", row.change);
    let place = |at: &Option<Evidence>| at.as_ref().and_then(|at| at.ts).map(|ts| (ts.0 - START) / DAY);
    assert_eq!((place(&row.change.first_after), place(&row.change.last_inside)), (Some(18), Some(23)));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    let sentence = plain(&finding.sentence);
    assert!(
        sentence.starts_with(
            "errors of reply (desk) rose from 2026-06-19 00:00 to 2026-06-24 00:49 UTC to 180 of 180 (100 %, 95 % interval \
             97.9–100 %), against 24 of 720 (3.33 %, 95 % interval 2.25–4.91 %) before and after; p 0.001"
        ),
        "{sentence}"
    );
}

#[test]
fn too_little_is_said_to_be_too_little() {
    // Four hits; one session; under forty calls; no times.
    let (row, _) = audited(&month(30, |number, session, call| number > 25 && (session, call) == (0, 0)));
    assert_eq!(row.change.verdict, NOT_ENOUGH);
    let mut one = month(30, |number, _, _| number > 20);
    for call in &mut one.frames.calls {
        call.session = "listing".into();
    }
    assert_eq!(audited(&one).0.change.verdict, NOT_ENOUGH);
    assert_eq!(audited(&month(1, |_, _, call| call > 4)).0.change.verdict, NOT_ENOUGH);
    let mut untimed = month(30, |number, _, _| number > 20);
    for call in &mut untimed.frames.calls {
        call.ts = None;
    }
    let (row, _) = audited(&untimed);
    assert_eq!((row.change.verdict, row.n_without_time, row.hits_without_time), (NOT_ENOUGH, 900, 270));
    assert_eq!(row.periods, []);
}

#[test]
fn two_series_that_change_at_one_call_are_one_finding() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide");
    fixture.listing("a", &[("reply", &[("tone", true, "One of: warm, cold.")])]);
    for number in 0..20 {
        for session in 0..3 {
            let name = format!("s{number}-{session}");
            fixture.session(&name, "desk", "ide");
            for call in 0..5 {
                let bad = number >= 10 && call % 2 == 0;
                let row = fixture.call(&name, "reply", &[("tone", if bad { "blunt" } else { "warm" })]);
                row.ts = Some(Ts(day(number) + (session * 20 + call) * 60_000_000));
                if bad {
                    (row.outcome, row.error_code) = (CallOutcome::Error, Some(-32602));
                }
            }
        }
    }
    let expectations = Expectations::default();
    let (rows, found) = rates(&Context::new(&fixture.frames, &expectations));
    assert_eq!(rows.iter().filter(|row| row.change.verdict == CHANGE).count(), 2);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    let sentence = plain(&finding.sentence);
    assert!(sentence.contains("; at the same call changed: unintended values of tone in reply (desk)"), "{sentence}");
}

#[test]
fn periods_are_days_and_beyond_two_months_weeks_from_monday() {
    let (row, _) = audited(&month(30, scattered));
    assert_eq!((row.unit, row.periods.len(), row.periods[0].day.as_str()), ("day", 30, "2026-06-01"));
    assert_eq!(row.periods.iter().map(|period| period.n).sum::<u64>(), row.n);
    let (row, _) = audited(&month(70, scattered));
    assert_eq!((row.unit, row.periods.len()), ("week", 10));
    assert_eq!((row.periods[1].day.as_str(), row.periods[1].n), ("2026-06-08", 210));
    assert_eq!(row.periods.iter().map(|period| period.hits).sum::<u64>(), row.hits);
}

#[test]
fn a_new_value_key_and_code_have_a_first_day_and_what_came_before() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide");
    fixture.listing("a", &[("reply", &[("tone", false, "One of: warm, cold."), ("review", false, "")])]);
    let later = [("tone", "blunt"), ("colour", "red")];
    for (number, arguments) in [(4, &later[..]), (0, &later[..1]), (1, &[("tone", "warm")][..]), (5, &later[..])] {
        // Read in another order than that of their times.
        fixture.call("a", "reply", arguments).ts = Some(Ts(day(number)));
    }
    let row = fixture.call("a", "reply", &[("review", "anything")]);
    (row.ts, row.outcome, row.error_code) = (Some(Ts(day(6))), CallOutcome::Error, Some(-32602));
    let expectations = Expectations::default();
    let rows = appearances(&Context::new(&fixture.frames, &expectations));
    let told: Vec<(&str, String, Option<&str>, u64, u64)> = rows
        .iter()
        .map(|row: &Appearance| {
            let what = match &row.what {
                What::Value(shown) => shown.text.to_string(),
                What::Key(key) => key.to_string(),
                What::Word(word) => word.clone(),
            };
            (row.kind, what, row.day.as_deref(), row.before, row.calls)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("unintended value", "blunt".to_owned(), Some("2026-06-01"), 0, 3),
            ("unknown key", "colour".to_owned(), Some("2026-06-05"), 2, 2),
            ("error code", "-32602".to_owned(), Some("2026-06-07"), 4, 1),
        ]
    );
}
