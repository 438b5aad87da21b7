//! Operations: requests in whose course the server asked something, and every `prompts/get`. An operation ends with
//! its last round's answer; only then is it known what became of the answers a person gave on the way.

use super::calls::{Ended, OpenCall};
use super::elicit::How;
use super::machine::{Core, Out, Wire};
use super::pair::{Carrier, Reply};
use super::rounds::{Early, Rounds};
use super::{At, Map};
use crate::protocol::elicitation::{Mode, Question};
use crate::protocol::message::{Captured, RequestMeta, RpcError, Shape, Text};
use crate::schema::{ElicitationStyle, OperationKind, OperationOutcome};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Operation {
    pub lane: u32,
    pub kind: OperationKind,
    pub name: Text,
    pub signature: u64,
    /// The prompt call, where the operation is one.
    pub call: Option<Box<OpenCall>>,
    /// Its questions and stray answers that are not written yet.
    pub questions: Vec<u64>,
    /// Questions asked so far.
    pub asked: u32,
    /// KEYs of all its rounds.
    pub keys: Vec<Text>,
    /// KEYs of the newest round that wait for an answer, with their elicitations.
    pub pending: Vec<(Text, u64)>,
    /// The newest answer asked for input and no retry came yet.
    pub waiting: Option<Waiting>,
    /// Retries that were read before the answer they continue.
    pub early: VecDeque<Early>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub state: Option<u64>,
    pub at: At,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Operations {
    pub next: u64,
    pub next_call: u64,
    pub open: Map<u64, Operation>,
    pub rounds: Rounds,
}

/// How an operation ended.
pub(super) struct End<'a> {
    pub outcome: OperationOutcome,
    /// Text of the result, in which short answers are looked for.
    pub echo: Option<&'a str>,
}

impl Operations {
    pub fn add(&mut self, operation: Operation) -> u64 {
        self.next += 1;
        self.open.insert(self.next, operation);
        self.next
    }
}

impl Operation {
    pub fn new(lane: u32, kind: OperationKind, name: Text, signature: u64) -> Self {
        Self {
            lane,
            kind,
            name,
            signature,
            call: None,
            questions: Vec::new(),
            asked: 0,
            keys: Vec::new(),
            pending: Vec::new(),
            waiting: None,
            early: VecDeque::new(),
        }
    }
}

impl Core {
    /// A `tools/call`, `resources/read` or their like.
    pub fn operation_request(
        &mut self,
        wire: Wire,
        lane: u32,
        mut carrier: Carrier,
        meta: &mut RequestMeta,
        out: &mut Out<'_>,
    ) -> Carrier {
        // Most requests are asked nothing: an operation is made when the first question is seen.
        if meta.input_responses.is_some() || meta.request_state.is_some() {
            let found = self.retried(lane, &carrier, meta);
            if found.is_none()
                && let Some(operation) = self.retried_early(wire, lane, &carrier, meta, None)
            {
                carrier.operation = Some(operation);
                return carrier;
            }
            let operation = match found {
                Some(operation) => operation,
                None => self.add_operation(lane, &carrier, wire.captured),
            };
            carrier.operation = Some(operation);
            self.take_responses(operation, found.is_some(), wire, meta, out);
        }
        carrier
    }

    pub fn add_operation(&mut self, lane: u32, carrier: &Carrier, captured: Captured) -> u64 {
        let name = carrier.label(captured);
        self.operations.add(Operation::new(lane, carrier.kind, name, carrier.signature))
    }

