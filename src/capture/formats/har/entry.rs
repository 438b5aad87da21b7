//! One entry of an archive as an exchange.

use super::synthetic;
use crate::capture::http::{Body, HttpExchange, Leg, Piece};
use crate::capture::time;
use crate::protocol::json::{self, Members, Oddities};
use crate::protocol::message::Ts;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;

/// Not all exporters pad.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads an entry; `mitmproxy` wrote the archive. The error says why it is none.
pub fn exchange(text: &str, position: u64, mitmproxy: bool) -> Result<HttpExchange, String> {
    let Some(entry) = Members::parse(text, &mut Oddities::default()) else { return Err(not_an_object(text)) };
    let Some(request) = object(&entry, "request") else { return Err("an entry without `request`".to_owned()) };
    let Some(url) = string(&request, "url") else { return Err("a request without `url`".to_owned()) };
    let method = string(&request, "method").unwrap_or_default().to_ascii_uppercase();
    let times = Times::of(&entry, mitmproxy);
    let answer = object(&entry, "response").and_then(|answer| response(&answer, &entry, &method, &times));
    let (status, response) = answer.map_or((None, None), |(status, leg)| (status, Some(leg)));
    let headers = headers(request.get("headers"));
    let body = match object(&request, "postData") {
        Some(data) => {
            let size = number(request.get("bodySize"));
            let kept = Kept {
                text: string(&data, "text"),
                encoding: string(&data, "encoding"),
                size: None,
                comment: string(&data, "comment"),
            };
            match body(kept) {
                Some(body) => body,
                None => kept_not(&headers, &method, size),
            }
        }
        None => kept_not(&headers, &method, number(request.get("bodySize"))),
    };
    let request = Leg { headers, body, started: times.started, ended: None };
    let mut exchange = HttpExchange {
        method,
        url: url.into_owned(),
        request,
        response,
        status,
        mojibake: mitmproxy,
        ..Default::default()
    };
    if let Some(frames) = entry.given("_webSocketMessages") {
        sockets(&mut exchange, frames, &times);
    }
    if exchange.url.starts_with("mcp://") {
        synthetic::complete(&mut exchange, position);
    }
    Ok(exchange)
}

/// What a member of an entry says that it is not.
pub fn not_an_object(text: &str) -> String {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => "not an object".to_owned(),
        Err(error) => format!("not valid JSON: {error}"),
    }
}

fn object<'a>(members: &Members<'a>, name: &str) -> Option<Members<'a>> {
    members.object(name, &mut Oddities::default())
}

fn string<'a>(members: &Members<'a>, name: &str) -> Option<Cow<'a, str>> {
    json::string(members.get(name)?, &mut Oddities::default())
}

/// A number, or a string that holds one.
pub fn number(exact: Option<&str>) -> Option<f64> {
    let number: f64 = exact?.trim_matches('"').parse().ok()?;
    number.is_finite().then_some(number)
}

/// Headers, names in lower case: a list of names and values, or an object.
pub fn headers(exact: Option<&str>) -> Vec<(String, String)> {
    let Some(exact) = exact else { return Vec::new() };
    let mut oddities = Oddities::default();
    let mut found = Vec::new();
    if let Some(members) = Members::parse(exact, &mut oddities) {
        for (name, value) in members.iter() {
            let value = json::text_or_exact(value, &mut oddities).into_owned();
            found.push((name.to_ascii_lowercase(), value));
        }
    }
    for header in json::elements(exact).unwrap_or_default() {
        let Some(header) = Members::parse(header, &mut oddities) else { continue };
        if let (Some(name), Some(value)) = (string(&header, "name"), string(&header, "value")) {
            found.push((name.to_ascii_lowercase(), value.into_owned()));
        }
    }
    found
}

/// A body as an exporter wrote it down.
#[derive(Default)]
pub struct Kept<'a> {
    pub text: Option<Cow<'a, str>>,
    /// `base64`, or nothing.
    pub encoding: Option<Cow<'a, str>>,
    /// Bytes of the body as the exporter counted them, where that is known.
    pub size: Option<f64>,
    pub comment: Option<Cow<'a, str>>,
}

