//! Whether failures gather in sessions: a permutation test within strata.

use super::fisher::ln_factorials;
use super::icc::Unit;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// Permutations drawn where there are more arrangements than that.
pub const PERMUTATIONS: u64 = 9_999;

/// Room for rounding when T* is compared with T.
const TOLERANCE: f64 = 1e-9;

/// Permutations of one random stream; streams run in parallel, the result does not depend on how many at once.
const STREAM: u64 = 500;

/// A table of binomial chances is not worth building above this many attempts in one unit.
const LARGEST_TABLE: u64 = 20_000;

/// Chance, if failures were exchangeable among the attempts of a stratum, of a T = Σ fᵢ²/nᵢ (over all units of all
/// strata) at least as large as the one seen.
///
/// p = (1 + #{T* ≥ T − 1e-9})/(B + 1) with B = 9,999 random arrangements: B. Phipson, G. K. Smyth, "Permutation
/// p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39.
/// With at most B arrangements all are enumerated and p is their exact share. `None` where T cannot vary: no stratum
/// holds two units and both kinds of attempts.
pub fn p_value(strata: &[Vec<Unit>], seed: u64) -> Option<f64> {
    let strata: Vec<Vec<Unit>> = strata.iter().map(|units| attempted(units)).filter(|units| varies(units)).collect();
    if strata.is_empty() {
        return None;
    }
    let arrangements = strata.iter().try_fold(1u64, |product, units| {
        let (failures, attempts) = totals(units);
        product.checked_mul(choose_up_to(attempts, failures, PERMUTATIONS)?).filter(|all| *all <= PERMUTATIONS)
    });
    match arrangements {
        Some(all) => Some(enumerate(&strata) / all as f64),
        None => Some(draw(&strata, seed)),
    }
}

fn attempted(units: &[Unit]) -> Vec<Unit> {
    units.iter().copied().filter(|unit| unit.attempts > 0).collect()
}

fn totals(units: &[Unit]) -> (u64, u64) {
    units.iter().fold((0, 0), |(failures, attempts), unit| (failures + unit.failures, attempts + unit.attempts))
}

