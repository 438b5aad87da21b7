//! A tool that asks four questions in a row. Each of them is correct and every answer fits; more than half of the people
//! who begin are gone before the end.

use super::File;
use super::chance::Chance;
use super::filler::Filler;
use super::json::{COMPACT, Json, SPACED, object};
use super::talk::{HOUR, Line, MINUTE, Order, SECOND, Talk, enveloped, moment, tool_text};

const SEED: u64 = 240;
const SERVER: &str = "room-desk";

const FILLER: Filler = Filler {
    tool: "list_rooms",
    argument: "building",
    resource: "file:///rooms/house-rules.md",
    rows: (8, 40),
    bait: "{\"method\": \"elicitation/create\", \"params\": {\"message\": \"Which room?\"}, \"id\": 3}",
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Decline,
    Cancel,
    Never,
}

use Leaves::{Cancel, Decline, Never};

/// Runs that are left: at which question, how, and how many.
const LEFT: [(usize, Leaves, usize); 10] = [
    (1, Decline, 9),
    (1, Cancel, 3),
    (2, Decline, 14),
    (2, Cancel, 10),
    (2, Never, 2),
    (3, Decline, 51),
    (3, Cancel, 27),
    (3, Never, 4),
    (4, Decline, 16),
    (4, Cancel, 4),
];
const FINISHED: usize = 100;

const HOSTS: [(&str, &str, usize); 2] = [("atrium-app", "1.8.0", 28), ("courtyard", "0.6.2", 16)];

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut runs: Vec<Option<(usize, Leaves)>> = vec![None; FINISHED];
    for (question, how, times) in LEFT {
        runs.extend(std::iter::repeat_n(Some((question, how)), times));
    }
    chance.shuffle(&mut runs);
    let sessions: usize = HOSTS.iter().map(|(_, _, sessions)| sessions).sum();
    let sizes = chance.split(runs.len(), sessions, 2);
    let begins = moment("2026-05-04T06:30:00Z");
    let step = (moment("2026-05-29T16:00:00Z") - begins) / sessions as i64;
    let mut runs = runs.into_iter();
    let mut lines = Vec::new();
    for (number, size) in (0..).zip(sizes) {
        // Seven of eleven sessions are of the first host, in a fixed turn.
        let host = HOSTS[usize::from(number * HOSTS[0].2 as i64 % sessions as i64 >= HOSTS[0].2 as i64)];
        let start = begins + number * step + chance.between(0, 2 * HOUR);
        let session: Vec<_> = runs.by_ref().take(size).collect();
        lines.append(&mut talk_session(&mut chance, (host.0, host.1), start, &session));
    }
    lines.sort_by_key(|line| line.at);
    let text = lines.iter().map(|line| enveloped(line, Some(SERVER)) + "\n").collect();
    vec![File::new("rooms/room-desk-2026-05.ndjson.zst", text)]
}

fn talk_session(chance: &mut Chance, client: (&str, &str), start: i64, runs: &[Option<(usize, Leaves)>]) -> Vec<Line> {
    let session = chance.hex(24);
    let mut talk = Talk::new(chance, &session, start, 0);
    talk.client = (Order::TypeScript, COMPACT);
    talk.server = (Order::Python, SPACED);
    let able = object! {"elicitation": object! {"form": Json::object()}};
    let offers = object! {"tools": Json::object(), "resources": Json::object()};
    talk.open("2025-11-25", client, able, (SERVER, "2.0.3"), offers);
    for left in runs {
        talk.wait(20 * SECOND, 8 * MINUTE);
        book(&mut talk, *left);
        for _ in 0..talk.chance.between(1, 3) {
            talk.wait(SECOND, MINUTE);
            FILLER.once(&mut talk);
        }
    }
    talk.lines
}

fn book(talk: &mut Talk<'_>, left: Option<(usize, Leaves)>) {
    let arguments = object! {"title": talk.chance.pick(&["Jour fixe", "Interview", "Planning", "Demo"])};
    let call = talk.ask("tools/call", Some(object! {"name": "book_room", "arguments": arguments}));
    for number in 1..=4 {
        talk.wait(3, 40);
        let (message, schema) = question(number);
        let params = object! {"mode": "form", "message": message, "requestedSchema": schema};
        let id = talk.server_asks("elicitation/create", Some(params));
        let leaves = left.filter(|(at, _)| *at == number).map(|(_, how)| how);
        if leaves == Some(Never) {
            talk.wait(5 * MINUTE, 5 * MINUTE + 40);
            talk.answer(call, tool_text("Nobody answered in time; no room was booked.", true));
            return;
        }
        talk.wait(2_500, 50 * SECOND);
        if let Some(how) = leaves {
            let action = if how == Decline { "decline" } else { "cancel" };
            talk.client_answers(id, object! {"action": action});
            talk.wait(2, 60);
            talk.answer(call, tool_text("No room was booked.", false));
            return;
        }
        let content = content(talk, number);
        talk.client_answers(id, object! {"action": "accept", "content": content});
    }
    talk.wait(2, 60);
    talk.answer(call, tool_text("The room was booked.", false));
}

fn form(properties: Json, required: &[&str]) -> Json {
    object! {"type": "object", "properties": properties, "required": required}
}

fn question(number: usize) -> (&'static str, Json) {
    match number {
        1 => {
            let people = object! {"type": "integer", "title": "People", "minimum": 2, "maximum": 40};
            let day = object! {"type": "string", "format": "date", "title": "Day"};
            ("For how many, and when?", form(object! {"people": people, "day": day}, &["people", "day"]))
        }
        2 => {
            let start = object! {"type": "string", "title": "Begins at", "pattern": "^[0-2][0-9]:[0-5][0-9]$"};
            let hours = object! {"type": "number", "title": "Hours", "minimum": 0, "maximum": 10};
            ("From when, and for how long?", form(object! {"start": start, "hours": hours}, &["start", "hours"]))
        }
        3 => {
            let cost_centre = object! {"type": "string", "title": "Cost centre", "minLength": 4, "maxLength": 8};
            ("Which cost centre pays?", form(object! {"cost_centre": cost_centre}, &["cost_centre"]))
        }
        _ => {
            let catering = object! {"type": "string", "enum": ["none", "coffee", "lunch"].as_slice()};
            ("Anything to eat or drink?", form(object! {"catering": catering}, &["catering"]))
        }
    }
}

fn content(talk: &mut Talk<'_>, number: usize) -> Json {
    match number {
        1 => {
            let day = format!("2026-06-{:02}", talk.chance.between(1, 30));
            object! {"people": talk.chance.between(2, 24), "day": day}
        }
        2 => {
            let start = format!("{:02}:{}0", talk.chance.between(8, 17), talk.chance.between(0, 5));
            object! {"start": start, "hours": talk.chance.between(1, 4)}
        }
        3 => object! {"cost_centre": talk.chance.between(10_000, 99_999).to_string()},
        _ => object! {"catering": talk.chance.pick(&["none", "coffee", "lunch"])},
    }
}
