//! From the JSON of a message's `params`, `result` or `error` to what the analyses read.
//!
//! All revisions from 2024-11-05 to 2026-07-28 are read alike: members that a revision does not know are absent in
//! its traffic. Nothing here fails: what is missing or odd is a state of the message types.

use super::elicitation::{Action, Content, ElicitationAnswer, Mode, Question};
pub use super::json::Oddities;
use super::json::{Members, canonical, clip, digest, elements, json_type, string, text_or_exact, value};
use super::message::*;
use super::prompt::*;

/// Error messages are kept up to this many bytes.
const MAX_MESSAGE: usize = 4096;
/// The text of a tool result is kept up to this many bytes: it only serves to find short answers in it.
const MAX_ECHO: usize = 64 * 1024;
/// Operation arguments above this many bytes are told apart by their bytes, not by their canonical form.
const MAX_CANONICAL: usize = 64 * 1024;

const META_PROTOCOL: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Whether a method is one of the protocol's own (`ping` is everybody's). Other protocols speak JSON-RPC as well.
pub fn is_of_mcp(method: &str) -> bool {
    const ROOMS: [&str; 9] = [
        "prompts/",
        "tools/",
        "resources/",
        "notifications/",
        "elicitation/",
        "sampling/",
        "completion/",
        "subscriptions/",
        "tasks/",
    ];
    matches!(method, "initialize" | "roots/list" | "logging/setLevel" | "server/discover")
        || ROOMS.iter().any(|room| method.starts_with(room))
}

/// Reads a request; `params` is the exact JSON text of the member.
pub fn request(method: &str, params: Option<&str>, flags: &mut Oddities) -> Request {
    let params = params.and_then(|text| Members::parse(text, flags)).unwrap_or_default();
    Request {
        method: method.into(),
        meta: Box::new(request_meta(&params, flags)),
        body: request_body(method, &params, flags),
    }
}

fn request_meta(params: &Members<'_>, flags: &mut Oddities) -> RequestMeta {
    let mut meta = RequestMeta::default();
    if let Some(given) = params.object("_meta", flags) {
        meta.protocol = given.text(META_PROTOCOL, flags);
        meta.client = implementation(given.get(META_CLIENT), flags);
        meta.capabilities = given.object(META_CAPABILITIES, flags).map(|declared| elicits(&declared, flags));
    }
    meta.input_responses = params.given("inputResponses").map(|text| input_responses(text, flags));
    meta.request_state = state(params, flags);
    meta
}

/// The digest of `requestState`, or of the `taskId` that stands for it in the tasks extension.
fn state(members: &Members<'_>, flags: &mut Oddities) -> Option<u64> {
    let text = members.given("requestState").or_else(|| members.given("taskId"))?;
    Some(digest(canonical(text, flags).as_bytes()))
}

/// Answers to other methods that share `inputResponses` (sampling, roots) are left out.
fn input_responses(text: &str, flags: &mut Oddities) -> Vec<(Text, ElicitationAnswer)> {
    let Some(responses) = Members::parse(text, flags) else { return Vec::new() };
    let mut answers = Vec::with_capacity(responses.len());
    for (key, text) in responses.iter() {
        let members = Members::parse(text, flags);
        if members.as_ref().is_some_and(answers_another_method) {
            continue;
        }
        answers.push((key.into(), elicitation_answer(members.as_ref(), flags)));
    }
    answers
}

fn answers_another_method(answer: &Members<'_>) -> bool {
    let has = |name| answer.get(name).is_some();
    !has("action") && (has("roots") || (has("role") && has("model")))
}

