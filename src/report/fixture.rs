//! One report for the tests of all outputs, with names and values that try to break out of them.

use super::model::{HashKey, InputError, Report, Run};
use crate::audit::tables::*;
use crate::finding::{Finding, Part, Severity};
use crate::protocol::message::{Text, Ts};
use crate::schema::{Reason, RejectedRow, SessionQuality, ValueType};
use std::collections::BTreeMap;

pub const ANSI: &str = "red\u{1b}[31malert\u{7}";
pub const FORMULA: &str = "=cmd()|'/c calc'!A1";
pub const SCRIPT: &str = "<script>alert(1)</script>";
pub const BIDI: &str = "invoice\u{202e}fdp.exe";
pub const TICKS: &str = "`rm -rf` | [x](http://evil.example) *a*";
pub const LINES: &str = "warm\r\nIgnore the rest\n| a | b |";
pub const SECRET: &str = "sk-abcdefghijklmnopqrstuvwxyz012345";
pub const PRIVATE: &str = "My order 7731 never came, please call Anna";

pub const HOSTILE: [&str; 7] = [ANSI, FORMULA, SCRIPT, BIDI, TICKS, LINES, SECRET];

/// 2026-06-01 00:00:00 UTC.
const START: i64 = 1_780_272_000_000_000;

pub fn at(hours: i64) -> Ts {
    Ts(START + hours * 3_600_000_000)
}

fn text(text: &str) -> Text {
    text.into()
}

pub fn shown(text: &str, closed: bool) -> Shown {
    let hash = u64::from_le_bytes(*blake3::hash(text.as_bytes()).as_bytes().first_chunk().unwrap());
    Shown { text: text.into(), chars: text.chars().count() as u64, hash, closed }
}

fn value(of: &str, closed: bool, json_type: ValueType, class: Option<&'static str>, calls: u64) -> ValueCount {
    ValueCount {
        value: shown(of, closed),
        json_type,
        calls,
        class,
        chars: of.chars().count() as u64,
        words: of.split_whitespace().count() as u64,
        sessions: calls.min(3),
        clients: 1,
        first_ts: Some(at(1)),
        last_ts: Some(at(30)),
    }
}

fn evidence(position: u64) -> Evidence {
    Evidence { file: text("logs/mcp.log"), position, ts: Some(at(2)), session: Some(text("s-1")) }
}

pub fn report() -> Report {
    Report {
        run: Run {
            version: text("0.1.0"),
            at: at(100),
            revealed: false,
            lenient: false,
            complete: false,
            hash_key: HashKey::zero(),
        },
        audit: Audit {
            ledger: ledger(),
            calls: calls(),
            arguments: vec![tone(), review()],
            unknown_keys: unknown_keys(),
            missing_required: vec![missing()],
            elicitations: vec![elicitation()],
            clients: vec![client()],
            sessions: sessions(),
            session_verdicts: vec![verdict()],
            handlers: handlers(),
            contract: contract(),
            completion: vec![completion()],
            findings: findings(),
            rejected: vec![RejectedRow {
                file: text("logs/mcp.log"),
                position: 9,
                reason: text("expected `}` at column 80"),
                excerpt: text(ANSI),
            }],
        },
        errors: vec![InputError { file: text(SCRIPT), message: "permission denied; run as the owner".to_owned() }],
    }
}

fn ledger() -> Ledger {
    let file = LedgerFile {
        file: text("logs/mcp.log"),
        format: text("envelope"),
        format_version: None,
        why: text("every line is an object with a JSON-RPC message under `msg`"),
        bytes: 1_234_567,
        lines: 1_000,
        message_lines: 900,
        messages: 910,
        other: 500,
        other_bytes: 900_000,
        noise: 50,
        blank: 20,
        continuation: 5,
        rejected: 1,
        duplicates: 24,
        duplicate_keys: 0,
        first_ts: Some(at(0)),
        last_ts: Some(at(99)),
        notes: vec![text("the last line is cut")],
    };
    Ledger {
        files: vec![file],
        methods: vec![
            method("prompts/get", 160, 140, 10),
            method("elicitation/create", 20, 18, 0),
            method(TICKS, 1, 1, 0),
        ],
        totals: LedgerTotals {
            files: 1,
            messages: 910,
            prompt_calls: 150,
            prompt_wire_requests: 160,
            elicitations: 20,
            sessions: 4,
            rejected: 1,
        },
    }
}

