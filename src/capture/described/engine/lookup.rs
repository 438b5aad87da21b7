//! What the places of a description hold in a record.

use super::{Reader, unwrapped};
use crate::capture::described::language::{Condition, Given, Source, Test, Value};
use crate::capture::described::moment::{Moment, When};
use crate::capture::described::records::MessageAt;
use crate::capture::formats::begins_json;
use crate::capture::skim::Span;
use crate::protocol::message::{Text, Ts};

impl<'r> Reader<'r, '_> {
    pub(super) fn given<'b>(&self, source: &Source, bytes: &'b [u8], found: &[Option<Span>]) -> Option<Given<'b>> {
        match source {
            Source::Pointer(slot) => {
                let json = found.get(*slot).copied().flatten()?.of(bytes);
                (json != b"null").then_some(Given::Json(json))
            }
            Source::Group(name) => {
                let (_, text) = self.groups.iter().rev().find(|(known, _)| **known == **name)?;
                Some(Given::Text(text.clone().into()))
            }
            Source::Path(pattern) => {
                let part = pattern.captures(self.sink.file.path.as_bytes())?;
                let part = String::from_utf8_lossy(part.get(1)?.as_bytes()).into_owned();
                Some(Given::Text(part.into()))
            }
        }
    }

    pub(super) fn first<'b>(&self, sources: &[Source], bytes: &'b [u8], found: &[Option<Span>]) -> Option<Given<'b>> {
        sources.iter().find_map(|source| self.given(source, bytes, found))
    }

    pub(super) fn value<'b>(&self, value: &Value, bytes: &'b [u8], found: &[Option<Span>]) -> Option<Given<'b>> {
        let otherwise = || value.otherwise.as_deref().map(|text| Given::Text(text.to_owned().into()));
        let Some(given) = self.first(&value.from, bytes, found) else { return otherwise() };
        let Some(table) = &value.table else { return Some(given) };
        let text = given.text();
        let meant = table.iter().find(|(word, _)| **word == *text).map(|(_, meaning)| meaning.to_string());
        meant.map(|text| Given::Text(text.into())).or_else(otherwise)
    }

    /// A value that groups alone tell.
    pub fn word(&self, value: &Value) -> Option<String> {
        self.value(value, &[], &[]).map(|given| given.text().trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// A name: a string or a number that is not empty.
    pub(super) fn label(&mut self, value: Option<&Value>, bytes: &[u8], found: &[Option<Span>]) -> Option<Text> {
        let given = self.value(value?, bytes, found)?;
        if matches!(given, Given::Json(json) if matches!(json.first(), Some(b'{' | b'['))) {
            return None;
        }
        let text = given.text();
        (!text.is_empty()).then(|| self.sink.texts.get(&text))
    }

    /// Whether a condition holds; named groups of its regular expression are values from then on.
    pub(super) fn holds(&mut self, condition: &'r Condition, bytes: &[u8], found: &[Option<Span>]) -> bool {
        let given = self.first(&condition.from, bytes, found);
        let Test::Matches(pattern) = &condition.test else { return condition.test.holds(given.as_ref()) };
        let Some(given) = given else { return false };
        let text = given.text();
        if pattern.groups() == 0 {
            return pattern.is_match(text.as_bytes());
        }
        let Some(captures) = pattern.captures(text.as_bytes()) else { return false };
        for name in pattern.names() {
            if let Some(group) = captures.name(name) {
                self.groups.push((name, String::from_utf8_lossy(group.as_bytes()).into_owned()));
            }
        }
        true
    }

    pub(super) fn any(&mut self, conditions: &'r [Condition], bytes: &[u8], found: &[Option<Span>]) -> bool {
        conditions.iter().any(|condition| self.holds(condition, bytes, found))
    }

    pub(super) fn moment(&mut self, moment: &Moment, bytes: &[u8], found: &[Option<Span>]) -> Option<Ts> {
        let ts = match moment.read(&self.first(&moment.from, bytes, found)?.text())? {
            When::At(ts) => ts,
            When::OnAClock(shown) => self.sink.on_a_clock(shown),
        };
        let Some((plus, unit)) = &moment.plus else { return Some(ts) };
        match self.first(plus, bytes, found) {
            Some(duration) => Some(Moment::later(ts, &duration.text(), *unit)),
            None => Some(ts),
        }
    }

    /// The JSON of a part: as it stands, or the text of a string that holds JSON.
    pub(super) fn part(&self, sources: &[Source], bytes: &[u8], found: &[Option<Span>]) -> Option<String> {
        match self.first(sources, bytes, found)? {
            Given::Json(json) if json.first() == Some(&b'"') => {
                let exact = String::from_utf8_lossy(json);
                let text = unwrapped(&exact);
                Some(if begins_json(text.as_bytes()) { text } else { exact.into_owned() })
            }
            Given::Json(json) => Some(String::from_utf8_lossy(json).into_owned()),
            Given::Text(text) => Some(text.into_owned()),
        }
    }

    pub(super) fn pair(&self, message: &MessageAt, bytes: &[u8], found: &[Option<Span>]) -> Option<String> {
        if message.pairs.is_empty() {
            return None;
        }
        let part = |value| self.value(value, bytes, found).map(|given| given.text().into_owned()).unwrap_or_default();
        Some(message.pairs.iter().map(part).collect::<Vec<_>>().join("\u{1f}"))
    }
}
