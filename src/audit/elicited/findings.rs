//! Findings about elicited columns: MT201 to MT205, MT207 to MT209, MT211 and MT212.

use super::values::shown;
use super::{Column, Summary, evidence_of, fields};
use crate::audit::wording::{Sentence, count, plural};
use crate::finding::Finding;
use crate::finding::rule::elicitations;
use crate::protocol::message::{Text, Ts};
use crate::schema::{ElicitationRow, FieldRow, ReasonCause, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of evidence that one finding carries; the tables have all.
const EVIDENCE: usize = 20;

pub fn add(summary: &Summary, found: &mut Vec<Finding>) {
    found.extend(unusable(summary));
    found.extend(acted_on(summary));
    for field in &summary.fields {
        found.extend(only_extremes(summary, field));
        found.extend(not_in_enum(summary, field));
    }
    found.extend(strays(summary));
    found.extend(secrets(summary));
    for field in &summary.fields {
        found.extend(bounds_vary(summary, field));
    }
    found.extend(refused(summary));
    found.extend(outside_subset(summary));
    found.extend(loops(summary));
}

fn subject(summary: &Summary, field: Option<&Text>) -> Vec<Text> {
    [&summary.column.server, &summary.column.operation].into_iter().chain(field).cloned().collect()
}

/// `set_budget on reports: `.
pub fn about_column(column: &Column) -> Sentence {
    Sentence::new().name(&column.operation).say(" on ").name(&column.server).say(": ")
}

fn about(summary: &Summary, field: Option<&Text>) -> Sentence {
    let Some(field) = field else { return about_column(summary.column) };
    let sentence = Sentence::new().name(&summary.column.operation).say(", field ").name(field);
    sentence.say(" on ").name(&summary.column.server).say(": ")
}

fn clients<'r>(rows: &[&'r ElicitationRow]) -> Vec<&'r Text> {
    rows.iter().filter_map(|row| row.client.as_ref()).collect()
}

fn first(rows: &[&ElicitationRow]) -> Option<Ts> {
    rows.iter().filter_map(|row| row.ts).min()
}

fn evidence(rows: &[&ElicitationRow]) -> Vec<crate::finding::evidence::Evidence> {
    rows.iter().take(EVIDENCE).map(|row| evidence_of(row)).collect()
}

/// Whether a field's values may be shown without `--reveal`.
fn closed(field: &FieldRow) -> bool {
    !field.enumeration.is_empty()
        || matches!(field.declared_type.as_deref(), Some("number" | "integer" | "boolean" | "enum"))
}

/// `; for example limit was 12000`, or nothing.
fn example(sentence: Sentence, faulty: Option<&fields::Answer>) -> Sentence {
    let Some((_, field)) = faulty else { return sentence };
    let sentence = sentence.say("; for example ").name(&field.field);
    let sentence = match field.value {
        Some(_) => sentence.say(" was ").value(shown(field, closed(field))),
        None => return sentence.say(" was missing"),
    };
    match field.reasons.first() {
        Some(reason) => sentence.say(format!(" ({reason})")),
        None => sentence,
    }
}

fn unusable(summary: &Summary) -> Option<Finding> {
    let row = &summary.row;
    if row.accept_unusable == 0 {
        return None;
    }
    let rows: Vec<&ElicitationRow> =
        summary.column.questions.iter().copied().filter(|question| question.verdict == Verdict::Unusable).collect();
    let mut reasons: Vec<(&str, u64)> = row.reasons.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let reasons: Vec<String> = reasons.into_iter().map(|(reason, n)| format!("{reason} {}", count(n))).collect();
    let judged = row.accept_usable + row.accept_unusable;
    let mut sentence = about(summary, None)
        .share(row.accept_unusable, judged)
        .say(" accepted answers do not fit the schema sent with their question: ")
        .say(reasons.join(", "));
    if summary.numbers_as_text > 0 {
        sentence = sentence.say(format!(" ({} sent as text)", plural(summary.numbers_as_text, "number")));
    }
    let examples = summary.fields.iter().flat_map(|field| field.faulty.first());
    let earliest = examples.min_by_key(|(row, _)| (row.seq, row.elicitation));
    let sentence = example(sentence.clients(clients(&rows)).since(first(&rows)), earliest);
    let by = |cause: ReasonCause| row.causes.get(cause.as_str()).copied().unwrap_or_default();
    let (person, software) = (by(ReasonCause::Person), by(ReasonCause::Integration));
    let next_step = if person >= software && person > 0 {
        "Check every accepted answer against the schema that was sent, and ask once more, naming the bound that was passed."
    } else if software > 0 {
        "Check every accepted answer against the schema that was sent; asking again will not help, the client has to send \
         what it was asked for."
    } else {
        "Check every accepted answer against the permitted values that were sent with that question."
    };
    let mut numbers = BTreeMap::from([
        ("unusable", row.accept_unusable as f64),
        ("accepted", judged as f64),
        ("asked", row.asked as f64),
    ]);
    numbers.insert("a_person", person as f64);
    numbers.insert("the_integration", software as f64);
    numbers.insert("not_in_enum", by(ReasonCause::Enumeration) as f64);
    Some(Finding {
        sentence: sentence.done(),
        numbers,
        evidence: evidence(&rows),
        next_step: next_step.to_string(),
        weight: row.accept_unusable,
        ..Finding::of(&elicitations::MT201, subject(summary, None))
    })
}

