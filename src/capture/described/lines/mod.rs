//! Logs that are text lines: regular expressions with named groups around a message.
//!
//! ```toml
//! [formats.gateway]
//! kind = "lines"
//! before = '(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) '     # what stands before the text of a line
//! time = "$at"
//!
//! [[formats.gateway.line]]
//! match = '^(?P<who>up|down): (?P<json>[\[{])'           # the message begins where the group `json` does
//! direction = { at = "$who", table = { up = "client", down = "server" } }
//! ```

mod engine;
mod format;
mod gather;

pub use format::DescribedLines;

use super::language::{Origin, Places, Source, Value};
use super::pattern::Pattern;
use super::records::{Description, MOST_POINTERS, MessageAt, texts, trees};
use super::text::{Item, Read, Table, fault};
use jiff::tz::TimeZone;

/// The group of a pattern that marks where a message begins.
const JSON: &str = "json";

/// What a description of text lines says.
#[derive(Debug, Default)]
pub struct LinesDescription {
    /// What it has in common with one of records.
    pub common: Description,
    /// What stands before the text that rules match.
    pub before: Option<Pattern>,
    /// A line with which a record begins, where records have several lines. The groups of all its lines are known to
    /// those behind them.
    pub begins: Option<Pattern>,
    pub rules: Vec<Rule>,
    /// A line that shows this format in a file without messages.
    pub signs: Option<Pattern>,
    /// Each message is written twice in a row behind different words, by two handlers of one log.
    pub doubled: bool,
}

/// What lines of one kind say.
#[derive(Debug)]
pub struct Rule {
    pub pattern: Pattern,
    /// How the message is written that begins at the group `json`; `None` where the pattern has no such group.
    pub written: Option<Written>,
    /// The messages of such a line; none where it holds none.
    pub messages: Vec<MessageAt>,
    /// The JSON is a message, and nothing of it stands elsewhere.
    pub whole: bool,
    /// The server of this line and those behind it.
    pub server: Option<Value>,
    /// What the report says about how many such lines there are.
    pub note: Option<Box<str>>,
    /// Where it stands in the description's file, and how its pattern is written.
    pub line: usize,
    pub shown: String,
}

/// How a message is written in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Json,
    /// JSON, or an event stream with it, as a string literal of Python (`b'…'` as well), Go or C.
    Quoted,
    /// A value as consoles print it: Node's `util.inspect`, the `repr` of Python, `inspect` of Ruby, `{:?}` of Rust.
    Dump,
}

/// Reads what stands in a description beside its name and what is said about it.
pub fn read(table: &Table<'_>, text: &str, origin: Origin) -> Read<LinesDescription> {
    let mut places = Places::new(text, Some(0), origin);
    let zone = table.get("zone").map(super::moment::zone).transpose()?;
    let before = table.get("before").map(|item| places.beginning(item)).transpose()?;
    let begins = table.get("begins").map(|item| places.pattern(item)).transpose()?;
    let known = places.groups.len();
    let signs = table.get("signs").map(|item| places.pattern(item)).transpose()?;
    // Whatever a line's pattern finds may be used for all lines: their groups have to be known first.
    let items = table.required("line")?;
    for item in items.list() {
        let item = item.table()?.required("match")?;
        places.pattern(item)?;
    }
    let facts = places.facts(table, zone.as_ref())?;
    let truncated = places.conditions(table.get("truncated"), "truncated")?;
    let redacted = places.conditions(table.get("redacted"), "redacted")?;
    let placeholders = texts(table.get("placeholders"))?;
    let plain = truncated.is_empty() && redacted.is_empty() && placeholders.is_empty();
    if begins.is_none() {
        places.groups.truncate(known);
    }
    let mut rules = Vec::new();
    for item in items.list() {
        let groups = places.groups.len();
        rules.push(places.rule(item, zone.as_ref(), plain)?);
        if begins.is_none() {
            places.groups.truncate(groups);
        }
    }
    if rules.iter().all(|rule| rule.messages.is_empty() && rule.note.is_none()) {
        return items.fault(
            "no line holds a message: a pattern has a group `json` where one begins, or its [[line]] has a `method`",
        );
    }
    if places.pointers.len() > MOST_POINTERS {
        return fault(format!("more than {MOST_POINTERS} places"), table.span());
    }
    let common = Description {
        facts,
        truncated,
        redacted,
        placeholders,
        cut_marks: texts(table.get("cut_marks"))?,
        trees: trees(&places.pointers, 0),
        pointers: places.pointers,
        ..Description::default()
    };
    let flag = |name| table.get(name).map(Item::flag).transpose().map(Option::unwrap_or_default);
    let doubled = flag("doubled")?;
    Ok(LinesDescription { common, before, begins, rules, signs, doubled })
}

impl Places<'_> {
    /// `plain` where nothing is hidden or cut in messages.
    fn rule(&mut self, item: Item<'_>, zone: Option<&TimeZone>, plain: bool) -> Read<Rule> {
        let table = item.table()?;
        let shown = table.required("match")?;
        let pattern = self.pattern(shown)?;
        let has = |group: &str| pattern.names().any(|name| name == group);
        let written = match table.get("as") {
            Some(item) if !has(JSON) => {
                return item.fault("`match` has no group (?P<json>…) that marks where the message begins");
            }
            Some(item) => Some(match item.text()? {
                "json" => Written::Json,
                "quoted" => Written::Quoted,
                "dump" => Written::Dump,
                other => {
                    return item.fault(format!(
                        "`{other}` is no way to write a message; the ways are json, quoted (a string literal) and dump \
                         (as a console prints values)"
                    ));
                }
            }),
            None => has(JSON).then_some(Written::Json),
        };
        let line = self.line(shown.span().start);
        let own = self.message_of(&table, zone)?;
        let mut messages = Vec::new();
        let mut whole = false;
        if let Some(items) = table.get("message") {
            for item in items.list() {
                messages.push(self.message(item, zone)?);
            }
            if !own.is_nothing() {
                return items.fault("either the line is a message, or it has a list of them");
            }
        } else if !own.is_nothing() {
            messages.push(own);
        } else if written.is_some() {
            let known = self.pointers.iter().position(|pointer| pointer.steps.is_empty() && pointer.what == "body");
            let body = Source::Pointer(known.unwrap_or_else(|| self.pointer(Vec::new(), "", "body", line)));
            whole = own.once.is_empty() && own.when.is_empty() && !own.bare && plain;
            messages.push(MessageAt { body: vec![body], ..own });
        }
        let server = match table.get("sets") {
            Some(item) => {
                let sets = item.table()?;
                let server = self.optional_value(&sets, "server")?;
                sets.finish()?;
                server
            }
            None => None,
        };
        let note = table.text("note")?.map(Into::into);
        table.finish()?;
        Ok(Rule { pattern, written, messages, whole, server, note, line, shown: shown.text()?.to_owned() })
    }
}

impl LinesDescription {
    /// Whether what a line means depends on messages of those before it, so that they have to be read one after the
    /// other.
    pub fn needs_memory(&self) -> bool {
        let messages = self.rules.iter().flat_map(|rule| &rule.messages);
        messages.into_iter().any(|message| !message.pairs.is_empty() || !message.once.is_empty())
    }
}
