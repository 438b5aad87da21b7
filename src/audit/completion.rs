//! Completion: what was asked and offered, and whether later calls took it (analyses.md §10).

mod findings;
#[cfg(test)]
mod tests;

pub use findings::findings;

use super::context::Context;
use super::intended::FROM_COMPLETION;
use super::tables::{Argument, CompletionGap, CompletionUse, Evidence, Shown};
use crate::protocol::json::digest;
use crate::protocol::message::Text;
use crate::schema::{ArgRow, CallOutcome, CompletionRow, ValueType};
use ahash::{AHashMap, AHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// An offered word of fewer letters is one letter away from too many others to say that a value was made from it.
const MISSPELT_CHARS: usize = 4;
/// Longer values are not compared letter by letter.
const MOST_CHARS: usize = 100;

pub const NEVER_ASKED: &str = "never asked";
pub const NOTHING_OFFERED: &str = "nothing offered";

type Place = (usize, Option<Text>, Option<Text>);
/// Session and prompt → argument → its answers, in reading order.
type Answers<'a> = AHashMap<(&'a Text, &'a Text), BTreeMap<&'a Text, Vec<Answer<'a>>>>;

struct Answer<'a> {
    row: &'a CompletionRow,
    compared: bool,
}

/// One row per server, prompt and argument that completion was asked for.
///
/// Every call of the prompt is compared with the last answer its session got before it. An answer that a newer one
/// replaced before a call came is `superseded`: a host asks at every key that is pressed.
pub fn completion(context: &Context) -> Vec<CompletionUse> {
    let mut rows: BTreeMap<Place, CompletionUse> = BTreeMap::new();
    let mut outside: BTreeMap<Place, BTreeSet<Text>> = BTreeMap::new();
    let mut answers: Answers = AHashMap::new();
    let mut order: Vec<&CompletionRow> = context.frames.completions.iter().collect();
    order.sort_by_key(|row| row.seq);
    for asked in order {
        let server = context.server_of(&asked.session);
        let place = (server, asked.prompt.clone(), asked.argument.clone());
        let row = rows.entry(place.clone()).or_insert_with(|| CompletionUse {
            server: context.servers[server].clone(),
            prompt: asked.prompt.clone(),
            argument: asked.argument.clone(),
            first: Some(evidence(asked)),
            ..CompletionUse::default()
        });
        row.asked += 1;
        row.with_context += u64::from(asked.context);
        match asked.outcome {
            CallOutcome::Rendered if asked.offered.is_empty() => row.empty += 1,
            CallOutcome::Rendered => row.offered += 1,
            CallOutcome::Error => row.error += 1,
            // A completion is never answered by a question.
            CallOutcome::Unanswered | CallOutcome::InputRequired => row.unanswered += 1,
            CallOutcome::NotCaptured => row.not_captured += 1,
        }
        if asked.outcome != CallOutcome::Rendered {
            continue;
        }
        let more = asked.total.is_some_and(|total| total > asked.offered.len() as f64);
        row.capped += u64::from(asked.has_more || more);
        let (Some(prompt), Some(argument)) = (&asked.prompt, &asked.argument) else {
            row.no_later_call += 1;
            continue;
        };
        let known = |value: &&Text| context.intended.ever_holds(server, Some(prompt), argument, value) == Some(false);
        let strange: Vec<Text> = asked.offered.iter().filter(known).cloned().collect();
        if !strange.is_empty() {
            row.answers_outside += 1;
            row.first_outside.get_or_insert_with(|| evidence(asked));
            outside.entry(place).or_default().extend(strange);
        }
        let answer = Answer { row: asked, compared: false };
        answers.entry((&asked.session, prompt)).or_default().entry(argument).or_default().push(answer);
    }
    let last_calls = compare(context, &mut answers, &mut rows);
    for ((session, prompt), arguments) in &answers {
        let last = last_calls.get(&(*session, *prompt)).copied();
        for (argument, answers) in arguments {
            let place = (context.server_of(session), Some((*prompt).clone()), Some((*argument).clone()));
            let Some(row) = rows.get_mut(&place) else { continue };
            for answer in answers {
                let term = match answer.compared {
                    true => &mut row.compared,
                    false if last.is_some_and(|last| answer.row.seq < last) => &mut row.superseded,
                    false => &mut row.no_later_call,
                };
                *term += 1;
            }
        }
    }
    for (place, values) in outside {
        if let Some(row) = rows.get_mut(&place) {
            row.outside = values.into_iter().map(shown).collect();
        }
    }
    rows.into_values().collect()
}

