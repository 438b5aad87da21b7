//! JSON as it stood on the wire: members in order, scalars by their exact text, broken text read lossily.
//!
//! serde_json walks and checks the text; values stay slices of it until somebody asks for them.

pub use super::canonical::canonical;
use super::message::Text;
use super::prompt::{JsonType, Value};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// Legal but odd things met while reading; they are counted and reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Members that stood more than once in an object (the last value was used).
    pub duplicate_keys: u32,
    /// Strings that were no Unicode text (lone surrogates), read with U+FFFD in place of the broken part.
    pub lossy_text: u32,
}

/// Above this many members duplicates are looked up instead of searched for.
const SEARCH_LIMIT: usize = 16;

/// The members of one object: names unescaped, values as exact JSON text, in the order of the wire.
/// A name that stands twice keeps its first place and its last value.
#[derive(Debug, Clone, Default)]
pub struct Members<'a> {
    entries: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Members<'a> {
    /// `None` where the text is no JSON object.
    pub fn parse(text: &'a str, flags: &mut Oddities) -> Option<Self> {
        if first_byte(text) != Some(b'{') {
            return None;
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let members = ObjectSeed(flags).deserialize(&mut json).ok()?;
        json.end().ok()?;
        Some(members)
    }

    /// The exact JSON text of a member.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// As [`Self::get`], but `None` for a member that is `null`.
    pub fn given(&self, name: &str) -> Option<&'a str> {
        self.get(name).filter(|value| *value != "null")
    }

    /// A member that is a string, decoded.
    pub fn text(&self, name: &str, flags: &mut Oddities) -> Option<Text> {
        string(self.get(name)?, flags).map(Text::from)
    }

    /// A member that is an object.
    pub fn object(&self, name: &str, flags: &mut Oddities) -> Option<Members<'a>> {
        Members::parse(self.get(name)?, flags)
    }

    /// These members, and those of `other` that are missing here.
    pub fn with_defaults(mut self, other: &Members<'a>) -> Self {
        for (key, value) in &other.entries {
            if self.get(key).is_none() {
                self.entries.push((key.clone(), value));
            }
        }
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.entries.iter().map(|(key, value)| (&**key, *value))
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The elements of an array as exact JSON text; `None` where the text is no JSON array.
pub fn elements(text: &str) -> Option<Vec<&str>> {
    if first_byte(text) != Some(b'[') {
        return None;
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let items = ArraySeed.deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(items)
}

/// The type of a valid JSON value, told by its first byte. Text that begins no value counts as a number.
pub fn json_type(text: &str) -> JsonType {
    match first_byte(text) {
        Some(b'{') => JsonType::Object,
        Some(b'[') => JsonType::Array,
        Some(b'"') => JsonType::String,
        Some(b't' | b'f') => JsonType::Boolean,
        Some(b'n') | None => JsonType::Null,
        Some(_) => JsonType::Number,
    }
}

/// The decoded text of a JSON string; `None` for any other value.
pub fn string<'a>(text: &'a str, flags: &mut Oddities) -> Option<Cow<'a, str>> {
    let inner = text.trim_ascii().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let (decoded, lossy) = unescape(inner);
    flags.lossy_text += u32::from(lossy);
    Some(Cow::Owned(decoded))
}

/// A string's decoded text, or the exact JSON text of anything else.
pub fn text_or_exact<'a>(text: &'a str, flags: &mut Oddities) -> Cow<'a, str> {
    string(text, flags).unwrap_or(Cow::Borrowed(text))
}

/// A value with its type and its text: decoded for strings, exact for scalars, canonical for objects and arrays.
pub fn value(text: &str, flags: &mut Oddities) -> Value {
    let json_type = json_type(text);
    let text = match json_type {
        JsonType::String => text_or_exact(text, flags).into(),
        JsonType::Object | JsonType::Array => canonical(text, flags).into(),
        JsonType::Number | JsonType::Boolean | JsonType::Null => text.into(),
    };
    Value { json_type, text }
}

