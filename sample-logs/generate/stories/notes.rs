//! What a person gets who puts a `tee` between client and server: bare JSON-RPC lines, no time, no direction.

use super::File;
use super::chance::Chance;
use super::filler::Filler;
use super::json::{Json, object};
use super::talk::{Talk, prompt_text, tool_text};

const SEED: u64 = 10;

const FILLER: Filler = Filler {
    tool: "search_notes",
    argument: "text",
    resource: "file:///notes/inbox.md",
    rows: (3, 25),
    bait: "{\"result\":{\"action\":\"accept\",\"content\":{\"title\":\"quoted\"}},\"jsonrpc\":\"2.0\",\"id\":0}",
};

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut talk = Talk::new(&mut chance, "", 0, 0);
    let able = object! {"elicitation": Json::object()};
    let offers = object! {"prompts": Json::object(), "tools": Json::object(), "resources": Json::object()};
    talk.open("2025-11-25", ("pane-desktop", "3.2.0"), able, ("notes", "0.4.1"), offers);
    let day = object! {"name": "day", "description": "Which day", "required": false};
    let prompt = object! {"name": "daily_note", "description": "Write the day's note", "arguments": vec![day]};
    talk.exchange("prompts/list", None, object! {"prompts": vec![prompt]}, (1, 9));
    for day in ["Monday", "Tuesday", "samedi\u{2028}matin", "Thursday"] {
        let params = object! {"name": "daily_note", "arguments": object! {"day": day}};
        let text = format!("Write the note of {day}.");
        talk.exchange("prompts/get", Some(params), prompt_text("Write the day's note", &text), (1, 9));
        for _ in 0..3 {
            FILLER.once(&mut talk);
        }
    }
    // The server's question has id 0 or more, and so has many a request of the client.
    for answer in [object! {"action": "accept", "content": object! {"title": "Été"}}, object! {"action": "decline"}] {
        let call = talk.ask("tools/call", Some(object! {"name": "save_note", "arguments": Json::object()}));
        let title = object! {"type": "string", "minLength": 1, "maxLength": 80};
        let schema = object! {
            "type": "object", "properties": object! {"title": title}, "required": ["title"].as_slice(),
        };
        let params = object! {"mode": "form", "message": "Title of the note?", "requestedSchema": schema};
        let question = talk.server_asks("elicitation/create", Some(params));
        talk.client_answers(question, answer);
        talk.answer(call, tool_text("done", false));
        FILLER.once(&mut talk);
    }
    let text = talk.lines.iter().map(|line| line.body.clone() + "\n").collect();
    vec![File::new("notes/notes-tee.ndjson", text)]
}
