//! A day of stateless traffic, revision 2026-07-28: no handshake, no session; questions come back inside results and
//! answers inside the same request sent again.

use super::File;
use super::chance::Chance;
use super::filler::Filler;
use super::json::{Json, SPACED, object};
use super::talk::{From, Line, MINUTE, Order, SECOND, Talk, moment, time};
use super::words;

const SEED: u64 = 2_026;
const SERVER: &str = "returns-desk";

const FILLER: Filler = Filler {
    tool: "list_returns",
    argument: "state",
    resource: "file:///returns/policy.md",
    rows: (10, 40),
    bait: "{\"resultType\": \"input_required\", \"inputRequests\": {}}",
};

/// How the client goes on after a question.
#[derive(Clone, Copy)]
enum Step {
    /// Nothing was asked.
    Plain,
    Accept,
    /// Answers a first question, then a second one in the next round.
    AcceptTwice,
    Decline,
    Cancel,
    /// Answers over the maximum, is asked again, answers within it.
    TooMuch,
    /// Answers, and later sends the finished request once more.
    Replay,
    Never,
}

const REPLIES: [Step; 14] = [
    Step::Plain,
    Step::Accept,
    Step::Plain,
    Step::Decline,
    Step::Plain,
    Step::Plain,
    Step::AcceptTwice,
    Step::Plain,
    Step::Accept,
    Step::Plain,
    Step::Never,
    Step::Plain,
    Step::Accept,
    Step::Plain,
];

const REFUNDS: [Step; 10] = [
    Step::Accept,
    Step::Accept,
    Step::TooMuch,
    Step::Accept,
    Step::Replay,
    Step::Decline,
    Step::Never,
    Step::Accept,
    Step::Cancel,
    Step::Accept,
];

pub fn files() -> Vec<File> {
    let mut chance = Chance::new(SEED);
    let mut lines =
        day(&mut chance, ("pane-desktop", "4.0.0"), moment("2026-08-12T07:05:00Z"), &REPLIES, &REFUNDS[..5]);
    lines.append(&mut day(&mut chance, ("hatch-cli", "1.1.0"), moment("2026-08-12T13:20:00Z"), &[], &REFUNDS[5..]));
    let text = lines.iter().map(|line| envelope(line) + "\n").collect();
    vec![File::new("returns/returns-desk-2026-08-12.ndjson", text)]
}

/// A gateway's lines: no session field, since there are no sessions.
fn envelope(line: &Line) -> String {
    let from = if line.from == From::Client { "client" } else { "server" };
    let envelope =
        object! {"time": time(line.at), "from": from, "transport": "http", "rpc": Json::Exact(line.body.clone())};
    envelope.to_text(SPACED)
}

/// Each request says who sends it.
fn identity(client: (&str, &str)) -> Json {
    object! {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": object! {"name": client.0, "version": client.1},
        "io.modelcontextprotocol/clientCapabilities": object! {"elicitation": object! {"form": Json::object()}},
    }
}

fn server_meta() -> Json {
    object! {"io.modelcontextprotocol/serverInfo": object! {"name": SERVER, "version": "1.0.0"}}
}

fn complete(result: Json) -> Json {
    result.with("resultType", "complete").with("_meta", server_meta())
}

fn day(chance: &mut Chance, client: (&str, &str), start: i64, replies: &[Step], refunds: &[Step]) -> Vec<Line> {
    let mut talk = Talk::new(chance, "", start, 1);
    talk.client = (Order::Python, SPACED);
    talk.server = (Order::Python, SPACED);
    list(&mut talk, client);
    let mut refunds = refunds.iter();
    for step in replies {
        talk.wait(MINUTE, 6 * MINUTE);
        reply(&mut talk, client, *step);
        around(&mut talk, client);
        if talk.chance.one_in(2)
            && let Some(step) = refunds.next()
        {
            talk.wait(MINUTE, 6 * MINUTE);
            refund(&mut talk, client, *step);
            around(&mut talk, client);
        }
    }
    for step in refunds {
        talk.wait(MINUTE, 6 * MINUTE);
        refund(&mut talk, client, *step);
        around(&mut talk, client);
    }
    talk.lines
}

