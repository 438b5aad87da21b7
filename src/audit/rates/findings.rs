//! MT601: a rate changed.

use super::change::{CHANGE, STRETCH};
use super::{DECLINED, FAILING, MISMATCHED, UNINTENDED};
use crate::audit::tables::{Evidence, RateSeries, Side};
use crate::audit::wording::{Sentence, minute};
use crate::finding::{Finding, Severity, rule};
use crate::protocol::message::Text;
use ahash::AHashMap;
use std::collections::BTreeMap;

/// One finding a change. Series of one subject that change at the same call are one finding, told by the clearest of them.
pub fn findings(rows: &[RateSeries]) -> Vec<Finding> {
    let tested = rows.iter().filter(|row| row.change.p_value.is_some()).count();
    let mut named: Vec<&RateSeries> =
        rows.iter().filter(|row| matches!(row.change.verdict, CHANGE | STRETCH)).collect();
    named.sort_by(|a, b| b.change.ratio.unwrap_or_default().total_cmp(&a.change.ratio.unwrap_or_default()));
    let mut groups: Vec<Vec<&RateSeries>> = Vec::new();
    let mut numbers: AHashMap<_, usize> = AHashMap::new();
    for row in named {
        let first = row.change.first_after.as_ref().map(|at| (&at.file, at.position));
        let number = *numbers.entry((&row.server, &row.prompt, &row.operation, first)).or_insert(groups.len());
        match groups.get_mut(number) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.iter().filter_map(|group| finding(group, tested)).collect()
}

fn subject(row: &RateSeries) -> Vec<Text> {
    let names = [row.prompt.as_ref(), row.operation.as_ref(), row.argument.as_ref()];
    std::iter::once(&row.server).chain(names.into_iter().flatten()).cloned().collect()
}

fn what(sentence: Sentence, row: &RateSeries) -> Sentence {
    let sentence = match (row.kind, &row.argument) {
        (UNINTENDED, Some(argument)) => sentence.say("unintended values of ").name(argument).say(" in "),
        (FAILING, _) => sentence.say("errors of "),
        (MISMATCHED, _) => sentence.say("unknown or missing keys in calls of "),
        (DECLINED, _) => sentence.say("questions declined or cancelled in "),
        _ => sentence.say("unusable answers in "),
    };
    let sentence = match &row.operation {
        Some(operation) => sentence.name(operation),
        None => sentence.prompt(row.prompt.as_ref()),
    };
    sentence.say(" (").name(&row.server).say(")")
}

fn at(evidence: Option<&Evidence>) -> String {
    evidence.and_then(|at| at.ts).and_then(minute).unwrap_or_default()
}

fn finding(group: &[&RateSeries], tested: usize) -> Option<Finding> {
    let row = *group.first()?;
    let change = &row.change;
    let (before, after) = (change.before?, change.after?);
    let rose = after.rate.rate > before.rate.rate;
    let verb = if rose { "rose" } else { "fell" };
    let (first, last) = (at(change.first_after.as_ref()), at(change.last_before.as_ref()));
    let share = |sentence: Sentence, side: Side| sentence.share(side.hits, side.n);
    let mut sentence = what(Sentence::new(), row);
    sentence = match change.verdict {
        STRETCH => {
            let until = at(change.last_inside.as_ref());
            let sentence = share(sentence.say(format!(" {verb} from {first} to {until} UTC to ")), after);
            share(sentence.say(", against "), before).say(" before and after")
        }
        _ => {
            let sentence = share(sentence.say(format!(" {verb} from ")), before);
            share(sentence.say(" to "), after).say(format!(", between {last} and {first} UTC"))
        }
    };
    for other in group.iter().skip(1) {
        sentence = what(sentence.say("; at the same call changed: "), other);
    }
    sentence = sentence.say(format!(
        "; p {:.3} by {} orders of whole sessions, Holm over {tested} series",
        change.p_adjusted?, change.permutations
    ));
    let usual = Finding::of(&rule::time::MT601, subject(row));
    Some(Finding {
        severity: if rose { usual.severity } else { Severity::Note },
        key: row.kind.to_owned(),
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("n_before", before.n as f64),
            ("hits_before", before.hits as f64),
            ("n_after", after.n as f64),
            ("hits_after", after.hits as f64),
            ("likelihood_ratio", change.ratio.unwrap_or(f64::NAN)),
            ("p_adjusted", change.p_adjusted.unwrap_or(f64::NAN)),
        ]),
        evidence: [&change.last_before, &change.first_after, &change.last_inside]
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
        next_step:
            "Look at what was deployed, listed or rolled out between the two calls: a new client version, a changed \
                    declaration, another template."
                .to_owned(),
        weight: if rose { after.hits } else { before.hits },
        ..usual
    })
}
