//! Two hops of a gateway in one capture: every message was recorded on its way in and again on its way out.
//!
//! Exact copies are dropped when they are read (protocol.md, "Things real captures do"). Here those are found whose
//! sessions, ids or times differ: an equal request that begins while the first is open and, in a session of its own,
//! is answered before it. Nothing is left out unless [`keep`] is asked for it.

use super::context::Context;
use super::tables::Evidence;
use super::wording::{Sentence, count, plural};
use crate::finding::Finding;
use crate::finding::rule::input;
use crate::frames::Frames;
use crate::protocol::message::Text;
use crate::schema::Stray;
use ahash::{AHashMap, AHashSet};
use std::collections::{BTreeMap, VecDeque};

/// Twins needed before two sessions are suspected: fewer happen by chance where many clients use one prompt.
const LEAST_TWINS: u64 = 5;
/// Percent of the smaller session's requests that have a twin. Not all: a gateway answers some by itself.
const TWINS_PERCENT: u64 = 90;
/// A gateway passes a request on within this time, in microseconds.
const PASSED_WITHIN: i64 = 2_000_000;
/// Open requests of equal content that are compared with one more.
const COMPARED: usize = 64;
/// Rows of evidence kept with the finding.
const EVIDENCE: usize = 20;

/// A side of a gateway, as seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What the client and the gateway said to each other.
    Outer,
    /// What the gateway and the server said to each other.
    Inner,
}

/// Two sessions, or one, that hold the same requests twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Hop {
    pub outer: Text,
    pub inner: Text,
    /// Indexes of the twins in `frames.calls`: the outer one, the inner one.
    pub calls: Vec<(usize, usize)>,
    /// Indexes of the twins in `frames.elicitations`: the outer one, the inner one.
    pub questions: Vec<(usize, usize)>,
}

/// What [`keep`] left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub sessions: u64,
    pub calls: u64,
    pub questions: u64,
}

/// A request with its answer; times in microseconds.
struct Span<'a> {
    content: (&'a str, u64),
    session: &'a Text,
    start: i64,
    end: i64,
}

impl<'a> Span<'a> {
    /// `None` where a time is not known: then nothing can be said about which was open when.
    fn new(content: (&'a str, u64), session: &'a Text, start: Option<i64>, latency_ms: Option<f64>) -> Option<Self> {
        let start = start?;
        Some(Self { content, session, start, end: start.saturating_add((latency_ms? * 1000.0) as i64) })
    }

    /// Whether `later` can be this request, passed on.
    fn is_passed_on_as(&self, later: &Self) -> bool {
        later.start - self.start <= PASSED_WITHIN
            && later.start <= self.end
            && (self.session == later.session || later.end <= self.end)
    }
}

/// Pairs each request with the latest open one of equal content before it: indexes of both, by their sessions.
fn twins<'a>(spans: &[Option<Span<'a>>]) -> BTreeMap<(&'a Text, &'a Text), Vec<(usize, usize)>> {
    let mut order: Vec<(i64, usize)> =
        spans.iter().enumerate().filter_map(|(at, span)| Some((span.as_ref()?.start, at))).collect();
    order.sort_unstable();
    let mut open: AHashMap<(&str, u64), VecDeque<(usize, &Span)>> = AHashMap::new();
    let mut found: BTreeMap<(&Text, &Text), Vec<(usize, usize)>> = BTreeMap::new();
    for (_, at) in order {
        let Some(span) = spans.get(at).and_then(Option::as_ref) else { continue };
        let before = open.entry(span.content).or_default();
        while before.front().is_some_and(|(_, first)| span.start - first.start > PASSED_WITHIN)
            || before.len() > COMPARED
        {
            before.pop_front();
        }
        if let Some(first) = before.iter().rposition(|(_, first)| first.is_passed_on_as(span))
            && let Some((twin, first)) = before.remove(first)
        {
            found.entry((first.session, span.session)).or_default().push((twin, at));
        }
        before.push_back((at, span));
    }
    found
}

/// The sessions in which the same traffic seems to stand twice, sorted by name.
pub fn suspected(frames: &Frames) -> Vec<Hop> {
    let calls: Vec<Option<Span>> = frames
        .calls
        .iter()
        .map(|call| {
            let prompt = call.prompt.as_deref()?;
            Span::new((prompt, call.arguments_hash), &call.session, call.ts.map(|ts| ts.0), call.latency_ms)
        })
        .collect();
    let questions: Vec<Option<Span>> = frames
        .elicitations
        .iter()
        .map(|row| {
            (row.stray == Stray::None).then_some(())?;
            Span::new((&row.message, row.schema_hash), &row.session, row.ts.map(|ts| ts.0), row.latency_ms)
        })
        .collect();
    let mut sizes: AHashMap<&Text, u64> = AHashMap::new();
    for span in calls.iter().flatten() {
        *sizes.entry(span.session).or_default() += 1;
    }
    // A question travels the other way: the gateway's inner side sees it first.
    let mut asked: BTreeMap<(&Text, &Text), Vec<(usize, usize)>> = twins(&questions)
        .into_iter()
        .map(|((first, later), found)| ((later, first), found.into_iter().map(|(a, b)| (b, a)).collect()))
        .collect();
    let size = |session: &Text| sizes.get(session).copied().unwrap_or_default();
    twins(&calls)
        .into_iter()
        .filter(|((outer, inner), found)| {
            let found = found.len() as u64;
            let of = if outer == inner { size(outer) / 2 } else { size(outer).min(size(inner)) };
            found >= LEAST_TWINS && found * 100 >= of * TWINS_PERCENT
        })
        .map(|(sessions, calls)| Hop {
            outer: sessions.0.clone(),
            inner: sessions.1.clone(),
            calls,
            questions: asked.remove(&sessions).unwrap_or_default(),
        })
        .collect()
}