fn method(name: &str, requests: u64, results: u64, errors: u64) -> LedgerMethod {
    LedgerMethod {
        method: text(name),
        requests,
        results,
        errors,
        notifications: 0,
        unanswered: requests - results - errors,
        orphans: 0,
    }
}

fn calls() -> Vec<PromptCalls> {
    vec![PromptCalls {
        server: text("shop"),
        prompt: Some(text("reply_to_review")),
        calls: 150,
        wire_requests: 160,
        in_batches: 2,
        rendered: 130,
        error: 10,
        input_required: 2,
        unanswered: 5,
        not_captured: 3,
        error_codes: BTreeMap::from([("-32602".to_owned(), 10)]),
        unintended_calls: 24,
        declaration: BTreeMap::from([("declared", 150)]),
        in_effect_rules: BTreeMap::from([("own listing", 150)]),
        guessed_sessions: 0,
        leaked: BTreeMap::from([(text("None"), 7)]),
        leaked_calls: 7,
        prompt_captured: true,
    }]
}

fn tone() -> Argument {
    let unintended = |of: &str, class, calls| value(of, true, ValueType::String, Some(class), calls);
    let values = vec![
        value("warm", true, ValueType::String, Some("intended"), 90),
        value("formal", true, ValueType::String, Some("intended"), 20),
        unintended("", "empty", 7),
        unintended("Warm", "case", 5),
        value("42", true, ValueType::Number, Some("not a string"), 2),
        value("42", true, ValueType::String, Some("novel"), 1),
        value("null", true, ValueType::Null, Some("not a string"), 1),
        unintended("   ", "empty", 1),
        unintended(" warm", "spacing", 1),
        unintended(ANSI, "novel", 1),
        unintended(FORMULA, "novel", 1),
        unintended(SCRIPT, "novel", 1),
        unintended(BIDI, "novel", 1),
        unintended(TICKS, "novel", 1),
        unintended(LINES, "multiline", 1),
    ];
    let mut classes: BTreeMap<&'static str, ClassCount> = BTreeMap::new();
    for value in &values {
        let class = classes.entry(value.class.unwrap_or_default()).or_default();
        class.calls += value.calls;
        class.distinct += 1;
    }
    Argument {
        server: text("shop"),
        prompt: Some(text("reply_to_review")),
        argument: text("tone"),
        calls: 150,
        present: 134,
        absent: 10,
        zero_length: 7,
        empty: 8,
        not_captured: 3,
        not_declared_then: 3,
        distinct: values.len() as u64,
        non_string: 3,
        intended_source: Some("description"),
        intended_values: vec![text("warm"), text("formal"), text("neutral")],
        intended: 110,
        unintended: 24,
        unintended_distinct: values.len() as u64 - 2,
        classes,
        ladder: vec![
            Repair { repair: "exact", recovered: 0, remaining: 24 },
            Repair { repair: "trim", recovered: 1, remaining: 23 },
            Repair { repair: "case", recovered: 6, remaining: 18 },
        ],
        tail: Some(Tail {
            singletons: 8,
            mean: Some(1.6),
            unseen_chance: Some(0.4375),
            unseen_se: Some(0.12),
            new_values_expected: Some(6.0),
            rows_for: BTreeMap::from([("50", 3), ("80", 8), ("90", 10), ("100", 11)]),
            holdout: Some(Holdout { train_calls: 10, test_calls: 20, rows: 6, covered: 9, low: 0.26, high: 0.66 }),
        }),
        hosts: vec![host("claude-ai", 0, 120), host("counter", 7, 7)],
        values,
        unused: vec![text("neutral")],
        json_values: 0,
        broken_json_values: 1,
        required: Some(false),
        unintended_rendered: 20,
        days: vec![
            ("2026-06-01".to_owned(), 60, 4),
            ("2026-06-02".to_owned(), 30, 12),
            ("2026-06-04".to_owned(), 20, 8),
        ],
        declared: true,
        not_judged: 0,
    }
}

