//! How findings put numbers, names and times into a sentence.

use super::stats::wilson::wilson;
use crate::finding::Part;
use crate::finding::evidence::Shown;
use crate::protocol::message::{Text, Ts};
use std::collections::BTreeSet;

/// Names listed in one sentence; the rest is counted.
const NAMES: usize = 4;

/// A sentence in the making.
#[derive(Default)]
pub struct Sentence {
    parts: Vec<Part>,
}

impl Sentence {
    pub fn new() -> Self {
        Self::default()
    }

    /// Our own words.
    pub fn say(mut self, words: impl Into<String>) -> Self {
        let words = words.into();
        match self.parts.last_mut() {
            Some(Part::Ours(before)) => before.push_str(&words),
            _ => self.parts.push(Part::Ours(words)),
        }
        self
    }

    /// A name from traffic.
    pub fn name(mut self, name: &Text) -> Self {
        self.parts.push(Part::Name(name.clone()));
        self
    }

    /// A value from traffic.
    pub fn value(mut self, value: Shown) -> Self {
        self.parts.push(Part::Value(value));
        self
    }

    /// A prompt's name, which may be missing.
    pub fn prompt(self, prompt: Option<&Text>) -> Self {
        match prompt {
            Some(name) => self.name(name),
            None => self.say("(no name)"),
        }
    }

    /// `a, b, c, d and 2 more`.
    pub fn names<'n>(mut self, names: impl IntoIterator<Item = &'n Text>) -> Self {
        let names: BTreeSet<&Text> = names.into_iter().collect();
        for (index, name) in names.iter().take(NAMES).enumerate() {
            if index > 0 {
                self = self.say(", ");
            }
            self = self.name(name);
        }
        match names.len().saturating_sub(NAMES) {
            0 => self,
            more => self.say(format!(" and {more} more")),
        }
    }

    /// `39 of 5,139 (0.76 %, 95 % interval 0.56–1.04 %)`.
    pub fn share(self, hits: u64, n: u64) -> Self {
        let counts = format!("{} of {}", count(hits), count(n));
        match wilson(hits, n) {
            Some(rate) => {
                let percents = format!(
                    " ({} %, 95 % interval {}–{} %)",
                    percent(rate.rate),
                    percent(rate.low),
                    percent(rate.high)
                );
                self.say(counts + &percents)
            }
            None => self.say(counts),
        }
    }

    /// `; clients: a, b`, or nothing.
    pub fn clients<'n>(self, clients: impl IntoIterator<Item = &'n Text>) -> Self {
        let clients: BTreeSet<&Text> = clients.into_iter().collect();
        match clients.len() {
            0 => self,
            1 => self.say("; client: ").names(clients),
            _ => self.say("; clients: ").names(clients),
        }
    }

    /// `; since 2026-03-01 10:02 UTC`, or nothing where no time is known.
    pub fn since(self, first: Option<Ts>) -> Self {
        match first.and_then(minute) {
            Some(time) => self.say(format!("; since {time} UTC")),
            None => self,
        }
    }

    pub fn done(self) -> Vec<Part> {
        self.say(".").parts
    }
}

/// `1,842`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 session`, `2 sessions`.
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A share as percent: two decimals below ten, one above, none for exactly all or nothing.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent == 100.0 {
        format!("{percent:.0}")
    } else if percent < 10.0 {
        format!("{percent:.2}")
    } else {
        format!("{percent:.1}")
    }
}

/// Expected numbers below this are not told apart: nobody acts on whether it was a ten-thousandth or a billionth.
const SMALL_EXPECTATION: f64 = 0.01;

/// How many units chance alone would bring: two significant digits, and `fewer than 0.01` instead of a row of zeros.
pub fn expectation(number: f64) -> String {
    match number {
        n if n < SMALL_EXPECTATION => format!("fewer than {SMALL_EXPECTATION}"),
        n if n < 0.0995 => format!("{n:.3}"),
        n if n < 0.995 => format!("{n:.2}"),
        n if n < 9.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

/// `2026-03-01 10:02`, UTC; `None` outside the calendar.
pub fn minute(ts: Ts) -> Option<String> {
    Some(ts.on_calendar()?.strftime("%Y-%m-%d %H:%M").to_string())
}

/// `2026-03`, UTC.
pub fn month(ts: Ts) -> Option<String> {
    Some(ts.on_calendar()?.strftime("%Y-%m").to_string())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A sentence as plain text, for tests of findings.
    pub fn plain(parts: &[Part]) -> String {
        parts
            .iter()
            .map(|part| match part {
                Part::Ours(words) => words.as_str(),
                Part::Name(name) => name,
                Part::Value(shown) => &shown.text,
            })
            .collect()
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_842), "1,842");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(plural(1, "session"), "1 session");
        assert_eq!(plural(2_000, "session"), "2,000 sessions");
        assert_eq!(percent(0.0), "0");
        assert_eq!(percent(0.0076), "0.76");
        assert_eq!(percent(0.7512), "75.1");
        assert_eq!(percent(1.0), "100");
    }

    #[test]
    fn an_expected_number_is_never_a_row_of_zeros() {
        let pairs = [
            (0.0, "fewer than 0.01"),
            (9.81e-5, "fewer than 0.01"),
            (0.0099, "fewer than 0.01"),
            (0.01, "0.010"),
            (0.0512, "0.051"),
            (0.0994, "0.099"),
            (0.0996, "0.10"),
            (0.42, "0.42"),
            (0.996, "1.0"),
            (1.25, "1.2"),
            (9.96, "10"),
            (34.5678, "35"),
        ];
        for (number, text) in pairs {
            assert_eq!(expectation(number), text);
        }
    }

    #[test]
    fn a_sentence_names_counts_and_dates() {
        let names: Vec<Text> = ["f", "a", "b", "c", "d", "a"].into_iter().map(Text::from).collect();
        let parts =
            Sentence::new().names(&names).say(": ").share(39, 5_139).since(Some(Ts(0))).clients(&names[..1]).done();
        assert_eq!(
            plain(&parts),
            "a, b, c, d and 1 more: 39 of 5,139 (0.76 %, 95 % interval 0.56–1.04 %); since 1970-01-01 00:00 UTC; client: f."
        );
    }

    #[test]
    fn times_outside_the_calendar_are_left_out() {
        assert_eq!(minute(Ts(i64::MAX)), None);
        assert_eq!(month(Ts(1_767_225_600_000_000)).as_deref(), Some("2026-01"));
    }
}
