//! Completion: what was asked and offered, and whether later calls took it (analyses.md §10).

use super::context::Context;
use super::tables::CompletionUse;
use crate::protocol::message::Text;
use crate::schema::{CallOutcome, CompletionRow, ValueType};
use ahash::AHashMap;
use std::collections::BTreeMap;

/// One row per server, prompt and argument that completion was asked for.
///
/// Every call that carries the argument is compared with the last answer its session got before it; an answer after the
/// session's last such call counts as `no later call`.
pub fn completion(context: &Context) -> Vec<CompletionUse> {
    type Place = (usize, Option<Text>, Option<Text>);
    let mut rows: BTreeMap<Place, CompletionUse> = BTreeMap::new();
    // Answers of one session for one argument, in reading order.
    let mut answers: AHashMap<(&Text, &Text, &Text), Vec<&CompletionRow>> = AHashMap::new();
    let mut order: Vec<&CompletionRow> = context.frames.completions.iter().collect();
    order.sort_by_key(|row| row.seq);
    for asked in order {
        let server = context.server_of(&asked.session);
        let place = (server, asked.prompt.clone(), asked.argument.clone());
        let row = rows.entry(place).or_insert_with(|| CompletionUse {
            server: context.servers[server].clone(),
            prompt: asked.prompt.clone(),
            argument: asked.argument.clone(),
            asked: 0,
            offered: 0,
            capped: 0,
            error: 0,
            picked: 0,
            edited: 0,
            ignored: 0,
            nothing_offered: 0,
            no_later_call: 0,
        });
        row.asked += 1;
        row.offered += u64::from(!asked.offered.is_empty());
        let more = asked.total.is_some_and(|total| total > asked.offered.len() as f64);
        row.capped += u64::from(asked.has_more || more);
        row.error += u64::from(asked.outcome == CallOutcome::Error);
        if asked.outcome == CallOutcome::Rendered
            && let (Some(prompt), Some(argument)) = (&asked.prompt, &asked.argument)
        {
            answers.entry((&asked.session, prompt, argument)).or_default().push(asked);
        }
    }
    // Reading order of the last call of a session that carries an argument it was offered values for.
    let mut last_calls: AHashMap<(&Text, &Text, &Text), u64> = AHashMap::new();
    for group in &context.groups {
        let Some(prompt) = &group.prompt else { continue };
        for &at in &group.calls {
            let call = &context.frames.calls[at];
            for arg in context.args(at) {
                let key = (&call.session, prompt, &arg.key);
                let Some(offers) = answers.get(&key) else { continue };
                last_calls.insert(key, call.seq);
                let before = offers.partition_point(|offer| offer.seq < call.seq);
                let Some(offer) = before.checked_sub(1).map(|last| offers[last]) else { continue };
                let place = (group.server, Some(prompt.clone()), Some(arg.key.clone()));
                let Some(row) = rows.get_mut(&place) else { continue };
                if offer.offered.is_empty() {
                    row.nothing_offered += 1;
                } else if arg.json_type == ValueType::String && offer.offered.contains(&arg.value) {
                    row.picked += 1;
                } else if offer.offered.iter().any(|value| is_edit(value, &arg.value)) {
                    row.edited += 1;
                } else {
                    row.ignored += 1;
                }
            }
        }
    }
    for (key, offers) in &answers {
        let last = last_calls.get(key).copied();
        let unused = offers.iter().filter(|offer| last.is_none_or(|last| last < offer.seq)).count() as u64;
        let place = (context.server_of(key.0), Some(key.1.clone()), Some(key.2.clone()));
        if let Some(row) = rows.get_mut(&place) {
            row.no_later_call += unused;
        }
    }
    rows.into_values().collect()
}

/// Whether a value was made from an offered one: something added before or behind it, or only its case, spacing or one
/// letter changed.
fn is_edit(offered: &str, value: &str) -> bool {
    let (offered, value) = (offered.trim().to_lowercase(), value.trim().to_lowercase());
    !offered.is_empty()
        && (value.starts_with(&offered)
            || value.ends_with(&offered)
            || (value.chars().count() <= 100 && strsim::osa_distance(&offered, &value) <= 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::fixture::Fixture;
    use crate::expect::Expectations;

    #[test]
    fn later_calls_against_the_last_answer() {
        let mut fixture = Fixture::new();
        fixture.session("a", "desk", "ide").session("b", "desk", "ide");
        fixture.call("a", "reply", &[("tone", "warm")]);
        fixture.completion("a", "reply", "tone", &["warm", "cold"]);
        for tone in ["warm", "warm and short", "Warm", "blunt"] {
            fixture.call("a", "reply", &[("tone", tone)]);
        }
        fixture.completion("a", "reply", "tone", &[]);
        fixture.call("a", "reply", &[("tone", "warm")]);
        fixture.completion("a", "reply", "tone", &["x"]).has_more = true;
        fixture.completion("b", "reply", "tone", &["x"]).outcome = CallOutcome::Error;
        let expectations = Expectations::default();
        let rows = completion(&Context::new(&fixture.frames, &expectations));
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.asked, row.offered, row.capped, row.error), (4, 3, 1, 1));
        assert_eq!((row.picked, row.edited, row.ignored), (1, 2, 1));
        assert_eq!((row.nothing_offered, row.no_later_call), (1, 1));
    }
}
