//! What the analyses share: resolved names, indexes over the frames, and each call's declaration in effect.

use super::contract_index::ContractIndex;
use super::effect::{self, Effect, State};
use super::intended::{IntendedSets, Judged};
use super::tables::{Evidence, Shown};
use crate::expect::Expectations;
use crate::frames::Frames;
use crate::protocol::message::Text;
use crate::schema::{ArgRow, ArgumentsShape, CallOutcome, CallRow, SessionQuality, SessionRow};
use ahash::{AHashMap, AHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// Name of a server of which neither `serverInfo` nor a label is known.
pub const UNKNOWN_SERVER: &str = "(unknown server)";
/// Name of a client that never introduced itself.
pub const UNKNOWN_CLIENT: &str = "(unknown client)";

/// The calls of one prompt of one server.
#[derive(Debug, Clone)]
pub struct Group {
    /// Index into [`Context::servers`].
    pub server: usize,
    /// `None`: no name was sent, or (with `captured` false) the capture did not keep it.
    pub prompt: Option<Text>,
    pub captured: bool,
    /// Indexes into `frames.calls`, in reading order.
    pub calls: Vec<usize>,
}

/// How a call's keys differ from its declaration in effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// Indexes into `frames.args` of keys the declaration lacks.
    pub unknown: Vec<usize>,
    /// Names of required arguments that were not sent.
    pub missing: Vec<Text>,
}

impl Mismatch {
    pub fn any(&self) -> bool {
        !self.unknown.is_empty() || !self.missing.is_empty()
    }
}

/// Frames, expectations and what follows from them once for all analyses. Indexes are those of the frames' vectors.
pub struct Context<'a> {
    pub frames: &'a Frames,
    pub expectations: &'a Expectations,
    /// Resolved server names, sorted.
    pub servers: Vec<Text>,
    /// Sorted by server name, then prompt (no name first).
    pub groups: Vec<Group>,
    /// Per call: index into `groups`.
    pub group_of: Vec<usize>,
    /// Declarations and their versions, listings and notices by session.
    pub contract: ContractIndex,
    /// Per call: the declaration in effect and what its session had seen.
    pub effects: Vec<Effect>,
    /// Intended values per argument.
    pub intended: IntendedSets,
    /// Per row of `frames.args`: intended, unintended with its class, or not judged.
    pub judged: Vec<Judged>,
    /// Per call: a number for its session, and one for its client's name.
    pub session_numbers: Vec<u32>,
    pub client_numbers: Vec<u32>,
    args: Vec<Range<usize>>,
    leaks: Vec<Vec<Text>>,
    sessions: AHashMap<&'a str, usize>,
    session_servers: AHashMap<&'a str, usize>,
    server_numbers: AHashMap<Text, usize>,
}

impl<'a> Context<'a> {
    pub fn new(frames: &'a Frames, expectations: &'a Expectations) -> Self {
        let sessions: AHashMap<&str, usize> =
            frames.sessions.iter().enumerate().map(|(at, row)| (&*row.session, at)).collect();
        let names = resolve_servers(frames);
        let mut servers: Vec<Text> = names.values().cloned().collect();
        servers.sort();
        servers.dedup();
        let server_numbers: AHashMap<Text, usize> =
            servers.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        let session_servers = names.iter().map(|(session, name)| (*session, server_numbers[name])).collect();

        let mut spans: AHashMap<u64, Range<usize>> = AHashMap::with_capacity(frames.calls.len());
        for (at, arg) in frames.args.iter().enumerate() {
            let span = spans.entry(arg.call).or_insert(at..at);
            span.end = at + 1;
        }
        let args = frames.calls.iter().map(|call| spans.get(&call.call).cloned().unwrap_or(0..0)).collect();

        let mut context = Self {
            frames,
            expectations,
            servers,
            groups: Vec::new(),
            group_of: Vec::new(),
            contract: ContractIndex::default(),
            effects: Vec::new(),
            intended: IntendedSets::default(),
            judged: Vec::new(),
            session_numbers: numbered(frames.calls.iter().map(|call| Some(&call.session))),
            client_numbers: numbered(frames.calls.iter().map(|call| call.client.as_ref())),
            args,
            leaks: Vec::new(),
            sessions,
            session_servers,
            server_numbers,
        };
        context.group_calls();
        context.contract = ContractIndex::new(&context);
        context.effects = effect::effects(&context);
        context.intended = IntendedSets::new(&context);
        context.judged = context.intended.judge(&context);
        context.leaks = context.find_leaks();
        context
    }

