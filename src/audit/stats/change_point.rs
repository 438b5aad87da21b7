//! Did a rate change at some moment? The binomial likelihood ratio over all splits, and its permutation test.

use super::random::{Random, below};
use rayon::prelude::*;

/// Permutations of one random stream; streams run in parallel, the result does not depend on how many at once.
const STREAM: u64 = 100;
/// Room for rounding when a permuted statistic is compared with the one seen.
const TOLERANCE: f64 = 1e-9;

/// Where a sequence of hits and misses is best cut in two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Length of the first part.
    pub at: usize,
    /// G, twice the logarithm of the likelihood ratio: two rates against one.
    pub ratio: f64,
}

/// Hits and misses that are moved as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    pub length: usize,
    /// Places of the hits within the block, ascending.
    pub hits: Vec<u32>,
}

/// x·ln x for whole numbers up to n; a ratio is eight look-ups.
pub struct Ratios(Vec<f64>);

impl Ratios {
    pub fn up_to(n: usize) -> Self {
        Self((0..=n).map(|x| if x == 0 { 0.0 } else { x as f64 * (x as f64).ln() }).collect())
    }

    /// Log-likelihood of k hits in n at their own rate, k ln(k/n) + (n − k) ln((n − k)/n).
    fn likelihood(&self, k: usize, n: usize) -> f64 {
        self.0[k] + self.0[n - k] - self.0[n]
    }

    /// G of two rates against one: `part` hits in `size` of all, and the rest.
    ///
    /// G = 2 Σ O ln(O/E) over the four cells: the likelihood-ratio statistic of a 2×2 table (A. Agresti, Categorical Data
    /// Analysis, 2nd ed. 2002, §3.2.1).
    pub fn of(&self, part: usize, size: usize, hits: usize, n: usize) -> f64 {
        let two = self.likelihood(part, size) + self.likelihood(hits - part, n - size);
        (2.0 * (two - self.likelihood(hits, n))).max(0.0)
    }

    /// The split with the greatest G among those that leave at least `side` on each side; the first of equals. `None` where
    /// there is no such split. `hits` are places in a sequence of `n`, ascending.
    ///
    /// The statistic is that of K. J. Worsley, "The power of likelihood ratio and cumulative sum tests for a change in a
    /// binomial probability", Biometrika 70 (1983) 455–464. Between two hits G is convex in the place of the split, so that
    /// only the places before and behind each hit, and the first and last allowed, can be the greatest.
    pub fn best_split(&self, hits: impl ExactSizeIterator<Item = usize>, n: usize, side: usize) -> Option<Split> {
        let first = side.max(1);
        let last = n.checked_sub(first)?;
        if first > last {
            return None;
        }
        let all = hits.len();
        let mut best: Option<Split> = None;
        let mut look = |at: usize, before: usize| {
            if (first..=last).contains(&at) {
                let ratio = self.of(before, at, all, n);
                if best.is_none_or(|best| ratio > best.ratio) {
                    best = Some(Split { at, ratio });
                }
            }
        };
        let mut seen = 0;
        let mut at_first = None;
        let mut at_last = 0;
        for place in hits {
            if place >= first && at_first.is_none() {
                at_first = Some(seen);
                look(first, seen);
            }
            look(place, seen);
            seen += 1;
            look(place + 1, seen);
            if place < last {
                at_last = seen;
            }
        }
        if at_first.is_none() {
            look(first, seen);
        }
        look(last, at_last);
        best
    }
}

/// Where a sequence of blocks may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuts {
    Anywhere,
    /// At the ends of blocks only.
    BetweenBlocks,
}

/// The best split of blocks as they stand, between two of them.
pub fn best_between(ratios: &Ratios, blocks: &[Block], side: usize) -> Option<Split> {
    between(ratios, blocks.iter(), sums(blocks), side)
}

/// Calls and hits of all blocks.
fn sums(blocks: &[Block]) -> (usize, usize) {
    blocks.iter().fold((0, 0), |(calls, hits), block| (calls + block.length, hits + block.hits.len()))
}

fn between<'b>(
    ratios: &Ratios,
    blocks: impl Iterator<Item = &'b Block>,
    (n, all): (usize, usize),
    side: usize,
) -> Option<Split> {
    let (first, mut at, mut hits) = (side.max(1), 0, 0);
    let mut best: Option<Split> = None;
    for block in blocks {
        at += block.length;
        hits += block.hits.len();
        if at >= first && n - at >= first {
            let ratio = ratios.of(hits, at, all, n);
            if best.is_none_or(|best| ratio > best.ratio) {
                best = Some(Split { at, ratio });
            }
        }
    }
    best
}

