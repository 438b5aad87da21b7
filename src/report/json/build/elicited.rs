//! Elicitations, their fields, and clients.

use super::{Names, finite, reasons, words};
use crate::audit::tables as from;
use crate::report::json::document::{
    ChainStep, Client, DeclaredBounds, Elicitation, Field, Month, Rate, ReasonByClient, Reprompt, Stray, TextNumbers,
};
use std::collections::BTreeMap;

impl Names<'_> {
    pub fn elicitation(&self, row: &from::Elicitation) -> Elicitation {
        Elicitation {
            server: self.name(&row.server),
            operation_kind: row.operation_kind,
            operation: self.name(&row.operation),
            asked: row.asked,
            accept_usable: row.accept_usable,
            accept_unusable: row.accept_unusable,
            accept_unchecked: row.accept_unchecked,
            accept_url: row.accept_url,
            decline: row.decline,
            cancel: row.cancel,
            error: row.error,
            malformed: row.malformed,
            unanswered: row.unanswered,
            not_captured: row.not_captured,
            acted_on_unusable: row.acted_on_unusable,
            refused_usable: row.refused_usable,
            stray: Stray {
                replayed: row.stray.replayed,
                key_not_asked: row.stray.key_not_asked,
                state_unknown: row.stray.state_unknown,
            },
            reasons: reasons(&row.reasons),
            causes: words(&row.causes),
            handled: row.handled.iter().map(|(verdict, counts)| ((*verdict).to_owned(), words(counts))).collect(),
            schemas: row.schemas,
            chain: row
                .chain
                .iter()
                .map(|(step, asked, accepted)| ChainStep { step: *step, asked: *asked, accepted: *accepted })
                .collect(),
            loops: row.loops,
            reprompts: row
                .reprompts
                .iter()
                .map(|(cause, (asked, usable))| ((*cause).to_owned(), Reprompt { asked: *asked, usable: *usable }))
                .collect(),
            months: row
                .months
                .iter()
                .map(|(month, accepted, unusable)| Month {
                    month: month.clone(),
                    accepted: *accepted,
                    unusable: *unusable,
                })
                .collect(),
            fields: row.fields.iter().map(|field| self.field(field)).collect(),
        }
    }

    fn field(&self, row: &from::Field) -> Field {
        let mut counts = BTreeMap::new();
        for (value, count) in &row.counts {
            let key = match self.0.exact(value).text {
                Some(text) => text,
                None => self.0.value(value).whole().to_owned(),
            };
            *counts.entry(key).or_default() += count;
        }
        Field {
            field: self.name(&row.field),
            declared: row.declared,
            kind: self.optional(row.kind.as_ref()),
            accepted: row.accepted,
            usable: row.usable,
            unusable: row.unusable,
            missing_required: row.missing_required,
            absent_optional: row.absent_optional,
            no_content: row.no_content,
            unchecked: row.unchecked,
            reasons: reasons(&row.reasons),
            reasons_by_client: row
                .reasons_by_client
                .iter()
                .map(|by| ReasonByClient {
                    client: self.name(&by.client),
                    version: self.optional(by.version.as_ref()),
                    reason: by.reason.as_str(),
                    count: by.count,
                })
                .collect(),
            declared_bounds: row
                .declared_bounds
                .iter()
                .map(|bounds| DeclaredBounds {
                    minimum: self.optional(bounds.minimum.as_ref()),
                    maximum: self.optional(bounds.maximum.as_ref()),
                    asked: bounds.asked,
                })
                .collect(),
            measure: row.measure,
            n: row.n,
            distinct: row.distinct,
            min: self.optional(row.min.as_ref()),
            max: self.optional(row.max.as_ref()),
            mean: finite(row.mean),
            sd: finite(row.sd),
            p1: finite(row.p1),
            p5: finite(row.p5),
            median: finite(row.median),
            p95: finite(row.p95),
            p99: finite(row.p99),
            text_numbers: TextNumbers {
                n: row.text_numbers.n,
                min: self.optional(row.text_numbers.min.as_ref()),
                max: self.optional(row.text_numbers.max.as_ref()),
            },
            counts,
            min_at: row.min_at.as_ref().map(|at| self.evidence(at)),
            max_at: row.max_at.as_ref().map(|at| self.evidence(at)),
            only_extremes: row.only_extremes,
            shows_at_extremes: row.shows_at_extremes,
            cannot_show: row.cannot_show,
            enum_varies: row.enum_varies,
            bounds_vary: row.bounds_vary,
            enum_origins: words(&row.enum_origins),
            echoed: row.echoed,
            long_unlimited: row.long_unlimited,
        }
    }

    pub fn client(&self, row: &from::Client) -> Client {
        Client {
            client: self.name(&row.client),
            version: self.optional(row.version.as_ref()),
            calls: row.calls,
            unintended_calls: row.unintended_calls,
            elicited: row.elicited,
            usable: row.usable,
            unusable: row.unusable,
            unusable_rate: row.unusable_rate.map(|rate| Rate { rate: rate.rate, low: rate.low, high: rate.high }),
            latency_p50_ms: finite(row.latency_p50_ms),
            latency_p95_ms: finite(row.latency_p95_ms),
            fast_share: finite(row.fast_share),
            defaults_share: finite(row.defaults_share),
            same_as_previous_share: finite(row.same_as_previous_share),
            nobody_at_keyboard: row.nobody_at_keyboard,
            not_declared: row.not_declared,
            content_without_accept: row.content_without_accept,
        }
    }
}
