//! MT101, MT105, MT107, MT108, MT109: what is wrong with values.

use super::{Affected, subject};
use crate::audit::context::Context;
use crate::audit::intended::class::is_blank;
use crate::audit::intended::{FROM_COMPLETION, FROM_DESCRIPTION, FROM_EXPECTATIONS, Judged};
use crate::audit::tables::{Argument, Audit, Shown};
use crate::audit::wording::{Sentence, count, plural};
use crate::finding::rule::prompts;
use crate::finding::{Finding, Severity};
use crate::protocol::message::Text;
use crate::schema::{CallOutcome, ValueType};
use std::collections::{BTreeMap, BTreeSet};

/// More permitted values than this do not belong into prose.
const MANY_VALUES: usize = 12;
/// Characters per call from which an argument counts as the one for long text.
const LONG_TEXT: u64 = 40;

pub fn add(context: &Context, audit: &Audit, found: &mut Vec<Finding>) {
    for row in &audit.arguments {
        found.extend(unintended(context, audit, row));
        found.extend(not_a_string(context, row));
        found.extend(absent_and_empty(context, row));
        list_as_prose(context, row, found);
        found.extend(structure(row));
    }
    found.extend(expected_nowhere(context, audit));
}

fn title(row: &Argument) -> Sentence {
    Sentence::new().name(&row.argument).say(" of ").prompt(row.prompt.as_ref()).say(" (").name(&row.server).say("): ")
}

fn affected<'c, 'a>(
    context: &'c Context<'a>,
    row: &Argument,
    is: impl Fn(&crate::schema::ArgRow, Judged) -> bool,
) -> Affected<'c, 'a> {
    Affected::new(context, &row.server, row.prompt.as_ref(), |call| {
        context.args_of(call).any(|at| {
            let arg = &context.frames.args[at];
            arg.key == row.argument && is(arg, context.judged[at])
        })
    })
}

fn unintended(context: &Context, audit: &Audit, row: &Argument) -> Option<Finding> {
    let source = row.intended_source?;
    if row.unintended == 0 {
        return None;
    }
    let affected = affected(context, row, |_, judged| matches!(judged, Judged::Unintended { .. }));
    // One call in a hundred that the handler takes as it is.
    let as_is = row.unintended_rendered > 0 && row.unintended_rendered * 100 >= row.calls;
    let severity = match (source, as_is) {
        (FROM_COMPLETION, _) => Severity::Note,
        (_, true) => Severity::Error,
        (_, false) => Severity::Warning,
    };
    let mut sentence = title(row).share(row.unintended, row.calls).say(format!(
        " calls carry none of the {} (from {source}), {}",
        plural(row.intended_values.len() as u64, "intended value"),
        plural(row.unintended_distinct, "distinct value")
    ));
    sentence = match row.unintended_rendered {
        0 => sentence.say("; none was rendered"),
        all if all == row.unintended => sentence.say("; all were rendered as they came"),
        some => sentence.say(format!("; {} were rendered as they came", count(some))),
    };
    if row.zero_length > 0 {
        let hosts: Vec<&Text> = row.hosts.iter().filter(|host| host.zero_length > 0).map(|host| &host.client).collect();
        sentence = sentence.say(format!("; {} empty, sent by ", count(row.zero_length))).names(hosts);
    }
    let unintended = |class: Option<&str>| class.is_some_and(|class| class != "intended" && class != "empty");
    if let Some(example) = row.values.iter().find(|value| unintended(value.class)) {
        sentence = sentence.say("; for example ").value(example.value.clone()).say(format!(
            " ({}, {})",
            example.class.unwrap_or_default(),
            plural(example.calls, "call")
        ));
    }
    if let Some(oversized) = row.values.iter().filter(|value| value.class == Some("oversized")).max_by_key(|v| v.words)
    {
        sentence = sentence.say(format!("; one of {} words is in the wrong box", count(oversized.words)));
        if let Some(home) = long_text_argument(audit, row) {
            sentence = sentence.say(", text that long usually sits in ").name(home);
        }
    }
    let recovered = row.ladder.iter().find(|step| step.repair == "unicode").map_or(0, |step| step.recovered);
    let numbers = BTreeMap::from([
        ("calls", row.calls as f64),
        ("unintended", row.unintended as f64),
        ("unintended_distinct", row.unintended_distinct as f64),
        ("rendered", row.unintended_rendered as f64),
        ("empty", row.empty as f64),
        ("recovered", recovered as f64),
    ]);
    Some(Finding {
        sentence: sentence.clients(&affected.clients()).since(affected.since()).done(),
        numbers,
        evidence: affected.evidence(),
        next_step: format!(
            "Trim, lower-case and strip punctuation before comparing (recovers {} of {} calls), treat empty as absent, and \
             answer the rest with an error that names the permitted values.",
            count(recovered),
            count(row.unintended)
        ),
        weight: row.unintended,
        severity,
        ..Finding::of(&prompts::MT101, subject(&row.server, row.prompt.as_ref(), &[&row.argument]))
    })
}

