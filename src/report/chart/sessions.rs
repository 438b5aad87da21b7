//! Sessions of a prompt: attempts by share of bad ones, stale sessions named.

use super::canvas::{Anchor, Canvas, Ink, WIDTH};
use super::scale::Scale;

/// One session under one declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    pub attempts: u64,
    pub bad: u64,
    pub stale: bool,
}

/// What the picture of a prompt's sessions shows; texts are printable and short.
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    pub title: String,
    pub subtitle: String,
    pub dots: Vec<Dot>,
    /// Stale sessions, worst first, and a last line about those left out.
    pub named: Vec<String>,
}

pub fn sessions(picture: &Sessions) -> Canvas {
    let (mut canvas, top) = Canvas::titled(560, &picture.title, &picture.subtitle);
    let panel = if picture.named.is_empty() { 0 } else { 330 };
    let (left, right, high, low) = (90, WIDTH - 50 - panel, top + 45, canvas.height - 75);
    let most = picture.dots.iter().map(|dot| dot.attempts).max().unwrap_or(1);
    let x = Scale::linear(0.0, most as f64 * 1.05, left, right);
    let y = Scale::linear(0.0, 100.0, low - 14, high + 14);
    for tick in y.ticks(5) {
        canvas.line(vec![(left, y.at(tick)), (right, y.at(tick))], Ink::Pale, 1);
        canvas.label(left - 8, y.at(tick), Anchor::End, format!("{tick:.0} %"));
    }
    for tick in x.ticks(8).into_iter().filter(|tick| tick.fract() == 0.0) {
        canvas.line(vec![(x.at(tick), low), (x.at(tick), low + 5)], Ink::Grey, 1);
        canvas.label(x.at(tick), low + 16, Anchor::Middle, format!("{tick:.0}"));
    }
    canvas.line(vec![(left, high), (left, low), (right, low)], Ink::Grey, 1);
    canvas.label((left + right) / 2, low + 42, Anchor::Middle, "attempts in the session");
    canvas.label(30, top + 12, Anchor::Start, "share of attempts that are bad");
    canvas.triangle(right - 262, top + 11, 6, Ink::Vermilion);
    canvas.label(right - 250, top + 12, Anchor::Start, "stale session");
    canvas.ring(right - 112, top + 12, 5, Ink::Blue);
    canvas.label(right - 100, top + 12, Anchor::Start, "other session");
    for (index, dot) in picture.dots.iter().enumerate().filter(|(_, dot)| dot.attempts > 0) {
        let share = dot.bad as f64 * 100.0 / dot.attempts as f64;
        // Sessions with equal numbers would hide each other.
        let jitter = (index as f64 * 0.618_033_988_75).fract();
        let (px, py) = (x.at(dot.attempts as f64), y.at(share) + ((jitter - 0.5) * 22.0) as i32);
        if dot.stale {
            canvas.triangle(px, py, 6, Ink::Vermilion);
        } else {
            canvas.ring(px, py, 5, Ink::Blue);
        }
    }
    if !picture.named.is_empty() {
        canvas.label(right + 30, high, Anchor::Start, "Stale sessions (bad of attempts)");
        for (index, name) in picture.named.iter().enumerate() {
            canvas.label(right + 30, high + 28 + index as i32 * 24, Anchor::Start, name);
        }
    }
    canvas
}