fn list(talk: &mut Talk<'_>, client: (&str, &str)) {
    let argument = |name: &str, description: &str, required: bool| {
        object! {"name": name, "description": description, "required": required}
    };
    let prompts = vec![object! {
        "name": "reply_to_return", "description": "Answer somebody who sends something back",
        "arguments": vec![
            argument("letter", "What the customer wrote", true),
            argument("tone", "Tone of the answer; asked for when it is not given", false),
        ],
    }];
    let listing = object! {"prompts": prompts, "ttlMs": 86_400_000, "cacheScope": "public"};
    talk.exchange("prompts/list", Some(object! {"_meta": identity(client)}), complete(listing), (2, 30));
    talk.wait(5, 90);
    let tools = FILLER.tools().with("ttlMs", 86_400_000).with("cacheScope", "public");
    talk.exchange("tools/list", Some(object! {"_meta": identity(client)}), complete(tools), (2, 30));
}

/// Everyday calls, with the identity that this revision asks of each request.
fn around(talk: &mut Talk<'_>, client: (&str, &str)) {
    for _ in 0..talk.chance.between(2, 4) {
        talk.wait(SECOND, 40 * SECOND);
        let page = talk.chance.below(6);
        let rows = talk.chance.between(FILLER.rows.0, FILLER.rows.1) as usize;
        let text = if talk.chance.one_in(12) { FILLER.bait.to_owned() } else { words::rows(page, rows) };
        let params = object! {
            "name": FILLER.tool, "arguments": object! {"state": format!("page {page}")}, "_meta": identity(client),
        };
        let result = object! {"content": vec![object! {"type": "text", "text": text}], "isError": false};
        talk.exchange("tools/call", Some(params), complete(result), (9, 400));
    }
}

/// One request, then the same request again with an answer for each round the server asks for.
struct Request<'a> {
    method: &'a str,
    client: (&'a str, &'a str),
    name: &'a str,
    arguments: Vec<(&'a str, String)>,
}

impl Request<'_> {
    fn send(&self, talk: &mut Talk<'_>, answer: Option<(Json, Option<&str>)>) -> i64 {
        let mut params = Json::object();
        if let Some((responses, state)) = answer {
            params = params.with("inputResponses", responses);
            if let Some(state) = state {
                params = params.with("requestState", state);
            }
        }
        let arguments = self.arguments.iter().fold(Json::object(), |all, (key, value)| all.with(key, value.as_str()));
        let params = params.with("name", self.name).with("arguments", arguments).with("_meta", identity(self.client));
        talk.ask(self.method, Some(params))
    }

    fn ask_back(talk: &mut Talk<'_>, id: i64, key: &str, params: Json, state: Option<&str>) {
        talk.wait(3, 40);
        let question = object! {"method": "elicitation/create", "params": params};
        let mut result = object! {"resultType": "input_required", "inputRequests": Json::object().with(key, question)};
        if let Some(state) = state {
            result = result.with("requestState", state);
        }
        talk.answer(id, result.with("_meta", server_meta()));
    }
}

fn state(talk: &mut Talk<'_>) -> String {
    format!("v1.{}", talk.chance.hex(72))
}

fn accept(key: &str, content: Json) -> Json {
    Json::object().with(key, object! {"action": "accept", "content": content})
}

fn refuse(key: &str, action: &str) -> Json {
    Json::object().with(key, object! {"action": action})
}

