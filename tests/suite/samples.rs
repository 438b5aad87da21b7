//! The sample logs: that they are what their generator writes, and that an audit of them finds what `sample-logs/README.md`
//! says.

#[path = "../../sample-logs/generate/stories/mod.rs"]
mod stories;

use crate::support::{count, rows, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

static REPORT: LazyLock<Value> = LazyLock::new(|| {
    let run = run(["audit", "sample-logs", "--json", "-"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    run.json()
});

/// The only row of a table whose members have these values.
fn row(table: &str, wanted: &Value) -> &'static Value {
    let found = all(table, wanted);
    assert_eq!(found.len(), 1, "{table} {wanted}: {found:?}");
    found[0]
}

/// Every row of a table whose members have these values.
fn all(table: &str, wanted: &Value) -> Vec<&'static Value> {
    let fits =
        |row: &&Value| wanted.as_object().is_some_and(|wanted| wanted.iter().all(|(key, value)| row[key] == *value));
    rows(&REPORT, table).iter().filter(fits).collect()
}

/// Asserts members of a row that are counts.
fn counts(row: &Value, wanted: &[(&str, u64)]) {
    for (name, expected) in wanted {
        assert_eq!(count(row, name), *expected, "{name} in {row}");
    }
}

fn sum(rows: &[&Value], name: &str) -> u64 {
    rows.iter().map(|row| count(row, name)).sum()
}

#[test]
fn the_files_are_what_their_generator_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-logs");
    let mut packed_size = 0;
    for file in stories::all() {
        let packed = fs::read(folder.join(&file.path)).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        packed_size += packed.len();
        let mut text = Vec::new();
        if file.path.ends_with(".gz") {
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut text).expect("gzip");
        } else if file.path.ends_with(".zst") {
            text = zstd::stream::decode_all(&packed[..]).expect("zstd");
        } else {
            text = packed;
        }
        assert!(text == file.text.as_bytes(), "{} differs: cargo run --release --example sample-logs", file.path);
    }
    assert!(packed_size <= 3_000_000, "{packed_size} bytes");
}

#[test]
fn everything_is_read_and_adds_up() {
    let totals = &REPORT["ledger"]["totals"];
    counts(
        totals,
        &[
            ("files", 20),
            ("prompt_calls", 3_120),
            ("prompt_wire_requests", 3_126),
            ("elicitations", 6_695),
            ("sessions", 467),
            ("rejected", 0),
        ],
    );
    assert_eq!(REPORT["run"]["complete"], json!(true));
    let files = rows(&REPORT["ledger"], "files");
    assert_eq!(files.len(), 20);
    for file in files {
        let desktop = file["file"].as_str().is_some_and(|name| name.contains("mcp"));
        // Only desktop logs hold anything else than messages, one to a line.
        if !desktop {
            assert_eq!(count(file, "lines"), count(file, "messages"), "{file}");
        }
        counts(file, &[("rejected", 0), ("duplicates", 0)]);
    }
    let lists = row_of_method("prompts/list");
    counts(lists, &[("errors", 40), ("unanswered", 0), ("orphans", 0)]);
    counts(
        row_of_method("elicitation/create"),
        &[("requests", 6_677), ("errors", 3), ("unanswered", 33), ("orphans", 0)],
    );
    counts(row_of_method("prompts/get"), &[("unanswered", 0), ("orphans", 0), ("errors", 240)]);
}

fn row_of_method(method: &str) -> &'static Value {
    let found: Vec<_> = rows(&REPORT["ledger"], "methods").iter().filter(|row| row["method"] == method).collect();
    assert_eq!(found.len(), 1, "{method}");
    found[0]
}

