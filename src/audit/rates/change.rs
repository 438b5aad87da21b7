//! Whether a rate changed, and when: named only where the test supports it over sessions, and over days too.

use super::{Seen, Series, day_of};
use crate::audit::context::Context;
use crate::audit::stats::change_point::{Block, Cuts, Ratios, Split, best_between, p_value};
use crate::audit::stats::holm;
use crate::audit::stats::wilson::wilson;
use crate::audit::tables::{Change, Side};
use crate::expect::Thresholds;
use ahash::AHashMap;
use rayon::prelude::*;

pub const NOT_ENOUGH: &str = "not enough evidence";
pub const NO_CHANGE: &str = "no change";
/// Supported over sessions, not over days: the rate differs from day to day, or one day alone makes the difference.
pub const DAYS_DIFFER: &str = "days differ";
pub const CHANGE: &str = "change";
/// Another rate from one day to another, and the old one before and after.
pub const STRETCH: &str = "stretch";

/// Random orders of whole sessions, and of whole days.
const PERMUTATIONS: u64 = 999;
/// With more series than these orders can tell apart after Holm's correction, more are drawn, up to here.
const MOST_PERMUTATIONS: u64 = 99_999;
/// More orders are drawn only for a series whose first ones gave at most this p: above it, more could never name a change,
/// and a series that is tested on rests on all its orders, so that its p is what it were without the first look.
const PROMISING: f64 = 0.01;
/// Days from which on days are permuted: a clean step between the halves of eight days is reached by 2·4!·4!/8! = 2.9 % of
/// their orders, between those of seven by 5.7 %, so that no test at 5 % could ever support it.
const MANY_DAYS: usize = 8;
/// Days from which on one day alone makes no side of a change: with two there is nothing else.
const SEVERAL_DAYS: usize = 3;
/// Days, or equal groups of them, between which a stretch is looked for: all pairs are tried.
const MOST_GROUPS: usize = 400;

/// Counts and the best split of a series that is tested.
struct Tested<'s> {
    series: &'s Series,
    ratios: Ratios,
    split: Split,
    sessions: Vec<Block>,
}

/// One answer for each series, in their order.
pub fn changes(context: &Context, all: &[Series]) -> Vec<Change> {
    let limits = &context.expectations.thresholds;
    let tested: Vec<Option<Tested>> = all.par_iter().map(|series| Tested::new(series, limits)).collect();
    let number = tested.iter().flatten().count();
    let permutations = permutations(number, limits.change_level);
    let side = usize::try_from(limits.change_side_calls).unwrap_or(usize::MAX);
    let values: Vec<(Option<f64>, u64)> = tested
        .iter()
        .map(|tested| {
            let Some(Tested { series, ratios, split, sessions }) = tested else { return (None, 0) };
            let by =
                |orders| p_value(ratios, sessions, split.ratio, side, Cuts::Anywhere, orders, series.seed(context));
            let first = by(PERMUTATIONS);
            match permutations > PERMUTATIONS && first.is_some_and(|p| p <= PROMISING) {
                true => (by(permutations), permutations),
                false => (first, PERMUTATIONS),
            }
        })
        .collect();
    let adjusted = holm::adjust(&values.iter().map(|(p, _)| *p).collect::<Vec<_>>());
    let mut changes = Vec::with_capacity(all.len());
    for ((tested, (p, permutations)), adjusted) in tested.iter().zip(values).zip(adjusted) {
        changes.push(match tested {
            Some(tested) => {
                let change = Change {
                    verdict: NO_CHANGE,
                    ratio: Some(tested.split.ratio),
                    p_value: p,
                    p_adjusted: adjusted,
                    permutations,
                    ..Change::default()
                };
                let supported = adjusted.is_some_and(|p| p <= limits.change_level);
                if supported { tested.conclude(context, side, change) } else { change }
            }
            None => Change { verdict: NOT_ENOUGH, ..Change::default() },
        });
    }
    changes
}

/// So many that the smallest possible p survives Holm's correction.
fn permutations(series: usize, level: f64) -> u64 {
    let needed = (series as f64 / level.max(1e-9)).ceil();
    if needed <= (PERMUTATIONS + 1) as f64 {
        return PERMUTATIONS;
    }
    ((needed.min(MOST_PERMUTATIONS as f64) as u64).div_ceil(PERMUTATIONS + 1) * (PERMUTATIONS + 1) - 1)
        .min(MOST_PERMUTATIONS)
}

impl<'s> Tested<'s> {
    /// `None` where there is too little to test.
    fn new(series: &'s Series, limits: &Thresholds) -> Option<Self> {
        let timed = series.timed();
        let hits = super::count_hits(timed);
        if hits.min(timed.len() as u64 - hits) < limits.change_least_hits {
            return None;
        }
        let sessions = blocks(timed, |seen| i64::from(seen.session));
        if sessions.len() < 2 {
            return None;
        }
        let ratios = Ratios::up_to(timed.len());
        let side = usize::try_from(limits.change_side_calls).ok()?;
        let places: Vec<usize> =
            timed.iter().enumerate().filter(|(_, seen)| seen.hit).map(|(place, _)| place).collect();
        let split = ratios.best_split(places.into_iter(), timed.len(), side)?;
        Some(Self { series, ratios, split, sessions })
    }

