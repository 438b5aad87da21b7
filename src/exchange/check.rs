//! Whether an accepted answer keeps the schema that was sent with its question (analyses.md, section 5).
//!
//! What is valid is JSON Schema 2020-12's business, and the `jsonschema` crate's; here its errors become reasons.
//! One rule is stricter than the standard: a key that the schema does not declare is a fault, whatever
//! `additionalProperties` says, because no server reads it.

mod reasons;
mod references;
mod schema;

use crate::protocol::elicitation::{Action, Content, ElicitationAnswer, Mode, Question};
use crate::protocol::json::{canonical, clip, digest, elements};
use crate::protocol::message::Text;
use crate::protocol::parse::Oddities;
use crate::protocol::prompt::{JsonType, Value};
use crate::schema::{FieldRow, FieldVerdict, Reason, ReasonCause, ValueType, Verdict};
use ahash::AHashMap;
use schema::{Compiled, Property, Subset};
use std::sync::Arc;

/// Schemas kept compiled, by number and by bytes of their text. A capture has few; one in which every question has a
/// large schema of its own pays with time, not with memory.
const MAX_CACHED: usize = 4096;
const MAX_CACHED_BYTES: usize = 4 << 20;
/// Values are kept up to this many bytes.
const MAX_VALUE: usize = 4096;

/// What a question's schema says, whether or not it was answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaFacts {
    /// Digest of the schema's exact text, 0 where there is none.
    pub schema_hash: u64,
    pub booleans: u32,
    pub properties: u32,
    /// Keywords outside the elicitation subset of the revision, sorted.
    pub outside_subset: Vec<Text>,
}

/// The judgement of one answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    /// `none` unless the answer accepts.
    pub verdict: Verdict,
    /// First reason in order of precedence, of the whole answer.
    pub first_reason: Option<Reason>,
    /// Reasons that belong to no field, in order of precedence.
    pub reasons: Vec<Reason>,
    pub cause: Option<ReasonCause>,
    /// In the order of the schema, then undeclared keys in the order of the wire. `elicitation` and `echoed` are left
    /// for the caller to fill.
    pub fields: Vec<FieldRow>,
    /// Every field sent equals its schema default (false where one has none, or none was sent).
    pub equals_defaults: bool,
    /// Hash of the content, whatever the order of its keys.
    pub content_hash: Option<u64>,
    pub facts: SchemaFacts,
}

/// Checks answers; schemas are compiled once.
#[derive(Default)]
pub struct Checker {
    compiled: AHashMap<u64, Arc<Compiled>>,
    /// Bytes of the texts of `compiled`.
    held: usize,
}

impl Checker {
    pub fn new() -> Self {
        Self::default()
    }

    /// What a question's schema says. The elicitation subset is the revision's, or the newest where it is `None`.
    pub fn facts(&mut self, question: &Question, revision: Option<&str>) -> SchemaFacts {
        let Some((schema_hash, compiled)) = self.compiled(question) else { return SchemaFacts::default() };
        SchemaFacts {
            schema_hash,
            booleans: compiled.booleans(),
            properties: compiled.properties.len().try_into().unwrap_or(u32::MAX),
            outside_subset: compiled.outside_subset[Subset::of(revision) as usize].clone(),
        }
    }

    /// Judges an answer to a question.
    pub fn check(&mut self, question: &Question, answer: &ElicitationAnswer, revision: Option<&str>) -> Checked {
        let mut checked = Checked {
            facts: self.facts(question, revision),
            content_hash: content_hash(&answer.content),
            ..Checked::default()
        };
        if answer.action != Action::Accept {
            return checked;
        }
        if question.mode == Mode::Url {
            checked.verdict = Verdict::Url;
            return checked;
        }
        let compiled = self.compiled(question).map(|(_, compiled)| compiled);
        let Some((compiled, validator)) =
            compiled.as_deref().and_then(|compiled| Some((compiled, compiled.validator.as_ref()?)))
        else {
            checked.verdict = Verdict::Unchecked;
            checked.fields = unchecked_rows(compiled.as_deref(), &answer.content);
            return checked;
        };
        let Content::Object { members, .. } = &answer.content else {
            let missing = matches!(answer.content, Content::Absent | Content::Null);
            checked.reasons.push(if missing { Reason::ContentMissing } else { Reason::ContentNotAnObject });
            checked.conclude(false);
            return checked;
        };
        let found = reasons::of(validator, compiled, members);
        checked.reasons = found.whole;
        checked.fields = rows(compiled, members);
        for (row, reasons) in checked.fields.iter_mut().zip(found.fields) {
            row.verdict = verdict(row, &reasons, found.undecided);
            row.reasons = reasons;
        }
        checked.equals_defaults = equals_defaults(compiled, members);
        checked.conclude(found.undecided);
        checked
    }

    fn compiled(&mut self, question: &Question) -> Option<(u64, Arc<Compiled>)> {
        let text = question.schema.as_deref().filter(|_| question.captured)?;
        let hash = digest(text.as_bytes());
        if let Some(known) = self.compiled.get(&hash) {
            return Some((hash, known.clone()));
        }
        if self.compiled.len() >= MAX_CACHED || self.held.saturating_add(text.len()) > MAX_CACHED_BYTES {
            self.compiled.clear();
            self.held = 0;
        }
        self.held = self.held.saturating_add(text.len());
        let compiled = Arc::new(Compiled::new(text));
        self.compiled.insert(hash, compiled.clone());
        Some((hash, compiled))
    }
}

