//! From the tables of an audit to the members of `report.json`.

mod completion;
mod elicited;
mod questions;
mod rates;

use super::document::*;
use crate::audit::tables as from;
use crate::finding;
use crate::protocol::message::{Text, Ts};
use crate::report::model::{RenderOptions, Report};
use crate::report::printable::Page;
use crate::report::time::rfc3339;
use crate::schema::Reason;
use std::collections::BTreeMap;

pub fn document(report: &Report, options: &RenderOptions) -> Document {
    let names = Names(Page::new(report, options));
    let audit = &report.audit;
    Document {
        schema: super::SCHEMA,
        run: RunFacts {
            version: report.run.version.to_string(),
            at: rfc3339(report.run.at),
            revealed: report.run.revealed,
            lenient: report.run.lenient,
            complete: report.run.complete,
        },
        errors: report
            .errors
            .iter()
            .map(|error| InputFault {
                file: names.name(&error.file),
                message: names.0.prose(&error.message).whole().to_owned(),
            })
            .collect(),
        ledger: names.ledger(&audit.ledger),
        calls: audit.calls.iter().map(|row| names.calls(row)).collect(),
        arguments: audit.arguments.iter().map(|row| names.argument(row)).collect(),
        unknown_keys: audit.unknown_keys.iter().map(|row| names.unknown_key(row)).collect(),
        missing_required: audit.missing_required.iter().map(|row| names.missing_required(row)).collect(),
        elicitations: audit.elicitations.iter().map(|row| names.elicitation(row)).collect(),
        questions: names.questions(&audit.questions),
        clients: audit.clients.iter().map(|row| names.client(row)).collect(),
        sessions: audit.sessions.iter().map(|row| names.session(row)).collect(),
        session_verdicts: audit.session_verdicts.iter().map(|row| names.session_verdict(row)).collect(),
        handlers: audit.handlers.iter().map(|row| names.handler(row)).collect(),
        contract: audit.contract.iter().map(|row| names.contract(row)).collect(),
        provenance: super::described::Never,
        completion: audit.completion.iter().map(|row| names.completion(row)).collect(),
        completion_gaps: audit.completion_gaps.iter().map(|row| names.completion_gap(row)).collect(),
        rates: audit.rates.iter().map(|row| names.rate_series(row)).collect(),
        appearances: audit.appearances.iter().map(|row| names.appearance(row)).collect(),
        findings: audit.findings.iter().map(|row| names.finding(row)).collect(),
        thresholds: audit
            .thresholds
            .iter()
            .map(|moved| MovedThreshold { name: moved.name, value: moved.value, default: moved.default })
            .collect(),
    }
}

/// Names and values as a machine may have them.
struct Names<'a>(Page<'a>);

fn ts(ts: Option<Ts>) -> Option<String> {
    ts.and_then(rfc3339)
}

/// JSON has no infinities.
fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

fn words(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
}

fn reasons(counts: &BTreeMap<Reason, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(reason, count)| (reason.as_str().to_owned(), *count)).collect()
}

