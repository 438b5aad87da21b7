//! Sessions that fail every time, and those that fail now and then (analyses.md §6).
//!
//! A unit is what one session did with one prompt under one declaration. Its attempts are judged on three tracks
//! (failing, mismatched, bad), each track gets a pattern, and a pattern gets a cause only where there is evidence.

mod causes;
mod change;
mod findings;
pub mod patterns;
#[cfg(test)]
mod tests;
mod verdict;

use super::context::{Context, Group};
use super::contract_index::VersionId;
use super::effect::State;
use super::tables::{SessionUnit, SessionVerdict};
use crate::finding::Finding;
use crate::protocol::message::{Text, Ts};
use crate::schema::{CallOutcome, ListingEvent, SessionQuality};
use ahash::AHashMap;
use causes::Evidenced;
use change::Change;
use patterns::{Gap, Step};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// JSON-RPC error of 2025-11-25 that asks for a url elicitation first: no failure of the prompt.
const URL_ELICITATION_REQUIRED: i64 = -32042;

/// A call whose final outcome says something about the prompt.
#[derive(Debug, Clone)]
struct Attempt {
    call: usize,
    seq: u64,
    ts: Option<Ts>,
    failing: bool,
    /// `None`: nothing to judge by.
    mismatched: Option<bool>,
    rendered: bool,
    /// Keys of another version that had been shown by then.
    outdated: Vec<Text>,
    /// An argument that only the version in effect requires is missing.
    newly_required_missing: bool,
    /// A key that no version had.
    undeclared: bool,
}

/// Which attempts count as bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Track {
    Failing,
    Mismatched,
    Bad,
}

impl Attempt {
    /// `None` where the track cannot be judged.
    fn on(&self, track: Track) -> Option<bool> {
        match track {
            Track::Failing => Some(self.failing),
            Track::Mismatched => self.mismatched,
            Track::Bad => self.mismatched.map(|mismatched| mismatched || self.failing),
        }
    }

    fn known_bad(&self) -> bool {
        self.failing || self.mismatched == Some(true)
    }
}

/// One session with one prompt.
struct Life<'a> {
    session: &'a Text,
    quality: SessionQuality,
    /// In reading order.
    attempts: Vec<Attempt>,
    /// Calls per declaration in effect, attempts or not.
    units: BTreeMap<Option<VersionId>, Unit>,
    /// The attempts have a known order.
    ordered: bool,
}

#[derive(Default)]
struct Unit {
    /// Indexes into `Life::attempts`.
    attempts: Vec<usize>,
    first_call: usize,
}

/// A unit's row with what the verdict needs to know about it.
struct Judged {
    row: SessionUnit,
    version: Option<VersionId>,
    /// Day (UTC, since the epoch), failing, bad (`None`: not judged) of each attempt.
    attempts: Vec<(Option<i64>, bool, Option<bool>)>,
    /// Milliseconds by which the last bad attempt overstayed the `ttlMs` of the session's listing.
    overstayed_ms: Option<f64>,
    bad_calls: Vec<usize>,
}

/// The tables of §6. Units are sorted by server, prompt, session and version; verdicts by server and prompt.
pub fn sessions(context: &Context) -> (Vec<SessionUnit>, Vec<SessionVerdict>, Vec<Finding>) {
    let groups: Vec<&Group> = context.groups.iter().filter(|group| group.captured).collect();
    let lives: Vec<Vec<Life>> = groups.par_iter().map(|group| lives(context, group)).collect();
    let failures = causes::Failures::new(context, &groups, &lives);
    let judged: Vec<(Vec<Judged>, SessionVerdict)> = groups
        .par_iter()
        .zip(&lives)
        .map(|(group, lives)| {
            let units: Vec<Judged> = lives.iter().flat_map(|life| judge(context, group, life, &failures)).collect();
            let mut verdict = verdict::verdict(context, group, &units);
            verdict.across_change = change::across(context, group, lives);
            (units, verdict)
        })
        .collect();
    let mut verdicts: Vec<SessionVerdict> = judged.iter().map(|(_, verdict)| verdict.clone()).collect();
    verdict::conclude(&mut verdicts, &context.expectations.thresholds);
    let mut found = Vec::new();
    for ((units, _), verdict) in judged.iter().zip(&verdicts) {
        findings::add(context, units, verdict, &mut found);
    }
    let rows = judged.into_iter().flat_map(|(units, _)| units.into_iter().map(|unit| unit.row)).collect();
    (rows, verdicts, found)
}

/// Day since the epoch, UTC.
fn day(ts: Option<Ts>) -> Option<i64> {
    ts.map(|ts| ts.0.div_euclid(86_400_000_000))
}

fn version_of(state: State) -> Option<VersionId> {
    match state {
        State::Declared(version) => Some(version),
        _ => None,
    }
}

