//! Messages that a record holds in parts: a method here, its parameters there.

use super::{Entry, NO_REQUEST, Reader, json};
use crate::capture::described::language::{Given, Value};
use crate::capture::described::records::{ErrorAt, MessageAt};
use crate::capture::rpc::request_without_body;
use crate::capture::sink::Facts;
use crate::capture::skim::{Cursor, Span};
use crate::protocol::json::Oddities;
use crate::protocol::message::{Answer, Captured, Kind, Notification, PromptName, RequestBody, RpcError, Shape, Text};
use std::fmt::Write as _;

impl<'r> Reader<'r, '_> {
    /// What a record tells of a request whose parameters it does not hold.
    fn named(&mut self, message: &MessageAt, body: &mut RequestBody, bytes: &[u8], found: &[Option<Span>]) {
        let mut label = |value: &Option<Value>| self.label(value.as_ref(), bytes, found);
        match body {
            RequestBody::PromptsGet { name, .. } => {
                if let Some(given) = label(&message.name) {
                    *name = PromptName::Name(given);
                }
            }
            RequestBody::Complete(completion) => {
                if let Some(given) = label(&message.name) {
                    completion.prompt = PromptName::Name(given);
                }
                completion.argument = label(&message.argument);
                completion.typed = label(&message.typed);
            }
            RequestBody::Operation { name, .. } => *name = label(&message.name),
            _ => {}
        }
    }

    /// Adds a message from parts.
    pub(super) fn composed(
        &mut self,
        message: &'r MessageAt,
        entry: &Entry<'_>,
        found: &[Option<Span>],
        facts: &Facts,
        captured: Captured,
    ) -> Result<bool, String> {
        let bytes = entry.bytes;
        let id = message.id.as_ref().and_then(|id| self.value(id, bytes, found)).and_then(|given| match given {
            Given::Json(json) => Some(String::from_utf8_lossy(json).into_owned()),
            Given::Text(text) if text.is_empty() => None,
            Given::Text(text) if text.parse::<i64>().is_ok() => Some(text.into_owned()),
            Given::Text(text) => Some(json(&text)),
        });
        let pair = self.pair(message, bytes, found);
        if message.answers {
            let id = match (id, &pair) {
                (Some(id), _) => Some(id),
                (None, Some(pair)) => {
                    let known = self.memory.as_deref_mut().and_then(|memory| memory.answer(pair));
                    if known.is_none() {
                        self.sink.count(NO_REQUEST);
                        return Ok(false);
                    }
                    known
                }
                (None, None) => {
                    let Some((id, _)) = &entry.asked else { return Ok(false) };
                    Some(id.clone())
                }
            };
            return self.answer(message, bytes, found, id, facts, captured);
        }
        let Some(method) = message.method.as_ref().and_then(|method| self.value(method, bytes, found)) else {
            return Ok(false);
        };
        let method = method.text().into_owned();
        let notification = method.starts_with("notifications/");
        let id = match id {
            Some(id) => Some(id),
            None if notification => None,
            None => {
                let id = json(&entry.name);
                if let (Some(pair), Some(memory)) = (pair, self.memory.as_deref_mut()) {
                    memory.ask(pair, id.clone());
                }
                Some(id)
            }
        };
        let mut made = format!("{{\"jsonrpc\":\"2.0\",\"method\":{}", json(&method));
        if let Some(id) = &id {
            let _ = write!(made, ",\"id\":{id}");
        }
        let Some(params) = self.part(&message.params, bytes, found) else {
            made.push('}');
            let captured = if captured == Captured::Full { Captured::Absent } else { captured };
            let method: Text = self.sink.texts.get(&method);
            let kind = match id.as_deref().and_then(crate::protocol::parse::id) {
                Some(id) => {
                    let mut request = request_without_body(method);
                    self.named(message, &mut request.body, bytes, found);
                    Kind::Request { id, request }
                }
                None => Kind::Notification(Notification { method, subject: None }),
            };
            self.sink.remains(kind, facts, captured, made.as_bytes());
            return Ok(true);
        };
        let _ = write!(made, ",\"params\":{params}");
        if is_json(&params) {
            made.push('}');
            return Ok(self.made(made, facts, captured));
        }
        // The parameters were cut: what stands before the cut is used.
        Ok(self.remains(made.as_bytes(), facts))
    }

    fn answer(
        &mut self,
        message: &'r MessageAt,
        bytes: &[u8],
        found: &[Option<Span>],
        id: Option<String>,
        facts: &Facts,
        captured: Captured,
    ) -> Result<bool, String> {
        let id_text = id.as_deref().unwrap_or("null");
        let failed = self.any(&message.failed, bytes, found);
        let given = match &message.error {
            Some(ErrorAt::Whole(sources)) => self.first(sources, bytes, found).map(|given| match given {
                Given::Json(json) if json.first() == Some(&b'{') => String::from_utf8_lossy(json).into_owned(),
                given => format!("{{\"message\":{}}}", json(&given.text())),
            }),
            Some(ErrorAt::Parts { code, message }) => {
                let part = |value: &Option<Value>| value.as_ref().and_then(|value| self.value(value, bytes, found));
                match (part(code), part(message)) {
                    (None, None) => None,
                    (code, said) => {
                        let code = code.map(|code| code.text().into_owned());
                        let number = code.as_ref().filter(|code| code.trim().parse::<i64>().is_ok());
                        let said = said.map(|said| said.text().into_owned());
                        // A word in place of a code says what went wrong all the same.
                        let said = said.or_else(|| code.clone().filter(|_| number.is_none())).unwrap_or_default();
                        let code = number.map_or("null", |code| code.trim());
                        Some(format!("{{\"code\":{code},\"message\":{}}}", json(&said)))
                    }
                }
            }
            None => None,
        };
        if let Some(error) = given.filter(|_| failed || message.failed.is_empty()) {
            return Ok(self.made(
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id_text},\"error\":{error}}}"),
                facts,
                captured,
            ));
        }
        let parsed = id.as_deref().and_then(crate::protocol::parse::id);
        if failed {
            let error = RpcError { code: None, message: "".into(), elicitations: Vec::new() };
            self.sink.remains(Kind::Error { id: parsed, error }, facts, Captured::Absent, id_text.as_bytes());
            return Ok(true);
        }
        let Some(result) = self.part(&message.result, bytes, found) else {
            // No result where one should stand is no answer; a source that keeps no results shows that one came.
            if !message.result.is_empty() && message.failed.is_empty() && message.when.is_empty() {
                return Ok(false);
            }
            let shape = if message.unseen { Shape::NotSeen } else { Shape::NotCaptured };
            let kind = Kind::Result { id: parsed, answer: answer_of(shape) };
            self.sink.remains(kind, facts, Captured::Absent, id_text.as_bytes());
            return Ok(true);
        };
        if !is_json(&result) {
            let state = if captured == Captured::Full { Captured::Truncated } else { captured };
            let kind = Kind::Result { id: parsed, answer: answer_of(Shape::NotCaptured) };
            self.sink.remains(kind, facts, state, result.as_bytes());
            return Ok(true);
        }
        let made = match only_error(&result) {
            Some(error) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id_text},\"error\":{error}}}"),
            None => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id_text},\"result\":{result}}}"),
        };
        Ok(self.made(made, facts, captured))
    }
}

fn answer_of(shape: Shape) -> Answer {
    Answer { shape, server: None, is_error: false }
}

fn is_json(text: &str) -> bool {
    let mut cursor = Cursor::new(text.as_bytes(), 0);
    cursor.value().is_some() && cursor.peek().is_none()
}

/// The error of an object that holds nothing else.
fn only_error(result: &str) -> Option<String> {
    let members = crate::protocol::json::Members::parse(result, &mut Oddities::default())?;
    let error = members.get("error").filter(|_| members.len() == 1)?;
    Some(if error.starts_with('{') { error.to_owned() } else { format!("{{\"message\":{}}}", quoted(error)) })
}

fn quoted(exact: &str) -> String {
    if exact.starts_with('"') { exact.to_owned() } else { json(exact) }
}
