//! Every table of the report with all its rows and columns: what the CSV files hold.

use super::grid::{Cell, Grid, evidence, figure, prompt, rate, share, share_of};
use super::model::Report;
use crate::audit::tables::{Argument, Audit, Elicitation, Field};

/// All tables, in the order of the report.
pub fn all(report: &Report) -> Vec<Grid> {
    let audit = &report.audit;
    let mut grids = vec![errors(report), files(audit), methods(audit)];
    grids.extend(call_grids(audit));
    grids.extend(argument_grids(&audit.arguments));
    grids.extend([unknown_keys(audit), missing_required(audit)]);
    grids.extend(elicitation_grids(&audit.elicitations));
    grids.extend([
        clients(audit),
        sessions(audit),
        session_verdicts(audit),
        handlers(audit),
        contract(audit),
        completion(audit),
    ]);
    grids.extend(findings(audit));
    grids
}

/// A row of mixed cells.
macro_rules! row {
    ($($cell:expr),* $(,)?) => {
        vec![$(Cell::from($cell)),*]
    };
}

fn errors(report: &Report) -> Grid {
    let mut grid = Grid::new("errors", &["file", "message"]);
    for error in &report.errors {
        grid.push(row![&error.file, error.message.clone()]);
    }
    grid
}

fn files(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "files",
        &[
            "file",
            "format",
            "format_version",
            "why",
            "bytes",
            "lines",
            "message_lines",
            "messages",
            "other",
            "other_bytes",
            "noise",
            "blank",
            "continuation",
            "rejected",
            "duplicates",
            "duplicate_keys",
            "first_ts",
            "last_ts",
            "notes",
        ],
    );
    for file in &audit.ledger.files {
        grid.push(row![
            &file.file,
            &file.format,
            file.format_version.as_ref(),
            file.why.to_string(),
            file.bytes,
            file.lines,
            file.message_lines,
            file.messages,
            file.other,
            file.other_bytes,
            file.noise,
            file.blank,
            file.continuation,
            file.rejected,
            file.duplicates,
            file.duplicate_keys,
            file.first_ts,
            file.last_ts,
            file.notes.join("; "),
        ]);
    }
    grid
}

fn methods(audit: &Audit) -> Grid {
    let mut grid =
        Grid::new("methods", &["method", "requests", "results", "errors", "notifications", "unanswered", "orphans"]);
    for row in &audit.ledger.methods {
        grid.push(row![
            &row.method,
            row.requests,
            row.results,
            row.errors,
            row.notifications,
            row.unanswered,
            row.orphans
        ]);
    }
    grid
}

fn call_grids(audit: &Audit) -> Vec<Grid> {
    let mut codes = Grid::new("error_codes", &["server", "prompt", "code", "calls"]);
    let mut leaked = Grid::new("leaked", &["server", "prompt", "word", "calls"]);
    let mut grid = Grid::new(
        "calls",
        &[
            "server",
            "prompt",
            "calls",
            "wire_requests",
            "in_batches",
            "rendered",
            "error",
            "input_required",
            "unanswered",
            "not_captured",
            "unintended_calls",
            "leaked_calls",
            "guessed_sessions",
            "declaration",
            "in_effect_rules",
        ],
    );
    let pairs = |counts: Vec<(&str, u64)>| {
        counts.iter().map(|(word, count)| format!("{word}: {count}")).collect::<Vec<_>>().join("; ")
    };
    for row in &audit.calls {
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            row.calls,
            row.wire_requests,
            row.in_batches,
            row.rendered,
            row.error,
            row.input_required,
            row.unanswered,
            row.not_captured,
            row.unintended_calls,
            row.leaked_calls,
            row.guessed_sessions,
            pairs(row.declaration.iter().map(|(word, count)| (*word, *count)).collect()),
            pairs(row.in_effect_rules.iter().map(|(word, count)| (*word, *count)).collect()),
        ]);
        for (code, count) in &row.error_codes {
            let code = Cell::Figure(code.as_str().into());
            codes.push(row![&row.server, prompt(&row.prompt), code, *count]);
        }
        for (word, count) in &row.leaked {
            leaked.push(row![&row.server, prompt(&row.prompt), word, *count]);
        }
    }
    vec![grid, codes, leaked]
}

