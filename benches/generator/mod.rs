//! A month of enveloped traffic, of any size, the same bytes for the same seed.
//!
//! The mix is that of a busy capture: a third of the lines are tool requests (about 7 % of the bytes), a third tool
//! results (nine tenths of the bytes, up to 200 KB each), 3 % belong to prompts and 1 % to elicitations, the rest are
//! pings and notifications. Some results quote whole prompt exchanges, as text and as nested objects: those must not
//! count. Half of the sessions are written the way JavaScript writes JSON, half the way Python does.

mod json;
mod text;

use json::{Json, Style};
use std::io::{self, Write};
use text::{Piece, Pool, Random};

/// Sessions open at any moment.
const OPEN_SESSIONS: usize = 24;
/// Exchanges in a session's life.
const EXCHANGES: u32 = 400;
/// Average line, for spreading the lines over the month.
const BYTES_PER_LINE: u64 = 1_535;
const MONTH_MS: u64 = 30 * 24 * 3_600_000;

const CLIENTS: &[(&str, &str)] = &[("desk-app", "4.2.0"), ("term-cli", "0.9.3"), ("notes-plugin", "1.11.0")];
const TONES: &[&str] = &["warm", "firm", "neutral"];
const ODD_TONES: &[&str] = &["", "Warm", "firm.", "warm but not sycophantic", "apologetic", "formal", " neutral "];
const REASONS: &[&str] = &["damaged", "late", "wrong_item", "other"];
const TOOLS: &[&str] = &["search_files", "read_file", "run_query", "fetch_page", "list_issues", "get_weather"];

/// What was written, counted while writing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Month {
    pub bytes: u64,
    pub lines: u64,
    pub sessions: u64,
    pub prompt_calls: u64,
    pub prompt_lines: u64,
    pub unintended_tones: u64,
    pub elicitations: u64,
    pub usable_accepts: u64,
    pub unusable_accepts: u64,
    pub tool_requests: u64,
    pub tool_request_bytes: u64,
    pub tool_result_bytes: u64,
    /// Results that quote a prompt exchange.
    pub quoting_results: u64,
}

/// Writes about `bytes` of traffic: there it stops opening exchanges and lets the open ones finish.
pub fn write(out: &mut impl Write, bytes: u64, seed: u64) -> io::Result<Month> {
    let mut writer = Writer::new(bytes, seed);
    let mut sessions: Vec<Session> = (0..OPEN_SESSIONS).map(|_| writer.open_session()).collect();
    while !sessions.is_empty() {
        let closing = writer.month.bytes >= bytes;
        let slot = writer.random.below(sessions.len() as u64) as usize;
        let done = writer.step(&mut sessions[slot], closing);
        if done && closing {
            sessions.swap_remove(slot);
        } else if done {
            sessions[slot] = writer.open_session();
        }
        out.write_all(&writer.line)?;
        writer.line.clear();
    }
    Ok(writer.month)
}