fn host(client: &str, zero_length: u64, filled: u64) -> Host {
    Host { client: text(client), absent: 5, zero_length, blank: 0, filled, rendered: filled, error: zero_length + 5 }
}

/// An open domain.
fn review() -> Argument {
    let open = |of: &str, calls| value(of, false, ValueType::String, None, calls);
    Argument {
        argument: text("review"),
        present: 147,
        absent: 0,
        zero_length: 0,
        empty: 0,
        not_captured: 3,
        not_declared_then: 0,
        distinct: 3,
        non_string: 0,
        intended_source: None,
        intended_values: Vec::new(),
        intended: 0,
        unintended: 0,
        unintended_distinct: 0,
        classes: BTreeMap::new(),
        ladder: Vec::new(),
        tail: None,
        hosts: Vec::new(),
        values: vec![open(PRIVATE, 100), open(SECRET, 40), open("", 7)],
        unused: Vec::new(),
        broken_json_values: 0,
        required: Some(true),
        unintended_rendered: 0,
        days: Vec::new(),
        ..tone()
    }
}

fn unknown_keys() -> Vec<UnknownKey> {
    HOSTILE
        .iter()
        .enumerate()
        .map(|(index, key)| UnknownKey {
            server: text("shop"),
            prompt: Some(text("reply_to_review")),
            key: text(key),
            calls: 10 - index as u64,
            sessions: 1,
            clients: vec![text("counter")],
            rendered: 10 - index as u64,
            error: 0,
            input_required: 0,
            unanswered: 0,
            not_captured: 0,
            earlier_version: index == 0,
            rename_of: (index == 0).then(|| text("tone")),
            evidence: (index == 0).then(|| "same letters".to_owned()),
        })
        .collect()
}

fn missing() -> MissingRequired {
    MissingRequired {
        server: text("shop"),
        prompt: None,
        argument: text("review"),
        calls: 12,
        rendered: 2,
        error: 10,
        input_required: 0,
        unanswered: 0,
        not_captured: 0,
        clients: BTreeMap::from([(text("counter"), 12)]),
        required_but_empty: 7,
    }
}

fn elicitation() -> Elicitation {
    Elicitation {
        server: text("shop"),
        operation_kind: "tools/call",
        operation: text("set_budget"),
        asked: 20,
        accept_usable: 12,
        accept_unusable: 3,
        accept_unchecked: 0,
        accept_url: 0,
        decline: 2,
        cancel: 1,
        error: 0,
        malformed: 0,
        unanswered: 2,
        not_captured: 0,
        acted_on_unusable: 1,
        refused_usable: 1,
        stray: StrayCounts { replayed: 1, key_not_asked: 0, state_unknown: 0 },
        reasons: BTreeMap::from([(Reason::BelowMinimum, 2), (Reason::NotInEnum, 1)]),
        causes: BTreeMap::from([("a person could have typed it", 2), ("not in enum", 1)]),
        fields: vec![amount(), team()],
        handled: BTreeMap::from([("unusable", BTreeMap::from([("ok", 1), ("is_error", 2)]))]),
        schemas: 1,
        chain: vec![(1, 18, 14), (2, 2, 1)],
        loops: 0,
        months: vec![("2026-06".to_owned(), 15, 3)],
        reprompts: BTreeMap::from([("a person could have typed it", (2, 1))]),
    }
}

