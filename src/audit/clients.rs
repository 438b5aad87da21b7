//! Clients by name and version: what they sent, what they answered, and whether a person seems to answer.

use super::context::{Context, UNKNOWN_CLIENT};
use super::intended::Judged;
use super::stats::quantiles::quantile;
use super::stats::wilson::wilson;
use super::tables::{Client, Evidence};
use super::wording::{Sentence, count, percent, plural};
use crate::expect::Thresholds;
use crate::finding::Finding;
use crate::finding::rule::elicitations;
use crate::protocol::message::{Text, Ts};
use crate::schema::{ElicitationOutcome, ElicitationRow, Stray, Verdict};
use ahash::AHashMap;
use std::collections::BTreeMap;

/// Rows of evidence that one finding carries.
const EVIDENCE: usize = 20;

/// What one client, in one version, did.
#[derive(Default)]
struct Seen<'a> {
    calls: u64,
    unintended_calls: u64,
    elicited: u64,
    usable: u64,
    unusable: u64,
    latencies: Vec<f64>,
    fast: u64,
    /// Accepted answers to forms of more than one yes/no question.
    forms: u64,
    defaults: u64,
    /// Those with an earlier answer to the same schema, and those equal to it.
    with_previous: u64,
    same_as_previous: u64,
    /// Accepted answers to such forms that could be alike, that were, and of the timed ones those that were fast.
    comparable: u64,
    alike: u64,
    timed_forms: u64,
    fast_forms: u64,
    first_form: Option<&'a ElicitationRow>,
    not_declared: Vec<&'a ElicitationRow>,
    content_without_accept: u64,
    previous: AHashMap<(u64, usize), Option<u64>>,
}

impl<'a> Seen<'a> {
    fn answer(&mut self, row: &'a ElicitationRow, server: usize, fast_ms: f64) {
        if let Some(latency) = row.latency_ms {
            self.latencies.push(latency);
            self.fast += u64::from(latency < fast_ms);
        }
        if row.schema_properties == 0 || (row.schema_properties == 1 && row.schema_booleans == 1) {
            return;
        }
        self.forms += 1;
        self.first_form.get_or_insert(row);
        let previous = self.previous.insert((row.schema_hash, server), row.content_hash);
        let same = row.content_hash.is_some() && previous == Some(row.content_hash);
        self.defaults += u64::from(row.equals_defaults);
        self.with_previous += u64::from(previous.is_some());
        self.same_as_previous += u64::from(same);
        self.comparable += u64::from(previous.is_some() || row.equals_defaults);
        self.alike += u64::from(same || row.equals_defaults);
        if let Some(latency) = row.latency_ms {
            self.timed_forms += 1;
            self.fast_forms += u64::from(latency < fast_ms);
        }
    }

