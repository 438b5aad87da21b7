//! What values each argument received, and which of them were intended (analyses.md §2 and §3).

use super::context::Context;
use super::effect::State;
use super::intended::class;
use super::intended::tail::{Unintended, ladder, tail};
use super::intended::{Judged, argument_names};
use super::tables::{Argument, ClassCount, Host, ValueCount};
use crate::protocol::message::{Text, Ts};
use crate::schema::{ArgRow, CallOutcome, SessionQuality, ValueType};
use ahash::{AHashMap, AHashSet};
use std::collections::BTreeMap;

const DAY: i64 = 86_400_000_000;

/// Calls and how they ended.
#[derive(Debug, Clone, Copy, Default)]
struct Calls {
    calls: u64,
    rendered: u64,
    error: u64,
}

impl Calls {
    fn add(&mut self, outcome: CallOutcome) {
        self.calls += 1;
        self.rendered += u64::from(outcome == CallOutcome::Rendered);
        self.error += u64::from(outcome == CallOutcome::Error);
    }

    fn less(&mut self, other: Calls) {
        self.calls = self.calls.saturating_sub(other.calls);
        self.rendered = self.rendered.saturating_sub(other.rendered);
        self.error = self.error.saturating_sub(other.error);
    }
}

/// Client number and what the calls were judged by.
type Stratum = (u32, StateKey);

/// `State` as a key: two versions are two strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StateKey {
    Declared(usize),
    UnknownPrompt,
    Other,
}

impl StateKey {
    fn new(state: State) -> Self {
        match state {
            State::Declared(version) => Self::Declared(version),
            State::UnknownPrompt => Self::UnknownPrompt,
            State::NoDeclaration | State::Superseded | State::NoName | State::NotCaptured => Self::Other,
        }
    }
}

/// One value as far as one judgement goes.
#[derive(Debug)]
struct Seen {
    arg: usize,
    judged: Judged,
    value: usize,
    calls: u64,
    sessions: AHashSet<u32>,
    clients: AHashSet<u32>,
    first: Option<Ts>,
    last: Option<Ts>,
}

/// What the calls that carry one key add up to.
#[derive(Debug, Default)]
struct Key {
    present: BTreeMap<Stratum, Calls>,
    hosts: BTreeMap<u32, Host>,
    zero_length: u64,
    empty: u64,
    non_string: u64,
    json_values: u64,
    broken_json_values: u64,
    values: AHashMap<(ValueType, u64), usize>,
    seen_at: AHashMap<(usize, Judged), usize>,
    seen: Vec<Seen>,
    unintended: Vec<Unintended>,
    unintended_rendered: u64,
    days: BTreeMap<i64, (u64, u64)>,
}

/// One row per argument that was declared or sent, by server, prompt and name.
pub fn arguments(context: &Context) -> Vec<Argument> {
    let mut calls_of: BTreeMap<(usize, Option<Text>), Vec<usize>> = BTreeMap::new();
    for group in &context.groups {
        calls_of.entry((group.server, group.prompt.clone())).or_default().extend(&group.calls);
    }
    let mut rows = Vec::new();
    for ((server, prompt), names) in argument_names(context) {
        if names.is_empty() {
            continue;
        }
        let calls = calls_of.get(&(server, prompt.clone())).map_or(&[][..], Vec::as_slice);
        let tally = Tally::new(context, calls);
        for name in names {
            rows.push(tally.argument(context, server, prompt.as_ref(), &name));
        }
    }
    rows
}

/// The calls of one prompt, counted once for all its arguments.
struct Tally<'a> {
    calls: u64,
    not_captured: u64,
    period: Option<(Ts, Ts)>,
    captured: BTreeMap<Stratum, Calls>,
    clients: BTreeMap<u32, Text>,
    keys: AHashMap<&'a str, Key>,
}

impl<'a> Tally<'a> {
    fn new(context: &Context<'a>, calls: &[usize]) -> Self {
        let mut tally = Self {
            calls: calls.len() as u64,
            not_captured: 0,
            period: None,
            captured: BTreeMap::new(),
            clients: BTreeMap::new(),
            keys: AHashMap::new(),
        };
        for &at in calls {
            let call = &context.frames.calls[at];
            if let Some(ts) = call.ts {
                let (first, last) = tally.period.unwrap_or((ts, ts));
                tally.period = Some((first.min(ts), last.max(ts)));
            }
            if !context.arguments_captured(at) {
                tally.not_captured += 1;
                continue;
            }
            let client = context.client_numbers[at];
            tally.clients.entry(client).or_insert_with(|| Context::client_of(call));
            let stratum = (client, StateKey::new(context.effects[at].state));
            tally.captured.entry(stratum).or_default().add(call.outcome);
            for row in context.args_of(at) {
                let key = tally.keys.entry(&*context.frames.args[row].key).or_default();
                key.add(context, at, row, stratum);
            }
        }
        tally
    }