/// The argument of the same prompt that long text usually sits in.
fn long_text_argument<'t>(audit: &'t Audit, row: &Argument) -> Option<&'t Text> {
    let mean = |other: &Argument| {
        let chars: u64 = other.values.iter().map(|value| value.chars.saturating_mul(value.calls)).sum();
        chars / other.present.max(1)
    };
    audit
        .arguments
        .iter()
        .filter(|other| other.server == row.server && other.prompt == row.prompt && other.argument != row.argument)
        .map(|other| (mean(other), other))
        .filter(|(mean, other)| *mean >= LONG_TEXT && other.declared)
        .max_by_key(|(mean, _)| *mean)
        .map(|(_, other)| &other.argument)
}

fn not_a_string(context: &Context, row: &Argument) -> Option<Finding> {
    if row.non_string == 0 {
        return None;
    }
    let affected = affected(context, row, |arg, _| arg.json_type != ValueType::String);
    let mut types: BTreeMap<ValueType, u64> = BTreeMap::new();
    for value in row.values.iter().filter(|value| value.json_type != ValueType::String) {
        *types.entry(value.json_type).or_default() += value.calls;
    }
    let types: Vec<String> = types.iter().map(|(json_type, calls)| format!("{json_type} {}", count(*calls))).collect();
    let sentence = title(row)
        .share(row.non_string, row.calls)
        .say(format!(" calls carry a value that is not a string ({})", types.join(", ")))
        .clients(&affected.clients())
        .since(affected.since());
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("calls", row.calls as f64), ("non_string", row.non_string as f64)]),
        evidence: affected.evidence(),
        next_step: "Send prompt arguments as strings: the protocol knows nothing else, and servers answer with different errors."
            .to_owned(),
        weight: row.non_string,
        ..Finding::of(&prompts::MT105, subject(&row.server, row.prompt.as_ref(), &[&row.argument]))
    })
}

/// What a handler made of calls that are alike but for one argument.
#[derive(Default)]
struct Treatment {
    rendered: BTreeSet<Option<u64>>,
    errors: u64,
    calls: Vec<usize>,
}

impl Treatment {
    fn differs(&self, other: &Treatment) -> bool {
        let refused = |one: &Treatment, two: &Treatment| {
            one.rendered.is_empty() && one.errors > 0 && two.errors == 0 && !two.rendered.is_empty()
        };
        let texts =
            !self.rendered.is_empty() && !other.rendered.is_empty() && self.rendered.is_disjoint(&other.rendered);
        refused(self, other) || refused(other, self) || texts
    }
}

/// Absent and empty are two hosts, not two meanings. Only optional arguments: a required one has rules of its own.
fn absent_and_empty(context: &Context, row: &Argument) -> Option<Finding> {
    if row.required != Some(false) || row.absent == 0 || row.zero_length == 0 {
        return None;
    }
    // Calls are compared that agree in every other key, so that the text differs by this argument alone.
    let mut strata: BTreeMap<Vec<&Text>, (Treatment, Treatment)> = BTreeMap::new();
    let all = Affected::new(context, &row.server, row.prompt.as_ref(), |call| context.arguments_captured(call));
    for call in all.calls {
        let sent = context.args(call);
        let own = sent.iter().find(|arg| arg.key == row.argument);
        let mut others: Vec<&Text> =
            sent.iter().filter(|arg| arg.key != row.argument && !is_blank(arg)).map(|arg| &arg.key).collect();
        others.sort_unstable();
        let (absent, empty) = strata.entry(others).or_default();
        let treatment = match own {
            None => absent,
            Some(arg) if arg.json_type == ValueType::String && arg.value.is_empty() => empty,
            Some(_) => continue,
        };
        let outcome = &context.frames.calls[call];
        match outcome.outcome {
            CallOutcome::Rendered => {
                treatment.rendered.insert(outcome.rendered_skeleton);
            }
            CallOutcome::Error => treatment.errors += 1,
            _ => continue,
        }
        treatment.calls.push(call);
    }
    let (absent, empty) = strata.into_values().find(|(absent, empty)| absent.differs(empty))?;
    let told = |treatment: &Treatment| match (treatment.rendered.is_empty(), treatment.errors) {
        (true, _) => "refused",
        (false, 0) => "rendered",
        (false, _) => "rendered or refused",
    };
    let what = match (told(&absent), told(&empty)) {
        ("rendered", "rendered") => "both are rendered, to different texts".to_owned(),
        (absent, empty) => format!("absent is {absent}, empty is {empty}"),
    };
    let calls: Vec<usize> = absent.calls.iter().take(3).chain(empty.calls.iter().take(3)).copied().collect();
    let affected = Affected { context, calls };
    let empty_hosts = row.hosts.iter().filter(|host| host.zero_length > 0).map(|host| &host.client);
    let sentence = title(row)
        .say(format!(
            "the handler treats {} without it and {} with an empty one differently: {what}; empty ones come from ",
            plural(row.absent, "call"),
            plural(row.zero_length, "call")
        ))
        .names(empty_hosts)
        .since(affected.since());
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("absent", row.absent as f64), ("zero_length", row.zero_length as f64)]),
        evidence: affected.evidence(),
        next_step:
            "Treat an empty optional argument as absent: some hosts send \"\" for a field the person left blank."
                .to_owned(),
        weight: row.absent.min(row.zero_length),
        ..Finding::of(&prompts::MT107, subject(&row.server, row.prompt.as_ref(), &[&row.argument]))
    })
}