fn argument_grids(arguments: &[Argument]) -> Vec<Grid> {
    let key = ["server", "prompt", "argument"];
    let with = |name, columns: &[&'static str]| Grid::new(name, &[&key, columns].concat());
    let mut summary = with(
        "arguments",
        &[
            "declared",
            "required",
            "calls",
            "present",
            "absent",
            "zero_length",
            "empty",
            "not_captured",
            "not_declared_then",
            "not_judged",
            "distinct",
            "non_string",
            "intended_source",
            "intended_values",
            "unused",
            "intended",
            "unintended",
            "unintended_distinct",
            "unintended_rendered",
            "json_values",
            "broken_json_values",
            "singletons",
            "unseen_chance",
            "unseen_se",
            "new_values_expected",
            "rows_for_50",
            "rows_for_80",
            "rows_for_90",
            "rows_for_100",
        ],
    );
    let mut values = with(
        "values",
        &[
            "value",
            "json_type",
            "hash",
            "calls",
            "share",
            "class",
            "chars",
            "words",
            "sessions",
            "clients",
            "first_ts",
            "last_ts",
        ],
    );
    let mut classes = with("classes", &["class", "calls", "distinct"]);
    let mut ladder = with("ladder", &["repair", "recovered", "remaining"]);
    let mut hosts = with("hosts", &["client", "absent", "zero_length", "blank", "filled", "rendered", "error"]);
    let mut days = with("days", &["day", "intended", "unintended"]);
    for row in arguments {
        let subject = || row![&row.server, prompt(&row.prompt), &row.argument];
        let rows_for = |percent| row.tail.as_ref().and_then(|tail| tail.rows_for.get(percent).copied());
        summary.push(
            [
                subject(),
                row![
                    row.declared,
                    row.required,
                    row.calls,
                    row.present,
                    row.absent,
                    row.zero_length,
                    row.empty,
                    row.not_captured,
                    row.not_declared_then,
                    row.not_judged,
                    row.distinct,
                    row.non_string,
                    row.intended_source,
                    &row.intended_values,
                    &row.unused,
                    row.intended,
                    row.unintended,
                    row.unintended_distinct,
                    row.unintended_rendered,
                    row.json_values,
                    row.broken_json_values,
                    row.tail.as_ref().map(|tail| tail.singletons),
                    row.tail.as_ref().and_then(|tail| tail.unseen_chance),
                    row.tail.as_ref().and_then(|tail| tail.unseen_se),
                    row.tail.as_ref().and_then(|tail| tail.new_values_expected),
                    rows_for("50"),
                    rows_for("80"),
                    rows_for("90"),
                    rows_for("100"),
                ],
            ]
            .concat(),
        );
        for value in &row.values {
            values.push(
                [
                    subject(),
                    row![
                        Cell::Value(value.value.clone(), value.json_type),
                        value.json_type.as_str(),
                        Cell::Hash(value.value.hash),
                        value.calls,
                        share(value.calls, row.present),
                        value.class,
                        value.chars,
                        value.words,
                        value.sessions,
                        value.clients,
                        value.first_ts,
                        value.last_ts,
                    ],
                ]
                .concat(),
            );
        }
        for (class, count) in &row.classes {
            classes.push([subject(), row![*class, count.calls, count.distinct]].concat());
        }
        for step in &row.ladder {
            ladder.push([subject(), row![step.repair, step.recovered, step.remaining]].concat());
        }
        for host in &row.hosts {
            hosts.push(
                [
                    subject(),
                    row![
                        &host.client,
                        host.absent,
                        host.zero_length,
                        host.blank,
                        host.filled,
                        host.rendered,
                        host.error
                    ],
                ]
                .concat(),
            );
        }
        for (day, intended, unintended) in &row.days {
            days.push([subject(), row![day.clone(), *intended, *unintended]].concat());
        }
    }
    vec![summary, values, classes, ladder, hosts, days]
}

fn unknown_keys(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "unknown_keys",
        &[
            "server",
            "prompt",
            "key",
            "calls",
            "sessions",
            "clients",
            "rendered",
            "error",
            "input_required",
            "unanswered",
            "not_captured",
            "earlier_version",
            "rename_of",
            "evidence",
        ],
    );
    for row in &audit.unknown_keys {
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            &row.key,
            row.calls,
            row.sessions,
            &row.clients,
            row.rendered,
            row.error,
            row.input_required,
            row.unanswered,
            row.not_captured,
            row.earlier_version,
            row.rename_of.as_ref(),
            row.evidence.clone(),
        ]);
    }
    grid
}

fn missing_required(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "missing_required",
        &[
            "server",
            "prompt",
            "argument",
            "calls",
            "rendered",
            "error",
            "input_required",
            "unanswered",
            "not_captured",
            "clients",
            "required_but_empty",
        ],
    );
    for row in &audit.missing_required {
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            &row.argument,
            row.calls,
            row.rendered,
            row.error,
            row.input_required,
            row.unanswered,
            row.not_captured,
            &row.clients.keys().cloned().collect::<Vec<_>>(),
            row.required_but_empty,
        ]);
    }
    grid
}

