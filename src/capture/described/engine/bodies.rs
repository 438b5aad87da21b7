//! Messages that a record holds whole, as JSON or as text.

use super::{Entry, Reader, json, unwrapped};
use crate::capture::described::language::Source;
use crate::capture::described::records::MessageAt;
use crate::capture::formats::begins_json;
use crate::capture::http::{Content, remains};
use crate::capture::rpc::Rpc;
use crate::capture::sink::Facts;
use crate::capture::skim::{Cursor, Span};
use crate::protocol::message::Captured;
use std::fmt::Write as _;
use std::sync::Arc;

/// A body that was found.
pub(super) enum Body {
    In(Span),
    Own(Arc<Vec<u8>>),
}

impl<'r> Reader<'r, '_> {
    /// The first place that holds JSON, or text that is JSON (at most twice wrapped).
    pub(super) fn body(&self, sources: &[Source], bytes: &[u8], found: &[Option<Span>]) -> Option<Body> {
        sources.iter().find_map(|source| {
            let text = match source {
                Source::Pointer(slot) => {
                    let span = found.get(*slot).copied().flatten()?;
                    match span.of(bytes).first()? {
                        b'{' | b'[' => return Some(Body::In(span)),
                        b'"' => unwrapped(&String::from_utf8_lossy(span.of(bytes))),
                        _ => return None,
                    }
                }
                _ => self.given(source, bytes, found)?.text().into_owned(),
            };
            begins_json(text.as_bytes()).then(|| Body::Own(Arc::new(text.into_bytes())))
        })
    }

    /// Adds the messages of a body that holds them whole.
    pub(super) fn whole(
        &mut self,
        message: &MessageAt,
        entry: &Entry<'_>,
        body: Body,
        facts: &Facts,
        captured: Captured,
    ) -> Result<bool, String> {
        let (bytes, from, to, shared) = match &body {
            Body::In(span) => (entry.bytes, span.from, span.to, None),
            Body::Own(text) => (text.as_slice(), 0, text.len(), Some(text)),
        };
        let text = bytes.get(..to).unwrap_or_default();
        if self.hollow {
            return Ok(self.remains(text.get(from..).unwrap_or_default(), facts));
        }
        let mut cursor = Cursor::new(text, from);
        let rpc = match cursor.peek() {
            Some(b'{') => Rpc::read(&mut cursor).map(Some),
            _ => cursor.value().map(|_| None),
        };
        let closed = rpc.is_some() && cursor.peek().is_none();
        if let (Some(rpc), true) = (rpc, closed) {
            let Some(rpc) = rpc else {
                let batch = self.sink.batch(text, Span { from, to }, facts, captured);
                return Ok(batch == Some(true));
            };
            if message.bare && rpc.id.is_none() {
                return Ok(self.bare(entry, &rpc, text, facts, captured));
            }
            return Ok(rpc.is_message()
                && match shared {
                    Some(shared) => self.sink.message_in(shared, &rpc, facts, captured, false),
                    None => self.sink.message(bytes, &rpc, facts, captured, false),
                });
        }
        let rest = text.get(from..).unwrap_or_default();
        let cut = captured == Captured::Truncated
            || self.description.cut_marks.iter().any(|mark| memchr::memmem::find(rest, mark.as_bytes()).is_some());
        if cut && self.remains(rest, facts) {
            return Ok(true);
        }
        let error = serde_json::from_slice::<serde::de::IgnoredAny>(rest).err();
        let said = error.map_or_else(|| "nested too deeply".to_owned(), |error| error.to_string());
        Err(format!("what should be a message is not valid JSON: {said}"))
    }

    /// What a body that was cut still tells.
    pub fn remains(&mut self, text: &[u8], facts: &Facts) -> bool {
        let mut any = false;
        for said in remains(&Arc::new(text.to_vec()), facts.ts) {
            match &said.content {
                Content::Whole(rpc) => {
                    any |= self.sink.message_in(&said.bytes, rpc, facts, Captured::Truncated, said.batch);
                }
                Content::Rest(kind) => {
                    any = true;
                    self.sink.remains((**kind).clone(), facts, Captured::Truncated, text);
                }
            }
        }
        any
    }

    /// A request that stands without its id.
    fn bare(&mut self, entry: &Entry<'_>, rpc: &Rpc, text: &[u8], facts: &Facts, captured: Captured) -> bool {
        let Some(method) = rpc.method else { return false };
        let method = String::from_utf8_lossy(method.of(text));
        let mut made = format!("{{\"jsonrpc\":\"2.0\",\"method\":{method}");
        if !method.starts_with("\"notifications/") {
            let _ = write!(made, ",\"id\":{}", json(&entry.name));
        }
        if let Some(params) = rpc.params {
            let _ = write!(made, ",\"params\":{}", String::from_utf8_lossy(params.of(text)));
        }
        made.push('}');
        self.made(made, facts, captured)
    }

    pub(super) fn made(&mut self, text: String, facts: &Facts, captured: Captured) -> bool {
        let body = Arc::new(text.into_bytes());
        let rpc = Rpc::read(&mut Cursor::new(&body, 0));
        rpc.is_some_and(|rpc| rpc.is_message() && self.sink.message_in(&body, &rpc, facts, captured, false))
    }
}
