//! Tables of elicitations, their fields, and clients.

use crate::audit::tables::{Audit, Elicitation, Field};
use crate::report::grid::{Cell, Grid, evidence, figure, rate, share_of};

pub fn elicitation_grids(elicitations: &[Elicitation]) -> Vec<Grid> {
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
    vec![summary, reasons, causes, reprompts, handled, months, fields, field_reasons, bounds, counts, origins]
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

pub fn clients(audit: &Audit) -> Grid {
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
