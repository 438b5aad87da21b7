//! Seeded choices over integers only, so that they are the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

pub struct Chance(ChaCha8Rng);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 0 to `end` − 1; 0 where `end` is 0. (The modulus leaves a bias far below what anyone could see here.)
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(u64::try_from(high - low + 1).unwrap_or(1)) as i64
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// Fisher–Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// `parts` numbers of at least `least` whose sum is `total`.
    pub fn split(&mut self, total: usize, parts: usize, least: usize) -> Vec<usize> {
        let mut sizes = vec![least; parts];
        for _ in 0..total.saturating_sub(least * parts) {
            let part = self.below(parts as u64) as usize;
            sizes[part] += 1;
        }
        sizes
    }

    /// Lower-case hexadecimal digits.
    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).filter_map(|_| char::from_digit(self.below(16) as u32, 16)).collect()
    }

    /// A random UUID (version 4).
    pub fn uuid(&mut self) -> String {
        let variant = self.pick(&['8', '9', 'a', 'b']);
        format!("{}-{}-4{}-{variant}{}-{}", self.hex(8), self.hex(4), self.hex(3), self.hex(3), self.hex(12))
    }
}