    fn argument(&self, context: &Context, server: usize, prompt: Option<&Text>, name: &Text) -> Argument {
        let nothing = Key::default();
        let key = self.keys.get(&**name).unwrap_or(&nothing);
        let versions = prompt.map_or(&[][..], |prompt| context.contract.versions_of(server, prompt));
        let declaring = || versions.iter().map(|&at| &context.contract.versions[at]).filter(|known| known.has(name));
        let newest = declaring().max_by_key(|version| version.last_seq);
        let required = newest
            .and_then(|version| version.arguments.iter().find(|known| known.name == *name))
            .map(|known| known.required);

        let mut hosts: BTreeMap<u32, Host> = key.hosts.clone();
        let (mut absent, mut not_declared_then) = (0, 0);
        for (stratum, captured) in &self.captured {
            let mut without = *captured;
            without.less(key.present.get(stratum).copied().unwrap_or_default());
            let lacking = match stratum.1 {
                StateKey::Declared(version) => !context.contract.versions[version].has(name),
                StateKey::UnknownPrompt => newest.is_some(),
                StateKey::Other => false,
            };
            if without.calls == 0 {
                continue;
            }
            if lacking {
                not_declared_then += without.calls;
                continue;
            }
            absent += without.calls;
            let host = hosts.entry(stratum.0).or_insert_with(no_host);
            host.absent += without.calls;
            host.rendered += without.rendered;
            host.error += without.error;
        }
        for (client, host) in &mut hosts {
            host.client = self.clients.get(client).cloned().unwrap_or_default();
        }
        let mut hosts: Vec<Host> = hosts.into_values().collect();
        hosts.sort_by(|a, b| a.client.cmp(&b.client));

        let set = context.intended.newest(server, prompt, name);
        let mut classes: BTreeMap<&'static str, ClassCount> = BTreeMap::new();
        let (mut intended, mut not_judged) = (0, 0);
        let mut unintended_values: AHashSet<usize> = AHashSet::new();
        for seen in &key.seen {
            match seen.judged {
                Judged::Open => not_judged += seen.calls,
                Judged::Intended => intended += seen.calls,
                Judged::Unintended { class, .. } => {
                    let count = classes.entry(class.as_str()).or_default();
                    count.calls += seen.calls;
                    count.distinct += 1;
                    unintended_values.insert(seen.value);
                }
            }
        }
        let used = |value: &Text| {
            key.seen.iter().any(|seen| seen.judged == Judged::Intended && context.frames.args[seen.arg].value == *value)
        };
        let mut values: Vec<ValueCount> =
            key.seen.iter().map(|seen| value_count(context, seen, set.is_some())).collect();
        values.sort_by(|a, b| {
            (b.calls.cmp(&a.calls))
                .then_with(|| a.value.text.as_bytes().cmp(b.value.text.as_bytes()))
                .then_with(|| (a.json_type, a.value.hash, a.class).cmp(&(b.json_type, b.value.hash, b.class)))
        });
        Argument {
            server: context.servers[server].clone(),
            prompt: prompt.cloned(),
            argument: name.clone(),
            calls: self.calls,
            present: key.present.values().map(|calls| calls.calls).sum(),
            absent,
            zero_length: key.zero_length,
            empty: key.empty,
            not_captured: self.not_captured,
            not_declared_then,
            distinct: key.values.len() as u64,
            non_string: key.non_string,
            intended_source: set.map(|set| set.source),
            intended_values: set.map(|set| set.values.clone()).unwrap_or_default(),
            intended,
            unintended: key.unintended.len() as u64,
            unintended_distinct: unintended_values.len() as u64,
            classes,
            ladder: if set.is_some() { ladder(&key.unintended) } else { Vec::new() },
            tail: set.map(|_| tail(&key.unintended, self.period)),
            hosts,
            values,
            unused: set
                .filter(|_| self.calls > 0)
                .map(|set| set.values.iter().filter(|value| !used(value)).cloned().collect())
                .unwrap_or_default(),
            json_values: key.json_values,
            broken_json_values: key.broken_json_values,
            required,
            unintended_rendered: key.unintended_rendered,
            days: key
                .days
                .iter()
                .map(|(day, (intended, unintended))| (day_name(*day), *intended, *unintended))
                .collect(),
            declared: newest.is_some(),
            not_judged: if set.is_some() { not_judged } else { 0 },
        }
    }
}

