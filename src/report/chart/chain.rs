//! A chain of questions: how many runs are still there after each of them.

use super::canvas::{Anchor, Canvas, Ink, WIDTH};
use super::scale::Scale;
use crate::audit::wording::{count, percent};

/// One question of the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What is asked for, printable and short.
    pub label: String,
    pub asked: u64,
    pub answered: u64,
    /// Runs that were left here.
    pub left: u64,
}

/// What the picture of a chain shows; texts are printable and short.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    pub title: String,
    pub subtitle: String,
    pub started: u64,
    pub links: Vec<Link>,
    pub finished: u64,
}

const ROW: i32 = 46;

pub fn chain(picture: &Chain) -> Canvas {
    let rows = picture.links.len() as i32 + 2;
    let top = Canvas::titled(0, &picture.title, &picture.subtitle).1;
    let (mut canvas, _) = Canvas::titled(top + 40 + rows * ROW + 60, &picture.title, &picture.subtitle);
    let (left, right) = (330, WIDTH - 250);
    let x = Scale::linear(0.0, picture.started.max(1) as f64, left, right);
    let first = top + 60;
    let bottom = first + (rows - 1) * ROW + 22;
    canvas.label(30, top + 12, Anchor::Start, "question, and what it asks for");
    canvas.label(left, top + 12, Anchor::Start, "runs of the operation");
    for tick in x.ticks(5).into_iter().filter(|tick| tick.fract() == 0.0) {
        canvas.line(vec![(x.at(tick), top + 30), (x.at(tick), bottom)], Ink::Pale, 1);
        canvas.label(x.at(tick), bottom + 16, Anchor::Middle, count(tick as u64));
    }
    row(&mut canvas, &x, first, "started", picture.started, picture.started, 0, picture.started);
    for (index, link) in picture.links.iter().enumerate() {
        let y = first + (index as i32 + 1) * ROW;
        row(&mut canvas, &x, y, &link.label, link.asked, link.answered, link.left, picture.started);
    }
    let y = first + (rows - 1) * ROW;
    row(&mut canvas, &x, y, "finished", picture.finished, picture.finished, 0, picture.started);
    canvas.line(vec![(left, top + 30), (left, bottom)], Ink::Grey, 1);
    canvas.bar(left, bottom + 36, 14, 14, Ink::Blue);
    canvas.label(left + 20, bottom + 43, Anchor::Start, "answered");
    canvas.bar(left + 120, bottom + 36, 14, 14, Ink::Orange);
    canvas.label(left + 140, bottom + 43, Anchor::Start, "left at this question");
    canvas
}

/// Answered, then left; what is neither (an error, an optional question declined) stays pale.
#[allow(clippy::too_many_arguments, reason = "one bar is all of these numbers")]
fn row(canvas: &mut Canvas, x: &Scale, y: i32, label: &str, asked: u64, answered: u64, left: u64, started: u64) {
    let (zero, height) = (x.at(0.0), 24);
    let (to_answered, to_left, to_asked) =
        (x.at(answered as f64), x.at((answered + left).min(asked) as f64), x.at(asked as f64));
    canvas.label(30, y, Anchor::Start, label);
    canvas.bar(zero, y - height / 2, to_answered - zero, height, Ink::Blue);
    if left > 0 {
        canvas.bar(to_answered, y - height / 2, (to_left - to_answered).max(2), height, Ink::Orange);
    }
    if to_asked > to_left {
        canvas.bar(to_left, y - height / 2, to_asked - to_left, height, Ink::Pale);
    }
    let share = percent(answered as f64 / started.max(1) as f64);
    canvas.label(
        to_asked.max(to_left) + 8,
        y,
        Anchor::Start,
        format!("{} of {} ({share} %)", count(answered), count(started)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_apart_whatever_the_numbers() {
        let link =
            |asked, answered, left| Link { label: "4. a-name-of-thirty-characters-xx".into(), asked, answered, left };
        for (started, links, finished) in [
            (0, vec![], 0),
            (1, vec![link(1, 0, 1)], 0),
            (1_000_000, vec![link(1_000_000, 999_999, 1), link(999_999, 5, 3), link(5, 5, 0)], 5),
        ] {
            let picture = Chain { title: "a".into(), subtitle: "b".into(), started, links, finished };
            chain(&picture).assert_legible("chain");
        }
    }
}
