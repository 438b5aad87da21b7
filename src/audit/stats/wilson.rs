//! Interval of a proportion.

use crate::audit::tables::Rate;

/// 97.5 % point of the standard normal distribution.
const Z: f64 = 1.959964;

/// Wilson's score interval without continuity correction, 95 %; `None` for n = 0.
///
/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209–212:
/// (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n). The ends are exactly 0 and 1 where no or all of n were hits.
pub fn wilson(hits: u64, n: u64) -> Option<Rate> {
    if n == 0 {
        return None;
    }
    let (hits, total) = (hits.min(n), n as f64);
    let rate = hits as f64 / total;
    let squared = Z * Z;
    let centre = rate + squared / (2.0 * total);
    let spread = Z * (rate * (1.0 - rate) / total + squared / (4.0 * total * total)).sqrt();
    let scale = 1.0 + squared / total;
    let low = if hits == 0 { 0.0 } else { ((centre - spread) / scale).max(0.0) };
    let high = if hits == n { 1.0 } else { ((centre + spread) / scale).min(1.0) };
    Some(Rate { rate, low, high })
}

#[cfg(test)]
mod tests {
    use super::wilson;
    use proptest::prelude::*;

    /// R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998),
    /// 857–872, table I, method 3.
    #[test]
    fn newcombes_table() {
        for (hits, n, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let rate = wilson(hits, n).expect("n is not 0");
            assert!((rate.low - low).abs() < 5e-5, "{hits}/{n}: {rate:?}");
            assert!((rate.high - high).abs() < 5e-5, "{hits}/{n}: {rate:?}");
        }
    }

    #[test]
    fn ends_are_exact() {
        assert_eq!(wilson(0, 7).map(|rate| rate.low), Some(0.0));
        assert_eq!(wilson(7, 7).map(|rate| rate.high), Some(1.0));
        assert_eq!(wilson(0, 0), None);
    }

    proptest! {
        #[test]
        fn the_rate_lies_inside(n in 1u64..100_000, share in 0.0f64..=1.0) {
            let hits = (n as f64 * share) as u64;
            let rate = wilson(hits, n).expect("n is not 0");
            prop_assert!(0.0 <= rate.low && rate.low <= rate.rate && rate.rate <= rate.high && rate.high <= 1.0);
        }
    }
}
