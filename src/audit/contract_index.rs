//! Which server declared what, in which listing: versions, wordings, and listings and notices by session.

use super::context::Context;
use crate::protocol::message::{Text, Ts};
use crate::schema::{ListingEvent, ListingRow};
use ahash::AHashMap;
use std::collections::BTreeMap;

/// Index into [`ContractIndex::versions`].
pub type VersionId = usize;
/// Index into [`ContractIndex::wordings`].
pub type WordingId = usize;

/// One argument of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredName {
    pub name: Text,
    pub required: bool,
}

/// A prompt's declaration as far as keys are judged by it: argument names and required flags, in order.
#[derive(Debug, Clone)]
pub struct Version {
    /// Index into `Context::servers`.
    pub server: usize,
    pub prompt: Text,
    /// From 1, by first appearance among the versions of this server's prompt.
    pub number: u32,
    pub fingerprint: u64,
    pub arguments: Vec<DeclaredName>,
    /// Reading order, time and row of the first listing that showed it, and the time of the last.
    pub first_seq: u64,
    pub first_row: usize,
    pub first_seen: Option<Ts>,
    pub last_seq: u64,
    pub last_seen: Option<Ts>,
}

/// An argument with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordedArgument {
    pub name: Text,
    pub description: Option<Text>,
    pub extra_members: Vec<Text>,
}

/// A version with its texts: titles and descriptions can change while the keys stay.
#[derive(Debug, Clone)]
pub struct Wording {
    pub version: VersionId,
    pub text_fingerprint: u64,
    pub arguments: Vec<WordedArgument>,
    pub first_seq: u64,
    pub last_seq: u64,
}

/// What one listing says about one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InListing {
    Declared(WordingId),
    /// The listing is complete and lacks the prompt.
    Absent,
}

/// One listing in the life of one prompt.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub seq: u64,
    /// Row in `frames.listings`.
    pub row: usize,
    /// Number of the session (see [`ContractIndex::session_number`]).
    pub session: u32,
    /// `cacheScope: private`: it speaks for its own session only.
    pub private: bool,
    pub says: InListing,
}

/// Fingerprint and text fingerprint of each prompt of a distinct listing.
type Catalog = BTreeMap<Text, (u64, u64)>;

#[derive(Debug, Default)]
pub struct ContractIndex {
    pub versions: Vec<Version>,
    pub wordings: Vec<Wording>,
    by_prompt: BTreeMap<(usize, Text), Vec<VersionId>>,
    wording_ids: AHashMap<(usize, Text, u64), WordingId>,
    catalogs: Vec<Catalog>,
    /// Per row of `frames.listings`: its catalog; `None` for notices and for listings whose content is not known.
    catalog_of: Vec<Option<usize>>,
    /// Per server: rows of listings with known content, in reading order.
    listed: Vec<Vec<usize>>,
    session_numbers: AHashMap<Text, u32>,
    session_of: Vec<u32>,
    /// Per session: rows of listings with known content and of notices, in reading order.
    events: Vec<Vec<usize>>,
}

impl ContractIndex {
    pub fn new(context: &Context) -> Self {
        let frames = context.frames;
        let mut index = Self { listed: vec![Vec::new(); context.servers.len()], ..Self::default() };

        let mut texts: AHashMap<(&Text, u64), Vec<usize>> = AHashMap::new();
        for (at, row) in frames.declarations.iter().enumerate() {
            texts.entry((&row.prompt, row.text_fingerprint)).or_default().push(at);
        }
        let mut numbers: AHashMap<u64, usize> = AHashMap::from([(0, 0)]);
        index.catalogs.push(Catalog::new());
        for row in &frames.catalogs {
            let number = *numbers.entry(row.listing).or_insert_with(|| {
                index.catalogs.push(Catalog::new());
                index.catalogs.len() - 1
            });
            index.catalogs[number].entry(row.prompt.clone()).or_insert((row.fingerprint, row.text_fingerprint));
        }
        // A listing whose declarations are not in the folder is worth nothing: better no declaration than half of one.
        numbers.retain(|_, number| {
            index.catalogs[*number].iter().all(|(prompt, (_, text))| texts.contains_key(&(prompt, *text)))
        });

        let mut order: Vec<usize> = (0..frames.listings.len()).collect();
        order.sort_by_key(|&row| (frames.listings[row].seq, row));
        index.catalog_of = vec![None; frames.listings.len()];
        index.session_of = vec![0; frames.listings.len()];
        // The first and the last row by which a server showed a catalog, in order of the first.
        let mut shown: Vec<(usize, usize, usize, usize)> = Vec::new();
        let mut shown_at: AHashMap<(usize, usize), usize> = AHashMap::new();
        for &row in &order {
            let listing = &frames.listings[row];
            let next = index.session_numbers.len() as u32;
            let session = *index.session_numbers.entry(listing.session.clone()).or_insert(next);
            if session as usize == index.events.len() {
                index.events.push(Vec::new());
            }
            index.session_of[row] = session;
            if listing.event == ListingEvent::Listed {
                let Some(&catalog) = numbers.get(&listing.fingerprint) else { continue };
                let server = context.server_of(&listing.session);
                index.catalog_of[row] = Some(catalog);
                index.listed[server].push(row);
                let at = *shown_at.entry((server, catalog)).or_insert_with(|| {
                    shown.push((server, catalog, row, row));
                    shown.len() - 1
                });
                shown[at].3 = row;
            }
            index.events[session as usize].push(row);
        }

        for (server, catalog, first, last) in shown {
            let (first_row, last_row) = (&frames.listings[first], &frames.listings[last]);
            let prompts: Vec<(Text, (u64, u64))> =
                index.catalogs[catalog].iter().map(|(prompt, prints)| (prompt.clone(), *prints)).collect();
            for (prompt, (fingerprint, text_fingerprint)) in prompts {
                let rows = &texts[&(&prompt, text_fingerprint)];
                let mut arguments: Vec<usize> =
                    rows.iter().copied().filter(|&at| frames.declarations[at].argument.is_some()).collect();
                arguments.sort_by_key(|&at| frames.declarations[at].position);
                let version = index.version(server, &prompt, fingerprint, || {
                    let named = arguments.iter().filter_map(|&at| {
                        let row = &frames.declarations[at];
                        Some(DeclaredName { name: row.argument.clone()?, required: row.required })
                    });
                    named.collect()
                });
                index.versions[version].show(first, first_row, last_row);
                let wording = *index.wording_ids.entry((server, prompt, text_fingerprint)).or_insert_with(|| {
                    let worded = arguments.iter().filter_map(|&at| {
                        let row = &frames.declarations[at];
                        Some(WordedArgument {
                            name: row.argument.clone()?,
                            description: row.description.clone(),
                            extra_members: row.extra_members.clone(),
                        })
                    });
                    index.wordings.push(Wording {
                        version,
                        text_fingerprint,
                        arguments: worded.collect(),
                        first_seq: first_row.seq,
                        last_seq: last_row.seq,
                    });
                    index.wordings.len() - 1
                });
                let wording = &mut index.wordings[wording];
                wording.last_seq = wording.last_seq.max(last_row.seq);
            }
        }
        index
    }

