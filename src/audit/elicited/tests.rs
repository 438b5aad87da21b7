use super::rows::{fault, field, limit, question};
use super::*;
use crate::audit::fixture::Fixture;
use crate::audit::tables::Field;
use crate::audit::wording::tests::plain;
use crate::expect::Expectations;
use crate::finding::Severity;
use crate::protocol::message::Ts;
use crate::schema::{FieldVerdict, ValueType};

fn desk() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.session("s1", "desk", "terminal").session("s2", "desk", "policy-file");
    fixture
}

fn run(fixture: &Fixture) -> (Vec<Elicitation>, Vec<Finding>) {
    let expectations = Expectations::default();
    let (rows, _, findings) = elicitations(&Context::new(&fixture.frames, &expectations));
    for row in &rows {
        closes(row);
    }
    (rows, findings)
}

fn closes(row: &Elicitation) {
    let terms = row.accept_usable
        + row.accept_unusable
        + row.accept_unchecked
        + row.accept_url
        + row.decline
        + row.cancel
        + row.error
        + row.malformed
        + row.unanswered
        + row.not_captured;
    assert_eq!(row.asked, terms);
    for field in &row.fields {
        let terms = field.usable
            + field.unusable
            + field.missing_required
            + field.absent_optional
            + field.no_content
            + field.unchecked;
        assert_eq!(field.accepted, terms, "{}", field.field);
        assert_eq!(field.reasons.values().sum::<u64>(), field.unusable + field.missing_required, "{}", field.field);
        assert_eq!(field.shows_at_extremes + field.cannot_show, field.unusable + field.missing_required);
    }
    assert_eq!(row.reasons.values().sum::<u64>(), row.accept_unusable);
    assert_eq!(row.causes.values().sum::<u64>(), row.accept_unusable);
}

fn named<'r>(row: &'r Elicitation, field: &str) -> &'r Field {
    row.fields.iter().find(|known| &*known.field == field).expect("the field")
}

