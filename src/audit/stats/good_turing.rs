//! What a sample of values says about values not seen yet.

/// How many values were seen once, twice, three times, …
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// `seen[k - 1]` values were seen k times.
    seen: Vec<u64>,
    n: u64,
}

impl Frequencies {
    /// From the number of sightings of each distinct value.
    pub fn new(counts: impl IntoIterator<Item = u64>) -> Self {
        let mut frequencies = Self::default();
        for count in counts {
            let Some(at) = (count as usize).checked_sub(1) else { continue };
            if frequencies.seen.len() <= at {
                frequencies.seen.resize(at + 1, 0);
            }
            frequencies.seen[at] += 1;
            frequencies.n += count;
        }
        frequencies
    }

    /// Values seen exactly k times (k from 1).
    pub fn f(&self, k: usize) -> u64 {
        k.checked_sub(1).and_then(|at| self.seen.get(at)).copied().unwrap_or_default()
    }

    /// Good–Turing chance that the next sighting is of a value never seen, f1/n, with Esty's standard error.
    ///
    /// I. J. Good, "The population frequencies of species and the estimation of population parameters", Biometrika 40
    /// (1953), 237–264. W. W. Esty, "A normal limit law for a nonparametric estimator of the coverage of a random sample",
    /// Annals of Statistics 11 (1983), 905–912: √(f1/n² + 2 f2/n² − f1²/n³).
    /// `None` under two sightings and where nothing repeats (f1 = n): then the sample says nothing about its coverage.
    pub fn unseen(&self) -> Option<(f64, f64)> {
        let f1 = self.f(1);
        if self.n < 2 || f1 == self.n {
            return None;
        }
        let (n, f1, f2) = (self.n as f64, f1 as f64, self.f(2) as f64);
        let variance = f1 / (n * n) + 2.0 * f2 / (n * n) - f1 * f1 / (n * n * n);
        Some((f1 / n, variance.max(0.0).sqrt()))
    }

    /// Good–Toulmin number of new values in another sample of the same size: f1 − f2 + f3 − …
    ///
    /// I. J. Good and G. H. Toulmin, "The number of new species, and the increase in population coverage, when a sample
    /// is increased", Biometrika 43 (1956), 45–63, with t = 1. `None` for an empty sample.
    pub fn new_values(&self) -> Option<f64> {
        if self.n == 0 {
            return None;
        }
        let terms = self.seen.iter().enumerate();
        Some(terms.map(|(at, &count)| if at % 2 == 0 { count as f64 } else { -(count as f64) }).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::Frequencies;

    /// By hand: f1 = 4, f2 = 3, f3 = 2, f5 = 1, n = 4 + 6 + 6 + 5 = 21.
    #[test]
    fn by_hand() {
        let sample = Frequencies::new([1, 2, 3, 1, 5, 2, 1, 3, 2, 1]);
        let (chance, error) = sample.unseen().expect("values repeat");
        assert!((chance - 4.0 / 21.0).abs() < 1e-12);
        // 4/441 + 6/441 − 16/9261 = 194/9261
        assert!((error - (194.0f64 / 9261.0).sqrt()).abs() < 1e-12);
        assert_eq!(sample.new_values(), Some(4.0 - 3.0 + 2.0 + 1.0));
    }

    /// Corbet's Malayan butterflies (Fisher, Corbet and Williams 1943): species by how often each was seen in two years,
    /// once to 24 times. For two more years Good and Toulmin expect 75 new ones (also in Efron and Hastie, "Computer Age
    /// Statistical Inference", 2016, section 6.2).
    #[test]
    fn malayan_butterflies() {
        let seen = [118u64, 74, 44, 24, 29, 22, 20, 19, 20, 15, 12, 14, 6, 12, 6, 9, 9, 6, 10, 10, 11, 5, 3, 3];
        let counts = seen.iter().enumerate().flat_map(|(at, &species)| (0..species).map(move |_| at as u64 + 1));
        assert_eq!(Frequencies::new(counts).new_values(), Some(75.0));
    }

    #[test]
    fn too_little_to_say() {
        assert_eq!(Frequencies::new([]).unseen(), None);
        assert_eq!(Frequencies::new([]).new_values(), None);
        assert_eq!(Frequencies::new([1]).unseen(), None);
        assert_eq!(Frequencies::new([1, 1, 1]).unseen(), None, "no repeats, cannot estimate");
        assert_eq!(Frequencies::new([2]).unseen().map(|(chance, _)| chance), Some(0.0));
    }
}
