//! The values of an argument: unintended calls by class, how long a mapping table would be, and calls per day.

use super::canvas::{Anchor, Canvas, Ink, TEXT, WIDTH};
use super::scale::Scale;
use crate::audit::wording::{count, plural};

/// What the picture of an argument shows; texts are printable and short.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    pub title: String,
    pub subtitle: String,
    /// Class, calls, distinct values; most calls first.
    pub classes: Vec<(String, u64, u64)>,
    /// Calls of each unintended value, most first.
    pub tail: Vec<u64>,
}

pub fn values(picture: &Values) -> Canvas {
    let rows = picture.classes.len() as i32;
    let (mut canvas, top) =
        Canvas::titled((top_of(picture) + rows * 34 + 90).max(520), &picture.title, &picture.subtitle);
    bars(&mut canvas, picture, top);
    pareto(&mut canvas, picture, top);
    canvas
}

/// Room above the panels, at most.
fn top_of(picture: &Values) -> i32 {
    Canvas::titled(0, &picture.title, &picture.subtitle).1
}

fn bars(canvas: &mut Canvas, picture: &Values, top: i32) {
    let (left, right) = (130, 520);
    canvas.label(30, top + 10, Anchor::Start, "Unintended calls by class");
    let most = picture.classes.iter().map(|(_, calls, _)| *calls).max().unwrap_or(1);
    let scale = Scale::linear(0.0, most as f64, left, right - 170);
    for (index, (class, calls, distinct)) in picture.classes.iter().enumerate() {
        let y = top + 50 + index as i32 * 34;
        canvas.label(left - 10, y, Anchor::End, class);
        let end = scale.at(*calls as f64).max(left + 2);
        canvas.bar(left, y - 10, end - left, 20, Ink::Orange);
        let text = format!("{}, {}", plural(*calls, "call"), plural(*distinct, "value"));
        canvas.label(end + 8, y, Anchor::Start, text);
    }
}

fn pareto(canvas: &mut Canvas, picture: &Values, top: i32) {
    let (left, right) = (620, WIDTH - 40);
    let (high, low) = (top + 40, canvas.height - 70);
    canvas.label(left - 50, top + 10, Anchor::Start, "Share of unintended calls that a mapping table would cover");
    let rows = picture.tail.len();
    let total: u64 = picture.tail.iter().sum();
    let x = Scale::linear(0.0, rows.max(1) as f64, left, right);
    let y = Scale::linear(0.0, 100.0, low, high);
    for tick in y.ticks(5) {
        canvas.line(vec![(left, y.at(tick)), (right, y.at(tick))], Ink::Pale, 1);
        canvas.label(left - 8, y.at(tick), Anchor::End, format!("{tick:.0} %"));
    }
    for tick in x.ticks(6).into_iter().filter(|tick| tick.fract() == 0.0) {
        canvas.line(vec![(x.at(tick), low), (x.at(tick), low + 5)], Ink::Grey, 1);
        canvas.label(x.at(tick), low + 16, Anchor::Middle, format!("{tick:.0}"));
    }
    canvas.label(
        (left + right) / 2,
        low + 40,
        Anchor::Middle,
        "rows of the table (distinct values with the empty one, most frequent first)",
    );
    canvas.line(vec![(left, high), (left, low), (right, low)], Ink::Grey, 1);
    let mut sum = 0;
    let mut points = vec![(left, low)];
    let mut marks = Vec::new();
    let mut wanted = [50u64, 80, 90].into_iter().peekable();
    for (index, calls) in picture.tail.iter().enumerate() {
        sum += calls;
        let at = (x.at((index + 1) as f64), y.at(sum as f64 * 100.0 / total.max(1) as f64));
        points.push(at);
        while wanted.next_if(|percent| sum * 100 >= percent * total).is_some() {
            marks.push((at, index + 1, sum));
        }
    }
    canvas.line(points, Ink::Blue, 3);
    marks.dedup();
    let mut last = i32::MAX;
    for ((px, py), rows, sum) in marks {
        canvas.dot(px, py, 5, Ink::Blue);
        // Labels stand right of their dot and below the curve, never closer than a line of text.
        let label = if last - py < TEXT + 6 && last != i32::MAX { last - TEXT - 6 } else { py };
        let text = format!("{}: {} %", plural(rows as u64, "row"), sum * 100 / total.max(1));
        if px + 180 < right {
            canvas.label(px + 12, label + 14, Anchor::Start, text);
            last = label;
        } else if last == i32::MAX || last - py >= 2 * TEXT {
            canvas.label(right, py + 24, Anchor::End, text);
            last = py;
        }
    }
}

/// Calls per day.
#[derive(Debug, Clone, PartialEq)]
pub struct Days {
    pub title: String,
    pub subtitle: String,
    /// Day, intended, unintended; every day of the period in order.
    pub days: Vec<(String, u64, u64)>,
}

pub fn days(picture: &Days) -> Canvas {
    let (mut canvas, top) = Canvas::titled(480, &picture.title, &picture.subtitle);
    let (left, right, high, low) = (90, WIDTH - 40, top + 40, canvas.height - 70);
    let most = picture.days.iter().map(|(_, intended, unintended)| intended + unintended).max().unwrap_or(1);
    let y = Scale::linear(0.0, most.max(1) as f64, low, high);
    for tick in y.ticks(5).into_iter().filter(|tick| tick.fract() == 0.0) {
        canvas.line(vec![(left, y.at(tick)), (right, y.at(tick))], Ink::Pale, 1);
        canvas.label(left - 8, y.at(tick), Anchor::End, count(tick as u64));
    }
    canvas.label(30, top + 10, Anchor::Start, "calls per day (UTC)");
    canvas.bar(right - 330, top + 3, 14, 14, Ink::Blue);
    canvas.label(right - 310, top + 10, Anchor::Start, "intended value");
    canvas.bar(right - 170, top + 3, 14, 14, Ink::Orange);
    canvas.label(right - 150, top + 10, Anchor::Start, "unintended value");
    let n = picture.days.len().max(1) as i32;
    let x = Scale::linear(0.0, f64::from(n), left, right);
    // A label is about 85 pixels wide.
    let every = (n * 100 / (right - left)).max(0) + 1;
    for (index, (day, intended, unintended)) in picture.days.iter().enumerate() {
        let (from, to) = (x.at(index as f64), x.at(index as f64 + 1.0));
        let width = (to - from - 2).max(1);
        let (middle, upper) = (y.at(*intended as f64), y.at((intended + unintended) as f64));
        if *intended > 0 {
            canvas.bar(from + 1, middle, width, low - middle, Ink::Blue);
        }
        if *unintended > 0 {
            canvas.bar(from + 1, upper, width, middle - upper, Ink::Orange);
        }
        if index as i32 % every == 0 && (from + to) / 2 + 45 < WIDTH {
            let centre = ((from + to) / 2).max(left);
            canvas.line(vec![(centre, low), (centre, low + 5)], Ink::Grey, 1);
            canvas.label(centre, low + 18, Anchor::Middle, day);
        }
    }
    canvas.line(vec![(left, low), (right, low)], Ink::Grey, 1);
    canvas
}
