//! A `requestedSchema`: what it declares, and the validator made of it.

use crate::protocol::json::{Members, canonical, elements, json_type, string, text_or_exact};
use crate::protocol::message::Text;
use crate::protocol::parse::Oddities;
use crate::protocol::prompt::JsonType;
use jsonschema::{Draft, PatternOptions, Validator};

use super::references;

/// Schemas above this many bytes are not compiled.
const MAX_SCHEMA: usize = 64 * 1024;
/// Memory one `pattern` may take, compiled, and while it searches (bytes).
const PATTERN_SIZE: usize = 1 << 20;
const SEARCH_SIZE: usize = 1 << 18;
/// Steps a `pattern` that needs backtracking may take.
const BACKTRACK_LIMIT: usize = 100_000;
/// Local references followed to learn what a property declares.
const MAX_HOPS: usize = 4;

/// Formats of the elicitation subset (all revisions).
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// One schema, read once.
pub struct Compiled {
    /// `None` where the schema does not compile.
    pub validator: Option<Validator>,
    /// In the order of the schema.
    pub properties: Vec<Property>,
    pub required: Vec<Text>,
    /// Keywords outside the elicitation subset: of 2025-06-18, and of 2025-11-25 and later.
    pub outside_subset: [Vec<Text>; 2],
}

/// What a schema says about one field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Property {
    pub name: Text,
    pub declared_type: Option<Text>,
    pub format: Option<Text>,
    pub minimum: Option<Text>,
    pub maximum: Option<Text>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub enumeration: Vec<Text>,
    pub default: Option<Text>,
}

impl Compiled {
    pub fn new(text: &str) -> Self {
        let flags = &mut Oddities::default();
        let root = Members::parse(text, flags).unwrap_or_default();
        let declared = root.object("properties", flags).unwrap_or_default();
        let properties = declared.iter().map(|(name, text)| property(name, text, &root, flags)).collect();
        let required = root.get("required").and_then(elements).unwrap_or_default();
        let required = required.into_iter().filter_map(|name| string(name, flags).map(Text::from)).collect();
        let outside_subset = [Subset::Of2025June, Subset::Of2025November].map(|subset| outside(&root, subset));
        Self { validator: compile(text), properties, required, outside_subset }
    }

    pub fn booleans(&self) -> u32 {
        let booleans = self.properties.iter().filter(|property| property.declared_type.as_deref() == Some("boolean"));
        booleans.count().try_into().unwrap_or(u32::MAX)
    }
}

/// Makes a validator that fetches nothing and whose work is bounded; `None` where that is not possible.
fn compile(text: &str) -> Option<Validator> {
    if text.len() > MAX_SCHEMA || json_type(text) != JsonType::Object {
        return None;
    }
    // Canonical form: lone surrogates are gone, and a repeated key has its last value.
    let schema = serde_json::from_str(&canonical(text, &mut Oddities::default())).ok()?;
    if !references::bounded(&schema) {
        return None;
    }
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true).offline();
    let linear = PatternOptions::regex().size_limit(PATTERN_SIZE).dfa_size_limit(SEARCH_SIZE);
    let backtracking = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_SIZE)
        .dfa_size_limit(SEARCH_SIZE);
    let compiled = options.clone().with_pattern_options(linear).build(&schema);
    compiled.or_else(|_| options.with_pattern_options(backtracking).build(&schema)).ok()
}

fn property(name: &str, text: &str, root: &Members<'_>, flags: &mut Oddities) -> Property {
    let members = resolved(text, root, flags);
    let number = |names: [&str; 2]| names.iter().find_map(|name| members.given(name)).map(Text::from);
    let count = |name: &str| members.get(name).and_then(unsigned);
    let enumeration = permitted(&members, flags);
    Property {
        name: name.into(),
        declared_type: declared_type(&members, flags),
        format: members.text("format", flags),
        minimum: number(["minimum", "exclusiveMinimum"]),
        maximum: number(["maximum", "exclusiveMaximum"]),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        enumeration,
        default: members.get("default").map(Text::from),
    }
}

/// Follows local references, and the value branch of a nullable field, to the schema that says what a field is.
/// What stands beside them (`default`, `title`) is kept where the target does not say it.
fn resolved<'a>(text: &'a str, root: &Members<'a>, flags: &mut Oddities) -> Members<'a> {
    let mut members = Members::parse(text, flags).unwrap_or_default();
    for _ in 0..MAX_HOPS {
        if members.get("type").is_some() || members.get("enum").is_some() {
            break;
        }
        let target = match members.text("$ref", flags) {
            Some(pointer) => local(&pointer, root, flags),
            None => members.get("allOf").and_then(only).or_else(|| nullable_branch(&members, flags)),
        };
        let Some(target) = target.and_then(|target| Members::parse(target, flags)) else { break };
        members = target.with_defaults(&members);
    }
    members
}

/// `#/$defs/NAME` or `#/definitions/NAME`.
fn local<'a>(pointer: &str, root: &Members<'a>, flags: &mut Oddities) -> Option<&'a str> {
    let (group, name) = pointer.strip_prefix("#/")?.split_once('/')?;
    root.object(group, flags)?.get(name)
}