#[test]
fn a_month_of_reply_to_review() {
    let prompt = json!({"server": "storefront-desk", "prompt": "reply_to_review"});
    let wanted = [("calls", 1_842), ("rendered", 1_842), ("error", 0), ("unanswered", 0), ("not_captured", 0)];
    counts(row("calls", &prompt), &wanted);
    let tone = row("arguments", &json!({"server": "storefront-desk", "prompt": "reply_to_review", "argument": "tone"}));
    counts(
        tone,
        &[
            ("calls", 1_842),
            ("intended", 1_691),
            ("unintended", 151),
            ("absent", 0),
            ("not_captured", 0),
            ("not_declared_then", 0),
            ("distinct", 47),
            ("unintended_distinct", 44),
            ("zero_length", 31),
            ("empty", 31),
            ("non_string", 0),
        ],
    );
    assert_eq!(tone["intended_source"], "description");
    assert_eq!(tone["intended_values"], json!(["warm", "neutral", "formal"]));
}

#[test]
fn classes_and_ladder_of_tone() {
    let tone = row("arguments", &json!({"prompt": "reply_to_review", "argument": "tone"}));
    let classes = [
        ("empty", 31, 1),
        ("spacing", 8, 3),
        ("case", 37, 5),
        ("punctuation", 13, 4),
        ("unicode", 1, 1),
        ("oversized", 1, 1),
        ("multiline", 1, 1),
        ("qualified", 18, 6),
        ("misspelt", 7, 5),
        ("novel", 34, 17),
    ];
    for (class, calls, distinct) in classes {
        counts(&tone["classes"][class], &[("calls", calls), ("distinct", distinct)]);
    }
    let ladder: Vec<_> = rows(tone, "ladder")
        .iter()
        .map(|step| (step["repair"].as_str().unwrap_or_default(), count(step, "recovered"), count(step, "remaining")))
        .collect();
    // Of the 151 unintended calls, cumulative.
    let wanted = [
        ("exact", 0, 151),
        ("trim", 8, 143),
        ("case", 45, 106),
        ("punctuation", 58, 93),
        ("unicode", 59, 92),
        ("empty means default", 90, 61),
    ];
    assert_eq!(ladder, wanted);
}

#[test]
fn values_and_hosts_of_tone() {
    let tone = row("arguments", &json!({"prompt": "reply_to_review", "argument": "tone"}));
    let values = rows(tone, "values");
    assert_eq!(values.len(), 47);
    let of = |class: &str| values.iter().filter(|value| value["class"] == class).collect::<Vec<_>>();
    let mut intended: Vec<u64> = of("intended").iter().map(|value| count(value, "calls")).collect();
    intended.sort_unstable();
    assert_eq!(intended, [241, 412, 1_038]);
    assert_eq!(of("oversized").iter().map(|value| count(value, "words")).collect::<Vec<_>>(), [380]);
    let others: Vec<_> =
        values.iter().filter(|value| value["class"] != "intended" && value["class"] != "empty").collect();
    assert_eq!((others.len(), sum(&others, "calls")), (43, 120));

    let hosts: BTreeMap<_, _> = rows(tone, "hosts")
        .iter()
        .map(|host| (host["client"].as_str().unwrap_or_default(), (count(host, "zero_length"), count(host, "filled"))))
        .collect();
    let wanted = [("claude-ai", (0, 1_021)), ("counter-app", (31, 252)), ("shop-console", (0, 538))];
    assert_eq!(hosts, BTreeMap::from(wanted));
    for (client, unintended) in [("counter-app", 52), ("shop-console", 41)] {
        counts(row("clients", &json!({"client": client})), &[("unintended_calls", unintended)]);
    }
}

#[test]
fn the_naive_handler_renders_all_151() {
    let of =
        |kind: &str| row("handlers", &json!({"server": "storefront-desk", "prompt": "reply_to_review", "kind": kind}));
    counts(of("unintended in closed argument"), &[("seen", 151), ("rendered", 151), ("error", 0), ("defects", 151)]);
    counts(of("leak"), &[("defects", 151)]);
}