fn amount() -> Field {
    Field {
        field: text("amount"),
        declared: true,
        kind: Some(text("number")),
        accepted: 15,
        usable: 13,
        unusable: 2,
        missing_required: 0,
        absent_optional: 0,
        no_content: 0,
        unchecked: 0,
        reasons: BTreeMap::from([(Reason::BelowMinimum, 2)]),
        reasons_by_client: vec![ReasonByClient {
            client: text("hatch-cli"),
            version: None,
            reason: Reason::BelowMinimum,
            count: 2,
        }],
        declared_bounds: vec![DeclaredBounds { minimum: Some(text("100")), maximum: Some(text("50000")), asked: 20 }],
        measure: "number",
        n: 15,
        distinct: 9,
        min: Some(text("-5.0")),
        max: Some(text("50000")),
        mean: Some(4_512.25),
        sd: Some(812.5),
        p1: Some(-5.0),
        p5: Some(10.0),
        median: Some(4_000.0),
        p95: Some(20_000.0),
        p99: Some(49_000.0),
        text_numbers: TextNumbers { n: 1, min: Some(text("900")), max: Some(text("900")) },
        counts: BTreeMap::new(),
        min_at: Some(evidence(77)),
        max_at: None,
        only_extremes: true,
        shows_at_extremes: 2,
        cannot_show: 0,
        enum_varies: false,
        bounds_vary: false,
        enum_origins: BTreeMap::new(),
        points: vec![
            -5.0, 10.0, 150.0, 900.0, 4_000.0, 4_000.0, 4_000.0, 3_900.0, 4_100.0, 8_000.0, 20_000.0, 50_000.0, 300.0,
            4_000.0, 4_200.0,
        ],
        echoed: 0,
        long_unlimited: 0,
    }
}

fn team() -> Field {
    Field {
        field: text("team"),
        kind: Some(text("enum")),
        usable: 14,
        unusable: 1,
        reasons: BTreeMap::from([(Reason::NotInEnum, 1)]),
        reasons_by_client: Vec::new(),
        declared_bounds: Vec::new(),
        measure: "counts",
        min: None,
        max: None,
        mean: None,
        sd: None,
        p1: None,
        p5: None,
        median: None,
        p95: None,
        p99: None,
        text_numbers: TextNumbers::default(),
        counts: BTreeMap::from([(shown("sales", true), 10), (shown("ops", true), 4), (shown(FORMULA, true), 1)]),
        min_at: None,
        only_extremes: false,
        shows_at_extremes: 0,
        cannot_show: 1,
        enum_varies: true,
        enum_origins: BTreeMap::from([("never offered", 1)]),
        points: Vec::new(),
        ..amount()
    }
}

fn client() -> Client {
    Client {
        client: text("hatch-cli"),
        version: Some(text("1.2")),
        calls: 50,
        unintended_calls: 12,
        elicited: 20,
        usable: 12,
        unusable: 3,
        unusable_rate: Some(Rate { rate: 0.2, low: 0.0705, high: 0.4519 }),
        latency_p50_ms: Some(3_400.0),
        latency_p95_ms: Some(20_000.0),
        fast_share: Some(0.05),
        defaults_share: None,
        same_as_previous_share: Some(0.5),
        nobody_at_keyboard: false,
        not_declared: 0,
        content_without_accept: 0,
    }
}

fn sessions() -> Vec<SessionUnit> {
    let unit = |session: &str, bad, attempts, pattern, stale: bool| SessionUnit {
        server: text("shop"),
        prompt: Some(text("reply_to_review")),
        session: text(session),
        client: Some(text("counter")),
        client_version: None,
        session_quality: SessionQuality::Exact,
        version_in_effect: Some(2),
        attempts,
        failing: bad,
        mismatched: bad,
        degraded: 0,
        bad,
        failing_pattern: pattern,
        mismatched_pattern: pattern,
        bad_pattern: pattern,
        cause: stale.then_some("outdated declaration"),
        stale,
        listed_at: Some(at(0)),
        declaration_seen: Some(1),
        told: stale.then_some("told and ignored"),
        outdated_keys: if stale { vec![text("mood")] } else { Vec::new() },
        first: Some(evidence(12)),
    };
    vec![
        unit("3c1f9a52-6b1e-4f7e-9a58-0f6a1c2d3e4f", 6, 6, "every time", true),
        unit(SCRIPT, 2, 2, "every time", false),
        unit("s-3", 1, 9, "mixed", false),
        unit("s-4", 0, 20, "clean", false),
    ]
}

