use super::*;
use crate::protocol::prompt::{ArgumentsAs, Value};
use proptest::prelude::*;

fn arguments(entries: &[(&str, &str)]) -> Arguments {
    let value = |text: &str| Value { json_type: JsonType::String, text: text.into() };
    let entries = entries.iter().map(|(name, text)| ((*name).into(), value(text))).collect();
    Arguments { shape: ArgumentsAs::Object, entries }
}

fn facts(text: &str, entries: &[(&str, &str)]) -> RenderedFacts {
    rendered(text, &arguments(entries))
}

fn words(text: &str, entries: &[(&str, &str)]) -> Vec<String> {
    facts(text, entries).leaked.iter().map(|word| word.to_string()).collect()
}

/// A prompt whose author did not think of a missing tone.
fn naive(review: &str, tone: Option<&str>) -> String {
    format!("Write a reply. The tone must be {}.\n\n{review}", tone.unwrap_or("None"))
}

#[test]
fn supplied_values_do_not_change_the_skeleton() {
    let of =
        |review: &str, tone: &str| facts(&naive(review, Some(tone)), &[("review", review), ("tone", tone)]).skeleton;
    let warm = of("Arrived broken.", "warm");
    assert_eq!(of("Late, but a warm welcome.", "strict, please"), warm);
    let absent = facts(&naive("Arrived broken.", None), &[("review", "Arrived broken.")]);
    assert_ne!(absent.skeleton, warm);
    assert_eq!(absent.leaked, ["None".into()]);
    assert_eq!(
        facts(&naive("Arrived broken.", Some("warm")), &[("review", "Arrived broken.")]).leaked,
        [] as [Text; 0]
    );
}

#[test]
fn a_value_that_was_defaulted_in_silence_has_the_skeleton_of_an_absent_one() {
    let text = "The tone must be neutral.\n\nLate.";
    let absent = facts(text, &[("review", "Late.")]);
    assert_eq!(facts(text, &[("review", "Late."), ("tone", "sarcastic")]).skeleton, absent.skeleton);
    assert_ne!(
        facts("The tone must be sarcastic.\n\nLate.", &[("review", "Late."), ("tone", "sarcastic")]).skeleton,
        absent.skeleton
    );
}

#[test]
fn the_placeholder_names_the_argument() {
    let one = facts("to Ada", &[("from", "Ada")]).skeleton;
    assert_ne!(facts("to Ada", &[("to", "Ada")]).skeleton, one);
    assert_ne!(facts("to from", &[]).skeleton, one);
}

#[test]
fn longer_values_are_masked_before_those_inside_them() {
    let review = "a warm welcome";
    let entries = [("tone", "warm"), ("review", review)];
    let both = facts("warm: a warm welcome", &entries);
    assert_eq!(both.echoed, ["tone".into(), "review".into()]);
    let only_inside = facts("neutral: a warm welcome", &entries);
    assert_eq!(only_inside.echoed, ["review".into()], "the tone stands only in the review");
}

#[test]
fn short_values_are_masked_as_whole_words_only() {
    let of = |value: &str, text: &str| facts(text, &[("n", value)]).skeleton;
    assert_eq!(of("5", "at most 5 words"), of("7", "at most 7 words"));
    assert_ne!(of("5", "at most 55 words"), of("7", "at most 77 words"));
    assert_eq!(of("a", "a banana"), of("x", "x banana"), "the first word is masked, the fruit is not touched");
    assert_eq!(of("a", "a bunch"), of("u", "u bunch"));
    assert!(facts("at most 5 words", &[("n", "5")]).echoed.is_empty(), "too short to call it verbatim");
}

#[test]
fn numbers_are_masked_as_they_were_written() {
    let value = |text: &str| Value { json_type: JsonType::Number, text: text.into() };
    let of = |number: &str, text: &str| {
        let entries = vec![("limit".into(), value(number))];
        rendered(text, &Arguments { shape: ArgumentsAs::Object, entries })
    };
    assert_eq!(of("1250", "under 1250 euros").skeleton, of("9.75", "under 9.75 euros").skeleton);
    assert_eq!(of("1250", "under 1250 euros").echoed, ["limit".into()]);
}