#[test]
fn budgets_and_shares_of_eight_months() {
    let of = |operation: &str| row("elicitations", &json!({"server": "reports", "operation": operation}));
    let (budget, share) = (of("set_budget"), of("share_report"));
    let none = [("accept_unchecked", 0), ("accept_url", 0), ("malformed", 0), ("not_captured", 0)];
    counts(budget, &none);
    counts(share, &none);
    counts(
        budget,
        &[
            ("asked", 3_742),
            ("accept_usable", 3_381),
            ("accept_unusable", 31),
            ("decline", 212),
            ("cancel", 97),
            ("error", 3),
            ("unanswered", 18),
            ("acted_on_unusable", 27),
            ("refused_usable", 12),
        ],
    );
    counts(
        share,
        &[
            ("asked", 1_940),
            ("accept_usable", 1_719),
            ("accept_unusable", 8),
            ("decline", 143),
            ("cancel", 61),
            ("error", 0),
            ("unanswered", 9),
            ("acted_on_unusable", 8),
            ("refused_usable", 0),
        ],
    );
    let both = [budget, share];
    assert_eq!(sum(&both, "accept_usable"), 5_100);
    assert_eq!(sum(&both, "accept_unusable"), 39);
    let reasons =
        json!({"wrong type": 9, "below minimum": 5, "above maximum": 8, "missing required": 4, "unknown key": 5});
    assert_eq!(budget["reasons"], reasons);
    assert_eq!(share["reasons"], json!({"not in enum": 8}));
}

#[test]
fn who_answers_without_a_person() {
    let alone = all("clients", &json!({"nobody_at_keyboard": true}));
    assert_eq!(alone.len(), 1, "{alone:?}");
    assert_eq!(alone[0]["client"], "policy-runner");
    counts(alone[0], &[("elicited", 421), ("usable", 410), ("unusable", 11)]);
}

fn field(operation: &str, field: &str) -> &'static Value {
    let elicitation = row("elicitations", &json!({"server": "reports", "operation": operation}));
    let found: Vec<_> = rows(elicitation, "fields").iter().filter(|row| row["field"] == field).collect();
    assert_eq!(found.len(), 1, "{operation}.{field}");
    found[0]
}

fn reasons_by_client(field: &Value) -> Vec<(&str, &str, u64)> {
    let name = |row: &'_ Value, key: &str| -> String { row[key].as_str().unwrap_or_default().to_owned() };
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    for row in rows(field, "reasons_by_client") {
        *sums.entry((name(row, "client"), name(row, "reason"))).or_default() += count(row, "count");
    }
    let text = |wanted: &str, key: &str| {
        rows(field, "reasons_by_client").iter().filter_map(|row| row[key].as_str()).find(|text| *text == wanted)
    };
    sums.iter()
        .filter_map(|((client, reason), sum)| Some((text(client, "client")?, text(reason, "reason")?, *sum)))
        .collect()
}

#[test]
fn columns_at_their_extremes() {
    let amount = field("set_budget", "amount");
    counts(amount, &[("accepted", 3_412), ("usable", 3_390), ("unusable", 22), ("missing_required", 0), ("n", 3_403)]);
    assert_eq!((&amount["min"], &amount["max"]), (&json!("0"), &json!("1000000")));
    assert_eq!(count(&amount["text_numbers"], "n"), 9);
    let (p1, p99) = (amount["p1"].as_f64(), amount["p99"].as_f64());
    assert!(p1 >= Some(100.0) && p99 <= Some(50_000.0), "{p1:?} {p99:?}");
    assert_eq!(amount["only_extremes"], json!(true));
    counts(amount, &[("shows_at_extremes", 13), ("cannot_show", 9)]);
    let wanted = [
        ("hatch-cli", "above maximum", 5),
        ("hatch-cli", "below minimum", 3),
        ("policy-runner", "above maximum", 3),
        ("policy-runner", "below minimum", 2),
        ("webdock", "wrong type", 9),
    ];
    assert_eq!(reasons_by_client(amount), wanted);
    counts(field("set_budget", "period"), &[("accepted", 3_412), ("missing_required", 4), ("unusable", 0)]);
    assert_eq!(field("set_budget", "currency")["reasons"], json!({"unknown key": 5}));

    let team = field("share_report", "team");
    counts(team, &[("accepted", 1_727), ("usable", 1_719), ("unusable", 8)]);
    assert_eq!(reasons_by_client(team), [("hatch-cli", "not in enum", 2), ("policy-runner", "not in enum", 6)]);
    assert_eq!(team["counts"].as_object().map(serde_json::Map::len), Some(5));
    assert_eq!(team["enum_origins"], json!({"never offered": 8}));
}

