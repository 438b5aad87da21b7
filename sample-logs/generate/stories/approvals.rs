//! Three clients of a server that asks before it acts: one declines everything before anybody can have read it, one is
//! as fast and means every answer, and one is a person who says no twice.

use super::File;
use super::chance::Chance;
use super::filler::Filler;
use super::json::{Json, SPACED, SPACED_ASCII, object};
use super::talk::{HOUR, Line, MINUTE, Order, SECOND, Talk, enveloped, moment, tool_text};

const SEED: u64 = 40;
const SERVER: &str = "approvals-desk";

const FILLER: Filler = Filler {
    tool: "list_invoices",
    argument: "customer",
    resource: "file:///approvals/four-eyes.md",
    rows: (6, 30),
    bait: "{\"result\": {\"action\": \"decline\"}, \"id\": 4}",
};

struct Host {
    name: &'static str,
    version: &'static str,
    sessions: usize,
    accepted: usize,
    declined: usize,
    /// Milliseconds from question to answer.
    takes: (i64, i64),
}

const HOSTS: [Host; 3] = [
    Host { name: "quiet-runner", version: "0.9.0", sessions: 12, accepted: 0, declined: 96, takes: (6, 38) },
    Host { name: "quick-form", version: "2.1.0", sessions: 8, accepted: 64, declined: 0, takes: (60, 240) },
    Host {
        name: "ledger-desk",
        version: "7.0.1",
        sessions: 10,
        accepted: 41,
        declined: 2,
        takes: (3_000, 45 * SECOND),
    },
];

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut lines = Vec::new();
    for host in &HOSTS {
        let mut answers = vec![true; host.accepted];
        answers.extend(vec![false; host.declined]);
        chance.shuffle(&mut answers);
        let sizes = chance.split(answers.len(), host.sessions, 2);
        let begins = moment("2026-04-06T07:00:00Z");
        let step = (moment("2026-04-28T00:00:00Z") - begins) / host.sessions as i64;
        let mut answers = answers.into_iter();
        for (number, size) in (0..).zip(sizes) {
            let start = begins + number * step + chance.between(0, 6 * HOUR);
            let session: Vec<bool> = answers.by_ref().take(size).collect();
            lines.append(&mut talk_session(&mut chance, host, start, &session));
        }
    }
    lines.sort_by_key(|line| line.at);
    let text = lines.iter().map(|line| enveloped(line, Some(SERVER)) + "\n").collect();
    vec![File::new("approvals/approvals-desk-2026-04.ndjson.gz", text)]
}

fn talk_session(chance: &mut Chance, host: &Host, start: i64, answers: &[bool]) -> Vec<Line> {
    let session = chance.uuid();
    let mut talk = Talk::new(chance, &session, start, 1);
    talk.client = (Order::Python, SPACED_ASCII);
    talk.server = (Order::TypeScript, SPACED);
    let offers = object! {"tools": Json::object(), "resources": Json::object()};
    talk.open(
        "2025-06-18",
        (host.name, host.version),
        object! {"elicitation": Json::object()},
        (SERVER, "1.1.0"),
        offers,
    );
    for accepted in answers {
        talk.wait(15 * SECOND, 5 * MINUTE);
        approve(&mut talk, host, *accepted);
        for _ in 0..talk.chance.between(1, 2) {
            talk.wait(SECOND, MINUTE);
            FILLER.once(&mut talk);
        }
    }
    talk.lines
}

fn approve(talk: &mut Talk<'_>, host: &Host, accepted: bool) {
    let invoice = format!("I-{}", talk.chance.between(1_000, 9_999));
    let arguments = object! {"invoice": invoice.as_str()};
    let call = talk.ask("tools/call", Some(object! {"name": "send_invoice", "arguments": arguments}));
    talk.wait(3, 40);
    let schema = object! {
        "type": "object",
        "properties": object! {
            "copies": object! {"type": "integer", "title": "Copies", "minimum": 1, "maximum": 9},
            "due_in_days": object! {"type": "integer", "title": "Due in days", "minimum": 0, "maximum": 90},
            "by_post": object! {"type": "boolean", "title": "On paper too"},
        },
        "required": ["copies", "due_in_days"].as_slice(),
    };
    let params = object! {"message": format!("Send invoice {invoice}: how?"), "requestedSchema": schema};
    let question = talk.server_asks("elicitation/create", Some(params));
    talk.wait(host.takes.0, host.takes.1);
    let text = if accepted {
        let content = object! {
            "copies": talk.chance.between(1, 4), "due_in_days": talk.chance.between(0, 60),
            "by_post": talk.chance.one_in(3),
        };
        talk.client_answers(question, object! {"action": "accept", "content": content});
        "The invoice was sent."
    } else {
        talk.client_answers(question, object! {"action": "decline"});
        "The invoice was not sent."
    };
    talk.wait(2, 60);
    talk.answer(call, tool_text(text, false));
}