fn request_body(method: &str, params: &Members<'_>, flags: &mut Oddities) -> RequestBody {
    match method {
        "initialize" => RequestBody::Initialize {
            protocol: params.text("protocolVersion", flags),
            client: implementation(params.get("clientInfo"), flags),
            elicits: match params.object("capabilities", flags) {
                Some(declared) => elicits(&declared, flags),
                None => Elicits::default(),
            },
        },
        "server/discover" => RequestBody::Discover,
        "prompts/list" => RequestBody::PromptsList { first: params.given("cursor").is_none() },
        "prompts/get" => RequestBody::PromptsGet {
            name: prompt_name(params.get("name"), flags),
            arguments: arguments(params.get("arguments"), flags),
        },
        "completion/complete" => completion(params, flags),
        "tools/call" => RequestBody::Operation {
            name: params.given("name").map(|text| text_or_exact(text, flags).into()),
            arguments: arguments_digest(params.get("arguments")),
        },
        "resources/read" => RequestBody::Operation {
            name: params.given("uri").map(|text| text_or_exact(text, flags).into()),
            arguments: arguments_digest(None),
        },
        "elicitation/create" => RequestBody::Elicit(Box::new(question(params, flags))),
        _ => RequestBody::Other,
    }
}

/// A null name is what clients send that have none.
fn prompt_name(text: Option<&str>, flags: &mut Oddities) -> PromptName {
    match text {
        None | Some("null") => PromptName::Missing,
        Some(text) => PromptName::Name(text_or_exact(text, flags).into()),
    }
}

fn arguments(text: Option<&str>, flags: &mut Oddities) -> Arguments {
    let Some(text) = text else { return Arguments { shape: ArgumentsAs::Absent, entries: Vec::new() } };
    let shape = match json_type(text) {
        JsonType::Object => ArgumentsAs::Object,
        JsonType::Null => ArgumentsAs::Null,
        JsonType::Array => ArgumentsAs::Array,
        JsonType::String | JsonType::Number | JsonType::Boolean => ArgumentsAs::Other,
    };
    Arguments { shape, entries: if shape == ArgumentsAs::Object { values(text, flags) } else { Vec::new() } }
}

fn values(text: &str, flags: &mut Oddities) -> Vec<(Text, Value)> {
    let members = Members::parse(text, flags).unwrap_or_default();
    members.iter().map(|(key, text)| (key.into(), value(text, flags))).collect()
}

fn arguments_digest(text: Option<&str>) -> u64 {
    match text {
        None => digest(b""),
        Some(text) if text.len() > MAX_CANONICAL => digest(text.as_bytes()),
        Some(text) => digest(canonical(text, &mut Oddities::default()).as_bytes()),
    }
}

fn completion(params: &Members<'_>, flags: &mut Oddities) -> RequestBody {
    let Some(reference) = params.object("ref", flags) else { return RequestBody::Other };
    if reference.text("type", flags).as_deref() != Some("ref/prompt") {
        return RequestBody::Other;
    }
    let argument = params.object("argument", flags).unwrap_or_default();
    let context = params.object("context", flags).and_then(|context| context.object("arguments", flags));
    RequestBody::Complete(Box::new(Completion {
        prompt: prompt_name(reference.get("name"), flags),
        argument: argument.given("name").map(|text| text_or_exact(text, flags).into()),
        typed: argument.given("value").map(|text| text_or_exact(text, flags).into()),
        context: context.is_some_and(|arguments| !arguments.is_empty()),
    }))
}

fn question(params: &Members<'_>, flags: &mut Oddities) -> Question {
    Question {
        mode: match params.given("mode").map(|text| text_or_exact(text, flags)) {
            None => Mode::Form,
            Some(word) if word == "form" => Mode::Form,
            Some(word) if word == "url" => Mode::Url,
            Some(word) => Mode::Other(word.into()),
        },
        message: params.given("message").map(|text| text_or_exact(text, flags).into()).unwrap_or_default(),
        schema: params.given("requestedSchema").map(Text::from),
        elicitation_id: params.given("elicitationId").map(|text| text_or_exact(text, flags).into()),
        captured: true,
    }
}

fn implementation(text: Option<&str>, flags: &mut Oddities) -> Option<Implementation> {
    let members = Members::parse(text?, flags)?;
    Some(Implementation { name: members.text("name", flags)?, version: members.text("version", flags) })
}

