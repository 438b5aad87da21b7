//! Does a prompt fail by session or by request?

use super::{Judged, patterns};
use crate::audit::context::{Context, Group};
use crate::audit::stats::holm;
use crate::audit::stats::icc::{self, Unit};
use crate::audit::stats::permutation::{self, Cell};
use crate::audit::tables::SessionVerdict;
use crate::expect::Thresholds;
use crate::schema::SessionQuality;
use std::collections::BTreeMap;

pub const NO_SESSIONS: &str = "no sessions in this traffic";
/// Every session of the prompt is a guess.
pub const NOT_TOLD_APART: &str = "sessions cannot be told apart";
pub const NOT_ENOUGH: &str = "not enough evidence";
pub const PER_SESSION: &str = "per-session cause";
pub const PER_REQUEST: &str = "per-request cause";
pub const BOTH: &str = "both";

/// One unit as the statistics see it.
struct Counted<'u> {
    unit: &'u Judged,
    /// Day and badness of each judged attempt.
    attempts: Vec<(Option<i64>, bool)>,
    pattern: &'static str,
}

impl Counted<'_> {
    fn bad(&self) -> u64 {
        self.attempts.iter().filter(|(_, bad)| *bad).count() as u64
    }
}

/// Everything but the corrected p-value and the word; [`conclude`] adds those.
pub fn verdict(context: &Context, group: &Group, units: &[Judged]) -> SessionVerdict {
    let real: Vec<&Judged> = units
        .iter()
        .filter(|unit| !matches!(unit.row.session_quality, SessionQuality::Guess | SessionQuality::Stateless))
        .collect();
    // Where no declaration was captured at all, failing is all that can be said.
    let judged = real.iter().any(|unit| unit.attempts.iter().any(|(_, _, bad)| bad.is_some()));
    let counted: Vec<Counted> = real
        .into_iter()
        .map(|unit| Counted {
            unit,
            attempts: unit
                .attempts
                .iter()
                .filter_map(|(day, failing, bad)| Some((*day, if judged { (*bad)? } else { *failing })))
                .collect(),
            pattern: if judged { unit.row.bad_pattern } else { unit.row.failing_pattern },
        })
        .filter(|counted| !counted.attempts.is_empty())
        .collect();

    let bad_where = |test: &dyn Fn(&Counted) -> bool| counted.iter().filter(|unit| test(unit)).map(Counted::bad).sum();
    let several: Vec<&Counted> = counted.iter().filter(|unit| unit.attempts.len() > 1).collect();
    let sizes: Vec<Unit> =
        several.iter().map(|unit| Unit { failures: unit.bad(), attempts: unit.attempts.len() as u64 }).collect();
    let attempts: u64 = sizes.iter().map(|unit| unit.attempts).sum();
    let bad: u64 = sizes.iter().map(|unit| unit.failures).sum();
    let in_runs: u64 = several.iter().filter(|unit| patterns::is_run(unit.pattern)).map(|unit| unit.bad()).sum();
    let strata = strata(&several);
    let anova = icc::anova(&sizes);
    let word = match units {
        [] => NOT_ENOUGH,
        units if units.iter().all(|unit| unit.row.session_quality == SessionQuality::Stateless) => NO_SESSIONS,
        units if units.iter().all(|unit| unit.row.session_quality == SessionQuality::Guess) => NOT_TOLD_APART,
        _ => NOT_ENOUGH,
    };
    SessionVerdict {
        server: context.servers[group.server].clone(),
        prompt: group.prompt.clone(),
        units: sizes.len() as u64,
        attempts,
        bad: counted.iter().map(Counted::bad).sum(),
        pooled_rate: (attempts > 0).then(|| bad as f64 / attempts as f64),
        all_bad_seen: sizes.iter().filter(|unit| unit.failures == unit.attempts).count() as u64,
        all_bad_expected: (attempts > 0).then(|| permutation::all_bad_expected(&strata)),
        share_in_runs: (bad > 0).then(|| in_runs as f64 / bad as f64),
        icc: anova.map(|anova| anova.icc),
        n_effective: anova.map(|anova| anova.n_effective()),
        p_value: permutation::p_value(&strata, seed(context, group)),
        p_adjusted: None,
        verdict: word,
        bad_in_runs: bad_where(&|unit| patterns::is_run(unit.pattern)),
        bad_mixed: bad_where(&|unit| unit.pattern == patterns::MIXED),
        bad_single: bad_where(&|unit| unit.pattern == patterns::SINGLE),
        across_change: None,
        tested_bad: bad,
        track: if judged { "bad" } else { "failing" },
    }
}

/// Attempts by version in effect and day, cell by cell.
fn strata(units: &[&Counted]) -> Vec<Vec<Cell>> {
    let mut strata: BTreeMap<_, Vec<Cell>> = BTreeMap::new();
    for (number, counted) in units.iter().enumerate() {
        for &(day, bad) in &counted.attempts {
            let cells = strata.entry((counted.unit.version, day)).or_default();
            match cells.last_mut() {
                Some(cell) if cell.unit == number => {
                    cell.attempts += 1;
                    cell.failures += u64::from(bad);
                }
                _ => cells.push(Cell { unit: number, failures: u64::from(bad), attempts: 1 }),
            }
        }
    }
    strata.into_values().collect()
}

/// The same prompt of the same server always gets the same permutations.
fn seed(context: &Context, group: &Group) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let prompt = group.prompt.as_deref();
    for part in [Some(&*context.servers[group.server]), prompt].into_iter().flatten() {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

/// Corrects the p-values across the prompts that have enough evidence, and says the word.
pub fn conclude(verdicts: &mut [SessionVerdict], limits: &Thresholds) {
    let enough = |verdict: &SessionVerdict| {
        verdict.tested_bad >= limits.session_bad_attempts && verdict.units >= limits.session_units
    };
    let tested: Vec<Option<f64>> = verdicts.iter().map(|verdict| verdict.p_value.filter(|_| enough(verdict))).collect();
    for (verdict, adjusted) in verdicts.iter_mut().zip(holm::adjust(&tested)) {
        verdict.p_adjusted = adjusted;
        let (Some(p), Some(share)) = (adjusted, verdict.share_in_runs) else { continue };
        verdict.verdict = match () {
            () if p <= limits.session_level && share >= limits.session_run_share => PER_SESSION,
            () if p <= limits.session_level && share > limits.session_stray_share => BOTH,
            () => PER_REQUEST,
        };
    }
}
