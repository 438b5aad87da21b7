//! Fisher's exact test.

/// Natural logarithms of 0! to n!.
pub(super) fn ln_factorials(n: u64) -> Vec<f64> {
    let mut sums = Vec::with_capacity(usize::try_from(n).unwrap_or(0).saturating_add(1));
    let mut sum = 0.0;
    sums.push(0.0);
    for factor in 1..=n {
        sum += (factor as f64).ln();
        sums.push(sum);
    }
    sums
}

/// Two-sided p-value of a 2×2 table `[[a, b], [c, d]]`: the chance, with the margins fixed, of a table that is at
/// most as probable as this one.
///
/// Source: R. A. Fisher, Statistical Methods for Research Workers, 5th ed. (1934), §21.02; "at most as probable" as in
/// R's `fisher.test`, with the same relative tolerance of 1e-7 against rounding. An empty margin gives 1.
pub fn two_sided(a: u64, b: u64, c: u64, d: u64) -> f64 {
    let (row, other_row, column) = (a + b, c + d, a + c);
    let total = row + other_row;
    if row == 0 || other_row == 0 || column == 0 || column == total {
        return 1.0;
    }
    let ln = ln_factorials(total);
    let at = |k: u64| ln[k as usize];
    let fixed = at(row) + at(other_row) + at(column) + at(total - column) - at(total);
    let ln_p = |x: u64| fixed - at(x) - at(row - x) - at(column - x) - at(other_row + x - column);
    let observed = ln_p(a);
    let (lowest, highest) = (column.saturating_sub(other_row), row.min(column));
    let sum: f64 = (lowest..=highest).map(ln_p).filter(|p| *p <= observed + 1e-7).map(f64::exp).sum();
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: scipy.stats.fisher_exact of scipy 1.17; 3, 1, 1, 3 is Fisher's tea tasting (17/35).
    #[test]
    fn agrees_with_scipy() {
        for (table, want) in [
            ([8, 2, 1, 5], 0.034965034965034975),
            ([3, 1, 1, 3], 17.0 / 35.0),
            ([0, 5, 7, 1], 0.004662004662004662),
            ([12, 3, 30, 90], 5.036846688054356e-05),
            ([1000, 20, 900, 60], 1.021722323296727e-06),
            ([0, 0, 4, 5], 1.0),
        ] {
            let [a, b, c, d] = table;
            let got = two_sided(a, b, c, d);
            assert!((got / want - 1.0).abs() < 1e-8, "{table:?}: {got} is not {want}");
        }
    }

    #[test]
    fn is_the_same_when_the_table_is_turned() {
        let p = two_sided(8, 2, 1, 5);
        for turned in [two_sided(1, 5, 8, 2), two_sided(2, 8, 5, 1), two_sided(8, 1, 2, 5)] {
            assert!((p - turned).abs() < 1e-12);
        }
    }
}
