//! Keys against the declaration in effect: unknown ones with what they probably stand for, and required ones that are
//! missing or empty (analyses.md §4).

use super::context::{Context, Group};
use super::effect::State;
use super::intended::class::is_blank;
use super::tables::{MissingRequired, UnknownKey};
use crate::protocol::message::Text;
use crate::schema::CallOutcome;
use ahash::{AHashMap, AHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How calls ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    pub calls: u64,
    pub rendered: u64,
    pub error: u64,
    pub input_required: u64,
    pub unanswered: u64,
    pub not_captured: u64,
}

impl Outcomes {
    fn add(&mut self, outcome: CallOutcome) {
        self.calls += 1;
        match outcome {
            CallOutcome::Rendered => self.rendered += 1,
            CallOutcome::Error => self.error += 1,
            CallOutcome::InputRequired => self.input_required += 1,
            CallOutcome::Unanswered => self.unanswered += 1,
            CallOutcome::NotCaptured => self.not_captured += 1,
        }
    }
}

#[derive(Default)]
struct Unknown<'a> {
    outcomes: Outcomes,
    sessions: AHashSet<&'a str>,
    clients: BTreeSet<Text>,
    earlier_version: bool,
}

#[derive(Default)]
struct Missing {
    outcomes: Outcomes,
    clients: BTreeMap<Text, u64>,
    required_but_empty: u64,
}

/// Unknown keys and missing required arguments, each by server, prompt and name.
pub fn keys(context: &Context) -> (Vec<UnknownKey>, Vec<MissingRequired>) {
    let (mut unknown_keys, mut missing_required) = (Vec::new(), Vec::new());
    for group in &context.groups {
        let mut unknown: BTreeMap<&Text, Unknown> = BTreeMap::new();
        let mut missing: BTreeMap<Text, Missing> = BTreeMap::new();
        for &at in &group.calls {
            let (State::Declared(version), Some(mismatch)) = (context.effects[at].state, context.mismatch(at)) else {
                continue;
            };
            let call = &context.frames.calls[at];
            for &row in &mismatch.unknown {
                let key = &context.frames.args[row].key;
                let entry = unknown.entry(key).or_default();
                entry.outcomes.add(call.outcome);
                entry.sessions.insert(&call.session);
                entry.clients.insert(Context::client_of(call));
                entry.earlier_version |= in_earlier_version(context, group, version, key, call.seq);
            }
            for name in mismatch.missing {
                let entry = missing.entry(name).or_default();
                entry.outcomes.add(call.outcome);
                *entry.clients.entry(Context::client_of(call)).or_default() += 1;
            }
            for arg in context.args(at).iter().filter(|arg| is_blank(arg)) {
                let declared = &context.contract.versions[version].arguments;
                if declared.iter().any(|known| known.required && known.name == arg.key) {
                    missing.entry(arg.key.clone()).or_default().required_but_empty += 1;
                }
            }
        }
        let server = &context.servers[group.server];
        for (key, entry) in unknown {
            let hint = rename_hint(context, group, key);
            unknown_keys.push(UnknownKey {
                server: server.clone(),
                prompt: group.prompt.clone(),
                key: key.clone(),
                calls: entry.outcomes.calls,
                sessions: entry.sessions.len() as u64,
                clients: entry.clients.into_iter().collect(),
                rendered: entry.outcomes.rendered,
                error: entry.outcomes.error,
                input_required: entry.outcomes.input_required,
                unanswered: entry.outcomes.unanswered,
                not_captured: entry.outcomes.not_captured,
                earlier_version: entry.earlier_version,
                rename_of: hint.as_ref().map(|(name, _)| name.clone()),
                evidence: hint.map(|(_, evidence)| evidence),
            });
        }
        for (argument, entry) in missing {
            missing_required.push(MissingRequired {
                server: server.clone(),
                prompt: group.prompt.clone(),
                argument,
                calls: entry.outcomes.calls,
                rendered: entry.outcomes.rendered,
                error: entry.outcomes.error,
                input_required: entry.outcomes.input_required,
                unanswered: entry.outcomes.unanswered,
                not_captured: entry.outcomes.not_captured,
                clients: entry.clients,
                required_but_empty: entry.required_but_empty,
            });
        }
    }
    (unknown_keys, missing_required)
}