/// A stable 64-bit digest of bytes, the same on every machine (frames folders travel).
pub fn digest(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// The longest text that begins `text` and has at most `bytes` bytes.
pub fn clip(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn first_byte(text: &str) -> Option<u8> {
    text.bytes().find(|byte| !byte.is_ascii_whitespace())
}

/// Decodes the inside of a JSON string. The second part says whether something in it was no text.
fn unescape(inner: &str) -> (String, bool) {
    let mut out = String::with_capacity(inner.len());
    let mut lossy = false;
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(letter) = rest.chars().next() else {
            lossy = true;
            out.push(char::REPLACEMENT_CHARACTER);
            break;
        };
        rest = &rest[letter.len_utf8()..];
        match letter {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let (decoded, after) = code_point(rest);
                rest = after;
                lossy |= decoded.is_none();
                out.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    (out, lossy)
}

/// Reads what follows `\u`: four hex digits, and a second escape where they are the first half of a pair.
fn code_point(rest: &str) -> (Option<char>, &str) {
    let Some((first, after)) = unit(rest) else { return (None, rest) };
    if (0xd800..0xdc00).contains(&first)
        && let Some((second, end)) = after.strip_prefix("\\u").and_then(unit)
        && (0xdc00..0xe000).contains(&second)
    {
        return (char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)), end);
    }
    (char::from_u32(first), after)
}

fn unit(rest: &str) -> Option<(u32, &str)> {
    let (digits, after) = rest.split_at_checked(4)?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    Some((u32::from_str_radix(digits, 16).ok()?, after))
}

/// serde_json hands lone surrogates over in the three-byte form that UTF-8 forbids; each becomes one U+FFFD.
fn lossy_text(bytes: &[u8]) -> (String, bool) {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut lossy = false;
    loop {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                out.push_str(text);
                return (out, lossy);
            }
            Err(error) => {
                lossy = true;
                let (good, bad) = rest.split_at(error.valid_up_to());
                out.push_str(std::str::from_utf8(good).unwrap_or_default());
                out.push(char::REPLACEMENT_CHARACTER);
                let surrogate = matches!(bad, [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..]);
                rest = bad.get(if surrogate { 3 } else { 1 }..).unwrap_or_default();
            }
        }
    }
}

struct ObjectSeed<'f>(&'f mut Oddities);

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = Members<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(Cow<'de, str>, &'de str)> = Vec::with_capacity(8);
        let mut places: HashMap<Cow<'de, str>, usize, ahash::RandomState> = HashMap::default();
        while let Some(Key { text, lossy }) = map.next_key()? {
            self.0.lossy_text += u32::from(lossy);
            let value = map.next_value::<&'de RawValue>()?.get();
            let known = if entries.len() <= SEARCH_LIMIT {
                entries.iter().position(|(key, _)| *key == text)
            } else {
                if places.is_empty() {
                    places.extend(entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)));
                }
                places.get(&text).copied()
            };
            match known.and_then(|at| entries.get_mut(at)) {
                Some(entry) => {
                    self.0.duplicate_keys += 1;
                    entry.1 = value;
                }
                None => {
                    if !places.is_empty() {
                        places.insert(text.clone(), entries.len());
                    }
                    entries.push((text, value));
                }
            }
        }
        Ok(Members { entries })
    }
}

struct ArraySeed;

impl<'de> DeserializeSeed<'de> for ArraySeed {
    type Value = Vec<&'de str>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ArraySeed {
    type Value = Vec<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<&'de RawValue>()? {
            items.push(item.get());
        }
        Ok(items)
    }
}

/// A member's name. It is asked for as bytes: as text, serde_json refuses lone surrogates.
struct Key<'de> {
    text: Cow<'de, str>,
    lossy: bool,
}

impl<'de> serde::Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Key { text: Cow::Borrowed(text), lossy: false }),
            Err(_) => self.visit_bytes(bytes),
        }
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let (text, lossy) = lossy_text(bytes);
        Ok(Key { text: Cow::Owned(text), lossy })
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
pub(in crate::protocol) mod tests;