#[test]
fn a_renamed_argument() {
    let wanted = [("calls", 1_200), ("error", 240), ("rendered", 960)];
    let calls = row("calls", &json!({"server": "ticket-desk", "prompt": "triage_ticket"}));
    counts(calls, &wanted);
    assert_eq!(calls["error_codes"], json!({"-32602": 240}));
    for (key, sent, earlier) in [("area", 130, true), ("productArea", 110, false)] {
        let unknown = row("unknown_keys", &json!({"server": "ticket-desk", "prompt": "triage_ticket", "key": key}));
        counts(unknown, &[("calls", sent), ("error", sent), ("sessions", 9), ("rendered", 0)]);
        assert_eq!(unknown["earlier_version"], json!(earlier), "{key}");
        assert_eq!(unknown["rename_of"], "product-area", "{key}");
    }
    let missing = row("missing_required", &json!({"server": "ticket-desk", "argument": "product-area"}));
    counts(missing, &[("calls", 240), ("error", 240)]);
    assert_eq!(all("missing_required", &json!({"server": "ticket-desk"})).len(), 1);
}

#[test]
fn the_boundary_is_who_listed_again() {
    let verdict = row("session_verdicts", &json!({"server": "ticket-desk", "prompt": "triage_ticket"}));
    assert_eq!(verdict["verdict"], "per-session cause");
    counts(verdict, &[("attempts", 1_200), ("all_bad_seen", 18)]);
    let near = |name: &str, wanted: f64| {
        let value = verdict[name].as_f64();
        assert!(value.is_some_and(|value| (value - wanted).abs() < 1e-9), "{name} {value:?}");
    };
    near("pooled_rate", 0.2);
    near("share_in_runs", 1.0);

    let across = [
        ("listed_again_bad", 0),
        ("listed_again_clean", 12),
        ("not_listed_bad", 18),
        ("not_listed_clean", 0),
        ("opened_later_bad", 0),
        ("opened_later_clean", 10),
    ];
    counts(&verdict["across_change"], &across);
    let renamed = row("contract", &json!({"server": "ticket-desk", "version": 2}));
    assert_eq!(renamed["diff"], json!(["renamed area to product-area"]));

    let units = all("sessions", &json!({"server": "ticket-desk", "prompt": "triage_ticket"}));
    for unit in &units {
        let (attempts, bad) = (count(unit, "attempts"), count(unit, "bad"));
        assert!(bad == 0 || bad == attempts, "a mixed unit: {unit}");
        counts(unit, &[("failing", bad), ("mismatched", bad), ("degraded", 0)]);
    }
    let bad: Vec<_> = units.iter().copied().filter(|unit| count(unit, "bad") > 0).collect();
    assert_eq!((bad.len(), sum(&bad, "bad")), (18, 240));
    for unit in bad {
        assert_eq!(unit["mismatched_pattern"], "went bad", "{unit}");
        assert_eq!(unit["cause"], "outdated declaration", "{unit}");
        assert_eq!((&unit["stale"], &unit["told"]), (&json!(true), &json!("told and ignored")), "{unit}");
        assert!(unit["client"] == "templater" || unit["client"] == "night-console", "{unit}");
    }
    // A unit is a session under one declaration: 29 sessions before the change, 30 after it, 10 opened later.
    assert_eq!(units.len(), 69);
}

