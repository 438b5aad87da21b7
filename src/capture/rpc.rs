//! From the bytes of one JSON-RPC object to what it is: spans first, and a full parse only of what is ours.

use super::skim::{Cursor, Span, plain};
use crate::protocol::elicitation::{Mode, Question};
use crate::protocol::json::{Oddities, text_or_exact};
use crate::protocol::message::*;
use crate::protocol::parse;
use crate::protocol::prompt::{Arguments, ArgumentsAs, Completion};
use std::borrow::Cow;

/// Where the members of a JSON-RPC object stand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rpc {
    pub span: Span,
    /// The exact text of `method`.
    pub method: Option<Span>,
    pub id: Option<Span>,
    pub params: Option<Span>,
    pub result: Option<Span>,
    pub error: Option<Span>,
    version: bool,
    /// Members that are none of JSON-RPC's.
    foreign: bool,
    /// `method` is one of the protocol's own.
    of_mcp: bool,
    /// `error` is an object.
    error_object: bool,
    /// Members of the object that stood twice.
    duplicates: u32,
    in_params: InParams,
    in_result: InResult,
}

/// What stands at the top of `params`.
#[derive(Debug, Clone, Copy, Default)]
struct InParams {
    object: bool,
    name: Option<Span>,
    arguments: Option<Span>,
    meta: Option<Span>,
    /// A member of a multi round-trip retry or of a task, a name with escapes, or a name twice.
    special: bool,
}

/// What stands at the top of `result`.
#[derive(Debug, Clone, Copy, Default)]
struct InResult {
    meta: Option<Span>,
    content: Option<Span>,
    is_error: Option<Span>,
    object: bool,
    /// A member that an analysis reads, a name with escapes, or a name twice.
    ours: bool,
}

impl Rpc {
    /// Reads the object under the cursor; `None` where it does not close or is not punctuated as JSON.
    pub fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        cursor.take(b'{')?;
        let mut rpc = Self { span: Span { from: cursor.at() - 1, to: 0 }, ..Self::default() };
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let slot = match &*plain(cursor.bytes(), name) {
                b"method" => &mut rpc.method,
                b"id" => &mut rpc.id,
                b"params" => {
                    let value = rpc.in_params.read(cursor)?;
                    rpc.duplicates += u32::from(rpc.params.replace(value).is_some());
                    continue;
                }
                b"result" => {
                    let value = rpc.in_result.read(cursor)?;
                    rpc.duplicates += u32::from(rpc.result.replace(value).is_some());
                    continue;
                }
                b"error" => &mut rpc.error,
                b"jsonrpc" => {
                    rpc.version = true;
                    cursor.value()?;
                    continue;
                }
                _ => {
                    rpc.foreign = true;
                    cursor.value()?;
                    continue;
                }
            };
            let value = cursor.value()?;
            rpc.duplicates += u32::from(slot.replace(value).is_some());
        }
        rpc.span.to = cursor.at();
        if !rpc.version {
            let bytes = cursor.bytes();
            rpc.of_mcp = rpc.method.is_some_and(|method| is_of_mcp_exact(bytes, method));
            let first = |value: Option<Span>| value.and_then(|value| value.of(bytes).first().copied());
            rpc.error_object = first(rpc.error) == Some(b'{');
        }
        Some(rpc)
    }

    /// Whether the object is a JSON-RPC message at all. `jsonrpc` is left out by some home-made servers; then the method
    /// has to be one of the protocol's, and what stands beside it no record of something else: logs of web servers and
    /// of programs have a `method`, an `id` and an `error` as well.
    pub fn is_message(&self) -> bool {
        let answer = self.result.is_some() || self.error.is_some();
        if self.version {
            return self.method.is_some() || answer;
        }
        match self.method {
            Some(_) => self.of_mcp && (!self.foreign || (self.params.is_some() && self.in_params.object)),
            None => self.id.is_some() && !self.foreign && (self.result.is_some() || self.error_object),
        }
    }

    /// The value of a `_meta` member of `params` or `result`, as text.
    pub fn meta_text(&self, bytes: &[u8], key: &str) -> Option<String> {
        let meta = self.in_params.meta.or(self.in_result.meta)?;
        let text = String::from_utf8_lossy(meta.of(bytes));
        let mut flags = Oddities::default();
        let members = crate::protocol::json::Members::parse(&text, &mut flags)?;
        Some(text_or_exact(members.given(key)?, &mut flags).into_owned())
    }
}

