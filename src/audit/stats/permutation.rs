//! Whether failures gather in sessions: a permutation test within strata.

use super::fisher::ln_factorials;
use super::random::{Alias, Random, below};
use rayon::prelude::*;

/// Permutations drawn where there are more arrangements than that.
pub const PERMUTATIONS: u64 = 9_999;

/// Room for rounding when T* is compared with T.
const TOLERANCE: f64 = 1e-9;

/// Permutations of one random stream; streams run in parallel, the result does not depend on how many at once.
const STREAM: u64 = 500;

/// A table of binomial chances is not worth building above this many attempts in one unit.
const LARGEST_TABLE: u64 = 20_000;

/// The attempts of one unit that fall into one stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Number of the unit, from 0; a unit may have attempts in several strata.
    pub unit: usize,
    pub failures: u64,
    pub attempts: u64,
}

/// Units that would have nothing but failures, if failures were exchangeable among the attempts of a stratum:
/// Σᵢ Πⱼ (F − j)/(N − j) over j < nᵢ, for a unit in several strata multiplied over them.
pub fn all_bad_expected(strata: &[Vec<Cell>]) -> f64 {
    let mut chances: Vec<Option<f64>> = vec![None; unit_sizes(strata).len()];
    for cells in strata {
        let (failures, attempts) = totals(cells);
        for cell in cells.iter().filter(|cell| cell.attempts > 0) {
            let mut chance = chances[cell.unit].unwrap_or(1.0);
            for taken in 0..cell.attempts {
                if chance == 0.0 {
                    break;
                }
                chance *= failures.saturating_sub(taken) as f64 / (attempts - taken) as f64;
            }
            chances[cell.unit] = Some(chance);
        }
    }
    chances.into_iter().flatten().sum()
}

/// Chance, if failures were exchangeable among the attempts of a stratum, of a T = Σ fᵢ²/nᵢ (over all units) at least
/// as large as the one seen.
///
/// p = (1 + #{T* ≥ T − 1e-9})/(B + 1) with B = 9,999 random arrangements: B. Phipson, G. K. Smyth, "Permutation
/// p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39.
/// With at most B arrangements all are enumerated and p is their exact share. `None` where T cannot vary: no stratum
/// holds two units and both kinds of attempts.
pub fn p_value(strata: &[Vec<Cell>], seed: u64) -> Option<f64> {
    let sizes = unit_sizes(strata);
    let (moving, fixed): (Vec<&Vec<Cell>>, Vec<&Vec<Cell>>) = strata.iter().partition(|cells| varies(cells));
    if moving.is_empty() {
        return None;
    }
    let mut base = vec![0u64; sizes.len()];
    for cell in fixed.into_iter().flatten() {
        base[cell.unit] += cell.failures;
    }
    let plans: Vec<Plan> = moving.iter().map(|cells| Plan::new(cells)).collect();
    for plan in plans.iter().filter(|plan| plan.complement) {
        for cell in &plan.cells {
            base[cell.unit] += cell.attempts;
        }
    }
    let mut observed = vec![0u64; sizes.len()];
    for cell in strata.iter().flatten() {
        observed[cell.unit] += cell.failures;
    }
    let classes = Classes::new(&sizes);
    let target = classes.statistic(&observed) - TOLERANCE;
    let arrangements = plans.iter().try_fold(1u64, |product, plan| {
        let ways = choose_up_to(u64::from(plan.attempts), u64::from(plan.placed), PERMUTATIONS)?;
        product.checked_mul(ways).filter(|all| *all <= PERMUTATIONS)
    });
    Some(match arrangements {
        Some(all) => enumerate(&plans, &base, &classes, target) / all as f64,
        None => draw(&plans, &base, &classes, target, seed),
    })
}

/// Attempts of each unit over all strata.
fn unit_sizes(strata: &[Vec<Cell>]) -> Vec<u64> {
    let mut sizes = Vec::new();
    for cell in strata.iter().flatten() {
        if sizes.len() <= cell.unit {
            sizes.resize(cell.unit + 1, 0);
        }
        sizes[cell.unit] += cell.attempts;
    }
    sizes
}

