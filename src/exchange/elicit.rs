//! Questions and answers of elicitations, and the answers that close no question.

use super::check::Checked;
use super::machine::{Core, Out, Wire};
use super::operations::{Operation, Operations};
use super::pair::{OpenKey, Reply};
use super::{At, Map};
use crate::protocol::elicitation::{Action, Content, ElicitationAnswer, Mode, Question};
use crate::protocol::json::clip;
use crate::protocol::message::{Captured, Direction, Shape, Text};
use crate::schema::{
    BodyState, ElicitationOutcome, ElicitationRow, ElicitationStyle, FieldRow, OperationKind, OperationOutcome,
    OperationRule, Stray, ValueType, Verdict,
};
use serde::{Deserialize, Serialize};

/// A question's text is kept up to this many bytes.
const MAX_MESSAGE: usize = 4096;
/// Characters of a question's text in the label of an ambiguous operation.
const LABEL_CHARS: usize = 60;
/// A value shorter than this stands in any text by chance.
const ECHO_CHARS: u64 = 3;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Elicitation {
    row: ElicitationRow,
    fields: Vec<FieldRow>,
    /// Until it is answered.
    question: Option<Box<Question>>,
    lane: u32,
    at: At,
    captured: Captured,
    /// Answered, or never will be.
    closed: bool,
    /// What became of the operation is known.
    settled: bool,
}

/// How a question or stray answer travelled.
pub(super) struct How {
    style: ElicitationStyle,
    key: Option<Text>,
    operation: Option<u64>,
    /// It rode in a message of its operation.
    carried: bool,
    stray: Stray,
}

impl How {
    fn request() -> Self {
        Self { style: ElicitationStyle::Request, key: None, operation: None, carried: false, stray: Stray::None }
    }

