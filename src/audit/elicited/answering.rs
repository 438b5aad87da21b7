//! Clients as answerers: what they do with questions, and whether anybody can have read what they refuse.

use super::{Column, Rows, chains::ClientKey, evidence_of};
use crate::audit::clients::quickly;
use crate::audit::context::UNKNOWN_CLIENT;
use crate::audit::stats::quantiles::quantile;
use crate::audit::tables::questions::Answering;
use crate::audit::wording::{Sentence, count, plural};
use crate::expect::Thresholds;
use crate::finding::rule::questions;
use crate::finding::{Finding, Rule};
use crate::protocol::json::digest;
use crate::protocol::message::{Text, Ts};
use crate::schema::{ElicitationOutcome, ElicitationRow, Reason, Verdict};
use ahash::AHashSet;
use std::collections::BTreeMap;

/// Rows of evidence that one finding carries.
const EVIDENCE: usize = 20;

#[derive(Default)]
struct Seen<'a> {
    questions: Vec<&'a ElicitationRow>,
}

fn refused(row: &ElicitationRow) -> bool {
    matches!(row.outcome, ElicitationOutcome::Decline | ElicitationOutcome::Cancel)
}

/// A person cannot show a decision with less than two yes/no questions: an OK box is closed in a moment.
fn takes_reading(row: &ElicitationRow) -> bool {
    row.schema_properties > 1 || (row.schema_properties == 1 && row.schema_booleans == 0)
}

/// The table of answering clients, sorted by name and version, MT214 to MT216, and the clients that refuse unread.
pub fn answering(
    columns: &[Column],
    rows: &Rows,
    limits: &Thresholds,
    found: &mut Vec<Finding>,
) -> (Vec<Answering>, AHashSet<ClientKey>) {
    let mut seen: BTreeMap<ClientKey, Seen> = BTreeMap::new();
    for question in columns.iter().flat_map(|column| &column.questions) {
        seen.entry((question.client.clone(), question.client_version.clone())).or_default().questions.push(question);
    }
    let mut unread = AHashSet::new();
    let mut table = Vec::with_capacity(seen.len());
    for (key, mut seen) in seen {
        seen.questions.sort_by_key(|row| (row.seq, row.elicitation));
        let row = row(&key, &seen, rows, limits);
        found.extend(refuses_unread(&row, &seen, limits));
        found.extend(content_with_refusal(&row, &seen));
        found.extend(accepted_empty(&row, &seen, rows));
        if row.refuses_unread {
            unread.insert(key);
        }
        table.push(row);
    }
    (table, unread)
}

fn row(key: &ClientKey, seen: &Seen, rows: &Rows, limits: &Thresholds) -> Answering {
    let questions = &seen.questions;
    let of = |outcome: ElicitationOutcome| questions.iter().filter(|row| row.outcome == outcome).count() as u64;
    let mut latencies: Vec<f64> =
        questions.iter().filter(|row| refused(row)).filter_map(|row| row.latency_ms).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    let fast = limits.fast_answer_ms as f64;
    Answering {
        client: key.0.clone().unwrap_or_else(|| UNKNOWN_CLIENT.into()),
        version: key.1.clone(),
        asked: questions.len() as u64,
        accept: of(ElicitationOutcome::Accept),
        decline: of(ElicitationOutcome::Decline),
        cancel: of(ElicitationOutcome::Cancel),
        error: of(ElicitationOutcome::Error),
        malformed: of(ElicitationOutcome::Malformed),
        unanswered: of(ElicitationOutcome::Unanswered),
        not_captured: of(ElicitationOutcome::NotCaptured),
        timed_refusals: latencies.len() as u64,
        fast_refusals: latencies.iter().filter(|latency| **latency < fast).count() as u64,
        refusal_p50_ms: quantile(&latencies, 0.5),
        refusal_p95_ms: quantile(&latencies, 0.95),
        refused_with_content: questions.iter().filter(|row| refused_with_content(row)).count() as u64,
        refused_with_empty: questions.iter().filter(|row| row.content_without_accept && is_empty(row)).count() as u64,
        accepted_empty: questions.iter().filter(|row| is_accepted_empty(row, rows)).count() as u64,
        refuses_unread: nobody_read(questions, limits),
        first: questions.iter().find(|row| refused(row)).map(|row| evidence_of(row)),
    }
}

/// Enough answers to forms that take reading, nearly all of them the same refusal, and nearly all of those faster than a
/// person reads.
fn nobody_read(questions: &[&ElicitationRow], limits: &Thresholds) -> bool {
    let answers: Vec<&&ElicitationRow> = questions
        .iter()
        .filter(|row| takes_reading(row) && (refused(row) || row.outcome == ElicitationOutcome::Accept))
        .collect();
    let timed: Vec<f64> = answers.iter().filter(|row| refused(row)).filter_map(|row| row.latency_ms).collect();
    let alike = [ElicitationOutcome::Decline, ElicitationOutcome::Cancel]
        .map(|outcome| answers.iter().filter(|row| row.outcome == outcome).count());
    let fast = timed.iter().filter(|latency| **latency < limits.fast_answer_ms as f64).count();
    let nearly_all = |part: usize, whole: usize| {
        whole as u64 >= limits.automatic_answers && part as f64 >= limits.automatic_share * whole as f64
    };
    nearly_all(alike.into_iter().max().unwrap_or(0), answers.len()) && nearly_all(fast, timed.len())
}