fn lives<'a>(context: &Context<'a>, group: &Group) -> Vec<Life<'a>> {
    let changes = change::changes(context, group);
    let mut by_session: BTreeMap<&Text, Vec<usize>> = BTreeMap::new();
    for &call in &group.calls {
        by_session.entry(&context.frames.calls[call].session).or_default().push(call);
    }
    by_session.into_iter().map(|(session, calls)| life(context, group, session, &calls, &changes)).collect()
}

fn life<'a>(context: &Context<'a>, group: &Group, session: &'a Text, calls: &[usize], changes: &[Change]) -> Life<'a> {
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut units: BTreeMap<Option<VersionId>, Unit> = BTreeMap::new();
    for &call in calls {
        let row = &context.frames.calls[call];
        let failing = row.outcome == CallOutcome::Error && row.error_code != Some(URL_ELICITATION_REQUIRED);
        let rendered = row.outcome == CallOutcome::Rendered;
        let unit = units
            .entry(version_of(context.effects[call].state))
            .or_insert_with(|| Unit { attempts: Vec::new(), first_call: call });
        if failing || rendered {
            unit.attempts.push(attempts.len());
            attempts.push(attempt(context, group, call, failing, changes));
        }
    }
    let files = || {
        attempts
            .windows(2)
            .all(|pair| context.frames.calls[pair[0].call].file == context.frames.calls[pair[1].call].file)
    };
    let ordered = attempts.iter().all(|attempt| attempt.ts.is_some()) || files();
    Life { session, quality: context.session_quality(session), ordered, attempts, units }
}

fn attempt(context: &Context, group: &Group, call: usize, failing: bool, changes: &[Change]) -> Attempt {
    let row = &context.frames.calls[call];
    let mut attempt = Attempt {
        call,
        seq: row.seq,
        ts: row.ts,
        failing,
        mismatched: None,
        rendered: !failing,
        outdated: Vec::new(),
        newly_required_missing: false,
        undeclared: false,
    };
    let (Some(version), Some(mismatch)) = (version_of(context.effects[call].state), context.mismatch(call)) else {
        return attempt;
    };
    if changes.iter().any(|change| change.hides(context, version, call)) {
        return attempt;
    }
    attempt.mismatched = Some(mismatch.any());
    if !mismatch.any() {
        return attempt;
    }
    let contract = &context.contract;
    let prompt = group.prompt.as_deref().unwrap_or_default();
    let versions = contract.versions_of(group.server, prompt);
    let others = || versions.iter().filter(|&&other| other != version && contract.versions[other].first_seq < row.seq);
    for &arg in &mismatch.unknown {
        let key = &context.frames.args[arg].key;
        if others().any(|&other| contract.versions[other].has(key)) {
            attempt.outdated.push(key.clone());
        } else if !versions.iter().any(|&other| contract.versions[other].has(key)) {
            attempt.undeclared = true;
        }
    }
    attempt.newly_required_missing = mismatch.missing.iter().any(|name| {
        let required_there = |other: &VersionId| {
            contract.versions[*other].arguments.iter().any(|known| known.required && known.name == *name)
        };
        others().any(|other| !required_there(other))
    });
    attempt
}

fn judge(context: &Context, group: &Group, life: &Life, failures: &causes::Failures) -> Vec<Judged> {
    let session_patterns = [Track::Failing, Track::Mismatched, Track::Bad].map(|track| {
        let steps: Vec<Step> = if life.ordered { steps(context, life, track) } else { Vec::new() };
        patterns::of_session(&steps)
    });
    let mut units: Vec<Judged> = life
        .units
        .iter()
        .map(|(version, unit)| unit_row(context, group, life, *version, unit, session_patterns, failures))
        .collect();
    units.sort_by_key(|unit| unit.row.version_in_effect);
    units
}

/// The judged attempts of a session in order, with the gaps between them.
fn steps(context: &Context, life: &Life, track: Track) -> Vec<Step> {
    let events = context.contract.events(life.session);
    let listings = &context.frames.listings;
    let mut before: Option<&Attempt> = None;
    let mut steps = Vec::new();
    for attempt in &life.attempts {
        let Some(bad) = attempt.on(track) else { continue };
        let gap = before.map_or(Gap::default(), |before| {
            let from = events.partition_point(|&row| listings[row].seq <= before.seq);
            let listing = events[from..]
                .iter()
                .take_while(|&&row| listings[row].seq < attempt.seq)
                .any(|&row| listings[row].event == ListingEvent::Listed);
            let (old, new) = (context.effects[before.call].state, context.effects[attempt.call].state);
            let change = matches!(old, State::Declared(_))
                && old != new
                && matches!(new, State::Declared(_) | State::Superseded | State::UnknownPrompt);
            Gap { change, listing }
        });
        steps.push(Step { bad, gap, outdated_key: !attempt.outdated.is_empty() });
        before = Some(attempt);
    }
    steps
}

