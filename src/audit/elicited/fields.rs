//! One row per field of a column, with its reasons, bounds, statistics and the origin of values outside an enumeration.

use super::super::tables::{Field, ReasonByClient, TextNumbers};
use super::asked::{self, Bounds};
use super::values::{self, Holders, Measure};
use super::{Column, Rows, evidence_of, is_form_accept};
use crate::audit::stats::decimal::Decimal;
use crate::protocol::message::Text;
use crate::schema::{ElicitationRow, FieldRow, FieldVerdict, Reason, ValueType, Verdict};
use ahash::{AHashMap, AHashSet};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Values from which on a share at the ends is more than one value.
const ENOUGH_FOR_PERCENTILES: u64 = 101;

pub const EARLIER_ENUM: &str = "earlier enum of this session";
pub const OTHER_SESSION: &str = "another session's enum";
pub const SPELLING: &str = "spelling variant";
pub const NEVER_OFFERED: &str = "never offered";

/// A field row with the question it answers.
pub type Answer<'a> = (&'a ElicitationRow, &'a FieldRow);

/// A field's table row with what its findings need besides.
pub struct Summary<'a> {
    pub row: Field,
    /// Answers whose value is unusable or that lack the field although it is required.
    pub faulty: Vec<Answer<'a>>,
    pub not_in_enum: Vec<Answer<'a>>,
    pub holders: Holders<'a>,
    /// Of the wrong types: numbers sent as text.
    pub numbers_as_text: u64,
}

#[derive(Default)]
struct Gathered<'a> {
    answers: Vec<Answer<'a>>,
    no_content: u64,
    /// Unchecked answers that have no row for the field.
    unchecked: u64,
    bounds: BTreeMap<Bounds, u64>,
}

/// The fields that accepted answers of the column had or should have had, by name.
pub fn summaries<'a>(column: &Column<'a>, rows: &Rows<'a>) -> Vec<Summary<'a>> {
    let mut gathered: BTreeMap<Text, Gathered> = BTreeMap::new();
    let mut asked: BTreeMap<u64, u64> = BTreeMap::new();
    // Bounds as the check read them (references followed) count before those of the plain schema text.
    let mut bounds: AHashMap<(u64, &Text), Bounds> = AHashMap::new();
    let mut read: AHashSet<u64> = AHashSet::new();
    for question in &column.questions {
        if question.schema.is_some() {
            *asked.entry(question.schema_hash).or_default() += 1;
        }
        if !is_form_accept(question) {
            continue;
        }
        let fields = rows.of(question);
        let first_of_schema = question.schema.is_some() && !fields.is_empty() && read.insert(question.schema_hash);
        for field in fields {
            match gathered.get_mut(&field.field) {
                Some(known) => known.answers.push((question, field)),
                None => gathered.entry(field.field.clone()).or_default().answers.push((question, field)),
            }
            if first_of_schema && field.declared {
                bounds.insert((question.schema_hash, &field.field), bounds_of(field));
            }
        }
        let no_content = matches!(question.first_reason, Some(Reason::ContentMissing | Reason::ContentNotAnObject));
        let unchecked = matches!(question.verdict, Verdict::Unchecked | Verdict::None);
        if no_content || unchecked {
            for name in rows.asked(question).into_iter().flat_map(|asked| asked.keys()) {
                if fields.iter().any(|field| field.field == *name) {
                    continue;
                }
                let field = gathered.entry(name.clone()).or_default();
                *(if no_content { &mut field.no_content } else { &mut field.unchecked }) += 1;
            }
        }
    }
    for (schema, times) in asked {
        for (name, declared) in rows.schemas.get(&schema).into_iter().flatten() {
            if let Some(field) = gathered.get_mut(name) {
                let bounds = bounds.get(&(schema, name)).unwrap_or(&declared.bounds);
                *field.bounds.entry(bounds.clone()).or_default() += times;
            }
        }
    }
    let gathered: Vec<(Text, Gathered)> = gathered.into_iter().collect();
    gathered.into_par_iter().map(|(name, gathered)| summary(name, gathered)).collect()
}

fn bounds_of(field: &FieldRow) -> Bounds {
    let text = |count: Option<u64>| count.map(|count| Text::from(count.to_string()));
    match field.declared_type.as_deref() {
        Some("string") => (text(field.min_length), text(field.max_length)),
        Some("array") => (text(field.min_items), text(field.max_items)),
        _ => (field.minimum.clone(), field.maximum.clone()),
    }
}

/// All bounds of a field, to see quickly that two are asked alike.
fn limits(field: &FieldRow) -> (&Option<Text>, &Option<Text>, [Option<u64>; 4]) {
    (&field.minimum, &field.maximum, [field.min_length, field.max_length, field.min_items, field.max_items])
}

