//! One connection between a client and a server: ids, clock and member order, message by message.

use super::chance::Chance;
use super::json::{Json, SPACED, Style, object};

/// Who writes a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum From {
    Client,
    Server,
    /// Not a message: the writer's own lifecycle line, by level.
    Log(&'static str),
    /// Not a message: what the server printed on standard error.
    Stderr,
}

pub struct Line {
    /// Milliseconds since the Unix epoch.
    pub at: i64,
    pub from: From,
    pub session: String,
    pub body: String,
}

/// Where an SDK puts `jsonrpc` and `id`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `jsonrpc` and `id` first.
    Python,
    /// What the message is about first.
    TypeScript,
}

pub struct Talk<'a> {
    pub chance: &'a mut Chance,
    pub at: i64,
    pub session: String,
    pub client: (Order, Style),
    pub server: (Order, Style),
    next_client_id: i64,
    next_server_id: i64,
    pub lines: Vec<Line>,
}

impl<'a> Talk<'a> {
    /// `first_id` is the client's first id: 0 or 1 in real SDKs. Servers begin at 0.
    pub fn new(chance: &'a mut Chance, session: &str, at: i64, first_id: i64) -> Self {
        Self {
            chance,
            at,
            session: session.to_owned(),
            client: (Order::TypeScript, super::json::COMPACT),
            server: (Order::Python, super::json::COMPACT),
            next_client_id: first_id,
            next_server_id: 0,
            lines: Vec::new(),
        }
    }

    pub fn wait(&mut self, low: i64, high: i64) {
        self.at += self.chance.between(low, high);
    }

    /// A line that is no message of the connection's two ends.
    pub fn line(&mut self, from: From, body: &str) {
        self.lines.push(Line { at: self.at, from, session: self.session.clone(), body: body.to_owned() });
    }

    fn send(&mut self, from: From, id: Option<i64>, about: Vec<(&str, Json)>) {
        let (order, style) = if from == From::Client { self.client } else { self.server };
        let mut envelope = vec![("jsonrpc", Json::from("2.0"))];
        envelope.extend(id.map(|id| ("id", Json::from(id))));
        let members = match order {
            Order::Python => envelope.into_iter().chain(about),
            Order::TypeScript => about.into_iter().chain(envelope),
        };
        let body = Json::Object(members.map(|(key, value)| (key.to_owned(), value)).collect()).to_text(style);
        self.line(from, &body);
    }

    fn call(from: From, method: &str, params: Option<Json>) -> (From, Vec<(&'static str, Json)>) {
        let mut about = vec![("method", Json::from(method))];
        about.extend(params.map(|params| ("params", params)));
        (from, about)
    }

    /// The client asks; returns the id.
    pub fn ask(&mut self, method: &str, params: Option<Json>) -> i64 {
        let id = self.next_client_id;
        self.next_client_id += 1;
        let (from, about) = Self::call(From::Client, method, params);
        self.send(from, Some(id), about);
        id
    }

    pub fn answer(&mut self, id: i64, result: Json) {
        self.send(From::Server, Some(id), vec![("result", result)]);
    }

    pub fn fail(&mut self, id: i64, code: i64, message: &str) {
        self.send(From::Server, Some(id), vec![("error", object! {"code": code, "message": message})]);
    }

    /// A request of the client with its result `low` to `high` milliseconds later.
    pub fn exchange(&mut self, method: &str, params: Option<Json>, result: Json, (low, high): (i64, i64)) {
        let id = self.ask(method, params);
        self.wait(low, high);
        self.answer(id, result);
    }

    /// The server asks; returns the id, of the server's own numbers.
    pub fn server_asks(&mut self, method: &str, params: Option<Json>) -> i64 {
        let id = self.next_server_id;
        self.next_server_id += 1;
        let (from, about) = Self::call(From::Server, method, params);
        self.send(from, Some(id), about);
        id
    }

    pub fn client_answers(&mut self, id: i64, result: Json) {
        self.send(From::Client, Some(id), vec![("result", result)]);
    }

    pub fn client_fails(&mut self, id: i64, code: i64, message: &str) {
        self.send(From::Client, Some(id), vec![("error", object! {"code": code, "message": message})]);
    }

    pub fn notify(&mut self, from: From, method: &str, params: Option<Json>) {
        let (from, about) = Self::call(from, method, params);
        self.send(from, None, about);
    }

    /// initialize and notifications/initialized.
    pub fn open(&mut self, protocol: &str, client: (&str, &str), able: Json, server: (&str, &str), offers: Json) {
        let hello = object! {
            "protocolVersion": protocol, "capabilities": able,
            "clientInfo": object! {"name": client.0, "version": client.1},
        };
        let welcome = object! {
            "protocolVersion": protocol, "capabilities": offers,
            "serverInfo": object! {"name": server.0, "version": server.1},
        };
        self.exchange("initialize", Some(hello), welcome, (80, 900));
        self.wait(1, 9);
        self.notify(From::Client, "notifications/initialized", None);
        self.wait(1, 40);
    }
}

/// A tool's result with one text.
pub fn tool_text(text: &str, is_error: bool) -> Json {
    object! {"content": vec![object! {"type": "text", "text": text}], "isError": is_error}
}

/// A prompt's result with one message of the user.
pub fn prompt_text(description: &str, text: &str) -> Json {
    object! {
        "description": description,
        "messages": vec![object! {"role": "user", "content": object! {"type": "text", "text": text}}],
    }
}

/// `{ts, dir, session, msg}` lines as a recording proxy writes them.
pub fn enveloped(line: &Line, server: Option<&str>) -> String {
    let direction = if line.from == From::Client { "client->server" } else { "server->client" };
    let mut envelope = object! {"ts": time(line.at), "dir": direction, "session": line.session.as_str()};
    if let Some(server) = server {
        envelope = envelope.with("server", server);
    }
    envelope.with("msg", Json::Exact(line.body.clone())).to_text(SPACED)
}

/// Milliseconds since the epoch as `2026-06-01T08:00:00.000Z`.
pub fn time(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        Err(_) => String::new(),
    }
}

/// Milliseconds since the epoch of a moment written `2026-06-01T08:00:00Z`.
pub fn moment(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond)
}

pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