    /// The answer of a request that can carry questions.
    pub fn carried(&mut self, lane: u32, carrier: Carrier, mut reply: Reply, wire: Wire, out: &mut Out<'_>) {
        if carrier.operation.is_some() {
            reply.read();
        }
        let (outcome, echo) = match &reply {
            Reply::Error(error) => {
                let operation = match self.url_elicitations(lane, &carrier, error, wire, out) {
                    Some(operation) => operation,
                    None => match carrier.operation {
                        Some(operation) => operation,
                        None => return,
                    },
                };
                let end = End { outcome: OperationOutcome::Error, echo: None };
                self.end_operation(operation, end, Ended::Error(wire, error), out);
                return;
            }
            Reply::Result { answer, .. } => match &answer.shape {
                Shape::InputRequired { .. } => {
                    let operation = match carrier.operation {
                        Some(operation) => operation,
                        None => self.add_operation(lane, &carrier, wire.captured),
                    };
                    let Reply::Result { answer, .. } = reply else { return };
                    let Shape::InputRequired { questions, state } = answer.shape else { return };
                    self.ask_round(operation, questions, state, wire, out);
                    return;
                }
                Shape::NotCaptured | Shape::NotSeen if carrier.kind == OperationKind::ToolCall => {
                    (OperationOutcome::NotCaptured, None)
                }
                Shape::Tool { echo } if answer.is_error => (OperationOutcome::IsError, echo.as_deref()),
                _ if answer.is_error => (OperationOutcome::IsError, None),
                Shape::Tool { echo } => (OperationOutcome::Ok, echo.as_deref()),
                Shape::Rendered(rendered) => (OperationOutcome::Ok, Some(rendered.text.as_str())),
                _ => (OperationOutcome::Ok, None),
            },
        };
        let Some(operation) = carrier.operation else { return };
        if let Reply::Result { answer, .. } = &reply {
            self.end_operation(operation, End { outcome, echo }, Ended::Result(wire, &answer.shape), out);
        }
    }

    /// Writes what an operation's end settles.
    pub fn end_operation(&mut self, number: u64, end: End<'_>, ended: Ended<'_>, out: &mut Out<'_>) {
        self.forget_waiting(number);
        let Some(mut operation) = self.operations.open.remove(&number) else { return };
        let early = std::mem::take(&mut operation.early);
        for (_, elicitation) in &operation.pending {
            // No retry can answer it any more.
            self.give_up(*elicitation, out);
        }
        for elicitation in operation.questions {
            self.settle_question(elicitation, end.outcome, end.echo, out);
        }
        if let Some(call) = operation.call {
            self.write_call(operation.lane, *call, ended, out);
        }
        if !early.is_empty() {
            let Operation { lane, kind, name, signature, .. } = operation;
            self.not_a_retry(number, Operation::new(lane, kind, name, signature), early, out);
        }
    }

    pub fn carrier_unanswered(&mut self, carrier: Carrier, out: &mut Out<'_>) {
        if let Some(operation) = carrier.operation {
            let end = End { outcome: OperationOutcome::Unanswered, echo: None };
            self.end_operation(operation, end, Ended::Unanswered, out);
        }
    }

    /// Operations that asked for input and were never retried.
    pub fn abandon_operations(&mut self, out: &mut Out<'_>) {
        let mut open: Vec<u64> = self.operations.open.keys().copied().collect();
        open.sort_unstable();
        for number in open {
            let waiting = self.operations.open.get(&number).and_then(|operation| operation.waiting);
            let ended = waiting.map_or(Ended::Unanswered, |waiting| Ended::InputRequired(waiting.at));
            self.end_operation(number, End { outcome: OperationOutcome::Unanswered, echo: None }, ended, out);
        }
    }

    /// Error -32042 (2025-11-25): the elicitations the client has to see to before it asks again.
    fn url_elicitations(
        &mut self,
        lane: u32,
        carrier: &Carrier,
        error: &RpcError,
        wire: Wire,
        out: &mut Out<'_>,
    ) -> Option<u64> {
        if error.code != Some(-32042) || error.elicitations.is_empty() {
            return None;
        }
        let operation = match carrier.operation {
            Some(operation) => operation,
            None => self.add_operation(lane, carrier, wire.captured),
        };
        for id in &error.elicitations {
            let question = Question {
                mode: Mode::Url,
                message: "".into(),
                schema: None,
                elicitation_id: Some(id.clone()),
                captured: true,
            };
            self.add_question(lane, wire, question, How::carried(ElicitationStyle::Request, None, operation), out);
        }
        Some(operation)
    }
}
