//! An argument is renamed in the middle of June 2026: `area` becomes `product-area`. Whoever lists the prompts again
//! goes on working; whoever does not fails on every call from then on, one fifth of all calls.

use super::File;
use super::chance::Chance;
use super::filler::Filler;
use super::json::{COMPACT, Json, object};
use super::talk::{DAY, From, HOUR, Line, MINUTE, Order, Talk, moment, prompt_text};
use super::words;

const SEED: u64 = 1_200;
const SERVER: &str = "ticket-desk";
const BEGINS: &str = "2026-06-01T06:00:00Z";
const CHANGE: &str = "2026-06-16T12:00:00Z";
const ENDS: &str = "2026-06-30T18:00:00Z";

const FILLER: Filler = Filler {
    tool: "search_articles",
    argument: "text",
    resource: "file:///triage/rules.md",
    rows: (10, 70),
    bait: "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}",
};

#[derive(Clone, Copy)]
struct Host {
    client: (&'static str, &'static str),
    /// Asks for the list again when told that it changed.
    listens: bool,
    /// The key it sends after the change.
    key_after: &'static str,
    /// Sessions that live across the change, their calls before it and after it.
    across: usize,
    before: usize,
    after: usize,
    /// Sessions opened after the change, which list when they open, and their calls.
    later: usize,
    later_calls: usize,
}

/// 540 calls before the change; after it 230 + 190 good ones and 240 bad ones: 1,200 calls, 240 of them fail.
const HOSTS: [Host; 3] = [
    Host {
        client: ("field-app", "2.2.0"),
        listens: true,
        key_after: "product-area",
        across: 12,
        before: 220,
        after: 230,
        later: 4,
        later_calls: 80,
    },
    // Its reply templates were edited by hand when the change was announced.
    Host {
        client: ("templater", "1.0.3"),
        listens: false,
        key_after: "productArea",
        across: 9,
        before: 160,
        after: 110,
        later: 3,
        later_calls: 50,
    },
    Host {
        client: ("night-console", "0.8.0"),
        listens: false,
        key_after: "area",
        across: 9,
        before: 160,
        after: 130,
        later: 3,
        later_calls: 60,
    },
];

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut lines = Vec::new();
    for host in HOSTS {
        // The last session opens minutes before the change and lists what is still the old declaration.
        let mut before = chance.split(host.before, host.across - usize::from(host.listens), 4);
        if host.listens {
            before.push(0);
        }
        let after = chance.split(host.after, host.across, 5);
        for (number, (before, after)) in before.into_iter().zip(after).enumerate() {
            let last = host.listens && number + 1 == host.across;
            lines.append(&mut across(&mut chance, host, (before, after), last));
        }
        for calls in chance.split(host.later_calls, host.later, 6) {
            lines.append(&mut opened_later(&mut chance, host, calls));
        }
    }
    lines.sort_by_key(|line| line.at);
    let middle = moment(CHANGE) - 11 * HOUR;
    let text = |wanted: &dyn Fn(&Line) -> bool| -> String {
        lines.iter().filter(|line| wanted(line)).map(|line| envelope(line) + "\n").collect()
    };
    vec![
        File::new("tickets/ticket-desk-2026-06-a.jsonl.zst", text(&|line| line.at < middle)),
        File::new("tickets/ticket-desk-2026-06-b.jsonl.gz", text(&|line| line.at >= middle)),
    ]
}

/// Another recorder's dialect: the message is a string inside the line.
fn envelope(line: &Line) -> String {
    let direction = if line.from == From::Client { "client_to_server" } else { "server_to_client" };
    let envelope = object! {
        "timestamp_ms": line.at, "server_name": SERVER, "session_id": line.session.as_str(),
        "direction": direction, "message": line.body.as_str(),
    };
    envelope.to_text(COMPACT)
}

