//! What descriptions of both kinds have in common: values, words for the sender, moments, conditions, and what is said
//! about a format.

use super::pattern::Pattern;
use super::pointer::{Step, steps};
use super::text::{Item, Read, Table, fault};
use crate::capture::formats::{About, Word, word};
use crate::capture::sink::Side;
use crate::protocol::json::{Oddities, string};
use crate::protocol::message::Direction;
use std::borrow::Cow;

/// A place where a value may stand.
#[derive(Debug)]
pub enum Source {
    /// `/…`, `./…`, `../…`: the number of a pointer.
    Pointer(usize),
    /// `$name`: a named group of a regular expression that matched.
    Group(Box<str>),
    /// The part of the file's path that a regular expression's only group matches.
    Path(Pattern),
}

/// A pointer of a description.
#[derive(Debug)]
pub struct Pointer {
    /// From how many steps down the way to an entry it begins; 0 is the record.
    pub level: usize,
    pub steps: Vec<Step>,
    /// As it was written, and what it is for.
    pub shown: String,
    pub what: &'static str,
    pub line: usize,
}

/// Whether a place that no record has is worth no remark.
pub fn is_optional(what: &str) -> bool {
    matches!(what, "match" | "noise" | "count" | "when" | "truncated" | "redacted" | "failed" | "once")
}

/// Who wrote a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    User,
}

/// Collects the pointers of a description while it is read.
pub struct Places<'t> {
    pub pointers: Vec<Pointer>,
    /// Steps from a record to its entries; `None` where there is no JSON to point into.
    pub depth: Option<usize>,
    /// The groups that regular expressions have; a `$name` must be one of them.
    pub groups: Vec<String>,
    /// Whether regular expressions are about characters ([`Pattern::new`]).
    unicode: bool,
    text: &'t str,
}

impl<'t> Places<'t> {
    pub fn new(text: &'t str, depth: Option<usize>, origin: Origin) -> Self {
        Self { pointers: Vec::new(), depth, groups: Vec::new(), unicode: origin == Origin::User, text }
    }

    /// Remembers the named groups of a regular expression.
    pub fn learn(&mut self, pattern: &Pattern) {
        self.groups.extend(pattern.names().map(str::to_owned));
    }

    pub fn pattern(&mut self, item: Item<'_>) -> Read<Pattern> {
        match Pattern::new(item.text()?, self.unicode) {
            Ok(pattern) => {
                self.learn(&pattern);
                Ok(pattern)
            }
            Err(said) => {
                let said = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
                item.fault(format!("no regular expression: {said}"))
            }
        }
    }

    /// As [`Self::pattern`], at the beginning of a text.
    pub fn beginning(&mut self, item: Item<'_>) -> Read<Pattern> {
        let pattern = self.pattern(item)?;
        let anchored = Pattern::new(&format!("^(?:{})", pattern.as_str()), self.unicode);
        anchored.or_else(|error| item.fault(format!("no regular expression: {error}")))
    }

    /// The line on which a place of the description stands.
    pub fn line(&self, at: usize) -> usize {
        1 + self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
    }

