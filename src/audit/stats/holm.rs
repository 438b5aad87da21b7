//! Holm's correction for several tests.

/// Adjusted p-values in the order given; `None` stays `None` and is no test.
///
/// With the m values ascending, the i-th becomes the greatest of (m − j + 1)·p_j over j ≤ i, at most 1.
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
/// (1979) 65–70.
pub fn adjust(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(index, p)| p.map(|p| (index, p))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut adjusted = vec![None; p_values.len()];
    let mut running = 0.0f64;
    for (rank, (index, p)) in order.iter().enumerate() {
        running = running.max((order.len() - rank) as f64 * p).min(1.0);
        adjusted[*index] = Some(running);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand from the definition: sorted 0.005·4, 0.01·3, 0.03·2, then 0.04·1 raised to 0.06.
    #[test]
    fn steps_down_and_never_falls() {
        let got = adjust(&[Some(0.01), None, Some(0.04), Some(0.03), Some(0.005)]);
        let want = [Some(0.03), None, Some(0.06), Some(0.06), Some(0.02)];
        for (got, want) in got.iter().zip(want) {
            match (got, want) {
                (Some(got), Some(want)) => assert!((got - want).abs() < 1e-12, "{got} is not {want}"),
                (got, want) => assert_eq!(*got, want),
            }
        }
    }

    #[test]
    fn stays_at_most_one() {
        assert_eq!(adjust(&[Some(0.9), Some(0.8)]), [Some(1.0), Some(1.0)]);
        assert_eq!(adjust(&[Some(0.2)]), [Some(0.2)]);
        assert!(adjust(&[]).is_empty());
    }
}
