//! The repair ladder and the tail of unintended values (analyses.md §3).

use super::Judged;
use super::class::Class;
use crate::audit::stats::good_turing::Frequencies;
use crate::audit::stats::wilson::wilson;
use crate::audit::tables::{Holdout, Repair, Tail};
use crate::protocol::message::Ts;
use ahash::{AHashMap, AHashSet};
use std::collections::BTreeMap;

/// Fewer test calls than this say nothing about a mapping table.
const HOLDOUT_TEST_CALLS: u64 = 20;

/// Identity of a value: byte-exact, JSON types apart. The number is the analysis's own.
pub type ValueId = usize;

/// One call with an unintended value.
#[derive(Debug, Clone, Copy)]
pub struct Unintended {
    pub value: ValueId,
    pub class: Class,
    pub repaired: bool,
    /// Number of the session; `None` in traffic without sessions, where every call counts for itself.
    pub session: Option<u32>,
    /// When the session began (the call itself, in traffic without sessions).
    pub session_start: Option<Ts>,
    pub ts: Option<Ts>,
}

impl Unintended {
    pub fn new(
        value: ValueId,
        judged: Judged,
        session: Option<u32>,
        session_start: Option<Ts>,
        ts: Option<Ts>,
    ) -> Option<Self> {
        match judged {
            Judged::Unintended { class, repaired } => Some(Self { value, class, repaired, session, session_start, ts }),
            Judged::Open | Judged::Intended => None,
        }
    }
}

/// Calls recovered by each further repair. A repair that fits two intended values recovers nothing.
pub fn ladder(calls: &[Unintended]) -> Vec<Repair> {
    let repaired = |class: Class| calls.iter().filter(|call| call.class == class && call.repaired).count() as u64;
    let steps = [
        ("exact", 0),
        ("trim", repaired(Class::Spacing)),
        ("case", repaired(Class::Case)),
        ("punctuation", repaired(Class::Punctuation)),
        ("unicode", repaired(Class::Unicode)),
        ("empty means default", calls.iter().filter(|call| call.class == Class::Empty).count() as u64),
    ];
    let mut recovered = 0;
    steps
        .into_iter()
        .map(|(repair, more)| {
            recovered += more;
            Repair { repair, recovered, remaining: (calls.len() as u64).saturating_sub(recovered) }
        })
        .collect()
}

/// The unintended values that are not empty. `period`: first and last call of the prompt.
pub fn tail(calls: &[Unintended], period: Option<(Ts, Ts)>) -> Tail {
    let calls: Vec<&Unintended> = calls.iter().filter(|call| call.class != Class::Empty).collect();
    let mut counts: AHashMap<ValueId, u64> = AHashMap::new();
    let mut sightings: AHashMap<ValueId, (u64, AHashSet<u32>)> = AHashMap::new();
    for call in &calls {
        *counts.entry(call.value).or_default() += 1;
        let (alone, sessions) = sightings.entry(call.value).or_default();
        match call.session {
            Some(session) => {
                sessions.insert(session);
            }
            None => *alone += 1,
        }
    }
    let frequencies = Frequencies::new(sightings.values().map(|(alone, sessions)| alone + sessions.len() as u64));
    let unseen = frequencies.unseen();
    let mut descending: Vec<u64> = counts.values().copied().collect();
    descending.sort_unstable_by(|a, b| b.cmp(a));
    let total = calls.len() as u64;
    Tail {
        singletons: descending.iter().filter(|&&count| count == 1).count() as u64,
        mean: (!descending.is_empty()).then(|| total as f64 / descending.len() as f64),
        unseen_chance: unseen.map(|(chance, _)| chance),
        unseen_se: unseen.map(|(_, error)| error),
        new_values_expected: frequencies.new_values(),
        rows_for: BTreeMap::from([
            ("50", rows_for(&descending, total, 50)),
            ("80", rows_for(&descending, total, 80)),
            ("90", rows_for(&descending, total, 90)),
            ("100", rows_for(&descending, total, 100)),
        ]),
        holdout: holdout(&calls, period),
    }
}

/// Rows of a mapping table, most frequent value first, that cover `percent` of `total` calls.
fn rows_for(descending: &[u64], total: u64, percent: u64) -> u64 {
    let mut covered = 0u64;
    let mut rows = 0;
    for count in descending {
        if covered * 100 >= percent * total {
            break;
        }
        covered += count;
        rows += 1;
    }
    rows
}

