//! Calls per prompt: how they ended, and what they were judged by.

use super::context::Context;
use super::intended::Judged;
use super::tables::PromptCalls;
use crate::schema::{CallOutcome, SessionQuality};
use std::collections::{BTreeMap, BTreeSet};

/// One row per prompt that was called, by server and prompt.
pub fn calls(context: &Context) -> Vec<PromptCalls> {
    context
        .groups
        .iter()
        .map(|group| {
            let mut row = PromptCalls {
                server: context.servers[group.server].clone(),
                prompt: group.prompt.clone(),
                calls: group.calls.len() as u64,
                wire_requests: 0,
                in_batches: 0,
                rendered: 0,
                error: 0,
                input_required: 0,
                unanswered: 0,
                not_captured: 0,
                arguments_not_captured: 0,
                error_codes: BTreeMap::new(),
                unintended_calls: 0,
                declaration: BTreeMap::new(),
                in_effect_rules: BTreeMap::new(),
                guessed_sessions: 0,
                leaked: BTreeMap::new(),
                leaked_calls: 0,
                prompt_captured: group.captured,
            };
            for &at in &group.calls {
                let call = &context.frames.calls[at];
                row.wire_requests += u64::from(call.rounds);
                row.in_batches += u64::from(call.batch);
                row.arguments_not_captured += u64::from(!context.arguments_captured(at));
                match call.outcome {
                    CallOutcome::Rendered => row.rendered += 1,
                    CallOutcome::Error => {
                        row.error += 1;
                        let code = call.error_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
                        *row.error_codes.entry(code).or_default() += 1;
                    }
                    CallOutcome::InputRequired => row.input_required += 1,
                    CallOutcome::Unanswered => row.unanswered += 1,
                    CallOutcome::NotCaptured => row.not_captured += 1,
                }
                let unintended = context.judged[context.args_of(at)].iter().any(|judged| is_unintended(*judged));
                row.unintended_calls += u64::from(unintended);
                let effect = &context.effects[at];
                *row.declaration.entry(effect.state.as_str()).or_default() += 1;
                *row.in_effect_rules.entry(effect.rule.as_str()).or_default() += 1;
                row.guessed_sessions += u64::from(context.session_quality(&call.session) == SessionQuality::Guess);
                let leaked: BTreeSet<_> = context.leaked(at).iter().collect();
                row.leaked_calls += u64::from(!leaked.is_empty());
                for word in leaked {
                    *row.leaked.entry(word.clone()).or_default() += 1;
                }
            }
            row
        })
        .collect()
}

fn is_unintended(judged: Judged) -> bool {
    matches!(judged, Judged::Unintended { .. })
}
