//! MT121, MT122: completion that is missing, or that offers what nobody intends.

use super::NOTHING_OFFERED;
use crate::audit::context::Context;
use crate::audit::tables::{CompletionGap, CompletionUse};
use crate::audit::wording::{Sentence, count, plural};
use crate::finding::{Finding, rule};
use crate::protocol::message::Text;
use std::collections::BTreeMap;

/// Values named in one sentence.
const NAMED: usize = 4;

pub fn findings(context: &Context, completions: &[CompletionUse], gaps: &[CompletionGap]) -> Vec<Finding> {
    let least = context.expectations.thresholds.completion_unintended_calls;
    let gaps = gaps.iter().filter(|row| row.typed_unintended >= least).map(missing);
    gaps.chain(completions.iter().filter_map(outside)).collect()
}

fn subject(server: &Text, prompt: Option<&Text>, argument: Option<&Text>) -> Vec<Text> {
    std::iter::once(server).chain(prompt).chain(argument).cloned().collect()
}

fn missing(row: &CompletionGap) -> Finding {
    let sentence =
        Sentence::new().name(&row.argument).say(" of ").prompt(row.prompt.as_ref()).say(" (").name(&row.server).say(
            format!(
                "): {} stand in its {}, and {} of {} carry something else that was typed; ",
                plural(row.intended_values, "value"),
                row.intended_source,
                count(row.typed_unintended),
                plural(row.calls, "call"),
            ),
        );
    let sentence = match row.state {
        NOTHING_OFFERED => {
            sentence.say(format!("completion was asked {} and offered nothing", plural(row.asked, "time")))
        }
        _ => sentence.say("no client ever asked for completion"),
    };
    Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("calls", row.calls as f64),
            ("unintended", row.unintended as f64),
            ("typed_unintended", row.typed_unintended as f64),
            ("asked", row.asked as f64),
        ]),
        next_step:
            "Offer the permitted values through completion/complete, so that hosts can show a list to pick from, and \
                    declare the completions capability."
                .to_owned(),
        weight: row.typed_unintended,
        ..Finding::of(&rule::completion::MT121, subject(&row.server, row.prompt.as_ref(), Some(&row.argument)))
    }
}

fn outside(row: &CompletionUse) -> Option<Finding> {
    let argument = row.argument.as_ref()?;
    if row.outside.is_empty() {
        return None;
    }
    let mut sentence =
        Sentence::new().name(argument).say(" of ").prompt(row.prompt.as_ref()).say(" (").name(&row.server).say(
            format!(
                "): completion offers {} that the argument's own set does not hold, in {} of {}: ",
                plural(row.outside.len() as u64, "value"),
                count(row.answers_outside),
                plural(row.offered, "answer"),
            ),
        );
    for (at, value) in row.outside.iter().take(NAMED).enumerate() {
        sentence = sentence.say(if at == 0 { "" } else { ", " }).value(value.clone());
    }
    if row.outside.len() > NAMED {
        sentence = sentence.say(format!(" and {} more", count((row.outside.len() - NAMED) as u64)));
    }
    Some(Finding {
        sentence: sentence.say(format!("; {} carried an offered value", plural(row.picked, "later call"))).done(),
        numbers: BTreeMap::from([
            ("answers", row.answers_outside as f64),
            ("values", row.outside.len() as f64),
            ("picked", row.picked as f64),
        ]),
        evidence: row.first_outside.iter().cloned().collect(),
        next_step:
            "Make completion and the declared list come from one place: who picks such a value is told that nobody \
                    intended it."
                .to_owned(),
        weight: row.answers_outside,
        ..Finding::of(&rule::completion::MT122, subject(&row.server, row.prompt.as_ref(), Some(argument)))
    })
}
