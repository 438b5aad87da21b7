//! What the schemas sent with questions declare, read once per distinct schema.

use super::super::tables::DeclaredBounds;
use crate::protocol::message::Text;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// One property of a schema, as far as questions that nobody accepted need it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    pub declared_type: Option<String>,
    pub title: Option<String>,
    /// Permitted values are listed.
    pub closed: bool,
    pub bounds: Bounds,
}

/// The lowest and the highest permitted value (of a number), length (of text) or count (of items), as exact text.
pub type Bounds = (Option<Text>, Option<Text>);

/// Property name → what it declares; required names that are not declared stand there too, blank.
pub type Fields = BTreeMap<Text, Asked>;

/// Reads a schema's properties. A schema that is no object, or whose properties are none, declares nothing.
pub fn fields(schema: &str) -> Fields {
    let root = members(schema);
    let mut fields = Fields::new();
    for (name, property) in root.get("properties").map(|text| members(text.get())).unwrap_or_default() {
        fields.insert(name.into(), asked(property.get()));
    }
    let required: Option<Vec<String>> = root.get("required").and_then(|text| serde_json::from_str(text.get()).ok());
    for name in required.unwrap_or_default() {
        fields.entry(name.into()).or_default();
    }
    fields
}

fn members(text: &str) -> BTreeMap<String, Box<RawValue>> {
    serde_json::from_str(text).unwrap_or_default()
}

fn asked(property: &str) -> Asked {
    let members = members(property);
    let text = |name: &str| members.get(name).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let exact = |names: &[&str]| {
        let found = names.iter().find_map(|name| members.get(*name))?;
        Some(Text::from(found.get()))
    };
    let declared_type = text("type");
    let bounds = match declared_type.as_deref() {
        Some("string") => (exact(&["minLength"]), exact(&["maxLength"])),
        Some("array") => (exact(&["minItems"]), exact(&["maxItems"])),
        _ => (exact(&["minimum", "exclusiveMinimum"]), exact(&["maximum", "exclusiveMaximum"])),
    };
    let closed = ["enum", "oneOf", "anyOf", "const"].iter().any(|name| members.contains_key(*name));
    Asked { declared_type, title: text("title"), closed, bounds }
}

/// Bounds of one field with the number of questions that had them, most asked first. Empty where no question had any.
pub fn declared_bounds(asked: BTreeMap<Bounds, u64>) -> Vec<DeclaredBounds> {
    if asked.keys().all(|(minimum, maximum)| minimum.is_none() && maximum.is_none()) {
        return Vec::new();
    }
    let mut bounds: Vec<DeclaredBounds> =
        asked.into_iter().map(|((minimum, maximum), asked)| DeclaredBounds { minimum, maximum, asked }).collect();
    bounds.sort_by_key(|bounds| std::cmp::Reverse(bounds.asked));
    bounds
}

/// Whether a field of a form asks for a secret. Words, not letters, decide: `max_tokens`, `discard` and
/// `show_password` (a boolean) ask for none.
pub fn is_secret(name: &str, asked: &Asked) -> bool {
    if asked.closed || !matches!(asked.declared_type.as_deref(), None | Some("string" | "number" | "integer")) {
        return false;
    }
    let text = asked.declared_type.as_deref() != Some("number") && asked.declared_type.as_deref() != Some("integer");
    [Some(name), asked.title.as_deref()].into_iter().flatten().any(|label| names_secret(label, text))
}

