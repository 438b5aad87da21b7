//! Statistics of the values of one elicited field, over everything that arrived.

use super::super::stats::decimal::Decimal;
use super::super::stats::quantiles::{mean, quantile, sd};
use super::super::tables::{Field, Shown, TextNumbers};
use crate::protocol::message::Text;
use crate::schema::{ElicitationRow, FieldRow, ValueType};
use ahash::AHashSet;
use std::collections::BTreeMap;

/// Numbers kept for a chart.
const POINTS: usize = 20_000;

/// What the statistics of a field are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Number,
    Length,
    Date,
    DateTime,
    Items,
    Counts,
}

impl Measure {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Length => "length",
            Self::Date => "date",
            Self::DateTime => "date-time",
            Self::Items => "items",
            Self::Counts => "counts",
        }
    }

    /// By the declared type; of an undeclared key by what most clients sent.
    pub fn of(kind: Option<&str>, sent: &[(&ElicitationRow, &FieldRow)]) -> Self {
        match kind {
            Some("number" | "integer") => Self::Number,
            Some("boolean" | "enum") => Self::Counts,
            Some("array") => Self::Items,
            Some("date") => Self::Date,
            Some("date-time") => Self::DateTime,
            Some(_) => Self::Length,
            None => {
                let mut types: BTreeMap<ValueType, u64> = BTreeMap::new();
                for json_type in sent.iter().filter_map(|(_, field)| field.json_type) {
                    *types.entry(json_type).or_default() += 1;
                }
                let most = types.into_iter().max_by_key(|(json_type, n)| (*n, std::cmp::Reverse(*json_type)));
                match most.map(|(json_type, _)| json_type) {
                    Some(ValueType::Number) => Self::Number,
                    Some(ValueType::Boolean) => Self::Counts,
                    Some(ValueType::Array) => Self::Items,
                    _ => Self::Length,
                }
            }
        }
    }
}

/// A value as a table shows it. `closed`: it belongs to a closed domain (a number, a boolean, an enumeration).
pub fn shown(field: &FieldRow, closed: bool) -> Shown {
    Shown {
        text: field.value.clone().unwrap_or_default(),
        chars: field.value_chars.unwrap_or_default(),
        hash: field.value_hash.unwrap_or_default(),
        closed,
    }
}

/// The frames keep 4 KiB of a value; a number cut there is another number.
fn whole(field: &FieldRow) -> Option<&Text> {
    let value = field.value.as_ref()?;
    let cut = value.len() >= 4000 && field.value_chars.is_some_and(|chars| chars > value.chars().count() as u64);
    (!cut).then_some(value)
}

/// The least and the greatest, the earliest of equals.
struct Extremes<'a, K> {
    min: Option<(K, &'a ElicitationRow, &'a FieldRow)>,
    max: Option<(K, &'a ElicitationRow, &'a FieldRow)>,
}

impl<'a, K: Ord + Clone> Extremes<'a, K> {
    fn new() -> Self {
        Self { min: None, max: None }
    }

    fn see(&mut self, key: &K, row: &'a ElicitationRow, field: &'a FieldRow) {
        if self.min.as_ref().is_none_or(|(min, ..)| key < min) {
            self.min = Some((key.clone(), row, field));
        }
        if self.max.as_ref().is_none_or(|(max, ..)| key > max) {
            self.max = Some((key.clone(), row, field));
        }
    }
}

/// The field rows that hold the least and the greatest value.
#[derive(Default)]
pub struct Holders<'a> {
    pub min: Option<(&'a ElicitationRow, &'a FieldRow)>,
    pub max: Option<(&'a ElicitationRow, &'a FieldRow)>,
}

/// Fills the statistics of `row` from what arrived, in reading order.
pub fn measure<'a>(row: &mut Field, measure: Measure, sent: &[(&'a ElicitationRow, &'a FieldRow)]) -> Holders<'a> {
    row.measure = measure.as_str();
    match measure {
        Measure::Number => {
            row.text_numbers = text_numbers(sent);
            let numbers = sent.iter().filter(|(_, field)| field.json_type == Some(ValueType::Number));
            let keyed = numbers.filter_map(|&(at, field)| Some((Decimal::parse(whole(field)?)?, at, field)));
            let holders = keyed_statistics(row, keyed, |_, field| field.value.clone());
            let values = sent
                .iter()
                .filter(|(_, field)| field.json_type == Some(ValueType::Number))
                .filter_map(|(_, field)| field.value_number.filter(|number| number.is_finite()));
            spread(row, values.collect());
            holders
        }
        Measure::Length => {
            let texts = sent.iter().filter(|(_, field)| field.json_type == Some(ValueType::String));
            let keyed = texts.filter_map(|&(at, field)| Some((field.value_chars?, at, field)));
            counted(row, keyed.collect())
        }
        Measure::Items => {
            let keyed = sent.iter().filter_map(|&(at, field)| Some((field.value_items?, at, field)));
            counted(row, keyed.collect())
        }
        Measure::Date => {
            let keyed = sent.iter().filter_map(|&(at, field)| Some((date(whole(field)?)?, at, field)));
            keyed_statistics(row, keyed, |_, field| field.value.clone())
        }
        Measure::DateTime => {
            let keyed = sent.iter().filter_map(|&(at, field)| Some((instant(whole(field)?)?, at, field)));
            keyed_statistics(row, keyed, |_, field| field.value.clone())
        }
        Measure::Counts => {
            for (_, field) in sent.iter().filter(|(_, field)| field.value.is_some()) {
                *row.counts.entry(shown(field, true)).or_default() += 1;
            }
            row.n = row.counts.values().sum();
            row.distinct = row.counts.len() as u64;
            Holders::default()
        }
    }
}