fn varies(units: &[Unit]) -> bool {
    let (failures, attempts) = totals(units);
    units.len() > 1 && failures > 0 && failures < attempts
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

fn statistic(units: &[Unit]) -> f64 {
    units.iter().map(|unit| (unit.failures * unit.failures) as f64 / unit.attempts as f64).sum()
}

/// How many arrangements reach T.
fn enumerate(strata: &[Vec<Unit>]) -> f64 {
    let observed: f64 = strata.iter().map(|units| statistic(units)).sum();
    let mut partial = vec![(0.0f64, 1.0f64)];
    for units in strata {
        let own = outcomes(units);
        partial = partial
            .iter()
            .flat_map(|&(sum, ways)| own.iter().map(move |&(more, times)| (sum + more, ways * times)))
            .collect();
    }
    partial.iter().filter(|(sum, _)| *sum >= observed - TOLERANCE).map(|(_, ways)| ways).sum()
}

/// T of a stratum and in how many ways it comes about, for every way to split its failures over its units.
fn outcomes(units: &[Unit]) -> Vec<(f64, f64)> {
    let (failures, attempts) = totals(units);
    let mut open = vec![(failures, 0.0, 1.0)];
    let mut room = attempts;
    for unit in units {
        room -= unit.attempts;
        let mut next = Vec::with_capacity(open.len() * 2);
        for (left, sum, ways) in open {
            for own in left.saturating_sub(room)..=left.min(unit.attempts) {
                let times = choose_up_to(unit.attempts, own, PERMUTATIONS).unwrap_or(PERMUTATIONS);
                next.push((left - own, sum + (own * own) as f64 / unit.attempts as f64, ways * times as f64));
            }
        }
        open = next;
    }
    open.into_iter().map(|(_, sum, ways)| (sum, ways)).collect()
}

fn draw(strata: &[Vec<Unit>], seed: u64) -> f64 {
    let plans: Vec<Plan> = strata.iter().map(|units| Plan::new(units)).collect();
    let observed: f64 = strata.iter().map(|units| statistic(units)).sum();
    let reached: u64 = (0..PERMUTATIONS.div_ceil(STREAM))
        .into_par_iter()
        .map(|stream| {
            let mut random = Random::new(seed, stream);
            let mut states: Vec<State> = plans.iter().map(State::new).collect();
            let rounds = STREAM.min(PERMUTATIONS - stream * STREAM);
            (0..rounds)
                .filter(|_| {
                    let sum: f64 =
                        plans.iter().zip(&mut states).map(|(plan, state)| plan.draw(state, &mut random)).sum();
                    sum >= observed - TOLERANCE
                })
                .count() as u64
        })
        .sum();
    (1 + reached) as f64 / (PERMUTATIONS + 1) as f64
}

/// How one stratum is permuted. Units of one size form a class, so that Σf² is summed in integers and equal
/// arrangements give equal T to the last bit.
struct Plan {
    /// Class of each unit.
    class_of: Vec<u32>,
    /// Unit size of each class.
    sizes: Vec<u64>,
    /// Unit that holds each attempt.
    owners: Vec<u32>,
    /// First attempt of each unit.
    starts: Vec<u32>,
    attempts: u32,
    /// The rarer kind of attempt is the one that is placed.
    placed: u32,
    /// The placed kind is success, and fᵢ = nᵢ − placed.
    complement: bool,
    /// Chances of each class, where drawing per unit is cheaper than drawing per attempt.
    tables: Option<Vec<Alias>>,
}

struct State {
    owners: Vec<u32>,
    counts: Vec<u32>,
    squares: Vec<u64>,
}

impl State {
    fn new(plan: &Plan) -> Self {
        let owners = if plan.tables.is_none() { plan.owners.clone() } else { Vec::new() };
        Self { owners, counts: vec![0; plan.class_of.len()], squares: vec![0; plan.sizes.len()] }
    }
}

impl Plan {
    fn new(units: &[Unit]) -> Self {
        let (failures, attempts) = totals(units);
        let mut sizes: Vec<u64> = units.iter().map(|unit| unit.attempts).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let class_of: Vec<u32> =
            units.iter().map(|unit| sizes.partition_point(|size| *size < unit.attempts) as u32).collect();
        let mut owners = Vec::with_capacity(attempts as usize);
        let mut starts = Vec::with_capacity(units.len());
        for (index, unit) in units.iter().enumerate() {
            starts.push(owners.len() as u32);
            owners.extend(std::iter::repeat_n(index as u32, unit.attempts as usize));
        }
        let complement = 2 * failures > attempts;
        let placed = if complement { attempts - failures } else { failures };
        let chance = placed as f64 / attempts as f64;
        let largest = sizes.last().copied().unwrap_or(0);
        let tables = (largest <= LARGEST_TABLE && cheaper_by_unit(units.len(), attempts, chance)).then(|| {
            let ln = ln_factorials(largest);
            sizes.iter().map(|size| Alias::binomial(*size, chance, &ln)).collect()
        });
        Self { class_of, sizes, owners, starts, attempts: attempts as u32, placed: placed as u32, complement, tables }
    }

    /// T of one random arrangement of this stratum.
    fn draw(&self, state: &mut State, random: &mut Random) -> f64 {
        state.squares.fill(0);
        match &self.tables {
            Some(tables) => self.draw_units(tables, state, random),
            None => self.draw_attempts(state, random),
        }
        state.squares.iter().zip(&self.sizes).map(|(squares, size)| *squares as f64 / *size as f64).sum()
    }

    /// The first steps of a Fisher–Yates shuffle: a uniform choice of `placed` attempts. Any order of `owners` is a
    /// fair start, so that it is shuffled on from where the last permutation left it.
    fn draw_attempts(&self, state: &mut State, random: &mut Random) {
        state.counts.fill(0);
        let State { owners, counts, squares } = state;
        let mut step = 0;
        while step < self.placed {
            let bits = random.next();
            for bits in [bits, bits >> 32].iter().take((self.placed - step) as usize) {
                let other = step + below(*bits, self.attempts - step);
                owners.swap(step as usize, other as usize);
                counts[owners[step as usize] as usize] += 1;
                step += 1;
            }
        }
        for (unit, &count) in counts.iter().enumerate() {
            squares[self.class_of[unit] as usize] += self.square(unit, count);
        }
    }

    /// Every attempt is chosen with the same chance, independently (a binomial count per unit); then attempts are
    /// chosen or dropped at random until `placed` are. Given how many are chosen, each set is equally likely before
    /// and after, so that this is a uniform choice of `placed` attempts too.
    fn draw_units(&self, tables: &[Alias], state: &mut State, random: &mut Random) {
        let State { counts, squares, .. } = state;
        let mut chosen = 0u32;
        for (count, class) in counts.iter_mut().zip(&self.class_of) {
            *count = tables[*class as usize].draw(random);
            chosen += *count;
        }
        while chosen != self.placed {
            let attempt = below(random.next(), self.attempts);
            let unit = self.owners[attempt as usize] as usize;
            let is_chosen = attempt - self.starts[unit] < counts[unit];
            if is_chosen && chosen > self.placed {
                counts[unit] -= 1;
                chosen -= 1;
            } else if !is_chosen && chosen < self.placed {
                counts[unit] += 1;
                chosen += 1;
            }
        }
        for (unit, &count) in counts.iter().enumerate() {
            squares[self.class_of[unit] as usize] += self.square(unit, count);
        }
    }

    fn square(&self, unit: usize, placed: u32) -> u64 {
        let placed = u64::from(placed);
        let failures = if self.complement { self.sizes[self.class_of[unit] as usize] - placed } else { placed };
        failures * failures
    }
}

/// xoshiro256++ (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47 (2021)), its
/// state drawn from a ChaCha8 stream: ChaCha alone would take longer than everything else here.
struct Random {
    state: [u64; 4],
}

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(stream);
        Self { state: std::array::from_fn(|_| source.next_u64()) }
    }

    fn next(&mut self) -> u64 {
        let state = &mut self.state;
        let value = state[0].wrapping_add(state[3]).rotate_left(23).wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        value
    }
}