    fn nobody_at_keyboard(&self, limits: &Thresholds) -> bool {
        let enough = limits.automatic_answers;
        let nearly_all =
            |part: u64, whole: u64| whole >= enough && part as f64 >= limits.automatic_share * whole as f64;
        self.forms >= enough && nearly_all(self.fast_forms, self.timed_forms) && nearly_all(self.alike, self.comparable)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The table of clients, sorted by name and version, and the findings MT206 and MT210.
pub fn clients(context: &Context) -> (Vec<Client>, Vec<Finding>) {
    let limits = &context.expectations.thresholds;
    let mut seen: BTreeMap<(Text, Option<Text>), Seen> = BTreeMap::new();
    let unknown: Text = UNKNOWN_CLIENT.into();
    let key = |client: &Option<Text>, version: &Option<Text>| {
        (client.clone().unwrap_or_else(|| unknown.clone()), version.clone())
    };
    for (at, call) in context.frames.calls.iter().enumerate() {
        let seen = seen.entry(key(&call.client, &call.client_version)).or_default();
        seen.calls += 1;
        let unintended = context.args_of(at).any(|arg| matches!(context.judged[arg], Judged::Unintended { .. }));
        seen.unintended_calls += u64::from(unintended);
    }
    let mut order: Vec<&ElicitationRow> =
        context.frames.elicitations.iter().filter(|row| row.stray == Stray::None).collect();
    order.sort_by_key(|row| (row.seq, row.elicitation));
    for row in order {
        let seen = seen.entry(key(&row.client, &row.client_version)).or_default();
        seen.elicited += 1;
        seen.content_without_accept += u64::from(row.content_without_accept);
        let declared = context.session(&row.session).and_then(|session| match &*row.mode {
            "form" => session.elicitation_form,
            "url" => session.elicitation_url,
            _ => None,
        });
        if declared == Some(false) {
            seen.not_declared.push(row);
        }
        if row.outcome == ElicitationOutcome::Accept && row.verdict != Verdict::Url {
            seen.usable += u64::from(row.verdict == Verdict::Usable);
            seen.unusable += u64::from(row.verdict == Verdict::Unusable);
            seen.answer(row, context.server_of(&row.session), limits.fast_answer_ms as f64);
        }
    }
    let (mut rows, mut found) = (Vec::with_capacity(seen.len()), Vec::new());
    for ((client, version), mut seen) in seen {
        seen.latencies.sort_unstable_by(f64::total_cmp);
        let row = Client {
            calls: seen.calls,
            unintended_calls: seen.unintended_calls,
            elicited: seen.elicited,
            usable: seen.usable,
            unusable: seen.unusable,
            unusable_rate: wilson(seen.unusable, seen.usable + seen.unusable),
            latency_p50_ms: quantile(&seen.latencies, 0.5),
            latency_p95_ms: quantile(&seen.latencies, 0.95),
            fast_share: share(seen.fast, seen.latencies.len() as u64),
            defaults_share: share(seen.defaults, seen.forms),
            same_as_previous_share: share(seen.same_as_previous, seen.with_previous),
            nobody_at_keyboard: seen.nobody_at_keyboard(limits),
            not_declared: seen.not_declared.len() as u64,
            content_without_accept: seen.content_without_accept,
            client,
            version,
        };
        found.extend(nobody(&row, &seen, limits));
        found.extend(not_declared(&row, &seen));
        rows.push(row);
    }
    (rows, found)
}

/// The time in which nobody reads a form, in words.
pub fn quickly(limits: &Thresholds) -> String {
    match limits.fast_answer_ms {
        500 => "half a second".to_owned(),
        other => format!("{} ms", count(other)),
    }
}

fn subject(row: &Client) -> Vec<Text> {
    std::iter::once(&row.client).chain(&row.version).cloned().collect()
}

fn named(row: &Client) -> Sentence {
    let sentence = Sentence::new().name(&row.client);
    match &row.version {
        Some(version) => sentence.say(" ").name(version),
        None => sentence,
    }
}

fn evidence(row: &ElicitationRow) -> Evidence {
    Evidence { file: row.file.clone(), position: row.position, ts: row.ts, session: Some(row.session.clone()) }
}

fn nobody(row: &Client, seen: &Seen, limits: &Thresholds) -> Option<Finding> {
    if !row.nobody_at_keyboard {
        return None;
    }
    let milliseconds = |value: Option<f64>| value.map_or("?".to_string(), |value| format!("{value:.0} ms"));
    let sentence = named(row)
        .say(" seems to answer without a person: ")
        .share(seen.fast_forms, seen.timed_forms)
        .say(format!(" accepted forms came back within {}", quickly(limits)))
        .say(format!(
            " (median {}), and {} of {} equal the defaults or the answer before",
            milliseconds(row.latency_p50_ms),
            count(seen.alike),
            count(seen.comparable),
        ))
        .since(seen.first_form.and_then(|row| row.ts));
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([
            ("forms", seen.forms as f64),
            ("fast", seen.fast_forms as f64),
            ("alike", seen.alike as f64),
            ("comparable", seen.comparable as f64),
        ]),
        evidence: seen.first_form.map(evidence).into_iter().collect(),
        next_step: "Do not take these answers as consent; ask where a person can be reached, or not at all."
            .to_string(),
        weight: seen.forms,
        ..Finding::of(&elicitations::MT206, subject(row))
    })
}

