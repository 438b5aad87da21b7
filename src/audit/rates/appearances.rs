//! The day a value, key, reason or error code first came.

use super::{day_of, day_text};
use crate::audit::context::Context;
use crate::audit::intended::Judged;
use crate::audit::tables::{Appearance, Evidence, What};
use crate::protocol::message::{Text, Ts};
use crate::schema::{CallOutcome, ElicitationOutcome, Stray, ValueType};
use ahash::AHashMap;
use std::collections::BTreeMap;

pub const VALUE: &str = "unintended value";
pub const KEY: &str = "unknown key";
pub const REASON: &str = "reason";
pub const CODE: &str = "error code";

/// When something was seen first, and how often.
struct First {
    /// Place among the calls or answers of its subject, in order of time.
    rank: u64,
    row: usize,
    calls: u64,
}

impl First {
    fn note(known: &mut Option<Self>, rank: u64, row: usize) {
        let first = known.get_or_insert(Self { rank, row, calls: 0 });
        first.calls += 1;
        if rank < first.rank {
            (first.rank, first.row) = (rank, row);
        }
    }
}

/// By the time of the first appearance; what has none comes last, by its place.
pub fn appearances(context: &Context) -> Vec<Appearance> {
    let mut rows = of_calls(context);
    rows.extend(of_answers(context));
    rows.sort_by(|a, b| {
        let key = |row: &Appearance| (row.first.ts.is_none(), row.first.ts, row.server.clone(), row.kind);
        key(a).cmp(&key(b)).then_with(|| (&a.first.file, a.first.position).cmp(&(&b.first.file, b.first.position)))
    });
    rows
}

fn day(ts: Option<Ts>) -> Option<String> {
    ts.filter(|ts| ts.on_calendar().is_some()).map(|ts| day_text(day_of(ts)))
}

/// Rows in order of time; those without one behind the others, as they were read.
fn in_order(rows: &mut [usize], of: impl Fn(usize) -> (Option<Ts>, u64)) {
    rows.sort_by_key(|&row| {
        let (ts, seq) = of(row);
        (ts.is_none(), ts, seq)
    });
}

fn of_calls(context: &Context) -> Vec<Appearance> {
    let frames = context.frames;
    let mut rows = Vec::new();
    for group in context.groups.iter().filter(|group| group.captured) {
        let mut order = group.calls.clone();
        in_order(&mut order, |at| (frames.calls[at].ts, frames.calls[at].seq));
        let mut values: BTreeMap<(&Text, ValueType, u64), (usize, Option<First>)> = BTreeMap::new();
        let mut keys: BTreeMap<&Text, Option<First>> = BTreeMap::new();
        let mut codes: BTreeMap<Option<i64>, Option<First>> = BTreeMap::new();
        for (rank, &at) in order.iter().enumerate() {
            let rank = rank as u64;
            for arg in context.args_of(at) {
                if let Judged::Unintended { .. } = context.judged[arg] {
                    let row = &frames.args[arg];
                    let known = values.entry((&row.key, row.json_type, row.value_hash)).or_insert((arg, None));
                    First::note(&mut known.1, rank, at);
                }
            }
            for arg in context.mismatch(at).unwrap_or_default().unknown {
                First::note(keys.entry(&frames.args[arg].key).or_default(), rank, at);
            }
            if frames.calls[at].outcome == CallOutcome::Error {
                First::note(codes.entry(frames.calls[at].error_code).or_default(), rank, at);
            }
        }
        let mut add = |kind, argument: Option<&Text>, what, first: Option<First>| {
            let Some(First { rank, row, calls }) = first else { return };
            rows.push(Appearance {
                server: context.servers[group.server].clone(),
                kind,
                prompt: group.prompt.clone(),
                operation: None,
                argument: argument.cloned(),
                what,
                day: day(frames.calls[row].ts),
                first: context.evidence(row),
                before: rank,
                calls,
            });
        };
        for ((argument, ..), (arg, first)) in values {
            add(VALUE, Some(argument), What::Value(Context::shown(&frames.args[arg], true)), first);
        }
        for (key, first) in keys {
            add(KEY, None, What::Key(key.clone()), first);
        }
        for (code, first) in codes {
            let word = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
            add(CODE, None, What::Word(word), first);
        }
    }
    rows
}

fn of_answers(context: &Context) -> Vec<Appearance> {
    let frames = context.frames;
    let mut accepted: BTreeMap<(usize, &Text), Vec<usize>> = BTreeMap::new();
    for (at, row) in frames.elicitations.iter().enumerate() {
        if row.stray == Stray::None && row.outcome == ElicitationOutcome::Accept {
            accepted.entry((context.server_of(&row.session), &row.operation)).or_default().push(at);
        }
    }
    let mut ranks: AHashMap<u64, (u64, usize)> = AHashMap::new();
    for rows in accepted.values_mut() {
        in_order(rows, |at| (frames.elicitations[at].ts, frames.elicitations[at].seq));
        for (rank, &at) in rows.iter().enumerate() {
            ranks.insert(frames.elicitations[at].elicitation, (rank as u64, at));
        }
    }
    let fields = frames.fields.iter().flat_map(|row| {
        let field = Some(&row.field);
        row.reasons.iter().map(move |reason| (row.elicitation, field, *reason))
    });
    let whole = frames
        .elicitations
        .iter()
        .flat_map(|row| row.reasons.iter().map(move |reason| (row.elicitation, None, *reason)));
    let mut reasons: BTreeMap<_, Option<First>> = BTreeMap::new();
    for (elicitation, field, reason) in fields.chain(whole) {
        let Some(&(rank, at)) = ranks.get(&elicitation) else { continue };
        let row = &frames.elicitations[at];
        let subject = (context.server_of(&row.session), &row.operation);
        First::note(reasons.entry((subject, field, reason)).or_default(), rank, at);
    }
    let appearance = |((subject, field, reason), first): ((_, Option<&Text>, crate::schema::Reason), Option<First>)| {
        let (server, operation): (usize, &Text) = subject;
        let First { rank, row, calls } = first?;
        let row = &frames.elicitations[row];
        Some(Appearance {
            server: context.servers[server].clone(),
            kind: REASON,
            prompt: None,
            operation: Some(operation.clone()),
            argument: field.cloned(),
            what: What::Word(reason.as_str().to_owned()),
            day: day(row.ts),
            first: Evidence {
                file: row.file.clone(),
                position: row.position,
                ts: row.ts,
                session: Some(row.session.clone()),
            },
            before: rank,
            calls,
        })
    };
    reasons.into_iter().filter_map(appearance).collect()
}
