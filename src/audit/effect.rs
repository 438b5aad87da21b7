//! The declaration in effect for each call (protocol.md, "The declaration in effect").
//!
//! Listings are compared as far as they speak of the call's prompt: a listing that changed another prompt changes nothing
//! here, and a complete listing that lacks the prompt is a version of its own.

use super::context::Context;
use super::contract_index::{Entry, InListing, VersionId, WordingId};
use crate::schema::ListingEvent;
use ahash::AHashMap;

/// What a call is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    Declared(VersionId),
    /// The complete listing in effect lacks the prompt.
    UnknownPrompt,
    #[default]
    NoDeclaration,
    /// The session was told that its listing ended, and nothing says what came after.
    Superseded,
    /// No name was sent.
    NoName,
    /// The capture did not keep the name.
    NotCaptured,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared(_) => "declared",
            Self::UnknownPrompt => "unknown prompt",
            Self::NoDeclaration => "no declaration captured",
            Self::Superseded => "superseded",
            Self::NoName => "no name",
            Self::NotCaptured => "not captured",
        }
    }
}

/// By which rule the declaration in effect was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Rule {
    /// No listing tells.
    #[default]
    None,
    /// Rule 1: the session had not listed; the newest listing of another session.
    OtherSession,
    /// Rule 1: the session's first listing came after the call, with no sign of change between.
    OwnLater,
    /// Rule 2: the session's own listing, and nobody says otherwise.
    Own,
    /// Rule 3: the server moved on without this session.
    MovedOn,
    /// Rule 3: versions stand side by side; the session's own counts.
    Variant,
    /// Rule 4: own ended; what another session listed after the notice.
    AfterNotice,
    /// Rule 4: own ended; what followed the same version earlier in the capture.
    Inferred,
    /// Rule 4: own ended and nothing tells what came after.
    Superseded,
}

impl Rule {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OtherSession => "another session",
            Self::OwnLater => "own, later",
            Self::Own => "own",
            Self::MovedOn => "moved on",
            Self::Variant => "variant",
            Self::AfterNotice => "listed after notice",
            Self::Inferred => "inferred",
            Self::Superseded => "superseded",
        }
    }
}

/// The declaration in effect for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effect {
    pub state: State,
    pub rule: Rule,
    /// The texts in effect, where a version is.
    pub wording: Option<WordingId>,
    /// `declaration_seen`: the version in the session's own newest listing; `None` if it had not listed or its listing
    /// lacks the prompt.
    pub seen: Option<VersionId>,
    /// Row of that listing in `frames.listings`.
    pub listed: Option<usize>,
    /// Row of the first `list_changed` the session got after that listing and before the call.
    pub notice: Option<usize>,
}

/// One effect per row of `frames.calls`.
pub fn effects(context: &Context) -> Vec<Effect> {
    let mut effects = vec![Effect::default(); context.frames.calls.len()];
    for group in &context.groups {
        let Some(prompt) = &group.prompt else {
            let state = if group.captured { State::NoName } else { State::NotCaptured };
            for &call in &group.calls {
                effects[call].state = state;
            }
            continue;
        };
        let life = Life::new(context, context.contract.timeline(context, group.server, prompt));
        for &call in &group.calls {
            let row = &context.frames.calls[call];
            effects[call] = life.effect(&row.session, row.seq);
        }
    }
    effects
}

/// How closely listings are compared.
#[derive(Debug, Clone, Copy)]
enum Level {
    Keys,
    Texts,
}

/// A version at either level; 0 stands for "lacks the prompt".
type Key = usize;

/// Reading orders of the listings that say one thing, by who may rely on them.
#[derive(Debug, Default)]
struct Seen {
    public: Vec<u64>,
    private: AHashMap<u32, Vec<u64>>,
}

/// The listings that speak of one prompt, indexed for the questions the rules ask.
struct Life<'c, 'a> {
    context: &'c Context<'a>,
    entries: Vec<Entry>,
    /// Positions in `entries`.
    public: Vec<usize>,
    own: AHashMap<u32, Vec<usize>>,
    keys: AHashMap<Key, Seen>,
    texts: AHashMap<Key, Seen>,
    /// Version → (reading order of the listing that followed it in some session, its position), in reading order.
    followed: AHashMap<Key, Vec<(u64, usize)>>,
}