/// Chance, if blocks were exchangeable, of a best split at least as good as the one seen: `p = (1 + #{G* ≥ G})/(B + 1)` over
/// `permutations` random orders of whole blocks (B. Phipson, G. K. Smyth, "Permutation p-values should never be zero",
/// Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39). `None` where there are fewer than two
/// blocks: nothing can be permuted.
///
/// Calls of one session are alike; moved together, they can make no more of a change than they do.
pub fn p_value(
    ratios: &Ratios,
    blocks: &[Block],
    seen: f64,
    side: usize,
    cuts: Cuts,
    permutations: u64,
    seed: u64,
) -> Option<f64> {
    if blocks.len() < 2 {
        return None;
    }
    let (n, hits) = sums(blocks);
    let reached: u64 = (0..permutations.div_ceil(STREAM))
        .into_par_iter()
        .map(|stream| {
            let mut random = Random::new(seed, stream);
            let mut order: Vec<u32> = (0..blocks.len() as u32).collect();
            let mut places: Vec<usize> = Vec::with_capacity(hits);
            let rounds = STREAM.min(permutations - stream * STREAM);
            (0..rounds)
                .filter(|_| {
                    shuffle(&mut order, &mut random);
                    let shuffled = order.iter().map(|block| &blocks[*block as usize]);
                    let best = match cuts {
                        Cuts::BetweenBlocks => between(ratios, shuffled, (n, hits), side),
                        Cuts::Anywhere => {
                            places.clear();
                            let mut from = 0;
                            for block in shuffled {
                                places.extend(block.hits.iter().map(|hit| from + *hit as usize));
                                from += block.length;
                            }
                            ratios.best_split(places.iter().copied(), n, side)
                        }
                    };
                    best.is_some_and(|best| best.ratio >= seen - TOLERANCE)
                })
                .count() as u64
        })
        .sum();
    Some((1 + reached) as f64 / (permutations + 1) as f64)
}