    fn source(&mut self, item: Item<'_>, what: &'static str) -> Read<Source> {
        let text = item.text()?;
        if let Some(group) = text.strip_prefix('$') {
            if !self.groups.iter().any(|known| known == group) {
                let known = if self.groups.is_empty() {
                    "no regular expression before it has named groups".to_owned()
                } else {
                    format!("known are {}", self.groups.join(", "))
                };
                return item.fault(format!("no group is called `{group}`: {known}"));
            }
            return Ok(Source::Group(group.into()));
        }
        let Some(depth) = self.depth else {
            return item
                .fault(format!("`{text}` names no group: write `$name`, or {{ is = \"text\" }} for a constant"));
        };
        let mut level = 0;
        let mut rest = text;
        if let Some(below) = text.strip_prefix('.').filter(|below| below.is_empty() || below.starts_with('/')) {
            (level, rest) = (depth, below);
        } else if text.starts_with("..") {
            level = depth;
            while let Some(above) = rest.strip_prefix("..") {
                level = match level.checked_sub(1) {
                    Some(level) => level,
                    None => {
                        return item.fault(format!("`{text}` leads above the record: entries are {depth} steps down"));
                    }
                };
                rest = match above.strip_prefix('/') {
                    Some(more) if more.starts_with("..") => more,
                    _ => above,
                };
            }
        } else if !text.is_empty() && !text.starts_with('/') {
            return item.fault(format!(
                "`{text}` is no place: write a JSON pointer (`/name`, from an entry `./name`), `$name` for a group, or \
                 {{ is = \"text\" }} for a constant"
            ));
        }
        let steps = steps(rest).or_else(|reason| item.fault(reason))?;
        // A place that is asked for again is looked up once, unless that it is missing would go unsaid.
        let known = self.pointers.iter().position(|known| {
            known.level == level && known.steps == steps && (known.what == what || is_optional(what))
        });
        if let Some(known) = known {
            return Ok(Source::Pointer(known));
        }
        let line = self.line(item.span().start);
        let slot = self.pointer(steps, text, what, line);
        if let Some(pointer) = self.pointers.get_mut(slot) {
            pointer.level = level;
        }
        Ok(Source::Pointer(slot))
    }

    /// Adds a pointer from the record.
    pub fn pointer(&mut self, steps: Vec<Step>, shown: &str, what: &'static str, line: usize) -> usize {
        self.pointers.push(Pointer { level: 0, steps, shown: shown.to_owned(), what, line });
        self.pointers.len() - 1
    }

    /// A place, or several in order of preference.
    pub fn sources(&mut self, item: Item<'_>, what: &'static str) -> Read<Vec<Source>> {
        let sources = item.list().into_iter().map(|item| self.source(item, what)).collect::<Read<Vec<_>>>()?;
        if sources.is_empty() {
            return item.fault("at least one place is wanted here");
        }
        Ok(sources)
    }

    /// `"/place"`, `["/first", "/else"]`, `{ is = "constant" }`, `{ path = 'regex' }` or
    /// `{ at = …, table = { "word" = "meaning" }, else = "meaning" }`.
    pub fn value(&mut self, item: Item<'_>, what: &'static str) -> Read<Value> {
        self.value_with(item, what, &[])
    }

