//! Random draws for the permutation test: fast, and the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// xoshiro256++ (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47 (2021)), its
/// state drawn from a ChaCha8 stream: ChaCha alone would take longer than everything else here.
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// Streams of one seed do not overlap.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(stream);
        Self { state: std::array::from_fn(|_| source.next_u64()) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
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
pub fn below(bits: u64, n: u32) -> u32 {
    (((bits & 0xffff_ffff) * u64::from(n)) >> 32) as u32
}

/// Draws from a finite distribution with one random number and one look-up: M. D. Vose, "A linear algorithm for
/// generating random numbers with a given distribution", IEEE Transactions on Software Engineering 17 (1991) 972–975.
pub struct Alias {
    /// (Chance of keeping the slot, in 2^32ths; the outcome otherwise.)
    slots: Vec<(u32, u32)>,
}

impl Alias {
    /// Number of successes among n; `ln` holds the logarithms of 0! to n!.
    pub fn binomial(n: u64, chance: f64, ln: &[f64]) -> Self {
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

    pub fn draw(&self, random: &mut Random) -> u32 {
        let bits = random.bits();
        let slot = below(bits, self.slots.len() as u32);
        let (keep, other) = self.slots[slot as usize];
        // Arithmetic instead of a branch, which would be guessed wrong half the time.
        let take_other = u32::from((bits >> 32) as u32 >= keep).wrapping_neg();
        slot ^ ((slot ^ other) & take_other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fisher::ln_factorials;
    use super::*;

    #[test]
    fn binomial_draws_have_the_right_shares() {
        let (n, chance, rounds) = (6u64, 0.3f64, 60_000u32);
        let table = Alias::binomial(n, chance, &ln_factorials(n));
        let mut random = Random::new(1, 0);
        let mut counts = [0u32; 7];
        for _ in 0..rounds {
            counts[table.draw(&mut random) as usize] += 1;
        }
        let ways = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];
        for (k, (count, ways)) in counts.iter().zip(ways).enumerate() {
            let want = ways * chance.powi(k as i32) * (1.0 - chance).powi((n as usize - k) as i32);
            let got = f64::from(*count) / f64::from(rounds);
            let error = (want * (1.0 - want) / f64::from(rounds)).sqrt();
            assert!((got - want).abs() < 4.5 * error, "{k}: {got} for {want}");
        }
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
        assert_eq!((below(0, 10), below(u64::from(u32::MAX), 10)), (0, 9));
    }
}
