//! Messages in a body: where they stand, what they are, and what is left of one that was cut.

use crate::capture::nested::holds_message;
use crate::capture::rpc::{Rpc, request_without_body};
use crate::capture::sink::beginning;
use crate::capture::skim::{Cursor, Span};
use crate::protocol::json::string;
use crate::protocol::message::*;
use crate::protocol::parse;
use std::sync::Arc;

/// A message of a body.
#[derive(Debug, Clone)]
pub struct Said {
    pub bytes: Arc<Vec<u8>>,
    pub content: Content,
    pub what: What,
    pub captured: Captured,
    /// A member of an array.
    pub batch: bool,
    /// Its own time, where the recorder kept one.
    pub ts: Option<Ts>,
    /// It stands among what came and was sent the other way all the same: both sides of a socket talk at any time.
    pub back: bool,
}

#[derive(Debug, Clone)]
pub enum Content {
    Whole(Box<Rpc>),
    /// Its bytes do not hold all of it.
    Rest(Box<Kind>),
}

/// What pairing and ordering look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Request(Id, Text),
    Notification(Text),
    /// A result or an error.
    Answer(Option<Id>),
}

impl Said {
    /// A message that no bytes of the capture hold, but that follows from what it does hold.
    pub fn inferred(kind: Kind, captured: Captured) -> Self {
        let what = what_of(&kind);
        // Two of them are the same message only where they say the same.
        let bytes = Arc::new(format!("{kind:?}").into_bytes());
        Self { bytes, content: Content::Rest(Box::new(kind)), what, captured, batch: false, ts: None, back: false }
    }
}

/// The messages of a JSON text.
#[derive(Debug, Default)]
pub struct Messages {
    pub said: Vec<Said>,
    /// Values that are no messages.
    pub odd: u64,
    /// How the first batch within a batch begins; its messages are not read.
    pub nested: Option<Vec<u8>>,
}

/// Reads the messages of a JSON text, an object or an array of them; `None` where it is no JSON (or cut, see
/// [`remains`]).
pub fn messages(bytes: &Arc<Vec<u8>>, ts: Option<Ts>) -> Option<Messages> {
    let mut found = Messages::default();
    let mut cursor = Cursor::new(bytes, 0);
    match cursor.peek()? {
        b'{' => found.add(bytes, Rpc::read(&mut cursor)?, false, ts),
        b'[' => {
            let mut first = true;
            cursor.take(b'[')?;
            while cursor.element(&mut first)? {
                if cursor.peek()? == b'{' {
                    found.add(bytes, Rpc::read(&mut cursor)?, true, ts);
                } else {
                    let value = cursor.value()?;
                    if value.of(bytes).first() == Some(&b'[') && holds_message(bytes, value) {
                        found.nested.get_or_insert_with(|| beginning(value.of(bytes)).to_vec());
                    } else {
                        found.odd += 1;
                    }
                }
            }
        }
        _ => {
            cursor.value()?;
            found.odd += 1;
        }
    }
    cursor.peek().is_none().then_some(found)
}

impl Messages {
    fn add(&mut self, bytes: &Arc<Vec<u8>>, rpc: Rpc, batch: bool, ts: Option<Ts>) {
        match what(bytes, &rpc).filter(|_| rpc.is_message()) {
            Some(what) => self.said.push(Said {
                bytes: bytes.clone(),
                content: Content::Whole(Box::new(rpc)),
                what,
                captured: Captured::Full,
                batch,
                ts,
                back: false,
            }),
            None => self.odd += 1,
        }
    }
}

fn what(bytes: &[u8], rpc: &Rpc) -> Option<What> {
    let id = rpc.id.and_then(|id| id_at(bytes, id));
    let Some(method) = rpc.method else { return Some(What::Answer(id)) };
    let method: Text = text_at(bytes, method)?.into();
    Some(match rpc.id {
        None => What::Notification(method),
        Some(_) => What::Request(id.unwrap_or_else(|| Id::Other("null".into())), method),
    })
}