fn not_declared(row: &Client, seen: &Seen) -> Option<Finding> {
    let first = seen.not_declared.first()?;
    let n = seen.not_declared.len() as u64;
    let modes: BTreeMap<&Text, u64> = seen.not_declared.iter().fold(BTreeMap::new(), |mut modes, row| {
        *modes.entry(&row.mode).or_default() += 1;
        modes
    });
    let since: Option<Ts> = seen.not_declared.iter().filter_map(|row| row.ts).min();
    let sentence = named(row)
        .say(format!(" was asked {} it had not declared to answer (mode ", plural(n, "question")))
        .names(modes.keys().copied())
        .say(format!("), {} % of all it was asked", percent(n as f64 / row.elicited.max(1) as f64)))
        .since(since)
        .say("; for example by ")
        .name(&first.operation);
    Some(Finding {
        sentence: sentence.done(),
        numbers: BTreeMap::from([("not_declared", n as f64), ("elicited", row.elicited as f64)]),
        evidence: seen.not_declared.iter().take(EVIDENCE).map(|row| evidence(row)).collect(),
        next_step: "Look at the client's capabilities before asking, and go on without the answer where it has none."
            .to_string(),
        weight: n,
        ..Finding::of(&elicitations::MT210, subject(row))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::elicited::rows::{fault, limit, question};
    use crate::audit::fixture::Fixture;
    use crate::audit::wording::tests::plain;
    use crate::expect::{Expectations, Intended};
    use crate::schema::Reason;

    fn run(fixture: &Fixture, expectations: &Expectations) -> (Vec<Client>, Vec<Finding>) {
        clients(&Context::new(&fixture.frames, expectations))
    }

    fn rules(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn calls_and_answers_by_client_and_version() {
        let mut fixture = Fixture::new();
        fixture.session("a", "desk", "ide").session("b", "desk", "cli");
        fixture.call("a", "reply", &[("tone", "warm"), ("area", "x")]);
        fixture.call("a", "reply", &[("tone", "Warm"), ("area", "x")]);
        fixture.call("b", "reply", &[]).client = None;
        limit(&mut fixture, "b", "5");
        limit(&mut fixture, "b", "0");
        fault(&mut fixture, Reason::BelowMinimum, true);
        let expectations = Expectations {
            intended: vec![Intended {
                server: None,
                prompt: "reply".into(),
                argument: "tone".into(),
                values: vec!["warm".into()],
                source: "command line",
            }],
            ..Expectations::default()
        };
        let (rows, findings) = run(&fixture, &expectations);
        let names: Vec<(&str, u64, u64, u64)> =
            rows.iter().map(|row| (&*row.client, row.calls, row.unintended_calls, row.elicited)).collect();
        assert_eq!(names, [("(unknown client)", 1, 0, 0), ("cli", 0, 0, 2), ("ide", 2, 1, 0)]);
        assert_eq!((rows[1].usable, rows[1].unusable), (1, 1));
        assert_eq!(rows[1].unusable_rate.map(|rate| rate.rate), Some(0.5));
        assert_eq!((rows[1].latency_p50_ms, rows[1].fast_share), (Some(4_000.0), Some(0.0)));
        assert_eq!(rows[0].unusable_rate, None);
        assert!(findings.is_empty());
    }

    /// `n` answers with the given latency; with `alike` all have the same content.
    fn answers(n: u64, latency: f64, alike: bool, booleans: u32) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.session("a", "desk", "bot");
        for _ in 0..n {
            let row = question(&mut fixture, "a");
            row.latency_ms = Some(latency);
            (row.schema_properties, row.schema_booleans) = (if booleans == 1 { 1 } else { 2 }, booleans);
            if alike {
                row.content_hash = Some(1);
            }
        }
        fixture
    }

    #[test]
    fn fast_and_alike_is_nobody_at_the_keyboard() {
        let (rows, findings) = run(&answers(12, 20.0, true, 0), &Expectations::default());
        assert!(rows[0].nobody_at_keyboard);
        assert_eq!(rules(&findings), ["MT206"]);
        let sentence = plain(&findings[0].sentence);
        assert!(sentence.starts_with("bot 1.0 seems to answer without a person: 12 of 12 (100 %"), "{sentence}");
        for (what, look_alike) in [
            ("slow", answers(12, 2_000.0, true, 0)),
            ("different", answers(12, 20.0, false, 0)),
            ("few", answers(9, 20.0, true, 0)),
            ("one yes/no question", answers(12, 20.0, true, 1)),
        ] {
            let (rows, findings) = run(&look_alike, &Expectations::default());
            assert!(!rows[0].nobody_at_keyboard && findings.is_empty(), "{what}");
        }
    }

    #[test]
    fn answers_equal_to_the_defaults_are_alike() {
        let mut fixture = answers(12, 20.0, false, 2);
        for row in &mut fixture.frames.elicitations {
            row.equals_defaults = true;
        }
        let (rows, _) = run(&fixture, &Expectations::default());
        assert_eq!((rows[0].nobody_at_keyboard, rows[0].defaults_share), (true, Some(1.0)));
        assert_eq!(rows[0].same_as_previous_share, Some(0.0));
    }

    #[test]
    fn questions_without_a_declared_capability() {
        let mut fixture = answers(2, 2_000.0, false, 0);
        fixture.frames.elicitations[1].mode = "url".into();
        let (rows, findings) = run(&fixture, &Expectations::default());
        assert_eq!((rows[0].not_declared, findings.len()), (0, 0), "no declaration was seen");
        fixture.frames.sessions[0].elicitation_form = Some(true);
        fixture.frames.sessions[0].elicitation_url = Some(false);
        let (rows, findings) = run(&fixture, &Expectations::default());
        assert_eq!(rows[0].not_declared, 1);
        assert_eq!(rules(&findings), ["MT210"]);
        assert!(plain(&findings[0].sentence).contains("1 question it had not declared to answer (mode url), 50.0 %"));
    }
}
