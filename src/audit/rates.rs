//! Rates over time (analyses.md §11): every rate by day or week, whether it changed, and when something first appeared.

mod appearances;
mod change;
mod findings;
#[cfg(test)]
mod tests;

pub use appearances::appearances;

use super::context::Context;
use super::intended::Judged;
use super::stats::icc::{self, Unit};
use super::stats::wilson::wilson;
use super::tables::{Change, Evidence, Period, RateSeries};
use crate::finding::Finding;
use crate::protocol::message::{Text, Ts};
use crate::schema::{CallOutcome, ElicitationOutcome, Stray, Verdict};
use ahash::AHashMap;
use std::collections::BTreeMap;

/// Calls that ended in an error, of those that were rendered or did.
pub const FAILING: &str = "failing";
/// Values that nobody intended, of those that a set could judge.
pub const UNINTENDED: &str = "unintended";
/// Calls with unknown keys or without required ones, of those that a declaration could judge.
pub const MISMATCHED: &str = "mismatched";
/// Accepted answers that do not keep their schema, of those that were checked.
pub const UNUSABLE: &str = "unusable";
/// Questions declined or cancelled, of those accepted, declined or cancelled.
pub const DECLINED: &str = "declined";

const DAY: i64 = 86_400_000_000;
/// A series that spans more days is shown by week: two months of days are what a page shows side by side.
const MOST_DAYS: i64 = 62;
/// A request for an elicitation by URL: the client is asked to come back, nothing failed.
const URL_ELICITATION_REQUIRED: i64 = -32042;

/// One call or answer of a series.
#[derive(Debug, Clone, Copy)]
struct Seen {
    ts: Option<Ts>,
    seq: u64,
    /// Equal numbers are one session.
    session: u32,
    hit: bool,
    /// Row of the frame.
    row: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    Calls,
    Elicitations,
}

/// A rate's name and what it is made of.
struct Series {
    server: usize,
    kind: &'static str,
    prompt: Option<Text>,
    argument: Option<Text>,
    operation: Option<Text>,
    frame: Frame,
    /// Without a time first, then by time and reading order.
    seen: Vec<Seen>,
}

impl Series {
    /// Those with a time, in order.
    fn timed(&self) -> &[Seen] {
        let from = self.seen.partition_point(|seen| seen.ts.is_none());
        &self.seen[from..]
    }

    fn evidence(&self, context: &Context, seen: &Seen) -> Evidence {
        match self.frame {
            Frame::Calls => context.evidence(seen.row),
            Frame::Elicitations => {
                let row = &context.frames.elicitations[seen.row];
                Evidence {
                    file: row.file.clone(),
                    position: row.position,
                    ts: row.ts,
                    session: Some(row.session.clone()),
                }
            }
        }
    }

    /// The same series always gets the same permutations.
    fn seed(&self, context: &Context) -> u64 {
        let mut hasher = blake3::Hasher::new();
        let names = [Some(&context.servers[self.server]), self.prompt.as_ref(), self.argument.as_ref()];
        let names = names.into_iter().chain([self.operation.as_ref()]).map(|name| name.map_or("", |name| name));
        for part in std::iter::once(self.kind).chain(names) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        u64::from_le_bytes(bytes)
    }
}

/// Every series with a call or answer in it, by server, kind and subject, and the changes that the test supports.
pub fn rates(context: &Context) -> (Vec<RateSeries>, Vec<Finding>) {
    let mut all = of_calls(context);
    all.extend(of_answers(context));
    all.retain(|series| !series.seen.is_empty());
    for series in &mut all {
        for seen in &mut series.seen {
            // A time that no calendar has tells no day.
            seen.ts = seen.ts.filter(|ts| ts.on_calendar().is_some());
        }
        series.seen.sort_by_key(|seen| (seen.ts, seen.seq));
    }
    let key = |series: &Series| {
        let names = (series.prompt.clone(), series.operation.clone(), series.argument.clone());
        (series.server, series.kind, names)
    };
    all.sort_by_key(key);
    let changes = change::changes(context, &all);
    let rows: Vec<RateSeries> = all.iter().zip(changes).map(|(series, change)| row(context, series, change)).collect();
    let found = findings::findings(&rows);
    (rows, found)
}

fn row(context: &Context, series: &Series, change: Change) -> RateSeries {
    let (n, hits) = (series.seen.len() as u64, count_hits(&series.seen));
    let timed = series.timed();
    let mut sessions: AHashMap<u32, Unit> = AHashMap::new();
    for seen in &series.seen {
        let unit = sessions.entry(seen.session).or_insert(Unit { failures: 0, attempts: 0 });
        unit.attempts += 1;
        unit.failures += u64::from(seen.hit);
    }
    // Summed in one order, so that equal input gives equal bytes.
    let mut units: Vec<(u32, Unit)> = sessions.into_iter().collect();
    units.sort_unstable_by_key(|(session, _)| *session);
    let units: Vec<Unit> = units.into_iter().map(|(_, unit)| unit).collect();
    let (unit, periods) = periods(timed);
    RateSeries {
        server: context.servers[series.server].clone(),
        kind: series.kind,
        prompt: series.prompt.clone(),
        argument: series.argument.clone(),
        operation: series.operation.clone(),
        n,
        hits,
        rate: wilson(hits, n),
        sessions: units.len() as u64,
        n_effective: icc::anova(&units).map(|anova| anova.n_effective()),
        n_without_time: n - timed.len() as u64,
        hits_without_time: hits - count_hits(timed),
        unit,
        periods,
        change,
    }
}

