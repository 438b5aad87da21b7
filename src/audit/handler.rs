//! What the handler let through (analyses.md §7): arguments that should have been refused, and text that shows holes.

use super::context::{Context, Group, Mismatch};
use super::intended::Judged;
use super::intended::class::{Class, is_blank};
use super::tables::{Handler, Shown};
use super::wording::{Sentence, count, plural};
use crate::finding::Finding;
use crate::finding::rule::sessions;
use crate::protocol::message::{Text, Ts};
use crate::schema::CallOutcome;
use ahash::AHashSet;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub const MISSING_REQUIRED: &str = "missing required";
pub const REQUIRED_EMPTY: &str = "required but empty";
pub const LINE_BREAK: &str = "line break in closed argument";
pub const OVERSIZED: &str = "oversized in closed argument";
pub const UNINTENDED: &str = "unintended in closed argument";
pub const HUGE: &str = "over 100 KB";
pub const UNKNOWN_KEY: &str = "unknown key";
pub const LEAK: &str = "leak";
pub const SILENT_DEFAULT: &str = "silent default";

/// Rows of evidence that one finding carries.
const EVIDENCE: usize = 20;

/// Calls of one kind.
#[derive(Default)]
struct Seen {
    calls: Vec<usize>,
    rendered: Vec<usize>,
    rendered_empty: u64,
    error: u64,
}

/// Kind and argument → calls, of one prompt.
type Kinds = BTreeMap<(&'static str, Option<Text>), Seen>;

/// The table of §7, sorted by server, prompt, kind and argument. A kind that was not seen has no row.
pub fn handlers(context: &Context) -> (Vec<Handler>, Vec<Finding>) {
    let groups: Vec<&Group> = context.groups.iter().filter(|group| group.captured).collect();
    let kinds: Vec<Kinds> = groups.par_iter().map(|group| kinds(context, group)).collect();
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    for (group, kinds) in groups.into_iter().zip(kinds) {
        found.extend(leak(context, group, &kinds));
        for ((kind, argument), seen) in &kinds {
            found.extend(match (*kind, argument) {
                (SILENT_DEFAULT, Some(argument)) => silent_default(context, group, argument, seen),
                (MISSING_REQUIRED | UNKNOWN_KEY, Some(key)) => let_through(context, group, kind, key, seen),
                _ => None,
            });
        }
        rows.extend(kinds.into_iter().map(|((kind, argument), seen)| Handler {
            server: context.servers[group.server].clone(),
            prompt: group.prompt.clone(),
            kind,
            argument,
            seen: seen.calls.len() as u64,
            rendered: seen.rendered.len() as u64,
            rendered_empty: seen.rendered_empty,
            error: seen.error,
            defects: seen.rendered.len() as u64,
        }));
    }
    (rows, found)
}

fn kinds(context: &Context, group: &Group) -> Kinds {
    let mut kinds = Kinds::new();
    for &call in &group.calls {
        let row = &context.frames.calls[call];
        let rendered = row.outcome == CallOutcome::Rendered;
        let empty = rendered && (row.rendered_messages == Some(0) || row.rendered_chars == Some(0));
        let mut see = |kind: &'static str, argument: Option<&Text>| {
            let seen = kinds.entry((kind, argument.cloned())).or_default();
            if seen.calls.last() == Some(&call) {
                return;
            }
            seen.calls.push(call);
            seen.rendered_empty += u64::from(empty);
            seen.error += u64::from(row.outcome == CallOutcome::Error);
            if rendered {
                seen.rendered.push(call);
            }
        };
        if let Some(Mismatch { unknown, missing }) = context.mismatch(call) {
            missing.iter().for_each(|name| see(MISSING_REQUIRED, Some(name)));
            unknown.iter().for_each(|&arg| see(UNKNOWN_KEY, Some(&context.frames.args[arg].key)));
        }
        let required = |name: &Text| {
            let super::effect::State::Declared(version) = context.effects[call].state else { return false };
            let arguments = &context.contract.versions[version].arguments;
            arguments.iter().any(|known| known.required && known.name == *name)
        };
        for at in context.args_of(call) {
            let arg = &context.frames.args[at];
            if is_blank(arg) && required(&arg.key) {
                see(REQUIRED_EMPTY, Some(&arg.key));
            }
            if arg.value_chars > context.expectations.thresholds.huge_value_chars {
                see(HUGE, Some(&arg.key));
            }
            if let Judged::Unintended { class, .. } = context.judged[at] {
                see(UNINTENDED, Some(&arg.key));
                if arg.value_lines > 1 {
                    see(LINE_BREAK, Some(&arg.key));
                }
                if class == Class::Oversized {
                    see(OVERSIZED, Some(&arg.key));
                }
            }
        }
        if !context.leaked(call).is_empty() {
            see(LEAK, None);
        }
    }
    for (argument, calls) in silently_defaulted(context, group) {
        let seen = Seen { calls: calls.clone(), rendered: calls, ..Seen::default() };
        kinds.insert((SILENT_DEFAULT, Some(argument)), seen);
    }
    kinds
}