    pub fn carried(style: ElicitationStyle, key: Option<Text>, operation: u64) -> Self {
        Self { style, key, operation: Some(operation), carried: true, stray: Stray::None }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Elicitations {
    next: u64,
    open: Map<u64, Elicitation>,
    /// Open questions in url mode by session and `elicitationId`.
    urls: Map<(u32, Text), u64>,
}

impl Core {
    /// A server's own request: it belongs to the only open request that can carry it.
    pub fn question(&mut self, wire: Wire, lane: u32, mut question: Question, out: &mut Out<'_>) -> u64 {
        if matches!(wire.captured, Captured::Redacted | Captured::Absent) {
            question.captured = false;
        }
        let operation = self.only_operation(wire, lane);
        if operation.is_some() {
            self.asked_again_in(operation, None, question.schema.as_ref(), out);
        }
        self.add_question(lane, wire, question, How { operation, ..How::request() }, out)
    }

    fn only_operation(&mut self, wire: Wire, lane: u32) -> Option<u64> {
        let open = &self.sessions.lanes[lane as usize].carriers;
        let mut open = open.iter().filter(|carrier| wire.before.is_none_or(|seq| carrier.seq < seq));
        let (Some(only), None) = (open.next(), open.next()) else { return None };
        let key = OpenKey { scope: wire.scope, asker: Direction::ClientToServer, id: only.id.clone() };
        let (carrier, _, captured) = self.requests.operation_of(&key, only.seq)?;
        if let Some(operation) = carrier.operation {
            return Some(operation);
        }
        let operation = Operation::new(lane, carrier.kind, carrier.label(captured), carrier.signature);
        let number = self.operations.add(operation);
        carrier.operation = Some(number);
        Some(number)
    }

    fn asked_again_in(&mut self, operation: Option<u64>, key: Option<&Text>, schema: Option<&Text>, out: &mut Out<'_>) {
        if let Some(number) = operation {
            self.asked_again(number, key, schema, out);
        }
    }

    /// Settles earlier questions of an operation that are asked anew: under the same KEY, or with the same schema.
    pub fn asked_again(&mut self, number: u64, key: Option<&Text>, schema: Option<&Text>, out: &mut Out<'_>) {
        let Some(operation) = self.operations.open.get_mut(&number) else { return };
        let same = |elicitation: &u64| {
            self.elicitations.open.get(elicitation).is_some_and(|known| {
                known.row.key.as_ref() == key
                    && (key.is_some() || (schema.is_some() && known.row.schema.as_ref() == schema))
            })
        };
        let again: Vec<u64> = operation.questions.iter().copied().filter(same).collect();
        operation.questions.retain(|elicitation| !again.contains(elicitation));
        for elicitation in again {
            self.settle_question(elicitation, OperationOutcome::AskedAgain, None, out);
        }
    }

    /// Opens an elicitation and returns its number.
    pub fn add_question(&mut self, lane: u32, wire: Wire, question: Question, how: How, out: &mut Out<'_>) -> u64 {
        let number = self.add_row(lane, wire, Some(&question), how, out);
        if let Some(id) = &question.elicitation_id {
            let session = self.sessions.session_of(lane);
            self.elicitations.urls.insert((session, id.clone()), number);
        }
        if let Some(elicitation) = self.elicitations.open.get_mut(&number) {
            elicitation.question = Some(Box::new(question));
        }
        number
    }

    fn add_row(&mut self, lane: u32, wire: Wire, question: Option<&Question>, how: How, out: &mut Out<'_>) -> u64 {
        let How { style, key, operation, carried, stray } = how;
        let protocol = self.sessions.protocol(lane);
        let facts = question.map(|question| out.checker.facts(question, protocol.as_deref())).unwrap_or_default();
        self.elicitations.next += 1;
        let number = self.elicitations.next;
        let message = question.map_or("", |question| clip(&question.message, MAX_MESSAGE));
        let place = place(&mut self.operations, operation, number, stray, carried, || {
            let start: String = message.chars().take(LABEL_CHARS).collect();
            format!("ambiguous:{:016x} {start}", facts.schema_hash).into()
        });
        let captured = question.is_none_or(|question| question.captured);
        let row = ElicitationRow {
            elicitation: number,
            file: self.files.name(wire.at.file),
            position: wire.at.position,
            seq: wire.at.seq,
            ts: wire.at.ts,
            session: "".into(),
            server: None,
            client: None,
            client_version: None,
            protocol: None,
            operation_kind: place.kind,
            operation: place.name,
            operation_rule: place.rule,
            operation_instance: place.instance,
            call: place.call,
            sequence: place.sequence,
            style,
            key,
            mode: question.map_or_else(|| "form".into(), |question| mode_word(&question.mode)),
            message: message.into(),
            schema: question.and_then(|question| question.schema.clone()),
            schema_hash: facts.schema_hash,
            outcome: ElicitationOutcome::Unanswered,
            verdict: Verdict::None,
            first_reason: None,
            reasons: Vec::new(),
            cause: None,
            stray,
            content_without_accept: false,
            equals_defaults: false,
            content_hash: None,
            schema_booleans: facts.booleans,
            schema_properties: facts.properties,
            outside_subset: facts.outside_subset,
            latency_ms: None,
            answered_seq: None,
            operation_outcome: match operation {
                Some(_) => OperationOutcome::Unanswered,
                None => OperationOutcome::NotCaptured,
            },
            body_state: body_state(wire.captured, None),
        };
        let captured = if captured { wire.captured } else { Captured::Redacted };
        self.elicitations.open.insert(
            number,
            Elicitation {
                row,
                fields: Vec::new(),
                question: None,
                lane,
                at: wire.at,
                captured,
                closed: false,
                settled: operation.is_none(),
            },
        );
        number
    }

    /// The answer to a question that was a request of its own.
    pub fn elicited(&mut self, number: u64, reply: &Reply, wire: Wire, out: &mut Out<'_>) {
        let malformed = |action| ElicitationAnswer { action, content: Content::Absent };
        match reply.shape() {
            Some(Shape::Elicitation(answer)) => self.answer_question(number, answer, wire, out),
            Some(Shape::NotCaptured | Shape::NotSeen) => {
                self.answer_question(number, &malformed(Action::NotCaptured), wire, out);
            }
            Some(Shape::NotAnObject) => self.answer_question(number, &malformed(Action::NotAnObject), wire, out),
            Some(_) => self.answer_question(number, &malformed(Action::Malformed(None)), wire, out),
            None => {
                let Some(elicitation) = self.elicitations.open.get_mut(&number) else { return };
                elicitation.row.outcome = ElicitationOutcome::Error;
                self.close(number, wire, out);
            }
        }
    }

    pub fn answer_question(&mut self, number: u64, answer: &ElicitationAnswer, wire: Wire, out: &mut Out<'_>) {
        let Some(elicitation) = self.elicitations.open.get_mut(&number) else { return };
        let protocol = self.sessions.protocol(elicitation.lane);
        if let Some(question) = elicitation.question.take() {
            let checked = out.checker.check(&question, answer, protocol.as_deref());
            elicitation.judge(answer, checked);
        }
        self.close(number, wire, out);
    }

    fn close(&mut self, number: u64, wire: Wire, out: &mut Out<'_>) {
        let Some(elicitation) = self.elicitations.open.get_mut(&number) else { return };
        let Elicitation { row, at, captured, .. } = elicitation;
        row.latency_ms = wire.at.since(*at);
        row.answered_seq = Some(wire.at.seq);
        row.body_state = body_state(*captured, Some(wire.captured));
        elicitation.closed = true;
        self.write_elicitation(number, out);
    }

    /// An answer that closes no question, checked against the newest one it can have meant.
    pub fn stray(
        &mut self,
        operation: u64,
        wire: Wire,
        question: Option<&Question>,
        answer: &ElicitationAnswer,
        (key, stray): (Text, Stray),
        out: &mut Out<'_>,
    ) {
        let Some(lane) = self.operations.open.get(&operation).map(|operation| operation.lane) else { return };
        let how = How { stray, ..How::carried(ElicitationStyle::InputRequired, Some(key), operation) };
        let number = self.add_row(lane, wire, question, how, out);
        let protocol = self.sessions.protocol(lane);
        let unseen =
            Question { mode: Mode::Form, message: "".into(), schema: None, elicitation_id: None, captured: false };
        let checked = out.checker.check(question.unwrap_or(&unseen), answer, protocol.as_deref());
        let Some(elicitation) = self.elicitations.open.get_mut(&number) else { return };
        elicitation.judge(answer, checked);
        elicitation.row.answered_seq = Some(wire.at.seq);
        elicitation.closed = true;
    }

    /// A question that nothing can answer any more.
    pub fn give_up(&mut self, number: u64, out: &mut Out<'_>) {
        if let Some(elicitation) = self.elicitations.open.get_mut(&number) {
            elicitation.closed = true;
            self.write_elicitation(number, out);
        }
    }

    /// What became of the operation in which the question was asked.
    pub fn settle_question(&mut self, number: u64, outcome: OperationOutcome, echo: Option<&str>, out: &mut Out<'_>) {
        let Some(elicitation) = self.elicitations.open.get_mut(&number) else { return };
        elicitation.row.operation_outcome = outcome;
        elicitation.settled = true;
        if let Some(echo) = echo {
            for field in &mut elicitation.fields {
                field.echoed = echoed(field, echo);
            }
        }
        self.write_elicitation(number, out);
    }

    /// `notifications/elicitation/complete`: the person did what an url asked for. It answers a question that had no
    /// answer of its own (error -32042).
    pub fn url_completed(&mut self, lane: u32, id: &Text, at: At, out: &mut Out<'_>) {
        let session = self.sessions.session_of(lane);
        let Some(number) = self.elicitations.urls.remove(&(session, id.clone())) else { return };
        let Some(elicitation) = self.elicitations.open.get_mut(&number).filter(|known| !known.closed) else { return };
        elicitation.row.outcome = ElicitationOutcome::Accept;
        elicitation.row.verdict = Verdict::Url;
        elicitation.row.latency_ms = at.since(elicitation.at);
        elicitation.row.answered_seq = Some(at.seq);
        elicitation.closed = true;
        self.write_elicitation(number, out);
    }

    /// Writes an elicitation that is closed and settled.
    fn write_elicitation(&mut self, number: u64, out: &mut Out<'_>) {
        if self.elicitations.open.get(&number).is_some_and(|known| known.closed && known.settled) {
            self.write_elicitation_now(number, out);
        }
    }

    fn write_elicitation_now(&mut self, number: u64, out: &mut Out<'_>) {
        let Some(Elicitation { mut row, mut fields, lane, .. }) = self.elicitations.open.remove(&number) else {
            return;
        };
        let facts = self.sessions.facts(lane);
        row.session = facts.name;
        row.server = facts.server;
        row.client = facts.client;
        row.client_version = facts.client_version;
        row.protocol = facts.protocol;
        for field in &mut fields {
            field.elicitation = number;
        }
        out.sink.elicitation(row, fields);
    }

    pub fn abandon_elicitations(&mut self, out: &mut Out<'_>) {
        let mut open: Vec<u64> = self.elicitations.open.keys().copied().collect();
        open.sort_unstable();
        for number in open {
            self.write_elicitation_now(number, out);
        }
    }
}

impl Elicitation {
    fn judge(&mut self, answer: &ElicitationAnswer, checked: Checked) {
        let Self { row, fields, .. } = self;
        row.outcome = match answer.action {
            Action::Accept => ElicitationOutcome::Accept,
            Action::Decline => ElicitationOutcome::Decline,
            Action::Cancel => ElicitationOutcome::Cancel,
            Action::Malformed(_) | Action::NotAnObject => ElicitationOutcome::Malformed,
            Action::NotCaptured => ElicitationOutcome::NotCaptured,
        };
        row.content_without_accept = matches!(answer.action, Action::Decline | Action::Cancel)
            && matches!(answer.content, Content::Object { .. } | Content::Other(_));
        row.verdict = checked.verdict;
        row.first_reason = checked.first_reason;
        row.reasons = checked.reasons;
        row.cause = checked.cause;
        row.equals_defaults = checked.equals_defaults;
        row.content_hash = checked.content_hash;
        *fields = checked.fields;
    }
}

/// Where in its operation a question stands.
struct Standing {
    kind: OperationKind,
    name: Text,
    rule: OperationRule,
    instance: u64,
    call: Option<u64>,
    sequence: u32,
}

fn place(
    operations: &mut Operations,
    operation: Option<u64>,
    elicitation: u64,
    stray: Stray,
    carried: bool,
    label: impl FnOnce() -> Text,
) -> Standing {
    let Some((instance, found)) = operation.and_then(|number| Some((number, operations.open.get_mut(&number)?))) else {
        operations.next += 1;
        return Standing {
            kind: OperationKind::Ambiguous,
            name: label(),
            rule: OperationRule::Ambiguous,
            instance: operations.next,
            call: None,
            sequence: 1,
        };
    };
    found.questions.push(elicitation);
    if stray == Stray::None {
        found.asked += 1;
    }
    Standing {
        kind: found.kind,
        name: found.name.clone(),
        rule: if carried { OperationRule::Carried } else { OperationRule::OnlyOpen },
        instance,
        call: found.call.as_ref().map(|call| call.number),
        sequence: if stray == Stray::None { found.asked } else { 0 },
    }
}

fn mode_word(mode: &Mode) -> Text {
    match mode {
        Mode::Form => "form".into(),
        Mode::Url => "url".into(),
        Mode::Other(word) => word.clone(),
    }
}

/// Free text is what a person wrote themselves: a declared string with no list and no format.
fn echoed(field: &FieldRow, echo: &str) -> bool {
    let free = field.json_type == Some(ValueType::String)
        && field.declared_type.as_deref() == Some("string")
        && field.format.is_none()
        && field.enumeration.is_empty();
    free && field.value_chars.is_some_and(|chars| chars >= ECHO_CHARS)
        && field.value.as_deref().is_some_and(|value| echo.contains(value))
}

/// Which bodies of a question or request and its answer were captured.
pub(super) fn body_state(asked: Captured, answered: Option<Captured>) -> BodyState {
    use Captured::{Absent, Full, Redacted, Truncated};
    match (asked, answered) {
        (Full, None | Some(Full)) => BodyState::Full,
        (Truncated, _) | (Full, Some(Truncated)) => BodyState::Truncated,
        (Full, Some(Redacted | Absent)) => BodyState::ParamsOnly,
        (Redacted | Absent, Some(Full | Truncated)) => BodyState::ResultOnly,
        (Redacted, None | Some(Redacted | Absent)) => BodyState::Redacted,
        (Absent, None | Some(Absent | Redacted)) => BodyState::Absent,
    }
}
