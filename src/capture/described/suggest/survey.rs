//! What the beginning of an unknown JSON log holds: where messages sit, and which values stand beside them.

use crate::capture::elements::{Element, Elements};
use crate::capture::input::Input;
use crate::protocol::message::Direction;
use crate::protocol::parse;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Records that are looked at, values beside the messages of one, and how deep it is searched.
const RECORDS: usize = 400;
const FACTS: usize = 400;
const DEPTH: usize = 12;

/// A message that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// It stands as text.
    pub text: bool,
    pub asks: bool,
    /// Who alone sends such messages.
    pub sender: Option<Direction>,
}

/// One entry of a record: its messages and what stands beside them, by pointers as a description writes them.
#[derive(Debug, Default)]
pub struct Entry {
    pub messages: Vec<(String, Sight)>,
    pub facts: Vec<(String, Value)>,
}

#[derive(Debug)]
pub struct Survey {
    /// As `records` says it.
    pub arrangement: String,
    /// Text stands before the JSON of each line; whether a time begins it.
    pub before: Option<bool>,
    pub records: usize,
    /// Records with messages.
    pub with_messages: usize,
    /// The way to the entries; empty where a record is its only one.
    pub each: String,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Name(String),
    Index(usize),
}

type Way = Vec<Step>;

/// Surveys the beginning of a file (`whole`: all of it); `None` where it is no JSON, or holds no message.
pub fn survey(head: &[u8], whole: bool) -> Option<Survey> {
    let (arrangement, before, records) = records(head, whole)?;
    let found: Vec<Found> = records.iter().map(Found::of).collect();
    let mut by_each: BTreeMap<String, usize> = BTreeMap::new();
    for found in &found {
        for (way, _) in &found.messages {
            *by_each.entry(pointer(entry_of(way))).or_default() += 1;
        }
    }
    let (each, _) = by_each.into_iter().max_by_key(|(each, count)| (*count, std::cmp::Reverse(each.len())))?;
    let with_messages = found.iter().filter(|found| !found.messages.is_empty()).count();
    let entries = found.into_iter().flat_map(|found| found.entries(&each)).collect();
    Some(Survey { arrangement, before, records: records.len(), with_messages, each, entries })
}

/// What one record holds.
#[derive(Default)]
struct Found {
    messages: Vec<(Way, Sight)>,
    facts: Vec<(Way, Value)>,
}

impl Found {
    fn of(record: &Value) -> Self {
        let mut found = Self::default();
        found.walk(record, &mut Vec::new());
        found
    }

    fn walk(&mut self, value: &Value, way: &mut Way) {
        if !way.is_empty()
            && let Some(sight) = sight(value, 0)
        {
            return self.messages.push((way.clone(), sight));
        }
        match value {
            Value::Object(members) if way.len() < DEPTH => {
                for (name, value) in members {
                    // Pointers have other meanings for these.
                    if name == "*" || name.starts_with('[') {
                        continue;
                    }
                    way.push(Step::Name(name.clone()));
                    self.walk(value, way);
                    way.pop();
                }
            }
            Value::Array(items) if way.len() < DEPTH => {
                for (at, value) in items.iter().enumerate() {
                    way.push(Step::Index(at));
                    self.walk(value, way);
                    way.pop();
                }
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) if self.facts.len() < FACTS => {
                self.facts.push((way.clone(), value.clone()));
            }
            _ => {}
        }
    }

    /// The entries with messages to which `each` leads.
    fn entries(self, each: &str) -> Vec<Entry> {
        let mut entries: BTreeMap<Way, Entry> = BTreeMap::new();
        for (way, sight) in self.messages {
            let entry = entry_of(&way);
            if pointer(entry) == each {
                let place = place(&way, entry.len());
                entries.entry(entry.to_vec()).or_default().messages.push((place, sight));
            }
        }
        for (way, value) in self.facts {
            for (entry, found) in &mut entries {
                let inside = way.starts_with(entry);
                let of_record = !way.iter().any(|step| matches!(step, Step::Index(_)));
                if inside && entry_of(&way).len() <= entry.len() {
                    found.facts.push((place(&way, entry.len()), value.clone()));
                } else if of_record {
                    found.facts.push((pointer(&way), value.clone()));
                }
            }
        }
        entries.into_values().collect()
    }
}

/// The way to the entry that holds a place: up to the last element of an array.
fn entry_of(way: &[Step]) -> &[Step] {
    let end = way.iter().rposition(|step| matches!(step, Step::Index(_))).map_or(0, |at| at + 1);
    way.get(..end).unwrap_or_default()
}

