//! For every equation a row that is lost, and the run that stops.

use super::*;
use crate::audit::elicited::rows::{fault, limit, question};
use crate::audit::fixture::Fixture;
use crate::expect::{Expectations, Intended};
use crate::protocol::message::Text;
use crate::schema::{CallOutcome, FileRow, MethodRow, Reason};
use std::collections::BTreeSet;

fn file() -> FileRow {
    FileRow {
        file: "a.ndjson".into(),
        format: "jsonrpc".into(),
        format_version: None,
        why: "by hand".into(),
        disk_bytes: 100,
        bytes: 100,
        lines: 9,
        message_lines: 4,
        messages: 5,
        other: 0,
        other_bytes: 0,
        noise: 1,
        blank: 1,
        continuation: 1,
        rejected: 1,
        duplicates: 1,
        duplicate_keys: 0,
        first_ts: None,
        last_ts: None,
        notes: Vec::new(),
    }
}

fn counted(method: &str, kind: &str, count: u64) -> MethodRow {
    MethodRow {
        file: "a.ndjson".into(),
        method: method.into(),
        kind: kind.into(),
        direction: "c2s".into(),
        count,
        bytes: 10,
    }
}

/// An audit in which every table has a row and every equation more than one term that is not zero.
fn whole() -> Audit {
    let mut fixture = Fixture::new();
    fixture.session("s1", "desk", "terminal");
    fixture.frames.files.push(file());
    fixture.frames.methods.extend([
        counted("prompts/get", "request", 2),
        counted("prompts/get", "result", 1),
        counted("prompts/get", "unanswered", 1),
        counted("?", "error", 1),
        counted("?", "orphan", 1),
        counted("notifications/initialized", "notification", 1),
    ]);
    fixture.listing("s1", &[("reply", &[("tone", true, ""), ("review", true, "")])]);
    for tone in ["warm", "Warm", "formal", ""] {
        fixture.call("s1", "reply", &[("tone", tone), ("review", "x"), ("colour", "red")]);
    }
    let failed = fixture.call("s1", "reply", &[("tone", "cold"), ("colour", "red")]);
    (failed.outcome, failed.error_code) = (CallOutcome::Error, Some(-32602));
    fixture.call("s1", "reply", &[("tone", "warm")]);
    fixture.completion("s1", "reply", "tone", &["warm", "formal"]);
    fixture.call("s1", "reply", &[("tone", "warm")]).outcome = CallOutcome::Unanswered;
    question(&mut fixture, "s1");
    limit(&mut fixture, "s1", "5");
    fault(&mut fixture, Reason::ContentMissing, false);
    let intended = Intended {
        server: None,
        prompt: "reply".into(),
        argument: "tone".into(),
        values: ["warm", "formal"].map(Text::from).to_vec(),
        source: "command line",
    };
    let expectations = Expectations { intended: vec![intended], ..Expectations::default() };
    crate::audit::audit(&fixture.frames, &expectations).expect("every sum closes")
}

fn tone(audit: &mut Audit) -> &mut Argument {
    audit.arguments.iter_mut().find(|row| &*row.argument == "tone").expect("the argument")
}

type Loss = (&'static str, &'static str, fn(&mut Audit));

