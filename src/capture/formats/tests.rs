//! Every variant, and what real captures do to each.

mod desktop;
mod envelope;
mod hostile;
mod jsonrpc;
mod mitmproxy;
mod tshark;

pub use hostile::check_records;

use super::Formats;
use crate::capture::sink::{Block, Decoded, FileFacts};
use crate::capture::{ReadOptions, Sources, discover};
use crate::protocol::message::*;
use proptest::prelude::*;
use std::sync::Arc;

fn decode(format: &str, text: &[u8]) -> Decoded {
    let block = Block { offset: 0, bytes: Arc::new(text.to_vec()), used: text.len(), first: true, last: true };
    Formats::default().named(format)[0].decode(&block, &FileFacts::default())
}

/// One line a message, so that a test reads like the capture: `direction kind id method`.
pub fn gist(message: &Message) -> String {
    let direction = match message.direction {
        Some(Direction::ClientToServer) => "c2s",
        Some(Direction::ServerToClient) => "s2c",
        None => "?",
    };
    let id = |id: Option<&Id>| match id {
        None => "none".to_owned(),
        Some(Id::Integer(number)) => number.to_string(),
        Some(Id::String(text)) => format!("\"{text}\""),
        Some(Id::Other(text)) => text.to_string(),
    };
    match &message.kind {
        Kind::Request { id: given, request } => format!("{direction} request {} {}", id(Some(given)), request.method),
        Kind::Notification(notification) => format!("{direction} notification {}", notification.method),
        Kind::Result { id: given, .. } => format!("{direction} result {}", id(given.as_ref())),
        Kind::Error { id: given, error } => {
            format!("{direction} error {} {}", id(given.as_ref()), error.code.unwrap_or_default())
        }
    }
}

fn gists(decoded: &Decoded) -> Vec<String> {
    decoded.messages.iter().map(gist).collect()
}

fn reasons(decoded: &Decoded) -> Vec<(u64, &str)> {
    decoded.rejected.iter().map(|row| (row.line, row.reason.as_str())).collect()
}

/// Writes a file of this name and reads it with detection.
fn read(name: &str, text: &str, options: &ReadOptions) -> (Vec<Message>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let (sources, errors): (Sources, _) = discover(&[path.display().to_string()], options);
    assert!(errors.is_empty(), "{errors:?}");
    let mut messages = Vec::new();
    let outcome = sources.read(|message, _| messages.push(message), |_| {}, &Arc::default());
    let row = &outcome.files[0];
    let said = [row.format.to_string(), row.format_version.as_deref().unwrap_or("-").to_owned()];
    (messages, said.into_iter().chain(row.notes.iter().map(|note| note.to_string())).collect())
}

pub fn sent(messages: &[Message]) -> Vec<String> {
    messages.iter().map(gist).collect()
}
