//! `prompts/get` and `completion/complete` as rows.

use super::At;
use super::elicit::body_state;
use super::machine::{Core, Out, Wire};
use super::operations::Operation;
use super::pair::{Carrier, Reply};
use super::render::rendered;
use crate::protocol::json::{clip, digest};
use crate::protocol::message::{Captured, PromptName, RequestMeta, RpcError, Shape, Text};
use crate::protocol::prompt::{Arguments, ArgumentsAs, Completion, JsonType, Value};
use crate::schema::{ArgRow, ArgumentsShape, CallOutcome, CallRow, CompletionRow, OperationKind, Presence, ValueType};
use serde::{Deserialize, Serialize};

/// Values are kept up to this many bytes.
const MAX_VALUE: usize = 4096;

/// A `prompts/get` whose last answer has not come.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub number: u64,
    at: At,
    batch: bool,
    captured: Captured,
    prompt: PromptName,
    arguments: Arguments,
    arguments_hash: u64,
    arguments_changed: bool,
    rounds: u32,
    protocol: Option<Text>,
}

impl OpenCall {
    /// Counts a retry with these arguments.
    pub fn another_round(&mut self, arguments_hash: u64) {
        self.rounds += 1;
        self.arguments_changed |= self.arguments_hash != arguments_hash;
    }
}

