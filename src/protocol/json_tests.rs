use super::*;
use proptest::prelude::*;

fn members(text: &str) -> (Vec<(String, String)>, Oddities) {
    let mut flags = Oddities::default();
    let members = Members::parse(text, &mut flags).expect("an object");
    (members.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(), flags)
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn canonical_of(text: &str) -> String {
    canonical(text, &mut Oddities::default())
}

#[test]
fn members_keep_order_and_exact_text() {
    let (found, flags) = members(r#" { "b" : 5.0, "a":1e2 , "c" : "x\u0041" ,"d":9007199254740993} "#);
    assert_eq!(found, pairs(&[("b", "5.0"), ("a", "1e2"), ("c", r#""x\u0041""#), ("d", "9007199254740993")]));
    assert_eq!(flags, Oddities::default());
}

#[test]
fn names_are_compared_after_unescaping() {
    let mut flags = Oddities::default();
    let members = Members::parse(r#"{"met\u0068od":"prompts\/get"}"#, &mut flags).expect("an object");
    assert_eq!(members.text("method", &mut flags).as_deref(), Some("prompts/get"));
}

#[test]
fn the_last_of_equal_names_wins_and_is_counted() {
    let (found, flags) = members(r#"{"a":1,"b":2,"\u0061":3,"a":4}"#);
    assert_eq!(found, pairs(&[("a", "4"), ("b", "2")]));
    assert_eq!(flags.duplicate_keys, 2);
}

#[test]
fn equal_names_are_found_in_large_objects_too() {
    let mut text: String = (0..200).map(|n| format!("\"k{n}\":{n},")).collect();
    text = format!("{{{text}\"k3\":\"last\",\"k150\":\"last\"}}");
    let (found, flags) = members(&text);
    assert_eq!(found.len(), 200);
    assert_eq!(flags.duplicate_keys, 2);
    assert_eq!(found[3].1, "\"last\"");
    assert_eq!(found[150].1, "\"last\"");
}

#[test]
fn lone_surrogates_become_one_replacement_character_and_are_counted() {
    let mut flags = Oddities::default();
    assert_eq!(string(r#""a\ud800b\udc00""#, &mut flags).as_deref(), Some("a\u{fffd}b\u{fffd}"));
    assert_eq!(flags.lossy_text, 1, "counted by text");
    assert_eq!(string(r#""\ud83d\ude00""#, &mut flags).as_deref(), Some("😀"));
    assert_eq!(string(r#""\ud83d\u0041""#, &mut flags).as_deref(), Some("\u{fffd}A"));
    assert_eq!(flags.lossy_text, 2);
    let (found, flags) = members(r#"{"x\ud800y":1}"#);
    assert_eq!(found, pairs(&[("x\u{fffd}y", "1")]));
    assert_eq!(flags.lossy_text, 1);
}

#[test]
fn what_is_no_object_has_no_members() {
    for text in ["", "null", "[1]", "{\"a\":1", "{\"a\":1} x", "{\"a\" 1}", "{,}", "{\"a\":}", "\u{feff}{}"] {
        assert!(Members::parse(text, &mut Oddities::default()).is_none(), "{text}");
    }
}

#[test]
fn canonical_json_is_free_of_order_spacing_and_escapes() {
    assert_eq!(
        canonical_of(r#" { "b" : [ 1.0 , "é\u00e9\/" ] , "a" : { "z":null, "y" : true } } "#),
        r#"{"a":{"y":true,"z":null},"b":[1.0,"éé/"]}"#
    );
    assert_eq!(canonical_of(r#""line\u000a\u0001\"\\""#), r#""line\n\u0001\"\\""#);
    assert_eq!(canonical_of("[ ]"), "[]");
    assert_eq!(canonical_of("{ }"), "{}");
    assert_eq!(canonical_of("-0.50E+1"), "-0.50E+1");
}

#[test]
fn canonical_json_sorts_by_bytes_and_drops_repeated_keys() {
    let mut flags = Oddities::default();
    assert_eq!(canonical(r#"{"é":1,"z":2,"Z":3,"z":4}"#, &mut flags), r#"{"Z":3,"z":4,"é":1}"#);
    assert_eq!(flags.duplicate_keys, 1);
}

#[test]
fn text_that_is_no_json_stays_as_it_is() {
    for text in ["", " ", "{", "[1,]", "{\"a\":1,}", "[1 2]", "nul", "\"a", "1 1", "{\"a\"}", "[\"\\", "01"] {
        assert_eq!(canonical_of(text), text);
    }
}

#[test]
fn nesting_is_followed_to_its_limit_and_no_further() {
    let nested = |depth: usize| format!("{}{}{}", "[ ".repeat(depth), "1", "]".repeat(depth));
    assert_eq!(canonical_of(&nested(128)), nested(128).replace(' ', ""));
    assert_eq!(canonical_of(&nested(129)), nested(129));
    assert_eq!(canonical_of(&nested(200_000)), nested(200_000));
    assert_eq!(value(&nested(200_000), &mut Oddities::default()).json_type, JsonType::Array);
    let deep = format!("{{\"a\":{},\"b\":2}}", nested(200_000));
    assert_eq!(members(&deep).0[1].1, "2");
}

#[test]
fn values_keep_their_type_and_text() {
    let of = |text: &str| {
        let value = value(text, &mut Oddities::default());
        (value.json_type, value.text.to_string())
    };
    assert_eq!(of("\"5\""), (JsonType::String, "5".into()));
    assert_eq!(of("5"), (JsonType::Number, "5".into()));
    assert_eq!(of("5.0"), (JsonType::Number, "5.0".into()));
    assert_eq!(of("1e999"), (JsonType::Number, "1e999".into()));
    assert_eq!(of("18446744073709551617"), (JsonType::Number, "18446744073709551617".into()));
    assert_eq!(of("true"), (JsonType::Boolean, "true".into()));
    assert_eq!(of("null"), (JsonType::Null, "null".into()));
    assert_eq!(of("{ \"b\":1,\"a\":2}"), (JsonType::Object, "{\"a\":2,\"b\":1}".into()));
}

#[test]
fn clipping_never_cuts_a_character() {
    assert_eq!(clip("aé", 2), "a");
    assert_eq!(clip("aé", 3), "aé");
    assert_eq!(clip("", 5), "");
}

#[test]
fn the_digest_is_the_same_everywhere() {
    // First eight bytes of BLAKE3 of no bytes: af1349b9f5f9a1a6.
    assert_eq!(digest(b""), u64::from_le_bytes([0xaf, 0x13, 0x49, 0xb9, 0xf5, 0xf9, 0xa1, 0xa6]));
}

/// JSON values whose numbers survive a round trip through serde_json.
pub(in crate::protocol) fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map("\\PC{0,6}|[a-d\"\\\\\n]{1,2}", inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes a value with its members turned round, spaces, and every character of its strings escaped.
fn rewritten(value: &serde_json::Value) -> String {
    let escaped = |text: &str| {
        let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        format!("\"{units}\"")
    };
    match value {
        serde_json::Value::String(text) => escaped(text),
        serde_json::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(rewritten).collect();
            format!("[ {} ]", items.join(" ,\n"))
        }
        serde_json::Value::Object(members) => {
            let members: Vec<String> =
                members.iter().rev().map(|(key, value)| format!("{}\t: {}", escaped(key), rewritten(value))).collect();
            format!("{{ {} }}", members.join(" , "))
        }
        scalar => scalar.to_string(),
    }
}

#[test]
fn an_escape_that_json_does_not_know_makes_the_text_no_json() {
    for text in [r#""\+""#, r#"{"a":"\x"}"#, "\"a\nb\"", r#"["\u00g0"]"#] {
        assert_eq!(canonical(text, &mut Oddities::default()), text);
    }
}

proptest! {
    #[test]
    fn canonical_json_keeps_the_value(json in any_json()) {
        let text = canonical_of(&json.to_string());
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(json));
    }

    #[test]
    fn canonical_json_is_idempotent_and_order_free(json in any_json()) {
        let once = canonical_of(&json.to_string());
        prop_assert_eq!(&canonical_of(&once), &once);
        prop_assert_eq!(&canonical_of(&rewritten(&json)), &once);
    }

    #[test]
    fn members_agree_with_serde_json(json in any_json()) {
        let text = rewritten(&json);
        let mut flags = Oddities::default();
        let found = Members::parse(&text, &mut flags);
        match json.as_object() {
            None => prop_assert!(found.is_none()),
            Some(expected) => {
                let found = found.expect("an object");
                prop_assert_eq!(found.len(), expected.len());
                for (key, value) in expected {
                    let text = found.get(key).expect("a member");
                    prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(text).expect("JSON"), value);
                }
                prop_assert_eq!(flags, Oddities::default());
            }
        }
        prop_assert_eq!(elements(&text).map(|items| items.len()), json.as_array().map(Vec::len));
    }

    #[test]
    fn strings_are_decoded_as_serde_json_does(text in any::<String>()) {
        let json = serde_json::Value::from(text.clone());
        for written in [json.to_string(), rewritten(&json)] {
            let decoded = string(&written, &mut Oddities::default());
            prop_assert_eq!(decoded.as_deref(), Some(&*text));
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC*|[\\[\\]{}\",:\\\\ud80-9a-e +.\n-]{0,60}") {
        let flags = &mut Oddities::default();
        let once = canonical(&text, flags);
        prop_assert_eq!(canonical(&once, flags), once.clone());
        let _ = (Members::parse(&text, flags), elements(&text), value(&text, flags), string(&text, flags));
        // The scanner takes what serde_json takes, and nothing else.
        if serde_json::from_str::<&RawValue>(&text).is_err() {
            prop_assert_eq!(once, text);
        }
    }
}