impl<'c, 'a> Life<'c, 'a> {
    fn new(context: &'c Context<'a>, entries: Vec<Entry>) -> Self {
        let mut life = Self {
            context,
            entries,
            public: Vec::new(),
            own: AHashMap::new(),
            keys: AHashMap::new(),
            texts: AHashMap::new(),
            followed: AHashMap::new(),
        };
        for (at, entry) in life.entries.iter().enumerate() {
            life.own.entry(entry.session).or_default().push(at);
            if !entry.private {
                life.public.push(at);
            }
        }
        for at in 0..life.entries.len() {
            let entry = life.entries[at];
            for level in [Level::Keys, Level::Texts] {
                let key = life.key(at, level);
                let seen = match level {
                    Level::Keys => life.keys.entry(key).or_default(),
                    Level::Texts => life.texts.entry(key).or_default(),
                };
                if entry.private {
                    seen.private.entry(entry.session).or_default().push(entry.seq);
                } else {
                    seen.public.push(entry.seq);
                }
            }
        }
        let mut followed: AHashMap<Key, Vec<(u64, usize)>> = AHashMap::new();
        for own in life.own.values() {
            for pair in own.windows(2) {
                let (before, after) = (pair[0], pair[1]);
                let key = life.key(before, Level::Keys);
                let told = life.notice_between(&life.entries[before], life.entries[after].seq).is_some();
                if told || key != life.key(after, Level::Keys) {
                    followed.entry(key).or_default().push((life.entries[after].seq, after));
                }
            }
        }
        for pairs in followed.values_mut() {
            pairs.sort_unstable();
        }
        life.followed = followed;
        life
    }

    fn key(&self, at: usize, level: Level) -> Key {
        match (self.entries[at].says, level) {
            (InListing::Absent, _) => 0,
            (InListing::Declared(wording), Level::Keys) => self.context.contract.wordings[wording].version + 1,
            (InListing::Declared(wording), Level::Texts) => wording + 1,
        }
    }

    /// The last of `positions` (sorted by reading order) before `seq`.
    fn last_before(&self, positions: &[usize], seq: u64) -> Option<usize> {
        let count = positions.partition_point(|&at| self.entries[at].seq < seq);
        count.checked_sub(1).map(|last| positions[last])
    }

    /// Row of the first notice the entry's session got after it and before `seq`.
    fn notice_between(&self, entry: &Entry, seq: u64) -> Option<usize> {
        let listings = &self.context.frames.listings;
        let events = self.context.contract.events(&listings[entry.row].session);
        notice_between(listings, events, entry.seq, seq)
    }

    fn effect(&self, session: &str, seq: u64) -> Effect {
        let number = self.context.contract.session_number(session);
        let own_entries = number.and_then(|number| self.own.get(&number)).map_or(&[][..], Vec::as_slice);
        let own = self.last_before(own_entries, seq);
        let public = self.last_before(&self.public, seq);
        // `any` may be the session's own, private listing.
        let any = own.max(public);

        let Some(own) = own else {
            return match any {
                Some(any) => self.found(any, Rule::OtherSession, None, None),
                None => match self.own_later(session, own_entries, seq) {
                    Some(at) => self.found(at, Rule::OwnLater, None, None),
                    None => Effect::default(),
                },
            };
        };
        if let Some(notice) = self.notice_between(&self.entries[own], seq) {
            return self.after_notice(own, own_entries, notice, seq);
        }
        let any = any.unwrap_or(own);
        if self.key(own, Level::Keys) == self.key(any, Level::Keys) {
            // The keys agree; the texts may have moved on by the same rule.
            let texts = if self.moved_on(own, any, seq, Level::Texts) { any } else { own };
            return self.found(texts, Rule::Own, Some(own), None);
        }
        if self.moved_on(own, any, seq, Level::Keys) {
            self.found(any, Rule::MovedOn, Some(own), None)
        } else {
            self.found(own, Rule::Variant, Some(own), None)
        }
    }

    /// Rule 3: what `any` says appeared after `own`, and nobody listed own's version since.
    fn moved_on(&self, own: usize, any: usize, seq: u64, level: Level) -> bool {
        let (from, to) = (self.key(own, level), self.key(any, level));
        if from == to {
            return false;
        }
        let session = self.entries[own].session;
        let own_seq = self.entries[own].seq;
        self.first_seen(to, session, level).is_some_and(|first| first > own_seq)
            && !self.seen_between(from, session, level, own_seq, seq)
    }

    fn seen(&self, key: Key, level: Level) -> Option<&Seen> {
        match level {
            Level::Keys => self.keys.get(&key),
            Level::Texts => self.texts.get(&key),
        }
    }