impl Names<'_> {
    fn name(&self, name: &str) -> String {
        self.0.exact_name(name)
    }

    fn optional(&self, name: Option<&Text>) -> Option<String> {
        name.map(|name| self.name(name))
    }

    fn list(&self, names: &[Text]) -> Vec<String> {
        names.iter().map(|name| self.name(name)).collect()
    }

    /// Names that a mask makes equal are counted together.
    fn counts<'t>(&self, counts: impl IntoIterator<Item = (&'t Text, &'t u64)>) -> BTreeMap<String, u64> {
        let mut out = BTreeMap::new();
        for (name, count) in counts {
            *out.entry(self.name(name)).or_default() += count;
        }
        out
    }

    fn evidence(&self, evidence: &from::Evidence) -> Evidence {
        Evidence {
            file: self.name(&evidence.file),
            position: evidence.position,
            ts: ts(evidence.ts),
            session: self.optional(evidence.session.as_ref()),
        }
    }

    fn ledger(&self, ledger: &from::Ledger) -> Ledger {
        let totals = &ledger.totals;
        Ledger {
            files: ledger
                .files
                .iter()
                .map(|file| LedgerFile {
                    file: self.name(&file.file),
                    format: self.name(&file.format),
                    format_version: self.optional(file.format_version.as_ref()),
                    why: self.0.prose(&file.why).whole().to_owned(),
                    bytes: file.bytes,
                    lines: file.lines,
                    message_lines: file.message_lines,
                    messages: file.messages,
                    other: file.other,
                    other_bytes: file.other_bytes,
                    noise: file.noise,
                    blank: file.blank,
                    continuation: file.continuation,
                    rejected: file.rejected,
                    duplicates: file.duplicates,
                    duplicate_keys: file.duplicate_keys,
                    first_ts: ts(file.first_ts),
                    last_ts: ts(file.last_ts),
                    notes: file.notes.iter().map(|note| self.0.prose(note).whole().to_owned()).collect(),
                })
                .collect(),
            methods: ledger
                .methods
                .iter()
                .map(|row| LedgerMethod {
                    method: self.name(&row.method),
                    requests: row.requests,
                    results: row.results,
                    errors: row.errors,
                    notifications: row.notifications,
                    unanswered: row.unanswered,
                    orphans: row.orphans,
                })
                .collect(),
            totals: LedgerTotals {
                files: totals.files,
                messages: totals.messages,
                prompt_calls: totals.prompt_calls,
                prompt_wire_requests: totals.prompt_wire_requests,
                elicitations: totals.elicitations,
                sessions: totals.sessions,
                rejected: totals.rejected,
            },
        }
    }

    fn calls(&self, row: &from::PromptCalls) -> Calls {
        Calls {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            prompt_captured: row.prompt_captured,
            calls: row.calls,
            wire_requests: row.wire_requests,
            in_batches: row.in_batches,
            rendered: row.rendered,
            error: row.error,
            input_required: row.input_required,
            unanswered: row.unanswered,
            not_captured: row.not_captured,
            arguments_not_captured: row.arguments_not_captured,
            error_codes: row.error_codes.clone(),
            unintended_calls: row.unintended_calls,
            declaration: words(&row.declaration),
            in_effect_rules: words(&row.in_effect_rules),
            guessed_sessions: row.guessed_sessions,
            leaked: self.counts(&row.leaked),
            leaked_calls: row.leaked_calls,
        }
    }

    fn argument(&self, row: &from::Argument) -> Argument {
        Argument {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            argument: self.name(&row.argument),
            declared: row.declared,
            required: row.required,
            calls: row.calls,
            present: row.present,
            absent: row.absent,
            zero_length: row.zero_length,
            empty: row.empty,
            not_captured: row.not_captured,
            not_declared_then: row.not_declared_then,
            not_judged: row.not_judged,
            distinct: row.distinct,
            non_string: row.non_string,
            intended_source: row.intended_source.map(str::to_owned),
            intended_values: self.list(&row.intended_values),
            unused: self.list(&row.unused),
            intended: row.intended,
            unintended: row.unintended,
            unintended_distinct: row.unintended_distinct,
            unintended_rendered: row.unintended_rendered,
            classes: row
                .classes
                .iter()
                .map(|(class, count)| {
                    ((*class).to_owned(), ClassCount { calls: count.calls, distinct: count.distinct })
                })
                .collect(),
            ladder: row
                .ladder
                .iter()
                .map(|step| Repair {
                    repair: step.repair.to_owned(),
                    recovered: step.recovered,
                    remaining: step.remaining,
                })
                .collect(),
            tail: row.tail.as_ref().map(tail),
            hosts: row.hosts.iter().map(|host| self.host(host)).collect(),
            json_values: row.json_values,
            broken_json_values: row.broken_json_values,
            days: row
                .days
                .iter()
                .map(|(day, intended, unintended)| Day {
                    day: day.clone(),
                    intended: *intended,
                    unintended: *unintended,
                })
                .collect(),
            values: row.values.iter().map(|value| self.value(value)).collect(),
        }
    }

    fn host(&self, host: &from::Host) -> Host {
        Host {
            client: self.name(&host.client),
            absent: host.absent,
            zero_length: host.zero_length,
            blank: host.blank,
            filled: host.filled,
            rendered: host.rendered,
            error: host.error,
        }
    }

    fn value(&self, row: &from::ValueCount) -> ValueItem {
        let exact = self.0.exact(&row.value);
        ValueItem {
            value: exact.text,
            withheld: exact.withheld,
            hash: self.0.digest(&row.value),
            json_type: row.json_type.as_str(),
            calls: row.calls,
            class: row.class,
            chars: row.chars,
            words: row.words,
            sessions: row.sessions,
            clients: row.clients,
            first_ts: ts(row.first_ts),
            last_ts: ts(row.last_ts),
        }
    }

    fn unknown_key(&self, row: &from::UnknownKey) -> UnknownKey {
        UnknownKey {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            key: self.name(&row.key),
            calls: row.calls,
            sessions: row.sessions,
            clients: self.list(&row.clients),
            rendered: row.rendered,
            error: row.error,
            input_required: row.input_required,
            unanswered: row.unanswered,
            not_captured: row.not_captured,
            earlier_version: row.earlier_version,
            rename_of: self.optional(row.rename_of.as_ref()),
            evidence: row.evidence.as_ref().map(|text| self.0.prose(text).whole().to_owned()),
        }
    }

    fn missing_required(&self, row: &from::MissingRequired) -> MissingRequired {
        MissingRequired {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            argument: self.name(&row.argument),
            calls: row.calls,
            rendered: row.rendered,
            error: row.error,
            input_required: row.input_required,
            unanswered: row.unanswered,
            not_captured: row.not_captured,
            clients: self.counts(&row.clients),
            required_but_empty: row.required_but_empty,
        }
    }

    fn session(&self, row: &from::SessionUnit) -> Session {
        Session {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            session: self.name(&row.session),
            client: self.optional(row.client.as_ref()),
            client_version: self.optional(row.client_version.as_ref()),
            session_quality: row.session_quality.as_str(),
            version_in_effect: row.version_in_effect,
            attempts: row.attempts,
            failing: row.failing,
            mismatched: row.mismatched,
            degraded: row.degraded,
            bad: row.bad,
            failing_pattern: row.failing_pattern,
            mismatched_pattern: row.mismatched_pattern,
            bad_pattern: row.bad_pattern,
            cause: row.cause,
            stale: row.stale,
            listed_at: ts(row.listed_at),
            declaration_seen: row.declaration_seen,
            told: row.told,
            outdated_keys: self.list(&row.outdated_keys),
            first: row.first.as_ref().map(|at| self.evidence(at)),
        }
    }

    fn session_verdict(&self, row: &from::SessionVerdict) -> SessionVerdict {
        SessionVerdict {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            units: row.units,
            attempts: row.attempts,
            bad: row.bad,
            track: row.track,
            tested_bad: row.tested_bad,
            pooled_rate: finite(row.pooled_rate),
            all_bad_seen: row.all_bad_seen,
            all_bad_expected: finite(row.all_bad_expected),
            share_in_runs: finite(row.share_in_runs),
            icc: finite(row.icc),
            n_effective: finite(row.n_effective),
            p_value: finite(row.p_value),
            p_adjusted: finite(row.p_adjusted),
            verdict: row.verdict,
            bad_in_runs: row.bad_in_runs,
            bad_mixed: row.bad_mixed,
            bad_single: row.bad_single,
            across_change: row.across_change.as_ref().map(|change| AcrossChange {
                listed_again_bad: change.listed_again_bad,
                listed_again_clean: change.listed_again_clean,
                not_listed_bad: change.not_listed_bad,
                not_listed_clean: change.not_listed_clean,
                opened_later_bad: change.opened_later_bad,
                opened_later_clean: change.opened_later_clean,
                fisher_p: finite(change.fisher_p),
            }),
        }
    }

    fn handler(&self, row: &from::Handler) -> Handler {
        Handler {
            server: self.name(&row.server),
            prompt: self.optional(row.prompt.as_ref()),
            kind: row.kind,
            argument: self.optional(row.argument.as_ref()),
            seen: row.seen,
            rendered: row.rendered,
            rendered_empty: row.rendered_empty,
            error: row.error,
            defects: row.defects,
        }
    }

    fn contract(&self, row: &from::ContractVersion) -> Contract {
        Contract {
            server: self.name(&row.server),
            prompt: self.name(&row.prompt),
            version: row.version,
            first_seen: ts(row.first_seen),
            last_seen: ts(row.last_seen),
            arguments: self.list(&row.arguments),
            diff: row.diff.iter().map(|text| self.0.prose(text).whole().to_owned()).collect(),
            list_changed: row.list_changed,
            listed_again: row.listed_again,
            never_listed_again: row.never_listed_again,
        }
    }

    fn finding(&self, row: &finding::Finding) -> FindingItem {
        FindingItem {
            rule: row.rule,
            severity: row.severity.as_str().to_owned(),
            fingerprint: row.fingerprint(),
            subject: self.list(&row.subject),
            sentence: self.0.sentence(&row.sentence).whole().to_owned(),
            numbers: row
                .numbers
                .iter()
                .filter(|(_, number)| number.is_finite())
                .map(|(name, number)| ((*name).to_owned(), *number))
                .collect(),
            evidence: row.evidence.iter().map(|at| self.evidence(at)).collect(),
            next_step: self.0.prose(&row.next_step).whole().to_owned(),
        }
    }
}

fn tail(tail: &from::Tail) -> Tail {
    Tail {
        singletons: tail.singletons,
        mean: finite(tail.mean),
        unseen_chance: finite(tail.unseen_chance),
        unseen_se: finite(tail.unseen_se),
        new_values_expected: finite(tail.new_values_expected),
        rows_for: words(&tail.rows_for),
        holdout: tail.holdout.map(|test| Holdout {
            train_calls: test.train_calls,
            test_calls: test.test_calls,
            rows: test.rows,
            covered: test.covered,
            low: test.low,
            high: test.high,
        }),
    }
}
