//! Pure functions from frames and expectations to tables and findings.

pub mod calls;
pub mod clients;
pub mod close;
pub mod completion;
pub mod context;
pub mod contract;
pub mod contract_index;
pub mod effect;
pub mod elicited;
pub mod findings;
#[cfg(test)]
pub mod fixture;
pub mod handler;
pub mod hops;
pub mod intended;
pub mod keys;
pub mod ledger;
pub mod rates;
pub mod sessions;
pub mod stats;
pub mod tables;
mod unmet;
pub mod values;
pub mod wording;

pub use close::Unclosed;
pub use unmet::unmet;

use crate::expect::Expectations;
use crate::finding::Finding;
use crate::frames::Frames;
use context::Context;
use tables::Audit;

/// All tables and findings, sorted.
///
/// # Errors
/// A sum that does not close: an internal error that names table, row and equation.
pub fn audit(frames: &Frames, expectations: &Expectations) -> Result<Audit, Unclosed> {
    let context = &Context::new(frames, expectations);
    let mut audit =
        Audit { rejected: frames.rejected.clone(), thresholds: expectations.thresholds.moved(), ..Audit::default() };
    let mut found: [Vec<Finding>; 6] = Default::default();
    {
        let audit = &mut audit;
        let [of_questions, of_clients, of_sessions, of_handlers, of_rates, of_hops] = &mut found;
        // Each fills tables of its own, so that they run side by side; the dearest first.
        rayon::scope(|scope| {
            scope.spawn(|_| (audit.sessions, audit.session_verdicts, *of_sessions) = sessions::sessions(context));
            scope.spawn(|_| audit.arguments = values::arguments(context));
            scope.spawn(|_| {
                (audit.elicitations, audit.questions, *of_questions) = elicited::elicitations(context);
            });
            scope.spawn(|_| (audit.rates, *of_rates) = rates::rates(context));
            scope.spawn(|_| (audit.handlers, *of_handlers) = handler::handlers(context));
            scope.spawn(|_| (audit.clients, *of_clients) = clients::clients(context));
            scope.spawn(|_| (audit.unknown_keys, audit.missing_required) = keys::keys(context));
            scope.spawn(|_| audit.calls = calls::calls(context));
            scope.spawn(|_| audit.contract = contract::contract(context));
            scope.spawn(|_| audit.completion = completion::completion(context));
            scope.spawn(|_| audit.appearances = rates::appearances(context));
            scope.spawn(|_| audit.ledger = ledger::ledger(context));
            scope.spawn(|_| *of_hops = hops::findings(context));
        });
    }
    audit.completion_gaps = completion::gaps(&audit.arguments, &audit.completion);
    close::check(&audit)?;
    let mut findings = found.concat();
    findings.extend(completion::findings(context, &audit.completion, &audit.completion_gaps));
    findings.extend(findings::findings(context, &audit));
    audit.findings = reported(findings, expectations);
    Ok(audit)
}

/// Worst first; what the operator suppressed is left out.
fn reported(mut findings: Vec<Finding>, expectations: &Expectations) -> Vec<Finding> {
    findings.retain(|finding| {
        let fingerprint = finding.fingerprint();
        !expectations.suppressed.iter().any(|known| **known == *finding.rule || **known == *fingerprint)
    });
    findings.sort_by(|a, b| {
        (a.severity, b.weight, a.rule, &a.subject, &a.key).cmp(&(b.severity, a.weight, b.rule, &b.subject, &b.key))
    });
    findings
}