fn rules(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn every_outcome_is_a_term() {
    let mut fixture = desk();
    let outcomes = [
        ElicitationOutcome::Decline,
        ElicitationOutcome::Cancel,
        ElicitationOutcome::Error,
        ElicitationOutcome::Malformed,
        ElicitationOutcome::Unanswered,
        ElicitationOutcome::NotCaptured,
    ];
    for outcome in outcomes {
        let row = question(&mut fixture, "s1");
        (row.outcome, row.verdict) = (outcome, Verdict::None);
    }
    for verdict in [Verdict::Usable, Verdict::Unchecked, Verdict::Url] {
        question(&mut fixture, "s1").verdict = verdict;
    }
    question(&mut fixture, "s1");
    fault(&mut fixture, Reason::ContentMissing, false);
    for (stray, server) in [(Stray::Replayed, "s1"), (Stray::KeyNotAsked, "s1"), (Stray::StateUnknown, "s2")] {
        question(&mut fixture, server).stray = stray;
    }
    let (rows, findings) = run(&fixture);
    let [row] = rows.as_slice() else { panic!("one column") };
    assert_eq!(
        (row.asked, row.accept_usable, row.accept_unusable, row.accept_unchecked, row.accept_url),
        (10, 1, 1, 1, 1)
    );
    assert_eq!(
        (row.decline, row.cancel, row.error, row.malformed, row.unanswered, row.not_captured),
        (1, 1, 1, 1, 1, 1)
    );
    assert_eq!((row.stray.replayed, row.stray.key_not_asked, row.stray.state_unknown), (1, 1, 1));
    assert!(rules(&findings).contains(&"MT205"));
}

#[test]
fn answers_without_content_count_for_every_field_asked() {
    let mut fixture = desk();
    limit(&mut fixture, "s1", "5");
    let note = field(&mut fixture, "note", ValueType::String, "");
    (note.json_type, note.value, note.verdict) = (None, None, FieldVerdict::AbsentOptional);
    question(&mut fixture, "s1");
    fault(&mut fixture, Reason::ContentMissing, false);
    let row = question(&mut fixture, "s1");
    row.verdict = Verdict::Unchecked;
    field(&mut fixture, "limit", ValueType::Number, "7").verdict = FieldVerdict::Unchecked;
    let (rows, _) = run(&fixture);
    let (budget, note) = (named(&rows[0], "limit"), named(&rows[0], "note"));
    assert_eq!((budget.accepted, budget.usable, budget.no_content, budget.unchecked), (3, 1, 1, 1));
    assert_eq!((note.accepted, note.absent_optional, note.no_content, note.unchecked), (3, 1, 1, 1));
    assert_eq!((budget.n, budget.declared_bounds[0].asked), (2, 3));
}

#[test]
fn statistics_are_over_all_that_arrived_by_exact_decimal() {
    let mut fixture = desk();
    for value in ["9007199254740992", "9007199254740993", "1e3", "1000.0", "-5", "0.10"] {
        limit(&mut fixture, "s1", value);
    }
    fault(&mut fixture, Reason::BelowMinimum, true);
    question(&mut fixture, "s2");
    field(&mut fixture, "limit", ValueType::String, "20000");
    fault(&mut fixture, Reason::WrongType, true);
    question(&mut fixture, "s2");
    field(&mut fixture, "limit", ValueType::String, "plenty");
    fault(&mut fixture, Reason::WrongType, true);
    let (rows, findings) = run(&fixture);
    let budget = named(&rows[0], "limit");
    assert_eq!((budget.kind.as_deref(), budget.measure, budget.n, budget.distinct), (Some("number"), "number", 6, 5));
    assert_eq!((budget.min.as_deref(), budget.max.as_deref()), (Some("-5"), Some("9007199254740993")));
    assert_eq!(budget.max_at.as_ref().map(|at| at.position), Some(fixture.frames.elicitations[1].position));
    assert_eq!((budget.text_numbers.n, budget.text_numbers.min.as_deref()), (1, Some("20000")));
    assert_eq!(budget.median, Some(1000.0));
    assert_eq!((budget.shows_at_extremes, budget.cannot_show), (1, 2));
    let by_client: Vec<(&str, Reason, u64)> =
        budget.reasons_by_client.iter().map(|row| (&*row.client, row.reason, row.count)).collect();
    assert_eq!(by_client, [("policy-file", Reason::WrongType, 2), ("terminal", Reason::BelowMinimum, 1)]);
    let unusable = findings.iter().find(|finding| finding.rule == "MT201").expect("MT201");
    let sentence = plain(&unusable.sentence);
    assert!(sentence.starts_with("set_budget on desk: 3 of 8 (37.5 %"), "{sentence}");
    assert!(sentence.contains("wrong type 2, below minimum 1 (1 number sent as text)"), "{sentence}");
    assert!(
        sentence.ends_with(
            "clients: policy-file, terminal; since 1970-01-01 00:00 UTC; for example limit was 0.10 (below minimum)."
        ),
        "{sentence}"
    );
}

#[test]
fn a_hostile_exponent_is_an_extreme_like_any_other() {
    let mut fixture = desk();
    for value in ["5", "1e999999999"] {
        limit(&mut fixture, "s1", value);
    }
    let (rows, _) = run(&fixture);
    let budget = named(&rows[0], "limit");
    assert_eq!((budget.n, budget.max.as_deref(), budget.mean), (2, Some("1e999999999"), Some(5.0)));
}

#[test]
fn only_the_extremes_betray() {
    let with = |n: u64, outliers: u64| {
        let mut fixture = desk();
        for value in 0..n {
            limit(&mut fixture, "s1", &(100 + value).to_string());
        }
        for _ in 0..outliers {
            limit(&mut fixture, "s1", "12000");
            fault(&mut fixture, Reason::AboveMaximum, true);
        }
        run(&fixture)
    };
    let (rows, findings) = with(100, 1);
    assert!(named(&rows[0], "limit").only_extremes);
    let note = findings.iter().find(|finding| finding.rule == "MT203").expect("MT203");
    assert_eq!(note.severity, Severity::Note);
    for (n, outliers) in [(99, 1), (100, 0), (150, 5)] {
        let (rows, findings) = with(n, outliers);
        assert!(!named(&rows[0], "limit").only_extremes, "{n} and {outliers}");
        assert!(!rules(&findings).contains(&"MT203"));
    }
}

/// A question with these teams, answered with one of them or another.
fn team(fixture: &mut Fixture, session: &str, teams: &[&str], value: &str) {
    let row = question(fixture, session);
    row.operation = "share_report".into();
    row.schema_hash = crate::audit::fixture::hash(teams);
    let teams: Vec<Text> = teams.iter().map(|team| Text::from(*team)).collect();
    let permitted = teams.iter().any(|team| **team == *value);
    field(fixture, "team", ValueType::String, value).enumeration = teams;
    if !permitted {
        fault(fixture, Reason::NotInEnum, true);
    }
}

#[test]
fn values_outside_an_enumeration_have_an_origin() {
    let mut fixture = desk();
    team(&mut fixture, "s1", &["design", "sales", "support", "legal"], "legal");
    team(&mut fixture, "s1", &["design", "sales", "support"], "legal");
    team(&mut fixture, "s2", &["design", "sales", "finance"], "sales");
    team(&mut fixture, "s1", &["design", "sales", "support"], "finance");
    team(&mut fixture, "s1", &["design", "sales", "support"], "Design ");
    team(&mut fixture, "s1", &["design", "sales", "support"], "suport");
    team(&mut fixture, "s1", &["design", "sales", "support"], "marketing");
    let (rows, findings) = run(&fixture);
    let field = named(&rows[0], "team");
    assert_eq!(field.measure, "counts");
    assert_eq!(
        field.enum_origins,
        BTreeMap::from([
            (fields::EARLIER_ENUM, 1),
            (fields::OTHER_SESSION, 1),
            (fields::SPELLING, 2),
            (fields::NEVER_OFFERED, 1)
        ])
    );
    assert_eq!((field.n, field.distinct, field.unusable), (7, 6, 5));
    assert!(field.enum_varies);
    assert!(rules(&findings).contains(&"MT204"));
}

#[test]
fn a_list_that_changed_once_is_history() {
    let mut fixture = desk();
    for session in ["s1", "s2"] {
        team(&mut fixture, session, &["design", "sales"], "sales");
    }
    for session in ["s1", "s2"] {
        team(&mut fixture, session, &["design", "sales", "legal"], "sales");
    }
    let (rows, _) = run(&fixture);
    assert!(!named(&rows[0], "team").enum_varies);
}

#[test]
fn bounds_that_vary_by_session_are_noted_and_a_tightened_bound_is_not() {
    let bounded = |plan: &[(&str, &str)]| {
        let mut fixture = desk();
        for (session, maximum) in plan {
            limit(&mut fixture, session, "5").maximum = Some(Text::from(*maximum));
            if let Some(row) = fixture.frames.elicitations.last_mut() {
                row.schema_hash = crate::audit::fixture::hash(maximum);
            }
        }
        let (rows, findings) = run(&fixture);
        (named(&rows[0], "limit").clone(), findings)
    };
    let (field, findings) = bounded(&[("s1", "100"), ("s2", "500"), ("s1", "100")]);
    assert!(field.bounds_vary);
    assert_eq!(rules(&findings), ["MT208"]);
    let asked: Vec<(Option<&str>, u64)> =
        field.declared_bounds.iter().map(|bounds| (bounds.maximum.as_deref(), bounds.asked)).collect();
    assert_eq!(asked, [(Some("100"), 2), (Some("500"), 1)]);
    for plan in [
        &[("s1", "500"), ("s2", "500"), ("s1", "100"), ("s2", "100")],
        &[("s1", "1"), ("s1", "2"), ("s1", "1"), ("s1", "2")],
    ] {
        let (field, findings) = bounded(plan);
        assert!(!field.bounds_vary && findings.is_empty(), "{plan:?}");
    }
}

#[test]
fn acted_on_refused_asked_again_and_loops() {
    let mut fixture = desk();
    // Acted on.
    limit(&mut fixture, "s1", "0");
    fault(&mut fixture, Reason::BelowMinimum, true);
    // Refused, though usable.
    limit(&mut fixture, "s1", "5");
    fixture.frames.elicitations[1].operation_outcome = OperationOutcome::IsError;
    // Three times unusable, then given up: a loop.
    for sequence in 1..=3 {
        question(&mut fixture, "s2");
        field(&mut fixture, "limit", ValueType::String, "5");
        fault(&mut fixture, Reason::WrongType, true);
        let row = fixture.frames.elicitations.last_mut().expect("a row");
        (row.operation_instance, row.sequence) = (77, sequence);
        row.operation_outcome = if sequence < 3 { OperationOutcome::AskedAgain } else { OperationOutcome::IsError };
    }
    // Unusable, asked again, usable.
    for (sequence, value) in [(1, "99999"), (2, "99")] {
        limit(&mut fixture, "s1", value);
        if sequence == 1 {
            fault(&mut fixture, Reason::AboveMaximum, true);
        }
        let row = fixture.frames.elicitations.last_mut().expect("a row");
        (row.operation_instance, row.sequence) = (78, sequence);
    }
    let (rows, findings) = run(&fixture);
    let row = &rows[0];
    assert_eq!((row.acted_on_unusable, row.refused_usable, row.loops), (1, 1, 1));
    assert_eq!(
        row.reprompts,
        BTreeMap::from([(ReasonCause::Integration.as_str(), (2, 0)), (ReasonCause::Person.as_str(), (1, 1))])
    );
    assert_eq!(row.chain, [(1, 4, 4), (2, 2, 2), (3, 1, 1)]);
    assert_eq!(row.handled["unusable"]["ok"], 2);
    assert_eq!(rules(&findings), ["MT201", "MT202", "MT209", "MT212"]);
    assert_eq!(findings[1].severity, Severity::Error);
}

#[test]
fn a_refusal_after_another_answer_was_declined_is_no_policy() {
    let mut fixture = desk();
    for sequence in 1..=2 {
        let row = question(&mut fixture, "s1");
        (row.operation_instance, row.sequence) = (7, sequence);
        row.operation_outcome = OperationOutcome::IsError;
        if sequence == 2 {
            (row.outcome, row.verdict) = (ElicitationOutcome::Decline, Verdict::None);
        }
    }
    let (rows, findings) = run(&fixture);
    assert_eq!(rows[0].refused_usable, 0);
    assert!(findings.is_empty());
}

#[test]
fn months_and_columns_are_sorted() {
    let mut fixture = desk();
    for (month, operation) in [(1, "b"), (0, "b"), (0, "a")] {
        limit(&mut fixture, "s1", "5");
        let row = fixture.frames.elicitations.last_mut().expect("a row");
        row.operation = operation.into();
        row.ts = Some(Ts(1_767_225_600_000_000 + month * 31 * 86_400_000_000));
    }
    let (rows, findings) = run(&fixture);
    let operations: Vec<&str> = rows.iter().map(|row| &*row.operation).collect();
    assert_eq!(operations, ["a", "b"]);
    assert_eq!(rows[1].months, [("2026-01".to_string(), 1, 0), ("2026-02".to_string(), 1, 0)]);
    assert!(findings.is_empty(), "clean traffic has no findings");
}

#[test]
fn secrets_and_keywords_are_found_in_what_was_asked() {
    let mut fixture = desk();
    let row = question(&mut fixture, "s1");
    (row.outcome, row.verdict) = (ElicitationOutcome::Decline, Verdict::None);
    row.schema =
        Some(r#"{"type":"object","properties":{"apiKey":{"type":"string"},"max_tokens":{"type":"string"}}}"#.into());
    row.outside_subset = vec!["multipleOf".into()];
    let (_, findings) = run(&fixture);
    assert_eq!(rules(&findings), ["MT207", "MT211"]);
    assert_eq!(findings[0].subject, [Text::from("desk"), "set_budget".into(), "apiKey".into()]);
    assert_eq!((findings[0].severity, findings[1].severity), (Severity::Error, Severity::Note));
}

#[test]
fn dates_lengths_and_items_are_measured() {
    let mut fixture = desk();
    for (date, note, items) in [("2026-03-01", "later", 2), ("2025-12-31", "now", 0), ("soon", "sometime", 1)] {
        question(&mut fixture, "s1");
        let row = field(&mut fixture, "due", ValueType::String, date);
        (row.declared, row.declared_type, row.format) = (true, Some("string".into()), Some("date".into()));
        field(&mut fixture, "note", ValueType::String, note);
        let row = field(&mut fixture, "tags", ValueType::Array, "[]");
        (row.declared, row.declared_type, row.value_items) = (true, Some("array".into()), Some(items));
    }
    let (rows, _) = run(&fixture);
    let due = named(&rows[0], "due");
    assert_eq!(
        (due.measure, due.n, due.min.as_deref(), due.max.as_deref()),
        ("date", 2, Some("2025-12-31"), Some("2026-03-01"))
    );
    let note = named(&rows[0], "note");
    assert_eq!(
        (note.measure, note.min.as_deref(), note.max.as_deref(), note.mean),
        ("length", Some("3"), Some("8"), Some(16.0 / 3.0))
    );
    let tags = named(&rows[0], "tags");
    assert_eq!((tags.measure, tags.min.as_deref(), tags.max.as_deref(), tags.n), ("items", Some("0"), Some("2"), 3));
}
