//! Mean, standard deviation and quantiles of a sample.

/// Quantile of a sorted sample by Hyndman and Fan's type 7: h = (n − 1)p, linear between the neighbours of h.
///
/// Source: R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996)
/// 361–365. `None` for an empty sample.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let h = last as f64 * p.clamp(0.0, 1.0);
    let below = (h.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let (low, high) = (sorted[below], sorted[above]);
    if low == high {
        return Some(low);
    }
    Some(low + (h - below as f64) * (high - low))
}

/// Arithmetic mean; `None` for an empty sample. Divides before adding where the plain sum overflows.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let plain = values.iter().sum::<f64>() / n;
    Some(if plain.is_finite() { plain } else { values.iter().map(|value| value / n).sum() })
}

/// Standard deviation with n − 1 in the denominator, in two passes; `None` under two values.
pub fn sd(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let sd = (squares / (values.len() - 1) as f64).sqrt();
    sd.is_finite().then_some(sd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: Option<f64>, want: f64) {
        let got = got.unwrap_or(f64::NAN);
        assert!((got - want).abs() < 1e-9, "{got} is not {want}");
    }

    /// Reference: numpy.percentile (method "linear"), numpy.mean and numpy.std(ddof=1) of numpy 2.
    #[test]
    fn agrees_with_numpy() {
        let primes = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0];
        for (p, want) in [(0.01, 2.09), (0.05, 2.45), (0.5, 12.0), (0.95, 26.3), (0.99, 28.46)] {
            close(quantile(&primes, p), want);
        }
        close(mean(&primes), 12.9);
        close(sd(&primes), 9.024041962077378);
    }

    #[test]
    fn small_and_extreme_samples() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(sd(&[1.0]), None);
        close(quantile(&[4.0], 0.99), 4.0);
        close(quantile(&[4.0, 8.0], 1.0), 8.0);
        assert_eq!(mean(&[1e308, 1e308]), Some(1e308));
        assert_eq!(sd(&[1e308, -1e308]), None, "an infinite deviation is none");
    }
}