/// Declared type, or the format of a date; of what most answers were asked with.
fn kind(answers: &[Answer]) -> Option<Text> {
    let mut kinds: BTreeMap<&Text, u64> = BTreeMap::new();
    for (_, field) in answers.iter().filter(|(_, field)| field.declared) {
        let dated = field.format.as_ref().filter(|format| matches!(&***format, "date" | "date-time"));
        let kind = if field.declared_type.as_deref() == Some("string") { dated } else { None };
        if let Some(kind) = kind.or(field.declared_type.as_ref()) {
            *kinds.entry(kind).or_default() += 1;
        }
    }
    kinds.into_iter().max_by_key(|(kind, n)| (*n, std::cmp::Reverse(*kind))).map(|(kind, _)| kind.clone())
}

fn summary<'a>(name: Text, gathered: Gathered<'a>) -> Summary<'a> {
    let answers = gathered.answers;
    let of = |verdict: FieldVerdict| answers.iter().filter(|(_, field)| field.verdict == verdict).count() as u64;
    let kind = kind(&answers);
    let sent: Vec<Answer> = answers.iter().copied().filter(|(_, field)| field.json_type.is_some()).collect();
    let measure = Measure::of(kind.as_deref(), &sent);
    let faulty: Vec<Answer> = answers
        .iter()
        .copied()
        .filter(|(_, field)| matches!(field.verdict, FieldVerdict::Unusable | FieldVerdict::MissingRequired))
        .collect();
    let mut reasons: BTreeMap<Reason, u64> = BTreeMap::new();
    let mut by_client: BTreeMap<(Text, Option<Text>, Reason), u64> = BTreeMap::new();
    for (at, field) in &faulty {
        let client = at.client.clone().unwrap_or_else(|| super::super::context::UNKNOWN_CLIENT.into());
        // A list where one of three words belongs breaks two keywords: both are counted.
        for &reason in &field.reasons {
            *reasons.entry(reason).or_default() += 1;
            *by_client.entry((client.clone(), at.client_version.clone(), reason)).or_default() += 1;
        }
    }
    let no_content = of(FieldVerdict::NoContent) + gathered.no_content;
    let unchecked = of(FieldVerdict::Unchecked) + gathered.unchecked;
    let shows = faulty.iter().filter(|(_, field)| field.reasons.first().is_some_and(|reason| shows(*reason))).count();
    let not_in_enum: Vec<Answer> =
        faulty.iter().copied().filter(|(_, field)| field.reasons.contains(&Reason::NotInEnum)).collect();
    let mut row = Field {
        field: name,
        declared: answers.iter().any(|(_, field)| field.declared) || answers.is_empty(),
        kind,
        accepted: answers.len() as u64 + gathered.no_content + gathered.unchecked,
        usable: of(FieldVerdict::Usable),
        unusable: of(FieldVerdict::Unusable),
        missing_required: of(FieldVerdict::MissingRequired),
        absent_optional: of(FieldVerdict::AbsentOptional),
        no_content,
        unchecked,
        reasons,
        reasons_by_client: by_client
            .into_iter()
            .map(|((client, version, reason), count)| ReasonByClient { client, version, reason, count })
            .collect(),
        declared_bounds: asked::declared_bounds(gathered.bounds),
        measure: measure.as_str(),
        n: 0,
        distinct: 0,
        min: None,
        max: None,
        mean: None,
        sd: None,
        p1: None,
        p5: None,
        median: None,
        p95: None,
        p99: None,
        text_numbers: TextNumbers::default(),
        counts: BTreeMap::new(),
        min_at: None,
        max_at: None,
        only_extremes: false,
        shows_at_extremes: shows as u64,
        cannot_show: (faulty.len() - shows) as u64,
        enum_varies: !answers.windows(2).all(|pair| pair[0].1.enumeration == pair[1].1.enumeration)
            && varies(&answers, |field| {
                let mut permitted: Vec<&Text> = field.enumeration.iter().collect();
                permitted.sort();
                (!permitted.is_empty()).then_some(permitted)
            }),
        bounds_vary: !answers.windows(2).all(|pair| limits(pair[0].1) == limits(pair[1].1))
            && varies(&answers, |field| {
                let bounds = bounds_of(field);
                (bounds != (None, None)).then_some(bounds)
            }),
        enum_origins: origins(&answers, &not_in_enum),
        points: Vec::new(),
        echoed: sent.iter().filter(|(_, field)| field.echoed).count() as u64,
        long_unlimited: sent.iter().filter(|(_, field)| is_long_unlimited(field)).count() as u64,
    };
    let holders = values::measure(&mut row, measure, &sent);
    row.min_at = holders.min.map(|(at, _)| evidence_of(at));
    row.max_at = holders.max.map(|(at, _)| evidence_of(at));
    row.only_extremes = only_extremes(&row, &holders);
    let numbers_as_text = faulty.iter().filter(|(_, field)| is_number_as_text(field)).count() as u64;
    Summary { row, faulty, not_in_enum, holders, numbers_as_text }
}

fn is_number_as_text(field: &FieldRow) -> bool {
    field.json_type == Some(ValueType::String)
        && matches!(field.declared_type.as_deref(), Some("number" | "integer"))
        && field.value.as_deref().and_then(Decimal::parse).is_some()
}