fn count_hits(seen: &[Seen]) -> u64 {
    seen.iter().filter(|seen| seen.hit).count() as u64
}

/// Days since the epoch.
fn day_of(ts: Ts) -> i64 {
    ts.0.div_euclid(DAY)
}

fn day_text(day: i64) -> String {
    Ts(day.saturating_mul(DAY)).on_calendar().map_or_else(String::new, |moment| moment.date().to_string())
}

/// By day, or by week from Monday where there are too many days.
fn periods(timed: &[Seen]) -> (&'static str, Vec<Period>) {
    let days = || timed.iter().filter_map(|seen| seen.ts).map(day_of);
    let span = days().max().zip(days().min()).map_or(0, |(last, first)| last - first + 1);
    let weekly = span > MOST_DAYS;
    let mut counts: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    for seen in timed {
        let Some(ts) = seen.ts else { continue };
        let day = day_of(ts);
        // The epoch was a Thursday.
        let from = if weekly { day - (day + 3).rem_euclid(7) } else { day };
        let period = counts.entry(from).or_default();
        period.0 += 1;
        period.1 += u64::from(seen.hit);
    }
    let periods = counts
        .into_iter()
        .map(|(day, (n, hits))| Period { day: day_text(day), n, hits, rate: wilson(hits, n) })
        .collect();
    (if weekly { "week" } else { "day" }, periods)
}

fn of_calls(context: &Context) -> Vec<Series> {
    let mut all = Vec::new();
    for group in context.groups.iter().filter(|group| group.captured) {
        let series = |kind, argument: Option<&Text>, seen| Series {
            server: group.server,
            kind,
            prompt: group.prompt.clone(),
            argument: argument.cloned(),
            operation: None,
            frame: Frame::Calls,
            seen,
        };
        let mut failing = Vec::new();
        let mut mismatched = Vec::new();
        let mut unintended: BTreeMap<&Text, Vec<Seen>> = BTreeMap::new();
        for &at in &group.calls {
            let call = &context.frames.calls[at];
            let session = context.session_numbers[at];
            let seen = |hit| Seen { ts: call.ts, seq: call.seq, session, hit, row: at };
            match call.outcome {
                CallOutcome::Rendered => failing.push(seen(false)),
                CallOutcome::Error if call.error_code != Some(URL_ELICITATION_REQUIRED) => failing.push(seen(true)),
                _ => {}
            }
            mismatched.extend(context.mismatch(at).map(|mismatch| seen(mismatch.any())));
            for arg in context.args_of(at) {
                let hit = match context.judged[arg] {
                    Judged::Open => continue,
                    Judged::Intended => false,
                    Judged::Unintended { .. } => true,
                };
                unintended.entry(&context.frames.args[arg].key).or_default().push(seen(hit));
            }
        }
        all.push(series(FAILING, None, failing));
        all.push(series(MISMATCHED, None, mismatched));
        all.extend(unintended.into_iter().map(|(argument, seen)| series(UNINTENDED, Some(argument), seen)));
    }
    all
}

fn of_answers(context: &Context) -> Vec<Series> {
    let mut sessions: AHashMap<&Text, u32> = AHashMap::new();
    let mut all: BTreeMap<(usize, &'static str, &Text), Vec<Seen>> = BTreeMap::new();
    for (at, row) in context.frames.elicitations.iter().enumerate() {
        if row.stray != Stray::None {
            continue;
        }
        let next = sessions.len() as u32;
        let session = *sessions.entry(&row.session).or_insert(next);
        let server = context.server_of(&row.session);
        let mut add = |kind, hit| {
            let seen = Seen { ts: row.ts, seq: row.seq, session, hit, row: at };
            all.entry((server, kind, &row.operation)).or_default().push(seen);
        };
        match row.outcome {
            ElicitationOutcome::Accept => add(DECLINED, false),
            ElicitationOutcome::Decline | ElicitationOutcome::Cancel => add(DECLINED, true),
            _ => {}
        }
        match row.verdict {
            Verdict::Usable => add(UNUSABLE, false),
            Verdict::Unusable => add(UNUSABLE, true),
            Verdict::None | Verdict::Unchecked | Verdict::Url => {}
        }
    }
    all.into_iter()
        .map(|((server, kind, operation), seen)| Series {
            server,
            kind,
            prompt: None,
            argument: None,
            operation: Some(operation.clone()),
            frame: Frame::Elicitations,
            seen,
        })
        .collect()
}
