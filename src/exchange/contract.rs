//! What servers declared: listings with their pages joined, distinct declarations, and notices of change.

use super::machine::{Core, Out, Wire};
use super::pair::Reply;
use super::{At, Map};
use crate::protocol::json::digest;
use crate::protocol::message::{Shape, Text};
use crate::protocol::prompt::Declaration;
use crate::schema::{CatalogRow, DeclarationRow, ListingEvent, ListingRow};
use serde::{Deserialize, Serialize};

/// A listing whose last page has not come.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Pages {
    /// Where the newest page's answer stands.
    at: At,
    lane: u32,
    prompts: Vec<Declaration>,
    ttl_ms: Option<f64>,
    cache_scope: Option<Text>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Contract {
    /// By session.
    paging: Map<u32, Pages>,
    /// Distinct declarations by prompt and text fingerprint.
    declarations: Map<(Text, u64), Vec<DeclarationRow>>,
    catalogs: Map<u64, Vec<CatalogRow>>,
}

impl Contract {
    pub fn rows(&mut self) -> (Vec<DeclarationRow>, Vec<CatalogRow>) {
        let mut declarations: Vec<_> = self.declarations.values().flatten().cloned().collect();
        declarations.sort_by(|a, b| {
            (&a.prompt, a.text_fingerprint, a.position).cmp(&(&b.prompt, b.text_fingerprint, b.position))
        });
        let mut catalogs: Vec<_> = self.catalogs.values().flatten().cloned().collect();
        catalogs.sort_by(|a, b| {
            (a.listing, &a.prompt, a.text_fingerprint).cmp(&(b.listing, &b.prompt, b.text_fingerprint))
        });
        (declarations, catalogs)
    }
}

impl Core {
    /// One page of `prompts/list`. A listing counts from its last page's answer.
    pub fn listed(&mut self, lane: u32, first: bool, wire: Wire, reply: Reply, out: &mut Out<'_>) {
        let session = self.sessions.session_of(lane);
        let Reply::Result { answer, .. } = reply else { return };
        let listing = match answer.shape {
            Shape::Prompts(listing) => *listing,
            Shape::NotCaptured | Shape::NotSeen => {
                // That the client asked is known, what it was told is not.
                let pages = Pages { at: wire.at, lane, prompts: Vec::new(), ttl_ms: None, cache_scope: None };
                self.write_listing(pages, false, out);
                return;
            }
            _ => return,
        };
        let before = self.contract.paging.remove(&session);
        let (mut pages, whole) = match before {
            Some(mut pages) if !first => {
                pages.at = wire.at;
                (pages, true)
            }
            other => {
                if let Some(unfinished) = other {
                    self.write_listing(unfinished, false, out);
                }
                (Pages { at: wire.at, lane, prompts: Vec::new(), ttl_ms: None, cache_scope: None }, first)
            }
        };
        pages.prompts.extend(listing.prompts);
        pages.ttl_ms = listing.ttl_ms.or(pages.ttl_ms);
        pages.cache_scope = listing.cache_scope.or(pages.cache_scope);
        if listing.next_cursor && whole {
            self.contract.paging.insert(session, pages);
        } else {
            self.write_listing(pages, whole, out);
        }
    }

    fn write_listing(&mut self, pages: Pages, complete: bool, out: &mut Out<'_>) {
        let facts = self.sessions.facts(pages.lane);
        let fingerprint = self.contract.add(&pages.prompts, facts.server.as_ref());
        out.sink.listing(ListingRow {
            file: self.files.name(pages.at.file),
            position: pages.at.position,
            seq: pages.at.seq,
            ts: pages.at.ts,
            session: facts.name,
            server: facts.server,
            event: ListingEvent::Listed,
            complete,
            prompts: pages.prompts.len().try_into().unwrap_or(u32::MAX),
            fingerprint,
            ttl_ms: pages.ttl_ms,
            cache_scope: pages.cache_scope,
        });
    }

