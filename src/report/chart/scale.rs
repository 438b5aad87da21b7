//! From numbers to pixels, and where the ticks stand.

/// An axis over a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: i32,
    to: i32,
    logarithmic: bool,
}

impl Scale {
    pub fn linear(low: f64, high: f64, from: i32, to: i32) -> Self {
        let (low, high) = widened(low, high);
        Self { low, high, from, to, logarithmic: false }
    }

    /// Logarithmic away from zero, linear around it: sign(x) · log10(1 + |x|). For ranges whose extremes would press
    /// everything else into one pixel.
    pub fn logarithmic(low: f64, high: f64, from: i32, to: i32) -> Self {
        let (low, high) = widened(low, high);
        Self { low, high, from, to, logarithmic: true }
    }

    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    pub fn at(&self, value: f64) -> i32 {
        let (low, high, value) = if self.logarithmic {
            (folded(self.low), folded(self.high), folded(value))
        } else {
            (self.low, self.high, value)
        };
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        self.from + (share * f64::from(self.to - self.from)).round() as i32
    }

    /// Round numbers inside the range, about `count` of them.
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        if self.logarithmic { self.powers() } else { self.steps(count.max(1)) }
    }

    fn steps(&self, count: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / count as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil();
        let last = (self.high / step).floor();
        (0..=((last - first).clamp(0.0, 50.0)) as u32).map(|index| (first + f64::from(index)) * step).collect()
    }

    fn powers(&self) -> Vec<f64> {
        let powers = (0..=15).map(|power| 10f64.powi(power));
        let all = powers.clone().rev().map(|value| -value).chain([0.0]).chain(powers);
        all.filter(|value| (self.low..=self.high).contains(value)).collect()
    }
}

fn folded(value: f64) -> f64 {
    value.signum() * value.abs().ln_1p() / std::f64::consts::LN_10
}

/// A range of one point gets room on both sides.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let finite = low.is_finite() && high.is_finite() && low <= high;
    match finite {
        false => (0.0, 1.0),
        true if low == high => (low - low.abs().max(1.0) * 0.5, high + high.abs().max(1.0) * 0.5),
        true => (low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_meet_pixels_and_ticks_are_round() {
        let scale = Scale::linear(0.0, 97.0, 100, 500);
        assert_eq!((scale.at(0.0), scale.at(97.0), scale.at(48.5)), (100, 500, 300));
        assert_eq!(scale.ticks(5), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(scale.at(1e9), 500);
    }

    #[test]
    fn a_logarithmic_scale_takes_zero_and_negatives() {
        let scale = Scale::logarithmic(-5.0, 1_000_000.0, 0, 600);
        assert_eq!(scale.ticks(5), [-1.0, 0.0, 1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 1_000_000.0]);
        assert!(scale.at(-5.0) < scale.at(0.0) && scale.at(0.0) < scale.at(10.0));
        assert_eq!(scale.at(1_000_000.0), 600);
    }

    #[test]
    fn odd_ranges_do_not_divide_by_zero() {
        assert_eq!(Scale::linear(7.0, 7.0, 0, 100).at(7.0), 50);
        assert_eq!(Scale::linear(f64::NAN, 1.0, 0, 100).at(0.5), 50);
        assert!(!Scale::linear(f64::NEG_INFINITY, f64::INFINITY, 0, 100).ticks(5).is_empty());
        assert!(Scale::linear(1e300, -1e300, 0, 10).ticks(4).len() < 60);
    }
}