/// Fisher–Yates, on from the last order: any order is a fair start.
fn shuffle(order: &mut [u32], random: &mut Random) {
    for last in (1..order.len()).rev() {
        let other = below(random.bits(), last as u32 + 1) as usize;
        order.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(sequences: &[&[bool]]) -> Vec<Block> {
        sequences
            .iter()
            .map(|calls| Block { length: calls.len(), hits: places(calls).map(|place| place as u32).collect() })
            .collect()
    }

    fn places(calls: &[bool]) -> std::vec::IntoIter<usize> {
        let places: Vec<usize> = calls.iter().enumerate().filter(|(_, hit)| **hit).map(|(at, _)| at).collect();
        places.into_iter()
    }

    /// 2 Σ O ln(O/E), cell by cell: another way to the same number.
    fn by_cells(part: f64, size: f64, hits: f64, n: f64) -> f64 {
        let cells = [
            (part, size * hits / n),
            (size - part, size * (n - hits) / n),
            (hits - part, (n - size) * hits / n),
            (n - size - hits + part, (n - size) * (n - hits) / n),
        ];
        2.0 * cells
            .iter()
            .filter(|(seen, _)| *seen > 0.0)
            .map(|(seen, expected)| seen * (seen / expected).ln())
            .sum::<f64>()
    }

    /// A. Agresti, Categorical Data Analysis (2nd ed. 2002), table 2.1: myocardial infarctions under placebo (189 of 11,034)
    /// and aspirin (104 of 11,037), G² = 25.4.
    #[test]
    fn agrestis_aspirin_table() {
        let got = Ratios::up_to(22_071).of(189, 11_034, 293, 22_071);
        assert!((got - 25.372).abs() < 5e-4, "{got}");
    }

    #[test]
    fn a_step_is_cut_where_it_is() {
        let calls: Vec<bool> = (0..60).map(|at| at >= 35).collect();
        let split = Ratios::up_to(60).best_split(places(&calls), 60, 20).unwrap();
        assert_eq!(split.at, 35);
        // One rate for both: 25 ln(25/60) + 35 ln(35/60); two: 0.
        let wanted = -2.0 * (25.0 * (25.0f64 / 60.0).ln() + 35.0 * (35.0f64 / 60.0).ln());
        assert!((split.ratio - wanted).abs() < 1e-9);
    }

    #[test]
    fn sides_are_kept() {
        let calls: Vec<bool> = (0..50).map(|at| at >= 45).collect();
        assert_eq!(Ratios::up_to(50).best_split(places(&calls), 50, 20).map(|split| split.at), Some(30));
        assert_eq!(Ratios::up_to(39).best_split(places(&calls[..39]), 39, 20), None);
        assert_eq!(Ratios::up_to(0).best_split(places(&[]), 0, 0), None);
        assert_eq!(Ratios::up_to(1).best_split(places(&[true]), 1, 0), None);
    }

    proptest! {
        #[test]
        fn the_best_split_is_the_best_of_all(calls in prop::collection::vec(any::<bool>(), 1..60), side in 0_usize..20) {
            let n = calls.len();
            let all = calls.iter().filter(|hit| **hit).count();
            let got = Ratios::up_to(n).best_split(places(&calls), n, side);
            let wanted = (side.max(1)..n.saturating_sub(side.max(1)) + 1)
                .map(|at| {
                    let part = calls[..at].iter().filter(|hit| **hit).count();
                    by_cells(part as f64, at as f64, all as f64, n as f64)
                })
                .max_by(f64::total_cmp);
            match (got, wanted) {
                (Some(got), Some(wanted)) => prop_assert!((got.ratio - wanted).abs() < 1e-9, "{got:?} {wanted}"),
                (got, wanted) => prop_assert_eq!(got.is_some(), wanted.is_some()),
            }
        }
    }

    /// Four sessions of two calls, the last two of them all hits: of the 24 orders four keep hits and misses apart (2!·2!)
    /// and four have them the other way round; the share is 8/24.
    #[test]
    fn the_share_of_orders_is_met() {
        let blocks = blocks(&[&[false; 2], &[false; 2], &[true; 2], &[true; 2]]);
        let ratios = Ratios::up_to(8);
        let seen = ratios.best_split([4usize, 5, 6, 7].into_iter(), 8, 2).unwrap();
        assert_eq!(seen.at, 4);
        let p = p_value(&ratios, &blocks, seen.ratio, 2, Cuts::Anywhere, 9_999, 1).unwrap();
        let error = (1.0 / 3.0 * 2.0 / 3.0 / 9_999.0f64).sqrt();
        assert!((p - 1.0 / 3.0).abs() < 4.5 * error, "{p}");
    }

    /// One bad day of thirty, the last: of all orders two in thirty have it first or last, where the split is as good.
    #[test]
    fn a_last_bad_day_is_as_good_as_a_first() {
        let days: Vec<Vec<bool>> = (0..30).map(|day| vec![day == 29; 25]).collect();
        let slices: Vec<&[bool]> = days.iter().map(Vec::as_slice).collect();
        let (blocks, ratios) = (blocks(&slices), Ratios::up_to(750));
        let seen = best_between(&ratios, &blocks, 20).unwrap();
        assert_eq!(seen.at, 725);
        let p = p_value(&ratios, &blocks, seen.ratio, 20, Cuts::BetweenBlocks, 9_999, 3).unwrap();
        let error = (1.0 / 15.0 * 14.0 / 15.0 / 9_999.0f64).sqrt();
        assert!((p - 1.0 / 15.0).abs() < 4.5 * error, "{p}");
        assert_eq!(best_between(&ratios, &blocks[..1], 20), None);
    }

    /// Where nothing changes, a test at level 0.05 fires about once in twenty, and sessions that are alike inside do not
    /// make it fire more often.
    #[test]
    fn false_alarms_stay_at_their_level() {
        let (rounds, mut fired) = (200u32, 0);
        for round in 0..rounds {
            let mut random = Random::new(u64::from(round), 77);
            let sessions: Vec<Vec<bool>> =
                (0..24).map(|_| vec![below(random.bits(), 4) == 0; 3 + below(random.bits(), 4) as usize]).collect();
            let all: Vec<bool> = sessions.iter().flatten().copied().collect();
            let slices: Vec<&[bool]> = sessions.iter().map(Vec::as_slice).collect();
            let ratios = Ratios::up_to(all.len());
            let Some(seen) = ratios.best_split(places(&all), all.len(), 20) else { continue };
            let p = p_value(&ratios, &blocks(&slices), seen.ratio, 20, Cuts::Anywhere, 99, 5).unwrap();
            fired += u32::from(p <= 0.05);
        }
        // Binomial with 200 trials at 0.05: more than 21 has a chance below 0.001.
        assert!(fired <= 21, "{fired} of {rounds}");
    }

    #[test]
    fn equal_seeds_give_equal_values_and_one_block_gives_none() {
        let sessions: Vec<Vec<bool>> = (0..30).map(|at| vec![at % 7 == 0; 4]).collect();
        let slices: Vec<&[bool]> = sessions.iter().map(Vec::as_slice).collect();
        let ratios = Ratios::up_to(120);
        let p = |seed| p_value(&ratios, &blocks(&slices), 3.0, 20, Cuts::Anywhere, 999, seed);
        assert_eq!(p(1), p(1));
        assert_eq!(p_value(&ratios, &blocks(&slices[..1]), 3.0, 20, Cuts::Anywhere, 999, 1), None);
    }
}