impl Key {
    fn add(&mut self, context: &Context, at: usize, row: usize, stratum: Stratum) {
        let call = &context.frames.calls[at];
        let arg = &context.frames.args[row];
        self.present.entry(stratum).or_default().add(call.outcome);
        let blank = class::is_blank(arg);
        let zero_length = blank && arg.value.is_empty();
        self.zero_length += u64::from(zero_length);
        self.empty += u64::from(blank);
        self.non_string += u64::from(arg.json_type != ValueType::String);
        match structure(arg) {
            Some(true) => self.json_values += 1,
            Some(false) => self.broken_json_values += 1,
            None => {}
        }
        let host = self.hosts.entry(stratum.0).or_insert_with(no_host);
        match (zero_length, blank) {
            (true, _) => host.zero_length += 1,
            (_, true) => host.blank += 1,
            _ => host.filled += 1,
        }
        host.rendered += u64::from(call.outcome == CallOutcome::Rendered);
        host.error += u64::from(call.outcome == CallOutcome::Error);

        let next = self.values.len();
        let value = *self.values.entry((arg.json_type, arg.value_hash)).or_insert(next);
        let judged = context.judged[row];
        let seen_at = *self.seen_at.entry((value, judged)).or_insert_with(|| {
            self.seen.push(Seen {
                arg: row,
                judged,
                value,
                calls: 0,
                sessions: AHashSet::new(),
                clients: AHashSet::new(),
                first: None,
                last: None,
            });
            self.seen.len() - 1
        });
        let seen = &mut self.seen[seen_at];
        seen.calls += 1;
        seen.sessions.insert(context.session_numbers[at]);
        seen.clients.insert(context.client_numbers[at]);
        if let Some(ts) = call.ts {
            seen.first = Some(seen.first.map_or(ts, |first| first.min(ts)));
            seen.last = Some(seen.last.map_or(ts, |last| last.max(ts)));
        }
        if judged == Judged::Open {
            return;
        }
        let quality = context.session_quality(&call.session);
        let (session, start) = match quality {
            SessionQuality::Stateless => (None, call.ts),
            _ => {
                (Some(context.session_numbers[at]), context.session(&call.session).and_then(|session| session.first_ts))
            }
        };
        let unintended = Unintended::new(value, judged, session, start, call.ts);
        if let Some(ts) = call.ts {
            let day = self.days.entry(ts.0.div_euclid(DAY)).or_default();
            match unintended {
                Some(_) => day.1 += 1,
                None => day.0 += 1,
            }
        }
        if let Some(unintended) = unintended {
            self.unintended.push(unintended);
            self.unintended_rendered += u64::from(call.outcome == CallOutcome::Rendered);
        }
    }
}

fn no_host() -> Host {
    Host { client: Text::default(), absent: 0, zero_length: 0, blank: 0, filled: 0, rendered: 0, error: 0 }
}

fn value_count(context: &Context, seen: &Seen, closed: bool) -> ValueCount {
    let arg = &context.frames.args[seen.arg];
    ValueCount {
        value: Context::shown(arg, closed),
        json_type: arg.json_type,
        calls: seen.calls,
        class: seen.judged.word(),
        chars: arg.value_chars,
        words: arg.value_words,
        sessions: seen.sessions.len() as u64,
        clients: seen.clients.len() as u64,
        first_ts: seen.first,
        last_ts: seen.last,
    }
}

/// Whether a string is a JSON object or array (`Some(true)`), only starts like one (`Some(false)`), or neither.
/// "[urgent] call me" starts like none: behind the bracket stands no JSON value.
fn structure(arg: &ArgRow) -> Option<bool> {
    if arg.json_type != ValueType::String || class::is_cut(arg) {
        return None;
    }
    let text = arg.value.trim();
    let inner = text.get(1..)?.trim_start();
    let starts = match text.as_bytes().first()? {
        b'{' => inner.starts_with(['"', '}']),
        b'[' => inner.starts_with(|c: char| "{[\"]-".contains(c) || c.is_ascii_digit()),
        _ => false,
    };
    starts.then(|| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
}

/// `2026-03-01` of a day number since 1970-01-01.
fn day_name(day: i64) -> String {
    match Ts(day.saturating_mul(DAY)).on_calendar() {
        Some(moment) => moment.date().to_string(),
        None => format!("day {day}"),
    }
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