impl Checked {
    /// Derives the verdict from the reasons. A check that could not be finished only counts where nothing was found.
    fn conclude(&mut self, undecided: bool) {
        self.reasons.sort();
        self.reasons.dedup();
        let fields = self.fields.iter().flat_map(|row| &row.reasons);
        self.first_reason = self.reasons.iter().chain(fields).min().copied();
        self.cause = self.first_reason.map(cause);
        self.verdict = match self.first_reason {
            Some(_) => Verdict::Unusable,
            None if undecided => Verdict::Unchecked,
            None => Verdict::Usable,
        };
    }
}

/// Who could have caused a fault: a person at a form can pass a bound; only the software in between can drop a field.
pub fn cause(reason: Reason) -> ReasonCause {
    match reason {
        Reason::BelowMinimum
        | Reason::AboveMaximum
        | Reason::TooShort
        | Reason::TooLong
        | Reason::Pattern
        | Reason::BadFormat
        | Reason::TooFewItems
        | Reason::TooManyItems => ReasonCause::Person,
        Reason::ContentMissing
        | Reason::ContentNotAnObject
        | Reason::MissingRequired
        | Reason::UnknownKey
        | Reason::WrongType
        | Reason::NotAnInteger
        | Reason::NestedValue => ReasonCause::Integration,
        Reason::NotInEnum => ReasonCause::Enumeration,
    }
}

fn verdict(row: &FieldRow, reasons: &[Reason], undecided: bool) -> FieldVerdict {
    match (row.json_type, reasons.is_empty()) {
        (None, true) => FieldVerdict::AbsentOptional,
        (None, false) => FieldVerdict::MissingRequired,
        (Some(_), false) => FieldVerdict::Unusable,
        (Some(_), true) if undecided => FieldVerdict::Unchecked,
        (Some(_), true) => FieldVerdict::Usable,
    }
}

/// A row for each declared field, each required one that is not declared, and each undeclared key: in that order,
/// which is also the order of [`reasons::Found::fields`].
fn rows(compiled: &Compiled, members: &[(Text, Value)]) -> Vec<FieldRow> {
    let sent = |name: &str| members.iter().find(|(key, _)| &**key == name).map(|(_, value)| value);
    compiled
        .names(members)
        .map(|name| {
            let property = compiled.properties.iter().find(|property| property.name == *name);
            row(name, property, compiled.required.contains(name), sent(name))
        })
        .collect()
}

/// Rows of an answer that cannot be checked: what was sent, and what is known to have been declared.
fn unchecked_rows(compiled: Option<&Compiled>, content: &Content) -> Vec<FieldRow> {
    let Content::Object { members, .. } = content else { return Vec::new() };
    let unchecked = |(name, value): &(Text, Value)| {
        let property = compiled.and_then(|compiled| compiled.properties.iter().find(|property| property.name == *name));
        let required = compiled.is_some_and(|compiled| compiled.required.contains(name));
        FieldRow { verdict: FieldVerdict::Unchecked, ..row(name, property, required, Some(value)) }
    };
    members.iter().map(unchecked).collect()
}

fn row(name: &Text, property: Option<&Property>, required: bool, value: Option<&Value>) -> FieldRow {
    let declared = property.is_some();
    let property = property.cloned().unwrap_or_default();
    FieldRow {
        elicitation: 0,
        field: name.clone(),
        declared,
        declared_type: property.declared_type,
        format: property.format,
        required,
        json_type: value.map(|value| value_type(value.json_type)),
        value: value.map(|value| clipped(&value.text)),
        value_number: value.and_then(number),
        value_chars: value.map(|value| value.text.chars().count() as u64),
        value_items: value.and_then(items),
        value_hash: value.map(|value| digest(value.text.as_bytes())),
        minimum: property.minimum,
        maximum: property.maximum,
        min_length: property.min_length,
        max_length: property.max_length,
        min_items: property.min_items,
        max_items: property.max_items,
        enumeration: property.enumeration,
        default: property.default,
        reasons: Vec::new(),
        verdict: FieldVerdict::Usable,
        echoed: false,
    }
}

fn clipped(text: &Text) -> Text {
    if text.len() <= MAX_VALUE { text.clone() } else { clip(text, MAX_VALUE).into() }
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

/// A number, or text that is one (spaces around it are overlooked, words such as `inf` are no numbers).
fn number(value: &Value) -> Option<f64> {
    let text = match value.json_type {
        JsonType::Number => &*value.text,
        JsonType::String => value.text.trim(),
        _ => return None,
    };
    if !text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn items(value: &Value) -> Option<u64> {
    let array = value.json_type == JsonType::Array;
    array.then(|| elements(&value.text).map(|items| items.len() as u64))?
}

fn content_hash(content: &Content) -> Option<u64> {
    match content {
        Content::Absent | Content::Null => None,
        Content::Object { json, .. } => Some(digest(canonical(json, &mut Oddities::default()).as_bytes())),
        Content::Other(value) => Some(digest(value.text.as_bytes())),
    }
}

fn equals_defaults(compiled: &Compiled, members: &[(Text, Value)]) -> bool {
    let equals = |(name, value): &(Text, Value)| {
        let property = compiled.properties.iter().find(|property| property.name == *name);
        property.and_then(|property| property.default.as_deref()).is_some_and(|default| same(default, value))
    };
    !members.is_empty() && members.iter().all(equals)
}

/// Equal in JSON Schema's sense: 5 and 5.0 are one number.
fn same(default: &str, value: &Value) -> bool {
    let default = crate::protocol::json::value(default, &mut Oddities::default());
    if default.json_type != value.json_type {
        return false;
    }
    let numbers = default.json_type == JsonType::Number && number(&default).is_some();
    default.text == value.text || (numbers && number(&default) == number(value))
}

#[cfg(test)]
mod tests;