/// Rendered calls whose unintended value made the text an absent one makes, by closed argument.
///
/// Only where the argument matters: some intended value must make another text. A blank value is no value, and
/// treating it like an absent one is right.
fn silently_defaulted(context: &Context, group: &Group) -> BTreeMap<Text, Vec<usize>> {
    let mut judged: BTreeMap<&Text, Vec<(usize, Judged, bool, u64)>> = BTreeMap::new();
    let mut skeletons: Vec<(usize, u64)> = Vec::new();
    for &call in &group.calls {
        let row = &context.frames.calls[call];
        let Some(skeleton) = row.rendered_skeleton.filter(|_| row.outcome == CallOutcome::Rendered) else { continue };
        if !context.arguments_captured(call) {
            continue;
        }
        skeletons.push((call, skeleton));
        for at in context.args_of(call) {
            let arg = &context.frames.args[at];
            if context.judged[at] != Judged::Open {
                judged.entry(&arg.key).or_default().push((call, context.judged[at], is_blank(arg), skeleton));
            }
        }
    }
    let mut found = BTreeMap::new();
    for (argument, rows) in judged {
        let unintended = |judged: Judged| matches!(judged, Judged::Unintended { .. });
        if !rows.iter().any(|(_, judged, blank, _)| unintended(*judged) && !blank) {
            continue;
        }
        let with: AHashSet<usize> = group
            .calls
            .iter()
            .copied()
            .filter(|&call| context.args(call).iter().any(|arg| arg.key == *argument))
            .collect();
        let absent: AHashSet<u64> =
            skeletons.iter().filter(|(call, _)| !with.contains(call)).map(|(_, skeleton)| *skeleton).collect();
        let matters =
            rows.iter().any(|(_, judged, _, skeleton)| *judged == Judged::Intended && !absent.contains(skeleton));
        if absent.is_empty() || !matters {
            continue;
        }
        let calls: Vec<usize> = rows
            .iter()
            .filter(|(_, judged, blank, skeleton)| unintended(*judged) && !blank && absent.contains(skeleton))
            .map(|(call, ..)| *call)
            .collect();
        if !calls.is_empty() {
            found.insert(argument.clone(), calls);
        }
    }
    found
}

fn subject(context: &Context, group: &Group, argument: Option<&Text>) -> Vec<Text> {
    let server = &context.servers[group.server];
    std::iter::once(server).chain(&group.prompt).chain(argument).cloned().collect()
}

fn about(context: &Context, group: &Group) -> Sentence {
    Sentence::new().prompt(group.prompt.as_ref()).say(" on ").name(&context.servers[group.server]).say(": ")
}

fn clients<'a>(context: &Context<'a>, calls: &[usize]) -> BTreeSet<&'a Text> {
    calls.iter().filter_map(|&call| context.frames.calls[call].client.as_ref()).collect()
}

fn since(context: &Context, calls: &[usize]) -> Option<Ts> {
    calls.iter().filter_map(|&call| context.frames.calls[call].ts).min()
}

fn evidence(context: &Context, calls: &[usize]) -> Vec<super::tables::Evidence> {
    calls.iter().take(EVIDENCE).map(|&call| context.evidence(call)).collect()
}

fn leak(context: &Context, group: &Group, kinds: &Kinds) -> Option<Finding> {
    let calls = &kinds.get(&(LEAK, None))?.rendered;
    let rendered =
        group.calls.iter().filter(|&&call| context.frames.calls[call].outcome == CallOutcome::Rendered).count();
    let mut words: BTreeMap<&Text, u64> = BTreeMap::new();
    for word in calls.iter().flat_map(|&call| context.leaked(call)) {
        *words.entry(word).or_default() += 1;
    }
    let mut order: Vec<(&Text, u64)> = words.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let mut sentence = about(context, group)
        .share(calls.len() as u64, rendered as u64)
        .say(" rendered texts show a hole where a value belongs: ");
    for (index, (word, n)) in order.iter().take(4).enumerate() {
        sentence = sentence.say(if index > 0 { ", " } else { "" }).name(word).say(format!(" in {}", count(*n)));
    }
    if order.len() > 4 {
        sentence = sentence.say(format!(" and {} more words", count(order.len() as u64 - 4)));
    }
    Some(Finding {
        sentence: sentence.clients(clients(context, calls)).since(since(context, calls)).done(),
        numbers: BTreeMap::from([("leaked", calls.len() as f64), ("rendered", rendered as f64)]),
        evidence: evidence(context, calls),
        next_step: "Refuse the call with an error that names the argument, or render the text of a named default."
            .to_string(),
        weight: calls.len() as u64,
        ..Finding::of(&sessions::MT401, subject(context, group, None))
    })
}