fn acted_on(summary: &Summary) -> Option<Finding> {
    let rows = &summary.acted_on;
    rows.first()?;
    let n = rows.len() as u64;
    let example = summary
        .fields
        .iter()
        .flat_map(|field| &field.faulty)
        .filter(|(row, _)| rows.iter().any(|acted| acted.elicitation == row.elicitation))
        .min_by_key(|(row, _)| (row.seq, row.elicitation));
    let sentence = about(summary, None)
        .share(n, summary.row.accept_unusable)
        .say(" unusable answers were acted on: the operation ended well")
        .clients(clients(rows))
        .since(first(rows));
    Some(Finding {
        sentence: self::example(sentence, example).done(),
        numbers: BTreeMap::from([("acted_on", n as f64), ("unusable", summary.row.accept_unusable as f64)]),
        evidence: evidence(rows),
        next_step: "Add the missing check: no client is bound to keep the schema it was sent.".to_string(),
        weight: n,
        ..Finding::of(&elicitations::MT202, subject(summary, None))
    })
}

fn only_extremes(summary: &Summary, field: &fields::Summary) -> Option<Finding> {
    let row = &field.row;
    if !row.only_extremes {
        return None;
    }
    let bounds = row.declared_bounds.first()?;
    let ends: Vec<&ElicitationRow> =
        [field.holders.min, field.holders.max].into_iter().flatten().map(|(at, _)| at).collect();
    let text = |text: &Option<Text>| text.as_deref().unwrap_or("none").to_string();
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let sentence = about(summary, Some(&row.field)).say(format!(
        "of {} values the middle 98 % ({} to {}) keep the bounds ({} to {}); only the least ({}) and the greatest ({}) \
         betray the {} that pass them",
        count(row.n),
        number(row.p1),
        number(row.p99),
        text(&bounds.minimum),
        text(&bounds.maximum),
        text(&row.min),
        text(&row.max),
        count(row.shows_at_extremes),
    ));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("n", row.n as f64),
            ("shows_at_extremes", row.shows_at_extremes as f64),
            ("cannot_show", row.cannot_show as f64),
        ]),
        evidence: evidence(&ends),
        next_step: "Watch minimum and maximum of this field, not its percentiles.".to_string(),
        weight: row.shows_at_extremes,
        ..Finding::of(&elicitations::MT203, subject(summary, Some(&row.field)))
    })
}

fn not_in_enum(summary: &Summary, field: &fields::Summary) -> Option<Finding> {
    let row = &field.row;
    let (at, example) = field.not_in_enum.first()?;
    let rows: Vec<&ElicitationRow> = field.not_in_enum.iter().map(|(row, _)| *row).collect();
    let n = rows.len() as u64;
    let origins: Vec<String> = row.enum_origins.iter().map(|(origin, n)| format!("{origin} {}", count(*n))).collect();
    let mut sentence = about(summary, Some(&row.field))
        .share(n, row.accepted)
        .say(" accepted answers name a value that was not permitted, for example ")
        .value(shown(example, true))
        .say(format!("; where such values come from: {}", origins.join(", ")));
    if row.enum_varies {
        sentence =
            sentence.say("; the permitted values differ between sessions, so that they are an authorisation list");
    }
    if let Some(latency) = at.latency_ms {
        sentence = sentence.say(format!("; {:.1} s between that question and its answer", latency / 1000.0));
    }
    Some(Finding {
        sentence: sentence.clients(clients(&rows)).since(first(&rows)).done(),
        numbers: BTreeMap::from([("not_in_enum", n as f64), ("accepted", row.accepted as f64)]),
        evidence: evidence(&rows),
        next_step: if row.enum_varies {
            "Decide on the server what this session may choose; the list in the question is no check.".to_string()
        } else {
            "Refuse values outside the list, and see whether the client shows the list to the person at all."
                .to_string()
        },
        weight: n,
        ..Finding::of(&elicitations::MT204, subject(summary, Some(&row.field)))
    })
}

fn strays(summary: &Summary) -> Option<Finding> {
    let rows = &summary.column.strays;
    rows.first()?;
    let stray = &summary.row.stray;
    let kinds: Vec<String> = [
        (stray.replayed, "repeated for a question already answered"),
        (stray.key_not_asked, "under a key nobody asked"),
        (stray.state_unknown, "with a state nobody issued"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, words)| format!("{} {words}", count(n)))
    .collect();
    let n = rows.len() as u64;
    let sentence = about(summary, None)
        .say(format!("beside {}, {} to none of them: ", plural(summary.row.asked, "question"), plural(n, "answer")))
        .say(kinds.join(", "))
        .clients(clients(rows))
        .since(first(rows));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("replayed", stray.replayed as f64),
            ("key_not_asked", stray.key_not_asked as f64),
            ("state_unknown", stray.state_unknown as f64),
        ]),
        evidence: evidence(rows),
        next_step: "Make the server take each answer once, and only under the keys and states it issued.".to_string(),
        weight: n,
        ..Finding::of(&elicitations::MT205, subject(summary, None))
    })
}