/// How a call's last round ended.
pub(super) enum Ended<'a> {
    Unanswered,
    /// Asked for input at this time and was never retried.
    InputRequired(At),
    Error(Wire, &'a RpcError),
    Result(Wire, &'a Shape),
}

impl Core {
    /// A `prompts/get`: a call of its own, or another round of one that waits for input.
    pub fn prompt_call(
        &mut self,
        wire: Wire,
        lane: u32,
        mut prompt: PromptName,
        mut arguments: Arguments,
        meta: &mut RequestMeta,
        out: &mut Out<'_>,
    ) -> Carrier {
        if matches!(wire.captured, Captured::Redacted | Captured::Absent) && prompt == PromptName::Missing {
            prompt = PromptName::NotCaptured;
            arguments.shape = ArgumentsAs::NotCaptured;
        }
        let signature = arguments_hash(&arguments);
        let name = match &prompt {
            PromptName::Name(name) => Some(name.clone()),
            PromptName::Missing | PromptName::NotCaptured => None,
        };
        let mut carrier = Carrier { kind: OperationKind::PromptGet, name, signature, operation: None };
        let retry = meta.input_responses.is_some() || meta.request_state.is_some();
        let call = OpenCall {
            number: 0,
            at: wire.at,
            batch: wire.batch,
            captured: wire.captured,
            prompt,
            arguments,
            arguments_hash: signature,
            arguments_changed: false,
            rounds: 1,
            protocol: meta.protocol.clone(),
        };
        let found = if retry { self.retried(lane, &carrier, meta) } else { None };
        let number = match found {
            Some(number) => {
                let operation = self.operations.open.get_mut(&number);
                if let Some(first) = operation.and_then(|operation| operation.call.as_mut()) {
                    first.another_round(signature);
                }
                number
            }
            None => {
                if retry && let Some(number) = self.retried_early(wire, lane, &carrier, meta, Some(call.clone())) {
                    carrier.operation = Some(number);
                    return carrier;
                }
                let mut operation = Operation::new(lane, carrier.kind, carrier.label(wire.captured), signature);
                operation.call = Some(Box::new(self.numbered(call)));
                self.operations.add(operation)
            }
        };
        if retry {
            self.take_responses(number, found.is_some(), wire, meta, out);
        }
        carrier.operation = Some(number);
        carrier
    }

    pub fn numbered(&mut self, call: OpenCall) -> OpenCall {
        self.operations.next_call += 1;
        OpenCall { number: self.operations.next_call, ..call }
    }

    pub fn write_call(&mut self, lane: u32, call: OpenCall, ended: Ended<'_>, out: &mut Out<'_>) {
        let facts = self.sessions.facts(lane);
        let (prompt, prompt_captured) = match call.prompt {
            PromptName::Name(name) => (Some(name), true),
            PromptName::Missing => (None, true),
            PromptName::NotCaptured => (None, false),
        };
        let mut row = CallRow {
            call: call.number,
            file: self.files.name(call.at.file),
            position: call.at.position,
            seq: call.at.seq,
            ts: call.at.ts,
            session: facts.name,
            server: facts.server,
            client: facts.client,
            client_version: facts.client_version,
            protocol: call.protocol.or(facts.protocol),
            prompt,
            prompt_captured,
            rounds: call.rounds,
            batch: call.batch,
            arguments_as: arguments_shape(call.arguments.shape),
            arguments_hash: call.arguments_hash,
            arguments_changed: call.arguments_changed,
            outcome: CallOutcome::Unanswered,
            error_code: None,
            error_message: None,
            latency_ms: None,
            answered_seq: None,
            rendered_messages: None,
            rendered_chars: None,
            rendered_skeleton: None,
            leaked: Vec::new(),
            echoed: Vec::new(),
            body_state: body_state(call.captured, None),
        };
        let answered = match ended {
            Ended::Unanswered => None,
            Ended::InputRequired(at) => {
                row.outcome = CallOutcome::InputRequired;
                Some(at)
            }
            Ended::Error(wire, error) => {
                row.outcome = CallOutcome::Error;
                row.error_code = error.code;
                row.error_message = Some(clip(&error.message, MAX_VALUE).into());
                row.body_state = body_state(call.captured, Some(wire.captured));
                Some(wire.at)
            }
            Ended::Result(wire, shape) => {
                row.outcome = CallOutcome::Rendered;
                row.body_state = body_state(call.captured, Some(wire.captured));
                match shape {
                    Shape::Rendered(result) => {
                        let facts = rendered(&result.text, &call.arguments);
                        row.rendered_messages = Some(result.messages);
                        row.rendered_chars = Some(facts.chars);
                        row.rendered_skeleton = Some(facts.skeleton);
                        row.leaked = facts.leaked;
                        row.echoed = facts.echoed;
                    }
                    Shape::NotCaptured => {}
                    Shape::NotSeen => row.outcome = CallOutcome::NotCaptured,
                    // A result without messages renders nothing.
                    _ => {
                        row.rendered_messages = Some(0);
                        row.rendered_chars = Some(0);
                    }
                }
                Some(wire.at)
            }
        };
        if let Some(at) = answered {
            row.latency_ms = at.since(call.at);
            row.answered_seq = Some(at.seq);
        }
        let args = call.arguments.entries.iter().map(|(key, value)| arg_row(call.number, key, value)).collect();
        out.sink.call(row, args);
    }

    pub fn completed(
        &mut self,
        lane: u32,
        asked: At,
        completion: &Completion,
        reply: Option<&Reply>,
        out: &mut Out<'_>,
    ) {
        let mut row = self.completion_row(lane, asked, completion);
        row.outcome = match reply.map(Reply::shape) {
            None => CallOutcome::Unanswered,
            Some(None) => CallOutcome::Error,
            Some(Some(Shape::NotCaptured | Shape::NotSeen)) => CallOutcome::NotCaptured,
            Some(Some(_)) => CallOutcome::Rendered,
        };
        if let Some(Shape::Completion(answer)) = reply.and_then(Reply::shape) {
            row.offered = answer.values.iter().map(|value| clip(value, MAX_VALUE).into()).collect();
            row.total = answer.total;
            row.has_more = answer.has_more;
        }
        out.sink.completion(row);
    }

    fn completion_row(&mut self, lane: u32, at: At, completion: &Completion) -> CompletionRow {
        let facts = self.sessions.facts(lane);
        CompletionRow {
            file: self.files.name(at.file),
            position: at.position,
            seq: at.seq,
            ts: at.ts,
            session: facts.name,
            server: facts.server,
            prompt: match &completion.prompt {
                PromptName::Name(name) => Some(name.clone()),
                PromptName::Missing | PromptName::NotCaptured => None,
            },
            argument: completion.argument.clone(),
            typed: completion.typed.clone(),
            context: completion.context,
            outcome: CallOutcome::Unanswered,
            offered: Vec::new(),
            total: None,
            has_more: false,
        }
    }
}

fn arg_row(call: u64, key: &Text, value: &Value) -> ArgRow {
    let text = &*value.text;
    let empty = value.json_type == JsonType::String && text.is_empty();
    ArgRow {
        call,
        key: key.clone(),
        present_as: if empty { Presence::Empty } else { Presence::Filled },
        json_type: value_type(value.json_type),
        value: if text.len() > MAX_VALUE { clip(text, MAX_VALUE).into() } else { value.text.clone() },
        value_chars: text.chars().count() as u64,
        value_words: text.split_whitespace().count() as u64,
        value_lines: lines(text),
        value_hash: digest(text.as_bytes()),
    }
}

/// Lines of a text: LF, CR, CRLF, U+2028 and U+2029 separate.
fn lines(text: &str) -> u64 {
    let mut count = 1;
    let mut after_cr = false;
    for letter in text.chars() {
        if matches!(letter, '\r' | '\u{2028}' | '\u{2029}') || (letter == '\n' && !after_cr) {
            count += 1;
        }
        after_cr = letter == '\r';
    }
    count
}

/// A hash of the arguments that does not depend on their order.
fn arguments_hash(arguments: &Arguments) -> u64 {
    let mut entries: Vec<&(Text, Value)> = arguments.entries.iter().collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let mut bytes = vec![arguments.shape as u8];
    for (key, value) in entries {
        for part in [key, &value.text] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes.push(value.json_type as u8);
    }
    digest(&bytes)
}

fn value_type(json_type: JsonType) -> ValueType {
    match json_type {
        JsonType::String => ValueType::String,
        JsonType::Number => ValueType::Number,
        JsonType::Boolean => ValueType::Boolean,
        JsonType::Null => ValueType::Null,
        JsonType::Object => ValueType::Object,
        JsonType::Array => ValueType::Array,
    }
}

fn arguments_shape(shape: ArgumentsAs) -> ArgumentsShape {
    match shape {
        ArgumentsAs::Object => ArgumentsShape::Object,
        ArgumentsAs::Absent => ArgumentsShape::Absent,
        ArgumentsAs::Null => ArgumentsShape::Null,
        ArgumentsAs::Array => ArgumentsShape::Array,
        ArgumentsAs::Other => ArgumentsShape::Other,
        ArgumentsAs::NotCaptured => ArgumentsShape::NotCaptured,
    }
}
