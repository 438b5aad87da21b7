//! MT102, MT103, MT104, MT106: keys and prompts against the declaration in effect.

use super::{Affected, subject};
use crate::audit::context::Context;
use crate::audit::effect::State;
use crate::audit::intended::class::is_blank;
use crate::audit::tables::{Audit, MissingRequired, UnknownKey};
use crate::audit::wording::{Sentence, count, plural};
use crate::finding::Finding;
use crate::finding::rule::prompts;
use crate::protocol::message::Text;
use std::collections::BTreeMap;

pub fn add(context: &Context, audit: &Audit, found: &mut Vec<Finding>) {
    for row in &audit.unknown_keys {
        found.push(unknown_key(context, row));
    }
    for row in &audit.missing_required {
        if row.calls > 0 {
            found.push(missing(context, row));
        }
        if row.required_but_empty > 0 {
            found.push(empty(context, row));
        }
    }
    unknown_prompts(context, found);
}

/// Calls of a prompt whose keys could be judged.
fn judged(context: &Context, server: &str, prompt: Option<&Text>) -> u64 {
    let is =
        |call: usize| matches!(context.effects[call].state, State::Declared(_)) && context.arguments_captured(call);
    Affected::new(context, server, prompt, is).count()
}

fn outcomes(rendered: u64, error: u64) -> String {
    format!("; {} rendered all the same, {} answered with an error", count(rendered), count(error))
}

fn unknown_key(context: &Context, row: &UnknownKey) -> Finding {
    let prompt = row.prompt.as_ref();
    let affected = Affected::new(context, &row.server, prompt, |call| {
        // Only this key is looked up: comparing all keys of the call once for each unknown one would be cubic.
        let State::Declared(version) = context.effects[call].state else { return false };
        context.arguments_captured(call)
            && !context.contract.versions[version].has(&row.key)
            && context.args(call).iter().any(|arg| arg.key == row.key)
    });
    let mut sentence = Sentence::new()
        .name(&row.key)
        .say(" of ")
        .prompt(prompt)
        .say(" (")
        .name(&row.server)
        .say("): ")
        .share(row.calls, judged(context, &row.server, prompt))
        .say(format!(
            " calls in {} send this key, which the declaration in effect lacks{}",
            plural(row.sessions, "session"),
            outcomes(row.rendered, row.error)
        ));
    sentence = match row.earlier_version {
        true => sentence.say("; an earlier declaration had it"),
        false => sentence.say("; no earlier declaration had it"),
    };
    if let Some(name) = &row.rename_of {
        sentence = sentence.say("; it probably stands for ").name(name);
        if let Some(evidence) = &row.evidence {
            sentence = sentence.say(format!(" ({evidence})"));
        }
    }
    let next_step = match (row.earlier_version, &row.rename_of) {
        (true, _) => {
            "Make the host list prompts again when the server says that they changed, and accept the old name for a while."
        }
        (false, Some(_)) => {
            "Spell the key as the server declares it; until then, answer the misspelt key with an error that names the right one."
        }
        (false, None) => {
            "Find out where the host takes this key from; refuse undeclared keys, so that values are not lost in silence."
        }
    };
    Finding {
        sentence: sentence.clients(&row.clients).since(affected.since()).done(),
        numbers: BTreeMap::from([
            ("calls", row.calls as f64),
            ("sessions", row.sessions as f64),
            ("rendered", row.rendered as f64),
            ("error", row.error as f64),
        ]),
        evidence: affected.evidence(),
        next_step: next_step.to_owned(),
        weight: row.calls,
        ..Finding::of(&prompts::MT102, subject(&row.server, prompt, &[&row.key]))
    }
}

fn missing(context: &Context, row: &MissingRequired) -> Finding {
    let prompt = row.prompt.as_ref();
    let affected = Affected::new(context, &row.server, prompt, |call| {
        let State::Declared(version) = context.effects[call].state else { return false };
        let declared = &context.contract.versions[version].arguments;
        context.arguments_captured(call)
            && declared.iter().any(|known| known.required && known.name == row.argument)
            && !context.args(call).iter().any(|arg| arg.key == row.argument)
    });
    let sentence = Sentence::new()
        .name(&row.argument)
        .say(" of ")
        .prompt(prompt)
        .say(" (")
        .name(&row.server)
        .say("): required, and missing from ")
        .share(row.calls, judged(context, &row.server, prompt))
        .say(format!(" calls{}", outcomes(row.rendered, row.error)))
        .clients(row.clients.keys())
        .since(affected.since());
    Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("calls", row.calls as f64),
            ("rendered", row.rendered as f64),
            ("error", row.error as f64),
        ]),
        evidence: affected.evidence(),
        next_step: "The host should refuse to send without it; the server should refuse to render.".to_owned(),
        weight: row.calls,
        ..Finding::of(&prompts::MT103, subject(&row.server, prompt, &[&row.argument]))
    }
}

fn empty(context: &Context, row: &MissingRequired) -> Finding {
    let prompt = row.prompt.as_ref();
    let affected = Affected::new(context, &row.server, prompt, |call| {
        let State::Declared(version) = context.effects[call].state else { return false };
        let declared = &context.contract.versions[version].arguments;
        declared.iter().any(|known| known.required && known.name == row.argument)
            && context.args(call).iter().any(|arg| arg.key == row.argument && is_blank(arg))
    });
    let sentence = Sentence::new()
        .name(&row.argument)
        .say(" of ")
        .prompt(prompt)
        .say(" (")
        .name(&row.server)
        .say("): required, and present but empty in ")
        .share(row.required_but_empty, judged(context, &row.server, prompt))
        .say(" calls")
        .clients(&affected.clients())
        .since(affected.since());
    Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("calls", row.required_but_empty as f64)]),
        evidence: affected.evidence(),
        next_step: "Treat an empty required argument as missing, in the host's form and in the handler.".to_owned(),
        weight: row.required_but_empty,
        ..Finding::of(&prompts::MT104, subject(&row.server, prompt, &[&row.argument]))
    }
}

fn unknown_prompts(context: &Context, found: &mut Vec<Finding>) {
    for group in &context.groups {
        let server = &context.servers[group.server];
        let prompt = group.prompt.as_ref();
        let affected = Affected::new(context, server, prompt, |call| {
            matches!(context.effects[call].state, State::UnknownPrompt | State::NoName)
        });
        if affected.calls.is_empty() {
            continue;
        }
        let why = match prompt {
            Some(_) => "name a prompt that the complete listing in effect lacks",
            None => "send no prompt name",
        };
        let sentence = Sentence::new()
            .prompt(prompt)
            .say(" (")
            .name(server)
            .say("): ")
            .share(affected.count(), group.calls.len() as u64)
            .say(format!(" calls {why}"))
            .clients(&affected.clients())
            .since(affected.since());
        found.push(Finding {
            sentence: sentence.done(),
            numbers: BTreeMap::from([("calls", affected.count() as f64)]),
            evidence: affected.evidence(),
            next_step: "Take prompt names from the listing; if the prompt was removed, tell hosts with list_changed."
                .to_owned(),
            weight: affected.count(),
            ..Finding::of(&prompts::MT106, subject(server, prompt, &[]))
        });
    }
}