fn elicitation_grids(elicitations: &[Elicitation]) -> Vec<Grid> {
    let key = ["server", "operation_kind", "operation"];
    let with = |name, columns: &[&'static str]| Grid::new(name, &[&key, columns].concat());
    let mut summary = with(
        "elicitations",
        &[
            "asked",
            "accept_usable",
            "accept_unusable",
            "accept_unchecked",
            "accept_url",
            "decline",
            "cancel",
            "error",
            "malformed",
            "unanswered",
            "not_captured",
            "acted_on_unusable",
            "refused_usable",
            "stray_replayed",
            "stray_key_not_asked",
            "stray_state_unknown",
            "schemas",
            "loops",
        ],
    );
    let mut reasons = with("reasons", &["reason", "answers"]);
    let mut causes = with("causes", &["cause", "answers"]);
    let mut reprompts = with("reprompts", &["cause", "asked_again", "usable_then"]);
    let mut origins = with("enum_origins", &["field", "origin", "answers"]);
    let mut handled = with("handled", &["verdict", "outcome", "answers"]);
    let mut chain = with("chain", &["step", "asked", "accepted"]);
    let mut months = with("months", &["month", "accepted", "unusable"]);
    let mut fields = with("fields", FIELD_COLUMNS);
    let mut field_reasons = with("field_reasons", &["field", "client", "version", "reason", "count"]);
    let mut bounds = with("bounds", &["field", "minimum", "maximum", "asked"]);
    let mut counts = with("counts", &["field", "value", "answers"]);
    for row in elicitations {
        let subject = || row![&row.server, row.operation_kind, &row.operation];
        summary.push(
            [
                subject(),
                row![
                    row.asked,
                    row.accept_usable,
                    row.accept_unusable,
                    row.accept_unchecked,
                    row.accept_url,
                    row.decline,
                    row.cancel,
                    row.error,
                    row.malformed,
                    row.unanswered,
                    row.not_captured,
                    row.acted_on_unusable,
                    row.refused_usable,
                    row.stray.replayed,
                    row.stray.key_not_asked,
                    row.stray.state_unknown,
                    row.schemas,
                    row.loops,
                ],
            ]
            .concat(),
        );
        for (reason, count) in &row.reasons {
            reasons.push([subject(), row![reason.as_str(), *count]].concat());
        }
        for (cause, count) in &row.causes {
            causes.push([subject(), row![*cause, *count]].concat());
        }
        for (cause, (asked, usable)) in &row.reprompts {
            reprompts.push([subject(), row![*cause, *asked, *usable]].concat());
        }
        for (verdict, outcomes) in &row.handled {
            for (outcome, count) in outcomes {
                handled.push([subject(), row![*verdict, *outcome, *count]].concat());
            }
        }
        for (step, asked, accepted) in &row.chain {
            chain.push([subject(), row![*step, *asked, *accepted]].concat());
        }
        for (month, accepted, unusable) in &row.months {
            months.push([subject(), row![month.clone(), *accepted, *unusable]].concat());
        }
        for field in &row.fields {
            fields.push([subject(), field_row(field)].concat());
            for by in &field.reasons_by_client {
                let version = by.version.as_ref();
                field_reasons
                    .push([subject(), row![&field.field, &by.client, version, by.reason.as_str(), by.count]].concat());
            }
            for declared in &field.declared_bounds {
                let (minimum, maximum) = (figure(declared.minimum.as_ref()), figure(declared.maximum.as_ref()));
                bounds.push([subject(), row![&field.field, minimum, maximum, declared.asked]].concat());
            }
            for (origin, count) in &field.enum_origins {
                origins.push([subject(), row![&field.field, *origin, *count]].concat());
            }
            for (value, count) in &field.counts {
                let value = Cell::Value(value.clone(), crate::schema::ValueType::String);
                counts.push([subject(), row![&field.field, value, *count]].concat());
            }
        }
    }
    vec![summary, reasons, causes, reprompts, handled, chain, months, fields, field_reasons, bounds, counts, origins]
}

const FIELD_COLUMNS: &[&str] = &[
    "field",
    "declared",
    "type",
    "accepted",
    "usable",
    "unusable",
    "missing_required",
    "absent_optional",
    "no_content",
    "unchecked",
    "measure",
    "n",
    "distinct",
    "min",
    "max",
    "mean",
    "sd",
    "p1",
    "p5",
    "median",
    "p95",
    "p99",
    "text_numbers",
    "text_min",
    "text_max",
    "shows_at_extremes",
    "cannot_show",
    "only_extremes",
    "enum_varies",
    "bounds_vary",
    "echoed",
    "long_unlimited",
    "min_file",
    "min_position",
    "min_ts",
    "min_session",
    "max_file",
    "max_position",
    "max_ts",
    "max_session",
];

fn field_row(field: &Field) -> Vec<Cell> {
    let mut cells = row![
        &field.field,
        field.declared,
        field.kind.as_ref(),
        field.accepted,
        field.usable,
        field.unusable,
        field.missing_required,
        field.absent_optional,
        field.no_content,
        field.unchecked,
        field.measure,
        field.n,
        field.distinct,
        figure(field.min.as_ref()),
        figure(field.max.as_ref()),
        field.mean,
        field.sd,
        field.p1,
        field.p5,
        field.median,
        field.p95,
        field.p99,
        field.text_numbers.n,
        figure(field.text_numbers.min.as_ref()),
        figure(field.text_numbers.max.as_ref()),
        field.shows_at_extremes,
        field.cannot_show,
        field.only_extremes,
        field.enum_varies,
        field.bounds_vary,
        field.echoed,
        field.long_unlimited,
    ];
    cells.extend(evidence(field.min_at.as_ref()));
    cells.extend(evidence(field.max_at.as_ref()));
    cells
}

fn clients(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "clients",
        &[
            "client",
            "version",
            "calls",
            "unintended_calls",
            "elicited",
            "usable",
            "unusable",
            "unusable_rate",
            "unusable_low",
            "unusable_high",
            "latency_p50_ms",
            "latency_p95_ms",
            "fast_share",
            "defaults_share",
            "same_as_previous_share",
            "nobody_at_keyboard",
            "not_declared",
            "content_without_accept",
        ],
    );
    for row in &audit.clients {
        let [point, low, high] = rate(row.unusable_rate);
        grid.push(row![
            &row.client,
            row.version.as_ref(),
            row.calls,
            row.unintended_calls,
            row.elicited,
            row.usable,
            row.unusable,
            point,
            low,
            high,
            row.latency_p50_ms,
            row.latency_p95_ms,
            share_of(row.fast_share),
            share_of(row.defaults_share),
            share_of(row.same_as_previous_share),
            row.nobody_at_keyboard,
            row.not_declared,
            row.content_without_accept,
        ]);
    }
    grid
}

