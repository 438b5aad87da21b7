//! Eight months of a reporting server that asks before it acts: 5,139 answers were accepted, 39 of them break the
//! schema they were asked with.

use super::File;
use super::chance::Chance;
use super::filler::Filler;
use super::json::{Json, SPACED, SPACED_ASCII, object};
use super::talk::{DAY, HOUR, Line, MINUTE, Order, SECOND, Talk, enveloped, moment, tool_text};

const SEED: u64 = 5_139;
const SERVER: &str = "reports";
/// Until then everybody speaks 2025-06-18.
const REVISION_CHANGES: &str = "2026-02-01T00:00:00Z";

const FILLER: Filler = Filler {
    tool: "get_report",
    argument: "section",
    resource: "file:///reports/glossary.md",
    rows: (20, 160),
    bait: "{\"method\": \"elicitation/create\", \"params\": {\"message\": \"Which amount?\"}, \"id\": 2}",
};

/// The first months of the eight, and how their files are packed.
const MONTHS: [(&str, &str); 8] = [
    ("2025-11", "zst"),
    ("2025-12", "zst"),
    ("2026-01", "zst"),
    ("2026-02", "zst"),
    ("2026-03", "zst"),
    ("2026-04", "zst"),
    ("2026-05", "zst"),
    ("2026-06", "zst"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    SetBudget,
    ShareReport,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Usable,
    /// Usable, but the server refuses it for a reason no schema states.
    Refused,
    Text,
    Amount(i64),
    PeriodMissing,
    CurrencyAdded,
    FifthTeam,
    Decline,
    Cancel,
    Error,
    Never,
}

struct Host {
    name: &'static str,
    versions: [&'static str; 2],
    sessions: usize,
    /// Milliseconds a question stays on the screen.
    thinks: (i64, i64),
    typescript: bool,
    set_budget: &'static [(Answer, usize)],
    share_report: &'static [(Answer, usize)],
}

use Answer::{Amount, Cancel, CurrencyAdded, Decline, Error, FifthTeam, Never, PeriodMissing, Refused, Text, Usable};

/// A desktop application, a web page that posts text, a terminal that does not read bounds, and a runner that answers
/// from a policy file and shows nobody anything.
const HOSTS: [Host; 4] = [
    Host {
        name: "pane-desktop",
        versions: ["3.1.0", "3.2.0"],
        sessions: 110,
        thinks: (2_800, 60_000),
        typescript: true,
        set_budget: &[(Usable, 1_588), (Refused, 12), (PeriodMissing, 4), (Decline, 120), (Cancel, 60), (Never, 10)],
        share_report: &[(Usable, 900), (Decline, 90), (Cancel, 40), (Never, 6)],
    },
    Host {
        name: "webdock",
        versions: ["5.3.2", "5.4.0"],
        sessions: 70,
        thinks: (4_000, 90_000),
        typescript: true,
        set_budget: &[(Usable, 871), (Text, 9), (CurrencyAdded, 5), (Decline, 52), (Cancel, 30), (Never, 5)],
        share_report: &[(Usable, 459), (Decline, 33), (Cancel, 18), (Never, 3)],
    },
    Host {
        name: "hatch-cli",
        versions: ["0.12.4", "0.12.4"],
        sessions: 48,
        thinks: (1_900, 40_000),
        typescript: false,
        set_budget: &[
            (Usable, 610),
            (Amount(50), 1),
            (Amount(10), 1),
            (Amount(0), 1),
            (Amount(60_000), 1),
            (Amount(75_000), 1),
            (Amount(99_999), 1),
            (Amount(250_000), 1),
            (Amount(1_000_000), 1),
            (Decline, 40),
            (Cancel, 7),
            (Error, 3),
            (Never, 3),
        ],
        share_report: &[(Usable, 250), (FifthTeam, 2), (Decline, 20), (Cancel, 3)],
    },
    Host {
        name: POLICY,
        versions: ["2.0.1", "2.0.1"],
        sessions: 30,
        thinks: (2, 9),
        typescript: false,
        set_budget: &[(Usable, 300), (Amount(50), 2), (Amount(60_000), 3)],
        share_report: &[(Usable, 110), (FifthTeam, 6)],
    },
];

const POLICY: &str = "policy-runner";

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut lines = Vec::new();
    for host in &HOSTS {
        lines.append(&mut eight_months(&mut chance, host));
    }
    // A stable sort: neighbours that share a millisecond keep the order in which they were said.
    lines.sort_by_key(|line| line.at);
    let mut files = Vec::new();
    for (at, (month, ending)) in MONTHS.iter().enumerate() {
        let begins = moment(&format!("{month}-01T00:00:00Z"));
        let ends = MONTHS.get(at + 1).map_or(i64::MAX, |(next, _)| moment(&format!("{next}-01T00:00:00Z")));
        let mut text = String::new();
        for line in lines.iter().filter(|line| (begins..ends).contains(&line.at)) {
            text.push_str(&enveloped(line, None));
            text.push('\n');
        }
        files.push(File::new(&format!("reports/reports-{month}.ndjson.{ending}"), text));
    }
    files
}

fn eight_months(chance: &mut Chance, host: &Host) -> Vec<Line> {
    let tasks = tasks(chance, host);
    let sizes = chance.split(tasks.len(), host.sessions, 2);
    let begins = moment("2025-11-03T07:00:00Z");
    let step = (moment("2026-06-29T00:00:00Z") - begins) / host.sessions as i64;
    let mut tasks = tasks.into_iter();
    let mut lines = Vec::new();
    for (number, size) in (0..).zip(sizes) {
        let mut start = begins + number * step + chance.between(0, 9 * HOUR);
        if host.name == "pane-desktop" && number == 12 {
            // One session works past midnight at the end of a month: questions in one file, answers in the next.
            start = moment("2025-11-30T23:40:00Z");
        }
        let session: Vec<_> = tasks.by_ref().take(size).collect();
        lines.append(&mut talk_session(chance, host, start, &session));
    }
    lines
}

fn tasks(chance: &mut Chance, host: &Host) -> Vec<(Operation, Answer)> {
    let spread = |operation: Operation, counts: &[(Answer, usize)]| -> Vec<(Operation, Answer)> {
        counts.iter().flat_map(|(answer, count)| std::iter::repeat_n((operation, *answer), *count)).collect()
    };
    let mut set = spread(Operation::SetBudget, host.set_budget);
    let mut share = spread(Operation::ShareReport, host.share_report);
    if host.name == POLICY {
        // A policy file is edited and then answers alike until the next edit: the odd answers come in a row.
        set.rotate_left(170);
        share.rotate_left(60);
        set.append(&mut share);
    } else {
        set.append(&mut share);
        chance.shuffle(&mut set);
    }
    set
}

fn talk_session(chance: &mut Chance, host: &Host, start: i64, tasks: &[(Operation, Answer)]) -> Vec<Line> {
    let modern = start >= moment(REVISION_CHANGES) && host.name != POLICY;
    let session = chance.hex(32);
    let mut talk = Talk::new(chance, &session, start, i64::from(!host.typescript));
    talk.client = if host.typescript { (Order::TypeScript, SPACED) } else { (Order::Python, SPACED_ASCII) };
    talk.server = (Order::Python, SPACED);
    let forms = if modern {
        object! {"form": Json::object()}
    } else {
        Json::object()
    };
    let version = host.versions[usize::from(start >= moment("2026-03-09T00:00:00Z"))];
    let protocol = if modern { "2025-11-25" } else { "2025-06-18" };
    let offers = object! {
        "tools": object! {"listChanged": false}, "resources": object! {"subscribe": false, "listChanged": false},
        "logging": Json::object(),
    };
    talk.open(protocol, (host.name, version), object! {"elicitation": forms}, (SERVER, "4.2.0"), offers);
    talk.exchange("tools/list", None, tools(), (2, 20));
    for (operation, answer) in tasks {
        talk.wait(10 * SECOND, 6 * MINUTE);
        operate(&mut talk, host, *operation, *answer, modern);
        for _ in 0..talk.chance.between(1, 3) {
            talk.wait(SECOND, MINUTE);
            FILLER.once(&mut talk);
        }
    }
    debug_assert!(talk.at - start < 2 * DAY);
    talk.lines
}

fn tools() -> Json {
    let tool = |name: &str, description: &str, argument: &str| {
        let properties = Json::object().with(argument, object! {"type": "string"});
        let input = object! {"type": "object", "properties": properties, "required": [argument].as_slice()};
        object! {"name": name, "description": description, "inputSchema": input}
    };
    object! {"tools": vec![
        tool("set_budget", "Set a team's budget after asking how much", "team"),
        tool("share_report", "Share a report after asking with whom", "report"),
        tool("get_report", "Read a section of a report", "section"),
    ]}
}

const TEAMS: [&str; 4] = ["sales", "finance", "support", "operations"];

fn operate(talk: &mut Talk<'_>, host: &Host, operation: Operation, answer: Answer, modern: bool) {
    let (name, arguments, message, schema) = match operation {
        Operation::SetBudget => {
            let team = talk.chance.pick(&TEAMS);
            (
                "set_budget",
                object! {"team": team},
                format!("Budget of {team}: how much, and for how long?"),
                budget_schema(),
            )
        }
        Operation::ShareReport => {
            let report = format!("R-{}", talk.chance.between(100, 999));
            let message = format!("Share report {report} with which team?");
            ("share_report", object! {"report": report}, message, share_schema())
        }
    };
    let call = talk.ask("tools/call", Some(object! {"name": name, "arguments": arguments}));
    talk.wait(3, 40);
    let mut params = object! {"message": message, "requestedSchema": schema};
    if modern {
        params = params.with("mode", "form");
    }
    let question = talk.server_asks("elicitation/create", Some(params));
    if answer == Never {
        // The person has gone; the server gives up after five minutes.
        talk.wait(5 * MINUTE, 5 * MINUTE + 40);
        talk.answer(call, tool_text("Nobody answered in time; nothing was changed.", true));
        return;
    }
    talk.wait(host.thinks.0, host.thinks.1);
    match answer {
        Decline => talk.client_answers(question, object! {"action": "decline"}),
        Cancel => talk.client_answers(question, object! {"action": "cancel"}),
        Error => talk.client_fails(question, -32_603, "the terminal is not interactive"),
        _ => {
            let content = content(talk, host, operation, answer);
            talk.client_answers(question, object! {"action": "accept", "content": content});
        }
    }
    talk.wait(2, 60);
    let (text, is_error) = outcome(operation, answer);
    talk.answer(call, tool_text(text, is_error));
}

fn budget_schema() -> Json {
    object! {
        "type": "object",
        "properties": object! {
            "amount": object! {"type": "integer", "title": "Amount in EUR", "minimum": 100, "maximum": 50_000},
            "period": object! {"type": "string", "enum": ["month", "quarter"].as_slice()},
            "note": object! {"type": "string", "maxLength": 200},
        },
        "required": ["amount", "period"].as_slice(),
    }
}

fn share_schema() -> Json {
    object! {
        "type": "object",
        "properties": object! {
            "team": object! {"type": "string", "enum": TEAMS.as_slice()},
            "access": object! {"type": "string", "enum": ["view", "comment"].as_slice()},
            "until": object! {"type": "string", "format": "date"},
        },
        "required": ["team", "access"].as_slice(),
    }
}

fn content(talk: &mut Talk<'_>, host: &Host, operation: Operation, answer: Answer) -> Json {
    let policy = host.name == POLICY;
    if operation == Operation::ShareReport {
        let team = match answer {
            FifthTeam => "legal",
            _ if policy => "finance",
            _ => talk.chance.pick(&TEAMS),
        };
        let access = if policy || !talk.chance.one_in(4) { "view" } else { "comment" };
        let content = object! {"team": team, "access": access};
        if policy || !talk.chance.one_in(3) {
            return content;
        }
        let until = format!("2026-{:02}-{:02}", talk.chance.between(7, 12), talk.chance.between(1, 28));
        return content.with("until", until);
    }
    let amount = if policy { 5_000 } else { usual_amount(talk.chance) };
    let period = if policy || !talk.chance.one_in(3) { "month" } else { "quarter" };
    match answer {
        Text => object! {"amount": amount.to_string(), "period": period},
        Amount(odd) => object! {"amount": odd, "period": period},
        PeriodMissing => object! {"amount": amount},
        CurrencyAdded => object! {"amount": amount, "period": period, "currency": "EUR"},
        _ if !policy && talk.chance.one_in(5) => {
            let note =
                talk.chance.pick(&["as agreed on Monday", "régie, lot 3", "trial period", "same as last quarter"]);
            object! {"amount": amount, "period": period, "note": note}
        }
        _ => object! {"amount": amount, "period": period},
    }
}

/// Mostly some thousands, in steps of 50 from 100 to 50,000.
fn usual_amount(chance: &mut Chance) -> i64 {
    let draws = [chance.between(2, 1_000), chance.between(2, 1_000), chance.between(2, 1_000)];
    50 * draws.into_iter().min().unwrap_or(2)
}

/// What the server made of an answer. It checks that nothing is missing; it does not look at bounds or names.
fn outcome(operation: Operation, answer: Answer) -> (&'static str, bool) {
    match (operation, answer) {
        (_, Decline | Cancel) => ("Nothing was changed.", false),
        (_, Error) => ("The question could not be shown.", true),
        (_, Refused) => ("Refused: the department's total would be exceeded.", true),
        (_, PeriodMissing) => ("The answer has no period.", true),
        (Operation::SetBudget, _) => ("The budget was set.", false),
        (Operation::ShareReport, _) => ("The report was shared.", false),
    }
}
