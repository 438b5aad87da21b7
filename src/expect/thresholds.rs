//! `[thresholds]` of `mcptally.toml`: where an analysis begins to speak, and why it begins there.
//!
//! ```toml
//! [thresholds]
//! session_bad_attempts = 10     # this server has much traffic: five failures are a quiet hour
//! ```
//!
//! A new threshold is one entry of the list below: its reason, its name with the unit at the end, its kind and its
//! default. The field, the reading of the file, the error for a mistyped name and `mcptally explain thresholds` follow.

use std::fmt;

/// What a threshold may be: a whole number (`u64`), or a share or probability (`f64`, 0 to 1).
pub trait Limit: Copy + PartialEq {
    /// Reads a value of the file.
    ///
    /// # Errors
    /// What would be right instead.
    fn read(value: &toml::Value) -> Result<Self, &'static str>;
    fn number(self) -> f64;
}

impl Limit for u64 {
    fn read(value: &toml::Value) -> Result<Self, &'static str> {
        let whole = value.as_integer().and_then(|number| Self::try_from(number).ok());
        whole.ok_or("a whole number, not below 0")
    }

    fn number(self) -> f64 {
        self as f64
    }
}

impl Limit for f64 {
    fn read(value: &toml::Value) -> Result<Self, &'static str> {
        let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as Self));
        number.filter(|number| (0.0..=1.0).contains(number)).ok_or("a share from 0 to 1")
    }

    fn number(self) -> f64 {
        self
    }
}

/// A threshold as its documentation has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    pub name: &'static str,
    pub default: f64,
    pub reason: &'static str,
}

/// A threshold that the operator moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    pub name: &'static str,
    pub value: f64,
    pub default: f64,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} (default {})", self.name, self.value, self.default)
    }
}

macro_rules! thresholds {
    ($( $(#[doc = $reason:literal])+ $name:ident: $kind:ty = $default:expr; )+) => {
        /// The thresholds of an audit.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Thresholds {
            $( $(#[doc = $reason])+ pub $name: $kind, )+
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $( $name: $default, )+ }
            }
        }

        /// Every threshold with its default and its reason.
        pub const THRESHOLDS: &[Threshold] = &[
            $( Threshold { name: stringify!($name), default: $default as f64, reason: concat!($($reason),+).trim_ascii() }, )+
        ];

        impl Thresholds {
            /// Sets one by its name; `None` where there is none of that name.
            pub(super) fn set(&mut self, name: &str, value: &toml::Value) -> Option<Result<(), &'static str>> {
                match name {
                    $( stringify!($name) => Some(<$kind as Limit>::read(value).map(|limit| self.$name = limit)), )+
                    _ => None,
                }
            }

            /// Those that differ from their defaults, in the order of [`THRESHOLDS`].
            pub fn moved(&self) -> Vec<Moved> {
                let normal = Self::default();
                let mut moved = Vec::new();
                $( if self.$name != normal.$name {
                    let (value, default) = (self.$name.number(), normal.$name.number());
                    moved.push(Moved { name: stringify!($name), value, default });
                } )+
                moved
            }
        }
    };
}

thresholds! {
    /// MT302: fewer bad attempts than this are no pattern, whatever a test says of them.
    session_bad_attempts: u64 = 5;
    /// MT302: sessions of a prompt with two attempts or more; with fewer than three nothing can gather in one of them.
    session_units: u64 = 3;
    /// MT302: level of the permutation test after Holm's correction; of a hundred reports on healthy prompts one may raise
    /// a false alarm, however many prompts each covers.
    session_level: f64 = 0.01;
    /// MT302: from this share of failures in unbroken runs on, the session alone is the cause; below, requests play a part.
    session_run_share: f64 = 0.9;
    /// MT302: up to this share of failures in unbroken runs, the runs are the exception and the cause lies in requests.
    session_stray_share: f64 = 0.1;
    /// Cause `outage`: seconds before and after a session's failures in which other sessions' failures belong to the same
    /// outage; a restart takes about a minute.
    outage_margin_s: u64 = 60;
    /// Table of handlers, `over 100 KB`: a value of more characters (100 KB of ASCII) was pasted by mistake or sent by a
    /// program, and no prompt should take it without a word.
    huge_value_chars: u64 = 100_000;
    /// MT206, MT214: an answer in fewer milliseconds was not read: reaction to one known word alone takes about as long, and
    /// a form has to be drawn first.
    fast_answer_ms: u64 = 500;
    /// MT206, MT214: with fewer answers than this, haste or habit of one person looks like a program.
    automatic_answers: u64 = 10;
    /// MT206, MT214: this share of the answers must be fast, and this share alike; a program may stumble, a person varies.
    automatic_share: f64 = 0.95;
    /// MT213: runs that answered their first question; with fewer, one bad day of one person is a third of them.
    chain_runs: u64 = 20;
    /// MT213: the lower end of the interval of the share that is left in the middle; who answers the first question means
    /// to go on, and when a third do not, the questions are the reason.
    chain_loss: f64 = 0.3333333333333333;
    /// MT121: calls with something typed that nobody intended, from which on a missing completion is worth a note; fewer may
    /// be one person's slips.
    completion_unintended_calls: u64 = 5;
    /// MT601: calls on each side of a change, at least; with fewer than twenty a side's rate can be anything.
    change_side_calls: u64 = 20;
    /// MT601: hits and misses in the whole series, at least: fewer than five of either are no rate to speak of.
    change_least_hits: u64 = 5;
    /// MT601: level of the permutation test after Holm's correction across all series; a named change is a lead to follow,
    /// not a verdict, so that one false lead in twenty reports can be borne.
    change_level: f64 = 0.05;
}

/// The known name nearest to a mistyped one, if one is near.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    /// Below this likeness (Jaro–Winkler) a suggestion puzzles more than it helps.
    const LIKE: f64 = 0.8;
    let likeness = |known: &Threshold| strsim::jaro_winkler(name, known.name);
    let best = THRESHOLDS.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= LIKE).then_some(best.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_has_a_reason_and_a_name_of_its_own() {
        for (at, threshold) in THRESHOLDS.iter().enumerate() {
            assert!(threshold.reason.len() > 30, "{}: {}", threshold.name, threshold.reason);
            assert!(THRESHOLDS[at + 1..].iter().all(|other| other.name != threshold.name), "{}", threshold.name);
            assert!(threshold.reason.lines().count() == 1, "{}: one paragraph", threshold.name);
        }
    }

    #[test]
    fn defaults_stand_where_nothing_is_set() {
        let normal = Thresholds::default();
        assert_eq!(normal.moved(), []);
        let set = Thresholds { session_units: 7, session_level: 0.05, ..normal };
        let moved: Vec<String> = set.moved().iter().map(ToString::to_string).collect();
        assert_eq!(moved, ["session_units = 7 (default 3)", "session_level = 0.05 (default 0.01)"]);
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("sesion_units"), Some("session_units"));
        assert_eq!(nearest("huge_value_char"), Some("huge_value_chars"));
        assert_eq!(nearest("colour"), None);
    }
}
