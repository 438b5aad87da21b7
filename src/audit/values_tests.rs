use super::*;
use crate::audit::fixture::{Fixture, arg, text, typed_arg};
use crate::expect::{Expectations, Intended};
use crate::schema::ArgumentsShape;
use proptest::prelude::*;

fn tones() -> Expectations {
    Expectations {
        intended: vec![Intended {
            server: None,
            prompt: text("reply"),
            argument: text("tone"),
            values: ["warm", "formal", "playful"].map(text).to_vec(),
            source: "command line",
        }],
        ..Expectations::default()
    }
}

fn rows(fixture: &Fixture, expectations: &Expectations) -> Vec<Argument> {
    arguments(&Context::new(&fixture.frames, expectations))
}

fn row<'r>(rows: &'r [Argument], argument: &str) -> &'r Argument {
    rows.iter().find(|row| &*row.argument == argument).expect("the argument has a row")
}

fn closes(row: &Argument) {
    assert_eq!(row.calls, row.present + row.absent + row.not_captured + row.not_declared_then, "{row:?}");
    assert_eq!(row.present, row.values.iter().map(|value| value.calls).sum::<u64>());
    if row.intended_source.is_some() {
        assert_eq!(row.present, row.intended + row.unintended + row.not_judged);
        assert_eq!(row.unintended, row.classes.values().map(|class| class.calls).sum::<u64>());
        let ladder = row.ladder.last().expect("a ladder");
        assert_eq!(row.unintended, ladder.recovered + ladder.remaining);
    }
    let hosts: u64 = row.hosts.iter().map(|host| host.absent + host.zero_length + host.blank + host.filled).sum();
    assert_eq!(hosts, row.present + row.absent);
}

/// The worked figures of analyses.md §3, to scale: 184 calls, 169 intended, 15 unintended of which 3 empty from one host.
#[test]
fn the_month_in_miniature() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").session("b", "desk", "form");
    fixture.listing("a", &[("reply", &[("review", true, ""), ("tone", false, "")])]);
    for at in 0..169 {
        fixture.call("a", "reply", &[("review", "fine"), ("tone", ["warm", "formal", "playful"][at % 3])]);
    }
    for _ in 0..3 {
        fixture.call("b", "reply", &[("review", "fine"), ("tone", "")]);
    }
    let long = "word ".repeat(380);
    for tone in [
        "Warm",
        "Warm",
        "warm.",
        " warm",
        "ｗａｒｍ",
        "warn",
        "warm but not sycophantic",
        "warm\nformal",
        "blunt",
        "angry",
        "sad",
        long.trim(),
    ] {
        fixture.call("a", "reply", &[("review", "fine"), ("tone", tone)]);
    }
    let rows = rows(&fixture, &tones());
    let tone = row(&rows, "tone");
    closes(tone);
    closes(row(&rows, "review"));
    assert_eq!((tone.calls, tone.intended, tone.unintended, tone.absent), (184, 169, 15, 0));
    assert_eq!((tone.distinct, tone.unintended_distinct), (3 + 12, 12));
    assert_eq!((tone.zero_length, tone.empty), (3, 3));
    assert_eq!(tone.unintended_rendered, 15);
    let class = |name: &str| tone.classes.get(name).map(|class| (class.calls, class.distinct));
    assert_eq!(class("empty"), Some((3, 1)));
    assert_eq!(class("case"), Some((2, 1)));
    for one in ["punctuation", "spacing", "unicode", "misspelt", "qualified", "multiline", "oversized"] {
        assert_eq!(class(one), Some((1, 1)), "{one}");
    }
    assert_eq!(class("novel"), Some((3, 3)));
    let steps: Vec<(u64, u64)> = tone.ladder.iter().map(|step| (step.recovered, step.remaining)).collect();
    assert_eq!(steps, [(0, 15), (1, 14), (3, 12), (4, 11), (5, 10), (8, 7)]);
    let tail = tone.tail.as_ref().expect("a set is known");
    assert_eq!(tail.singletons, 10);
    assert_eq!(tail.mean, Some(12.0 / 11.0));
    assert_eq!(tail.rows_for, BTreeMap::from([("50", 5), ("80", 9), ("90", 10), ("100", 11)]));
    assert_eq!(tone.hosts.len(), 2);
    assert_eq!((&*tone.hosts[0].client, tone.hosts[0].zero_length), ("form", 3));
    assert_eq!(row(&rows, "review").intended_source, None);
    assert!(row(&rows, "review").values.iter().all(|value| value.class.is_none() && !value.value.closed));
    let oversized = tone.values.iter().find(|value| value.class == Some("oversized")).expect("pasted text");
    assert_eq!(oversized.words, 380);
}