/// The body, where there is text; an empty one may be a body that was not kept.
pub fn body(kept: Kept<'_>) -> Option<Body> {
    let text = kept.text.filter(|text| !text.is_empty())?;
    let commented = kept.comment.is_some_and(|comment| comment.to_ascii_lowercase().contains("truncated"));
    let (bytes, damaged) = match kept.encoding.as_deref() {
        Some(encoding) if encoding.eq_ignore_ascii_case("base64") => decoded(&text),
        _ => (text.into_owned().into_bytes(), false),
    };
    if damaged && bytes.is_empty() {
        return Some(Body::NotStored);
    }
    let short = kept.size.is_some_and(|size| size > bytes.len() as f64);
    Some(if commented || damaged || short { Body::Cut(bytes) } else { Body::Whole(bytes) })
}

/// Base64 as far as it is that, and whether something in it is not.
fn decoded(text: &str) -> (Vec<u8>, bool) {
    // Some break it into lines.
    let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    match BASE64.decode(&text) {
        Ok(bytes) => (bytes, false),
        Err(_) => {
            let good = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
            let whole = good.count() / 4 * 4;
            (BASE64.decode(text.get(..whole).unwrap_or_default()).unwrap_or_default(), true)
        }
    }
}

/// A body of which no text is there: none was sent, or it was not kept.
pub fn kept_not(headers: &[(String, String)], method: &str, size: Option<f64>) -> Body {
    let declared = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| number(Some(value)));
    let sent = match declared.or(size.filter(|size| *size >= 0.0)) {
        Some(size) => size > 0.0,
        None => method == "POST",
    };
    if sent { Body::NotStored } else { Body::Empty }
}

/// When an exchange began and ended.
struct Times {
    started: Option<Ts>,
    answered: Option<Ts>,
    ended: Option<Ts>,
}

impl Times {
    fn of(entry: &Members<'_>, mitmproxy: bool) -> Self {
        let started = string(entry, "startedDateTime").and_then(|text| time::text(text.as_bytes()));
        let timings = object(entry, "timings").unwrap_or_default();
        // Minus one stands for what does not apply.
        let part = |name: &str| number(timings.get(name)).filter(|millis| *millis >= 0.0);
        let sum = |names: &[&str]| names.iter().filter_map(|name| part(name)).reduce(|sum, part| sum + part);
        let total = number(entry.get("time")).filter(|millis| *millis > 0.0);
        let total = if mitmproxy {
            // It counts the time of connecting twice: on its own and inside of what it waited.
            sum(&["send", "wait", "receive"]).or(total)
        } else {
            total.or_else(|| sum(&["blocked", "dns", "connect", "send", "wait", "receive"]))
        };
        let ended = later(started, total.unwrap_or(0.0));
        let received = part("receive").filter(|part| total.is_some_and(|total| *part <= total));
        let answered = received.and_then(|part| later(ended, -part));
        Self { started, answered, ended }
    }
}

/// A time some milliseconds later. Spans of centuries are none.
fn later(ts: Option<Ts>, millis: f64) -> Option<Ts> {
    let micros = millis * 1e3;
    (micros.abs() < 4e15).then_some(Ts(ts?.0.saturating_add(micros.round() as i64)))
}

/// The answer; `None` where the recorder saw none.
fn response(answer: &Members<'_>, entry: &Members<'_>, method: &str, times: &Times) -> Option<(Option<u16>, Leg)> {
    let status = number(answer.get("status")).filter(|code| (1.0..1000.0).contains(code)).map(|code| code as u16);
    let mut headers = headers(answer.get("headers"));
    let content = object(answer, "content").unwrap_or_default();
    let text = string(&content, "text");
    if status.is_none() && text.as_ref().is_none_or(|text| text.is_empty()) {
        return None;
    }
    if !headers.iter().any(|(name, _)| name == "content-type")
        && let Some(kind) = string(&content, "mimeType").filter(|kind| !kind.is_empty())
    {
        headers.push(("content-type".to_owned(), kind.into_owned()));
    }
    let size = number(content.get("size"));
    let kept = Kept { text, encoding: string(&content, "encoding"), size, comment: string(&content, "comment") };
    let broke_off = answer.given("_error").is_some_and(|error| error != "\"\"");
    let body = match events(entry) {
        Some(body) => {
            // The text of events is plain, whatever their stream was.
            headers.retain(|(name, _)| name != "content-encoding" && name != "transfer-encoding");
            body
        }
        None => match body(kept) {
            Some(Body::Whole(bytes)) if broke_off => Body::Cut(bytes),
            Some(body) => body,
            None => answer_not_kept(&headers, method, status, size),
        },
    };
    Some((status, Leg { headers, body, started: times.answered, ended: times.ended }))
}

