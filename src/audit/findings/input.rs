//! MT901 to MT906: what the input itself lacks.

use super::EVIDENCE;
use crate::audit::context::Context;
use crate::audit::tables::{Audit, Evidence};
use crate::audit::wording::{Sentence, count, plural};
use crate::finding::Finding;
use crate::finding::rule::input;
use crate::protocol::message::Text;
use crate::schema::{CallOutcome, ElicitationOutcome, RejectedRow, SessionQuality, Stray};
use std::collections::BTreeMap;

pub fn add(context: &Context, audit: &Audit, found: &mut Vec<Finding>) {
    files(audit, found);
    not_captured(context, found);
    sessions(context, found);
    found.extend(open_exchanges(audit));
}

fn files(audit: &Audit, found: &mut Vec<Finding>) {
    let mut by_file: BTreeMap<&Text, Vec<&RejectedRow>> = BTreeMap::new();
    for rejected in &audit.rejected {
        by_file.entry(&rejected.file).or_default().push(rejected);
    }
    for row in &audit.ledger.files {
        let subject = || vec![row.file.clone()];
        // Of a record with messages, a part may be rejected: such a record has a row all the same.
        let rejected = by_file.remove(&row.file).unwrap_or_default();
        let number = rejected.len() as u64;
        if let Some(first) = rejected.first() {
            let sentence = Sentence::new()
                .name(&row.file)
                .say(format!(": {} of {} could not be read", count(number), plural(row.lines, "record")))
                .say(format!("; the first is line {}: ", first.position))
                .name(&first.reason);
            let evidence = rejected.iter().take(EVIDENCE).map(|rejected| Evidence {
                file: rejected.file.clone(),
                position: rejected.position,
                ts: None,
                session: None,
            });
            found.push(Finding {
                sentence: sentence.done(),
                numbers: BTreeMap::from([("rejected", number as f64), ("records", row.lines as f64)]),
                evidence: evidence.collect(),
                next_step: "Look at rejected.ndjson; give the format with --format if it was mistaken, or --lenient to accept the loss."
                    .to_owned(),
                weight: number,
                ..Finding::of(&input::MT901, subject())
            });
        }
        if row.duplicates > 0 {
            found.push(Finding {
                sentence: Sentence::new()
                    .name(&row.file)
                    .say(format!(
                        ": {} dropped (same connection, direction, id, time and bytes)",
                        plural(row.duplicates, "exact duplicate")
                    ))
                    .done(),
                numbers: BTreeMap::from([("duplicates", row.duplicates as f64)]),
                next_step: "Nothing, if two hops of a gateway write into one log or the same log was given twice."
                    .to_owned(),
                weight: row.duplicates,
                ..Finding::of(&input::MT904, subject())
            });
        }
        if row.duplicate_keys > 0 {
            found.push(Finding {
                sentence: Sentence::new()
                    .name(&row.file)
                    .say(format!(
                        ": a key stands twice in {}; the last one counts",
                        plural(row.duplicate_keys, "object")
                    ))
                    .done(),
                numbers: BTreeMap::from([("objects", row.duplicate_keys as f64)]),
                next_step: "Find the writer of these messages: JSON readers disagree about which value such a key has."
                    .to_owned(),
                weight: row.duplicate_keys,
                ..Finding::of(&input::MT906, subject())
            });
        }
    }
}

fn not_captured(context: &Context, found: &mut Vec<Finding>) {
    let mut lost: BTreeMap<usize, (u64, u64, Vec<Evidence>)> = BTreeMap::new();
    for (at, call) in context.frames.calls.iter().enumerate() {
        let kept = context.arguments_captured(at) && call.prompt_captured && call.outcome != CallOutcome::NotCaptured;
        if !kept {
            let entry = lost.entry(context.server_of(&call.session)).or_default();
            entry.0 += 1;
            if entry.2.len() < EVIDENCE {
                entry.2.push(context.evidence(at));
            }
        }
    }
    for row in &context.frames.elicitations {
        if row.stray == Stray::None && row.outcome == ElicitationOutcome::NotCaptured {
            let entry = lost.entry(context.server_of(&row.session)).or_default();
            entry.1 += 1;
            if entry.2.len() < EVIDENCE {
                entry.2.push(Evidence {
                    file: row.file.clone(),
                    position: row.position,
                    ts: row.ts,
                    session: Some(row.session.clone()),
                });
            }
        }
    }
    for (server, (calls, answers, evidence)) in lost {
        let server = &context.servers[server];
        found.push(Finding {
            sentence: Sentence::new()
                .name(server)
                .say(format!(
                    ": values not captured by this source: {} and {} lack their bodies; their values are counted as not captured, never as absent",
                    plural(calls, "prompt call"),
                    plural(answers, "answer")
                ))
                .done(),
            numbers: BTreeMap::from([("calls", calls as f64), ("answers", answers as f64)]),
            evidence,
            next_step: "Capture with a source that keeps message bodies (a stdio tee, a proxy) if values are to be audited.".to_owned(),
            weight: calls + answers,
            ..Finding::of(&input::MT902, vec![server.clone()])
        });
    }
}

fn sessions(context: &Context, found: &mut Vec<Finding>) {
    let mut guessed: BTreeMap<usize, (u64, Vec<Evidence>)> = BTreeMap::new();
    for row in context.frames.sessions.iter().filter(|row| row.session_quality == SessionQuality::Guess) {
        let entry = guessed.entry(context.server_of(&row.session)).or_default();
        entry.0 += 1;
        if entry.1.len() < EVIDENCE {
            entry.1.push(Evidence {
                file: row.file.clone(),
                position: row.position,
                ts: row.first_ts,
                session: Some(row.session.clone()),
            });
        }
    }
    for (server, (sessions, evidence)) in guessed {
        let server: &Text = &context.servers[server];
        found.push(Finding {
            sentence: Sentence::new()
                .name(server)
                .say(format!(
                    ": {} cannot be told apart: they were open together in a capture without session keys; results per session are not judged",
                    plural(sessions, "session")
                ))
                .done(),
            numbers: BTreeMap::from([("sessions", sessions as f64)]),
            evidence,
            next_step: "Capture each connection into a file of its own, or name the field that tells sessions apart with --session-key."
                .to_owned(),
            weight: sessions,
            ..Finding::of(&input::MT903, vec![server.clone()])
        });
    }
}

fn open_exchanges(audit: &Audit) -> Option<Finding> {
    let methods = &audit.ledger.methods;
    let unanswered: u64 = methods.iter().map(|row| row.unanswered).sum();
    let orphans: u64 = methods.iter().map(|row| row.orphans).sum();
    if unanswered + orphans == 0 {
        return None;
    }
    let mut sentence = Sentence::new().say(format!(
        "{} without an answer and {} without a request",
        plural(unanswered, "request"),
        plural(orphans, "answer")
    ));
    let open: Vec<&Text> = methods.iter().filter(|row| row.unanswered > 0).map(|row| &row.method).collect();
    if !open.is_empty() {
        sentence = sentence.say("; unanswered: ").names(open);
    }
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("unanswered", unanswered as f64), ("orphans", orphans as f64)]),
        next_step:
            "Add the log before or after this one, if the capture was cut; otherwise look for clients that gave up."
                .to_owned(),
        weight: unanswered + orphans,
        ..Finding::of(&input::MT905, Vec::new())
    })
}