#[test]
fn equal_values_are_one_mask_and_both_echo() {
    let both = facts("from Paris to Paris", &[("to", "Paris"), ("from", "Paris")]);
    assert_eq!(both.echoed, ["to".into(), "from".into()]);
    assert_eq!(both.skeleton, facts("from Paris to Paris", &[("from", "Paris"), ("to", "Paris")]).skeleton);
}

#[test]
fn blank_values_are_not_masked() {
    let text = "one two  three";
    assert_eq!(facts(text, &[("a", ""), ("b", " "), ("c", "  ")]).skeleton, facts(text, &[]).skeleton);
}

#[test]
fn words_of_absence_are_whole_words_outside_the_values() {
    assert_eq!(
        words("None, null; (undefined) NaN [object Object]", &[]),
        ["None", "null", "undefined", "NaN", "[object Object]"]
    );
    assert_eq!(words("Nonesuch nullable annulled NaNny none NULL undefined_area", &[]), [""; 0]);
    assert_eq!(words("Reply to: None of the above", &[("review", "None of the above")]), [""; 0]);
    assert_eq!(words("our undefined, our undefined", &[]), ["undefined"], "each once");
    assert_eq!(words("null then None", &[]), ["null", "None"], "in order of appearance");
}

#[test]
fn unfilled_placeholders_are_seen() {
    assert_eq!(
        words("{tone} {{area}} {{ mood }} ${name} %(style)s <voice> {product-area}", &[]),
        ["{tone}", "{{area}}", "{{ mood }}", "${name}", "%(style)s", "<voice>", "{product-area}"]
    );
    let plain = [
        "{}",
        "{ tone }",
        "{x}",
        "{1}",
        "{\"tone\": 1}",
        "a < b > c",
        "<https://example.test>",
        "<b>bold</b>",
        "<review>text</review>",
        "line<br>line",
        "100%(more)",
        "%(style)d",
        "{tone",
        "</tone>",
    ];
    for text in plain {
        assert_eq!(words(text, &[]), [""; 0], "{text}");
    }
    assert_eq!(words("see {name}", &[("note", "{name}")]), [""; 0], "somebody typed it");
}

#[test]
fn text_is_counted_in_characters() {
    assert_eq!(facts("é😀x", &[]).chars, 3);
    assert_eq!(facts("", &[("a", "x")]).chars, 0);
}

#[test]
fn large_texts_with_many_marks_are_read_once() {
    let review = "long text ".repeat(20_000);
    let template = "<aa> {bb} </cc> None ".repeat(5_000);
    let found = facts(&format!("{template}{review}"), &[("review", &review), ("tone", "warm")]);
    assert_eq!(found.leaked, ["<aa>".into(), "{bb}".into(), "None".into()]);
    assert_eq!(found.echoed, ["review".into()]);
    assert_eq!(found.skeleton, facts(&format!("{template}short"), &[("review", "short")]).skeleton);
}

proptest! {
    #[test]
    fn any_text_and_values(text in any::<String>(), values in prop::collection::vec(any::<String>(), 0..4)) {
        let names = ["a", "b", "c", "d"];
        let entries: Vec<(&str, &str)> = names.iter().zip(&values).map(|(name, value)| (*name, &**value)).collect();
        let found = facts(&text, &entries);
        prop_assert_eq!(found.chars, text.chars().count() as u64);
        prop_assert_eq!(&facts(&text, &entries), &found);
        // The order of arguments does not matter to what was rendered.
        let turned: Vec<(&str, &str)> = entries.iter().rev().copied().collect();
        prop_assert_eq!(facts(&text, &turned).skeleton, found.skeleton);
    }

    #[test]
    fn a_verbatim_template_has_one_skeleton(review in "[a-z ]{3,40}[0-9]{6}", tone in "[A-Z]{3,12}") {
        let text = format!("tone {tone}; review: {review}; be {tone}");
        let found = facts(&text, &[("review", &review), ("tone", &tone)]);
        let plain = facts("tone XYZ; review: q w 9; be XYZ", &[("review", "q w 9"), ("tone", "XYZ")]);
        prop_assert_eq!(found.skeleton, plain.skeleton);
        prop_assert_eq!(found.echoed.len(), 2);
    }
}
