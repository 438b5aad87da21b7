//! MT303, MT304: where declarations are missing or stand side by side.

use super::{Affected, subject};
use crate::audit::context::Context;
use crate::audit::effect::{Rule, State};
use crate::audit::tables::Audit;
use crate::audit::wording::{Sentence, count};
use crate::finding::Finding;
use crate::finding::rule::sessions;
use std::collections::BTreeMap;

pub fn add(context: &Context, _audit: &Audit, found: &mut Vec<Finding>) {
    for (number, server) in context.servers.iter().enumerate() {
        let groups = context.groups.iter().filter(|group| group.server == number);
        let calls: Vec<usize> = groups.flat_map(|group| group.calls.iter().copied()).collect();
        let total = calls.len() as u64;
        let without = calls.into_iter().filter(|&call| context.effects[call].state == State::NoDeclaration);
        let mut affected = Affected { context, calls: without.collect() };
        affected.calls.sort_by_key(|&call| context.frames.calls[call].seq);
        if affected.calls.is_empty() {
            continue;
        }
        found.push(Finding {
            sentence: Sentence::new()
                .name(server)
                .say(": no declaration was captured for ")
                .share(affected.count(), total)
                .say(" prompt calls, so that their keys are not judged")
                .since(affected.since())
                .done(),
            numbers: BTreeMap::from([("calls", affected.count() as f64)]),
            evidence: affected.evidence(),
            next_step: "Capture from the start of the connection, or add a log that holds a complete prompts/list of this server."
                .to_owned(),
            weight: affected.count(),
            ..Finding::of(&sessions::MT303, vec![server.clone()])
        });
    }
    for group in &context.groups {
        let server = &context.servers[group.server];
        let by = |rule: Rule| group.calls.iter().filter(|&&call| context.effects[call].rule == rule).count() as u64;
        let (variants, superseded) = (by(Rule::Variant), by(Rule::Superseded));
        if variants + superseded == 0 {
            continue;
        }
        let affected = Affected::new(context, server, group.prompt.as_ref(), |call| {
            matches!(context.effects[call].rule, Rule::Variant | Rule::Superseded)
        });
        let mut sentence = Sentence::new().prompt(group.prompt.as_ref()).say(" (").name(server).say("): ");
        if variants > 0 {
            sentence = sentence.share(variants, group.calls.len() as u64).say(
                " calls were made while versions of the declaration stood side by side; each is judged by its own session's",
            );
        }
        if superseded > 0 {
            let also = if variants > 0 { "; " } else { "" };
            sentence = sentence.say(format!(
                "{also}{} of {} calls came after the session was told that its listing ended and before anybody listed again; their keys are not judged",
                count(superseded),
                count(group.calls.len() as u64)
            ));
        }
        found.push(Finding {
            sentence: sentence.since(affected.since()).done(),
            numbers: BTreeMap::from([("variants", variants as f64), ("superseded", superseded as f64)]),
            evidence: affected.evidence(),
            next_step: "Expected with several server processes or a rolling deploy; otherwise look for a session that never lists again."
                .to_owned(),
            weight: variants + superseded,
            ..Finding::of(&sessions::MT304, subject(server, group.prompt.as_ref(), &[]))
        });
    }
}