    fn group_calls(&mut self) {
        let mut order: Vec<usize> = (0..self.frames.calls.len()).collect();
        order.sort_by_key(|&at| (self.frames.calls[at].seq, at));
        let mut numbers: BTreeMap<(usize, Option<Text>, bool), Vec<usize>> = BTreeMap::new();
        for at in order {
            let call = &self.frames.calls[at];
            let key = (self.server_of(&call.session), call.prompt.clone(), call.prompt_captured);
            numbers.entry(key).or_default().push(at);
        }
        self.group_of = vec![0; self.frames.calls.len()];
        for ((server, prompt, captured), calls) in numbers {
            for &at in &calls {
                self.group_of[at] = self.groups.len();
            }
            self.groups.push(Group { server, prompt, captured, calls });
        }
    }

    /// The session's row, if the capture had one.
    pub fn session(&self, session: &str) -> Option<&'a SessionRow> {
        self.sessions.get(session).map(|&at| &self.frames.sessions[at])
    }

    /// How sure the cut of a session is. A session without a row is a guess.
    pub fn session_quality(&self, session: &str) -> SessionQuality {
        self.session(session).map_or(SessionQuality::Guess, |row| row.session_quality)
    }

    /// Index of the session's server in `servers`.
    pub fn server_of(&self, session: &str) -> usize {
        self.session_servers.get(session).copied().unwrap_or_default()
    }

    /// Resolved name of the session's server.
    pub fn server_name(&self, session: &str) -> Text {
        self.servers.get(self.server_of(session)).cloned().unwrap_or_else(|| UNKNOWN_SERVER.into())
    }

    /// Index of a resolved server name.
    pub fn server_number(&self, name: &str) -> Option<usize> {
        self.server_numbers.get(name).copied()
    }

    /// Indexes of a call's rows in `frames.args`.
    pub fn args_of(&self, call: usize) -> Range<usize> {
        self.args[call].clone()
    }

    /// A call's arguments.
    pub fn args(&self, call: usize) -> &'a [ArgRow] {
        &self.frames.args[self.args[call].clone()]
    }

    /// Words of absence that the handler let through in a call's rendered text (analyses.md §7), template text left out.
    pub fn leaked(&self, call: usize) -> &[Text] {
        &self.leaks[call]
    }

    /// Whether the capture kept the call's arguments.
    pub fn arguments_captured(&self, call: usize) -> bool {
        self.frames.calls[call].arguments_as != ArgumentsShape::NotCaptured
    }

    /// Keys against the declaration in effect; `None` where they cannot be judged (no declaration in effect, unknown
    /// prompt, superseded, or arguments not captured).
    pub fn mismatch(&self, call: usize) -> Option<Mismatch> {
        let State::Declared(version) = self.effects[call].state else { return None };
        if !self.arguments_captured(call) {
            return None;
        }
        let declared = &self.contract.versions[version].arguments;
        let rows = self.args_of(call);
        let sent = &self.frames.args[rows.clone()];
        Some(Mismatch {
            unknown: rows
                .zip(sent)
                .filter(|(_, arg)| !declared.iter().any(|known| known.name == arg.key))
                .map(|(at, _)| at)
                .collect(),
            missing: declared
                .iter()
                .filter(|known| known.required && !sent.iter().any(|arg| arg.key == known.name))
                .map(|known| known.name.clone())
                .collect(),
        })
    }

    pub fn evidence(&self, call: usize) -> Evidence {
        let row = &self.frames.calls[call];
        Evidence { file: row.file.clone(), position: row.position, ts: row.ts, session: Some(row.session.clone()) }
    }

    /// Decides per rendered call which words of absence are leaks.
    ///
    /// Values the client sent are masked before the words are looked for, so a word is either part of the template or
    /// stands where a value belongs. It is template text if every rendered call of the prompt has it, among them one
    /// with all arguments filled.
    fn find_leaks(&self) -> Vec<Vec<Text>> {
        let mut leaks = vec![Vec::new(); self.frames.calls.len()];
        for group in &self.groups {
            let rendered: Vec<usize> = group
                .calls
                .iter()
                .copied()
                .filter(|&at| self.frames.calls[at].outcome == CallOutcome::Rendered)
                .collect();
            let mut with_word: AHashMap<&Text, Vec<usize>> = AHashMap::new();
            for &at in &rendered {
                for word in &self.frames.calls[at].leaked {
                    with_word.entry(word).or_default().push(at);
                }
            }
            let template: AHashSet<&Text> = with_word
                .iter()
                .filter(|(_, calls)| calls.len() == rendered.len() && calls.iter().any(|&at| self.all_filled(at)))
                .map(|(word, _)| *word)
                .collect();
            for &at in &rendered {
                leaks[at] =
                    self.frames.calls[at].leaked.iter().filter(|word| !template.contains(word)).cloned().collect();
            }
        }
        leaks
    }

    /// Whether a call fills every argument of its declaration in effect (of any sent, where none is known).
    fn all_filled(&self, call: usize) -> bool {
        let sent = self.args(call);
        let filled = |name: &str| sent.iter().any(|arg| &*arg.key == name && !super::intended::class::is_blank(arg));
        match self.effects[call].state {
            State::Declared(version) => {
                self.contract.versions[version].arguments.iter().all(|known| filled(&known.name))
            }
            _ => !sent.is_empty() && sent.iter().all(|arg| filled(&arg.key)),
        }
    }

    /// A value as a row shows it. `closed`: it belongs to an argument with an intended set.
    pub fn shown(arg: &ArgRow, closed: bool) -> Shown {
        Shown { text: arg.value.clone(), chars: arg.value_chars, hash: arg.value_hash, closed }
    }

    /// Client's name as tables show it.
    pub fn client_of(call: &CallRow) -> Text {
        call.client.clone().unwrap_or_else(|| UNKNOWN_CLIENT.into())
    }
}

