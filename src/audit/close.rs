//! Sums that must close. One that does not is a fault of ours and stops the run: a wrong number is never printed.

mod completion;
mod questions;
mod rates;

use super::tables::{
    Argument, Audit, Elicitation, Ledger, LedgerFile, LedgerMethod, MissingRequired, PromptCalls, UnknownKey,
};

/// A sum that does not close: an internal error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("internal error: in table {table}, row {row}: {equation} does not close ({total} against {sum})")]
pub struct Unclosed {
    pub table: &'static str,
    /// The row's names, made printable.
    pub row: String,
    pub equation: &'static str,
    pub total: u64,
    pub sum: u64,
}

/// Checks every equation of every table.
pub fn check(audit: &Audit) -> Result<(), Unclosed> {
    audit.ledger.files.iter().try_for_each(file)?;
    audit.ledger.methods.iter().try_for_each(method)?;
    messages(&audit.ledger)?;
    audit.calls.iter().try_for_each(calls)?;
    audit.arguments.iter().try_for_each(argument)?;
    audit.unknown_keys.iter().try_for_each(unknown_key)?;
    audit.missing_required.iter().try_for_each(missing_required)?;
    audit.elicitations.iter().try_for_each(elicitation)?;
    questions::check(&audit.questions)?;
    audit.completion.iter().try_for_each(completion::check)?;
    audit.rates.iter().try_for_each(rates::check)
}

fn equal(
    table: &'static str,
    names: &[Option<&str>],
    equation: &'static str,
    total: u64,
    terms: &[u64],
) -> Result<(), Unclosed> {
    let sum = terms.iter().sum();
    if total == sum {
        return Ok(());
    }
    let names: Vec<String> =
        names.iter().map(|name| name.map_or("(none)".to_owned(), |name| name.escape_debug().collect())).collect();
    Err(Unclosed { table, row: names.join(" / "), equation, total, sum })
}

fn file(row: &LedgerFile) -> Result<(), Unclosed> {
    equal(
        "ledger.files",
        &[Some(&row.file)],
        "lines = message lines + continuation + noise + blank + rejected + duplicates",
        row.lines,
        &[row.message_lines, row.continuation, row.noise, row.blank, row.rejected, row.duplicates],
    )
}

/// An answer that has no request is counted under the method `?`, as the result or error it is and as an orphan.
fn method(row: &LedgerMethod) -> Result<(), Unclosed> {
    equal(
        "ledger.methods",
        &[Some(&row.method)],
        "requests + orphans = results + errors + unanswered",
        row.requests + row.orphans,
        &[row.results, row.errors, row.unanswered],
    )
}

fn messages(ledger: &Ledger) -> Result<(), Unclosed> {
    let kinds = |row: &LedgerMethod| row.requests + row.results + row.errors + row.notifications;
    let by_method: Vec<u64> = ledger.methods.iter().map(kinds).collect();
    equal(
        "ledger.totals",
        &[Some("messages")],
        "messages = sum of requests + results + errors + notifications of all methods",
        ledger.totals.messages,
        &by_method,
    )
}

fn calls(row: &PromptCalls) -> Result<(), Unclosed> {
    let names = [Some(&*row.server), row.prompt.as_deref()];
    let outcomes = [row.rendered, row.error, row.input_required, row.unanswered, row.not_captured];
    equal(
        "calls",
        &names,
        "calls = rendered + error + input_required + unanswered + not_captured",
        row.calls,
        &outcomes,
    )?;
    let codes: Vec<u64> = row.error_codes.values().copied().collect();
    equal("calls", &names, "error = sum of error_codes", row.error, &codes)?;
    let declaration: Vec<u64> = row.declaration.values().copied().collect();
    equal("calls", &names, "calls = sum of declaration", row.calls, &declaration)
}

fn argument(row: &Argument) -> Result<(), Unclosed> {
    let names = [Some(&*row.server), row.prompt.as_deref(), Some(&*row.argument)];
    let equal = |equation, total, terms: &[u64]| equal("arguments", &names, equation, total, terms);
    equal(
        "calls = present + absent + not_captured + not_declared_then",
        row.calls,
        &[row.present, row.absent, row.not_captured, row.not_declared_then],
    )?;
    let values: Vec<u64> = row.values.iter().map(|value| value.calls).collect();
    equal("present = sum of values", row.present, &values)?;
    let hosts: Vec<u64> =
        row.hosts.iter().flat_map(|host| [host.absent, host.zero_length, host.blank, host.filled]).collect();
    equal("present + absent = sum of hosts", row.present + row.absent, &hosts)?;
    if row.intended_source.is_none() {
        return Ok(());
    }
    equal(
        "present = intended + unintended + not_judged",
        row.present,
        &[row.intended, row.unintended, row.not_judged],
    )?;
    let classes: Vec<u64> = row.classes.values().map(|class| class.calls).collect();
    equal("unintended = sum of classes", row.unintended, &classes)?;
    row.ladder.iter().try_for_each(|step| {
        equal("unintended = recovered + remaining", row.unintended, &[step.recovered, step.remaining])
    })
}

fn unknown_key(row: &UnknownKey) -> Result<(), Unclosed> {
    equal(
        "unknown_keys",
        &[Some(&row.server), row.prompt.as_deref(), Some(&row.key)],
        "calls = rendered + error + input_required + unanswered + not_captured",
        row.calls,
        &[row.rendered, row.error, row.input_required, row.unanswered, row.not_captured],
    )
}

fn missing_required(row: &MissingRequired) -> Result<(), Unclosed> {
    let names = [Some(&*row.server), row.prompt.as_deref(), Some(&*row.argument)];
    equal(
        "missing_required",
        &names,
        "calls = rendered + error + input_required + unanswered + not_captured",
        row.calls,
        &[row.rendered, row.error, row.input_required, row.unanswered, row.not_captured],
    )?;
    let clients: Vec<u64> = row.clients.values().copied().collect();
    equal("missing_required", &names, "calls = sum of clients", row.calls, &clients)
}

fn elicitation(row: &Elicitation) -> Result<(), Unclosed> {
    let names = [Some(&*row.server), Some(row.operation_kind), Some(&*row.operation)];
    let accepted = row.accept_usable + row.accept_unusable + row.accept_unchecked;
    equal(
        "elicitations",
        &names,
        "asked = accept usable + unusable + unchecked + url + decline + cancel + error + malformed + unanswered + not captured",
        row.asked,
        &[
            accepted,
            row.accept_url,
            row.decline,
            row.cancel,
            row.error,
            row.malformed,
            row.unanswered,
            row.not_captured,
        ],
    )?;
    let reasons: Vec<u64> = row.reasons.values().copied().collect();
    equal("elicitations", &names, "accept unusable = sum of reasons", row.accept_unusable, &reasons)?;
    row.fields.iter().try_for_each(|field| {
        equal(
            "elicitations.fields",
            &[names[0], names[1], names[2], Some(&field.field)],
            "accepted = usable + unusable + missing required + absent optional + no content + unchecked",
            field.accepted,
            &[
                field.usable,
                field.unusable,
                field.missing_required,
                field.absent_optional,
                field.no_content,
                field.unchecked,
            ],
        )
    })
}

#[cfg(test)]
#[path = "close_tests.rs"]
mod tests;
