//! Intended and unintended values (analyses.md §3): where an argument's intended set comes from, and how each value that
//! arrived is judged by it.

pub mod class;
pub mod list;
pub mod tail;

use super::context::Context;
use super::contract_index::WordingId;
use crate::protocol::message::Text;
use crate::schema::{ArgRow, CallOutcome, ValueType};
use ahash::AHashMap;
use class::Class;
use std::collections::{BTreeMap, BTreeSet};

/// A set that the operator wrote into the expectations file.
pub const FROM_EXPECTATIONS: &str = "expectations";
/// A set given with `--intended`.
pub const FROM_COMMAND_LINE: &str = "command line";
/// A closed list in the argument's description.
pub const FROM_DESCRIPTION: &str = "description";
/// Completion answers to an empty value. A server offers them; nothing enforces them.
pub const FROM_COMPLETION: &str = "completion (offered, not enforced)";

/// How one argument value was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Judged {
    /// No intended set applied to this call.
    Open,
    Intended,
    /// `repaired` says whether the class's repair leads to exactly one intended value.
    Unintended {
        class: Class,
        repaired: bool,
    },
}

impl Judged {
    /// `intended` or the class; `None` where nothing was judged.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Open => None,
            Self::Intended => Some("intended"),
            Self::Unintended { class, .. } => Some(class.as_str()),
        }
    }
}

/// Index into the sets.
type SetId = usize;

/// Values that an argument is meant to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntendedSet {
    /// One of the `FROM_` words.
    pub source: &'static str,
    /// As written, each once.
    pub values: Vec<Text>,
    forms: Vec<class::Forms>,
}

impl IntendedSet {
    fn new(source: &'static str, values: &[Text]) -> Self {
        let mut once: Vec<Text> = Vec::new();
        for value in values {
            if !once.contains(value) {
                once.push(value.clone());
            }
        }
        let forms = once.iter().map(|value| class::Forms::new(value)).collect();
        Self { source, values: once, forms }
    }

    /// Judges one value; byte-exact equality with an intended value is what a naive handler sees.
    pub fn judge(&self, arg: &ArgRow) -> Judged {
        if arg.json_type == ValueType::String && self.values.contains(&arg.value) && !class::is_cut(arg) {
            return Judged::Intended;
        }
        let (class, repaired) = class::classify(arg, &self.values, &self.forms);
        Judged::Unintended { class, repaired }
    }
}

/// Which set judges an argument's calls.
#[derive(Debug, Clone)]
enum Source {
    /// One set for all calls.
    Fixed(SetId),
    /// By the wording in effect for the call.
    ByWording { sets: AHashMap<WordingId, SetId>, newest: SetId },
}

/// (server, prompt) → argument → source.
type Sources = BTreeMap<(usize, Option<Text>), BTreeMap<Text, Source>>;

/// The intended sets of every argument that has one.
#[derive(Debug, Default)]
pub struct IntendedSets {
    sets: Vec<IntendedSet>,
    sources: Sources,
}

impl IntendedSets {
    pub fn new(context: &Context) -> Self {
        let mut known = Self::default();
        let offered = offered_by_completion(context);
        for ((server, prompt), arguments) in argument_names(context) {
            for argument in arguments {
                // The file goes before the command line, and within each what names a server before what names none.
                let expected = prompt.as_ref().and_then(|prompt| {
                    let fitting = context.expectations.intended.iter().filter(|intended| {
                        intended.prompt == *prompt
                            && intended.argument == argument
                            && names_server(intended.server.as_deref(), &context.servers[server])
                    });
                    fitting.min_by_key(|known| (known.source != FROM_EXPECTATIONS, known.server.is_none()))
                });
                let source = if let Some(expected) = expected {
                    Some(Source::Fixed(known.add(IntendedSet::new(expected.source, &expected.values))))
                } else if let Some(source) =
                    prompt.as_ref().and_then(|prompt| known.described(context, server, prompt, &argument))
                {
                    Some(source)
                } else {
                    prompt
                        .as_ref()
                        .and_then(|prompt| offered.get(&(server, prompt.clone(), argument.clone())))
                        .and_then(Option::as_ref)
                        .map(|values| Source::Fixed(known.add(IntendedSet::new(FROM_COMPLETION, values))))
                };
                if let Some(source) = source {
                    known.sources.entry((server, prompt.clone())).or_default().insert(argument, source);
                }
            }
        }
        known
    }

    fn add(&mut self, set: IntendedSet) -> SetId {
        self.sets.push(set);
        self.sets.len() - 1
    }

    fn described(&mut self, context: &Context, server: usize, prompt: &Text, argument: &str) -> Option<Source> {
        let versions = context.contract.versions_of(server, prompt);
        let mut sets = AHashMap::new();
        let mut newest: Option<(u64, SetId)> = None;
        for (at, wording) in context.contract.wordings.iter().enumerate() {
            if !versions.contains(&wording.version) {
                continue;
            }
            let described = wording.arguments.iter().find(|known| &*known.name == argument);
            let Some(values) = described.and_then(|known| list::closed_list(known.description.as_deref()?)) else {
                continue;
            };
            let set = self.add(IntendedSet::new(FROM_DESCRIPTION, &values));
            sets.insert(at, set);
            if newest.is_none_or(|(seq, _)| seq <= wording.last_seq) {
                newest = Some((wording.last_seq, set));
            }
        }
        newest.map(|(_, newest)| Source::ByWording { sets, newest })
    }

