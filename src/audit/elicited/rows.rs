//! Questions and answers by hand, for unit tests.

use crate::audit::fixture::{Fixture, hash, text};
use crate::protocol::message::Ts;
use crate::schema::*;

pub const SCHEMA: &str = r#"{"type":"object","required":["limit"],"properties":{
    "limit":{"type":"number","minimum":1,"maximum":10000},
    "note":{"type":"string","maxLength":200}}}"#;

/// A question of `set_budget` in an operation of its own, accepted and usable; the row is returned to be changed.
pub fn question<'f>(fixture: &'f mut Fixture, session: &str) -> &'f mut ElicitationRow {
    fixture.seq += 2;
    let number = fixture.frames.elicitations.len() as u64;
    let known = fixture.frames.sessions.iter().find(|row| &*row.session == session);
    let (client, client_version) = known.map_or((None, None), |row| (row.client.clone(), row.client_version.clone()));
    fixture.frames.elicitations.push(ElicitationRow {
        elicitation: number,
        file: text("a.ndjson"),
        position: fixture.seq,
        seq: fixture.seq,
        ts: Some(Ts(fixture.seq as i64 * 1_000_000)),
        session: text(session),
        server: None,
        client,
        client_version,
        protocol: None,
        operation_kind: OperationKind::ToolCall,
        operation: text("set_budget"),
        operation_rule: OperationRule::OnlyOpen,
        operation_instance: number,
        call: None,
        sequence: 1,
        style: ElicitationStyle::Request,
        key: None,
        mode: text("form"),
        message: text("Which limit?"),
        schema: Some(text(SCHEMA)),
        schema_hash: hash(SCHEMA),
        outcome: ElicitationOutcome::Accept,
        verdict: Verdict::Usable,
        first_reason: None,
        reasons: Vec::new(),
        cause: None,
        stray: Stray::None,
        content_without_accept: false,
        equals_defaults: false,
        content_hash: Some(number),
        schema_booleans: 0,
        schema_properties: 2,
        outside_subset: Vec::new(),
        latency_ms: Some(4_000.0),
        answered_seq: Some(fixture.seq + 1),
        operation_outcome: OperationOutcome::Ok,
        body_state: BodyState::Full,
    });
    let last = fixture.frames.elicitations.len() - 1;
    &mut fixture.frames.elicitations[last]
}

/// A field of the last question's answer; the row is returned to be changed.
pub fn field<'f>(fixture: &'f mut Fixture, name: &str, json_type: ValueType, value: &str) -> &'f mut FieldRow {
    let elicitation = fixture.frames.elicitations.last().map_or(0, |row| row.elicitation);
    let declared_type = match name {
        "limit" => Some("number"),
        "note" => Some("string"),
        "team" => Some("enum"),
        _ => None,
    };
    let bound = |value: &str| (name == "limit").then(|| text(value));
    fixture.frames.fields.push(FieldRow {
        elicitation,
        field: text(name),
        declared: declared_type.is_some(),
        declared_type: declared_type.map(text),
        format: None,
        required: name == "limit",
        json_type: Some(json_type),
        value: Some(text(value)),
        value_number: value.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        value_chars: Some(value.chars().count() as u64),
        value_items: None,
        value_hash: Some(hash(value)),
        minimum: bound("1"),
        maximum: bound("10000"),
        min_length: None,
        max_length: (name == "note").then_some(200),
        min_items: None,
        max_items: None,
        enumeration: Vec::new(),
        default: None,
        reasons: Vec::new(),
        verdict: FieldVerdict::Usable,
        echoed: false,
    });
    let last = fixture.frames.fields.len() - 1;
    &mut fixture.frames.fields[last]
}

/// The last question's answer gets a reason, in the field or (with none) as a whole.
pub fn fault(fixture: &mut Fixture, reason: Reason, in_field: bool) {
    if in_field && let Some(field) = fixture.frames.fields.last_mut() {
        field.reasons.push(reason);
        let missing = reason == Reason::MissingRequired;
        field.verdict = if missing { FieldVerdict::MissingRequired } else { FieldVerdict::Unusable };
        if missing {
            (field.json_type, field.value, field.value_number) = (None, None, None);
            (field.value_chars, field.value_hash) = (None, None);
        }
    }
    if let Some(row) = fixture.frames.elicitations.last_mut() {
        row.verdict = Verdict::Unusable;
        row.first_reason = Some(row.first_reason.map_or(reason, |first| first.min(reason)));
        row.cause = row.first_reason.map(super::cause);
        if !in_field {
            row.reasons.push(reason);
        }
    }
}

/// A usable answer with this limit.
pub fn limit<'f>(fixture: &'f mut Fixture, session: &str, value: &str) -> &'f mut FieldRow {
    question(fixture, session);
    field(fixture, "limit", ValueType::Number, value)
}