fn keyed_statistics<'a, K: Ord + Clone + std::hash::Hash>(
    row: &mut Field,
    keyed: impl Iterator<Item = (K, &'a ElicitationRow, &'a FieldRow)>,
    text: impl Fn(&K, &FieldRow) -> Option<Text>,
) -> Holders<'a> {
    let mut extremes = Extremes::new();
    let mut distinct = AHashSet::new();
    for (key, at, field) in keyed {
        row.n += 1;
        extremes.see(&key, at, field);
        distinct.insert(key);
    }
    row.distinct = distinct.len() as u64;
    row.min = extremes.min.as_ref().and_then(|(key, _, field)| text(key, field));
    row.max = extremes.max.as_ref().and_then(|(key, _, field)| text(key, field));
    Holders { min: extremes.min.map(|(_, at, field)| (at, field)), max: extremes.max.map(|(_, at, field)| (at, field)) }
}

/// Statistics of lengths and counts.
fn counted<'a>(row: &mut Field, keyed: Vec<(u64, &'a ElicitationRow, &'a FieldRow)>) -> Holders<'a> {
    spread(row, keyed.iter().map(|(count, ..)| *count as f64).collect());
    keyed_statistics(row, keyed.into_iter(), |count, _| Some(count.to_string().into()))
}

fn text_numbers(sent: &[(&ElicitationRow, &FieldRow)]) -> TextNumbers {
    let mut extremes = Extremes::new();
    let mut n = 0;
    for &(at, field) in sent.iter().filter(|(_, field)| field.json_type == Some(ValueType::String)) {
        if let Some(number) = whole(field).and_then(|text| Decimal::parse(text)) {
            n += 1;
            extremes.see(&number, at, field);
        }
    }
    let text = |found: Option<(Decimal, _, &FieldRow)>| found.and_then(|(_, _, field)| field.value.clone());
    TextNumbers { n, min: text(extremes.min), max: text(extremes.max) }
}

/// Mean, deviation, quantiles and the points of the chart, from values in arrival order.
fn spread(row: &mut Field, mut values: Vec<f64>) {
    row.points = thinned(&values);
    row.mean = mean(&values);
    row.sd = sd(&values);
    values.sort_unstable_by(f64::total_cmp);
    row.p1 = quantile(&values, 0.01);
    row.p5 = quantile(&values, 0.05);
    row.median = quantile(&values, 0.5);
    row.p95 = quantile(&values, 0.95);
    row.p99 = quantile(&values, 0.99);
}

fn thinned(values: &[f64]) -> Vec<f64> {
    if values.len() <= POINTS {
        return values.to_vec();
    }
    (0..POINTS).map(|index| values[index * values.len() / POINTS]).collect()
}

/// A full date of RFC 3339.
fn date(text: &str) -> Option<jiff::civil::Date> {
    (text.len() == 10).then(|| text.parse().ok())?
}

/// A date-time of RFC 3339, as an instant.
fn instant(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_thinned_evenly() {
        let values: Vec<f64> = (0..50_000).map(f64::from).collect();
        let points = thinned(&values);
        assert_eq!((points.len(), points[0], points[1], points[19_999]), (20_000, 0.0, 2.0, 49_997.0));
        assert_eq!(thinned(&values[..3]), [0.0, 1.0, 2.0]);
    }

    #[test]
    fn dates_are_dates() {
        assert!(date("2026-02-28") < date("2026-03-01"));
        for text in ["2026-02-30", "28.02.2026", "2026-2-3", "", "tomorrow!!"] {
            assert_eq!(date(text), None, "{text}");
        }
        assert_eq!(instant("2026-03-01T12:00:00+02:00"), instant("2026-03-01T10:00:00Z"));
    }
}
