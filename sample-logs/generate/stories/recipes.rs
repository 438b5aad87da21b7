//! An old log of a Windows machine, early 2025: every server in one file, lists polled every few seconds.

use super::File;
use super::chance::Chance;
use super::filler::Filler;
use super::json::{Json, object};
use super::talk::{From, Line, MINUTE, SECOND, Talk, moment, prompt_text, time};

const SEED: u64 = 2_025;

const FILLER: Filler = Filler {
    tool: "find_recipe",
    argument: "with",
    resource: "file:///recipes/index.md",
    rows: (5, 30),
    bait: "prompts/get",
};

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut lines = recipes(&mut chance);
    lines.append(&mut clock(&mut chance));
    lines.sort_by_key(|line| line.at);
    let text = lines.iter().map(line).collect();
    vec![File::new("kitchen/mcp.log.gz", text)]
}

/// The level stands before the name in the file of all servers.
fn line(line: &Line) -> String {
    let (at, tag, body) = (time(line.at), &line.session, &line.body);
    match line.from {
        From::Client => format!("{at} [info] [{tag}] Message from client: {body}\r\n"),
        From::Server => format!("{at} [info] [{tag}] Message from server: {body}\r\n"),
        From::Log(level) => format!("{at} [{level}] [{tag}] {body}\r\n"),
        From::Stderr => format!("{body}\r\n"),
    }
}

fn recipes(chance: &mut Chance) -> Vec<Line> {
    let mut talk = Talk::new(chance, "recipes", moment("2025-03-14T09:20:00Z"), 0);
    talk.line(From::Log("info"), "Initializing server...");
    let offers = object! {"prompts": Json::object(), "tools": Json::object(), "resources": Json::object()};
    talk.open("2024-11-05", ("claude-ai", "0.1.0"), Json::object(), ("recipes", "0.3.0"), offers);
    for poll in 0..60 {
        talk.exchange("prompts/list", None, listing(), (1, 9));
        talk.wait(2 * SECOND, 6 * SECOND);
        if poll % 5 == 2 {
            let servings = ["6", "4", "12", "6 people"][poll / 5 % 4];
            let arguments = object! {"recipe": "crème brûlée", "servings": servings};
            let text = format!("Scale crème brûlée to {servings} servings.");
            let params = object! {"name": "scale_recipe", "arguments": arguments};
            talk.exchange("prompts/get", Some(params), prompt_text("Scale a recipe", &text), (1, 9));
        }
        FILLER.once(&mut talk);
    }
    talk.lines
}

fn listing() -> Json {
    let argument = |name: &str| object! {"name": name, "required": true};
    let scale = object! {"name": "scale_recipe", "arguments": vec![argument("recipe"), argument("servings")]};
    object! {"prompts": vec![scale]}
}

/// A server without prompts is asked for them all the same.
fn clock(chance: &mut Chance) -> Vec<Line> {
    let mut talk = Talk::new(chance, "clock", moment("2025-03-14T09:20:01Z"), 0);
    talk.line(From::Log("info"), "Initializing server...");
    talk.open(
        "2024-11-05",
        ("claude-ai", "0.1.0"),
        Json::object(),
        ("clock", "1.0.0"),
        object! {"tools": Json::object()},
    );
    for _ in 0..40 {
        let id = talk.ask("prompts/list", None);
        talk.wait(1, 9);
        talk.fail(id, -32_601, "Method not found");
        talk.wait(4 * SECOND, MINUTE / 6);
    }
    talk.lines
}