    fn first_seen(&self, key: Key, session: u32, level: Level) -> Option<u64> {
        let seen = self.seen(key, level)?;
        let private = seen.private.get(&session).and_then(|seqs| seqs.first());
        seen.public.first().into_iter().chain(private).min().copied()
    }

    fn seen_between(&self, key: Key, session: u32, level: Level, after: u64, before: u64) -> bool {
        let Some(seen) = self.seen(key, level) else { return false };
        let within = |seqs: &[u64]| {
            let from = seqs.partition_point(|&seq| seq <= after);
            seqs.get(from).is_some_and(|&seq| seq < before)
        };
        within(&seen.public) || seen.private.get(&session).is_some_and(|seqs| within(seqs))
    }

    /// Rule 1: the session's first listing after the call, unless a notice to it or another version shown by somebody
    /// else stands between.
    fn own_later(&self, session: &str, own: &[usize], seq: u64) -> Option<usize> {
        let &later = own.get(own.partition_point(|&at| self.entries[at].seq <= seq))?;
        let until = self.entries[later].seq;
        let listings = &self.context.frames.listings;
        if notice_between(listings, self.context.contract.events(session), seq, until).is_some() {
            return None;
        }
        let from = self.public.partition_point(|&at| self.entries[at].seq <= seq);
        let differs = self.public[from..]
            .iter()
            .take_while(|&&at| self.entries[at].seq < until)
            .any(|&at| self.key(at, Level::Keys) != self.key(later, Level::Keys));
        (!differs).then_some(later)
    }

    /// Rule 4. A listing of another session after the call counts as long as this session has not listed or been told
    /// again by then.
    fn after_notice(&self, own: usize, own_entries: &[usize], notice: usize, seq: u64) -> Effect {
        let listings = &self.context.frames.listings;
        let notice_seq = listings[notice].seq;
        let session = self.entries[own].session;
        let others = |&&at: &&usize| self.entries[at].session != session;
        let before = self.public.partition_point(|&at| self.entries[at].seq < seq);
        let newest = self.public[..before]
            .iter()
            .rev()
            .take_while(|&&at| self.entries[at].seq > notice_seq)
            .find(others)
            .copied();
        let next = || {
            let at = *self.public[before..].iter().find(others)?;
            let until = self.entries[at].seq;
            let listed_again = own_entries.get(own_entries.partition_point(|&at| self.entries[at].seq <= seq));
            let told_again = self.context.contract.events(&listings[notice].session);
            let undisturbed = listed_again.is_none_or(|&own| self.entries[own].seq > until)
                && notice_between(listings, told_again, seq, until).is_none();
            undisturbed.then_some(at)
        };
        if let Some(at) = newest.or_else(next) {
            return self.found(at, Rule::AfterNotice, Some(own), Some(notice));
        }
        let earlier = self.followed.get(&self.key(own, Level::Keys)).and_then(|pairs| {
            let count = pairs.partition_point(|&(followed_at, _)| followed_at < seq);
            count.checked_sub(1).map(|last| pairs[last].1)
        });
        match earlier {
            Some(at) => self.found(at, Rule::Inferred, Some(own), Some(notice)),
            None => Effect {
                state: State::Superseded,
                rule: Rule::Superseded,
                wording: None,
                ..self.found(own, Rule::Superseded, Some(own), Some(notice))
            },
        }
    }

    fn found(&self, at: usize, rule: Rule, own: Option<usize>, notice: Option<usize>) -> Effect {
        let contract = &self.context.contract;
        let (state, wording) = match self.entries[at].says {
            InListing::Declared(wording) => (State::Declared(contract.wordings[wording].version), Some(wording)),
            InListing::Absent => (State::UnknownPrompt, None),
        };
        Effect {
            state,
            rule,
            wording,
            seen: own.and_then(|own| contract.version_of(self.entries[own].says)),
            listed: own.map(|own| self.entries[own].row),
            notice,
        }
    }
}

/// Row of the first `list_changed` among a session's events after one reading order and before another.
fn notice_between(listings: &[crate::schema::ListingRow], events: &[usize], after: u64, before: u64) -> Option<usize> {
    let from = events.partition_point(|&row| listings[row].seq <= after);
    events[from..]
        .iter()
        .copied()
        .take_while(|&row| listings[row].seq < before)
        .find(|&row| listings[row].event == ListingEvent::ListChanged)
}

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;