fn sessions(audit: &Audit) -> Grid {
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

fn session_verdicts(audit: &Audit) -> Grid {
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

fn handlers(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "handlers",
        &["server", "prompt", "kind", "argument", "seen", "rendered", "rendered_empty", "error", "defects"],
    );
    for row in &audit.handlers {
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            row.kind,
            row.argument.as_ref(),
            row.seen,
            row.rendered,
            row.rendered_empty,
            row.error,
            row.defects,
        ]);
    }
    grid
}

fn contract(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "contract",
        &[
            "server",
            "prompt",
            "version",
            "first_seen",
            "last_seen",
            "arguments",
            "diff",
            "list_changed",
            "listed_again",
            "never_listed_again",
        ],
    );
    for row in &audit.contract {
        grid.push(row![
            &row.server,
            &row.prompt,
            row.version,
            row.first_seen,
            row.last_seen,
            &row.arguments,
            row.diff.join("; "),
            row.list_changed,
            row.listed_again,
            row.never_listed_again,
        ]);
    }
    grid
}

fn completion(audit: &Audit) -> Grid {
    let mut grid = Grid::new(
        "completion",
        &[
            "server",
            "prompt",
            "argument",
            "asked",
            "offered",
            "capped",
            "error",
            "picked",
            "edited",
            "ignored",
            "nothing_offered",
            "no_later_call",
        ],
    );
    for row in &audit.completion {
        grid.push(row![
            &row.server,
            prompt(&row.prompt),
            row.argument.as_ref(),
            row.asked,
            row.offered,
            row.capped,
            row.error,
            row.picked,
            row.edited,
            row.ignored,
            row.nothing_offered,
            row.no_later_call,
        ]);
    }
    grid
}

fn findings(audit: &Audit) -> Vec<Grid> {
    let mut summary = Grid::new("findings", &["fingerprint", "rule", "severity", "subject", "sentence", "next_step"]);
    let mut rows = Grid::new("evidence", &["fingerprint", "rule", "file", "position", "ts", "session"]);
    for finding in &audit.findings {
        summary.push(row![
            finding.fingerprint(),
            finding.rule,
            super::words::severity(finding.severity),
            &finding.subject,
            Cell::Sentence(finding.sentence.clone()),
            finding.next_step.clone(),
        ]);
        for at in &finding.evidence {
            let mut cells = row![finding.fingerprint(), finding.rule];
            cells.extend(evidence(Some(at)));
            rows.push(cells);
        }
    }
    vec![summary, rows]
}
