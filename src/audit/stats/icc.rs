//! How alike the attempts of one session are: intraclass correlation of a yes/no outcome.

/// Failures and attempts of one unit; `failures ≤ attempts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    pub failures: u64,
    pub attempts: u64,
}

/// One-way analysis of variance of a 0/1 outcome over units of unequal size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anova {
    /// (MSB − MSW)/(MSB + (n0 − 1)·MSW), not clamped: negative where units are more alike than chance makes them.
    pub icc: f64,
    /// Typical unit size, (N − Σnᵢ²/N)/(k − 1).
    pub n0: f64,
    /// Attempts, N.
    pub attempts: u64,
}

impl Anova {
    /// N/(1 + (n0 − 1)·max(0, ICC)): how many independent attempts these are worth (L. Kish, Survey Sampling, 1965,
    /// §5.4, design effect).
    pub fn n_effective(&self) -> f64 {
        self.attempts as f64 / (1.0 + (self.n0 - 1.0) * self.icc.max(0.0))
    }
}

/// The ANOVA estimator of the intraclass correlation, with MSB = Σnᵢ(pᵢ − p)²/(k − 1) and
/// MSW = Σnᵢpᵢ(1 − pᵢ)/(N − k).
///
/// Source: M. S. Ridout, C. G. B. Demétrio, D. Firth, "Estimating intraclass correlation for binary data",
/// Biometrics 55 (1999) 137–148, estimator "analysis of variance".
/// `None` with fewer than two units, with no unit of two attempts, or where all attempts or none failed.
pub fn anova(units: &[Unit]) -> Option<Anova> {
    let units: Vec<&Unit> = units.iter().filter(|unit| unit.attempts > 0).collect();
    let attempts: u64 = units.iter().map(|unit| unit.attempts).sum();
    let failures: u64 = units.iter().map(|unit| unit.failures).sum();
    let k = units.len() as u64;
    if k < 2 || attempts == k || failures == 0 || failures == attempts {
        return None;
    }
    let total = attempts as f64;
    let p = failures as f64 / total;
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for unit in units {
        let n = unit.attempts as f64;
        let share = unit.failures as f64 / n;
        between += n * (share - p).powi(2);
        within += n * share * (1.0 - share);
        squares += n * n;
    }
    let msb = between / (k - 1) as f64;
    let msw = within / (attempts - k) as f64;
    let n0 = (total - squares / total) / (k - 1) as f64;
    let spread = msb + (n0 - 1.0) * msw;
    (spread > 0.0).then(|| Anova { icc: (msb - msw) / spread, n0, attempts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(counts: &[(u64, u64)]) -> Vec<Unit> {
        counts.iter().map(|&(failures, attempts)| Unit { failures, attempts }).collect()
    }

    /// Reference: (F − 1)/(F + n0 − 1) with F of scipy.stats.f_oneway (scipy 1.17) over the 0/1 attempts.
    #[test]
    fn agrees_with_scipy() {
        for (counts, icc, n0) in [
            (&[(0, 5), (5, 5), (1, 2)][..], 0.8514851485148515, 3.75),
            (&[(0, 3), (0, 3), (0, 5), (5, 5), (1, 2)], 0.8613861386138615, 3.5),
            (&[(2, 10), (3, 12), (7, 9), (1, 20), (4, 4)], 0.4804565960181469, 10.381818181818183),
            (&[(1, 4), (1, 4), (1, 4), (1, 4), (2, 4)], -0.2549019607843137, 4.0),
        ] {
            let got = anova(&units(counts)).unwrap();
            assert!((got.icc - icc).abs() < 1e-12, "{counts:?}: {}", got.icc);
            assert!((got.n0 - n0).abs() < 1e-12, "{counts:?}: {}", got.n0);
        }
    }

    #[test]
    fn is_null_where_nothing_varies() {
        for counts in [&[(3, 5)][..], &[(1, 1), (0, 1)], &[(0, 5), (0, 6)], &[(5, 5), (6, 6)], &[]] {
            assert_eq!(anova(&units(counts)), None, "{counts:?}");
        }
    }

    #[test]
    fn attempts_of_alike_sessions_count_for_less() {
        let got = anova(&units(&[(0, 5), (5, 5), (1, 2)])).unwrap();
        assert!((got.n_effective() - 12.0 / (1.0 + 2.75 * 0.8514851485148515)).abs() < 1e-12);
        let unlike = anova(&units(&[(1, 4), (1, 4), (1, 4), (1, 4), (2, 4)])).unwrap();
        assert_eq!(unlike.n_effective(), 20.0, "a negative correlation adds no attempts");
    }
}