/// Builds a mapping table from the calls of sessions that began in the first half of the period and scores it on the rest.
fn holdout(calls: &[&Unintended], period: Option<(Ts, Ts)>) -> Option<Holdout> {
    let (first, last) = period?;
    let middle = Ts(first.0 + (last.0 - first.0) / 2);
    let mut table: AHashSet<ValueId> = AHashSet::new();
    let mut test: Vec<ValueId> = Vec::new();
    let mut train_calls = 0;
    for call in calls.iter().filter(|call| !call.repaired) {
        if call.session_start.or(call.ts)? < middle {
            table.insert(call.value);
            train_calls += 1;
        } else {
            test.push(call.value);
        }
    }
    let test_calls = test.len() as u64;
    if test_calls < HOLDOUT_TEST_CALLS {
        return None;
    }
    let covered = test.iter().filter(|value| table.contains(value)).count() as u64;
    let rate = wilson(covered, test_calls)?;
    Some(Holdout { train_calls, test_calls, rows: table.len() as u64, covered, low: rate.low, high: rate.high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(value: ValueId, session: u32) -> Unintended {
        let ts = Some(Ts(i64::from(session)));
        Unintended { value, class: Class::Novel, repaired: false, session: Some(session), session_start: ts, ts }
    }

    #[test]
    fn the_ladder_is_cumulative_and_leaves_ambiguous_repairs_alone() {
        let repairs = [
            (Class::Spacing, true),
            (Class::Case, true),
            (Class::Case, false),
            (Class::Empty, false),
            (Class::Novel, false),
        ];
        let calls: Vec<Unintended> =
            repairs.iter().map(|&(class, repaired)| Unintended { class, repaired, ..call(0, 0) }).collect();
        let steps: Vec<(u64, u64)> = ladder(&calls).iter().map(|step| (step.recovered, step.remaining)).collect();
        assert_eq!(steps, [(0, 5), (1, 4), (2, 3), (2, 3), (2, 3), (3, 2)]);
    }

    #[test]
    fn a_value_counts_once_per_session() {
        // Value 0 twice in one session and once in another; values 1 and 2 once; an empty one does not count.
        let mut calls = vec![call(0, 1), call(0, 1), call(0, 2), call(1, 1), call(2, 3)];
        calls.push(Unintended { class: Class::Empty, ..call(9, 1) });
        let tail = tail(&calls, None);
        assert_eq!(tail.singletons, 2);
        assert_eq!(tail.mean, Some(5.0 / 3.0));
        assert_eq!(tail.unseen_chance, Some(2.0 / 4.0));
        assert_eq!(tail.new_values_expected, Some(2.0 - 1.0));
        assert_eq!(tail.holdout, None);
    }

    #[test]
    fn rows_are_counted_in_integers() {
        assert_eq!(rows_for(&[5, 3, 1, 1], 10, 50), 1);
        assert_eq!(rows_for(&[5, 3, 1, 1], 10, 80), 2);
        assert_eq!(rows_for(&[5, 3, 1, 1], 10, 90), 3);
        assert_eq!(rows_for(&[5, 3, 1, 1], 10, 100), 4);
        assert_eq!(rows_for(&[], 0, 50), 0);
        assert_eq!(rows_for(&[1, 1, 1], 3, 50), 2);
    }

    #[test]
    fn the_holdout_splits_by_session_start() {
        // Sessions 0 to 9 train on values 0 to 4, sessions 10 to 29 meet them half of the time.
        let train = (0..10).map(|session| call(session as usize % 5, session));
        let test = (10..30).map(|session| call(if session % 2 == 0 { 0 } else { 100 + session as usize }, session));
        let calls: Vec<Unintended> = train.chain(test).collect();
        let holdout = tail(&calls, Some((Ts(0), Ts(20)))).holdout.expect("20 test calls");
        assert_eq!((holdout.train_calls, holdout.test_calls, holdout.rows, holdout.covered), (10, 20, 5, 10));
        assert!(tail(&calls[..29], Some((Ts(0), Ts(20)))).holdout.is_none());
        assert!(tail(&calls, None).holdout.is_none());
    }
}
