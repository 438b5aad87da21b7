//! Tables as every renderer sees them: named columns, and cells that know what they hold.

use super::printable::{NOTHING, Page, Printable};
use super::time::{readable, rfc3339};
use crate::audit::tables::{Evidence, Rate, Shown};
use crate::audit::wording;
use crate::finding::Part;
use crate::protocol::message::{Text, Ts};
use crate::schema::ValueType;

/// What one cell holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Not known, or not applicable.
    Nothing,
    Count(u64),
    Number(f64),
    /// A proportion, 0 to 1.
    Share(f64),
    Flag(bool),
    Time(Ts),
    /// Words of ours.
    Words(&'static str),
    /// Text of ours that may hold names or paths from outside.
    Prose(String),
    Name(Text),
    /// A name that was not sent.
    NoName,
    Names(Vec<Text>),
    /// A session: a name whose beginning is enough in a narrow table.
    Session(Text),
    /// The exact text of a number, a date or a length.
    Figure(Text),
    Value(Shown, ValueType),
    /// An internal hash, printed only after keying.
    Hash(u64),
    /// A finding's sentence.
    Sentence(Vec<Part>),
}

/// A table: all rows, in the order of the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// File name without extension.
    pub name: &'static str,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<Cell>>,
}

impl Grid {
    pub fn new(name: &'static str, columns: &[&'static str]) -> Self {
        Self { name, columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. Rows are as wide as the table; a test holds every table to it.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "table {}", self.name);
        self.rows.push(row);
    }
}

impl Cell {
    /// As people read it: digits grouped, shares as percent.
    pub fn for_people(&self, page: &Page<'_>) -> Printable {
        match self {
            Self::Count(count) => page.prose(&wording::count(*count)),
            Self::Share(share) => page.prose(&format!("{} %", wording::percent(*share))),
            Self::Number(number) => page.prose(&significant(*number)),
            Self::Time(ts) => readable(*ts).map_or_else(|| Printable::mark(NOTHING), |time| page.prose(&time)),
            Self::Nothing => Printable::mark(NOTHING),
            Self::Flag(flag) => Printable::mark(if *flag { "yes" } else { "no" }),
            _ => self.text(page),
        }
    }

    /// As a program reads it: plain digits, shares from 0 to 1, nothing for what is not known.
    pub fn for_csv(&self, page: &Page<'_>) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) | Self::Share(number) if number.is_finite() => number.to_string(),
            Self::Number(_) | Self::Share(_) => String::new(),
            Self::Flag(flag) => flag.to_string(),
            Self::Time(ts) => rfc3339(*ts).unwrap_or_default(),
            // The type has a column of its own.
            Self::Value(shown, json_type) if *json_type != ValueType::Null => page.value(shown).csv(),
            // A number is no formula.
            Self::Figure(text) if is_plain_number(text) => text.to_string(),
            _ => self.text(page).csv(),
        }
    }

    /// Numbers stand right-aligned.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Count(_) | Self::Number(_) | Self::Share(_) | Self::Figure(_))
    }

    fn text(&self, page: &Page<'_>) -> Printable {
        match self {
            Self::Words(words) => Printable::mark(words),
            Self::Prose(text) => page.prose(text),
            Self::Name(name) | Self::Session(name) | Self::Figure(name) => page.name(name),
            Self::NoName => page.optional_name(None),
            Self::Names(names) => {
                page.prose(&names.iter().map(|name| page.name(name).whole().to_owned()).collect::<Vec<_>>().join(", "))
            }
            Self::Value(shown, json_type) => page.typed_value(shown, *json_type),
            Self::Hash(hash) => page.keyed(*hash),
            Self::Sentence(parts) => page.sentence(parts),
            Self::Nothing | Self::Count(_) | Self::Number(_) | Self::Share(_) | Self::Flag(_) | Self::Time(_) => {
                Printable::mark("")
            }
        }
    }
}

/// Digits with an optional minus sign, point and exponent: a JSON number.
fn is_plain_number(text: &str) -> bool {
    text.len() <= 64 && text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) && text.parse::<f64>().is_ok()
}

/// The exact text of a number.
pub fn figure(text: Option<&Text>) -> Cell {
    text.map_or(Cell::Nothing, |text| Cell::Figure(text.clone()))
}

/// Up to four significant digits, two and an exponent where that is no longer readable.
pub fn significant(number: f64) -> String {
    if !number.is_finite() {
        return NOTHING.to_owned();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) {
        return format!("{number:.1e}");
    }
    let decimals = match size {
        s if s >= 1000.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 1.0 || s == 0.0 => 3,
        _ => 4,
    };
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Ts> for Cell {
    fn from(ts: Ts) -> Self {
        Self::Time(ts)
    }
}

impl From<&'static str> for Cell {
    fn from(words: &'static str) -> Self {
        Self::Words(words)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Prose(text)
    }
}

impl From<&Text> for Cell {
    fn from(name: &Text) -> Self {
        Self::Name(name.clone())
    }
}

impl From<&Vec<Text>> for Cell {
    fn from(names: &Vec<Text>) -> Self {
        if names.is_empty() { Self::Nothing } else { Self::Names(names.clone()) }
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Nothing, Into::into)
    }
}

/// A prompt's name, which may be missing.
pub fn prompt(name: &Option<Text>) -> Cell {
    name.as_ref().map_or(Cell::NoName, Cell::from)
}

pub fn share(part: u64, whole: u64) -> Cell {
    if whole == 0 { Cell::Nothing } else { Cell::Share(part as f64 / whole as f64) }
}

pub fn share_of(share: Option<f64>) -> Cell {
    share.map_or(Cell::Nothing, Cell::Share)
}

/// Rate and its interval, three cells.
pub fn rate(rate: Option<Rate>) -> [Cell; 3] {
    rate.map_or([Cell::Nothing, Cell::Nothing, Cell::Nothing], |rate| {
        [Cell::Share(rate.rate), Cell::Share(rate.low), Cell::Share(rate.high)]
    })
}

/// File, position, time and session, four cells.
pub fn evidence(evidence: Option<&Evidence>) -> [Cell; 4] {
    evidence.map_or([Cell::Nothing, Cell::Nothing, Cell::Nothing, Cell::Nothing], |at| {
        [(&at.file).into(), at.position.into(), at.ts.into(), at.session.as_ref().into()]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        let pairs = [
            (0.0, "0"),
            (1842.0, "1842"),
            (0.851, "0.851"),
            (0.004321, "0.0043"),
            (3.51234, "3.512"),
            (12.5, "12.5"),
            (250.04, "250"),
            (-7.25, "-7.25"),
            (1e-7, "1.0e-7"),
            (5e12, "5.0e12"),
            (f64::NAN, "–"),
        ];
        for (number, text) in pairs {
            assert_eq!(significant(number), text);
        }
    }
}