#[test]
fn null_absent_and_empty_are_three_things() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide");
    fixture.listing("a", &[("reply", &[("tone", false, "")])]);
    fixture.call("a", "reply", &[]);
    fixture.call("a", "reply", &[("tone", "")]);
    fixture.call("a", "reply", &[("tone", "  \u{2003}")]);
    fixture.call_with("a", "reply", vec![typed_arg(0, "tone", ValueType::Null, "null")]);
    fixture.call_with("a", "reply", vec![arg(0, "tone", "null")]);
    fixture.call("a", "reply", &[]).arguments_as = ArgumentsShape::Absent;
    fixture.call("a", "reply", &[]).arguments_as = ArgumentsShape::Array;
    fixture.call("a", "reply", &[]).arguments_as = ArgumentsShape::NotCaptured;
    let rows = rows(&fixture, &tones());
    let tone = row(&rows, "tone");
    closes(tone);
    assert_eq!((tone.calls, tone.present, tone.absent, tone.not_captured), (8, 4, 3, 1));
    assert_eq!((tone.zero_length, tone.empty, tone.non_string, tone.distinct), (1, 2, 1, 4));
    assert_eq!(tone.classes["not a string"].calls, 1);
    assert_eq!(tone.classes["empty"].calls, 2);
    assert_eq!(tone.classes["novel"].calls, 1);
}

#[test]
fn values_group_by_json_type_and_exact_bytes() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide");
    fixture.call_with("a", "p", vec![typed_arg(0, "n", ValueType::Number, "42")]);
    fixture.call_with("a", "p", vec![typed_arg(0, "n", ValueType::String, "42")]);
    fixture.call_with("a", "p", vec![typed_arg(0, "n", ValueType::String, "42 ")]);
    let rows = rows(&fixture, &Expectations::default());
    let n = row(&rows, "n");
    closes(n);
    assert_eq!((n.distinct, n.non_string, n.declared), (3, 1, false));
}

#[test]
fn calls_from_before_the_argument_existed_are_a_term_of_their_own() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").listing("a", &[("reply", &[("review", true, "")])]);
    fixture.call("a", "reply", &[("review", "x")]);
    fixture.call("a", "reply", &[("review", "x"), ("tone", "warm")]);
    fixture.listing("a", &[("reply", &[("review", true, ""), ("tone", false, "One of: warm, cold.")])]);
    fixture.call("a", "reply", &[("review", "x")]);
    fixture.call("a", "reply", &[("review", "x"), ("tone", "hot")]);
    let rows = rows(&fixture, &Expectations::default());
    let tone = row(&rows, "tone");
    closes(tone);
    assert_eq!((tone.present, tone.absent, tone.not_declared_then), (2, 1, 1));
    assert_eq!((tone.intended_source, tone.intended, tone.unintended, tone.not_judged), (Some("description"), 0, 1, 1));
    assert_eq!(tone.unused, ["warm", "cold"].map(text));
    let review = row(&rows, "review");
    closes(review);
    assert_eq!(review.not_declared_then, 0);
}

#[test]
fn a_set_that_changes_judges_each_call_by_the_version_in_effect() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").listing("a", &[("reply", &[("tone", false, "One of: warm, cold.")])]);
    fixture.call("a", "reply", &[("tone", "hot")]);
    fixture.listing("a", &[("reply", &[("tone", false, "One of: warm, cold, hot.")])]);
    fixture.call("a", "reply", &[("tone", "hot")]);
    let rows = rows(&fixture, &Expectations::default());
    let tone = row(&rows, "tone");
    closes(tone);
    assert_eq!((tone.intended, tone.unintended, tone.distinct), (1, 1, 1));
    assert_eq!(tone.intended_values.len(), 3);
}