fn totals(cells: &[Cell]) -> (u64, u64) {
    cells.iter().fold((0, 0), |(failures, attempts), cell| (failures + cell.failures, attempts + cell.attempts))
}

fn varies(cells: &[Cell]) -> bool {
    let (failures, attempts) = totals(cells);
    cells.iter().filter(|cell| cell.attempts > 0).count() > 1 && failures > 0 && failures < attempts
}

/// The binomial coefficient, `None` above the limit.
fn choose_up_to(n: u64, k: u64, limit: u64) -> Option<u64> {
    let k = k.min(n - k);
    let mut value = 1u128;
    for step in 0..u128::from(k) {
        value = value * (u128::from(n) - step) / (step + 1);
        if value > u128::from(limit) {
            return None;
        }
    }
    u64::try_from(value).ok()
}

/// Units of one size form a class, so that Σf² is summed in integers and equal arrangements give equal T to the last
/// bit.
struct Classes {
    of: Vec<u32>,
    sizes: Vec<u64>,
}

impl Classes {
    fn new(units: &[u64]) -> Self {
        let mut sizes: Vec<u64> = units.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        let of = units.iter().map(|unit| sizes.partition_point(|size| size < unit) as u32).collect();
        Self { of, sizes }
    }

    /// T of the failures of each unit.
    fn statistic(&self, failures: &[u64]) -> f64 {
        let mut squares = vec![0u64; self.sizes.len()];
        for (class, &failures) in self.of.iter().zip(failures) {
            squares[*class as usize] += failures * failures;
        }
        let parts = squares.iter().zip(&self.sizes).filter(|(_, size)| **size > 0);
        parts.map(|(squares, size)| *squares as f64 / *size as f64).sum()
    }
}

/// Attempts of the placed kind that units got, and in how many ways.
#[derive(Clone)]
struct Placement {
    /// (Unit, change of its failures).
    changes: Vec<(usize, i64)>,
    ways: f64,
}

/// In how many arrangements T reaches the target. There are few arrangements only where few attempts are placed.
fn enumerate(plans: &[Plan], base: &[u64], classes: &Classes, target: f64) -> f64 {
    let mut all = vec![Placement { changes: Vec::new(), ways: 1.0 }];
    for plan in plans {
        let mut own = Vec::new();
        let start = Placement { changes: Vec::new(), ways: 1.0 };
        plan.place(0, u64::from(plan.placed), &start, &mut own);
        let sign = if plan.complement { -1 } else { 1 };
        all = all
            .iter()
            .flat_map(|before| {
                own.iter().map(move |more| {
                    let mut changes = before.changes.clone();
                    changes.extend(more.changes.iter().map(|(unit, count)| (*unit, sign * count)));
                    Placement { changes, ways: before.ways * more.ways }
                })
            })
            .collect();
    }
    let mut failures = base.to_vec();
    let mut reached = 0.0;
    for placement in all {
        for (unit, change) in &placement.changes {
            failures[*unit] = failures[*unit].saturating_add_signed(*change);
        }
        if classes.statistic(&failures) >= target {
            reached += placement.ways;
        }
        for (unit, _) in &placement.changes {
            failures[*unit] = base[*unit];
        }
    }
    reached
}

fn draw(plans: &[Plan], base: &[u64], classes: &Classes, target: f64, seed: u64) -> f64 {
    let reached: u64 = (0..PERMUTATIONS.div_ceil(STREAM))
        .into_par_iter()
        .map(|stream| {
            let mut random = Random::new(seed, stream);
            let mut shuffles: Vec<Shuffle> = plans.iter().map(Shuffle::new).collect();
            let mut failures = base.to_vec();
            let rounds = STREAM.min(PERMUTATIONS - stream * STREAM);
            (0..rounds)
                .filter(|_| {
                    failures.copy_from_slice(base);
                    for (plan, shuffle) in plans.iter().zip(&mut shuffles) {
                        plan.draw(shuffle, &mut failures, &mut random);
                    }
                    classes.statistic(&failures) >= target
                })
                .count() as u64
        })
        .sum();
    (1 + reached) as f64 / (PERMUTATIONS + 1) as f64
}