fn verdict() -> SessionVerdict {
    SessionVerdict {
        server: text("shop"),
        prompt: Some(text("reply_to_review")),
        units: 4,
        attempts: 37,
        bad: 9,
        pooled_rate: Some(9.0 / 37.0),
        all_bad_seen: 2,
        all_bad_expected: Some(0.0512),
        share_in_runs: Some(8.0 / 9.0),
        icc: Some(0.8514),
        n_effective: Some(4.9),
        p_value: Some(0.0043),
        p_adjusted: Some(0.0086),
        verdict: "both",
        bad_in_runs: 8,
        bad_mixed: 1,
        bad_single: 0,
        across_change: Some(AcrossChange {
            listed_again_bad: 0,
            listed_again_clean: 12,
            not_listed_bad: 8,
            not_listed_clean: 0,
            opened_later_bad: 0,
            opened_later_clean: 5,
            fisher_p: Some(7.9e-6),
        }),
        tested_bad: 9,
        track: "bad",
    }
}

fn handlers() -> Vec<Handler> {
    let row = |kind, argument: Option<&str>, seen, rendered| Handler {
        server: text("shop"),
        prompt: Some(text("reply_to_review")),
        kind,
        argument: argument.map(text),
        seen,
        rendered,
        rendered_empty: 0,
        error: seen - rendered,
        defects: rendered,
    };
    vec![row("unintended in closed argument", Some("tone"), 24, 20), row("over 100 KB", None, 0, 0)]
}

fn contract() -> Vec<ContractVersion> {
    let version = |version, arguments: &[&str], diff: &[&str]| ContractVersion {
        server: text("shop"),
        prompt: text("reply_to_review"),
        version,
        first_seen: Some(at(i64::from(version) * 10)),
        last_seen: None,
        arguments: arguments.iter().map(|name| text(name)).collect(),
        diff: diff.iter().map(|change| (*change).to_owned()).collect(),
        list_changed: 3,
        listed_again: 2,
        never_listed_again: 1,
    };
    vec![version(1, &["review", "mood"], &[]), version(2, &["review", "tone"], &["renamed mood to tone"])]
}

fn completion() -> CompletionUse {
    CompletionUse {
        server: text("shop"),
        prompt: Some(text("reply_to_review")),
        argument: Some(text("tone")),
        asked: 30,
        offered: 28,
        capped: 0,
        error: 2,
        picked: 20,
        edited: 3,
        ignored: 2,
        nothing_offered: 2,
        no_later_call: 3,
    }
}

fn findings() -> Vec<Finding> {
    let finding = |rule, severity, weight, sentence: Vec<Part>| Finding {
        rule,
        severity,
        subject: vec![text("shop"), text("reply_to_review"), text("tone")],
        key: String::new(),
        sentence,
        numbers: BTreeMap::from([("calls", 150.0), ("odd", f64::NAN)]),
        evidence: vec![evidence(12), evidence(40), evidence(41), evidence(90)],
        next_step: "Treat empty as absent & answer <the rest> with an error.".to_owned(),
        weight,
    };
    let ours = |words: &str| Part::Ours(words.to_owned());
    vec![
        finding("MT905", Severity::Note, 3, vec![ours("5 requests were never answered.")]),
        finding(
            "MT101",
            Severity::Error,
            24,
            vec![
                Part::Name(text("tone")),
                ours(" of "),
                Part::Name(text("reply_to_review")),
                ours(": 24 of 134 (17.9 %) calls carry none of the 3 intended values, for example "),
                Part::Value(shown(ANSI, true)),
                ours(", "),
                Part::Value(shown(SCRIPT, true)),
                ours(", "),
                Part::Value(shown(LINES, true)),
                ours(" and "),
                Part::Value(shown(PRIVATE, false)),
                ours("."),
            ],
        ),
        finding(
            "MT102",
            Severity::Warning,
            10,
            vec![Part::Name(text(BIDI)), ours(" and "), Part::Name(text(TICKS)), ours(" are keys nobody declared.")],
        ),
    ]
}