#[test]
fn the_file_goes_before_the_command_line_and_a_named_server_before_any() {
    let mut fixture = Fixture::new();
    fixture.session("a", "desk", "ide").call("a", "reply", &[("tone", "blunt")]);
    let block = |server: Option<&str>, value: &str, source: &'static str| Intended {
        server: server.map(text),
        prompt: text("reply"),
        argument: text("tone"),
        values: vec![text(value)],
        source,
    };
    let set = |intended: Vec<Intended>| {
        let rows = rows(&fixture, &Expectations { intended, ..Expectations::default() });
        row(&rows, "tone").intended_values.iter().map(|value| value.to_string()).collect::<Vec<_>>()
    };
    let any = block(None, "any", "expectations");
    let desk = block(Some("desk"), "desk", "expectations");
    let shop = block(Some("shop"), "shop", "expectations");
    let flag = block(None, "flag", "command line");
    assert_eq!(set(vec![any.clone(), desk, flag.clone()]), ["desk"]);
    assert_eq!(set(vec![flag.clone(), any]), ["any"]);
    assert_eq!(set(vec![shop.clone(), flag]), ["flag"]);
    assert!(set(vec![shop]).is_empty());
}

#[test]
fn completion_offers_a_set_only_where_all_whole_answers_agree() {
    let source = |change: fn(&mut Fixture)| {
        let mut fixture = Fixture::new();
        fixture.session("a", "desk", "ide").listing("a", &[("reply", &[("tone", false, "")])]);
        fixture.completion("a", "reply", "tone", &["warm", "cold"]);
        change(&mut fixture);
        fixture.call("a", "reply", &[("tone", "warm")]);
        let rows = rows(&fixture, &Expectations::default());
        row(&rows, "tone").intended_source
    };
    let offered = Some("completion (offered, not enforced)");
    assert_eq!(source(|_| ()), offered);
    assert_eq!(
        source(|fixture| {
            fixture.completion("a", "reply", "tone", &["cold", "warm"]);
        }),
        offered
    );
    assert_eq!(
        source(|fixture| {
            fixture.completion("a", "reply", "tone", &["cold"]);
        }),
        None
    );
    assert_eq!(source(|fixture| fixture.completion("a", "reply", "tone", &["cold"]).typed = Some(text("c"))), offered);
    assert_eq!(source(|fixture| fixture.frames.completions[0].has_more = true), None);
    assert_eq!(source(|fixture| fixture.frames.completions[0].total = Some(3.0)), None);
    assert_eq!(source(|fixture| fixture.frames.completions[0].total = Some(2.0)), offered);
    assert_eq!(source(|fixture| fixture.frames.completions[0].context = true), None);
}

#[test]
fn structure_smuggled_through_a_string() {
    let kind = |value: &str| structure(&arg(0, "k", value));
    assert_eq!(kind(" {\"a\": 1} "), Some(true));
    assert_eq!(kind("[1, 2]"), Some(true));
    assert_eq!(kind("{\"a\": 1"), Some(false));
    assert_eq!(kind("[1, 2"), Some(false));
    assert_eq!(kind("[urgent] call me"), None);
    assert_eq!(kind("{name}"), None);
    assert_eq!(kind("é"), None);
    assert_eq!(kind(""), None);
}

proptest! {
    #[test]
    fn classes_are_exhaustive_and_exclusive(values in prop::collection::vec(("(warm|formal|Warm|WARM|warn| |\\.|\"|\n|x|ｗ){0,5}|\\PC{0,6}", 0u8..8), 1..60)) {
        let mut fixture = Fixture::new();
        fixture.session("a", "desk", "ide");
        for (value, kind) in &values {
            let json_type = match kind { 0 => ValueType::Number, 1 => ValueType::Null, _ => ValueType::String };
            fixture.call_with("a", "reply", vec![typed_arg(0, "tone", json_type, value)]);
        }
        let rows = rows(&fixture, &tones());
        let tone = row(&rows, "tone");
        closes(tone);
        prop_assert_eq!(tone.distinct, tone.values.len() as u64);
        prop_assert!(tone.values.iter().all(|value| value.class.is_some()));
        let distinct: u64 = tone.classes.values().map(|class| class.distinct).sum();
        prop_assert_eq!(distinct, tone.unintended_distinct);
    }
}