    /// As [`Self::value`], in a table that may have more keys.
    fn value_with(&mut self, item: Item<'_>, what: &'static str, more: &[&'static str]) -> Read<Value> {
        if !item.is_table() {
            return Ok(Value { from: self.sources(item, what)?, ..Value::default() });
        }
        let table = item.table()?;
        for key in more {
            table.get(key);
        }
        let mut value = Value::default();
        if let Some(constant) = table.get("is") {
            value.otherwise = Some(constant.scalar()?.into());
        } else if let Some(path) = table.get("path") {
            let pattern = self.pattern(path)?;
            if pattern.groups() != 1 {
                return path.fault("exactly one group, in parentheses, says which part of the path is meant");
            }
            value.from.push(Source::Path(pattern));
        } else {
            value.from = self.sources(table.required("at")?, what)?;
            if let Some(words) = table.get("table") {
                let words = words.table()?.entries().map(|(word, _, item)| Ok((word.into(), item.scalar()?.into())));
                value.table = Some(words.collect::<Read<_>>()?);
            }
            value.otherwise = table.get("else").map(Item::scalar).transpose()?.map(Into::into);
        }
        table.finish()?;
        Ok(value)
    }

    pub fn optional_value(&mut self, table: &Table<'_>, name: &'static str) -> Read<Option<Value>> {
        table.get(name).map(|item| self.value(item, name)).transpose()
    }

    /// Who sent a message: a value whose words are `client`, `server`, `in`, `out` or `unknown`, or without a table the
    /// words that captures use for these.
    ///
    /// `inward = "client"` says who sends what is `in`, for files whose messages do not tell.
    pub fn sender(&mut self, item: Item<'_>) -> Read<Sender> {
        let inward = match item.is_table().then(|| item.table()).transpose()?.and_then(|table| table.get("inward")) {
            Some(who) => match who.text()? {
                "client" => Some(Direction::ClientToServer),
                "server" => Some(Direction::ServerToClient),
                other => return who.fault(format!("`{other}` is nobody: write client or server")),
            },
            None => None,
        };
        let value = self.value_with(item, "direction", &["inward"])?;
        let meaning = |word: &str| {
            Some(match word {
                "client" => Side::Said(Direction::ClientToServer),
                "server" => Side::Said(Direction::ServerToClient),
                "in" => Side::Inward(true),
                "out" => Side::Inward(false),
                "unknown" => Side::Unsaid,
                _ => return None,
            })
        };
        let meant = |word: &str| match meaning(word) {
            Some(side) => Ok(side),
            None => item.fault(format!(
                "`{word}` says nothing about the sender; the words are client and server (who sent it), in and out \
                 (seen from the recorder, settled by messages that only one side sends), unknown"
            )),
        };
        let words = value.table.as_ref().map(|table| {
            table.iter().map(|(word, meaning)| Ok((word.clone(), meant(meaning)?))).collect::<Read<Vec<_>>>()
        });
        let otherwise = value.otherwise.as_deref().map(meant).transpose()?;
        Ok(Sender { from: value.from, words: words.transpose()?, otherwise, inward })
    }

    /// A list of conditions, or one.
    pub fn conditions(&mut self, item: Option<Item<'_>>, what: &'static str) -> Read<Vec<Condition>> {
        let Some(item) = item else { return Ok(Vec::new()) };
        item.list().into_iter().map(|item| self.condition(item, what)).collect()
    }

    /// `{ at = …, is = "text" | […] }`, `{ …, type = "string" }`, `{ …, matches = 'regex' }`, `{ …, lacks = 'regex' }` or
    /// `{ …, there = true }`.
    fn condition(&mut self, item: Item<'_>, what: &'static str) -> Read<Condition> {
        let table = item.table()?;
        let from = self.sources(table.required("at")?, what)?;
        let tests = [table.get("is"), table.get("type"), table.get("matches"), table.get("there"), table.get("lacks")];
        let test = match tests {
            [Some(is), None, None, None, None] => {
                Test::Is(is.list().into_iter().map(|item| item.scalar().map(Into::into)).collect::<Read<_>>()?)
            }
            [None, Some(kind), None, None, None] => match kind.text()? {
                "string" => Test::Begins(b"\""),
                "number" => Test::Begins(b"-0123456789"),
                "boolean" => Test::Begins(b"tf"),
                "object" => Test::Begins(b"{"),
                "array" => Test::Begins(b"["),
                "null" => Test::Begins(b"n"),
                other => {
                    return kind.fault(format!(
                        "`{other}` is no type of JSON; the types are string, number, boolean, object, array, null"
                    ));
                }
            },
            [None, None, Some(pattern), None, None] => Test::Matches(self.pattern(pattern)?),
            [None, None, None, Some(there), None] => Test::There(there.flag()?),
            [None, None, None, None, Some(pattern)] => {
                let known = self.groups.len();
                let pattern = self.pattern(pattern)?;
                // What it does not match has no groups.
                self.groups.truncate(known);
                Test::Lacks(pattern)
            }
            _ => return fault("a condition has exactly one of is, type, matches, lacks, there", table.span()),
        };
        let note = table.text("note")?.map(Into::into);
        table.finish()?;
        Ok(Condition { from, test, note })
    }
}

/// What is said about a format in `[about]`, or what follows from its description.
pub fn about(item: Option<Item<'_>>, writer: &str) -> Read<About> {
    let mut about = About {
        what: "described in a file".into(),
        writer: writer.to_owned().into(),
        bodies: "as described".into(),
        values: "as described".into(),
        times: "as described".into(),
        direction: "as described".into(),
        session: "as described".into(),
    };
    let Some(item) = item else { return Ok(about) };
    let table = item.table()?;
    for (name, place) in [
        ("what", &mut about.what),
        ("writer", &mut about.writer),
        ("bodies", &mut about.bodies),
        ("values", &mut about.values),
        ("times", &mut about.times),
        ("direction", &mut about.direction),
        ("session", &mut about.session),
    ] {
        if let Some(text) = table.text(name)? {
            *place = text.to_owned().into();
        }
    }
    table.finish()?;
    Ok(about)
}

/// Where a value stands and what its words mean.
#[derive(Debug, Default)]
pub struct Value {
    pub from: Vec<Source>,
    pub table: Option<Vec<(Box<str>, Box<str>)>>,
    /// What it is where nothing is found, or no word of the table.
    pub otherwise: Option<Box<str>>,
}

#[derive(Debug)]
pub struct Sender {
    pub from: Vec<Source>,
    words: Option<Vec<(Box<str>, Side)>>,
    otherwise: Option<Side>,
    pub inward: Option<Direction>,
}

impl Sender {
    /// The words of its table, with what they mean.
    pub fn words(&self) -> Vec<(String, Side)> {
        self.words.iter().flatten().map(|(word, side)| (word.to_string(), *side)).collect()
    }