#[test]
fn questions_inside_results() {
    let calls = row("calls", &json!({"server": "returns-desk", "prompt": "reply_to_return"}));
    counts(calls, &[("calls", 14), ("rendered", 13), ("input_required", 1), ("unanswered", 0), ("error", 0)]);
    let of = |operation: &str| row("elicitations", &json!({"server": "returns-desk", "operation": operation}));
    let reply = of("reply_to_return");
    counts(reply, &[("asked", 7), ("accept_usable", 5), ("decline", 1), ("unanswered", 1), ("accept_unusable", 0)]);
    let refund = of("refund_order");
    counts(
        refund,
        &[
            ("asked", 11),
            ("accept_usable", 7),
            ("accept_unusable", 1),
            ("decline", 1),
            ("cancel", 1),
            ("unanswered", 1),
        ],
    );
    assert_eq!(refund["reasons"], json!({"above maximum": 1}));
    assert_eq!(refund["stray"], json!({"replayed": 1, "key_not_asked": 0, "state_unknown": 0}));
    let verdict = row("session_verdicts", &json!({"server": "returns-desk", "prompt": "reply_to_return"}));
    assert_eq!(verdict["verdict"], "no sessions in this traffic");
}

#[test]
fn what_was_not_kept_is_not_absent() {
    let bodies =
        row("arguments", &json!({"server": "parcel-tracker", "prompt": "explain_delay", "argument": "number"}));
    counts(bodies, &[("present", 6), ("absent", 0)]);
    // The newer build wrote that nine calls were answered, and nothing of what was asked.
    let redacted = row("calls", &json!({"server": "parcel-tracker", "prompt_captured": false}));
    counts(redacted, &[("calls", 9), ("rendered", 9)]);
    assert_eq!((&redacted["prompt"], &redacted["declaration"]), (&Value::Null, &json!({"not captured": 9})));
    assert_eq!(all("arguments", &json!({"server": "parcel-tracker"})).len(), 1);
    counts(row("calls", &json!({"prompt": "scale_recipe"})), &[("calls", 12), ("rendered", 12)]);
    counts(row("calls", &json!({"prompt": "daily_note"})), &[("calls", 4), ("rendered", 4)]);
    counts(row("elicitations", &json!({"server": "notes"})), &[("asked", 2), ("accept_usable", 1), ("decline", 1)]);
}

fn findings(rule: &str) -> Vec<&'static Value> {
    rows(&REPORT, "findings").iter().filter(|finding| finding["rule"] == rule).collect()
}

/// The only row of a table of questions whose members have these values.
fn asked(table: &str, wanted: &Value) -> &'static Value {
    let fits =
        |row: &&Value| wanted.as_object().is_some_and(|wanted| wanted.iter().all(|(key, value)| row[key] == *value));
    let found: Vec<_> = rows(&REPORT["questions"], table).iter().filter(fits).collect();
    assert_eq!(found.len(), 1, "{table} {wanted}: {found:?}");
    found[0]
}

#[test]
fn four_correct_questions_in_a_row() {
    let columns = row("elicitations", &json!({"server": "room-desk"}));
    counts(columns, &[("asked", 790), ("accept_usable", 650), ("accept_unusable", 0), ("decline", 90), ("cancel", 44)]);
    let chain = asked("chains", &json!({"server": "room-desk", "operation": "book_room"}));
    counts(
        chain,
        &[
            ("started", 240),
            ("finished", 100),
            ("left", 140),
            ("failed", 0),
            ("not_known", 0),
            ("usual_length", 4),
            ("entered", 228),
            ("lost", 108),
            ("repeats", 0),
        ],
    );
    let steps: Vec<[u64; 6]> = rows(chain, "steps")
        .iter()
        .map(|step| ["asked", "answered", "declined", "cancelled", "unanswered", "left"].map(|name| count(step, name)))
        .collect();
    assert_eq!(
        steps,
        [[240, 228, 9, 3, 0, 12], [228, 202, 14, 10, 2, 26], [202, 120, 51, 27, 4, 82], [120, 100, 16, 4, 0, 20]]
    );
    assert_eq!(rows(chain, "steps")[2]["fields"], json!(["cost_centre"]));
    let found = findings("MT213");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["subject"], json!(["room-desk", "book_room"]));
    assert_eq!(found[0]["numbers"]["worst_question"], json!(3.0));
}

