//! Intended sets that nothing in the frames asks for: a name that was mistyped judges no call.

use crate::expect::{Expectations, Intended};
use crate::frames::Frames;
use ahash::AHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Names listed in a note.
const NAMED: usize = 5;

/// An intended set without a call or declaration that it could judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet<'a> {
    pub intended: &'a Intended,
    /// What is not there, and what is.
    pub note: String,
}

/// Every such set, in the order given. A prompt or an argument is there when a call sent it or a listing declared it.
pub fn unmet<'a>(frames: &Frames, expectations: &'a Expectations) -> Vec<Unmet<'a>> {
    if expectations.intended.is_empty() {
        return Vec::new();
    }
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut called: AHashMap<u64, &str> = AHashMap::with_capacity(frames.calls.len());
    for call in &frames.calls {
        let Some(prompt) = call.prompt.as_deref() else { continue };
        known.entry(prompt).or_default();
        called.insert(call.call, prompt);
    }
    for arg in &frames.args {
        if let Some(arguments) = called.get(&arg.call).and_then(|prompt| known.get_mut(prompt)) {
            arguments.insert(&arg.key);
        }
    }
    for row in &frames.declarations {
        known.entry(&row.prompt).or_default().extend(row.argument.as_deref());
    }
    let note = |intended: &Intended| {
        let (prompt, argument) = (&intended.prompt, &intended.argument);
        match known.get(&**prompt) {
            None => {
                Some(format!("no call and no declaration of a prompt `{prompt}`{}", some_of("prompts", known.keys())))
            }
            Some(arguments) if !arguments.contains(&**argument) => Some(format!(
                "no call and no declaration of `{prompt}` has an argument `{argument}`{}",
                some_of("arguments", arguments.iter())
            )),
            Some(_) => None,
        }
    };
    expectations.intended.iter().filter_map(|intended| Some(Unmet { intended, note: note(intended)? })).collect()
}

fn some_of<'n>(what: &str, names: impl ExactSizeIterator<Item = &'n &'n str>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut list: Vec<String> = names.take(NAMED).map(|name| format!("`{name}`")).collect();
    if more > 0 {
        list.push(format!("{more} more"));
    }
    if list.is_empty() { String::new() } else { format!("; {what} there: {}", list.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::fixture::*;

    #[test]
    fn a_name_that_nothing_has_is_noted_with_those_there_are() {
        let mut fixture = Fixture::new();
        fixture.session("s", "desk", "app").call("s", "reply", &[("tone", "warm")]);
        let set = |prompt: &str, argument: &str| Intended {
            server: None,
            prompt: prompt.into(),
            argument: argument.into(),
            values: vec!["warm".into()],
            source: "command line",
        };
        let intended = vec![set("reply", "tone"), set("replie", "tone"), set("reply", "tune")];
        let expectations = Expectations { intended, ..Expectations::default() };
        let notes: Vec<String> = unmet(&fixture.frames, &expectations).into_iter().map(|unmet| unmet.note).collect();
        assert_eq!(
            notes,
            [
                "no call and no declaration of a prompt `replie`; prompts there: `reply`",
                "no call and no declaration of `reply` has an argument `tune`; arguments there: `tone`"
            ]
        );
    }
}
