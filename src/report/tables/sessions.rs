//! Tables of sessions.

use crate::audit::tables::Audit;
use crate::report::grid::{Cell, Grid, evidence, prompt, share_of};

pub fn sessions(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "sessions",
        &[
            "server",
            "prompt",
            "session",
            "client",
            "client_version",
            "session_quality",
            "version_in_effect",
            "attempts",
            "failing",
            "mismatched",
            "degraded",
            "bad",
            "failing_pattern",
            "mismatched_pattern",
            "bad_pattern",
            "cause",
            "stale",
            "listed_at",
            "declaration_seen",
            "told",
            "outdated_keys",
            "file",
            "position",
            "ts",
            "evidence_session",
        ],
    );
    for row in &audit.sessions {
        let [file, position, ts, session] = evidence(row.first.as_ref());
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            &row.session,
            row.client.as_ref(),
            row.client_version.as_ref(),
            row.session_quality.as_str(),
            row.version_in_effect,
            row.attempts,
            row.failing,
            row.mismatched,
            row.degraded,
            row.bad,
            row.failing_pattern,
            row.mismatched_pattern,
            row.bad_pattern,
            row.cause,
            row.stale,
            row.listed_at,
            row.declaration_seen,
            row.told,
            &row.outdated_keys,
            file,
            position,
            ts,
            session,
        ]);
    }
    grid
}

pub fn session_verdicts(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "session_verdicts",
        &[
            "server",
            "prompt",
            "units",
            "attempts",
            "bad",
            "track",
            "tested_bad",
            "pooled_rate",
            "all_bad_seen",
            "all_bad_expected",
            "share_in_runs",
            "icc",
            "n_effective",
            "p_value",
            "p_adjusted",
            "verdict",
            "bad_in_runs",
            "bad_mixed",
            "bad_single",
            "listed_again_bad",
            "listed_again_clean",
            "not_listed_bad",
            "not_listed_clean",
            "opened_later_bad",
            "opened_later_clean",
            "fisher_p",
        ],
    );
    for row in &audit.session_verdicts {
        let change = row.across_change.as_ref();
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            row.units,
            row.attempts,
            row.bad,
            row.track,
            row.tested_bad,
            share_of(row.pooled_rate),
            row.all_bad_seen,
            row.all_bad_expected,
            share_of(row.share_in_runs),
            row.icc,
            row.n_effective,
            row.p_value,
            row.p_adjusted,
            row.verdict,
            row.bad_in_runs,
            row.bad_mixed,
            row.bad_single,
            change.map(|change| change.listed_again_bad),
            change.map(|change| change.listed_again_clean),
            change.map(|change| change.not_listed_bad),
            change.map(|change| change.not_listed_clean),
            change.map(|change| change.opened_later_bad),
            change.map(|change| change.opened_later_clean),
            change.and_then(|change| change.fisher_p),
        ]);
    }
    grid
}