#[test]
fn everything_declined_within_forty_milliseconds() {
    let quiet = asked("answering", &json!({"client": "quiet-runner"}));
    counts(quiet, &[("asked", 96), ("decline", 96), ("fast_refusals", 96), ("timed_refusals", 96), ("accept", 0)]);
    assert_eq!(quiet["refuses_unread"], json!(true));
    assert!(quiet["refusal_p95_ms"].as_f64() <= Some(40.0), "{quiet}");
    let found = findings("MT214");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["subject"], json!(["quiet-runner", "0.9.0"]));
    // As fast, but every answer another; and a person who says no twice.
    for (client, accept, decline) in [("quick-form", 64, 0), ("ledger-desk", 41, 2)] {
        let row = asked("answering", &json!({"client": client}));
        counts(row, &[("accept", accept), ("decline", decline)]);
        assert_eq!(row["refuses_unread"], json!(false), "{row}");
    }
    for rule in ["MT206", "MT214"] {
        assert!(findings(rule).iter().all(|finding| finding["subject"][0] != "quick-form"), "{rule}");
    }
}

#[test]
fn what_completion_offered_and_what_it_did_not() {
    let product = row("completion", &json!({"server": "storefront-desk", "argument": "product"}));
    counts(
        product,
        &[("asked", 37), ("offered", 37), ("picked", 43), ("edited", 0), ("ignored", 85), ("left_out", 52)],
    );
    let gap = row("completion_gaps", &json!({"server": "storefront-desk"}));
    assert_eq!((&gap["argument"], &gap["state"]), (&json!("tone"), &json!("never asked")));
    counts(gap, &[("calls", 1_842), ("unintended", 151), ("typed_unintended", 120)]);
    assert_eq!(subjects("MT121"), ["storefront-desk/reply_to_review/tone"]);
    assert_eq!(subjects("MT122"), [""; 0]);
}

/// Subjects of the findings of a rule, sorted.
fn subjects(rule: &str) -> Vec<String> {
    let mut subjects: Vec<String> = all("findings", &json!({"rule": rule}))
        .iter()
        .map(|finding| rows(finding, "subject").iter().filter_map(Value::as_str).collect::<Vec<_>>().join("/"))
        .collect();
    subjects.sort();
    subjects
}

#[test]
fn one_rate_changed_and_the_others_did_not() {
    let changed: Vec<_> = all("rates", &json!({"server": "ticket-desk", "prompt": "triage_ticket"}))
        .into_iter()
        .filter(|rate| rate["change"]["verdict"] == "change")
        .collect();
    assert_eq!(changed.len(), 2);
    for rate in changed {
        let change = &rate["change"];
        counts(&change["before"], &[("n", 540), ("hits", 0)]);
        counts(&change["after"], &[("n", 660), ("hits", 240)]);
        assert_eq!(change["first_after"]["ts"], "2026-06-16T13:44:52.73Z");
    }
    // Unusable answers come all eight months, and tones that nobody intended all month.
    for (kind, n, hits) in [("unusable", 3_412, 31), ("unintended", 1_842, 151)] {
        let rate = rows(&REPORT, "rates").iter().find(|rate| rate["kind"] == kind && count(rate, "n") == n);
        let rate = rate.expect("a rate of this size");
        counts(rate, &[("hits", hits)]);
        assert_eq!(rate["change"]["verdict"], "no change", "{kind}");
    }
    assert_eq!(subjects("MT601"), ["ticket-desk/triage_ticket"]);
}