/// Whether a version other than the one in effect, shown before the call, has the key.
fn in_earlier_version(context: &Context, group: &Group, in_effect: usize, key: &str, seq: u64) -> bool {
    let Some(prompt) = &group.prompt else { return false };
    context.contract.versions_of(group.server, prompt).iter().any(|&version| {
        let version_row = &context.contract.versions[version];
        version != in_effect && version_row.first_seq < seq && version_row.has(key)
    })
}

/// Who carries the key and who the declared argument, over the calls that declare the argument and not the key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Square {
    key_only: u64,
    both: u64,
    declared_only: u64,
    neither: u64,
}

impl Square {
    /// The key is there exactly where the declared argument is missing.
    fn complementary(self) -> bool {
        self.both == 0 && self.neither == 0 && self.key_only >= 2 && self.declared_only >= 1
    }
}

/// The declared argument that an unknown key probably stands for, and why.
///
/// Equal letters come first, then a token subset, then complementarity; each only where exactly one argument fits, and
/// the weaker two never where a call carries both names.
fn rename_hint(context: &Context, group: &Group, key: &str) -> Option<(Text, String)> {
    let mut squares: BTreeMap<Text, Square> = BTreeMap::new();
    // Which of one version's arguments stand beside the key does not change between calls: look names up once.
    let mut candidates: AHashMap<usize, Vec<Text>> = AHashMap::new();
    for &at in &group.calls {
        let State::Declared(version) = context.effects[at].state else { continue };
        let declared = &context.contract.versions[version];
        if declared.has(key) || !context.arguments_captured(at) {
            continue;
        }
        let names = candidates
            .entry(version)
            .or_insert_with(|| declared.arguments.iter().map(|known| known.name.clone()).collect());
        let sent = context.args(at);
        let has_key = sent.iter().any(|arg| &*arg.key == key);
        for name in names.iter() {
            let has_declared = sent.iter().any(|arg| arg.key == *name);
            let square = squares.entry(name.clone()).or_default();
            match (has_key, has_declared) {
                (true, true) => square.both += 1,
                (true, false) => square.key_only += 1,
                (false, true) => square.declared_only += 1,
                (false, false) => square.neither += 1,
            }
        }
    }
    let spelling: [(&str, Fits); 2] = [("same letters", same_letters), ("token subset", token_subset)];
    for (why, fits) in spelling {
        let mut fitting =
            squares.iter().filter(|(name, square)| fits(key, name) && (why == "same letters" || square.both == 0));
        if let (Some((name, square)), None) = (fitting.next(), fitting.next()) {
            let evidence = match square.complementary() {
                true => format!("{why}; complementarity: {}", table(*square)),
                false => format!("{why}: {}", table(*square)),
            };
            return Some((name.clone(), evidence));
        }
    }
    let mut fitting = squares.iter().filter(|(_, square)| square.complementary());
    match (fitting.next(), fitting.next()) {
        (Some((name, square)), None) => Some((name.clone(), format!("complementarity: {}", table(*square)))),
        _ => None,
    }
}

/// Whether two names are spelt alike.
type Fits = fn(&str, &str) -> bool;

fn table(square: Square) -> String {
    format!(
        "calls with only this key {}, only the declared one {}, both {}, neither {}",
        square.key_only, square.declared_only, square.both, square.neither
    )
}

/// Equal after dropping `-`, `_`, `.` and case.
pub fn same_letters(a: &str, b: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '-' | '_' | '.')).flat_map(char::to_lowercase).collect()
    };
    a != b && letters(a) == letters(b)
}

/// The words of one name are a proper part of the other's: `area`, `product-area`.
pub fn token_subset(a: &str, b: &str) -> bool {
    let (a, b) = (tokens(a), tokens(b));
    let proper = |part: &BTreeSet<String>, whole: &BTreeSet<String>| {
        !part.is_empty() && part.len() < whole.len() && part.is_subset(whole)
    };
    proper(&a, &b) || proper(&b, &a)
}

/// Words of a name, lower-cased: cut at `-`, `_`, `.`, white space and where camelCase starts a new word.
fn tokens(name: &str) -> BTreeSet<String> {
    let mut tokens = BTreeSet::new();
    let mut token = String::new();
    let mut lower_before = false;
    for c in name.chars() {
        let cut = matches!(c, '-' | '_' | '.') || c.is_whitespace();
        if (cut || (lower_before && c.is_uppercase())) && !token.is_empty() {
            tokens.insert(std::mem::take(&mut token));
        }
        if !cut {
            token.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase() || c.is_numeric();
    }
    if !token.is_empty() {
        tokens.insert(token);
    }
    tokens
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