impl InParams {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Option<Span> {
        *self = Self::default();
        if cursor.peek()? != b'{' {
            return cursor.value();
        }
        self.object = true;
        let from = cursor.at();
        cursor.take(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let text = name.of(cursor.bytes());
            let slot = match text {
                b"name" => &mut self.name,
                b"arguments" => &mut self.arguments,
                b"_meta" => &mut self.meta,
                b"inputResponses" | b"requestState" | b"taskId" => {
                    self.special = true;
                    cursor.value()?;
                    continue;
                }
                _ => {
                    self.special |= text.contains(&b'\\');
                    cursor.value()?;
                    continue;
                }
            };
            let value = cursor.value()?;
            self.special |= slot.replace(value).is_some();
        }
        Some(Span { from, to: cursor.at() })
    }
}

impl InResult {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Option<Span> {
        *self = Self::default();
        if cursor.peek()? != b'{' {
            return cursor.value();
        }
        self.object = true;
        let from = cursor.at();
        cursor.take(b'{')?;
        let mut first = true;
        while let Some(name) = cursor.member(&mut first)? {
            let text = name.of(cursor.bytes());
            let slot = match text {
                b"_meta" => &mut self.meta,
                b"content" => &mut self.content,
                b"isError" => &mut self.is_error,
                b"resultType" => {
                    let value = cursor.value()?;
                    self.ours |= value.of(cursor.bytes()) != b"\"complete\"";
                    continue;
                }
                b"messages" | b"prompts" | b"completion" | b"action" | b"inputRequests" | b"capabilities"
                | b"protocolVersion" | b"serverInfo" | b"supportedVersions" => {
                    self.ours = true;
                    cursor.value()?;
                    continue;
                }
                _ => {
                    self.ours |= text.contains(&b'\\');
                    cursor.value()?;
                    continue;
                }
            };
            let value = cursor.value()?;
            self.ours |= slot.replace(value).is_some();
        }
        Some(Span { from, to: cursor.at() })
    }
}

/// Whether the exact text of a method is one of the protocol's.
fn is_of_mcp_exact(bytes: &[u8], exact: Span) -> bool {
    let text = exact.of(bytes);
    let Some(inside) = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) else { return false };
    if !inside.contains(&b'\\') {
        return inside == b"ping" || std::str::from_utf8(inside).is_ok_and(parse::is_of_mcp);
    }
    let text = String::from_utf8_lossy(text);
    crate::protocol::json::string(&text, &mut Oddities::default()).is_some_and(|method| parse::is_of_mcp(&method))
}

/// What reading bodies needs and counts along the way.
pub struct Reading<'i> {
    pub texts: &'i mut Texts,
    pub flags: Oddities,
    /// Bodies with bytes that are not UTF-8, read with U+FFFD in their place.
    pub not_utf8: u64,
}

/// Repeated text as one allocation.
#[derive(Default)]
pub struct Texts(ahash::AHashSet<Text>);

impl Texts {
    pub fn get(&mut self, text: &str) -> Text {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let text: Text = text.into();
        if text.len() <= 256 {
            self.0.insert(text.clone());
        }
        text
    }
}

/// A message's kind, and for a result nobody read, where it stands.
pub struct Body {
    pub kind: Kind,
    pub unread: Option<Span>,
}

