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
        let tallies = if unknown.is_empty() { Vec::new() } else { tallies(context, group) };
        for (key, entry) in unknown {
            let hint = rename_hint(&tallies, key);
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

/// The calls of one prompt under one version, counted so that each unknown key costs only the calls that carry it.
struct Tally<'a> {
    names: Vec<Name<'a>>,
    calls: u64,
    /// By unknown key: the calls that carry it, as indices into `sent`.
    carriers: AHashMap<&'a str, Vec<usize>>,
    /// By call with an unknown key: which of `names` it carries.
    sent: Vec<Vec<usize>>,
}

/// A declared argument, with what its comparisons need.
struct Name<'a> {
    text: &'a Text,
    spelling: Spelling,
    /// Calls that carry it.
    calls: u64,
}

fn tallies<'a>(context: &'a Context<'_>, group: &Group) -> Vec<Tally<'a>> {
    let mut tallies: BTreeMap<usize, (Tally, AHashMap<&str, usize>)> = BTreeMap::new();
    for &at in &group.calls {
        let State::Declared(version) = context.effects[at].state else { continue };
        if !context.arguments_captured(at) {
            continue;
        }
        let (tally, places) = tallies.entry(version).or_insert_with(|| {
            let (mut names, mut places) = (Vec::new(), AHashMap::new());
            for known in &context.contract.versions[version].arguments {
                places.entry(&*known.name).or_insert_with(|| {
                    names.push(Name { text: &known.name, spelling: Spelling::of(&known.name), calls: 0 });
                    names.len() - 1
                });
            }
            (Tally { names, calls: 0, carriers: AHashMap::new(), sent: Vec::new() }, places)
        });
        tally.calls += 1;
        let (mut declared, mut unknown) = (BTreeSet::new(), BTreeSet::new());
        for arg in context.args(at) {
            match places.get(&*arg.key) {
                Some(&place) => _ = declared.insert(place),
                None => _ = unknown.insert(&*arg.key),
            }
        }
        for &place in &declared {
            tally.names[place].calls += 1;
        }
        if !unknown.is_empty() {
            for key in unknown {
                tally.carriers.entry(key).or_default().push(tally.sent.len());
            }
            tally.sent.push(declared.into_iter().collect());
        }
    }
    tallies.into_values().map(|(tally, _)| tally).collect()
}

/// The declared argument that an unknown key probably stands for, and why.
///
/// Equal letters come first, then a token subset, then complementarity; each only where exactly one argument fits, and
/// the weaker two never where a call carries both names.
fn rename_hint(tallies: &[Tally], key: &str) -> Option<(Text, String)> {
    let mut squares: BTreeMap<&Text, (Square, &Spelling)> = BTreeMap::new();
    for tally in tallies.iter().filter(|tally| tally.names.iter().all(|name| &**name.text != key)) {
        let carriers = tally.carriers.get(key).map_or(&[][..], Vec::as_slice);
        let mut both = vec![0; tally.names.len()];
        for &place in carriers.iter().flat_map(|&call| &tally.sent[call]) {
            both[place] += 1;
        }
        let with_key = carriers.len() as u64;
        for (name, both) in tally.names.iter().zip(both) {
            let (square, _) = squares.entry(name.text).or_insert((Square::default(), &name.spelling));
            square.both += both;
            square.key_only += with_key - both;
            square.declared_only += name.calls - both;
            square.neither += tally.calls + both - with_key - name.calls;
        }
    }
    let own = Spelling::of(key);
    let spelling: [(&str, Fits); 2] = [("same letters", Spelling::same_letters), ("token subset", Spelling::subset)];
    for (why, fits) in spelling {
        let mut fitting = squares
            .iter()
            .filter(|(_, (square, name))| (why == "same letters" || square.both == 0) && fits(&own, name));
        if let (Some((name, (square, _))), None) = (fitting.next(), fitting.next()) {
            let evidence = match square.complementary() {
                true => format!("{why}; complementarity: {}", table(*square)),
                false => format!("{why}: {}", table(*square)),
            };
            return Some(((*name).clone(), evidence));
        }
    }
    let mut fitting = squares.iter().filter(|(_, (square, _))| square.complementary());
    match (fitting.next(), fitting.next()) {
        (Some((name, (square, _))), None) => Some(((*name).clone(), format!("complementarity: {}", table(*square)))),
        _ => None,
    }
}

/// Whether two names are spelt alike.
type Fits = fn(&Spelling, &Spelling) -> bool;

fn table(square: Square) -> String {
    format!(
        "calls with only this key {}, only the declared one {}, both {}, neither {}",
        square.key_only, square.declared_only, square.both, square.neither
    )
}

/// What the comparisons of a name look at, worked out once.
struct Spelling {
    name: String,
    letters: String,
    tokens: BTreeSet<String>,
}

impl Spelling {
    fn of(name: &str) -> Self {
        let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | '.')).flat_map(char::to_lowercase).collect();
        Self { name: name.to_owned(), letters, tokens: tokens(name) }
    }

    fn same_letters(&self, other: &Self) -> bool {
        self.name != other.name && self.letters == other.letters
    }

    fn subset(&self, other: &Self) -> bool {
        let proper = |part: &BTreeSet<String>, whole: &BTreeSet<String>| {
            !part.is_empty() && part.len() < whole.len() && part.is_subset(whole)
        };
        proper(&self.tokens, &other.tokens) || proper(&other.tokens, &self.tokens)
    }
}

/// Equal after dropping `-`, `_`, `.` and case.
pub fn same_letters(a: &str, b: &str) -> bool {
    Spelling::of(a).same_letters(&Spelling::of(b))
}

/// The words of one name are a proper part of the other's: `area`, `product-area`.
pub fn token_subset(a: &str, b: &str) -> bool {
    Spelling::of(a).subset(&Spelling::of(b))
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
