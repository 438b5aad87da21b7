//! Findings about sessions: MT301 stale session, MT302 per-session cause.

use super::{Judged, causes, verdict};
use crate::audit::context::Context;
use crate::audit::tables::SessionVerdict;
use crate::audit::wording::{Sentence, count, expectation, plural};
use crate::finding::Finding;
use crate::finding::rule::sessions;
use crate::protocol::message::Text;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of evidence that one finding carries; the table of sessions has all.
const EVIDENCE: usize = 20;

pub fn add(context: &Context, units: &[Judged], verdict: &SessionVerdict, found: &mut Vec<Finding>) {
    found.extend(stale(context, units));
    found.extend(per_session(units, verdict));
}

fn subject(server: &Text, prompt: Option<&Text>) -> Vec<Text> {
    std::iter::once(server).chain(prompt).cloned().collect()
}

fn sessions_of<'u>(units: impl IntoIterator<Item = &'u Judged>) -> u64 {
    units.into_iter().map(|unit| &unit.row.session).collect::<BTreeSet<_>>().len() as u64
}

fn stale(context: &Context, units: &[Judged]) -> Option<Finding> {
    let stale: Vec<&Judged> = units.iter().filter(|unit| unit.row.stale).collect();
    let row = &stale.first()?.row;
    let sum = |value: fn(&Judged) -> u64| stale.iter().map(|unit| value(unit)).sum::<u64>();
    let (bad, degraded) = (sum(|unit| unit.row.bad), sum(|unit| unit.row.degraded));
    let failing = sum(|unit| unit.row.failing);
    let told = |word: &str| sessions_of(stale.iter().copied().filter(|unit| unit.row.told == Some(word)));
    let (ignored, never) = (told(causes::TOLD_AND_IGNORED), told(causes::NEVER_TOLD));
    let replayed =
        sessions_of(stale.iter().copied().filter(|unit| unit.row.cause == Some(causes::REPLAYED_INVOCATION)));
    let overstayed = stale.iter().filter(|unit| unit.overstayed_ms.is_some()).count() as u64;
    let (sessions, all) = (sessions_of(stale.iter().copied()), sessions_of(units));
    let keys: BTreeSet<&Text> = stale.iter().flat_map(|unit| &unit.row.outdated_keys).collect();
    let calls = &context.frames.calls;
    let first = stale.iter().flat_map(|unit| &unit.bad_calls).filter_map(|&call| calls[call].ts).min();

    let mut sentence = Sentence::new()
        .prompt(row.prompt.as_ref())
        .say(" on ")
        .name(&row.server)
        .say(format!(": {} of {} kept an outdated declaration, ", count(sessions), plural(all, "session")))
        .say(format!("{} ended in an error and {} rendered all the same", plural(failing, "attempt"), count(degraded)));
    if !keys.is_empty() {
        sentence = sentence.say("; outdated keys: ").names(keys.iter().copied());
    }
    for (number, words) in [
        (ignored, "told by list_changed and did not list again"),
        (never, "never told of the change"),
        (replayed, "listed the current version and still sent old keys"),
        (overstayed, "used a listing past its ttlMs"),
    ] {
        if number > 0 {
            sentence = sentence.say(format!("; {} {words}", count(number)));
        }
    }
    let sentence = sentence
        .clients(stale.iter().filter_map(|unit| unit.row.client.as_ref()))
        .since(first)
        .say("; for example session ")
        .name(&row.session);
    Some(Finding {
        key: keys.iter().map(|key| &***key).collect::<Vec<_>>().join(","),
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("sessions", sessions as f64),
            ("all_sessions", all as f64),
            ("bad", bad as f64),
            ("failing", failing as f64),
            ("degraded", degraded as f64),
            ("told_and_ignored", ignored as f64),
            ("never_told", never as f64),
        ]),
        evidence: stale.iter().filter_map(|unit| unit.row.first.clone()).take(EVIDENCE).collect(),
        next_step:
            "Make the client list prompts again after list_changed (or the listing's ttlMs), and let the server \
                    accept the old key for a while."
                .to_string(),
        weight: bad,
        ..Finding::of(&sessions::MT301, subject(&row.server, row.prompt.as_ref()))
    })
}

fn per_session(units: &[Judged], verdict: &SessionVerdict) -> Option<Finding> {
    if !matches!(verdict.verdict, verdict::PER_SESSION | verdict::BOTH) {
        return None;
    }
    let runs: Vec<&Judged> =
        units.iter().filter(|unit| unit.row.bad > 0 && super::patterns::is_run(pattern(unit, verdict))).collect();
    let mut by_cause: BTreeMap<&str, BTreeSet<&Text>> = BTreeMap::new();
    for unit in &runs {
        by_cause.entry(unit.row.cause.unwrap_or(unit.row.bad_pattern)).or_default().insert(&unit.row.session);
    }
    let causes: Vec<String> =
        by_cause.iter().map(|(cause, sessions)| format!("{cause} {}", count(sessions.len() as u64))).collect();
    let number =
        |value: Option<f64>, digits: usize| value.map_or("n/a".to_string(), |value| format!("{value:.digits$}"));
    let sentence = Sentence::new()
        .prompt(verdict.prompt.as_ref())
        .say(" on ")
        .name(&verdict.server)
        .say(": ")
        .share(verdict.tested_bad, verdict.attempts)
        .say(" attempts are bad, and they gather in sessions")
        .say(if verdict.verdict == verdict::BOTH { " for a part" } else { "" })
        .say(format!(
            ": {} of {} were bad throughout, {} expected by chance (ICC {}, p {}, after Holm {})",
            count(verdict.all_bad_seen),
            plural(verdict.units, "unit"),
            verdict.all_bad_expected.map_or("n/a".to_string(), expectation),
            number(verdict.icc, 3),
            number(verdict.p_value, 4),
            number(verdict.p_adjusted, 4),
        ))
        .say(if causes.is_empty() { String::new() } else { format!("; by cause, in sessions: {}", causes.join(", ")) })
        .clients(runs.iter().filter_map(|unit| unit.row.client.as_ref()));
    let numbers = [
        ("icc", verdict.icc),
        ("n_effective", verdict.n_effective),
        ("p_value", verdict.p_value),
        ("p_adjusted", verdict.p_adjusted),
        ("share_in_runs", verdict.share_in_runs),
        ("all_bad_expected", verdict.all_bad_expected),
        ("pooled_rate", verdict.pooled_rate),
        ("all_bad_seen", Some(verdict.all_bad_seen as f64)),
        ("units", Some(verdict.units as f64)),
        ("attempts", Some(verdict.attempts as f64)),
    ];
    Some(Finding {
        sentence: sentence.done(),
        numbers: numbers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        evidence: runs.iter().filter_map(|unit| unit.row.first.clone()).take(EVIDENCE).collect(),
        next_step: "Look at what the failing sessions share (declaration they saw, client, host, process) before \
                    looking at their requests."
            .to_string(),
        weight: verdict.tested_bad,
        ..Finding::of(&sessions::MT302, subject(&verdict.server, verdict.prompt.as_ref()))
    })
}

fn pattern(unit: &Judged, verdict: &SessionVerdict) -> &'static str {
    if verdict.track == "failing" { unit.row.failing_pattern } else { unit.row.bad_pattern }
}