fn what_of(kind: &Kind) -> What {
    match kind {
        Kind::Request { id, request } => What::Request(id.clone(), request.method.clone()),
        Kind::Notification(notification) => What::Notification(notification.method.clone()),
        Kind::Result { id, .. } | Kind::Error { id, .. } => What::Answer(id.clone()),
    }
}

fn id_at(bytes: &[u8], span: Span) -> Option<Id> {
    parse::id(&String::from_utf8_lossy(span.of(bytes)))
}

fn text_at(bytes: &[u8], span: Span) -> Option<String> {
    let exact = String::from_utf8_lossy(span.of(bytes));
    string(&exact, &mut Default::default()).map(|text| text.into_owned())
}

/// What a JSON text that is cut still tells: whole messages of an array, and of the one it ends in its kind, id, method
/// and name.
pub fn remains(bytes: &Arc<Vec<u8>>, ts: Option<Ts>) -> Vec<Said> {
    let mut found = Messages::default();
    let mut cursor = Cursor::new(bytes, 0);
    let mut first = true;
    let batch = cursor.take(b'[').is_some();
    loop {
        if batch && cursor.element(&mut first) != Some(true) {
            break;
        }
        let from = cursor.at();
        match cursor.peek().and_then(|_| Rpc::read(&mut cursor)) {
            Some(rpc) if batch => found.add(bytes, rpc, true, ts),
            _ => {
                let rest = bytes.get(from..).unwrap_or_default();
                if let Some(kind) = rest_of(rest) {
                    let said = Said::inferred(kind, Captured::Truncated);
                    found.said.push(Said { bytes: Arc::new(rest.to_vec()), batch, ts, ..said });
                }
                break;
            }
        }
    }
    found.said
}

/// The kind of the object at the beginning of a text that ends inside it.
fn rest_of(bytes: &[u8]) -> Option<Kind> {
    let mut cursor = Cursor::new(bytes, 0);
    let (mut id, mut method, mut name, mut answer, mut error) = (None, None, None, false, None);
    let mut first = true;
    cursor.take(b'{')?;
    while let Some(Some(member)) = cursor.member(&mut first) {
        let from = cursor.at();
        let value = cursor.value();
        match member.of(bytes) {
            b"id" => id = value.and_then(|value| id_at(bytes, value)),
            b"method" => method = value.and_then(|value| text_at(bytes, value)),
            b"params" => name = name_in(bytes, from),
            b"result" => answer = true,
            b"error" => {
                let text = String::from_utf8_lossy(value.map(|value| value.of(bytes)).unwrap_or_default());
                error = Some(parse::error(&text, &mut Default::default()));
            }
            _ => {}
        }
        if value.is_none() {
            break;
        }
    }
    if let Some(method) = method {
        let method: Text = method.into();
        return Some(match id {
            Some(id) => Kind::Request { id, request: named(method, name) },
            None => Kind::Notification(Notification { method, subject: None }),
        });
    }
    if let Some(error) = error {
        return Some(Kind::Error { id, error });
    }
    answer.then(|| Kind::Result { id, answer: not_captured() })
}

/// The name in `params` that begin at an offset and may be cut behind it.
fn name_in(bytes: &[u8], from: usize) -> Option<Text> {
    let mut cursor = Cursor::new(bytes, from);
    let mut first = true;
    cursor.take(b'{')?;
    while let Some(member) = cursor.member(&mut first)? {
        let value = cursor.value()?;
        if member.of(bytes) == b"name" {
            return text_at(bytes, value).map(Text::from);
        }
    }
    None
}

/// A request of which only its method, and perhaps the name in its parameters, is known.
pub fn named(method: Text, name: Option<Text>) -> Request {
    let mut request = request_without_body(method);
    match (&mut request.body, name) {
        (RequestBody::PromptsGet { name, .. }, Some(given)) => *name = PromptName::Name(given),
        (RequestBody::Operation { name, .. }, Some(given)) => *name = Some(given),
        _ => {}
    }
    request
}

pub fn not_captured() -> Answer {
    Answer { shape: Shape::NotCaptured, server: None, is_error: false }
}
