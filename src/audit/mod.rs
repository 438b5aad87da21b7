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
    let context = Context::new(frames, expectations);
    let (unknown_keys, missing_required) = keys::keys(&context);
    let (elicitations, questions, mut findings) = elicited::elicitations(&context);
    let (clients, more) = clients::clients(&context);
    findings.extend(more);
    let (sessions, session_verdicts, more) = sessions::sessions(&context);
    findings.extend(more);
    let (handlers, more) = handler::handlers(&context);
    findings.extend(more);
    let (rates, more) = rates::rates(&context);
    findings.extend(more);
    let arguments = values::arguments(&context);
    let completion = completion::completion(&context);
    let completion_gaps = completion::gaps(&arguments, &completion);
    findings.extend(completion::findings(&context, &completion, &completion_gaps));
    let mut audit = Audit {
        ledger: ledger::ledger(&context),
        calls: calls::calls(&context),
        arguments,
        unknown_keys,
        missing_required,
        elicitations,
        questions,
        clients,
        sessions,
        session_verdicts,
        handlers,
        contract: contract::contract(&context),
        completion,
        completion_gaps,
        rates,
        appearances: rates::appearances(&context),
        rejected: frames.rejected.clone(),
        findings: Vec::new(),
        thresholds: expectations.thresholds.moved(),
    };
    close::check(&audit)?;
    findings.extend(findings::findings(&context, &audit));
    findings.extend(hops::findings(&context));
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