impl Reading<'_> {
    /// Text of the capture; bytes that are no text are counted and replaced.
    pub fn text<'b>(&mut self, bytes: &'b [u8], span: Span) -> Cow<'b, str> {
        let text = String::from_utf8_lossy(span.of(bytes));
        self.not_utf8 += u64::from(matches!(text, Cow::Owned(_)));
        text
    }

    /// What the object is. `Err` says why it is no message although it looks like one.
    pub fn body(&mut self, bytes: &[u8], rpc: &Rpc) -> Result<Body, &'static str> {
        self.flags.duplicate_keys += rpc.duplicates;
        let id = rpc.id.and_then(|id| parse::id(&self.text(bytes, id)));
        if let Some(method) = rpc.method {
            let exact = self.text(bytes, method);
            let Some(method) = crate::protocol::json::string(&exact, &mut self.flags) else {
                return Err("`method` is not a string");
            };
            let kind = match rpc.id {
                None => Kind::Notification(self.notification(&method, bytes, rpc)),
                Some(_) => Kind::Request {
                    id: id.unwrap_or_else(|| Id::Other("null".into())),
                    request: self.request(&method, bytes, rpc),
                },
            };
            return Ok(Body { kind, unread: None });
        }
        if let Some(error) = rpc.error.filter(|error| rpc.result.is_none() || error.of(bytes) != b"null") {
            let error = parse::error(&self.text(bytes, error), &mut self.flags);
            return Ok(Body { kind: Kind::Error { id, error }, unread: None });
        }
        let Some(result) = rpc.result else { return Err("neither a request nor an answer") };
        let (answer, unread) = self.answer(bytes, result, &rpc.in_result);
        Ok(Body { kind: Kind::Result { id, answer }, unread })
    }

    fn notification(&mut self, method: &str, bytes: &[u8], rpc: &Rpc) -> Notification {
        if matches!(method, "notifications/elicitation/complete" | "notifications/cancelled") {
            let params = rpc.params.map(|params| self.text(bytes, params));
            return parse::notification(method, params.as_deref(), &mut self.flags);
        }
        Notification { method: self.texts.get(method), subject: None }
    }

    fn request(&mut self, method: &str, bytes: &[u8], rpc: &Rpc) -> Request {
        let ours = matches!(
            method,
            "initialize"
                | "server/discover"
                | "prompts/list"
                | "prompts/get"
                | "completion/complete"
                | "resources/read"
                | "elicitation/create"
        );
        let inside = &rpc.in_params;
        let stateless = inside.meta.is_some_and(|meta| {
            let meta = meta.of(bytes);
            meta.contains(&b'\\') || memchr::memmem::find(meta, b"io.modelcontextprotocol").is_some()
        });
        let mut request = if ours || inside.special {
            let params = rpc.params.map(|params| self.text(bytes, params));
            let mut request = parse::request(method, params.as_deref(), &mut self.flags);
            request.method = self.texts.get(method);
            request
        } else {
            let mut request =
                Request { method: self.texts.get(method), meta: Box::default(), body: RequestBody::Other };
            if let Some(meta) = inside.meta.filter(|_| stateless) {
                // The arguments may be large; who asks stands in `_meta` alone.
                let alone = format!("{{\"_meta\":{}}}", self.text(bytes, meta));
                request.meta = parse::request("", Some(&alone), &mut self.flags).meta;
            }
            if method == "tools/call" {
                let name = inside.name.filter(|name| name.of(bytes) != b"null").map(|name| {
                    let exact = self.text(bytes, name);
                    let text = text_or_exact(&exact, &mut self.flags);
                    self.texts.get(&text)
                });
                request.body = RequestBody::Operation { name, arguments: 0 };
            }
            request
        };
        // A retry repeats the exact text, so that the exact text can stand for the arguments, retried or not.
        if method == "tools/call"
            && let RequestBody::Operation { arguments, .. } = &mut request.body
        {
            *arguments = digest(inside.arguments.map(|arguments| arguments.of(bytes)).unwrap_or_default());
        }
        request
    }

    fn answer(&mut self, bytes: &[u8], result: Span, inside: &InResult) -> (Answer, Option<Span>) {
        if !inside.object || inside.ours {
            return (parse::answer(&self.text(bytes, result), &mut self.flags), None);
        }
        let server = inside.meta.filter(|meta| {
            let meta = meta.of(bytes);
            meta.contains(&b'\\') || memchr::memmem::find(meta, b"io.modelcontextprotocol").is_some()
        });
        let server = server.and_then(|meta| {
            let alone = format!("{{\"_meta\":{}}}", self.text(bytes, meta));
            parse::answer(&alone, &mut self.flags).server
        });
        let tool =
            inside.is_error.is_some() || inside.content.is_some_and(|value| value.of(bytes).first() == Some(&b'['));
        let shape = if tool { Shape::Tool { echo: None } } else { Shape::Other };
        let is_error = inside.is_error.is_some_and(|value| value.of(bytes) == b"true");
        (Answer { shape, server, is_error }, tool.then_some(result))
    }
}