fn only(text: &str) -> Option<&str> {
    match elements(text)?.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

/// Of `anyOf: [X, {"type": "null"}]` (how Python models write an optional field): X.
fn nullable_branch<'a>(members: &Members<'a>, flags: &mut Oddities) -> Option<&'a str> {
    let mut branches = elements(members.get("anyOf").or_else(|| members.get("oneOf"))?)?;
    let all = branches.len();
    branches.retain(|branch| Members::parse(branch, flags).and_then(|branch| branch.get("type")) != Some("\"null\""));
    match branches.as_slice() {
        [one] if all == 2 => Some(one),
        _ => None,
    }
}

fn declared_type(members: &Members<'_>, flags: &mut Oddities) -> Option<Text> {
    if members.get("enum").is_some() || members.get("const").is_some() || constants(members, flags).is_some() {
        return Some("enum".into());
    }
    let declared = members.get("type")?;
    match json_type(declared) {
        JsonType::Array => {
            let words = elements(declared)?.into_iter().filter_map(|word| string(word, flags));
            words.into_iter().find(|word| word != "null").map(Text::from)
        }
        _ => string(declared, flags).map(Text::from),
    }
}

/// Permitted values as text: of a field, or of the items of a multi-select.
fn permitted(members: &Members<'_>, flags: &mut Oddities) -> Vec<Text> {
    let items = members.object("items", flags);
    for schema in [Some(members), items.as_ref()].into_iter().flatten() {
        let values = match schema.get("enum") {
            Some(listed) => elements(listed),
            None => schema.get("const").map(|one| vec![one]).or_else(|| constants(schema, flags)),
        };
        if let Some(values) = values {
            return values.into_iter().map(|value| text_or_exact(value, flags).into()).collect();
        }
    }
    Vec::new()
}

/// The constants of `oneOf`/`anyOf`, if every branch is one.
fn constants<'a>(members: &Members<'a>, flags: &mut Oddities) -> Option<Vec<&'a str>> {
    let branches = elements(members.get("oneOf").or_else(|| members.get("anyOf"))?)?;
    if branches.is_empty() {
        return None;
    }
    branches.into_iter().map(|branch| Members::parse(branch, flags)?.get("const")).collect()
}

/// A count; JSON Schema lets it be written `3.0`.
fn unsigned(text: &str) -> Option<u64> {
    if let Ok(count) = text.parse() {
        return Some(count);
    }
    let count: f64 = text.parse().ok()?;
    (count.fract() == 0.0 && (0.0..9e15).contains(&count)).then_some(count as u64)
}

/// The elicitation subset of JSON Schema, by revision.
#[derive(Clone, Copy, PartialEq)]
pub enum Subset {
    Of2025June,
    /// 2025-11-25 and later: defaults, `pattern`, titled enumerations, multi-select.
    Of2025November,
}

impl Subset {
    /// The subset of a revision; the newest where the revision is not known.
    pub fn of(revision: Option<&str>) -> Self {
        match revision {
            Some(date) if date < "2025-11-25" => Self::Of2025June,
            _ => Self::Of2025November,
        }
    }

    /// Keywords that a field of this type may have besides `type`, `title` and `description`.
    fn keywords(self, declared: &str) -> Option<&'static [&'static str]> {
        let new = self == Self::Of2025November;
        Some(match (declared, new) {
            ("string", false) => &["minLength", "maxLength", "format", "enum", "enumNames"],
            ("string", true) => {
                &["minLength", "maxLength", "format", "enum", "enumNames", "pattern", "default", "oneOf"]
            }
            ("number" | "integer", false) => &["minimum", "maximum"],
            ("number" | "integer", true) => &["minimum", "maximum", "default"],
            ("boolean", _) => &["default"],
            ("array", true) => &["items", "minItems", "maxItems", "default"],
            _ => return None,
        })
    }
}

/// Keywords outside the subset, sorted, each once. Annotations (`title`, `description`) are no keywords here.
fn outside(root: &Members<'_>, subset: Subset) -> Vec<Text> {
    let flags = &mut Oddities::default();
    let mut found: Vec<Text> = Vec::new();
    note(root, &["$schema", "type", "properties", "required", "title", "description"], &mut found);
    if root.get("type") != Some("\"object\"") {
        found.push("type".into());
    }
    for (_, text) in root.object("properties", flags).unwrap_or_default().iter() {
        let Some(members) = Members::parse(text, flags) else { continue };
        let declared = members.text("type", flags);
        let keywords = declared.as_deref().and_then(|declared| subset.keywords(declared));
        let Some(keywords) = keywords else {
            if members.get("type").is_some() {
                found.push("type".into());
            }
            note(&members, &["type", "title", "description"], &mut found);
            continue;
        };
        let mut known = vec!["type", "title", "description"];
        known.extend(keywords);
        note(&members, &known, &mut found);
        if members.text("format", flags).is_some_and(|format| !FORMATS.contains(&&*format)) {
            found.push("format".into());
        }
        if let Some(items) = members.object("items", flags) {
            note(&items, &["type", "enum", "anyOf"], &mut found);
        }
    }
    found.sort();
    found.dedup();
    found
}

fn note(members: &Members<'_>, known: &[&str], found: &mut Vec<Text>) {
    found.extend(members.iter().filter(|(name, _)| !known.contains(name)).map(|(name, _)| Text::from(name)));
}