/// Free text over 200 characters in a field without `maxLength`.
fn is_long_unlimited(field: &FieldRow) -> bool {
    field.json_type == Some(ValueType::String)
        && field.max_length.is_none()
        && field.enumeration.is_empty()
        && field.value_chars.is_some_and(|chars| chars > 200)
}

/// A fault that the least or the greatest value of the column gives away.
fn shows(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::BelowMinimum
            | Reason::AboveMaximum
            | Reason::TooShort
            | Reason::TooLong
            | Reason::TooFewItems
            | Reason::TooManyItems
    )
}

/// Only the extremes betray a fault: p1 to p99 lie inside the bounds that were asked most, a value that is the least or
/// the greatest does not.
fn only_extremes(row: &Field, holders: &Holders) -> bool {
    let Some(bounds) = row.declared_bounds.first() else { return false };
    let (Some(p1), Some(p99)) = (row.p1, row.p99) else { return false };
    let number = |text: &Option<Text>| text.as_deref().and_then(|text| text.parse::<f64>().ok());
    let inside = number(&bounds.minimum).is_none_or(|minimum| p1 >= minimum)
        && number(&bounds.maximum).is_none_or(|maximum| p99 <= maximum);
    let outside =
        |holder: Option<Answer>| holder.is_some_and(|(_, field)| field.reasons.iter().any(|reason| shows(*reason)));
    row.n >= ENOUGH_FOR_PERCENTILES && inside && (outside(holders.min) || outside(holders.max))
}

/// Whether what was asked differs between sessions at one time: sessions differ, and something asked before comes back
/// after something else. A change that happened once is history, not an entitlement.
fn varies<'a, K: Eq + std::hash::Hash>(answers: &[Answer<'a>], asked: impl Fn(&'a FieldRow) -> Option<K>) -> bool {
    let mut numbers: AHashMap<K, usize> = AHashMap::new();
    let mut sessions: AHashMap<usize, AHashSet<&Text>> = AHashMap::new();
    let mut last = None;
    let mut comes_back = false;
    for (at, field) in answers {
        let Some(asked) = asked(field) else { continue };
        let next = numbers.len();
        let number = *numbers.entry(asked).or_insert(next);
        comes_back |= last.is_some_and(|last| last != number) && number != next;
        sessions.entry(number).or_default().insert(&at.session);
        last = Some(number);
    }
    let all: AHashSet<&Text> = sessions.values().flatten().copied().collect();
    // Something is asked of some sessions only.
    comes_back && sessions.values().any(|some| some.len() < all.len())
}

/// Where values outside their enumeration are known from.
fn origins(answers: &[Answer], not_in_enum: &[Answer]) -> BTreeMap<&'static str, u64> {
    let mut origins = BTreeMap::new();
    if not_in_enum.is_empty() {
        return origins;
    }
    // Value → session → reading order of the first question that offered it.
    let mut offered: AHashMap<&Text, AHashMap<&Text, u64>> = AHashMap::new();
    let mut seen: AHashSet<(&Text, &[Text])> = AHashSet::new();
    for (at, field) in answers {
        if seen.insert((&at.session, &field.enumeration)) {
            for value in &field.enumeration {
                offered.entry(value).or_default().entry(&at.session).or_insert(at.seq);
            }
        }
    }
    for (at, field) in not_in_enum {
        let value = offending(field);
        let sessions = value.as_ref().and_then(|value| offered.get(value));
        let earlier = |sessions: &AHashMap<&Text, u64>| sessions.get(&at.session).is_some_and(|seq| *seq < at.seq);
        let elsewhere = |sessions: &AHashMap<&Text, u64>| sessions.keys().any(|session| **session != at.session);
        let origin = if sessions.is_some_and(earlier) {
            EARLIER_ENUM
        } else if sessions.is_some_and(elsewhere) {
            OTHER_SESSION
        } else if value.is_some_and(|value| field.enumeration.iter().any(|known| is_variant(&value, known))) {
            SPELLING
        } else {
            NEVER_OFFERED
        };
        *origins.entry(origin).or_default() += 1;
    }
    origins
}

/// The value that was not permitted; of a list, its first such item.
fn offending(field: &FieldRow) -> Option<Text> {
    let value = field.value.as_ref()?;
    if field.json_type != Some(ValueType::Array) {
        return Some(value.clone());
    }
    let items: Vec<serde_json::Value> = serde_json::from_str(value).ok()?;
    items
        .into_iter()
        .map(|item| match item {
            serde_json::Value::String(text) => Text::from(text),
            other => Text::from(other.to_string()),
        })
        .find(|item| !field.enumeration.contains(item))
}

/// Equal but for case, spaces and punctuation, or one edit away (optimal string alignment, four letters and more).
fn is_variant(value: &str, permitted: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).take(400).collect()
    };
    let (value, permitted) = (letters(value), letters(permitted));
    if value.is_empty() || permitted.is_empty() {
        return false;
    }
    value == permitted || (permitted.chars().count() >= 4 && strsim::osa_distance(&value, &permitted) == 1)
}
