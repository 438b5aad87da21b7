//! Tables of prompt calls, their arguments and keys, handlers, declarations and completions.

use crate::audit::tables::{Argument, Audit};
use crate::report::grid::{Cell, Grid, prompt, share};

pub fn call_grids(audit: &Audit) -> Vec<Grid> {
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
            "arguments_not_captured",
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
            row.arguments_not_captured,
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

pub fn argument_grids(arguments: &[Argument]) -> Vec<Grid> {
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

pub fn unknown_keys(audit: &Audit) -> Grid {
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

pub fn missing_required(audit: &Audit) -> Grid {
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

pub fn handlers(audit: &Audit) -> Grid {
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

pub fn contract(audit: &Audit) -> Grid {
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