/// A request whose body the capture did not keep.
pub fn request_without_body(method: Text) -> Request {
    let body = match &*method {
        "initialize" => RequestBody::Initialize { protocol: None, client: None, elicits: Elicits::default() },
        "server/discover" => RequestBody::Discover,
        "prompts/list" => RequestBody::PromptsList { first: true },
        "prompts/get" => RequestBody::PromptsGet {
            name: PromptName::NotCaptured,
            arguments: Arguments { shape: ArgumentsAs::NotCaptured, entries: Vec::new() },
        },
        "completion/complete" => RequestBody::Complete(Box::new(Completion {
            prompt: PromptName::NotCaptured,
            argument: None,
            typed: None,
            context: false,
        })),
        "tools/call" | "resources/read" => RequestBody::Operation { name: None, arguments: 0 },
        "elicitation/create" => RequestBody::Elicit(Box::new(Question {
            mode: Mode::Form,
            message: "".into(),
            schema: None,
            elicitation_id: None,
            captured: false,
        })),
        _ => RequestBody::Other,
    };
    Request { method, meta: Box::default(), body }
}

/// Whether no analysis reads the message's body.
pub fn is_other(kind: &Kind) -> bool {
    match kind {
        Kind::Request { request, .. } => matches!(request.body, RequestBody::Other | RequestBody::Operation { .. }),
        Kind::Notification(notification) => !matches!(
            &*notification.method,
            "notifications/initialized"
                | "notifications/prompts/list_changed"
                | "notifications/elicitation/complete"
                | "notifications/cancelled"
        ),
        Kind::Result { answer, .. } => matches!(answer.shape, Shape::Tool { .. } | Shape::Other | Shape::NotAnObject),
        Kind::Error { .. } => false,
    }
}

/// A 64-bit hash of a message's bytes, to find exact copies: 32 bytes a step in two independent lanes, each step a
/// 64×64→128-bit product folded by exclusive or. Not meant against forgery.
pub fn digest(bytes: &[u8]) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xc2b2_ae3d_27d4_eb4f;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    };
    let mut lanes = [A ^ bytes.len() as u64, B];
    let (steps, rest) = bytes.as_chunks::<32>();
    for step in steps {
        let (words, _) = step.as_chunks::<8>();
        if let [a, b, c, d] = words {
            // Written out: `map` over an array is a call per step here, which cost a sixth of a whole run.
            lanes[0] = fold(u64::from_le_bytes(*a) ^ lanes[0], u64::from_le_bytes(*b) ^ A);
            lanes[1] = fold(u64::from_le_bytes(*c) ^ lanes[1], u64::from_le_bytes(*d) ^ B);
        }
    }
    for chunk in rest.chunks(8) {
        lanes[0] = fold(lanes[0] ^ word(chunk), B ^ chunk.len() as u64);
    }
    fold(lanes[0] ^ B, lanes[1] ^ A)
}
