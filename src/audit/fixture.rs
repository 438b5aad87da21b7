//! Rows by hand, for the unit tests of the analyses.

use crate::frames::Frames;
use crate::protocol::message::{Text, Ts};
use crate::schema::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A declared argument: name, required, description.
pub type Declared<'t> = (&'t str, bool, &'t str);
/// A declared prompt with its arguments.
pub type Prompt<'t> = (&'t str, &'t [Declared<'t>]);

/// Frames in the making. Every row that is added stands one later in reading order and one second later in time.
#[derive(Default)]
pub struct Fixture {
    pub frames: Frames,
    pub seq: u64,
}

pub fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

pub fn text(value: &str) -> Text {
    value.into()
}

/// A string argument as ingest would write it.
pub fn arg(call: u64, key: &str, value: &str) -> ArgRow {
    typed_arg(call, key, ValueType::String, value)
}

pub fn typed_arg(call: u64, key: &str, json_type: ValueType, value: &str) -> ArgRow {
    let kept = if value.len() > 4096 { &value[..value.floor_char_boundary(4096)] } else { value };
    ArgRow {
        call,
        key: text(key),
        present_as: if value.is_empty() { Presence::Empty } else { Presence::Filled },
        json_type,
        value: text(kept),
        value_chars: value.chars().count() as u64,
        value_words: value.split_whitespace().count() as u64,
        value_lines: value.lines().count().max(1) as u64,
        value_hash: hash(value),
    }
}

impl Fixture {
    pub fn new() -> Self {
        Self::default()
    }

    fn next(&mut self) -> (u64, Option<Ts>) {
        self.seq += 1;
        (self.seq, Some(Ts(self.seq as i64 * 1_000_000)))
    }

    pub fn session(&mut self, session: &str, server: &str, client: &str) -> &mut Self {
        let (seq, ts) = self.next();
        self.frames.sessions.push(SessionRow {
            session: text(session),
            session_rule: text("capture"),
            session_quality: SessionQuality::Exact,
            server: Some(text(server)),
            server_version: None,
            server_label: None,
            client: Some(text(client)),
            client_version: Some(text("1.0")),
            protocol: Some(text("2025-11-25")),
            file: text("a.ndjson"),
            position: seq,
            first_ts: ts,
            last_ts: ts,
            first_seq: seq,
            last_seq: seq,
            messages: 1,
            elicitation_form: None,
            elicitation_url: None,
            prompts_list_changed: Some(true),
        });
        self
    }

    fn listing_row(&mut self, session: &str, event: ListingEvent) -> ListingRow {
        let (seq, ts) = self.next();
        ListingRow {
            file: text("a.ndjson"),
            position: seq,
            seq,
            ts,
            session: text(session),
            server: None,
            event,
            complete: true,
            prompts: 0,
            fingerprint: 0,
            ttl_ms: None,
            cache_scope: None,
        }
    }

    /// `session` lists `prompts`; the row is returned so that a test can make it private or incomplete.
    pub fn listing(&mut self, session: &str, prompts: &[Prompt]) -> &mut ListingRow {
        let mut row = self.listing_row(session, ListingEvent::Listed);
        row.prompts = prompts.len() as u32;
        row.fingerprint = if prompts.is_empty() { 0 } else { hash(prompts) };
        if !self.frames.catalogs.iter().any(|known| known.listing == row.fingerprint) {
            for &(prompt, arguments) in prompts {
                let names: Vec<(&str, bool)> = arguments.iter().map(|&(name, required, _)| (name, required)).collect();
                let (fingerprint, text_fingerprint) = (hash((prompt, names)), hash((prompt, arguments)));
                self.frames.catalogs.push(CatalogRow {
                    listing: row.fingerprint,
                    prompt: text(prompt),
                    fingerprint,
                    text_fingerprint,
                });
                if self.frames.declarations.iter().any(|known| known.text_fingerprint == text_fingerprint) {
                    continue;
                }
                let blank = DeclarationRow {
                    server: None,
                    prompt: text(prompt),
                    prompt_description: None,
                    argument: None,
                    position: 0,
                    required: false,
                    title: None,
                    description: None,
                    extra_members: Vec::new(),
                    fingerprint,
                    text_fingerprint,
                };
                if arguments.is_empty() {
                    self.frames.declarations.push(blank.clone());
                }
                for (position, &(name, required, description)) in arguments.iter().enumerate() {
                    self.frames.declarations.push(DeclarationRow {
                        argument: Some(text(name)),
                        position: position as u32,
                        required,
                        description: (!description.is_empty()).then(|| text(description)),
                        ..blank.clone()
                    });
                }
            }
        }
        self.frames.listings.push(row);
        let last = self.frames.listings.len() - 1;
        &mut self.frames.listings[last]
    }

    pub fn notice(&mut self, session: &str) -> &mut Self {
        let row = self.listing_row(session, ListingEvent::ListChanged);
        self.frames.listings.push(row);
        self
    }

    /// A rendered call with string arguments; the row is returned so that a test can change it.
    pub fn call(&mut self, session: &str, prompt: &str, arguments: &[(&str, &str)]) -> &mut CallRow {
        let call = self.frames.calls.len() as u64;
        let rows: Vec<ArgRow> = arguments.iter().map(|(key, value)| arg(call, key, value)).collect();
        self.call_with(session, prompt, rows)
    }

    /// A rendered call with these argument rows (their `call` is set here).
    pub fn call_with(&mut self, session: &str, prompt: &str, mut rows: Vec<ArgRow>) -> &mut CallRow {
        let (seq, ts) = self.next();
        let call = self.frames.calls.len() as u64;
        for row in &mut rows {
            row.call = call;
        }
        let known = self.frames.sessions.iter().find(|row| &*row.session == session);
        let (client, client_version) =
            known.map_or((None, None), |row| (row.client.clone(), row.client_version.clone()));
        let arguments: Vec<(&str, u64)> = rows.iter().map(|row| (&*row.key, row.value_hash)).collect();
        self.frames.calls.push(CallRow {
            call,
            file: text("a.ndjson"),
            position: seq,
            seq,
            ts,
            session: text(session),
            server: None,
            client,
            client_version,
            protocol: None,
            prompt: Some(text(prompt)),
            prompt_captured: true,
            rounds: 1,
            batch: false,
            arguments_as: ArgumentsShape::Object,
            arguments_hash: hash(arguments),
            arguments_changed: false,
            outcome: CallOutcome::Rendered,
            error_code: None,
            error_message: None,
            latency_ms: Some(1.0),
            answered_seq: None,
            rendered_messages: Some(1),
            rendered_chars: Some(10),
            rendered_skeleton: Some(0),
            leaked: Vec::new(),
            echoed: Vec::new(),
            body_state: BodyState::Full,
        });
        self.frames.args.extend(rows);
        let last = self.frames.calls.len() - 1;
        &mut self.frames.calls[last]
    }

    pub fn completion(&mut self, session: &str, prompt: &str, argument: &str, offered: &[&str]) -> &mut CompletionRow {
        let (seq, ts) = self.next();
        self.frames.completions.push(CompletionRow {
            file: text("a.ndjson"),
            position: seq,
            seq,
            ts,
            session: text(session),
            server: None,
            prompt: Some(text(prompt)),
            argument: Some(text(argument)),
            typed: Some(text("")),
            context: false,
            outcome: CallOutcome::Rendered,
            offered: offered.iter().map(|value| text(value)).collect(),
            total: None,
            has_more: false,
        });
        let last = self.frames.completions.len() - 1;
        &mut self.frames.completions[last]
    }
}
