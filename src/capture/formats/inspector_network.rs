//! The network export of MCP Inspector 2: an array of requests with their answers.

use super::har::{Kept, body, headers, kept_not, not_an_object, number};
use super::{About, Format};
use crate::capture::http::{self, Body, HttpExchange, Leg, Listed};
use crate::capture::input::Input;
use crate::capture::records::{Recognised, Records};
use crate::capture::sink::FileFacts;
use crate::capture::skim::Cursor;
use crate::capture::time;
use crate::protocol::json::{self, Members, Oddities};
use crate::protocol::message::Ts;

pub struct InspectorNetwork;

impl Format for InspectorNetwork {
    fn name(&self) -> &'static str {
        "inspector-network"
    }

    fn looks_like(&self) -> &'static str {
        "[{\"timestamp\":…,\"method\":\"POST\",\"url\":…,\"requestHeaders\":{…},\"requestBody\":…}]"
    }

    fn about(&self) -> About {
        About {
            what: "the network export of MCP Inspector 2".into(),
            writer: "its Network tab".into(),
            bodies: "yes".into(),
            values: "yes".into(),
            times: "of requests and answers; messages inside an event stream stand between".into(),
            direction: "request or answer".into(),
            session: "the header Mcp-Session-Id".into(),
        }
    }

    fn recognise(&self, head: &[u8], _whole: bool) -> Option<Recognised> {
        let mut cursor = Cursor::new(head, 0);
        let mut first = true;
        cursor.take(b'[')?;
        if !cursor.element(&mut first)? {
            return None;
        }
        let span = cursor.value()?;
        let text = String::from_utf8_lossy(span.of(head));
        let entry = Members::parse(&text, &mut Oddities::default())?;
        entry.get("requestHeaders")?;
        entry.get("url")?;
        let why = "an array of objects with `url` and `requestHeaders`".to_owned();
        Some(Recognised { why, variant: None, first_ts: started(&entry) })
    }

    fn records(&self, input: Input, file: &FileFacts) -> Option<Box<dyn Records>> {
        let read = Box::new(|text: &str, _| exchange(text));
        Some(http::records(Box::new(Listed::new(input, &file.path, &[], read)), file))
    }

    fn is_of_records(&self) -> bool {
        true
    }
}

fn started(entry: &Members<'_>) -> Option<Ts> {
    time::text(entry.text("timestamp", &mut Oddities::default())?.as_bytes())
}

fn exchange(text: &str) -> Result<HttpExchange, String> {
    let mut oddities = Oddities::default();
    let Some(entry) = Members::parse(text, &mut oddities) else { return Err(not_an_object(text)) };
    let Some(url) = entry.text("url", &mut oddities) else { return Err("an entry without `url`".to_owned()) };
    let method = entry.text("method", &mut oddities).unwrap_or_default().to_ascii_uppercase();
    let started = started(&entry);
    let kept = |name: &str| {
        let text = json::string(entry.get(name)?, &mut Oddities::default());
        body(Kept { text, ..Kept::default() })
    };
    let request_headers = headers(entry.get("requestHeaders"));
    let request_body = kept("requestBody").unwrap_or_else(|| kept_not(&request_headers, &method, None));
    let status =
        number(entry.get("responseStatus")).filter(|code| (1.0..1000.0).contains(code)).map(|code| code as u16);
    let response = status.map(|code| {
        let headers = headers(entry.get("responseHeaders"));
        let body = kept("responseBody").unwrap_or_else(|| match code {
            202 | 204 => Body::Empty,
            _ => kept_not(&headers, "POST", None),
        });
        let duration = number(entry.get("duration")).filter(|millis| (0.0..4e12).contains(millis)).unwrap_or(0.0);
        let ended = started.map(|ts| Ts(ts.0.saturating_add((duration * 1e3).round() as i64)));
        Leg { headers, body, started: None, ended }
    });
    let request = Leg { headers: request_headers, body: request_body, started, ended: None };
    Ok(HttpExchange { method, url: url.to_string(), request, response, status, ..HttpExchange::default() })
}