    /// What a word says, or its absence.
    pub fn side(&self, word_found: Option<&str>) -> Side {
        let said = word_found.and_then(|found| match &self.words {
            Some(words) => words.iter().find(|(word, _)| **word == *found).map(|(_, side)| *side),
            None => match word(found.as_bytes()) {
                Some(Word::Side(side)) => Some(side),
                _ => None,
            },
        });
        said.or(self.otherwise).unwrap_or_default()
    }
}

/// Something that is or is not so of a record.
#[derive(Debug)]
pub struct Condition {
    pub from: Vec<Source>,
    pub test: Test,
    /// What the report says about records that are left out for it.
    pub note: Option<Box<str>>,
}

#[derive(Debug)]
pub enum Test {
    Is(Vec<Box<str>>),
    /// The JSON begins with one of these bytes, which tells its type.
    Begins(&'static [u8]),
    Matches(Pattern),
    /// Nothing is there, or text that does not match.
    Lacks(Pattern),
    There(bool),
}

/// A value that was found: JSON as it stands, or text.
#[derive(Debug, Clone)]
pub enum Given<'b> {
    Json(&'b [u8]),
    Text(Cow<'b, str>),
}

impl<'b> Given<'b> {
    /// A string's decoded text, the exact JSON of anything else.
    pub fn text(&self) -> Cow<'b, str> {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(json) => {
                let exact = String::from_utf8_lossy(json);
                match &exact {
                    Cow::Borrowed(exact) => string(exact, &mut Oddities::default()).unwrap_or(Cow::Borrowed(exact)),
                    Cow::Owned(owned) => match string(owned, &mut Oddities::default()) {
                        Some(text) => Cow::Owned(text.into_owned()),
                        None => exact,
                    },
                }
            }
        }
    }
}

impl Test {
    /// Whether it is so of what was found.
    pub fn holds(&self, given: Option<&Given<'_>>) -> bool {
        match (self, given) {
            (Self::There(wanted), given) => given.is_some() == *wanted,
            (Self::Lacks(pattern), given) => given.is_none_or(|given| !pattern.is_match(given.text().as_bytes())),
            (_, None) => false,
            (Self::Is(words), Some(given)) => {
                let text = given.text();
                words.iter().any(|word| **word == *text)
            }
            (Self::Begins(bytes), Some(Given::Json(json))) => json.first().is_some_and(|byte| bytes.contains(byte)),
            (Self::Begins(bytes), Some(Given::Text(_))) => *bytes == b"\"",
            (Self::Matches(pattern), Some(given)) => pattern.is_match(given.text().as_bytes()),
        }
    }
}