    /// The word for a change that sessions support.
    fn conclude(&self, context: &Context, side: usize, mut change: Change) -> Change {
        let timed = self.series.timed();
        let day = |seen: &Seen| seen.ts.map_or(i64::MIN, day_of);
        let days = blocks(timed, day);
        // A cut within a day would make one day look like two.
        let by_day = best_between(&self.ratios, &days, side);
        if days.len() >= MANY_DAYS {
            let seed = self.series.seed(context) ^ 1;
            change.p_days = by_day.and_then(|split| {
                p_value(&self.ratios, &days, split.ratio, side, Cuts::BetweenBlocks, PERMUTATIONS, seed)
            });
        }
        let place = |at: usize| timed.get(at).map(|seen| self.series.evidence(context, seen));
        let limits = &context.expectations.thresholds;
        if days.len() >= MANY_DAYS && change.p_days.is_none_or(|p| p > limits.change_level) {
            return Change { verdict: DAYS_DIFFER, ..change };
        }
        if let Some(stretch) = self.stretch(&days) {
            if stretch.days == 1 {
                return Change { verdict: DAYS_DIFFER, ..change };
            }
            let (from, to) = (stretch.from, stretch.to);
            let inside = super::count_hits(&timed[from..to]);
            let all = super::count_hits(timed);
            return Change {
                verdict: STRETCH,
                last_before: place(from - 1),
                first_after: place(from),
                last_inside: place(to - 1),
                before: sided(all - inside, (timed.len() - (to - from)) as u64),
                after: sided(inside, (to - from) as u64),
                ..change
            };
        }
        let one_day = by_day.is_none_or(|split| {
            days.first().is_some_and(|day| day.length == split.at)
                || days.last().is_some_and(|day| timed.len() - day.length == split.at)
        });
        if days.len() >= SEVERAL_DAYS && one_day {
            return Change { verdict: DAYS_DIFFER, ..change };
        }
        let (before, after) = timed.split_at(self.split.at);
        Change {
            verdict: CHANGE,
            last_before: place(self.split.at - 1),
            first_after: place(self.split.at),
            before: sided(super::count_hits(before), before.len() as u64),
            after: sided(super::count_hits(after), after.len() as u64),
            ..change
        }
    }

    /// The days, neither first nor last, that explain the series better than any split does.
    ///
    /// A stretch has two ends where a split has one: its G must be greater by ln n, the price of a parameter (G. Schwarz,
    /// "Estimating the dimension of a model", Annals of Statistics 6 (1978) 461–464).
    fn stretch(&self, days: &[Block]) -> Option<Stretch> {
        let mut ends = vec![(0, 0, 0)];
        for (index, group) in days.chunks(days.len().div_ceil(MOST_GROUPS).max(1)).enumerate() {
            let (calls, hits, before) = ends[index];
            let length: usize = group.iter().map(|day| day.length).sum();
            let more: usize = group.iter().map(|day| day.hits.len()).sum();
            ends.push((calls + length, hits + more, before + group.len()));
        }
        let (n, hits, _) = *ends.last()?;
        let mut best: Option<(f64, Stretch)> = None;
        for from in 1..ends.len().saturating_sub(1) {
            for to in from + 1..ends.len() - 1 {
                let (start, end) = (ends[from], ends[to]);
                let ratio = self.ratios.of(end.1 - start.1, end.0 - start.0, hits, n);
                if best.as_ref().is_none_or(|(known, _)| ratio > *known) {
                    best = Some((ratio, Stretch { from: start.0, to: end.0, days: end.2 - start.2 }));
                }
            }
        }
        best.filter(|(ratio, _)| *ratio > self.split.ratio + (n as f64).ln()).map(|(_, stretch)| stretch)
    }
}

/// Calls from one place to another, and the days they lie on.
struct Stretch {
    from: usize,
    to: usize,
    days: usize,
}

fn sided(hits: u64, n: u64) -> Option<Side> {
    Some(Side { n, hits, rate: wilson(hits, n)? })
}

/// Calls with equal keys as one block, blocks in the order of their first call.
fn blocks(seen: &[Seen], key: impl Fn(&Seen) -> i64) -> Vec<Block> {
    let mut numbers: AHashMap<i64, usize> = AHashMap::new();
    let mut blocks: Vec<Block> = Vec::new();
    for call in seen {
        let number = *numbers.entry(key(call)).or_insert_with(|| {
            blocks.push(Block::default());
            blocks.len() - 1
        });
        let block = &mut blocks[number];
        if call.hit {
            block.hits.push(block.length as u32);
        }
        block.length += 1;
    }
    blocks
}
