//! The traffic around the stories: most of what a log holds has nothing to do with prompts or questions.

use super::json::{Json, object};
use super::talk::{From, Talk, tool_text};
use super::words;

/// What a server of a story offers besides.
pub struct Filler {
    /// A tool that returns long pages.
    pub tool: &'static str,
    /// The argument of that tool.
    pub argument: &'static str,
    pub resource: &'static str,
    /// Rows per page, lowest and highest.
    pub rows: (i64, i64),
    /// Text that looks like one of our messages and is none: a tool's result quotes it.
    pub bait: &'static str,
}

/// Different pages in a log: few, so that packed files stay small.
const PAGES: u64 = 8;

impl Filler {
    /// One piece of everyday traffic: 1 to 5 lines.
    pub fn once(&self, talk: &mut Talk<'_>) {
        match talk.chance.below(20) {
            0..=10 => self.tool_call(talk),
            11 | 12 => talk.exchange("ping", None, Json::object(), (1, 6)),
            13 => {
                let id = talk.server_asks("ping", None);
                talk.wait(1, 12);
                talk.client_answers(id, Json::object());
            }
            14 | 15 => self.progress(talk),
            16 => self.read(talk),
            17 => self.chatter(talk),
            18 => talk.exchange("tools/list", None, self.tools(), (2, 20)),
            _ => talk.exchange("resources/list", None, self.resources(), (2, 20)),
        }
        talk.wait(200, 4_000);
    }

    fn tool_call(&self, talk: &mut Talk<'_>) {
        let page = talk.chance.below(PAGES);
        let rows = talk.chance.between(self.rows.0, self.rows.1) as usize;
        let bait = talk.chance.one_in(40);
        let text = if bait { format!("The log says: {}", self.bait) } else { words::rows(page, rows) };
        let mut arguments = Json::object().with(self.argument, format!("page {page}"));
        if talk.chance.one_in(3) {
            arguments = arguments.with("limit", rows as i64);
        }
        let params = object! {"name": self.tool, "arguments": arguments};
        talk.exchange("tools/call", Some(params), tool_text(&text, false), (20, 900));
    }

    fn progress(&self, talk: &mut Talk<'_>) {
        let token = talk.chance.between(1, 9_999);
        let params = object! {
            "name": self.tool, "arguments": Json::object().with(self.argument, "everything"),
            "_meta": object! {"progressToken": token},
        };
        let id = talk.ask("tools/call", Some(params));
        for step in 1..=3 {
            talk.wait(50, 400);
            let progress = object! {"progressToken": token, "progress": step, "total": 3};
            talk.notify(From::Server, "notifications/progress", Some(progress));
        }
        talk.wait(50, 400);
        let (page, count) = (talk.chance.below(PAGES), self.rows.1 as usize);
        talk.answer(id, tool_text(&words::rows(page, count), false));
    }

    fn read(&self, talk: &mut Talk<'_>) {
        let text = format!("# Handbook\n\n{}", words::rows(PAGES, self.rows.0 as usize));
        let contents = vec![object! {"uri": self.resource, "mimeType": "text/markdown", "text": text}];
        let params = object! {"uri": self.resource};
        talk.exchange("resources/read", Some(params), object! {"contents": contents}, (3, 60));
    }

    fn chatter(&self, talk: &mut Talk<'_>) {
        let millis = talk.chance.between(3, 900);
        let data = format!("cache refreshed in {millis} ms; 3 prompts/get served, 0 elicitation/create open");
        let params = object! {"level": "info", "logger": self.tool, "data": data};
        talk.notify(From::Server, "notifications/message", Some(params));
    }

    pub fn tools(&self) -> Json {
        let input = object! {
            "type": "object",
            "properties": Json::object().with(self.argument, object! {"type": "string"}).with("limit", object! {"type": "integer"}),
            "required": [self.argument].as_slice(),
        };
        object! {"tools": vec![object! {"name": self.tool, "description": "Look things up", "inputSchema": input}]}
    }

    fn resources(&self) -> Json {
        object! {"resources": vec![object! {"uri": self.resource, "name": "handbook", "mimeType": "text/markdown"}]}
    }
}