/// Reads `capabilities.elicitation`. An object without `form` and `url` declares form (2025-06-18).
fn elicits(capabilities: &Members<'_>, flags: &mut Oddities) -> Elicits {
    let Some(declared) = capabilities.object("elicitation", flags) else { return Elicits::default() };
    let (form, url) = (declared.given("form").is_some(), declared.given("url").is_some());
    Elicits { form: form || !url, url }
}

/// Reads a notification.
pub fn notification(method: &str, params: Option<&str>, flags: &mut Oddities) -> Notification {
    let member = match method {
        "notifications/elicitation/complete" => Some("elicitationId"),
        "notifications/cancelled" => Some("requestId"),
        _ => None,
    };
    let subject = member.and_then(|member| {
        let params = Members::parse(params?, flags)?;
        id(params.get(member)?)
    });
    Notification { method: method.into(), subject }
}

/// Reads an id; `None` for null. Numbers that are no 64-bit integers are kept by their exact text.
pub fn id(raw: &str) -> Option<Id> {
    let raw = raw.trim_ascii();
    match json_type(raw) {
        JsonType::Null => None,
        JsonType::String => Some(match string(raw, &mut Oddities::default()) {
            Some(text) => Id::String(text.into()),
            None => Id::Other(raw.into()),
        }),
        _ => Some(raw.parse().map_or_else(|_| Id::Other(raw.into()), Id::Integer)),
    }
}

/// Reads a JSON-RPC error object.
pub fn error(error: &str, flags: &mut Oddities) -> RpcError {
    let members = Members::parse(error, flags).unwrap_or_default();
    let code = members.get("code").and_then(integer);
    let message = members.given("message").map(|text| text_or_exact(text, flags)).unwrap_or_default();
    let elicitations = match code {
        Some(-32042) => members.object("data", flags).and_then(|data| elements(data.get("elicitations")?)),
        _ => None,
    };
    RpcError {
        code,
        message: clip(&message, MAX_MESSAGE).into(),
        elicitations: elicitations
            .unwrap_or_default()
            .into_iter()
            .filter_map(|text| Members::parse(text, flags)?.text("elicitationId", flags))
            .collect(),
    }
}

