//! June 2026 at a shop: `reply_to_review` is called 1,842 times from three desks, and its `tone` takes 47 values
//! where three were meant. The handler looks the tone up without a default and writes what it finds.

use super::File;
use super::chance::Chance;
use super::desktop::render;
use super::filler::Filler;
use super::json::{Json, object};
use super::talk::{DAY, From, HOUR, Line, MINUTE, SECOND, Talk, moment, prompt_text};
use super::tones;
use super::words;

const SEED: u64 = 1_842;
const SERVER: &str = "storefront-desk";

const FILLER: Filler = Filler {
    tool: "search_orders",
    argument: "query",
    resource: "file:///handbook/replies.md",
    rows: (10, 60),
    bait: "{\"method\":\"prompts/get\",\"params\":{\"name\":\"reply_to_review\",\"arguments\":{\"tone\":\"furious\"}},\"id\":9}",
};

struct Desk {
    folder: &'static str,
    client: (&'static str, &'static str),
    /// When a session opens on a working day, in hours UTC.
    opens: &'static [i64],
}

const DESKS: [Desk; 3] = [
    Desk { folder: "anna", client: ("claude-ai", "0.1.0"), opens: &[7, 13] },
    Desk { folder: "ben", client: ("shop-console", "0.9.2"), opens: &[8] },
    Desk { folder: "counter", client: ("counter-app", "1.4.0"), opens: &[9] },
];

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let hosts = tones::by_host(&mut chance);
    let mut files = Vec::new();
    for (desk, calls) in DESKS.iter().zip(hosts) {
        let lines = month(&mut chance, desk, calls);
        let path = |name: &str| format!("storefront/{}/{name}", desk.folder);
        if desk.folder == "anna" {
            // The application began a new file between a question and its answer.
            let cut = rotation(&lines, moment("2026-06-29T07:30:00Z"));
            let (older, newer) = lines.split_at(cut);
            let older = render(older, SERVER);
            files.push(File::new(&path("mcp-server-storefront-desk1.log.gz"), older));
            files.push(File::new(&path("mcp-server-storefront-desk.log"), render(newer, SERVER)));
        } else {
            let ending = if desk.folder == "ben" { "gz" } else { "zst" };
            let text = render(&lines, SERVER);
            files.push(File::new(&path(&format!("mcp-server-storefront-desk.log.{ending}")), text));
        }
    }
    files
}

/// The index after the first `prompts/get` request at or after `from`.
fn rotation(lines: &[Line], from: i64) -> usize {
    let wanted = |line: &Line| line.at >= from && line.from == From::Client && line.body.contains("\"prompts/get\"");
    lines.iter().position(wanted).map_or(lines.len(), |at| at + 1)
}

fn month(chance: &mut Chance, desk: &Desk, tones: Vec<String>) -> Vec<Line> {
    let first = moment("2026-06-01T00:00:00Z");
    let opens: Vec<i64> = (0..30)
        .filter(|day| !matches!(day % 7, 5 | 6)) // 1 June 2026 was a Monday
        .flat_map(|day| desk.opens.iter().map(move |hour| first + day * DAY + hour * HOUR))
        .collect();
    let sizes = chance.split(tones.len(), opens.len(), 3);
    let mut tones = tones.into_iter();
    let mut lines = Vec::new();
    for (open, size) in opens.into_iter().zip(sizes) {
        let start = open + chance.between(0, 40) * MINUTE + chance.between(0, 59_999);
        let calls: Vec<String> = tones.by_ref().take(size).collect();
        lines.append(&mut session(chance, desk, start, &calls));
    }
    lines
}

fn session(chance: &mut Chance, desk: &Desk, start: i64, calls: &[String]) -> Vec<Line> {
    let mut talk = Talk::new(chance, "", start, 0);
    talk.line(From::Log("info"), "Initializing server...");
    talk.wait(3, 30);
    talk.line(From::Log("info"), "Server started and connected successfully");
    let able = object! {"roots": object! {"listChanged": true}};
    let offers = object! {
        "prompts": object! {"listChanged": false}, "resources": object! {"subscribe": false, "listChanged": false},
        "tools": object! {"listChanged": false}, "completions": Json::object(),
    };
    talk.open("2025-06-18", desk.client, able, (SERVER, "2.7.1"), offers);
    talk.exchange("tools/list", None, FILLER.tools(), (2, 9));
    talk.exchange("prompts/list", None, listing(), (2, 9));
    // The server's own ids begin at 0 too.
    let id = talk.server_asks("roots/list", None);
    talk.wait(1, 9);
    talk.client_answers(id, object! {"roots": Vec::new()});
    for tone in calls {
        talk.wait(15 * SECOND, 5 * MINUTE);
        call(&mut talk, desk, tone);
        for _ in 0..talk.chance.between(1, 2) {
            talk.wait(SECOND, MINUTE);
            FILLER.once(&mut talk);
        }
        noise(&mut talk);
    }
    if talk.chance.one_in(3) {
        talk.wait(SECOND, MINUTE);
        let id = talk.ask("prompts/get", Some(object! {"name": "weekly_summary"}));
        talk.wait(2, 30);
        let text = "Summarise this week's reviews in five lines, worst first.";
        talk.answer(id, prompt_text("The week's reviews in five lines", text));
    }
    close(&mut talk);
    talk.lines
}