/// An answer's body of which no text is there.
fn answer_not_kept(headers: &[(String, String)], method: &str, status: Option<u16>, size: Option<f64>) -> Body {
    let code = status.unwrap_or(200);
    if method == "HEAD" || matches!(code, 100..=199 | 202 | 204 | 205 | 304) {
        return Body::Empty;
    }
    let declared = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| number(Some(value)));
    match declared.or(size.filter(|size| *size > 0.0)) {
        Some(bytes) if bytes > 0.0 => Body::NotStored,
        Some(_) => Body::Empty,
        // A recorder that lets streams pass writes size 0 as well; an error without a word is usual.
        None if code >= 300 && size == Some(0.0) => Body::Empty,
        None => Body::NotStored,
    }
}

/// The events that some browsers note beside an event stream, each with its time, as the stream they were.
fn events(entry: &Members<'_>) -> Option<Body> {
    let events = json::elements(entry.given("_eventSourceMessages")?)?;
    let mut pieces = Vec::new();
    for event in events {
        let Some(event) = Members::parse(event, &mut Oddities::default()) else { continue };
        let mut text = String::new();
        for (field, name) in [("event", "eventName"), ("id", "eventId")] {
            if let Some(value) = string(&event, name).filter(|value| !value.is_empty()) {
                text += &format!("{field}: {}\n", value.replace(['\r', '\n'], ""));
            }
        }
        for line in string(&event, "data").unwrap_or_default().split('\n') {
            text += &format!("data: {}\n", line.replace('\r', ""));
        }
        let ts = moment(event.get("time"));
        pieces.push(Piece { ts, bytes: (text + "\n").into_bytes(), ..Piece::default() });
    }
    (!pieces.is_empty()).then_some(Body::Pieces(pieces))
}

/// Seconds since the epoch, or text.
fn moment(exact: Option<&str>) -> Option<Ts> {
    let exact = exact?;
    match json::string(exact, &mut Oddities::default()) {
        Some(text) => time::text(text.as_bytes()).or_else(|| time::number(text.as_bytes())),
        None => time::number(exact.as_bytes()),
    }
}

/// The messages of a WebSocket: what each side sent, piece by piece.
fn sockets(exchange: &mut HttpExchange, frames: &str, times: &Times) {
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let mut last = times.started.unwrap_or(Ts(0));
    for frame in json::elements(frames).unwrap_or_default() {
        let Some(frame) = Members::parse(frame, &mut Oddities::default()) else { continue };
        let Some(data) = string(&frame, "data") else { continue };
        let bytes = match number(frame.get("opcode")).map(|code| code as i64) {
            None | Some(0 | 1) => data.into_owned().into_bytes(),
            Some(2) => decoded(&data).0,
            // Pings and the like.
            Some(_) => continue,
        };
        last = moment(frame.get("time")).unwrap_or(last);
        let piece = Piece { ts: Some(last), bytes, ..Piece::default() };
        match string(&frame, "type").as_deref() {
            Some("send") => sent.push(piece),
            Some("receive") => received.push(piece),
            _ => {}
        }
    }
    exchange.status = Some(101);
    exchange.request.body = Body::Pieces(sent);
    let response = exchange.response.get_or_insert_default();
    response.body = Body::Pieces(received);
    response.started = times.started;
    response.ended = Some(last).max(times.ended);
}