/// Moments of calls on working hours, at least a minute apart, in order.
fn moments(chance: &mut Chance, from: i64, to: i64, count: usize) -> Vec<i64> {
    let mut taken: Vec<i64> = Vec::with_capacity(count);
    while taken.len() < count {
        let at = from + chance.below(u64::try_from(to - from).unwrap_or(1)) as i64;
        let hour = at.rem_euclid(DAY) / HOUR;
        if (7..18).contains(&hour) && taken.iter().all(|other| (other - at).abs() > 2 * MINUTE) {
            taken.push(at);
        }
    }
    taken.sort_unstable();
    taken
}

fn start<'a>(chance: &'a mut Chance, host: Host, at: i64, current: bool) -> Talk<'a> {
    let session = chance.uuid();
    let mut talk = Talk::new(chance, &session, at, 0);
    talk.server = (Order::TypeScript, COMPACT);
    let offers = object! {
        "prompts": object! {"listChanged": true}, "tools": object! {"listChanged": true}, "resources": Json::object(),
    };
    talk.open("2025-11-25", host.client, Json::object(), (SERVER, "3.0.2"), offers);
    talk.exchange("prompts/list", None, listing(current), (2, 30));
    talk
}

fn across(chance: &mut Chance, host: Host, (before, after): (usize, usize), last: bool) -> Vec<Line> {
    let change = moment(CHANGE);
    let opens = if last { change - 2 * MINUTE } else { moment(BEGINS) + chance.between(0, 8 * DAY) };
    let early = if last { Vec::new() } else { moments(chance, opens + MINUTE, change - 20 * MINUTE, before) };
    let late = moments(chance, change + 10 * MINUTE, moment(ENDS), after);
    let mut talk = start(chance, host, opens, false);
    for at in early {
        talk.at = talk.at.max(at);
        call(&mut talk, "area", false);
    }
    talk.at = change + talk.chance.between(0, 40);
    talk.notify(From::Server, "notifications/prompts/list_changed", None);
    if talk.chance.one_in(3) {
        // One notice for each prompt that was touched: a repeat of the same change.
        talk.notify(From::Server, "notifications/prompts/list_changed", None);
    }
    if host.listens {
        talk.wait(200, 3_000);
        talk.exchange("prompts/list", None, listing(true), (2, 30));
    }
    for at in late {
        talk.at = talk.at.max(at);
        call(&mut talk, host.key_after, true);
    }
    talk.lines
}

fn opened_later(chance: &mut Chance, host: Host, calls: usize) -> Vec<Line> {
    let opens = moment(CHANGE) + DAY + chance.between(0, 4 * DAY);
    let at = moments(chance, opens + MINUTE, moment(ENDS), calls);
    let mut talk = start(chance, host, opens, true);
    for at in at {
        talk.at = talk.at.max(at);
        call(&mut talk, "product-area", true);
    }
    talk.lines
}

fn listing(current: bool) -> Json {
    let argument = |name: &str, description: &str| object! {"name": name, "description": description, "required": true};
    let area = if current { "product-area" } else { "area" };
    let triage = object! {
        "name": "triage_ticket", "title": "Triage a ticket", "description": "Say who should take a ticket",
        "arguments": vec![
            argument("ticket", "The ticket's number and text"),
            argument(area, "Part of the product that the ticket is about"),
        ],
    };
    object! {"prompts": vec![triage]}
}

fn call(talk: &mut Talk<'_>, key: &str, current: bool) {
    let ticket = words::ticket(talk.chance);
    let area = talk.chance.pick(&["billing", "shipping", "login", "mobile app", "search", "café orders"]);
    let arguments = object! {"ticket": ticket.as_str()}.with(key, area);
    let id = talk.ask("prompts/get", Some(object! {"name": "triage_ticket", "arguments": arguments}));
    talk.wait(1, 30);
    let wanted = if current { "product-area" } else { "area" };
    if key == wanted {
        let text = format!("Say which team should take this {area} ticket, and why.\n\n{ticket}");
        talk.answer(id, prompt_text("Say who should take a ticket", &text));
    } else {
        let message = format!(
            "MCP error -32602: Invalid arguments for prompt triage_ticket: Invalid input: expected string, received undefined at {wanted}"
        );
        talk.fail(id, -32_602, &message);
    }
    for _ in 0..talk.chance.between(1, 2) {
        talk.wait(500, 9_000);
        FILLER.once(talk);
    }
}