/// How one stratum is permuted.
struct Plan {
    cells: Vec<Cell>,
    /// Cell that holds each attempt.
    owners: Vec<u32>,
    /// First attempt of each cell.
    starts: Vec<u32>,
    attempts: u32,
    /// The rarer kind of attempt is the one that is placed.
    placed: u32,
    /// The placed kind is success: failures are all attempts less the placed.
    complement: bool,
    /// Table of each cell and the tables, where drawing per cell is cheaper than drawing per attempt.
    tables: Option<(Vec<u32>, Vec<Alias>)>,
}

/// What one stratum keeps from one permutation to the next.
struct Shuffle {
    owners: Vec<u32>,
    counts: Vec<u32>,
}

impl Shuffle {
    fn new(plan: &Plan) -> Self {
        match plan.tables {
            Some(_) => Self { owners: Vec::new(), counts: vec![0; plan.cells.len()] },
            // Units instead of cells: one look-up less.
            None => Self {
                owners: plan.owners.iter().map(|cell| plan.cells[*cell as usize].unit as u32).collect(),
                counts: Vec::new(),
            },
        }
    }
}

impl Plan {
    fn new(cells: &[Cell]) -> Self {
        let cells: Vec<Cell> = cells.iter().copied().filter(|cell| cell.attempts > 0).collect();
        let (failures, attempts) = totals(&cells);
        let mut owners = Vec::with_capacity(attempts as usize);
        let mut starts = Vec::with_capacity(cells.len());
        for (index, cell) in cells.iter().enumerate() {
            starts.push(owners.len() as u32);
            owners.extend(std::iter::repeat_n(index as u32, cell.attempts as usize));
        }
        let complement = 2 * failures > attempts;
        let placed = if complement { attempts - failures } else { failures };
        let chance = placed as f64 / attempts as f64;
        let largest = cells.iter().map(|cell| cell.attempts).max().unwrap_or(0);
        let worth_it = largest <= LARGEST_TABLE && cheaper_by_cell(cells.len(), attempts, chance);
        let tables = worth_it.then(|| tables(&cells, chance, largest));
        Self { cells, owners, starts, attempts: attempts as u32, placed: placed as u32, complement, tables }
    }

    /// Every way to give `left` placed attempts to the cells from `from` on.
    fn place(&self, from: usize, left: u64, so_far: &Placement, found: &mut Vec<Placement>) {
        if left == 0 {
            found.push(so_far.clone());
            return;
        }
        for (index, cell) in self.cells.iter().enumerate().skip(from) {
            for own in 1..=left.min(cell.attempts) {
                let Some(times) = choose_up_to(cell.attempts, own, PERMUTATIONS) else { continue };
                let mut next = so_far.clone();
                next.changes.push((cell.unit, own as i64));
                next.ways *= times as f64;
                self.place(index + 1, left - own, &next, found);
            }
        }
    }

    /// Adds one random arrangement of this stratum to the failures of the units.
    fn draw(&self, shuffle: &mut Shuffle, failures: &mut [u64], random: &mut Random) {
        match &self.tables {
            Some((table_of, tables)) => {
                self.draw_cells(table_of, tables, &mut shuffle.counts, random);
                for (cell, &count) in self.cells.iter().zip(&shuffle.counts) {
                    let count = u64::from(count);
                    let failures = &mut failures[cell.unit];
                    *failures = if self.complement { *failures - count } else { *failures + count };
                }
            }
            None if self.complement => self.draw_attempts(&mut shuffle.owners, random, |unit| failures[unit] -= 1),
            None => self.draw_attempts(&mut shuffle.owners, random, |unit| failures[unit] += 1),
        }
    }

    /// The first steps of a Fisher–Yates shuffle: a uniform choice of `placed` attempts. Any order of `owners` is a
    /// fair start, so that it is shuffled on from where the last permutation left it.
    fn draw_attempts(&self, owners: &mut [u32], random: &mut Random, mut place: impl FnMut(usize)) {
        let attempts = owners.len() as u32;
        let mut step = 0;
        let mut take = |step: u32, bits: u64| {
            let other = (step + below(bits, attempts - step)) as usize;
            owners.swap(step as usize, other);
            place(owners[step as usize] as usize);
        };
        while step + 1 < self.placed {
            let bits = random.bits();
            take(step, bits);
            take(step + 1, bits >> 32);
            step += 2;
        }
        if step < self.placed {
            take(step, random.bits());
        }
    }

