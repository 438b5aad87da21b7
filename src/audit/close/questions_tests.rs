use super::*;
use crate::audit::context::Context;
use crate::audit::elicited::elicitations;
use crate::audit::elicited::rows::question;
use crate::audit::fixture::Fixture;
use crate::expect::Expectations;
use crate::schema::{ElicitationOutcome, Verdict};
use std::collections::BTreeSet;

/// Every table with a row, every equation with more than one term that is not zero.
fn whole() -> Questions {
    let mut fixture = Fixture::new();
    fixture.session("s1", "desk", "pane");
    question(&mut fixture, "s1");
    let row = question(&mut fixture, "s1");
    (row.outcome, row.verdict) = (ElicitationOutcome::Decline, Verdict::None);
    let expectations = Expectations::default();
    elicitations(&Context::new(&fixture.frames, &expectations)).1
}

type Loss = (&'static str, fn(&mut Questions));

/// Equation, and a loss that it shows.
const LOSSES: &[Loss] = &[
    ("started = finished + left + failed + not_known", |questions| questions.chains[0].finished -= 1),
    ("left = sum of left at each step", |questions| questions.chains[0].steps[0].left = 0),
    ("asked = answered + declined + cancelled + unanswered + failed + not_captured", |questions| {
        questions.chains[0].steps[0].declined = 0;
    }),
    ("asked = accept + decline + cancel + error + malformed + unanswered + not_captured", |questions| {
        questions.answering[0].decline = 0;
    }),
];

#[test]
fn a_row_that_is_lost_stops_the_run() {
    assert_eq!(check(&whole()), Ok(()));
    for (equation, lose) in LOSSES {
        let mut questions = whole();
        lose(&mut questions);
        assert_eq!(check(&questions).expect_err(equation).equation, *equation);
    }
}

/// An equation that is added needs a loss that it shows.
#[test]
fn no_equation_is_untested() {
    let texts = include_str!("questions.rs").split('"').skip(1).step_by(2);
    let stated: BTreeSet<&str> = texts.filter(|text| text.contains(" = ")).collect();
    assert_eq!(stated, LOSSES.iter().map(|(equation, _)| *equation).collect());
}
