//! Clients by name and version: what they sent, what they answered, and whether a person seems to answer.

use super::context::{Context, UNKNOWN_CLIENT};
use super::intended::Judged;
use super::stats::quantiles::quantile;
use super::stats::wilson::wilson;
use super::tables::{Client, Evidence};
use super::wording::{Sentence, count, percent, plural};
use crate::finding::{Finding, Severity};
use crate::protocol::message::{Text, Ts};
use crate::schema::{ElicitationOutcome, ElicitationRow, Stray, Verdict};
use ahash::AHashMap;
use std::collections::BTreeMap;

/// An answer faster than this was not typed (milliseconds).
const FAST_MS: f64 = 500.0;
/// Answers from which on a client can be said to answer without a person.
const ENOUGH: u64 = 10;
/// Share of answers that must be fast, and alike.
const NEARLY_ALL: f64 = 0.95;
/// Rows of evidence that one finding carries.
const EVIDENCE: usize = 20;

/// What one client, in one version, did.
#[derive(Default)]
struct Seen<'a> {
    calls: u64,
    unintended_calls: u64,
    elicited: u64,
    usable: u64,
    unusable: u64,
    latencies: Vec<f64>,
    fast: u64,
    /// Accepted answers to forms of more than one yes/no question.
    forms: u64,
    defaults: u64,
    /// Those with an earlier answer to the same schema, and those equal to it.
    with_previous: u64,
    same_as_previous: u64,
    /// Accepted answers to such forms that could be alike, that were, and of the timed ones those that were fast.
    comparable: u64,
    alike: u64,
    timed_forms: u64,
    fast_forms: u64,
    first_form: Option<&'a ElicitationRow>,
    not_declared: Vec<&'a ElicitationRow>,
    content_without_accept: u64,
    previous: AHashMap<(u64, usize), Option<u64>>,
}

impl<'a> Seen<'a> {
    fn answer(&mut self, row: &'a ElicitationRow, server: usize) {
        if let Some(latency) = row.latency_ms {
            self.latencies.push(latency);
            self.fast += u64::from(latency < FAST_MS);
        }
        if row.schema_properties == 0 || (row.schema_properties == 1 && row.schema_booleans == 1) {
            return;
        }
        self.forms += 1;
        self.first_form.get_or_insert(row);
        let previous = self.previous.insert((row.schema_hash, server), row.content_hash);
        let same = row.content_hash.is_some() && previous == Some(row.content_hash);
        self.defaults += u64::from(row.equals_defaults);
        self.with_previous += u64::from(previous.is_some());
        self.same_as_previous += u64::from(same);
        self.comparable += u64::from(previous.is_some() || row.equals_defaults);
        self.alike += u64::from(same || row.equals_defaults);
        if let Some(latency) = row.latency_ms {
            self.timed_forms += 1;
            self.fast_forms += u64::from(latency < FAST_MS);
        }
    }