    fn version(
        &mut self,
        server: usize,
        prompt: &Text,
        fingerprint: u64,
        arguments: impl FnOnce() -> Vec<DeclaredName>,
    ) -> VersionId {
        let known = self.by_prompt.entry((server, prompt.clone())).or_default();
        if let Some(&version) = known.iter().find(|&&version| self.versions[version].fingerprint == fingerprint) {
            return version;
        }
        let version = self.versions.len();
        let number = known.len() as u32 + 1;
        known.push(version);
        // Two entries of one name would make a key both required and optional: the first stands.
        let mut names: Vec<DeclaredName> = Vec::new();
        for argument in arguments() {
            if !names.iter().any(|known| known.name == argument.name) {
                names.push(argument);
            }
        }
        self.versions.push(Version {
            server,
            prompt: prompt.clone(),
            number,
            fingerprint,
            arguments: names,
            first_seq: u64::MAX,
            first_row: 0,
            first_seen: None,
            last_seq: 0,
            last_seen: None,
        });
        version
    }

    /// The versions of a server's prompt, first seen first.
    pub fn versions_of(&self, server: usize, prompt: &str) -> &[VersionId] {
        self.by_prompt.get(&(server, prompt.into())).map_or(&[], Vec::as_slice)
    }

    /// Every prompt that a listing declared, with its versions; sorted by server index and prompt.
    pub fn declared_prompts(&self) -> impl Iterator<Item = (usize, &Text, &[VersionId])> {
        self.by_prompt.iter().map(|((server, prompt), versions)| (*server, prompt, versions.as_slice()))
    }

    /// Number of a session that listed or was notified.
    pub fn session_number(&self, session: &str) -> Option<u32> {
        self.session_numbers.get(session).copied()
    }

    /// Rows of `frames.listings` of a session, listings with known content and notices, in reading order.
    pub fn events(&self, session: &str) -> &[usize] {
        self.session_number(session).map_or(&[], |number| &self.events[number as usize])
    }

    /// What a row of `frames.listings` says about a prompt; `None` for a notice, for a listing whose content is not known
    /// and where an incomplete listing did not get as far as the prompt.
    pub fn says(&self, context: &Context, row: usize, prompt: &str) -> Option<InListing> {
        let listing = &context.frames.listings[row];
        let catalog = &self.catalogs[self.catalog_of[row]?];
        match catalog.get(prompt) {
            Some((_, text)) => {
                let key = (context.server_of(&listing.session), prompt.into(), *text);
                self.wording_ids.get(&key).map(|&wording| InListing::Declared(wording))
            }
            None => listing.complete.then_some(InListing::Absent),
        }
    }

    /// The version behind what a listing says.
    pub fn version_of(&self, says: InListing) -> Option<VersionId> {
        match says {
            InListing::Declared(wording) => Some(self.wordings[wording].version),
            InListing::Absent => None,
        }
    }

    /// All listings that say something about a prompt, in reading order.
    pub fn timeline(&self, context: &Context, server: usize, prompt: &Text) -> Vec<Entry> {
        let wordings: Vec<Option<WordingId>> = self
            .catalogs
            .iter()
            .map(|catalog| {
                let (_, text) = catalog.get(prompt)?;
                self.wording_ids.get(&(server, prompt.clone(), *text)).copied()
            })
            .collect();
        let Some(listed) = self.listed.get(server) else { return Vec::new() };
        listed
            .iter()
            .filter_map(|&row| {
                let listing = &context.frames.listings[row];
                let says = match wordings[self.catalog_of[row]?] {
                    Some(wording) => InListing::Declared(wording),
                    None if listing.complete => InListing::Absent,
                    None => return None,
                };
                let private = listing.cache_scope.as_deref() == Some("private");
                Some(Entry { seq: listing.seq, row, session: self.session_of[row], private, says })
            })
            .collect()
    }
}

impl Version {
    fn show(&mut self, first: usize, first_row: &ListingRow, last_row: &ListingRow) {
        if first_row.seq < self.first_seq {
            self.first_seq = first_row.seq;
            self.first_row = first;
            self.first_seen = first_row.ts;
        }
        if last_row.seq >= self.last_seq {
            self.last_seq = last_row.seq;
            self.last_seen = last_row.ts.or(self.last_seen);
        }
    }

    pub fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|known| &*known.name == argument)
    }
}