    fn source(&self, server: usize, prompt: Option<&Text>, argument: &str) -> Option<&Source> {
        self.sources.get(&(server, prompt.cloned()))?.get(argument)
    }

    /// The set that judges one call's argument.
    pub fn for_call(&self, context: &Context, call: usize, argument: &str) -> Option<&IntendedSet> {
        let group = &context.groups[context.group_of[call]];
        let set = match self.source(group.server, group.prompt.as_ref(), argument)? {
            Source::Fixed(set) => *set,
            Source::ByWording { sets, .. } => *sets.get(&context.effects[call].wording?)?,
        };
        Some(&self.sets[set])
    }

    /// The newest set of an argument, for titles and for what is unused; `None`: open domain.
    pub fn newest(&self, server: usize, prompt: Option<&Text>, argument: &str) -> Option<&IntendedSet> {
        match self.source(server, prompt, argument)? {
            Source::Fixed(set) => Some(&self.sets[*set]),
            Source::ByWording { newest, .. } => Some(&self.sets[*newest]),
        }
    }

    /// Whether any version of an argument's own set holds a value; `None` where it has none but what completion offered.
    pub fn ever_holds(&self, server: usize, prompt: Option<&Text>, argument: &str, value: &Text) -> Option<bool> {
        let sets: Vec<SetId> = match self.source(server, prompt, argument)? {
            Source::Fixed(set) => vec![*set],
            Source::ByWording { sets, .. } => sets.values().copied().collect(),
        };
        let mut own = sets.iter().map(|set| &self.sets[*set]).filter(|set| set.source != FROM_COMPLETION).peekable();
        own.peek()?;
        Some(own.any(|set| set.values.contains(value)))
    }

    /// Judges every row of `frames.args`.
    pub fn judge(&self, context: &Context) -> Vec<Judged> {
        let mut judged = vec![Judged::Open; context.frames.args.len()];
        let mut known: AHashMap<(*const IntendedSet, ValueType, u64), Judged> = AHashMap::new();
        for group in &context.groups {
            if !self.sources.contains_key(&(group.server, group.prompt.clone())) {
                continue;
            }
            for &call in &group.calls {
                for at in context.args_of(call) {
                    let arg = &context.frames.args[at];
                    if let Some(set) = self.for_call(context, call, &arg.key) {
                        let key = (std::ptr::from_ref(set), arg.json_type, arg.value_hash);
                        judged[at] = *known.entry(key).or_insert_with(|| set.judge(arg));
                    }
                }
            }
        }
        judged
    }
}

fn names_server(expected: Option<&str>, resolved: &str) -> bool {
    expected
        .is_none_or(|name| resolved == name || resolved.strip_prefix(name).is_some_and(|rest| rest.starts_with('@')))
}

/// Every argument that a listing declared or a call sent, by server index and prompt.
pub fn argument_names(context: &Context) -> BTreeMap<(usize, Option<Text>), BTreeSet<Text>> {
    let mut names: BTreeMap<(usize, Option<Text>), BTreeSet<Text>> = BTreeMap::new();
    for (server, prompt, versions) in context.contract.declared_prompts() {
        let arguments = names.entry((server, Some(prompt.clone()))).or_default();
        for &version in versions {
            arguments.extend(context.contract.versions[version].arguments.iter().map(|known| known.name.clone()));
        }
    }
    for group in &context.groups {
        let arguments = names.entry((group.server, group.prompt.clone())).or_default();
        for &call in &group.calls {
            for arg in context.args(call) {
                if !arguments.contains(&arg.key) {
                    arguments.insert(arg.key.clone());
                }
            }
        }
    }
    names
}

/// What completion offered for an empty value without context, where all such answers are whole and agree.
/// `None` in the map: they disagree.
fn offered_by_completion(context: &Context) -> BTreeMap<(usize, Text, Text), Option<Vec<Text>>> {
    let mut offered: BTreeMap<(usize, Text, Text), Option<Vec<Text>>> = BTreeMap::new();
    for row in &context.frames.completions {
        let (Some(prompt), Some(argument)) = (&row.prompt, &row.argument) else { continue };
        let whole = row.outcome == CallOutcome::Rendered
            && row.typed.as_deref() == Some("")
            && !row.context
            && !row.offered.is_empty()
            && !row.has_more
            && row.total.is_none_or(|total| total <= row.offered.len() as f64);
        if !whole {
            continue;
        }
        let key = (context.server_of(&row.session), prompt.clone(), argument.clone());
        let known = offered.entry(key).or_insert_with(|| Some(row.offered.clone()));
        let same = known.as_ref().is_some_and(|values| {
            values.iter().collect::<BTreeSet<_>>() == row.offered.iter().collect::<BTreeSet<_>>()
        });
        if !same {
            *known = None;
        }
    }
    offered
}
