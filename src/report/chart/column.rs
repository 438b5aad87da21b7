//! An elicited column: every value as a strip, its quartiles, the declared bounds, the extremes.

use super::canvas::{Anchor, Canvas, Ink, WIDTH};
use super::scale::Scale;
use crate::audit::stats::quantiles::quantile;
use crate::report::grid::significant;

/// What the picture of a column shows; texts are printable and short.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub title: String,
    pub subtitle: String,
    /// What the axis measures, with its unit.
    pub axis: String,
    pub points: Vec<f64>,
    /// Lowest and highest declared minimum and maximum with their exact texts.
    pub minimum: Vec<(f64, String)>,
    pub maximum: Vec<(f64, String)>,
    pub smallest: String,
    pub largest: String,
}

/// From this ratio of range to the middle 90 % on, a linear axis shows nothing but the extremes.
const STRETCHED: f64 = 8.0;
/// Ranges up to this are drawn as they are: a logarithmic axis would have too few ticks.
const WIDE: f64 = 2_000.0;
/// Up to this many answers the dots are large.
const FEW: usize = 200;

pub fn column(picture: &Column) -> Canvas {
    let (mut canvas, top) = Canvas::titled(470, &picture.title, &picture.subtitle);
    let mut sorted = picture.points.clone();
    sorted.retain(|value| value.is_finite());
    sorted.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (sorted.first().copied(), sorted.last().copied()) else {
        return canvas;
    };
    let bounds = || picture.minimum.iter().chain(&picture.maximum).map(|(bound, _)| *bound);
    let low = bounds().fold(first, f64::min);
    let high = bounds().fold(last, f64::max);
    let (left, right) = (60, WIDTH - 60);
    let middle = quantile(&sorted, 0.95).unwrap_or(last) - quantile(&sorted, 0.05).unwrap_or(first);
    let x = if high - low > STRETCHED * middle && high - low > WIDE {
        Scale::logarithmic(low, high, left, right)
    } else {
        let margin = (high - low) * 0.03;
        Scale::linear(low - margin, high + margin, left, right)
    };
    let (strip_top, strip_bottom) = (top + 75, canvas.height - 160);
    axis(&mut canvas, picture, &x, (left, right));
    bounds_lines(&mut canvas, picture, &x, (top + 20, strip_bottom + 50));
    let inside = |value: f64| {
        picture.minimum.iter().all(|(bound, _)| value >= *bound)
            && picture.maximum.iter().all(|(bound, _)| value <= *bound)
    };
    let radius = if picture.points.len() <= FEW { 4 } else { 2 };
    for (index, value) in picture.points.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        // The golden ratio spreads neighbours evenly, the same way in every run.
        let jitter = (index as f64 * 0.618_033_988_75).fract();
        let y = strip_top + (jitter * f64::from(strip_bottom - strip_top)) as i32;
        if inside(*value) {
            canvas.dot(x.at(*value), y, radius, Ink::Blue);
        } else {
            canvas.triangle(x.at(*value), y, 5, Ink::Vermilion);
        }
    }
    quartiles(&mut canvas, &sorted, &x, strip_bottom + 30);
    let extremes = [
        (first, format!("smallest {}", picture.smallest), Anchor::Start, 58),
        (last, format!("largest {}", picture.largest), Anchor::End, 76),
    ];
    for (value, text, anchor, row) in extremes {
        let ink = if inside(value) { Ink::Black } else { Ink::Vermilion };
        let at = x.at(value);
        canvas.ring(at, strip_bottom + 30, 7, ink);
        // Extremes near the wrong edge would run out of the picture.
        let anchor = match anchor {
            Anchor::Start if at > right - 200 => Anchor::End,
            Anchor::End if at < left + 200 => Anchor::Start,
            other => other,
        };
        canvas.label(at, strip_bottom + row, anchor, text);
    }
    canvas
}

fn axis(canvas: &mut Canvas, picture: &Column, x: &Scale, (left, right): (i32, i32)) {
    let y = canvas.height - 60;
    canvas.line(vec![(left, y), (right, y)], Ink::Grey, 1);
    let mut free = i32::MIN;
    for tick in x.ticks(8) {
        let at = x.at(tick);
        let text = significant(tick);
        let half = super::font::width(&text, super::canvas::TEXT) / 2;
        canvas.line(vec![(at, y), (at, y + 5)], Ink::Grey, 1);
        if at - half > free {
            canvas.label(at, y + 17, Anchor::Middle, text);
            free = at + half + 8;
        }
    }
    let kind = if x.is_logarithmic() { ", logarithmic" } else { "" };
    canvas.label((left + right) / 2, y + 42, Anchor::Middle, format!("{}{kind}", picture.axis));
}

fn bounds_lines(canvas: &mut Canvas, picture: &Column, x: &Scale, (top, bottom): (i32, i32)) {
    let sides = [(&picture.minimum, "declared minimum", 0), (&picture.maximum, "declared maximum", 20)];
    for (bounds, name, row) in sides {
        for (index, (bound, text)) in bounds.iter().enumerate() {
            let at = x.at(*bound);
            canvas.line(vec![(at, top + row + 10), (at, bottom)], Ink::Black, 2);
            if index == 0 {
                let more = if bounds.len() > 1 { format!(" (one of {})", bounds.len()) } else { String::new() };
                let text = format!("{name} {text}{more}");
                let wide = super::font::width(&text, super::canvas::TEXT);
                let anchor = if at + wide > WIDTH - 20 { Anchor::End } else { Anchor::Start };
                canvas.label(at, top + row, anchor, text);
            }
        }
    }
}

fn quartiles(canvas: &mut Canvas, sorted: &[f64], x: &Scale, y: i32) {
    let at = |p: f64| quantile(sorted, p).map(|value| x.at(value));
    let (Some(p0), Some(p25), Some(p50), Some(p75), Some(p100)) = (at(0.0), at(0.25), at(0.5), at(0.75), at(1.0))
    else {
        return;
    };
    canvas.line(vec![(p0, y), (p25, y)], Ink::Grey, 2);
    canvas.line(vec![(p75, y), (p100, y)], Ink::Grey, 2);
    canvas.bar(p25, y - 11, (p75 - p25).max(2), 22, Ink::Pale);
    canvas.frame(p25, y - 11, (p75 - p25).max(2), 22, Ink::Black);
    canvas.line(vec![(p50, y - 11), (p50, y + 11)], Ink::Black, 3);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_close_extremes_and_bounds_do_not_touch() {
        let spreads: [&[f64]; 4] = [&[12.0, 12.0, 20.0], &[199.0, 200.0], &[5.0, 5.0], &[0.0, 1e6, 3.0, 4.0]];
        for points in spreads {
            let picture = Column {
                title: "a".into(),
                subtitle: "b".into(),
                axis: "length".into(),
                points: points.to_vec(),
                minimum: vec![(199.0, "199".into())],
                maximum: vec![(200.0, "200".into()), (100.0, "100".into())],
                smallest: "12".into(),
                largest: "20".into(),
            };
            column(&picture).assert_legible("column");
        }
    }
}