/// Table, equation, and a loss that it shows.
const LOSSES: &[Loss] = &[
    ("ledger.files", "lines = message lines + continuation + noise + blank + rejected + duplicates", |audit| {
        audit.ledger.files[0].rejected = 0;
    }),
    ("ledger.methods", "requests + orphans = results + errors + unanswered", |audit| {
        audit.ledger.methods.iter_mut().for_each(|row| row.unanswered = 0);
    }),
    ("ledger.methods", "requests + orphans = results + errors + unanswered", |audit| {
        audit.ledger.methods.iter_mut().for_each(|row| row.orphans = 0);
    }),
    ("ledger.totals", "messages = sum of requests + results + errors + notifications of all methods", |audit| {
        audit.ledger.methods.retain(|row| row.notifications == 0);
    }),
    ("calls", "calls = rendered + error + input_required + unanswered + not_captured", |audit| {
        audit.calls[0].rendered -= 1;
    }),
    ("calls", "error = sum of error_codes", |audit| audit.calls[0].error_codes.clear()),
    ("calls", "calls = sum of declaration", |audit| audit.calls[0].declaration.clear()),
    ("arguments", "calls = present + absent + not_captured + not_declared_then", |audit| tone(audit).calls += 1),
    ("arguments", "present = sum of values", |audit| {
        tone(audit).values.pop();
    }),
    ("arguments", "present + absent = sum of hosts", |audit| {
        tone(audit).hosts.pop();
    }),
    ("arguments", "present = intended + unintended + not_judged", |audit| tone(audit).intended -= 1),
    ("arguments", "unintended = sum of classes", |audit| {
        tone(audit).classes.pop_last();
    }),
    ("arguments", "unintended = recovered + remaining", |audit| tone(audit).ladder[1].remaining -= 1),
    ("unknown_keys", "calls = rendered + error + input_required + unanswered + not_captured", |audit| {
        audit.unknown_keys[0].error = 0;
    }),
    ("missing_required", "calls = rendered + error + input_required + unanswered + not_captured", |audit| {
        audit.missing_required[0].error = 0;
    }),
    ("missing_required", "calls = sum of clients", |audit| audit.missing_required[0].clients.clear()),
    (
        "elicitations",
        "asked = accept usable + unusable + unchecked + url + decline + cancel + error + malformed + unanswered + not captured",
        |audit| audit.elicitations[0].accept_usable -= 1,
    ),
    ("elicitations", "accept unusable = sum of reasons", |audit| audit.elicitations[0].reasons.clear()),
    (
        "elicitations.fields",
        "accepted = usable + unusable + missing required + absent optional + no content + unchecked",
        |audit| audit.elicitations[0].fields[0].usable -= 1,
    ),
    ("completion", "asked = offered + empty + error + unanswered + not_captured", |audit| {
        audit.completion[0].asked += 1
    }),
    ("completion", "offered + empty = compared + superseded + no_later_call", |audit| audit.completion[0].compared = 0),
    (
        "completion",
        "later_calls = picked + edited + ignored + nothing_offered + left_out + later_not_captured",
        |audit| {
            audit.completion[0].picked = 0;
        },
    ),
    ("rates", "n = sum of periods + without time", |audit| audit.rates[0].n += 1),
    ("rates", "hits = sum of periods + without time", |audit| {
        audit.rates.iter_mut().filter(|row| row.hits > 0).for_each(|row| row.hits_without_time += 1);
    }),
];

#[test]
fn a_row_that_is_lost_stops_the_run() {
    for (table, equation, lose) in LOSSES {
        let mut audit = whole();
        lose(&mut audit);
        let fault = check(&audit).expect_err(equation);
        assert_eq!((fault.table, fault.equation), (*table, *equation));
        assert!(fault.to_string().starts_with("internal error: "), "{fault}");
    }
}

/// An equation that is added needs a loss that it shows.
#[test]
fn no_equation_is_untested() {
    let sources = [include_str!("close.rs"), include_str!("close/completion.rs"), include_str!("close/rates.rs")];
    let texts = sources.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
    let stated: BTreeSet<&str> = texts.filter(|text| text.contains(" = ")).collect();
    assert_eq!(stated, LOSSES.iter().map(|(_, equation, _)| *equation).collect());
}

#[test]
fn an_open_sum_names_table_row_and_equation() {
    let mut audit = whole();
    let row = &mut audit.unknown_keys[0];
    (row.key, row.prompt, row.error) = (Text::from("a\u{1b}b"), None, row.error + 1);
    let (calls, sum) = (row.calls, row.calls + 1);
    let fault = check(&audit).expect_err("one call too many").to_string();
    assert_eq!(
        fault,
        format!(
            "internal error: in table unknown_keys, row desk / (none) / a\\u{{1b}}b: calls = rendered + error + \
             input_required + unanswered + not_captured does not close ({calls} against {sum})"
        )
    );
}