/// Keeps one side of every suspected pair: rows of a session that is the other side go with it; where both sides share
/// a session, the other twin goes.
pub fn keep(frames: &mut Frames, side: Side) -> LeftOut {
    let (mut sessions, mut calls, mut questions) = (AHashSet::new(), AHashSet::new(), AHashSet::new());
    for hop in suspected(frames) {
        let other = |(outer, inner): (usize, usize)| if side == Side::Outer { inner } else { outer };
        if hop.outer == hop.inner {
            calls.extend(hop.calls.into_iter().map(other).map(|at| frames.calls[at].call));
            questions.extend(hop.questions.into_iter().map(other).map(|at| frames.elicitations[at].elicitation));
        } else {
            sessions.insert(if side == Side::Outer { hop.inner } else { hop.outer });
        }
    }
    let before = (frames.sessions.len(), frames.calls.len(), frames.elicitations.len());
    frames.sessions.retain(|row| !sessions.contains(&row.session));
    frames.listings.retain(|row| !sessions.contains(&row.session));
    frames.completions.retain(|row| !sessions.contains(&row.session));
    frames.calls.retain(|row| !sessions.contains(&row.session) && !calls.contains(&row.call));
    frames.elicitations.retain(|row| !sessions.contains(&row.session) && !questions.contains(&row.elicitation));
    let kept: AHashSet<u64> = frames.calls.iter().map(|row| row.call).collect();
    frames.args.retain(|row| kept.contains(&row.call));
    let kept: AHashSet<u64> = frames.elicitations.iter().map(|row| row.elicitation).collect();
    frames.fields.retain(|row| kept.contains(&row.elicitation));
    LeftOut {
        sessions: (before.0 - frames.sessions.len()) as u64,
        calls: (before.1 - frames.calls.len()) as u64,
        questions: (before.2 - frames.elicitations.len()) as u64,
    }
}

/// One finding for each pair of servers whose sessions stand twice.
pub fn findings(context: &Context) -> Vec<Finding> {
    let mut by_servers: BTreeMap<(Text, Text), Vec<Hop>> = BTreeMap::new();
    for hop in suspected(context.frames) {
        let servers = (context.server_name(&hop.outer), context.server_name(&hop.inner));
        by_servers.entry(servers).or_default().push(hop);
    }
    by_servers
        .into_iter()
        .map(|((outer, inner), hops)| {
            let calls: Vec<(usize, usize)> = hops.iter().flat_map(|hop| hop.calls.iter().copied()).collect();
            let questions: usize = hops.iter().map(|hop| hop.questions.len()).sum();
            let mut gaps: Vec<i64> = calls
                .iter()
                .filter_map(|&(a, b)| Some(context.frames.calls[b].ts?.0 - context.frames.calls[a].ts?.0))
                .collect();
            gaps.sort_unstable();
            let median = gaps.get(gaps.len() / 2).map_or(0.0, |gap| *gap as f64 / 1000.0);
            let twice = calls.len() as u64;
            let evidence: Vec<Evidence> =
                calls.iter().take(EVIDENCE / 2).flat_map(|&(a, b)| [a, b]).map(|at| context.evidence(at)).collect();
            let sentence = Sentence::new()
                .name(&outer)
                .say(" and ")
                .name(&inner)
                .say(format!(
                    ": {} and {} in {} stand twice: an equal request begins (median {median} ms later) while the first \
                     is open; a gateway seems to be captured on both of its sides, or a client sends everything twice; \
                     both are counted",
                    plural(twice, "prompt call"),
                    plural(questions as u64, "question"),
                    plural(hops.len() as u64, "pair of sessions"),
                ))
                .done();
            Finding {
                sentence,
                numbers: BTreeMap::from([
                    ("calls_twice", twice as f64),
                    ("questions_twice", questions as f64),
                    ("session_pairs", hops.len() as f64),
                    ("median_gap_ms", median),
                ]),
                evidence,
                next_step: format!(
                    "Count one side with --hop outer (what clients sent) or --hop inner (what servers got): {} fewer.",
                    count(twice)
                ),
                weight: twice,
                ..Finding::of(&input::MT907, vec![outer, inner])
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
