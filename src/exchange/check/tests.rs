use super::*;
use crate::protocol::message::{RequestBody, Shape};
use crate::protocol::parse;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The form of the recorded refunds (a Python server's spelling).
const REFUND: &str = r#"{"properties":{"amount":{"description":"Refund in whole euros","maximum":500,"minimum":1,"title":"Amount","type":"integer"},"reason":{"enum":["damaged","late","wrong-item"],"title":"Reason","type":"string"},"confirm":{"default":false,"type":"boolean"},"note":{"default":"","maxLength":40,"type":"string"}},"required":["amount","reason"],"title":"RefundForm","type":"object"}"#;

fn question(schema: &str) -> Question {
    let params = format!(r#"{{"message":"m","requestedSchema":{schema}}}"#);
    match parse::request("elicitation/create", Some(&params), &mut Oddities::default()).body {
        RequestBody::Elicit(question) => *question,
        other => panic!("{other:?}"),
    }
}

fn answer(result: &str) -> ElicitationAnswer {
    match parse::answer(result, &mut Oddities::default()).shape {
        Shape::Elicitation(answer) => *answer,
        other => panic!("{other:?}"),
    }
}

fn accept(schema: &str, content: &str) -> Checked {
    let answer = answer(&format!(r#"{{"action":"accept","content":{content}}}"#));
    Checker::new().check(&question(schema), &answer, Some("2025-11-25"))
}

/// Reasons of a form with one field `f`.
fn of_field(property: &str, value: &str) -> Vec<Reason> {
    let schema = format!(r#"{{"type":"object","properties":{{"f":{property}}}}}"#);
    let checked = accept(&schema, &format!(r#"{{"f":{value}}}"#));
    assert_eq!(checked.reasons, [], "{property} {value}");
    assert_eq!(checked.fields.len(), 1);
    let row = &checked.fields[0];
    let (verdict, of_row) = match row.reasons.is_empty() {
        true => (Verdict::Usable, FieldVerdict::Usable),
        false => (Verdict::Unusable, FieldVerdict::Unusable),
    };
    assert_eq!((checked.verdict, row.verdict), (verdict, of_row), "{property} {value}");
    row.reasons.clone()
}

fn verdicts(checked: &Checked) -> Vec<(&str, FieldVerdict)> {
    checked.fields.iter().map(|row| (&*row.field, row.verdict)).collect()
}

/// The answers that were recorded in one session of each kind, and how an independent count named their faults.
#[test]
fn recorded_answers_break_the_schema_as_an_independent_count_says() {
    let answers = [
        r#"{"action":"accept","content":{"amount":20,"reason":"late","confirm":true}}"#,
        r#"{"action":"accept","content":{"amount":"25000","reason":"late"}}"#,
        r#"{"action":"accept","content":{"amount":25000,"reason":"late"}}"#,
        r#"{"action":"accept","content":{"amount":0,"reason":"damaged"}}"#,
        r#"{"action":"accept","content":{"amount":12.5,"reason":"damaged"}}"#,
        r#"{"action":"accept","content":{"amount":20,"reason":"Late"}}"#,
        r#"{"action":"accept","content":{"amount":20}}"#,
        r#"{"action":"accept","content":{"amount":20,"reason":"late","iban":"XX00"}}"#,
        r#"{"action":"accept","content":{"amount":20,"reason":"late","note":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}"#,
        r#"{"action":"accept","content":{"amount":20,"reason":"late","confirm":"yes"}}"#,
        r#"{"action":"accept"}"#,
        r#"{"action":"accept","content":{}}"#,
        r#"{"action":"accept","content":{"amount":20,"reason":"late","note":null}}"#,
        r#"{"action":"accept","content":"yes please"}"#,
        r#"{"action":"accept","content":{"amount":20,"reason":["late"]}}"#,
        r#"{"action":"accept","content":{"amount":1000.0,"reason":"late"}}"#,
        r#"{"action":"accept","content":{"amount":20.0,"reason":"late"}}"#,
        r#"{"action":"accept","content":{"amount":true,"reason":"late"}}"#,
    ];
    let (mut checker, question) = (Checker::new(), question(REFUND));
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    let mut usable = 0;
    for text in answers {
        let checked = checker.check(&question, &answer(text), Some("2025-11-25"));
        usable += u32::from(checked.verdict == Verdict::Usable);
        for reason in &checked.reasons {
            *reasons.entry(reason.to_string()).or_default() += 1;
        }
        for row in &checked.fields {
            for reason in &row.reasons {
                *reasons.entry(format!("{reason}:{}", row.field)).or_default() += 1;
            }
        }
    }
    let expected = [
        ("above maximum:amount", 2),
        ("below minimum:amount", 1),
        ("content missing", 1),
        ("content not an object", 1),
        ("missing required:amount", 1),
        ("missing required:reason", 2),
        ("nested value:reason", 1),
        ("not an integer:amount", 1),
        // A list is neither text nor one of the three words: both are said.
        ("not in enum:reason", 2),
        ("too long:note", 1),
        ("unknown key:iban", 1),
        ("wrong type:amount", 2),
        ("wrong type:confirm", 1),
        ("wrong type:note", 1),
    ];
    assert_eq!(reasons, expected.map(|(reason, count)| (reason.to_owned(), count)).into());
    assert_eq!(usable, 2);
}

#[test]
fn each_reason_comes_from_its_keyword() {
    let cases = [
        (r#"{"type":"integer","minimum":1}"#, "0", vec![Reason::BelowMinimum]),
        (r#"{"type":"number","exclusiveMinimum":1}"#, "1", vec![Reason::BelowMinimum]),
        (r#"{"type":"number","exclusiveMaximum":1}"#, "1.0", vec![Reason::AboveMaximum]),
        (r#"{"type":"number","maximum":9007199254740992}"#, "9007199254740993", vec![Reason::AboveMaximum]),
        (r#"{"type":"number","maximum":5}"#, "1e999", vec![Reason::AboveMaximum]),
        (r#"{"type":"integer"}"#, "20.0", vec![]),
        (r#"{"type":"integer"}"#, "20.5", vec![Reason::NotAnInteger]),
        (r#"{"type":"integer"}"#, "\"20\"", vec![Reason::WrongType]),
        (r#"{"type":"number","multipleOf":1}"#, "2.5", vec![Reason::NotAnInteger]),
        (r#"{"type":"integer","multipleOf":5}"#, "7", vec![Reason::BadFormat]),
        (r#"{"type":"string"}"#, "null", vec![Reason::WrongType]),
        (r#"{"type":"string"}"#, "{\"a\":1}", vec![Reason::NestedValue]),
        (r#"{"type":"string","minLength":2}"#, "\"é\"", vec![Reason::TooShort]),
        (r#"{"type":"string","maxLength":1}"#, "\"ab\"", vec![Reason::TooLong]),
        (r#"{"type":"string","pattern":"^[a-z]+$"}"#, "\"A\"", vec![Reason::Pattern]),
        (r#"{"type":"string","pattern":"^(?!x)"}"#, "\"xy\"", vec![Reason::Pattern]),
        (r#"{"type":"string","format":"email"}"#, "\"nobody\"", vec![Reason::BadFormat]),
        (r#"{"type":"string","format":"email"}"#, "\"a@example.test\"", vec![]),
        (r#"{"type":"string","format":"uri"}"#, "\"not a uri\"", vec![Reason::BadFormat]),
        (r#"{"type":"string","format":"date"}"#, "\"2026-02-30\"", vec![Reason::BadFormat]),
        (r#"{"type":"string","format":"date-time"}"#, "\"2026-02-28\"", vec![Reason::BadFormat]),
        (r#"{"type":"string","format":"date-time"}"#, "\"2026-02-28T10:00:00Z\"", vec![]),
        (r#"{"type":"string","format":"shoe-size"}"#, "\"43\"", vec![]),
        (r#"{"type":"string","enum":["a","b"]}"#, "\"A\"", vec![Reason::NotInEnum]),
        (
            r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#,
            "\"c\"",
            vec![Reason::NotInEnum],
        ),
        (r#"{"type":"string","const":"a"}"#, "\"c\"", vec![Reason::NotInEnum]),
        (r#"{"anyOf":[{"type":"string","maxLength":2},{"type":"null"}]}"#, "\"abc\"", vec![Reason::TooLong]),
        (r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, "\"5\"", vec![Reason::WrongType]),
        (r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, "null", vec![]),
        (r#"{"type":"array","items":{"enum":["a","b"]},"minItems":1}"#, "[]", vec![Reason::TooFewItems]),
        (
            r#"{"type":"array","items":{"enum":["a","b"]},"maxItems":1}"#,
            r#"["a","x"]"#,
            vec![Reason::NotInEnum, Reason::TooManyItems],
        ),
        (r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}"#, r#"["b","c"]"#, vec![Reason::NotInEnum]),
        (r#"{"type":"array","items":{"type":"string"}}"#, r#"["a",{}]"#, vec![Reason::NestedValue]),
        (r#"{"type":"array","items":{"type":"string"}}"#, "\"a\"", vec![Reason::WrongType]),
        (r#"{"type":"array","uniqueItems":true}"#, r#"[1,1.0]"#, vec![Reason::TooManyItems]),
    ];
    for (property, value, expected) in cases {
        assert_eq!(of_field(property, value), expected, "{property} {value}");
    }
}

#[test]
fn all_reasons_are_kept_and_the_first_is_by_precedence() {
    let schema = r#"{"type":"object","properties":{"z":{"type":"string","maxLength":1,"pattern":"^a"},"a":{"type":"integer","minimum":5}},"required":["missing","a"]}"#;
    let checked = accept(schema, r#"{"extra":1,"a":1,"z":"bb"}"#);
    let rows: Vec<(&str, bool, &[Reason])> =
        checked.fields.iter().map(|row| (&*row.field, row.declared, &*row.reasons)).collect();
    assert_eq!(
        rows,
        [
            ("z", true, &[Reason::TooLong, Reason::Pattern][..]),
            ("a", true, &[Reason::BelowMinimum][..]),
            ("missing", false, &[Reason::MissingRequired][..]),
            ("extra", false, &[Reason::UnknownKey][..]),
        ]
    );
    assert_eq!(checked.first_reason, Some(Reason::MissingRequired));
    assert_eq!(checked.cause, Some(ReasonCause::Integration));
    assert_eq!(accept(schema, r#"{"missing":1,"a":1}"#).first_reason, Some(Reason::UnknownKey));
}

#[test]
fn a_key_nobody_declared_is_unknown_whatever_the_schema_allows() {
    for extra in ["", r#","additionalProperties":true"#, r#","additionalProperties":false"#] {
        let schema = format!(r#"{{"type":"object","properties":{{"a":{{"type":"string"}}}}{extra}}}"#);
        let checked = accept(&schema, r#"{"a/b~c":1,"a":"x"}"#);
        assert_eq!(verdicts(&checked), [("a", FieldVerdict::Usable), ("a/b~c", FieldVerdict::Unusable)]);
        assert_eq!(checked.fields[1].reasons, [Reason::UnknownKey]);
        assert_eq!((checked.fields[1].declared, &checked.fields[1].declared_type), (false, &None));
        assert_eq!(checked.verdict, Verdict::Unusable);
    }
}

#[test]
fn reasons_find_fields_with_slashes_in_their_names() {
    let schema = r#"{"type":"object","properties":{"a/b~c":{"type":"integer"},"":{"type":"string"}}}"#;
    let checked = accept(schema, r#"{"a/b~c":"x","":5}"#);
    assert_eq!(checked.reasons, []);
    assert!(checked.fields.iter().all(|row| row.reasons == [Reason::WrongType]));
}

#[test]
fn an_empty_accept_is_fine_where_nothing_is_required() {
    let checked = accept(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#, "{}");
    assert_eq!(checked.verdict, Verdict::Usable);
    assert_eq!(verdicts(&checked), [("a", FieldVerdict::AbsentOptional)]);
    assert_eq!(accept(r#"{"type":"object","properties":{}}"#, "{}").verdict, Verdict::Usable);
    let required = accept(REFUND, "{}");
    assert_eq!(
        verdicts(&required),
        [
            ("amount", FieldVerdict::MissingRequired),
            ("reason", FieldVerdict::MissingRequired),
            ("confirm", FieldVerdict::AbsentOptional),
            ("note", FieldVerdict::AbsentOptional),
        ]
    );
}

#[test]
fn no_content_writes_no_fields() {
    for (content, reason) in [
        ("null", Reason::ContentMissing),
        ("\"x\"", Reason::ContentNotAnObject),
        ("[]", Reason::ContentNotAnObject),
        ("5", Reason::ContentNotAnObject),
    ] {
        let checked = accept(REFUND, content);
        assert_eq!((checked.verdict, &*checked.reasons), (Verdict::Unusable, &[reason][..]));
        assert_eq!((checked.first_reason, checked.cause), (Some(reason), Some(ReasonCause::Integration)));
        assert!(checked.fields.is_empty());
    }
}

#[test]
fn only_accepts_are_judged_and_url_mode_has_no_fields() {
    let mut checker = Checker::new();
    let declined = checker.check(&question(REFUND), &answer(r#"{"action":"decline","content":{"amount":"x"}}"#), None);
    assert_eq!((declined.verdict, declined.first_reason, declined.fields.len()), (Verdict::None, None, 0));
    assert!(declined.content_hash.is_some());
    let url = Question { mode: Mode::Url, schema: None, ..question(REFUND) };
    let consented = checker.check(&url, &answer(r#"{"action":"accept"}"#), None);
    assert_eq!((consented.verdict, consented.first_reason, consented.fields.len()), (Verdict::Url, None, 0));
}

#[test]
fn what_cannot_be_checked_is_unchecked() {
    let hostile = [
        r#"{"type":"object","properties":[]}"#.to_owned(),
        r#"{"type":"objekt"}"#.to_owned(),
        "true".to_owned(),
        r#"{"$ref":"https://example.test/schema.json"}"#.to_owned(),
        r#"{"$ref":"file:///etc/hostname"}"#.to_owned(),
        r##"{"$ref":"#"}"##.to_owned(),
        r##"{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}"##.to_owned(),
        r#"{"properties":{"a":{"pattern":"("}}}"#.to_owned(),
        r#"{"properties":{"a":{"pattern":"((((((a{1,100}){1,100}){1,100}){1,100}){1,100}){1,100})"}}}"#.to_owned(),
        format!(r#"{{"type":"object","title":"{}"}}"#, "x".repeat(70_000)),
        format!("{}{{}}{}", r#"{"not":"#.repeat(5000), "}".repeat(5000)),
    ];
    for schema in hostile {
        let checked = accept(&schema, r#"{"a":"x"}"#);
        let shown = clip(&schema, 80);
        assert_eq!((checked.verdict, checked.first_reason, checked.cause), (Verdict::Unchecked, None, None), "{shown}");
        assert_eq!(verdicts(&checked), [("a", FieldVerdict::Unchecked)], "{shown}");
    }
    let lost = Question { captured: false, ..question(REFUND) };
    let checked = Checker::new().check(&lost, &answer(r#"{"action":"accept"}"#), None);
    assert_eq!((checked.verdict, checked.fields.len()), (Verdict::Unchecked, 0));
}

#[test]
fn a_schema_that_doubles_at_every_reference_is_refused() {
    let definitions: Vec<String> = (0..40)
        .map(|n| format!(r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{m}"}},{{"$ref":"#/$defs/d{m}"}}]}}"##, m = n + 1))
        .collect();
    let schema = format!(r##"{{"$defs":{{{},"d40":{{}}}},"$ref":"#/$defs/d0"}}"##, definitions.join(","));
    assert_eq!(accept(&schema, r#"{"a":1}"#).verdict, Verdict::Unchecked);
}

#[test]
fn a_pattern_that_needs_too_much_backtracking_decides_nothing() {
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"string","pattern":"^(a|aa)+\\1$"},"b":{"type":"integer"}}}"#;
    let value = "a".repeat(60);
    let undecided = accept(schema, &format!(r#"{{"a":"{value}c","b":1}}"#));
    assert_eq!((undecided.verdict, undecided.first_reason), (Verdict::Unchecked, None));
    assert_eq!(verdicts(&undecided), [("a", FieldVerdict::Unchecked), ("b", FieldVerdict::Unchecked)]);
    let found = accept(schema, &format!(r#"{{"a":"{value}c","b":"x"}}"#));
    assert_eq!(found.verdict, Verdict::Unusable, "what was found counts");
    assert_eq!(found.first_reason, Some(Reason::WrongType));
}

#[test]
fn schemas_as_deep_as_accepted_need_no_deep_stack() {
    let depth = references_depth();
    let nested = format!("{}{{\"type\":\"object\"}}{}", r#"{"allOf":["#.repeat(depth), "]}".repeat(depth));
    let checked = std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || accept(&nested, "{}").verdict)
        .expect("a thread")
        .join()
        .expect("no overflow");
    assert_eq!(checked, Verdict::Usable);
}

/// `allOf` and its array are two levels each, the innermost schema is one more.
fn references_depth() -> usize {
    (references::MAX_DEPTH as usize - 1) / 2
}

#[test]
fn deep_content_is_a_nested_value() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(of_field(r#"{"type":"string"}"#, &deep), [Reason::NestedValue]);
    let objects = format!("{}1{}", r#"{"a":"#.repeat(5000), "}".repeat(5000));
    assert_eq!(of_field(r#"{"type":"string"}"#, &objects), [Reason::NestedValue]);
}

#[test]
fn rows_say_what_was_declared_and_what_was_sent() {
    let schema = r##"{"type":"object","$defs":{"Team":{"type":"string","enum":["red","blue"]}},"properties":{
        "n":{"type":"integer","minimum":1.50,"exclusiveMaximum":1e3,"default":5},
        "s":{"type":"string","minLength":3.0,"maxLength":10,"format":"email"},
        "e":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},
        "m":{"type":"array","items":{"enum":["x","y"]},"minItems":1,"maxItems":2},
        "o":{"anyOf":[{"type":"integer","minimum":2},{"type":"null"}],"default":null},
        "r":{"$ref":"#/$defs/Team"},
        "t":{"type":["string","null"]}}}"##;
    let checked = accept(schema, r#"{"n":" 42 ","m":["x","y"],"s":"é@b.test","o":9007199254740993,"e":"inf"}"#);
    let row = |name: &str| checked.fields.iter().find(|row| &*row.field == name).expect("a row");
    let types: Vec<Option<&str>> = checked.fields.iter().map(|row| row.declared_type.as_deref()).collect();
    let expected = ["integer", "string", "enum", "array", "integer", "enum", "string"].map(Some);
    assert_eq!(types, expected);
    assert_eq!((row("n").minimum.as_deref(), row("n").maximum.as_deref()), (Some("1.50"), Some("1e3")));
    assert_eq!((row("n").json_type, row("n").value_number), (Some(ValueType::String), Some(42.0)));
    assert_eq!((row("s").min_length, row("s").max_length, row("s").value_chars), (Some(3), Some(10), Some(8)));
    assert_eq!(row("e").enumeration, ["a".into(), "b".into()]);
    assert_eq!(row("e").value_number, None, "words are no numbers");
    assert_eq!((row("m").value_items, row("m").min_items, row("m").max_items), (Some(2), Some(1), Some(2)));
    assert_eq!(row("m").enumeration, ["x".into(), "y".into()]);
    assert_eq!((row("o").value.as_deref(), row("o").default.as_deref()), (Some("9007199254740993"), Some("null")));
    assert_eq!(row("r").enumeration, ["red".into(), "blue".into()]);
    assert_eq!((row("t").json_type, row("t").value.as_deref()), (None, None));
}

#[test]
fn long_values_are_cut_and_counted_whole() {
    let value = "é".repeat(5000);
    let checked = accept(r#"{"type":"object","properties":{"s":{"type":"string"}}}"#, &format!(r#"{{"s":"{value}"}}"#));
    let row = &checked.fields[0];
    assert_eq!(row.value.as_deref().map(str::len), Some(4096));
    assert_eq!(row.value_chars, Some(5000));
    assert_eq!(row.value_hash, Some(digest(value.as_bytes())));
}

#[test]
fn defaults_are_equal_in_value() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"number","default":5},"s":{"type":"string","default":"a"},"x":{"type":"string"}}}"#;
    assert!(accept(schema, r#"{"s":"\u0061","n":5.0}"#).equals_defaults);
    assert!(accept(schema, r#"{"s":"a"}"#).equals_defaults);
    assert!(!accept(schema, r#"{"s":"b","n":5}"#).equals_defaults);
    assert!(!accept(schema, r#"{"s":"a","x":"y"}"#).equals_defaults);
    assert!(!accept(schema, r#"{"n":"5"}"#).equals_defaults);
    assert!(!accept(schema, "{}").equals_defaults);
}

#[test]
fn equal_contents_have_equal_hashes() {
    let hash = |content: &str| accept(REFUND, content).content_hash;
    assert_eq!(hash(r#"{"amount":20,"reason":"late"}"#), hash(r#"{ "reason":"l\u0061te", "amount":20 }"#));
    assert_ne!(hash(r#"{"amount":20}"#), hash(r#"{"amount":20.0}"#));
    assert_eq!(hash("null"), None);
}

#[test]
fn keywords_outside_the_subset_depend_on_the_revision() {
    let mut checker = Checker::new();
    let mut outside = |schema: &str, revision: Option<&str>| -> Vec<String> {
        checker.facts(&question(schema), revision).outside_subset.iter().map(|word| word.to_string()).collect()
    };
    let schema = r#"{"type":"object","additionalProperties":false,"properties":{
        "a":{"type":"integer","exclusiveMinimum":1,"multipleOf":5,"default":5},
        "b":{"type":"array","items":{"type":"string","enum":["x"]},"maxItems":2},
        "c":{"type":"string","pattern":"^a","format":"hostname","title":"C"},
        "d":{"type":"boolean","default":true}}}"#;
    let new = ["additionalProperties", "exclusiveMinimum", "format", "multipleOf"];
    assert_eq!(outside(schema, Some("2025-11-25")), new);
    assert_eq!(outside(schema, Some("2026-07-28")), new);
    assert_eq!(outside(schema, None), new);
    let old = [
        "additionalProperties",
        "default",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "multipleOf",
        "pattern",
        "type",
    ];
    assert_eq!(outside(schema, Some("2025-06-18")), old);
    assert_eq!(outside(REFUND, Some("2025-11-25")), [""; 0]);
    assert_eq!(outside(r#"{"type":"object","properties":{"o":{"anyOf":[{"type":"string"}]}}}"#, None), ["anyOf"]);
}

#[test]
fn facts_need_no_answer() {
    let facts = Checker::new().facts(&question(REFUND), None);
    assert_eq!((facts.properties, facts.booleans, facts.schema_hash), (4, 1, digest(REFUND.as_bytes())));
    let none = Question { schema: None, ..question(REFUND) };
    assert_eq!(Checker::new().facts(&none, None), SchemaFacts::default());
}

#[test]
fn every_reason_has_a_cause() {
    let person = Reason::ALL.iter().filter(|reason| cause(**reason) == ReasonCause::Person).count();
    let integration = Reason::ALL.iter().filter(|reason| cause(**reason) == ReasonCause::Integration).count();
    assert_eq!((person, integration, Reason::ALL.len()), (8, 7, 16));
}

const KEYWORDS: [&str; 20] = [
    "type",
    "properties",
    "required",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "items",
    "minimum",
    "maximum",
    "minLength",
    "pattern",
    "format",
    "$ref",
    "$defs",
    "a",
    "b",
    "additionalProperties",
];

fn any_schema() -> impl Strategy<Value = serde_json::Value> {
    let words = ["object", "string", "integer", "array", "^a", "email", "#/$defs/a", "#", "a", "(("];
    let leaf = prop_oneof![
        any::<bool>().prop_map(serde_json::Value::from),
        (-2i64..5).prop_map(serde_json::Value::from),
        prop::sample::select(words.to_vec()).prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((prop::sample::select(KEYWORDS.to_vec()), inner), 0..6).prop_map(|members| {
                serde_json::Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_panics_and_rows_agree_with_the_verdict(schema in any_schema(), content in any_schema()) {
        let checked = accept(&schema.to_string(), &content.to_string());
        let faulty = checked.fields.iter().filter(|row| !row.reasons.is_empty()).count();
        prop_assert_eq!(checked.verdict == Verdict::Unusable, faulty > 0 || !checked.reasons.is_empty());
        prop_assert_eq!(checked.first_reason.is_some(), checked.verdict == Verdict::Unusable);
        for row in &checked.fields {
            let in_fault = matches!(row.verdict, FieldVerdict::Unusable | FieldVerdict::MissingRequired);
            prop_assert_eq!(in_fault, !row.reasons.is_empty());
            prop_assert!(row.reasons.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn an_answer_is_usable_exactly_where_the_standard_and_the_keys_say_so(
        amount in prop_oneof![(-2i64..503).prop_map(serde_json::Value::from), any::<f64>().prop_map(serde_json::Value::from)],
        reason in "damaged|late|wrong-item|Late",
        note in prop::option::of("x{0,45}"),
        extra in any::<bool>(),
    ) {
        let mut content = serde_json::json!({ "amount": amount, "reason": reason });
        if let Some(note) = &note {
            content["note"] = note.clone().into();
        }
        if extra {
            content["iban"] = "XX00".into();
        }
        let whole = amount.as_f64().is_some_and(|number| number.fract() == 0.0 && (1.0..=500.0).contains(&number));
        let fits = whole && reason != "Late" && note.is_none_or(|note| note.len() <= 40) && !extra;
        prop_assert_eq!(accept(REFUND, &content.to_string()).verdict == Verdict::Usable, fits);
    }
}