fn secrets(summary: &Summary) -> Vec<Finding> {
    let secret = |(field, rows): (&Text, &Vec<&ElicitationRow>)| Finding {
        sentence: about(summary, Some(field))
            .say(format!("a form asks for what reads like a secret, in {}", plural(rows.len() as u64, "question")))
            .clients(clients(rows))
            .since(first(rows))
            .done(),
        numbers: BTreeMap::from([("asked", rows.len() as f64)]),
        evidence: evidence(rows),
        next_step:
            "Ask for secrets in url mode: what stands in a form passes through the client, its logs and its model."
                .to_string(),
        weight: rows.len() as u64,
        ..Finding::of(&elicitations::MT207, subject(summary, Some(field)))
    };
    summary.secrets.iter().map(secret).collect()
}

fn bounds_vary(summary: &Summary, field: &fields::Summary) -> Option<Finding> {
    let row = &field.row;
    if !row.bounds_vary {
        return None;
    }
    let kinds = row.declared_bounds.len() as u64;
    let asked: u64 = row.declared_bounds.iter().map(|bounds| bounds.asked).sum();
    Some(Finding {
        sentence: about(summary, Some(&row.field))
            .say(format!("sessions are asked with {} kinds of bounds in {}", count(kinds), plural(asked, "question")))
            .say(", so that the bounds tell what each session is entitled to")
            .done(),
        numbers: BTreeMap::from([("kinds", kinds as f64), ("asked", asked as f64)]),
        evidence: Vec::new(),
        next_step:
            "Check the entitlement on the server; a bound in a question is shown to the client and binds nobody."
                .to_string(),
        weight: asked,
        ..Finding::of(&elicitations::MT208, subject(summary, Some(&row.field)))
    })
}

fn refused(summary: &Summary) -> Option<Finding> {
    let rows = &summary.refused;
    rows.first()?;
    let n = rows.len() as u64;
    Some(Finding {
        sentence: about(summary, None)
            .share(n, summary.row.accept_usable)
            .say(" usable answers were refused: the operation ended in an error")
            .clients(clients(rows))
            .since(first(rows))
            .done(),
        numbers: BTreeMap::from([("refused", n as f64), ("usable", summary.row.accept_usable as f64)]),
        evidence: evidence(rows),
        next_step: "If a policy stands behind it that a schema can state, state it; else say it in the question."
            .to_string(),
        weight: n,
        ..Finding::of(&elicitations::MT209, subject(summary, None))
    })
}

fn outside_subset(summary: &Summary) -> Option<Finding> {
    let rows: Vec<&ElicitationRow> =
        summary.column.questions.iter().copied().filter(|question| !question.outside_subset.is_empty()).collect();
    rows.first()?;
    let keywords: BTreeSet<&Text> = rows.iter().flat_map(|row| &row.outside_subset).collect();
    let n = rows.len() as u64;
    Some(Finding {
        key: keywords.iter().map(|keyword| &***keyword).collect::<Vec<_>>().join(","),
        sentence: about(summary, None)
            .say(format!(
                "{} of {} use keywords outside the elicitation subset: ",
                count(n),
                plural(summary.row.asked, "question")
            ))
            .names(keywords.iter().copied())
            .done(),
        numbers: BTreeMap::from([("asked", n as f64), ("keywords", keywords.len() as f64)]),
        evidence: evidence(&rows),
        next_step: "Keep to the subset of the revision: clients may ignore or refuse the rest.".to_string(),
        weight: n,
        ..Finding::of(&elicitations::MT211, subject(summary, None))
    })
}

fn loops(summary: &Summary) -> Option<Finding> {
    let rows = &summary.loops;
    rows.first()?;
    let n = rows.len() as u64;
    let reprompts: Vec<String> = summary
        .row
        .reprompts
        .iter()
        .map(|(cause, (again, usable))| format!("{cause}: {} usable of {} asked again", count(*usable), count(*again)))
        .collect();
    Some(Finding {
        sentence: about(summary, None)
            .say(format!("{} asked the same question again and again after unusable answers", plural(n, "operation")))
            .say(format!(" ({})", reprompts.join("; ")))
            .clients(clients(rows))
            .since(first(rows))
            .done(),
        numbers: BTreeMap::from([("loops", n as f64)]),
        evidence: evidence(rows),
        next_step:
            "Ask again once where a person may have mistyped; where the integration did it, end with a clear error."
                .to_string(),
        weight: n,
        ..Finding::of(&elicitations::MT212, subject(summary, None))
    })
}