/// A place in an entry that stands `depth` steps down.
fn place(way: &[Step], depth: usize) -> String {
    let below = pointer(way.get(depth..).unwrap_or_default());
    if depth == 0 { below } else { format!(".{below}") }
}

fn pointer(way: &[Step]) -> String {
    way.iter()
        .map(|step| match step {
            Step::Name(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
            Step::Index(_) => "/*".to_owned(),
        })
        .collect()
}

/// Whether a value is a message, or text that is one.
fn sight(value: &Value, unwrapped: u8) -> Option<Sight> {
    match value {
        Value::Object(members) => {
            let method = members.get("method").and_then(Value::as_str);
            let versioned = members.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
            let answer = members.contains_key("result") || members.contains_key("error");
            let has_id = members.contains_key("id");
            let asks = method.is_some_and(|method| {
                versioned || (parse::sender(method, true).is_some() && (has_id || members.contains_key("params")))
            });
            let answers = method.is_none() && answer && has_id && versioned;
            (asks || answers).then(|| Sight {
                text: unwrapped > 0,
                asks,
                sender: method.and_then(|method| parse::sender(method, has_id)),
            })
        }
        Value::Array(items) => items.first().filter(|item| item.is_object()).and_then(|item| sight(item, unwrapped)),
        Value::String(text) if unwrapped < 2 && text.trim_start().starts_with(['{', '[', '"']) => {
            sight(&serde_json::from_str(text).ok()?, unwrapped + 1)
        }
        _ => None,
    }
}

/// How records are laid out, and the first of them.
fn records(head: &[u8], whole: bool) -> Option<(String, Option<bool>, Vec<Value>)> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let some = |records: &[Value]| records.iter().any(|record| !Found::of(record).messages.is_empty());
    if text.first() == Some(&b'[') {
        let found = elements(text, &[]);
        if some(&found) {
            return Some(("array".to_owned(), None, found));
        }
    }
    let end = if whole { text.len() } else { memchr::memrchr(b'\n', text)? };
    let lines = || text.get(..end).unwrap_or_default().split(|byte| *byte == b'\n').take(RECORDS);
    let found: Vec<Value> = lines().filter_map(|line| serde_json::from_slice(line).ok()).collect();
    if some(&found) {
        return Some(("lines".to_owned(), None, found));
    }
    if text.first() == Some(&b'{') {
        let values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
        let found: Vec<Value> = values.map_while(Result::ok).take(RECORDS).collect();
        if let [only] = found.as_slice()
            && whole
        {
            let mut arrays = Vec::new();
            find_arrays(only, &mut Vec::new(), &mut arrays);
            let best = arrays.into_iter().filter(|(_, items)| some(items)).max_by_key(|(_, items)| items.len());
            if let Some((way, items)) = best {
                return Some((pointer(&way), None, items.iter().take(RECORDS).cloned().collect()));
            }
        }
        if some(&found) {
            return Some(("values".to_owned(), None, found));
        }
    }
    let behind = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'{')?;
        let timed = crate::capture::time::prefix(line).is_some();
        Some((timed, serde_json::from_slice::<Value>(line.get(at..)?).ok()?))
    };
    let (timed, found): (Vec<bool>, Vec<Value>) = lines().filter_map(behind).unzip();
    some(&found).then(|| ("lines".to_owned(), Some(timed.iter().any(|timed| *timed)), found))
}

fn elements(text: &[u8], path: &'static [&'static str]) -> Vec<Value> {
    let Ok(input) = Input::new(std::io::Cursor::new(text.to_vec()), "", &Arc::default()) else { return Vec::new() };
    let mut elements = Elements::new(input, path);
    let mut found = Vec::new();
    while let (true, Some(Element::Text(text))) = (found.len() < RECORDS, elements.next()) {
        found.extend(serde_json::from_slice(&text));
    }
    found
}

/// The arrays of objects to which members of an object lead.
fn find_arrays<'v>(value: &'v Value, way: &mut Way, found: &mut Vec<(Way, &'v [Value])>) {
    match value {
        Value::Array(items) if items.iter().any(Value::is_object) && !way.is_empty() => {
            found.push((way.clone(), items));
        }
        Value::Object(members) if way.len() < DEPTH => {
            for (name, value) in members.iter().filter(|(name, _)| *name != "*" && !name.starts_with('[')) {
                way.push(Step::Name(name.clone()));
                find_arrays(value, way, found);
                way.pop();
            }
        }
        _ => {}
    }
}