    /// Every attempt is chosen with the same chance, independently (a binomial count per cell); then attempts are
    /// chosen or dropped at random until `placed` are. Given how many are chosen, each set is equally likely before
    /// and after, so that this is a uniform choice of `placed` attempts too.
    fn draw_cells(&self, table_of: &[u32], tables: &[Alias], counts: &mut [u32], random: &mut Random) {
        let mut chosen = 0u32;
        for (count, table) in counts.iter_mut().zip(table_of) {
            *count = tables[*table as usize].draw(random);
            chosen += *count;
        }
        while chosen != self.placed {
            let attempt = below(random.bits(), self.attempts);
            let cell = self.owners[attempt as usize] as usize;
            let is_chosen = attempt - self.starts[cell] < counts[cell];
            if is_chosen && chosen > self.placed {
                counts[cell] -= 1;
                chosen -= 1;
            } else if !is_chosen && chosen < self.placed {
                counts[cell] += 1;
                chosen += 1;
            }
        }
    }
}

/// One table per cell size, and which one each cell uses.
fn tables(cells: &[Cell], chance: f64, largest: u64) -> (Vec<u32>, Vec<Alias>) {
    let sizes: Vec<u64> = cells.iter().map(|cell| cell.attempts).collect();
    let classes = Classes::new(&sizes);
    let ln = ln_factorials(largest);
    let tables = classes.sizes.iter().map(|size| Alias::binomial(*size, chance, &ln)).collect();
    (classes.of, tables)
}