fn list_as_prose(context: &Context, row: &Argument, found: &mut Vec<Finding>) {
    let base = || Finding::of(&prompts::MT108, subject(&row.server, row.prompt.as_ref(), &[&row.argument]));
    if row.intended > 0 && !row.unused.is_empty() {
        let closed =
            |value: &Text| Shown { text: value.clone(), chars: value.chars().count() as u64, hash: 0, closed: true };
        let mut sentence = title(row).say(format!(
            "{} of {} in {} never occur in {}: ",
            count(row.unused.len() as u64),
            plural(row.intended_values.len() as u64, "intended value"),
            row.intended_source.unwrap_or_default(),
            plural(row.calls, "call")
        ));
        for (at, value) in row.unused.iter().take(5).enumerate() {
            sentence = sentence.say(if at == 0 { "" } else { ", " }).value(closed(value));
        }
        found.push(Finding {
            key: "unused".to_owned(),
            sentence: sentence.done(),
            numbers: BTreeMap::from([("unused", row.unused.len() as f64), ("calls", row.calls as f64)]),
            next_step: "Ask whether the value is still wanted, or whether hosts do not offer it.".to_owned(),
            weight: row.unused.len() as u64,
            ..base()
        });
    }
    if row.intended_source != Some(FROM_DESCRIPTION) {
        return;
    }
    if row.intended_values.len() > MANY_VALUES {
        found.push(Finding {
            key: "many".to_owned(),
            sentence: title(row)
                .say(format!("{} permitted values stand in the description as prose", row.intended_values.len()))
                .done(),
            numbers: BTreeMap::from([("values", row.intended_values.len() as f64)]),
            next_step: "Offer the values through completion/complete: nobody types the thirteenth from memory."
                .to_owned(),
            weight: row.calls,
            ..base()
        });
    }
    let described = row.prompt.as_ref().and_then(|prompt| {
        let server = context.server_number(&row.server)?;
        let versions = context.contract.versions_of(server, prompt);
        let wordings = context.contract.wordings.iter().filter(|wording| versions.contains(&wording.version));
        let newest = wordings.max_by_key(|wording| wording.last_seq)?;
        newest.arguments.iter().find(|known| known.name == row.argument)?.description.clone()
    });
    if row.required == Some(false) && described.is_some_and(|text| !text.to_lowercase().contains("default")) {
        found.push(Finding {
            key: "no default".to_owned(),
            sentence: title(row)
                .say(format!(
                    "optional with {} permitted values, and its description names no default; {} leave it out",
                    row.intended_values.len(),
                    plural(row.absent, "call")
                ))
                .done(),
            numbers: BTreeMap::from([("absent", row.absent as f64), ("calls", row.calls as f64)]),
            next_step: "Say in the description what an absent value means.".to_owned(),
            weight: row.absent,
            ..base()
        });
    }
}

fn structure(row: &Argument) -> Option<Finding> {
    let total = row.json_values + row.broken_json_values;
    if total == 0 {
        return None;
    }
    let sentence = title(row)
        .share(total, row.calls)
        .say(format!(" calls carry JSON inside the string; {} of them do not parse", count(row.broken_json_values)));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("json", row.json_values as f64), ("broken", row.broken_json_values as f64)]),
        next_step: "Split the structure into arguments of their own, or check that the string parses before using it."
            .to_owned(),
        weight: total,
        ..Finding::of(&prompts::MT109, subject(&row.server, row.prompt.as_ref(), &[&row.argument]))
    })
}

/// An expectation for an argument that no call and no listing has is most likely misspelt.
fn expected_nowhere(context: &Context, audit: &Audit) -> Vec<Finding> {
    let seen = |prompt: &Text, argument: &Text| {
        audit.arguments.iter().any(|row| row.prompt.as_ref() == Some(prompt) && row.argument == *argument)
    };
    context
        .expectations
        .intended
        .iter()
        .filter(|expected| !seen(&expected.prompt, &expected.argument))
        .map(|expected| {
            let source = if expected.source == FROM_EXPECTATIONS { "the expectations file" } else { "--intended" };
            Finding {
                key: "nowhere".to_owned(),
                sentence: Sentence::new()
                    .name(&expected.argument)
                    .say(" of ")
                    .name(&expected.prompt)
                    .say(format!(" has intended values from {source}, but no call and no listing has it"))
                    .done(),
                next_step: "Check the spelling of prompt and argument.".to_owned(),
                ..Finding::of(&prompts::MT108, vec![expected.prompt.clone(), expected.argument.clone()])
            }
        })
        .collect()
}