/// The content is `{}`.
fn is_empty(row: &ElicitationRow) -> bool {
    row.content_hash == Some(digest(b"{}"))
}

/// `{}` beside a refusal is how some SDKs write nothing.
fn refused_with_content(row: &ElicitationRow) -> bool {
    row.content_without_accept && !is_empty(row)
}

fn is_accepted_empty(row: &ElicitationRow, rows: &Rows) -> bool {
    row.outcome == ElicitationOutcome::Accept
        && row.verdict == Verdict::Unusable
        && is_empty(row)
        && rows.of(row).iter().any(|field| field.reasons.contains(&Reason::MissingRequired))
}

fn named(row: &Answering) -> Sentence {
    let sentence = Sentence::new().name(&row.client);
    match &row.version {
        Some(version) => sentence.say(" ").name(version),
        None => sentence,
    }
}

/// A finding about a client and the rows that show it.
fn finding(rule: &Rule, client: &Answering, rows: &[&ElicitationRow]) -> Finding {
    Finding {
        evidence: rows.iter().take(EVIDENCE).map(|row| evidence_of(row)).collect(),
        weight: rows.len() as u64,
        ..Finding::of(rule, std::iter::once(&client.client).chain(&client.version).cloned().collect())
    }
}

fn first(rows: &[&ElicitationRow]) -> Option<Ts> {
    rows.iter().filter_map(|row| row.ts).min()
}

fn operations<'r>(rows: &[&'r ElicitationRow]) -> Vec<&'r Text> {
    rows.iter().map(|row| &row.operation).collect()
}

fn refuses_unread(row: &Answering, seen: &Seen, limits: &Thresholds) -> Option<Finding> {
    if !row.refuses_unread {
        return None;
    }
    let rows: Vec<&ElicitationRow> = seen.questions.iter().copied().filter(|row| refused(row)).collect();
    let milliseconds = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.0} ms"));
    let sentence = named(row)
        .say(" refuses questions before anybody can have read them: ")
        .share(rows.len() as u64, row.asked)
        .say(format!(
            " questions were refused ({} declined, {} cancelled), {} of {} within {} (median {}, 95 % within {}); asked by ",
            count(row.decline),
            count(row.cancel),
            count(row.fast_refusals),
            count(row.timed_refusals),
            quickly(limits),
            milliseconds(row.refusal_p50_ms),
            milliseconds(row.refusal_p95_ms),
        ))
        .names(operations(&rows))
        .since(first(&rows));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("asked", row.asked as f64),
            ("refused", rows.len() as f64),
            ("fast", row.fast_refusals as f64),
            ("timed", row.timed_refusals as f64),
        ]),
        next_step:
            "Do not read these refusals as people saying no: give this client a way without questions, or have it \
                    stop declaring elicitation."
                .to_owned(),
        ..finding(&questions::MT214, row, &rows)
    })
}

fn content_with_refusal(row: &Answering, seen: &Seen) -> Option<Finding> {
    let rows: Vec<&ElicitationRow> = seen.questions.iter().copied().filter(|row| refused_with_content(row)).collect();
    rows.first()?;
    let n = rows.len() as u64;
    let sentence = named(row)
        .say(": ")
        .share(n, row.decline + row.cancel)
        .say(" refusals carry the content of the form all the same; asked by ")
        .names(operations(&rows))
        .since(first(&rows));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("with_content", n as f64), ("refused", (row.decline + row.cancel) as f64)]),
        next_step:
            "Look at the action before the content on the server, and drop what was typed when the person says no \
                    in the client."
                .to_owned(),
        ..finding(&questions::MT215, row, &rows)
    })
}

fn accepted_empty(row: &Answering, seen: &Seen, rows: &Rows) -> Option<Finding> {
    let empty: Vec<&ElicitationRow> =
        seen.questions.iter().copied().filter(|row| is_accepted_empty(row, rows)).collect();
    empty.first()?;
    let n = empty.len() as u64;
    let sentence = named(row)
        .say(format!(
            ": {} of {} accepted with nothing filled in although the form requires something; asked by ",
            count(n),
            plural(row.accept, "accepted answer")
        ))
        .names(operations(&empty))
        .since(first(&empty));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("empty", n as f64), ("accepted", row.accept as f64)]),
        next_step: "In the client, show the form before its OK button; on the server, treat such an answer as none."
            .to_owned(),
        ..finding(&questions::MT216, row, &empty)
    })
}

#[cfg(test)]
#[path = "answering_tests.rs"]
mod tests;