/// An integer, also where it is written with a fraction of zero or an exponent.
fn integer(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number: f64 = if json_type(text) == JsonType::Number { text.parse().ok()? } else { return None };
    // Every integer of this size has an exact f64.
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

/// Reads a result by the members at its top level.
pub fn answer(result: &str, flags: &mut Oddities) -> Answer {
    let Some(members) = Members::parse(result, flags) else {
        return Answer { shape: Shape::NotAnObject, server: None, is_error: false };
    };
    let meta = members.object("_meta", flags);
    let server = meta.and_then(|meta| implementation(meta.get(META_SERVER), flags));
    let shape = shape(&members, server.as_ref(), flags);
    Answer { shape, server, is_error: members.get("isError") == Some("true") }
}

fn shape(members: &Members<'_>, server: Option<&Implementation>, flags: &mut Oddities) -> Shape {
    let has = |name: &str, wanted: JsonType| members.get(name).is_some_and(|text| json_type(text) == wanted);
    if asks_for_input(members, flags) {
        return Shape::InputRequired { questions: questions(members, flags), state: state(members, flags) };
    }
    if has("messages", JsonType::Array) {
        return Shape::Rendered(Box::new(rendered(members, flags)));
    }
    if has("prompts", JsonType::Array) {
        return Shape::Prompts(Box::new(listing(members, flags)));
    }
    if let Some(completion) = members.object("completion", flags) {
        return Shape::Completion(completion_answer(&completion, flags));
    }
    if members.get("action").is_some() {
        return Shape::Elicitation(Box::new(elicitation_answer(Some(members), flags)));
    }
    if has("capabilities", JsonType::Object)
        && ["protocolVersion", "serverInfo", "supportedVersions"].iter().any(|name| members.get(name).is_some())
    {
        return Shape::Initialize {
            protocol: members.text("protocolVersion", flags),
            server: implementation(members.get("serverInfo"), flags).or_else(|| server.cloned()),
            list_changed: announces_changes(members, flags),
        };
    }
    if has("content", JsonType::Array) || members.get("isError").is_some() {
        return Shape::Tool { echo: tool_text(members, flags) };
    }
    Shape::Other
}

/// An absent `resultType` means complete (2026-07-28); a task asks by its `status` (tasks extension).
fn asks_for_input(members: &Members<'_>, flags: &mut Oddities) -> bool {
    let says = |name: &str, flags: &mut Oddities| members.text(name, flags).as_deref() == Some("input_required");
    says("resultType", flags) || (members.get("inputRequests").is_some() && says("status", flags))
}

fn questions(members: &Members<'_>, flags: &mut Oddities) -> Vec<(Text, Question)> {
    let requests = members.object("inputRequests", flags).unwrap_or_default();
    let mut questions = Vec::new();
    for (key, text) in requests.iter() {
        let Some(request) = Members::parse(text, flags) else { continue };
        if request.text("method", flags).as_deref() == Some("elicitation/create") {
            let params = request.object("params", flags).unwrap_or_default();
            questions.push((key.into(), question(&params, flags)));
        }
    }
    questions
}

fn announces_changes(members: &Members<'_>, flags: &mut Oddities) -> bool {
    let prompts = members.object("capabilities", flags).and_then(|declared| declared.object("prompts", flags));
    prompts.and_then(|prompts| prompts.get("listChanged")) == Some("true")
}

fn listing(members: &Members<'_>, flags: &mut Oddities) -> Listing {
    let prompts = members.get("prompts").and_then(elements).unwrap_or_default();
    Listing {
        prompts: prompts.into_iter().filter_map(|text| declaration(text, flags)).collect(),
        // Servers that always write the member write "" on the last page.
        next_cursor: members.given("nextCursor").is_some_and(|text| text != "\"\""),
        ttl_ms: members.get("ttlMs").and_then(|text| text.parse().ok()),
        cache_scope: members.text("cacheScope", flags),
    }
}

fn declaration(text: &str, flags: &mut Oddities) -> Option<Declaration> {
    let members = Members::parse(text, flags)?;
    let arguments = members.get("arguments").and_then(elements).unwrap_or_default();
    Some(Declaration {
        name: text_or_exact(members.given("name")?, flags).into(),
        title: members.text("title", flags),
        description: members.text("description", flags),
        arguments: arguments.into_iter().filter_map(|text| declared_argument(text, flags)).collect(),
    })
}

fn declared_argument(text: &str, flags: &mut Oddities) -> Option<DeclaredArgument> {
    let members = Members::parse(text, flags)?;
    let defined = ["name", "title", "description", "required"];
    let mut extra_members: Vec<Text> =
        members.iter().filter(|(name, _)| !defined.contains(name)).map(|(name, _)| name.into()).collect();
    extra_members.sort();
    Some(DeclaredArgument {
        name: text_or_exact(members.given("name")?, flags).into(),
        title: members.text("title", flags),
        description: members.text("description", flags),
        required: members.get("required") == Some("true"),
        extra_members,
    })
}

fn rendered(members: &Members<'_>, flags: &mut Oddities) -> Rendered {
    let messages = members.get("messages").and_then(elements).unwrap_or_default();
    let mut text = JoinedText::new(usize::MAX);
    for message in &messages {
        if let Some(content) = Members::parse(message, flags).and_then(|message| message.get("content")) {
            text.add(content, flags);
        }
    }
    Rendered { messages: messages.len().try_into().unwrap_or(u32::MAX), text: text.out }
}

fn tool_text(members: &Members<'_>, flags: &mut Oddities) -> Option<Text> {
    let mut text = JoinedText::new(MAX_ECHO);
    text.add(members.get("content")?, flags);
    text.any.then(|| clip(&text.out, MAX_ECHO).into())
}

/// Text contents, joined by line feeds.
struct JoinedText {
    out: String,
    any: bool,
    enough: usize,
}

impl JoinedText {
    fn new(enough: usize) -> Self {
        Self { out: String::new(), any: false, enough }
    }

    /// Adds a content block, each block of an array, or the text of an embedded resource.
    fn add(&mut self, content: &str, flags: &mut Oddities) {
        if self.out.len() >= self.enough {
            return;
        }
        match json_type(content) {
            JsonType::String => self.push(content, flags),
            JsonType::Array => {
                for block in elements(content).unwrap_or_default() {
                    // Blocks hold no arrays; one that is an array has no text.
                    if json_type(block) != JsonType::Array {
                        self.add(block, flags);
                    }
                }
            }
            JsonType::Object => {
                let Some(block) = Members::parse(content, flags) else { return };
                if let Some(text) = block.get("text") {
                    self.push(text, flags);
                } else if let Some(text) = block.object("resource", flags).and_then(|inner| inner.get("text")) {
                    self.push(text, flags);
                }
            }
            JsonType::Number | JsonType::Boolean | JsonType::Null => {}
        }
    }

    fn push(&mut self, text: &str, flags: &mut Oddities) {
        let Some(text) = string(text, flags) else { return };
        if self.any {
            self.out.push('\n');
        }
        self.any = true;
        self.out.push_str(&text);
    }
}

fn completion_answer(completion: &Members<'_>, flags: &mut Oddities) -> CompletionAnswer {
    let values = completion.get("values").and_then(elements).unwrap_or_default();
    CompletionAnswer {
        values: values.into_iter().map(|text| text_or_exact(text, flags).into()).collect(),
        total: completion.get("total").and_then(|text| text.parse().ok()),
        has_more: completion.get("hasMore") == Some("true"),
    }
}

/// Reads the answer to an elicitation; `None` stands for an answer that is no object.
fn elicitation_answer(members: Option<&Members<'_>>, flags: &mut Oddities) -> ElicitationAnswer {
    let Some(members) = members else {
        return ElicitationAnswer { action: Action::NotAnObject, content: Content::Absent };
    };
    let action = match members.get("action") {
        None => Action::Malformed(None),
        Some(text) => match string(text, flags).as_deref() {
            Some("accept") => Action::Accept,
            Some("decline") => Action::Decline,
            Some("cancel") => Action::Cancel,
            _ => Action::Malformed(Some(text.into())),
        },
    };
    let content = match members.get("content") {
        None => Content::Absent,
        Some(text) => match json_type(text) {
            JsonType::Null => Content::Null,
            JsonType::Object => Content::Object { members: values(text, flags), json: text.into() },
            _ => Content::Other(value(text, flags)),
        },
    };
    ElicitationAnswer { action, content }
}

/// Who can have sent a request or notification of this method; `None` where both can.
pub fn sender(method: &str, is_request: bool) -> Option<Direction> {
    use Direction::{ClientToServer, ServerToClient};
    match method {
        "elicitation/create" | "sampling/createMessage" | "roots/list" => Some(ServerToClient),
        "notifications/tools/list_changed"
        | "notifications/prompts/list_changed"
        | "notifications/resources/list_changed"
        | "notifications/resources/updated"
        | "notifications/message"
        | "notifications/elicitation/complete" => Some(ServerToClient),
        "notifications/initialized" | "notifications/roots/list_changed" => Some(ClientToServer),
        "initialize" | "completion/complete" | "logging/setLevel" | "server/discover" | "subscriptions/listen" => {
            Some(ClientToServer)
        }
        _ => {
            let ours = ["prompts/", "resources/", "tools/"].iter().any(|room| method.starts_with(room));
            (is_request && ours).then_some(ClientToServer)
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
