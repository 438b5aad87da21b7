//! `report.json`, schema `mcptally.report/1`.

mod build;
pub mod described;
mod document;
#[cfg(test)]
mod tests;

use super::model::{RenderOptions, Report};
use super::printable::is_invisible;
use described::Described as _;
use serde::Serialize as _;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Name and major version of the schema. Members are added within a major version, never renamed or removed.
pub const SCHEMA: &str = "mcptally.report/1";

/// The checked-in JSON Schema of `report.json`.
pub const SCHEMA_TEXT: &str = include_str!("../assets/report.schema.json");

/// Writes the whole report. Equal tables and an equal hash key give equal bytes except under `run`.
pub fn render_json(report: &Report, options: &RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let document = build::document(report, options);
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Visible(PrettyFormatter::new()));
    document.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// Writes one JSON value on one line, invisible characters escaped.
pub(super) fn write_line(value: &impl serde::Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Visible(serde_json::ser::CompactFormatter));
    value.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// The JSON Schema, made from the definitions of the members.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let root = document::Document::schema(&mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "Report of mcptally audit",
        "$ref": root["$ref"],
        "$defs": definitions,
    })
}

/// Escapes inside strings what a reader of the file could not see, and `<`, so that the text may stand in a page.
struct Visible<F>(F);

macro_rules! delegate {
    ($($name:ident($($argument:ident : $ty:ty),*)),+ $(,)?) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $ty)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        })+
    };
}

impl<F: Formatter> Formatter for Visible<F> {
    delegate!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
        write_char_escape(escape: CharEscape),
    );

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| *c == '<' || is_invisible(*c)) {
            writer.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[plain..])
    }
}