/// 32 random bits to a number in 0..n by multiply and shift (D. Lemire, "Fast random integer generation in an
/// interval", ACM TOMACS 29 (2019)), without the rejection step: the bias is below n/2^32 and no permutation count
/// could show it.
fn below(bits: u64, n: u32) -> u32 {
    (((bits & 0xffff_ffff) * u64::from(n)) >> 32) as u32
}

/// One draw per unit and the corrections afterwards, against one per placed attempt.
fn cheaper_by_unit(units: usize, attempts: u64, chance: f64) -> bool {
    let attempts = attempts as f64;
    let corrections = 0.8 * (attempts * chance * (1.0 - chance)).sqrt() * (1.0 / chance);
    2.0 * units as f64 + 3.0 * corrections < attempts * chance
}

/// Draws from a finite distribution with one random number and one look-up: M. D. Vose, "A linear algorithm for
/// generating random numbers with a given distribution", IEEE Transactions on Software Engineering 17 (1991) 972–975.
struct Alias {
    /// (Chance of keeping the slot, in 2^32ths; the outcome otherwise.)
    slots: Vec<(u32, u32)>,
}

impl Alias {
    fn binomial(n: u64, chance: f64, ln: &[f64]) -> Self {
        let last = n as usize;
        let (yes, no) = (chance.ln(), (1.0 - chance).ln());
        let weights: Vec<f64> = (0..=last)
            .map(|k| (ln[last] - ln[k] - ln[last - k] + k as f64 * yes + (last - k) as f64 * no).exp())
            .collect();
        Self::new(&weights)
    }

    fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let scale = weights.len() as f64 / total;
        let mut scaled: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let mut slots: Vec<(u32, u32)> = (0..weights.len()).map(|outcome| (u32::MAX, outcome as u32)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|k| scaled[*k] < 1.0);
        while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
            slots[low] = ((scaled[low] * 4_294_967_296.0) as u32, high as u32);
            scaled[high] -= 1.0 - scaled[low];
            if scaled[high] < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        Self { slots }
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let bits = random.next();
        let slot = below(bits, self.slots.len() as u32);
        let (keep, other) = self.slots[slot as usize];
        // Arithmetic instead of a branch, which would be guessed wrong half the time.
        let take_other = u32::from((bits >> 32) as u32 >= keep).wrapping_neg();
        slot ^ ((slot ^ other) & take_other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(counts: &[(u64, u64)]) -> Vec<Unit> {
        counts.iter().map(|&(failures, attempts)| Unit { failures, attempts }).collect()
    }

    /// Reference: all arrangements counted one by one (Python, itertools.combinations): 4 of 924, 1880 of 8008 … .
    #[test]
    fn enumerates_small_cases_exactly() {
        assert_eq!(p_value(&[units(&[(0, 5), (5, 5), (1, 2)])], 1), Some(4.0 / 924.0));
        assert_eq!(p_value(&[units(&[(1, 4), (2, 3), (0, 4), (3, 5)])], 1), Some(1880.0 / 8008.0));
    }

    #[test]
    fn strata_without_variation_change_nothing() {
        let after = units(&[(0, 5), (5, 5), (1, 2)]);
        let before = units(&[(0, 3), (0, 3)]);
        let alone = units(&[(2, 4)]);
        assert_eq!(p_value(&[before.clone(), after, alone.clone()], 1), Some(4.0 / 924.0));
        assert_eq!(p_value(&[before, alone], 1), None);
        assert_eq!(p_value(&[], 1), None);
    }

    /// Two strata of 2 + 2 attempts, one failing unit each: T reaches its maximum in 2·2 of 6·6 arrangements.
    #[test]
    fn strata_multiply() {
        let stratum = units(&[(2, 2), (0, 2)]);
        assert_eq!(p_value(&[stratum.clone(), stratum], 1), Some(4.0 / 36.0));
    }

    /// Reference: numpy's multivariate_hypergeometric, four million draws: 0.000642 (standard error 0.000013).
    #[test]
    fn draws_where_there_are_many_arrangements() {
        let case = [units(&[(3, 10), (0, 8), (6, 9), (2, 12), (1, 15), (7, 11)])];
        let p = p_value(&case, 7).unwrap();
        assert!((p - 0.000742).abs() < 0.0009, "{p}");
        assert_eq!(p_value(&case, 7), Some(p), "the same seed gives the same answer");
    }

    /// Both ways to draw, the rarer kind being failure or success, agree with what the hypergeometric mean of T says:
    /// E[fᵢ²] = nᵢθ(1 − θ)(N − nᵢ)/(N − 1) + (nᵢθ)².
    #[test]
    fn both_ways_to_draw_have_the_right_mean() {
        for (failures, unit_count) in [(4u64, 400usize), (14, 400), (4, 3), (14, 3)] {
            let case: Vec<Unit> =
                (0..unit_count).map(|index| Unit { failures, attempts: 18 + (index % 5) as u64 }).collect();
            let (bad, all) = totals(&case);
            let (theta, total) = (bad as f64 / all as f64, all as f64);
            let want: f64 = case
                .iter()
                .map(|unit| {
                    let n = unit.attempts as f64;
                    (n * theta * (1.0 - theta) * (total - n) / (total - 1.0) + (n * theta).powi(2)) / n
                })
                .sum();
            for by_unit in [false, true] {
                let mut plan = Plan::new(&case);
                let ln = ln_factorials(30);
                let chance = f64::from(plan.placed) / f64::from(plan.attempts);
                plan.tables =
                    by_unit.then(|| plan.sizes.iter().map(|size| Alias::binomial(*size, chance, &ln)).collect());
                let mut state = State::new(&plan);
                let mut random = Random::new(3, 0);
                let rounds = 4000;
                let draws: Vec<f64> = (0..rounds).map(|_| plan.draw(&mut state, &mut random)).collect();
                let mean = draws.iter().sum::<f64>() / f64::from(rounds);
                let variance = draws.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / f64::from(rounds);
                let error = (variance / f64::from(rounds)).sqrt();
                assert!((mean - want).abs() < 4.5 * error, "{failures} {unit_count} {by_unit}: {mean} for {want}");
                assert_eq!(state.counts.iter().sum::<u32>(), plan.placed);
            }
        }
    }

    #[test]
    fn a_gathered_fault_is_seen_and_a_scattered_one_is_not() {
        let gathered: Vec<Unit> =
            (0..1000).map(|index| Unit { failures: if index % 5 == 0 { 10 } else { 0 }, attempts: 10 }).collect();
        assert_eq!(p_value(&[gathered], 1), Some(0.0001));
        let scattered = vec![Unit { failures: 2, attempts: 10 }; 1000];
        assert_eq!(p_value(&[scattered], 1), Some(1.0));
    }
}