/// What a session writes next.
enum Next {
    Exchange,
    InitializeResult,
    Initialized,
    PromptsList,
    PromptsListResult(u64),
    PromptResult { id: u64, tone: &'static str, review: Piece },
    ToolResult(u64),
    Question { tool: u64 },
    QuestionAnswer { tool: u64, id: u64 },
    PingResult(u64),
}

struct Session {
    name: String,
    style: Style,
    client: (&'static str, &'static str),
    next_id: u64,
    next_server_id: u64,
    left: u32,
    next: Next,
}

impl Session {
    fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Client,
    Server,
}

struct Writer {
    random: Random,
    pool: Pool,
    line: Vec<u8>,
    /// Milliseconds since the month began.
    now: u64,
    step_ms: u64,
    month: Month,
}

impl Writer {
    fn new(bytes: u64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let pool = Pool::new(&mut random);
        let step_ms = (MONTH_MS / (bytes / BYTES_PER_LINE + 1)).max(1);
        Self { random, pool, line: Vec::with_capacity(256 * 1024), now: 0, step_ms, month: Month::default() }
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len() as u64) as usize]
    }

    fn open_session(&mut self) -> Session {
        self.month.sessions += 1;
        Session {
            name: format!("s-{:06}", self.month.sessions),
            style: self.choose(&[Style::Compact, Style::Spaced]),
            client: self.choose(CLIENTS),
            next_id: 0,
            next_server_id: 0,
            left: EXCHANGES,
            next: Next::Exchange,
        }
    }

    /// Writes the session's next line. True when the session is at its end (or, while closing, at rest).
    fn step(&mut self, session: &mut Session, closing: bool) -> bool {
        self.now += self.random.below(2 * self.step_ms);
        match std::mem::replace(&mut session.next, Next::Exchange) {
            Next::Exchange if closing || session.left == 0 => return true,
            Next::Exchange => {
                session.left -= 1;
                self.open_exchange(session);
            }
            Next::InitializeResult => self.initialize_result(session),
            Next::Initialized => {
                self.notification(session, From::Client, "notifications/initialized");
                session.next = Next::PromptsList;
            }
            Next::PromptsList => {
                let id = session.take_id();
                self.month.prompt_lines += 1;
                self.request(session, From::Client, id, "prompts/list", |_, _| {});
                session.next = Next::PromptsListResult(id);
            }
            Next::PromptsListResult(id) => self.prompts_list_result(session, id),
            Next::PromptResult { id, tone, review } => self.prompt_result(session, id, tone, review),
            Next::ToolResult(id) => self.tool_result(session, id),
            Next::Question { tool } => self.question(session, tool),
            Next::QuestionAnswer { tool, id } => self.question_answer(session, tool, id),
            Next::PingResult(id) => self.result(session, From::Server, id, |_, _| {}),
        }
        false
    }

    fn open_exchange(&mut self, session: &mut Session) {
        if session.next_id == 0 {
            self.initialize(session);
            return;
        }
        // Of 582 exchanges: 333 tool calls (5 of them ask a question in between), 15 prompts, 60 pings, 174 notices.
        match self.random.below(582) {
            0..333 => self.tool_request(session),
            333..348 => self.prompt_request(session),
            348..408 => {
                let id = session.take_id();
                self.request(session, From::Client, id, "ping", |_, _| {});
                session.next = Next::PingResult(id);
            }
            _ => {
                let method =
                    self.choose(&["notifications/message", "notifications/progress", "notifications/progress"]);
                self.notification(session, From::Server, method);
            }
        }
    }

    fn initialize(&mut self, session: &mut Session) {
        let id = session.take_id();
        let (name, version) = session.client;
        self.request(session, From::Client, id, "initialize", |json, _| {
            json.text("protocolVersion", "2025-11-25");
            json.raw("capabilities", r#"{"elicitation":{}}"#);
            json.object("clientInfo", |json| {
                json.text("name", name);
                json.text("version", version);
            });
        });
        session.next = Next::InitializeResult;
    }

    fn initialize_result(&mut self, session: &mut Session) {
        self.result(session, From::Server, 0, |json, _| {
            json.text("protocolVersion", "2025-11-25");
            json.raw("capabilities", r#"{"prompts":{"listChanged":true},"tools":{}}"#);
            json.raw("serverInfo", r#"{"name":"support-desk","version":"3.4.1"}"#);
        });
        session.next = Next::Initialized;
    }

    fn prompts_list_result(&mut self, session: &mut Session, id: u64) {
        self.month.prompt_lines += 1;
        self.result(session, From::Server, id, |json, _| {
            json.raw(
                "prompts",
                concat!(
                    r#"[{"name":"reply_to_review","title":"Reply to a review","description":"Draft a reply","arguments":"#,
                    r#"[{"name":"review","required":true},{"name":"tone","description":"One of: warm, firm, neutral."}]},"#,
                    r#"{"name":"standup"}]"#
                ),
            );
        });
    }

    fn prompt_request(&mut self, session: &mut Session) {
        let id = session.take_id();
        let odd = self.random.below(12) == 0;
        let tone = self.choose(if odd { ODD_TONES } else { TONES });
        let length = 150 + self.random.below(450) as usize;
        let review = self.pool.pick(&mut self.random, length);
        self.month.prompt_calls += 1;
        self.month.prompt_lines += 2;
        self.month.unintended_tones += u64::from(odd);
        self.request(session, From::Client, id, "prompts/get", |json, pool| {
            json.text("name", "reply_to_review");
            json.object("arguments", |json| {
                json.text("review", pool.slice(json.style, review));
                json.text("tone", tone);
            });
        });
        session.next = Next::PromptResult { id, tone, review };
    }

    fn prompt_result(&mut self, session: &mut Session, id: u64, tone: &'static str, review: Piece) {
        if self.random.below(50) == 0 {
            self.error(session, id, "-32602", "review: field required");
            return;
        }
        self.result(session, From::Server, id, |json, pool| {
            json.text("description", "Draft a reply");
            json.array_of_one("messages", |json| {
                json.text("role", "user");
                json.object("content", |json| {
                    json.text("type", "text");
                    let review = pool.slice(json.style, review);
                    json.parts("text", &["Write a reply. The tone must be ", tone, ".\\n\\nReview:\\n", review]);
                });
            });
        });
    }

    fn tool_request(&mut self, session: &mut Session) {
        let before = self.month.bytes;
        let id = session.take_id();
        let asks = self.random.below(333) < 5;
        let tool = if asks { "refund" } else { self.choose(TOOLS) };
        let length = 40 + self.random.below(110) as usize;
        let query = self.pool.pick(&mut self.random, length);
        let limit = self.random.below(100);
        self.request(session, From::Client, id, "tools/call", |json, pool| {
            json.text("name", tool);
            json.object("arguments", |json| {
                json.text("query", pool.slice(json.style, query));
                json.number("limit", limit);
            });
        });
        self.month.tool_requests += 1;
        self.month.tool_request_bytes += self.month.bytes - before;
        session.next = if asks { Next::Question { tool: id } } else { Next::ToolResult(id) };
    }

    fn tool_result(&mut self, session: &mut Session, id: u64) {
        let before = self.month.bytes;
        if self.random.below(200) == 0 {
            self.error(session, id, "-32603", "upstream timed out");
        } else {
            let length = self.result_length();
            let text = self.pool.pick(&mut self.random, length);
            let quote = self.random.below(200);
            let failed = self.random.below(100) == 0;
            self.month.quoting_results += u64::from(quote < 2);
            self.result(session, From::Server, id, |json, pool| {
                json.array_of_one("content", |json| {
                    json.text("type", "text");
                    let quoted = if quote == 0 { QUOTED_AS_TEXT } else { "" };
                    json.parts("text", &[pool.slice(json.style, text), quoted]);
                });
                if quote == 1 {
                    json.raw("structuredContent", QUOTED_AS_OBJECT);
                }
                json.raw("isError", if failed { "true" } else { "false" });
            });
        }
        self.month.tool_result_bytes += self.month.bytes - before;
    }

    /// Bytes of a result's text: most are small, one in a hundred is up to 200 KB.
    fn result_length(&mut self) -> usize {
        let (from, to) = match self.random.below(100) {
            0..68 => (200, 1_800),
            68..91 => (1_800, 7_000),
            91..99 => (7_000, 22_000),
            _ => (22_000, 200_000),
        };
        from + self.random.below(to as u64 - from as u64) as usize
    }

    fn question(&mut self, session: &mut Session, tool: u64) {
        let id = session.next_server_id;
        session.next_server_id += 1;
        self.month.elicitations += 1;
        self.request(session, From::Server, id, "elicitation/create", |json, _| {
            json.text("message", "Confirm the refund");
            json.raw(
                "requestedSchema",
                concat!(
                    r#"{"type":"object","properties":{"amount":{"type":"integer","minimum":1,"maximum":500},"#,
                    r#""reason":{"type":"string","enum":["damaged","late","wrong_item","other"]},"#,
                    r#""note":{"type":"string","maxLength":80}},"required":["amount","reason"]}"#
                ),
            );
        });
        session.next = Next::QuestionAnswer { tool, id };
    }

    fn question_answer(&mut self, session: &mut Session, tool: u64, id: u64) {
        let kind = self.random.below(20);
        let amount = 1 + self.random.below(500);
        let reason = self.choose(REASONS);
        self.month.unusable_accepts += u64::from(kind == 2 || kind == 3);
        self.month.usable_accepts += u64::from(kind > 3);
        self.result(session, From::Client, id, |json, _| {
            let action = match kind {
                0 => "decline",
                1 => "cancel",
                _ => "accept",
            };
            json.text("action", action);
            if action == "accept" {
                json.object("content", |json| {
                    match kind {
                        2 => json.text("amount", "12.50"),
                        3 => json.number("amount", 500 + amount),
                        _ => json.number("amount", amount),
                    }
                    json.text("reason", reason);
                });
            }
        });
        session.next = Next::ToolResult(tool);
    }

    fn request(
        &mut self,
        session: &Session,
        from: From,
        id: u64,
        method: &str,
        params: impl FnOnce(&mut Json<'_>, &Pool),
    ) {
        self.enveloped(session, from, |json, pool| {
            json.text("jsonrpc", "2.0");
            json.number("id", id);
            json.text("method", method);
            json.object("params", |json| params(json, pool));
        });
    }

    fn notification(&mut self, session: &Session, from: From, method: &str) {
        let progress = self.random.below(100);
        self.enveloped(session, from, |json, _| {
            json.text("jsonrpc", "2.0");
            json.text("method", method);
            match method {
                "notifications/progress" => json.object("params", |json| {
                    json.number("progressToken", progress / 10);
                    json.number("progress", progress);
                }),
                "notifications/message" => json.object("params", |json| {
                    json.text("level", "info");
                    json.text("data", "cache refreshed");
                }),
                _ => {}
            }
        });
    }

    /// Members stand in any order on the wire: one style begins with the result, the other with the id.
    fn result(&mut self, session: &Session, from: From, id: u64, body: impl FnOnce(&mut Json<'_>, &Pool)) {
        self.enveloped(session, from, |json, pool| match json.style {
            Style::Compact => {
                json.object("result", |json| body(json, pool));
                json.text("jsonrpc", "2.0");
                json.number("id", id);
            }
            Style::Spaced => {
                json.text("jsonrpc", "2.0");
                json.number("id", id);
                json.object("result", |json| body(json, pool));
            }
        });
    }

    fn error(&mut self, session: &Session, id: u64, code: &str, message: &str) {
        self.enveloped(session, From::Server, |json, _| {
            json.text("jsonrpc", "2.0");
            json.number("id", id);
            json.object("error", |json| {
                json.raw("code", code);
                json.text("message", message);
            });
        });
    }

    fn enveloped(&mut self, session: &Session, from: From, message: impl FnOnce(&mut Json<'_>, &Pool)) {
        let start = self.line.len();
        let Self { line, pool, now, month, .. } = self;
        let mut json = Json::new(line, session.style);
        json.open(b'{');
        json.text("ts", &timestamp(*now));
        json.text("dir", if from == From::Client { "client->server" } else { "server->client" });
        json.text("session", &session.name);
        json.object("msg", |json| message(json, pool));
        json.close(b'}');
        line.push(b'\n');
        month.lines += 1;
        month.bytes += (line.len() - start) as u64;
    }
}

const QUOTED_AS_TEXT: &str = concat!(
    r#"\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":{\"name\":\"reply_to_review\",\"arguments\":"#,
    r#"{\"tone\":\"warm\"}}}\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"messages\":[]}}"#
);

const QUOTED_AS_OBJECT: &str = concat!(
    r#"{"log":[{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"reply_to_review","arguments":{"tone":"loud"}}},"#,
    r#"{"jsonrpc":"2.0","id":7,"result":{"messages":[]}},{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{}}}]}"#
);

/// RFC 3339 time of a moment in the month, which begins on 2026-03-01. A month's last steps may run over its end:
/// they share its last day.
fn timestamp(ms: u64) -> String {
    let mut ts = *b"2026-03-01T00:00:00.000Z";
    let mut put = |at: usize, digits: usize, mut number: u64| {
        for place in (at..at + digits).rev() {
            ts[place] = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    let ms = ms.min(31 * 86_400_000 - 1);
    put(8, 2, ms / 86_400_000 + 1);
    put(11, 2, ms / 3_600_000 % 24);
    put(14, 2, ms / 60_000 % 60);
    put(17, 2, ms / 1_000 % 60);
    put(20, 3, ms % 1_000);
    ts.iter().map(|byte| char::from(*byte)).collect()
}
