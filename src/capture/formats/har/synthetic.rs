//! Archives of messages that were never HTTP: `mcp://SERVER/METHOD`.
//!
//! One recorder keeps whole messages there, another the parameters and the result or the error alone; what is missing
//! around them stands in the address.

use crate::capture::http::{Body, HttpExchange};
use crate::capture::rpc::Rpc;
use crate::capture::skim::Cursor;
use crate::protocol::json::{self, Members, Oddities};
use crate::protocol::prompt::JsonType;

/// Puts the message around parameters and results that stand alone.
pub fn complete(exchange: &mut HttpExchange, position: u64) {
    if matches!(&exchange.request.body, Body::Whole(bytes) | Body::Cut(bytes) if is_message(bytes)) {
        return;
    }
    let Some(method) = method(&exchange.url) else { return };
    let method = serde_json::Value::from(method);
    // The recorder drops ids: the entry's position pairs question and answer as well.
    exchange.request.body = match std::mem::take(&mut exchange.request.body) {
        Body::Whole(params) => {
            around(&format!(r#"{{"jsonrpc":"2.0","id":{position},"method":{method},"params":"#), &params)
        }
        Body::Cut(params) => {
            let mut bytes = format!(r#"{{"jsonrpc":"2.0","id":{position},"method":{method},"params":"#).into_bytes();
            bytes.extend(params);
            Body::Cut(bytes)
        }
        // Calls without parameters have none.
        Body::Empty | Body::NotStored | Body::Pieces(_) => {
            Body::Whole(format!(r#"{{"jsonrpc":"2.0","id":{position},"method":{method}}}"#).into_bytes())
        }
    };
    let failed = exchange.status.is_some_and(|code| code >= 400);
    let Some(response) = &mut exchange.response else { return };
    response.body = match std::mem::take(&mut response.body) {
        Body::Whole(bytes) => {
            let member = if failed && is_error(&bytes) { "error" } else { "result" };
            around(&format!(r#"{{"jsonrpc":"2.0","id":{position},"{member}":"#), &bytes)
        }
        other => other,
    };
    // The status is the recorder's view of the answer, which came as any other does.
    exchange.status = Some(200);
}

fn around(before: &str, inner: &[u8]) -> Body {
    Body::Whole([before.as_bytes(), inner, b"}"].concat())
}

fn is_message(bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes, 0);
    match cursor.peek() {
        Some(b'[') => true,
        Some(b'{') => Rpc::read(&mut cursor).is_some_and(|rpc| rpc.method.is_some() && rpc.is_message()),
        _ => false,
    }
}

/// An error object and not a result: a code and a message.
fn is_error(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some(members) = Members::parse(&text, &mut Oddities::default()) else { return false };
    let code = members.get("code").is_some_and(|code| json::json_type(code) == JsonType::Number);
    code && members.get("message").is_some_and(|message| json::json_type(message) == JsonType::String)
}

/// The method that an address names. The name of a tool may follow it.
fn method(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("mcp://")?;
    let (_, method) = rest.split_once('/')?;
    let method = if method.starts_with("tools/call/") { "tools/call" } else { method };
    (!method.is_empty()).then_some(method)
}