/// Counts what later calls did with the last answer before them; the reading order of the last call by session and prompt.
fn compare<'a>(
    context: &'a Context,
    answers: &mut Answers<'a>,
    rows: &mut BTreeMap<Place, CompletionUse>,
) -> AHashMap<(&'a Text, &'a Text), u64> {
    let mut last_calls = AHashMap::new();
    for group in &context.groups {
        let Some(prompt) = &group.prompt else { continue };
        for &at in &group.calls {
            let call = &context.frames.calls[at];
            let Some(arguments) = answers.get_mut(&(&call.session, prompt)) else { continue };
            last_calls.insert((&call.session, prompt), call.seq);
            for (argument, offers) in arguments {
                let before = offers.partition_point(|offer| offer.row.seq < call.seq);
                let Some(offer) = before.checked_sub(1).and_then(|last| offers.get_mut(last)) else { continue };
                let place = (group.server, Some(prompt.clone()), Some((*argument).clone()));
                let Some(row) = rows.get_mut(&place) else { continue };
                offer.compared = true;
                row.later_calls += 1;
                let sent = context.args(at).iter().find(|arg| arg.key == **argument);
                let term = match sent {
                    _ if !context.arguments_captured(at) => &mut row.later_not_captured,
                    None => &mut row.left_out,
                    Some(_) if offer.row.offered.is_empty() => &mut row.nothing_offered,
                    Some(arg) if is_picked(&offer.row.offered, arg) => &mut row.picked,
                    Some(arg) if offer.row.offered.iter().any(|offered| is_edit(offered, &arg.value)) => {
                        &mut row.edited
                    }
                    Some(_) => &mut row.ignored,
                };
                *term += 1;
            }
        }
    }
    last_calls
}

/// A value of a set that a server offers to everyone.
fn shown(value: Text) -> Shown {
    let (chars, hash) = (value.chars().count() as u64, digest(value.as_bytes()));
    Shown { text: value, chars, hash, closed: true }
}

fn is_picked(offered: &[Text], arg: &ArgRow) -> bool {
    arg.json_type == ValueType::String && offered.contains(&arg.value)
}

/// Whether a value was made from an offered one: words added before or behind it, or only its case, spacing or one letter
/// changed.
fn is_edit(offered: &str, value: &str) -> bool {
    let (offered, value) = (offered.trim().to_lowercase(), value.trim().to_lowercase());
    if offered.is_empty() || value.is_empty() {
        return false;
    }
    let apart = |rest: &str, next: Option<char>| rest.is_empty() || next.is_some_and(|next| !next.is_alphanumeric());
    let begins = value.strip_prefix(&offered).is_some_and(|rest| apart(rest, rest.chars().next()));
    let ends = value.strip_suffix(&offered).is_some_and(|rest| apart(rest, rest.chars().next_back()));
    let misspelt = || {
        offered.chars().count() >= MISSPELT_CHARS
            && value.chars().nth(MOST_CHARS).is_none()
            && strsim::osa_distance(&offered, &value) <= 1
    };
    begins || ends || misspelt()
}

/// Declared arguments with a closed set of their own for which completion offered nothing, or was never asked.
pub fn gaps(arguments: &[Argument], completions: &[CompletionUse]) -> Vec<CompletionGap> {
    let asked: AHashMap<(&Text, Option<&Text>, &Text), &CompletionUse> = completions
        .iter()
        .filter_map(|row| Some(((&row.server, row.prompt.as_ref(), row.argument.as_ref()?), row)))
        .collect();
    // Where names of the request were not kept, it may have been about any argument of the server.
    let unnamed: AHashSet<&Text> = completions
        .iter()
        .filter(|row| row.prompt.is_none() || row.argument.is_none())
        .map(|row| &row.server)
        .collect();
    let gap = |row: &Argument| {
        let source = row.intended_source.filter(|source| *source != FROM_COMPLETION && row.declared)?;
        let used = asked.get(&(&row.server, row.prompt.as_ref(), &row.argument));
        let state = match used {
            None if unnamed.contains(&row.server) => return None,
            None => NEVER_ASKED,
            Some(used) if used.offered == 0 && used.empty + used.error > 0 => NOTHING_OFFERED,
            Some(_) => return None,
        };
        let empty = row.classes.get("empty").map_or(0, |class| class.calls);
        Some(CompletionGap {
            server: row.server.clone(),
            prompt: row.prompt.clone(),
            argument: row.argument.clone(),
            intended_source: source,
            intended_values: row.intended_values.len() as u64,
            calls: row.calls,
            unintended: row.unintended,
            typed_unintended: row.unintended.saturating_sub(empty),
            asked: used.map_or(0, |used| used.asked),
            state,
        })
    };
    arguments.iter().filter_map(gap).collect()
}

fn evidence(row: &CompletionRow) -> Evidence {
    Evidence { file: row.file.clone(), position: row.position, ts: row.ts, session: Some(row.session.clone()) }
}
