//! Patterns of a session's attempts (analyses.md §6): every time, or now and then. What was seen, not why.

pub const NO_ATTEMPT: &str = "no attempt";
pub const CLEAN: &str = "clean";
pub const SINGLE: &str = "single";
pub const EVERY_TIME: &str = "every time";
pub const WENT_BAD: &str = "went bad";
pub const RECOVERED: &str = "recovered";
pub const WENT_BAD_RECOVERED: &str = "went bad, recovered";
pub const MIXED: &str = "mixed";
/// No declaration, no parameters or no certain session to judge by.
pub const NOT_JUDGED: &str = "not judged";
/// Stateless traffic.
pub const NO_SESSIONS: &str = "no sessions";

/// What lies between two neighbouring attempts of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gap {
    /// The declaration in effect changed.
    pub change: bool,
    /// The session listed.
    pub listing: bool,
}

/// One judged attempt, and the gap before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub bad: bool,
    pub gap: Gap,
    /// The attempt carries a key of another version than the one in effect.
    pub outdated_key: bool,
}

/// The pattern over all units of a session, where it is one of the three that need a reason between the runs.
/// A bad run of length 1 counts only with an outdated key.
pub fn of_session(steps: &[Step]) -> Option<&'static str> {
    let first_bad = steps.iter().position(|step| step.bad)?;
    let last_bad = steps.iter().rposition(|step| step.bad)?;
    let run = &steps[first_bad..=last_bad];
    if !run.iter().all(|step| step.bad) || (run.len() == 1 && !run[0].outdated_key) {
        return None;
    }
    let changed = first_bad > 0 && run[0].gap.change;
    let listed = steps.get(last_bad + 1).is_some_and(|step| step.gap.listing);
    match (first_bad > 0, last_bad + 1 < steps.len()) {
        (true, false) if changed => Some(WENT_BAD),
        (false, true) if listed => Some(RECOVERED),
        (true, true) if changed && listed => Some(WENT_BAD_RECOVERED),
        _ => None,
    }
}

/// The pattern of one unit: `bad` of `attempts` judged ones. `session` is what [`of_session`] says, `None` also where
/// the order of attempts is not known.
pub fn of_unit(bad: u64, attempts: u64, session: Option<&'static str>) -> &'static str {
    match (bad, attempts) {
        (_, 0) => NO_ATTEMPT,
        (0, _) => CLEAN,
        _ => match session {
            Some(pattern) => pattern,
            None if attempts == 1 => SINGLE,
            None if bad == attempts => EVERY_TIME,
            None => MIXED,
        },
    }
}

/// Failures gather in a run, as those of a cause that lives in the session do.
pub fn is_run(pattern: &str) -> bool {
    matches!(pattern, EVERY_TIME | WENT_BAD | RECOVERED | WENT_BAD_RECOVERED)
}

/// The patterns whose cause is looked for.
pub fn wants_cause(pattern: &str) -> bool {
    matches!(pattern, EVERY_TIME | WENT_BAD | SINGLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `0` and `1` are attempts; `c` a change, `l` a listing in the gap before the next one; `!` an outdated key in it.
    fn steps(text: &str) -> Vec<Step> {
        let (mut steps, mut gap, mut outdated_key) = (Vec::new(), Gap::default(), false);
        for letter in text.chars() {
            match letter {
                'c' => gap.change = true,
                'l' => gap.listing = true,
                '!' => outdated_key = true,
                _ => {
                    steps.push(Step { bad: letter == '1', gap, outdated_key });
                    (gap, outdated_key) = (Gap::default(), false);
                }
            }
        }
        steps
    }

    #[test]
    fn runs_need_their_reason_in_the_gap() {
        for (text, want) in [
            ("000c111", Some(WENT_BAD)),
            ("000111", None),
            ("000l111", None),
            ("111l000", Some(RECOVERED)),
            ("111c000", None),
            ("00c11l00", Some(WENT_BAD_RECOVERED)),
            ("00c1100", None),
            ("0011l00", None),
            ("00c!1", Some(WENT_BAD)),
            ("00c1", None),
            ("!1l0", Some(RECOVERED)),
            ("1l0", None),
            ("00c!1l00", Some(WENT_BAD_RECOVERED)),
            ("00c101l0", None),
            ("0000", None),
            ("1111", None),
            ("", None),
        ] {
            assert_eq!(of_session(&steps(text)), want, "{text}");
        }
    }

    #[test]
    fn units_take_the_first_pattern_that_fits() {
        assert_eq!(of_unit(0, 0, None), NO_ATTEMPT);
        assert_eq!(of_unit(0, 3, Some(WENT_BAD)), CLEAN);
        assert_eq!(of_unit(3, 3, Some(WENT_BAD)), WENT_BAD);
        assert_eq!(of_unit(1, 1, None), SINGLE);
        assert_eq!(of_unit(3, 3, None), EVERY_TIME);
        assert_eq!(of_unit(1, 3, None), MIXED);
        assert_eq!(of_unit(1, 2, Some(RECOVERED)), RECOVERED);
    }
}