fn silent_default(context: &Context, group: &Group, argument: &Text, seen: &Seen) -> Option<Finding> {
    let calls = &seen.rendered;
    let of_argument = |call: &usize| context.args_of(*call).find(|&at| context.frames.args[at].key == *argument);
    let unintended = group
        .calls
        .iter()
        .filter_map(of_argument)
        .filter(|&at| matches!(context.judged[at], Judged::Unintended { .. }))
        .count();
    let example = calls.first().and_then(of_argument)?;
    let values: AHashSet<u64> =
        calls.iter().filter_map(of_argument).map(|at| context.frames.args[at].value_hash).collect();
    let example: Shown = Context::shown(&context.frames.args[example], true);
    let sentence = about(context, group)
        .share(calls.len() as u64, unintended as u64)
        .say(" calls with an unintended ")
        .name(argument)
        .say(format!(
            " were rendered as if it were absent, without a word ({}, for example ",
            plural(values.len() as u64, "distinct value")
        ))
        .value(example)
        .say(")")
        .clients(clients(context, calls))
        .since(since(context, calls));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("defaulted", calls.len() as f64), ("unintended", unintended as f64)]),
        evidence: evidence(context, calls),
        next_step:
            "Say in the rendered text or in an error that the value was not understood, and name the permitted ones."
                .to_string(),
        weight: calls.len() as u64,
        ..Finding::of(&sessions::MT402, subject(context, group, Some(argument)))
    })
}