/// Equal texts get equal numbers.
fn numbered<'t>(texts: impl Iterator<Item = Option<&'t Text>>) -> Vec<u32> {
    let mut numbers: AHashMap<Option<&Text>, u32> = AHashMap::new();
    texts
        .map(|text| {
            let next = numbers.len() as u32;
            *numbers.entry(text).or_insert(next)
        })
        .collect()
}

/// The server's name for each session that any row mentions: `serverInfo.name`, else the name that every other session
/// with the same label gave, else the label. A name that several labels share becomes `name@label`.
fn resolve_servers(frames: &Frames) -> BTreeMap<&str, Text> {
    let mut label_names: BTreeMap<&Text, AHashSet<&Text>> = BTreeMap::new();
    for row in &frames.sessions {
        if let (Some(label), Some(name)) = (&row.server_label, &row.server) {
            label_names.entry(label).or_default().insert(name);
        }
    }
    let mut facts: BTreeMap<&str, (Option<&Text>, Option<&Text>)> = BTreeMap::new();
    for row in &frames.sessions {
        let name = row.server.as_ref().or_else(|| {
            let known = label_names.get(row.server_label.as_ref()?)?;
            if known.len() == 1 { known.iter().next().copied() } else { None }
        });
        facts.insert(&row.session, (name, row.server_label.as_ref()));
    }
    // Rows of a session that has no row of its own still name a server.
    for (session, server) in frames
        .calls
        .iter()
        .map(|row| (&row.session, &row.server))
        .chain(frames.listings.iter().map(|row| (&row.session, &row.server)))
        .chain(frames.completions.iter().map(|row| (&row.session, &row.server)))
        .chain(frames.elicitations.iter().map(|row| (&row.session, &row.server)))
    {
        let known = facts.entry(session).or_default();
        if known.0.is_none() && known.1.is_none() {
            known.0 = server.as_ref();
        }
    }
    let mut name_labels: BTreeMap<&Text, AHashSet<&Text>> = BTreeMap::new();
    for (name, label) in facts.values() {
        if let (Some(name), Some(label)) = (name, label) {
            name_labels.entry(name).or_default().insert(label);
        }
    }
    facts
        .into_iter()
        .map(|(session, (name, label))| {
            let resolved = match (name, label) {
                (Some(name), Some(label)) if name_labels[name].len() > 1 => format!("{name}@{label}").into(),
                (Some(name), _) => name.clone(),
                (None, Some(label)) => label.clone(),
                (None, None) => UNKNOWN_SERVER.into(),
            };
            (session, resolved)
        })
        .collect()
}
