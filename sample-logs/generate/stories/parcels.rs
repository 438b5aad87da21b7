//! One log across an update of the application: bodies before it, only methods and ids after it.

use super::File;
use super::chance::Chance;
use super::desktop::render;
use super::filler::Filler;
use super::json::{Json, object};
use super::talk::{From, MINUTE, SECOND, Talk, moment, prompt_text, tool_text};
use super::words;

const SEED: u64 = 24_012;
const SERVER: &str = "parcel-tracker";

const FILLER: Filler = Filler {
    tool: "track_parcel",
    argument: "number",
    resource: "file:///parcels/zones.md",
    rows: (4, 14),
    bait: "Message from client: {\"method\":\"prompts/get\",\"id\":4}",
};

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut talk = Talk::new(&mut chance, "", moment("2026-06-25T08:12:00Z"), 0);
    with_bodies(&mut talk);
    talk.at = moment("2026-07-09T08:31:00Z");
    redacted(&mut talk);
    vec![File::new("storefront/anna/mcp-server-parcel-tracker.log", render(&talk.lines, SERVER))]
}

fn with_bodies(talk: &mut Talk<'_>) {
    talk.line(From::Log("info"), "Initializing server...");
    let offers = object! {"prompts": Json::object(), "tools": Json::object(), "resources": Json::object()};
    talk.open("2025-06-18", ("claude-ai", "0.1.0"), Json::object(), (SERVER, "1.2.0"), offers);
    let number = object! {"name": "number", "description": "Parcel number", "required": true};
    let prompt = object! {"name": "explain_delay", "description": "Explain a delay", "arguments": vec![number]};
    talk.exchange("prompts/list", None, object! {"prompts": vec![prompt]}, (2, 20));
    for _ in 0..6 {
        talk.wait(MINUTE, 9 * MINUTE);
        let number = format!("PX{}", talk.chance.between(1_000_000, 9_999_999));
        let params = object! {"name": "explain_delay", "arguments": object! {"number": number.as_str()}};
        let text = format!("Explain to the customer why parcel {number} is late.");
        talk.exchange("prompts/get", Some(params), prompt_text("Explain a delay", &text), (2, 20));
        FILLER.once(talk);
        FILLER.once(talk);
    }
    // Long bodies were cut in the middle: this line holds no complete JSON.
    talk.wait(MINUTE, 2 * MINUTE);
    let id = talk.ask("tools/call", Some(object! {"name": "track_parcel", "arguments": object! {"number": "all"}}));
    talk.wait(200, 900);
    talk.answer(id, tool_text(&words::rows(3, 40), false));
    if let Some(line) = talk.lines.last_mut() {
        let head: String = line.body.chars().take(400).collect();
        let cut = line.body.chars().count().saturating_sub(420);
        line.body = format!("{head}...[{cut} chars truncated]...\"isError\":false");
    }
    talk.line(From::Log("info"), "Client transport closed");
}

/// A newer build: `method="..." id=N params` and `id=N result`.
fn redacted(talk: &mut Talk<'_>) {
    talk.line(From::Log("info"), "Initializing server...");
    let mut say = |from: From, body: &str| {
        talk.wait(20, 900);
        talk.line(from, body);
    };
    say(From::Log("info"), "era probe verdict: legacy");
    say(From::Client, "method=\"initialize\" id=0 params");
    say(From::Server, "id=0 result");
    say(From::Client, "method=\"notifications/initialized\"");
    say(From::Client, "method=\"prompts/list\" id=1");
    say(From::Server, "id=1 result");
    for call in 0..9 {
        let id = 2 + 2 * call;
        say(From::Client, &format!("method=\"prompts/get\" id={id} params"));
        say(From::Server, &format!("id={id} result"));
        say(From::Client, &format!("method=\"tools/call\" id={} params", id + 1));
        say(From::Server, &format!("id={} result (1 blocks)", id + 1));
    }
    talk.wait(30 * SECOND, MINUTE);
    talk.line(From::Log("info"), "Server transport closed (intentional shutdown)");
}