/// One draw per cell and the corrections afterwards, against one per placed attempt.
fn cheaper_by_cell(cells: usize, attempts: u64, chance: f64) -> bool {
    let attempts = attempts as f64;
    let corrections = 0.8 * (attempts * chance * (1.0 - chance)).sqrt() * (1.0 / chance);
    2.0 * cells as f64 + 3.0 * corrections < attempts * chance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(counts: &[(u64, u64)]) -> Vec<Cell> {
        counts.iter().enumerate().map(|(unit, &(failures, attempts))| Cell { unit, failures, attempts }).collect()
    }

    fn after(first: usize, counts: &[(u64, u64)]) -> Vec<Cell> {
        cells(counts).into_iter().map(|cell| Cell { unit: cell.unit + first, ..cell }).collect()
    }

    /// Reference: all arrangements counted one by one (Python, itertools.combinations).
    #[test]
    fn enumerates_small_cases_exactly() {
        assert_eq!(p_value(&[cells(&[(0, 5), (5, 5), (1, 2)])], 1), Some(4.0 / 924.0));
        assert_eq!(p_value(&[cells(&[(1, 4), (2, 3), (0, 4), (3, 5)])], 1), Some(1880.0 / 8008.0));
    }

    #[test]
    fn strata_without_variation_change_nothing() {
        let varying = cells(&[(0, 5), (5, 5), (1, 2)]);
        let before = after(3, &[(0, 3), (0, 3)]);
        let alone = after(5, &[(2, 4)]);
        assert_eq!(p_value(&[before.clone(), varying, alone.clone()], 1), Some(4.0 / 924.0));
        assert_eq!(p_value(&[before, alone], 1), None);
        assert_eq!(p_value(&[], 1), None);
    }

    /// Two strata of 2 + 2 attempts, one failing unit each: T reaches its maximum in 2·2 of 6·6 arrangements.
    #[test]
    fn strata_multiply() {
        assert_eq!(p_value(&[cells(&[(2, 2), (0, 2)]), after(2, &[(2, 2), (0, 2)])], 1), Some(4.0 / 36.0));
    }

    /// One unit fails on both days, the other on none: of 6·6 arrangements T is as large in the two where one unit has
    /// all four failures. The reverse days (failures here, then there) are the commonest kind.
    #[test]
    fn a_unit_may_live_in_several_strata() {
        assert_eq!(p_value(&[cells(&[(2, 2), (0, 2)]), cells(&[(2, 2), (0, 2)])], 1), Some(2.0 / 36.0));
        assert_eq!(p_value(&[cells(&[(2, 2), (0, 2)]), cells(&[(0, 2), (2, 2)])], 1), Some(1.0));
    }

    /// Reference: numpy's multivariate_hypergeometric, four million draws: 0.000642 (standard error 0.000013).
    #[test]
    fn draws_where_there_are_many_arrangements() {
        let case = [cells(&[(3, 10), (0, 8), (6, 9), (2, 12), (1, 15), (7, 11)])];
        let p = p_value(&case, 7).unwrap();
        assert!((p - 0.000742).abs() < 0.0009, "{p}");
        assert_eq!(p_value(&case, 7), Some(p), "the same seed gives the same answer");
    }

    /// Both ways to draw, the rarer kind being failure or success, agree with what the hypergeometric mean of T says:
    /// E[fᵢ²] = nᵢθ(1 − θ)(N − nᵢ)/(N − 1) + (nᵢθ)².
    #[test]
    fn both_ways_to_draw_have_the_right_mean() {
        for (failures, units) in [(4u64, 400u64), (14, 400), (4, 3), (14, 3)] {
            let counts: Vec<(u64, u64)> = (0..units).map(|unit| (failures, 18 + unit % 5)).collect();
            let case = cells(&counts);
            let (bad, all) = totals(&case);
            let (theta, total) = (bad as f64 / all as f64, all as f64);
            let want: f64 = counts
                .iter()
                .map(|&(_, attempts)| {
                    let n = attempts as f64;
                    (n * theta * (1.0 - theta) * (total - n) / (total - 1.0) + (n * theta).powi(2)) / n
                })
                .sum();
            let classes = Classes::new(&unit_sizes(std::slice::from_ref(&case)));
            for by_cell in [false, true] {
                let mut plan = Plan::new(&case);
                let chance = f64::from(plan.placed) / f64::from(plan.attempts);
                plan.tables = by_cell.then(|| tables(&plan.cells, chance, 22));
                let base: Vec<u64> = case.iter().map(|cell| if plan.complement { cell.attempts } else { 0 }).collect();
                let mut shuffle = Shuffle::new(&plan);
                let mut random = Random::new(3, 0);
                let rounds = 4000;
                let draws: Vec<f64> = (0..rounds)
                    .map(|_| {
                        let mut drawn = base.clone();
                        plan.draw(&mut shuffle, &mut drawn, &mut random);
                        assert_eq!(drawn.iter().sum::<u64>(), bad);
                        classes.statistic(&drawn)
                    })
                    .collect();
                let mean = draws.iter().sum::<f64>() / f64::from(rounds);
                let variance = draws.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / f64::from(rounds);
                let error = (variance / f64::from(rounds)).sqrt();
                assert!((mean - want).abs() < 4.5 * error, "{failures} {units} {by_cell}: {mean} for {want}");
            }
        }
    }

    #[test]
    fn a_gathered_fault_is_seen_and_a_scattered_one_is_not() {
        let gathered: Vec<(u64, u64)> = (0..1000).map(|unit| (if unit % 5 == 0 { 10 } else { 0 }, 10)).collect();
        assert_eq!(p_value(&[cells(&gathered)], 1), Some(0.0001));
        assert_eq!(p_value(&[cells(&[(2, 10); 1000])], 1), Some(1.0));
    }

    /// Worked by hand: 6 of 12 fail, so that two units of five fail by chance with 6·5·4·3·2/(12·11·10·9·8) each and
    /// one of two with 6·5/(12·11).
    #[test]
    fn expects_few_units_that_always_fail() {
        let strata = [cells(&[(0, 5), (5, 5), (1, 2)]), after(3, &[(0, 3), (0, 3)])];
        let want = 2.0 * 720.0 / 95040.0 + 30.0 / 132.0;
        assert!((all_bad_expected(&strata) - want).abs() < 1e-12);
        let over_two_days = [cells(&[(1, 1), (0, 1)]), cells(&[(1, 1), (1, 2)])];
        assert!((all_bad_expected(&over_two_days) - (0.5 * 2.0 / 3.0 + 0.5 * 1.0 / 3.0)).abs() < 1e-12);
    }
}