fn listing() -> Json {
    let argument = |name: &str, description: &str, required: bool| {
        object! {"name": name, "description": description, "required": required}
    };
    let reply = object! {
        "name": "reply_to_review",
        "description": "Draft a reply to a customer's review",
        "arguments": vec![
            argument("review", "The review as the customer wrote it", true),
            argument("tone", "Tone of the reply. One of: warm, neutral, formal.", true),
            argument("product", "Product that the review is about", false),
        ],
    };
    object! {"prompts": vec![reply, object! {"name": "weekly_summary", "description": "The week's reviews in five lines"}]}
}

fn call(talk: &mut Talk<'_>, desk: &Desk, tone: &str) {
    let review = match talk.chance.below(60) {
        // The word stands in what a customer wrote: no hole in the rendering.
        0 => format!("None of the staff could help. {}", words::review(talk.chance)),
        // U+2028 is a legal character of a JSON string and ends no line.
        1 => format!("{}\u{2028}{}", words::review(talk.chance), words::review(talk.chance)),
        _ => words::review(talk.chance),
    };
    let product = if talk.chance.one_in(3) { None } else { Some(talk.chance.pick(&words::PRODUCTS)) };
    if let Some(product) = product
        && desk.folder == "counter"
        && talk.chance.one_in(6)
    {
        complete(talk, product);
    }
    let mut arguments = object! {"review": review.as_str(), "tone": tone};
    if let Some(product) = product {
        arguments = arguments.with("product", product);
    }
    let id = talk.ask("prompts/get", Some(object! {"name": "reply_to_review", "arguments": arguments}));
    if talk.chance.one_in(4) {
        talk.line(From::Stderr, "Processing request of type GetPromptRequest");
    }
    talk.wait(1, 24);
    let about = product.unwrap_or("shop");
    let phrase = tones::phrase(tone);
    let text = format!("Draft a reply to a review of our {about}, in a tone that is {phrase}.\n\nReview:\n{review}");
    talk.answer(id, prompt_text("Draft a reply to a customer's review", &text));
}

/// The counter's form asks for products while somebody types.
fn complete(talk: &mut Talk<'_>, product: &str) {
    let typed: String = product.chars().take(2).collect();
    let offered: Vec<&str> = words::PRODUCTS.iter().copied().filter(|item| item.starts_with(&typed)).collect();
    let params = object! {
        "ref": object! {"type": "ref/prompt", "name": "reply_to_review"},
        "argument": object! {"name": "product", "value": typed},
    };
    let completion = object! {"values": offered.as_slice(), "total": offered.len() as i64, "hasMore": false};
    talk.exchange("completion/complete", Some(params), object! {"completion": completion}, (1, 9));
    talk.wait(400, 2_000);
}

/// What a server prints on standard error stands between the messages, word for word.
fn noise(talk: &mut Talk<'_>) {
    let lines: &[&str] = match talk.chance.below(40) {
        0 => &["\u{1b}[33mWARNING\u{1b}[0m  order index is 12 minutes old"],
        1 => &["{\"level\":\"info\",\"event\":\"cache warm\",\"took_ms\":41}"],
        // A server that prints what it sends: no second message.
        2 => &["DEBUG >> {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"prompts\":[{\"name\":\"reply_to_review\"}]}}"],
        3 => &[
            "Traceback (most recent call last):",
            "  File \"/srv/storefront/orders.py\", line 88, in refresh",
            "    page = await fetch(cursor)",
            "TimeoutError: the order service did not answer",
        ],
        4 => &["Processing request of type CallToolRequest"],
        _ => &[],
    };
    for line in lines {
        talk.line(From::Stderr, line);
    }
}

fn close(talk: &mut Talk<'_>) {
    talk.wait(MINUTE, 10 * MINUTE);
    if talk.chance.one_in(9) {
        let dump = "Server disconnected. For troubleshooting see the server's own output {\n  metadata: {\n    context: 'connection',\n    stack: 'Error: read ECONNRESET\\n' +\n      '    at Pipe.onStreamRead (node:internal/stream_base_commons:217:20)'\n  }\n}";
        talk.line(From::Log("error"), dump);
    } else {
        talk.line(From::Log("info"), "Client transport closed");
    }
    talk.line(From::Log("info"), "Server transport closed");
}