fn unit_row(
    context: &Context,
    group: &Group,
    life: &Life,
    version: Option<VersionId>,
    unit: &Unit,
    session_patterns: [Option<&'static str>; 3],
    failures: &causes::Failures,
) -> Judged {
    let attempts: Vec<&Attempt> = unit.attempts.iter().map(|&at| &life.attempts[at]).collect();
    let count = |test: &dyn Fn(&Attempt) -> bool| attempts.iter().filter(|attempt| test(attempt)).count() as u64;
    let pattern = |track: Track, session: Option<&'static str>| match life.quality {
        SessionQuality::Stateless => patterns::NO_SESSIONS,
        SessionQuality::Guess => patterns::NOT_JUDGED,
        _ if attempts.is_empty() => patterns::NO_ATTEMPT,
        _ => {
            let judged = count(&|attempt| attempt.on(track).is_some());
            let bad = count(&|attempt| attempt.on(track) == Some(true));
            if judged == 0 { patterns::NOT_JUDGED } else { patterns::of_unit(bad, judged, session) }
        }
    };
    let [failing_session, mismatched_session, bad_session] = session_patterns;
    let failing_pattern = pattern(Track::Failing, failing_session);
    let mismatched_pattern = pattern(Track::Mismatched, mismatched_session);
    let bad_pattern = pattern(Track::Bad, bad_session);

    let last_call = attempts.last().map_or(unit.first_call, |attempt| attempt.call);
    let last_bad = attempts.iter().rev().find(|attempt| attempt.known_bad());
    let effect = &context.effects[last_bad.map_or(last_call, |attempt| attempt.call)];
    let evidenced = Evidenced { context, group, life, version, attempts: &attempts };
    let cause = if patterns::wants_cause(mismatched_pattern) {
        Some(evidenced.cause(Track::Mismatched, failures))
    } else if patterns::wants_cause(failing_pattern) {
        Some(evidenced.cause(Track::Failing, failures))
    } else if patterns::wants_cause(bad_pattern) {
        Some(evidenced.cause(Track::Bad, failures))
    } else {
        None
    };
    let stale = patterns::wants_cause(mismatched_pattern)
        && matches!(cause, Some(causes::OUTDATED_DECLARATION | causes::REPLAYED_INVOCATION));
    let mut outdated_keys: Vec<Text> = attempts.iter().flat_map(|attempt| attempt.outdated.iter().cloned()).collect();
    outdated_keys.sort();
    outdated_keys.dedup();
    let listed = effect.listed.map(|row| &context.frames.listings[row]);
    let overstayed_ms = listed.zip(last_bad).and_then(|(listed, bad)| {
        let kept = (bad.ts?.0 - listed.ts?.0) as f64 / 1000.0;
        let over = kept - listed.ttl_ms?;
        (over > 0.0).then_some(over)
    });
    let number = |version: VersionId| context.contract.versions[version].number;
    let first = &context.frames.calls[unit.first_call];
    let evidence = attempts.iter().find(|attempt| attempt.known_bad()).map_or(unit.first_call, |attempt| attempt.call);
    let row = SessionUnit {
        server: context.servers[group.server].clone(),
        prompt: group.prompt.clone(),
        session: life.session.clone(),
        client: first.client.clone(),
        client_version: first.client_version.clone(),
        session_quality: life.quality,
        version_in_effect: version.map(number),
        attempts: attempts.len() as u64,
        failing: count(&|attempt| attempt.failing),
        mismatched: count(&|attempt| attempt.mismatched == Some(true)),
        degraded: count(&|attempt| attempt.mismatched == Some(true) && attempt.rendered),
        bad: count(&Attempt::known_bad),
        failing_pattern,
        mismatched_pattern,
        bad_pattern,
        cause,
        stale,
        listed_at: listed.and_then(|listed| listed.ts),
        declaration_seen: effect.seen.map(number),
        told: evidenced.told(last_call),
        outdated_keys,
        first: Some(context.evidence(evidence)),
    };
    Judged {
        row,
        version,
        attempts: attempts.iter().map(|attempt| (day(attempt.ts), attempt.failing, attempt.on(Track::Bad))).collect(),
        overstayed_ms,
        bad_calls: attempts.iter().filter(|attempt| attempt.known_bad()).map(|attempt| attempt.call).collect(),
    }
}

/// Rows of the given sessions, by name.
fn by_name<'l, 'a>(lives: &'l [Life<'a>]) -> AHashMap<&'a str, &'l Life<'a>> {
    lives.iter().map(|life| (&**life.session, life)).collect()
}