fn reply(talk: &mut Talk<'_>, client: (&str, &str), step: Step) {
    let letter = words::review(talk.chance);
    let tone = talk.chance.pick(&["warm", "plain", "formal"]);
    let mut arguments = vec![("letter", letter.clone())];
    if matches!(step, Step::Plain) {
        arguments.push(("tone", tone.to_owned()));
    }
    let order = Request { method: "prompts/get", client, name: "reply_to_return", arguments };
    let mut id = order.send(talk, None);
    let mut written = tone;
    if !matches!(step, Step::Plain) {
        let tones = object! {"type": "string", "enum": ["warm", "plain", "formal"].as_slice()};
        let form = object! {"type": "object", "properties": object! {"tone": tones}, "required": ["tone"].as_slice()};
        let question = object! {"mode": "form", "message": "Which tone?", "requestedSchema": form};
        let first = state(talk);
        Request::ask_back(talk, id, "tone", question, Some(&first));
        if matches!(step, Step::Never) {
            return;
        }
        talk.wait(4 * SECOND, 30 * SECOND);
        let answer = match step {
            Step::Decline => refuse("tone", "decline"),
            _ => accept("tone", object! {"tone": tone}),
        };
        id = order.send(talk, Some((answer, Some(&first))));
        if matches!(step, Step::Decline) {
            written = "plain";
        }
        if matches!(step, Step::AcceptTwice) {
            let lines = object! {"type": "integer", "minimum": 3, "maximum": 40};
            let form =
                object! {"type": "object", "properties": object! {"lines": lines}, "required": ["lines"].as_slice()};
            let question = object! {"mode": "form", "message": "How many lines at most?", "requestedSchema": form};
            let second = state(talk);
            Request::ask_back(talk, id, "lines", question, Some(&second));
            talk.wait(4 * SECOND, 30 * SECOND);
            id = order.send(talk, Some((accept("lines", object! {"lines": 12}), Some(&second))));
        }
    }
    talk.wait(3, 40);
    let text = format!("Answer this customer; be {written}.\n\n{letter}");
    let messages = vec![object! {"role": "user", "content": object! {"type": "text", "text": text}}];
    talk.answer(
        id,
        complete(object! {"description": "Answer somebody who sends something back", "messages": messages}),
    );
}

fn refund_question(order: &str) -> Json {
    let form = object! {
        "type": "object",
        "properties": object! {
            "amount": object! {"type": "number", "minimum": 1, "maximum": 500},
            "reason": object! {"type": "string", "enum": ["damaged", "late", "wrong item"].as_slice()},
        },
        "required": ["amount", "reason"].as_slice(),
    };
    object! {"mode": "form", "message": format!("Refund order {order}: how much, and why?"), "requestedSchema": form}
}

fn refund(talk: &mut Talk<'_>, client: (&str, &str), step: Step) {
    let number = format!("SO-{}", talk.chance.between(100_000, 999_999));
    let order =
        Request { method: "tools/call", client, name: "refund_order", arguments: vec![("order", number.clone())] };
    let id = order.send(talk, None);
    // One round trip in ten carries no state: only the request itself says what the answer belongs to.
    let seal = if matches!(step, Step::Cancel) { None } else { Some(state(talk)) };
    Request::ask_back(talk, id, "refund", refund_question(&number), seal.as_deref());
    if matches!(step, Step::Never) {
        return;
    }
    talk.wait(4 * SECOND, 40 * SECOND);
    let amount = talk.chance.between(2, 400);
    let reason = talk.chance.pick(&["damaged", "late", "wrong item"]);
    let given = |amount: i64| accept("refund", object! {"amount": amount, "reason": reason});
    let finish = |talk: &mut Talk<'_>, id: i64, text: &str| {
        talk.wait(5, 200);
        let result = object! {"content": vec![object! {"type": "text", "text": text}], "isError": false};
        talk.answer(id, complete(result));
    };
    match step {
        Step::Decline | Step::Cancel => {
            let action = if matches!(step, Step::Decline) { "decline" } else { "cancel" };
            let id = order.send(talk, Some((refuse("refund", action), seal.as_deref())));
            finish(talk, id, "Nothing was refunded.");
        }
        Step::TooMuch => {
            let id = order.send(talk, Some((given(900), seal.as_deref())));
            let again = state(talk);
            Request::ask_back(talk, id, "refund", refund_question(&number), Some(&again));
            talk.wait(4 * SECOND, 40 * SECOND);
            let id = order.send(talk, Some((given(500), Some(&again))));
            finish(talk, id, "500 EUR were refunded.");
        }
        _ => {
            let id = order.send(talk, Some((given(amount), seal.as_deref())));
            finish(talk, id, "The order was refunded.");
            if matches!(step, Step::Replay) {
                talk.wait(20 * SECOND, MINUTE);
                let id = order.send(talk, Some((given(amount), seal.as_deref())));
                finish(talk, id, "The order was refunded.");
            }
        }
    }
}
