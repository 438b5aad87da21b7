//! A rate by day or week with its interval, and where it changed.

use super::canvas::{Anchor, Canvas, Ink, WIDTH};
use super::scale::Scale;

/// What the picture of a rate shows; texts are printable and short.
#[derive(Debug, Clone, PartialEq)]
pub struct RateOverTime {
    pub title: String,
    pub subtitle: String,
    /// What the rate is of.
    pub axis: String,
    /// In order; periods without calls are left out, their place is not.
    pub points: Vec<Point>,
    /// Periods of the whole axis.
    pub length: u32,
    /// Labels under the axis: place and day.
    pub days: Vec<(u32, String)>,
    /// From where to where another rate holds (in periods, a fraction within one), the rates around and inside.
    pub change: Option<Shift>,
}

/// Shares are 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub place: u32,
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    pub from: f64,
    /// `None`: to the end.
    pub to: Option<f64>,
    pub before: f64,
    pub after: f64,
}

pub fn rate(picture: &RateOverTime) -> Canvas {
    let (mut canvas, top) = Canvas::titled(500, &picture.title, &picture.subtitle);
    let (left, right, high, low) = (90, WIDTH - 40, top + 45, canvas.height - 70);
    let most = picture.points.iter().map(|point| point.high).fold(0.01, f64::max);
    let y = Scale::linear(0.0, most * 100.0, low, high);
    let x = Scale::linear(0.0, f64::from(picture.length.max(1)), left, right);
    for tick in y.ticks(5) {
        canvas.line(vec![(left, y.at(tick)), (right, y.at(tick))], Ink::Pale, 1);
        let decimals = usize::from(most < 0.05);
        canvas.label(left - 8, y.at(tick), Anchor::End, format!("{tick:.decimals$} %"));
    }
    canvas.label(30, top + 12, Anchor::Start, &picture.axis);
    canvas.dot(right - 268, top + 12, 4, Ink::Blue);
    canvas.label(right - 255, top + 12, Anchor::Start, "rate with its 95 % interval (Wilson)");
    if let Some(shift) = picture.change {
        let (from, to) = (x.at(shift.from), x.at(shift.to.unwrap_or(f64::from(picture.length))));
        let level = |rate: f64| y.at(rate * 100.0);
        canvas.line(vec![(left, level(shift.before)), (from, level(shift.before))], Ink::Orange, 4);
        canvas.line(vec![(from, level(shift.after)), (to, level(shift.after))], Ink::Orange, 4);
        canvas.line(
            vec![(to, level(shift.before)), (if shift.to.is_some() { right } else { to }, level(shift.before))],
            Ink::Orange,
            4,
        );
        for end in [Some(from), shift.to.map(|_| to)].into_iter().flatten() {
            canvas.line(vec![(end, high), (end, low)], Ink::Vermilion, 2);
        }
    }
    for point in &picture.points {
        let middle = (x.at(f64::from(point.place)) + x.at(f64::from(point.place) + 1.0)) / 2;
        let at = |share: f64| y.at(share * 100.0);
        canvas.line(vec![(middle, at(point.low)), (middle, at(point.high))], Ink::Grey, 1);
        canvas.dot(middle, at(point.rate), 4, Ink::Blue);
    }
    for (place, day) in &picture.days {
        let middle = ((x.at(f64::from(*place)) + x.at(f64::from(*place) + 1.0)) / 2).max(left);
        if middle + 45 < WIDTH {
            canvas.line(vec![(middle, low), (middle, low + 5)], Ink::Grey, 1);
            canvas.label(middle, low + 18, Anchor::Middle, day);
        }
    }
    canvas.line(vec![(left, high), (left, low), (right, low)], Ink::Grey, 1);
    canvas
}