    fn nobody_at_keyboard(&self) -> bool {
        let nearly_all = |part: u64, whole: u64| whole >= ENOUGH && part as f64 >= NEARLY_ALL * whole as f64;
        self.forms >= ENOUGH && nearly_all(self.fast_forms, self.timed_forms) && nearly_all(self.alike, self.comparable)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The table of clients, sorted by name and version, and the findings MT206 and MT210.
pub fn clients(context: &Context) -> (Vec<Client>, Vec<Finding>) {
    let mut seen: BTreeMap<(Text, Option<Text>), Seen> = BTreeMap::new();
    let unknown: Text = UNKNOWN_CLIENT.into();
    let key = |client: &Option<Text>, version: &Option<Text>| {
        (client.clone().unwrap_or_else(|| unknown.clone()), version.clone())
    };
    for (at, call) in context.frames.calls.iter().enumerate() {
        let seen = seen.entry(key(&call.client, &call.client_version)).or_default();
        seen.calls += 1;
        let unintended = context.args_of(at).any(|arg| matches!(context.judged[arg], Judged::Unintended { .. }));
        seen.unintended_calls += u64::from(unintended);
    }
    let mut order: Vec<&ElicitationRow> =
        context.frames.elicitations.iter().filter(|row| row.stray == Stray::None).collect();
    order.sort_by_key(|row| (row.seq, row.elicitation));
    for row in order {
        let seen = seen.entry(key(&row.client, &row.client_version)).or_default();
        seen.elicited += 1;
        seen.content_without_accept += u64::from(row.content_without_accept);
        let declared = context.session(&row.session).and_then(|session| match &*row.mode {
            "form" => session.elicitation_form,
            "url" => session.elicitation_url,
            _ => None,
        });
        if declared == Some(false) {
            seen.not_declared.push(row);
        }
        if row.outcome == ElicitationOutcome::Accept && row.verdict != Verdict::Url {
            seen.usable += u64::from(row.verdict == Verdict::Usable);
            seen.unusable += u64::from(row.verdict == Verdict::Unusable);
            seen.answer(row, context.server_of(&row.session));
        }
    }
    let (mut rows, mut found) = (Vec::with_capacity(seen.len()), Vec::new());
    for ((client, version), mut seen) in seen {
        seen.latencies.sort_unstable_by(f64::total_cmp);
        let row = Client {
            calls: seen.calls,
            unintended_calls: seen.unintended_calls,
            elicited: seen.elicited,
            usable: seen.usable,
            unusable: seen.unusable,
            unusable_rate: wilson(seen.unusable, seen.usable + seen.unusable),
            latency_p50_ms: quantile(&seen.latencies, 0.5),
            latency_p95_ms: quantile(&seen.latencies, 0.95),
            fast_share: share(seen.fast, seen.latencies.len() as u64),
            defaults_share: share(seen.defaults, seen.forms),
            same_as_previous_share: share(seen.same_as_previous, seen.with_previous),
            nobody_at_keyboard: seen.nobody_at_keyboard(),
            not_declared: seen.not_declared.len() as u64,
            content_without_accept: seen.content_without_accept,
            client,
            version,
        };
        found.extend(nobody(&row, &seen));
        found.extend(not_declared(&row, &seen));
        rows.push(row);
    }
    (rows, found)
}

fn subject(row: &Client) -> Vec<Text> {
    std::iter::once(&row.client).chain(&row.version).cloned().collect()
}

fn named(row: &Client) -> Sentence {
    let sentence = Sentence::new().name(&row.client);
    match &row.version {
        Some(version) => sentence.say(" ").name(version),
        None => sentence,
    }
}

fn evidence(row: &ElicitationRow) -> Evidence {
    Evidence { file: row.file.clone(), position: row.position, ts: row.ts, session: Some(row.session.clone()) }
}

fn nobody(row: &Client, seen: &Seen) -> Option<Finding> {
    if !row.nobody_at_keyboard {
        return None;
    }
    let milliseconds = |value: Option<f64>| value.map_or("?".to_string(), |value| format!("{value:.0} ms"));
    let sentence = named(row)
        .say(" seems to answer without a person: ")
        .share(seen.fast_forms, seen.timed_forms)
        .say(" accepted forms came back within half a second")
        .say(format!(
            " (median {}), and {} of {} equal the defaults or the answer before",
            milliseconds(row.latency_p50_ms),
            count(seen.alike),
            count(seen.comparable),
        ))
        .since(seen.first_form.and_then(|row| row.ts));
    Some(Finding {
        rule: "MT206",
        severity: Severity::Warning,
        subject: subject(row),
        key: String::new(),
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("forms", seen.forms as f64),
            ("fast", seen.fast_forms as f64),
            ("alike", seen.alike as f64),
            ("comparable", seen.comparable as f64),
        ]),
        evidence: seen.first_form.map(evidence).into_iter().collect(),
        next_step: "Do not take these answers as consent; ask where a person can be reached, or not at all."
            .to_string(),
        weight: seen.forms,
    })
}

fn not_declared(row: &Client, seen: &Seen) -> Option<Finding> {
    let first = seen.not_declared.first()?;
    let n = seen.not_declared.len() as u64;
    let modes: BTreeMap<&Text, u64> = seen.not_declared.iter().fold(BTreeMap::new(), |mut modes, row| {
        *modes.entry(&row.mode).or_default() += 1;
        modes
    });
    let since: Option<Ts> = seen.not_declared.iter().filter_map(|row| row.ts).min();
    let sentence = named(row)
        .say(format!(" was asked {} it had not declared to answer (mode ", plural(n, "question")))
        .names(modes.keys().copied())
        .say(format!("), {} % of all it was asked", percent(n as f64 / row.elicited.max(1) as f64)))
        .since(since)
        .say("; for example by ")
        .name(&first.operation);
    Some(Finding {
        rule: "MT210",
        severity: Severity::Warning,
        subject: subject(row),
        key: String::new(),
        sentence: sentence.done(),
        numbers: BTreeMap::from([("not_declared", n as f64), ("elicited", row.elicited as f64)]),
        evidence: seen.not_declared.iter().take(EVIDENCE).map(|row| evidence(row)).collect(),
        next_step: "Look at the client's capabilities before asking, and go on without the answer where it has none."
            .to_string(),
        weight: n,
    })
}