    pub fn list_changed(&mut self, lane: u32, at: At, out: &mut Out<'_>) {
        let facts = self.sessions.facts(lane);
        out.sink.listing(ListingRow {
            file: self.files.name(at.file),
            position: at.position,
            seq: at.seq,
            ts: at.ts,
            session: facts.name,
            server: facts.server,
            event: ListingEvent::ListChanged,
            complete: false,
            prompts: 0,
            fingerprint: 0,
            ttl_ms: None,
            cache_scope: None,
        });
    }

    /// Listings whose next page nobody asked for.
    pub fn abandon_listings(&mut self, out: &mut Out<'_>) {
        let mut open: Vec<_> = std::mem::take(&mut self.contract.paging).into_values().collect();
        open.sort_by_key(|pages| pages.at.seq);
        for pages in open {
            self.write_listing(pages, false, out);
        }
    }
}

impl Contract {
    /// Remembers the declarations of a listing and returns its fingerprint.
    fn add(&mut self, prompts: &[Declaration], server: Option<&Text>) -> u64 {
        let mut entries: Vec<CatalogRow> = Vec::with_capacity(prompts.len());
        for prompt in prompts {
            let (fingerprint, text_fingerprint) = fingerprints(prompt);
            entries.push(CatalogRow { listing: 0, prompt: prompt.name.clone(), fingerprint, text_fingerprint });
            self.declarations
                .entry((prompt.name.clone(), text_fingerprint))
                .or_insert_with(|| declaration_rows(prompt, server, fingerprint, text_fingerprint));
        }
        // Servers that keep prompts in a map list them in any order.
        entries.sort_by(|a, b| (&a.prompt, a.text_fingerprint).cmp(&(&b.prompt, b.text_fingerprint)));
        entries.dedup();
        if entries.is_empty() {
            return 0;
        }
        let mut bytes = Vec::new();
        for entry in &entries {
            text(&mut bytes, &entry.prompt);
            bytes.extend_from_slice(&entry.text_fingerprint.to_le_bytes());
        }
        // 0 stands for an empty listing.
        let listing = digest(&bytes).max(1);
        for entry in &mut entries {
            entry.listing = listing;
        }
        self.catalogs.entry(listing).or_insert(entries);
        listing
    }
}

fn declaration_rows(
    prompt: &Declaration,
    server: Option<&Text>,
    fingerprint: u64,
    text_fingerprint: u64,
) -> Vec<DeclarationRow> {
    let row = |position: u32| DeclarationRow {
        server: server.cloned(),
        prompt: prompt.name.clone(),
        prompt_description: prompt.description.clone(),
        argument: None,
        position,
        required: false,
        title: None,
        description: None,
        extra_members: Vec::new(),
        fingerprint,
        text_fingerprint,
    };
    if prompt.arguments.is_empty() {
        return vec![row(0)];
    }
    let arguments = (0..).zip(&prompt.arguments).map(|(position, argument)| DeclarationRow {
        argument: Some(argument.name.clone()),
        required: argument.required,
        title: argument.title.clone(),
        description: argument.description.clone(),
        extra_members: argument.extra_members.clone(),
        ..row(position)
    });
    arguments.collect()
}

/// Hash of the argument names and required flags, and hash that also covers titles, descriptions and extra members.
fn fingerprints(prompt: &Declaration) -> (u64, u64) {
    let mut bytes = Vec::new();
    for argument in &prompt.arguments {
        text(&mut bytes, &argument.name);
        bytes.push(u8::from(argument.required));
    }
    let fingerprint = digest(&bytes);
    optional(&mut bytes, prompt.title.as_ref());
    optional(&mut bytes, prompt.description.as_ref());
    for argument in &prompt.arguments {
        optional(&mut bytes, argument.title.as_ref());
        optional(&mut bytes, argument.description.as_ref());
        bytes.extend_from_slice(&(argument.extra_members.len() as u64).to_le_bytes());
        for member in &argument.extra_members {
            text(&mut bytes, member);
        }
    }
    (fingerprint, digest(&bytes))
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn optional(bytes: &mut Vec<u8>, value: Option<&Text>) {
    bytes.push(u8::from(value.is_some()));
    text(bytes, value.map_or("", |value| value));
}