fn let_through(context: &Context, group: &Group, kind: &str, key: &Text, seen: &Seen) -> Option<Finding> {
    let calls = &seen.rendered;
    calls.first()?;
    let sentence = about(context, group).share(calls.len() as u64, seen.calls.len() as u64);
    let sentence = if kind == UNKNOWN_KEY {
        sentence
            .say(" calls with the key ")
            .name(key)
            .say(", which the declaration in effect lacks, were rendered all the same")
    } else {
        sentence.say(" calls without the required argument ").name(key).say(" were rendered all the same")
    };
    Some(Finding {
        key: kind.to_string(),
        sentence: sentence.clients(clients(context, calls)).since(since(context, calls)).done(),
        numbers: BTreeMap::from([("rendered", calls.len() as f64), ("seen", seen.calls.len() as f64)]),
        evidence: evidence(context, calls),
        next_step: "Answer with error -32602 that names the argument, so that the client learns of it.".to_string(),
        weight: calls.len() as u64,
        ..Finding::of(&sessions::MT403, subject(context, group, Some(key)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::fixture::{Fixture, Prompt};
    use crate::audit::wording::tests::plain;
    use crate::expect::{Expectations, Intended};

    const DECLARED: &[Prompt] = &[("reply", &[("review", true, ""), ("tone", false, "")])];

    fn tones() -> Expectations {
        Expectations {
            intended: vec![Intended {
                server: None,
                prompt: "reply".into(),
                argument: "tone".into(),
                values: vec!["warm".into(), "firm".into()],
                source: "command line",
            }],
            ..Expectations::default()
        }
    }

    fn run(fixture: &Fixture) -> (Vec<Handler>, Vec<Finding>) {
        let expectations = tones();
        handlers(&Context::new(&fixture.frames, &expectations))
    }

    fn desk() -> Fixture {
        let mut fixture = Fixture::new();
        fixture.session("a", "desk", "ide");
        fixture.listing("a", DECLARED);
        fixture
    }

    fn call(fixture: &mut Fixture, arguments: &[(&str, &str)], skeleton: u64) {
        fixture.call("a", "reply", arguments).rendered_skeleton = Some(skeleton);
    }

    fn row<'r>(rows: &'r [Handler], kind: &str) -> Option<&'r Handler> {
        rows.iter().find(|row| row.kind == kind)
    }

    fn counts(rows: &[Handler], kind: &str) -> Option<(u64, u64, u64, u64)> {
        row(rows, kind).map(|row| (row.seen, row.rendered, row.error, row.defects))
    }

    #[test]
    fn clean_calls_have_no_rows_and_no_findings() {
        let mut fixture = desk();
        for tone in ["warm", "firm"] {
            call(&mut fixture, &[("review", "Fine."), ("tone", tone)], 1);
        }
        call(&mut fixture, &[("review", "Fine.")], 2);
        let (rows, findings) = run(&fixture);
        assert!(rows.is_empty() && findings.is_empty());
    }

    #[test]
    fn kinds_by_what_became_of_them() {
        let mut fixture = desk();
        call(&mut fixture, &[("tone", "warm")], 1);
        let refused = fixture.call("a", "reply", &[("tone", "warm")]);
        refused.outcome = CallOutcome::Error;
        refused.rendered_skeleton = None;
        call(&mut fixture, &[("review", " "), ("tone", "warm")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "warm"), ("area", "y")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "warm\nand firm")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", &"word ".repeat(60))], 1);
        call(&mut fixture, &[("review", &"x".repeat(100_001)), ("tone", "warm")], 1);
        fixture.call("a", "reply", &[("review", "x"), ("area", "y")]).rendered_messages = Some(0);
        let (rows, findings) = run(&fixture);
        assert_eq!(counts(&rows, MISSING_REQUIRED), Some((2, 1, 1, 1)));
        assert_eq!(counts(&rows, REQUIRED_EMPTY), Some((1, 1, 0, 1)));
        assert_eq!(counts(&rows, UNKNOWN_KEY), Some((2, 2, 0, 2)));
        assert_eq!(row(&rows, UNKNOWN_KEY).map(|row| row.rendered_empty), Some(1));
        assert_eq!(counts(&rows, LINE_BREAK), Some((1, 1, 0, 1)));
        assert_eq!(counts(&rows, OVERSIZED), Some((1, 1, 0, 1)));
        assert_eq!(counts(&rows, UNINTENDED), Some((2, 2, 0, 2)));
        assert_eq!(counts(&rows, HUGE), Some((1, 1, 0, 1)));
        assert_eq!((row(&rows, LEAK), row(&rows, SILENT_DEFAULT)), (None, None));
        let found: Vec<(&str, &str)> = findings.iter().map(|finding| (finding.rule, &*finding.key)).collect();
        assert_eq!(found, [("MT403", MISSING_REQUIRED), ("MT403", UNKNOWN_KEY)]);
    }

    #[test]
    fn refused_calls_are_seen_and_no_defect() {
        let mut fixture = desk();
        fixture.call("a", "reply", &[]).outcome = CallOutcome::Error;
        let (rows, findings) = run(&fixture);
        assert_eq!(counts(&rows, MISSING_REQUIRED), Some((1, 0, 1, 0)));
        assert!(findings.is_empty());
    }

    #[test]
    fn a_leaked_absence_is_found_and_template_text_is_not() {
        let mut fixture = desk();
        call(&mut fixture, &[("review", "x"), ("tone", "warm")], 1);
        for tone in ["", "Warm"] {
            call(&mut fixture, &[("review", "x"), ("tone", tone)], 2);
            if let Some(call) = fixture.frames.calls.last_mut() {
                call.leaked = vec!["None".into()];
            }
        }
        let (rows, findings) = run(&fixture);
        assert_eq!(counts(&rows, LEAK), Some((2, 2, 0, 2)));
        assert_eq!(
            plain(&findings[0].sentence),
            "reply on desk: 2 of 3 (66.7 %, 95 % interval 20.8–93.9 %) rendered texts show a hole where a value belongs: \
             None in 2; client: ide; since 1970-01-01 00:00 UTC."
        );
        for call in &mut fixture.frames.calls {
            call.leaked = vec!["None".into()];
        }
        let (rows, findings) = run(&fixture);
        assert_eq!(row(&rows, LEAK), None, "every text has the word, a complete one too");
        assert!(findings.is_empty());
    }

    #[test]
    fn an_unintended_value_rendered_like_an_absent_one_is_silently_defaulted() {
        let mut fixture = desk();
        call(&mut fixture, &[("review", "x")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "warm")], 2);
        call(&mut fixture, &[("review", "x"), ("tone", "firm")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "furious")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "cheerful")], 3);
        let (rows, findings) = run(&fixture);
        assert_eq!(counts(&rows, SILENT_DEFAULT), Some((1, 1, 0, 1)), "a blank value is none");
        assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["MT402"]);
        assert!(plain(&findings[0].sentence).contains("(1 distinct value, for example furious)"));
    }

    #[test]
    fn an_argument_that_no_text_depends_on_is_not_defaulted() {
        let mut fixture = desk();
        call(&mut fixture, &[("review", "x")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "warm")], 1);
        call(&mut fixture, &[("review", "x"), ("tone", "furious")], 1);
        assert!(run(&fixture).1.is_empty());
    }
}