fn names_secret(label: &str, text: bool) -> bool {
    const SECRETS: [&str; 8] = ["password", "passwd", "passphrase", "passcode", "pwd", "apikey", "cvv", "cvc"];
    const KEYS: [&str; 6] = ["api", "access", "private", "secret", "encryption", "ssh"];
    const CARDS: [&str; 4] = ["credit", "debit", "payment", "bank"];
    let words = words(label);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let pair =
        |first: &[&str], second: &str| words.windows(2).any(|pair| first.contains(&pair[0]) && pair[1] == second);
    // A word that says what is counted, sent or shown about the secret stands last; the secret itself does too.
    let ends_with = |word: &str| words.last() == Some(&word);
    let numbers = words.iter().any(|word| matches!(*word, "cvv" | "cvc"))
        || pair(&CARDS, "card")
        || pair(&["card"], "number")
        || pair(&["card"], "no");
    let texts = text
        && (words.last().is_some_and(|last| SECRETS.contains(last))
            || pair(&KEYS, "key")
            || (ends_with("token")
                && !words.iter().any(|word| matches!(*word, "page" | "next" | "continuation" | "sync")))
            || ends_with("secret")
            || (words.len() == 1 && ends_with("secrets")));
    numbers || texts
}

/// Words of an identifier or a label, lower-cased: `apiKey`, `API_KEY` and `API key` are `api`, `key`.
fn words(label: &str) -> Vec<String> {
    let mut words: BTreeMap<usize, String> = BTreeMap::new();
    let (mut number, mut lower_before) = (0, false);
    for letter in label.chars().take(200) {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && lower_before) {
            number += 1;
        }
        lower_before = letter.is_lowercase() || letter.is_numeric();
        if letter.is_alphanumeric() {
            words.entry(number).or_default().extend(letter.to_lowercase());
        }
    }
    words.into_values().collect()
}

/// Names of the fields that ask for secrets.
pub fn secrets(fields: &Fields) -> BTreeSet<Text> {
    fields.iter().filter(|(name, asked)| is_secret(name, asked)).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_keep_their_text() {
        let fields = fields(
            r#"{"type":"object","required":["limit","ghost"],"properties":{
                "limit":{"type":"integer","minimum":1,"maximum":12345678901234567890.50},
                "note":{"type":"string","maxLength":200},
                "tags":{"type":"array","minItems":1,"items":{"enum":["a"]}}}}"#,
        );
        assert_eq!(fields["limit"].bounds, (Some("1".into()), Some("12345678901234567890.50".into())));
        assert_eq!(fields["note"].bounds, (None, Some("200".into())));
        assert_eq!(fields["tags"].bounds, (Some("1".into()), None));
        assert_eq!(fields["ghost"], Asked::default());
    }

    #[test]
    fn broken_schemas_declare_nothing() {
        for schema in ["", "[]", "{", r#"{"properties":5}"#, "null"] {
            assert!(fields(schema).is_empty(), "{schema}");
        }
        assert_eq!(fields(r#"{"properties":{"a":7}}"#)["a"], Asked::default());
    }

    #[test]
    fn secrets_and_their_look_alikes() {
        let ask = |declared: &str| Asked { declared_type: Some(declared.into()), ..Asked::default() };
        for name in [
            "password",
            "newPassword",
            "API_KEY",
            "apiKey",
            "api key",
            "access_token",
            "token",
            "githubToken",
            "client_secret",
            "card_number",
            "creditCard",
            "cvv",
            "ssh-key",
            "Passphrase",
        ] {
            assert!(is_secret(name, &ask("string")), "{name}");
        }
        for name in [
            "max_tokens",
            "token_count",
            "discard",
            "card",
            "card_title",
            "secretary",
            "keyboard",
            "key",
            "next_page_token",
            "password_hint_shown",
            "tokenizer",
            "budget",
            "team",
            "api",
        ] {
            assert!(!is_secret(name, &ask("string")), "{name}");
        }
        assert!(!is_secret("show_password", &ask("boolean")));
        assert!(!is_secret("token", &Asked { closed: true, ..ask("string") }));
        assert!(is_secret("card_number", &ask("integer")));
        assert!(!is_secret("token", &ask("integer")), "a number of tokens");
        assert!(is_secret("value", &Asked { title: Some("Your API key".into()), ..ask("string") }));
    }
}
