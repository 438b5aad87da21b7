use super::*;
use proptest::prelude::*;

fn read_request(method: &str, params: &str) -> Request {
    request(method, Some(params), &mut Oddities::default())
}

fn read_answer(result: &str) -> Answer {
    answer(result, &mut Oddities::default())
}

fn get(params: &str) -> (PromptName, Arguments) {
    match read_request("prompts/get", params).body {
        RequestBody::PromptsGet { name, arguments } => (name, arguments),
        other => panic!("{other:?}"),
    }
}

fn asked(params: &str) -> Question {
    match read_request("elicitation/create", params).body {
        RequestBody::Elicit(question) => *question,
        other => panic!("{other:?}"),
    }
}

fn answered(result: &str) -> ElicitationAnswer {
    match read_answer(result).shape {
        Shape::Elicitation(answer) => *answer,
        other => panic!("{other:?}"),
    }
}

fn entries(arguments: &Arguments) -> Vec<(&str, JsonType, &str)> {
    arguments.entries.iter().map(|(key, value)| (&**key, value.json_type, &*value.text)).collect()
}

#[test]
fn ids_keep_their_type() {
    assert_eq!(id("1"), Some(Id::Integer(1)));
    assert_eq!(id("\"1\""), Some(Id::String("1".into())));
    assert_eq!(id("1.0"), Some(Id::Other("1.0".into())));
    assert_eq!(id("18446744073709551615"), Some(Id::Other("18446744073709551615".into())));
    assert_eq!(id("null"), None);
    assert_eq!(id("\"server\\u002derror\""), Some(Id::String("server-error".into())));
    assert_eq!(id("true"), Some(Id::Other("true".into())));
}

#[test]
fn a_name_of_no_length_is_a_name() {
    assert_eq!(get(r#"{"name":""}"#).0, PromptName::Name("".into()));
    assert_eq!(get(r#"{}"#).0, PromptName::Missing);
    assert_eq!(get(r#"{"name":null}"#).0, PromptName::Missing);
    assert_eq!(get(r#"{"name":7}"#).0, PromptName::Name("7".into()));
    assert_eq!(get("[]").0, PromptName::Missing);
}

#[test]
fn arguments_have_a_shape() {
    let shape = |params: &str| get(params).1.shape;
    assert_eq!(shape(r#"{"name":"p"}"#), ArgumentsAs::Absent);
    assert_eq!(shape(r#"{"name":"p","arguments":null}"#), ArgumentsAs::Null);
    assert_eq!(shape(r#"{"name":"p","arguments":["a"]}"#), ArgumentsAs::Array);
    assert_eq!(shape(r#"{"name":"p","arguments":"{}"}"#), ArgumentsAs::Other);
    assert_eq!(shape(r#"{"name":"p","arguments":{}}"#), ArgumentsAs::Object);
}

#[test]
fn argument_values_keep_type_and_exact_text() {
    let mut flags = Oddities::default();
    let params = r#"{"arguments":{"b":"5","a":5.0,"c":{"y":1,"x":[ ]},"b":null,"d":""},"name":"p"}"#;
    let RequestBody::PromptsGet { arguments, .. } = request("prompts/get", Some(params), &mut flags).body else {
        panic!("a prompts/get");
    };
    assert_eq!(
        entries(&arguments),
        [
            ("b", JsonType::Null, "null"),
            ("a", JsonType::Number, "5.0"),
            ("c", JsonType::Object, r#"{"x":[],"y":1}"#),
            ("d", JsonType::String, ""),
        ]
    );
    assert_eq!(flags.duplicate_keys, 1);
}

#[test]
fn initialize_tells_client_revision_and_elicitation() {
    let elicits = |capabilities: &str| {
        let params = format!(
            r#"{{"protocolVersion":"2025-06-18","clientInfo":{{"name":"desk","version":"1.2"}},"capabilities":{capabilities}}}"#
        );
        match read_request("initialize", &params).body {
            RequestBody::Initialize { protocol, client, elicits } => {
                assert_eq!(protocol.as_deref(), Some("2025-06-18"));
                assert_eq!(client, Some(Implementation { name: "desk".into(), version: Some("1.2".into()) }));
                (elicits.form, elicits.url)
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(elicits("{}"), (false, false));
    assert_eq!(elicits(r#"{"elicitation":{}}"#), (true, false));
    assert_eq!(elicits(r#"{"elicitation":{"form":{}}}"#), (true, false));
    assert_eq!(elicits(r#"{"elicitation":{"url":{}}}"#), (false, true));
    assert_eq!(elicits(r#"{"elicitation":{"form":{},"url":{}}}"#), (true, true));
    assert_eq!(elicits(r#"{"elicitation":null}"#), (false, false));
}

#[test]
fn stateless_requests_carry_their_client() {
    let meta = read_request(
        "prompts/get",
        r#"{"name":"p","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"d"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}}}"#,
    )
    .meta;
    assert_eq!(meta.protocol.as_deref(), Some("2026-07-28"));
    assert_eq!(meta.client, Some(Implementation { name: "d".into(), version: None }));
    assert_eq!(meta.capabilities, Some(Elicits { form: false, url: true }));
    assert_eq!(meta.input_responses, None);
    assert_eq!(meta.request_state, None);
}

#[test]
fn retries_carry_answers_in_order_and_their_state() {
    let meta = read_request(
        "tools/call",
        r#"{"inputResponses":{"z":{"action":"accept","content":{"a":1}},"m":{"role":"assistant","model":"x","content":{}},"a":{"action":"decline"},"o":[]},"requestState":"s\u0031","name":"t"}"#,
    )
    .meta;
    let answers = meta.input_responses.expect("a retry");
    let actions: Vec<(&str, &Action)> = answers.iter().map(|(key, answer)| (&**key, &answer.action)).collect();
    assert_eq!(actions, [("z", &Action::Accept), ("a", &Action::Decline), ("o", &Action::NotAnObject)]);
    let asked = read_answer(r#"{"resultType":"input_required","inputRequests":{},"requestState":"s1"}"#);
    assert_eq!(asked.shape, Shape::InputRequired { questions: Vec::new(), state: meta.request_state });
    assert!(meta.request_state.is_some());
    let other = read_request("tools/call", r#"{"requestState":{"s":"s1"}}"#).meta;
    assert!(other.request_state.is_some() && other.request_state != meta.request_state);
    assert_eq!(read_request("tools/call", r#"{"inputResponses":{}}"#).meta.input_responses, Some(Vec::new()));
}

#[test]
fn operations_are_told_apart_by_name_and_arguments() {
    let operation = |method: &str, params: &str| match read_request(method, params).body {
        RequestBody::Operation { name, arguments } => (name, arguments),
        other => panic!("{other:?}"),
    };
    let call = operation("tools/call", r#"{"name":"refund","arguments":{"a":1,"b":2}}"#);
    assert_eq!(call.0.as_deref(), Some("refund"));
    assert_eq!(call, operation("tools/call", r#"{"arguments":{"b": 2,"a":1},"name":"refund"}"#));
    assert_ne!(call, operation("tools/call", r#"{"name":"refund","arguments":{"a":1.0,"b":2}}"#));
    let large = format!(r#"{{"name":"t","arguments":{{"text":"{}"}}}}"#, "x".repeat(100_000));
    assert_eq!(operation("tools/call", &large), operation("tools/call", &large));
    assert_eq!(operation("resources/read", r#"{"uri":"file:///a"}"#).0.as_deref(), Some("file:///a"));
    assert_eq!(read_request("tools/list", "{}").body, RequestBody::Other);
    assert_eq!(request("ping", None, &mut Oddities::default()).body, RequestBody::Other);
}

#[test]
fn a_page_is_the_first_unless_a_cursor_was_sent() {
    assert_eq!(read_request("prompts/list", r#"{"cursor":"x"}"#).body, RequestBody::PromptsList { first: false });
    assert_eq!(read_request("prompts/list", r#"{"cursor":null}"#).body, RequestBody::PromptsList { first: true });
    assert_eq!(request("prompts/list", None, &mut Oddities::default()).body, RequestBody::PromptsList { first: true });
}

#[test]
fn only_completions_of_prompts_are_ours() {
    let params = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"tone","value":""},"context":{"arguments":{"a":"b"}}}"#;
    assert_eq!(
        read_request("completion/complete", params).body,
        RequestBody::Complete(Box::new(Completion {
            prompt: PromptName::Name("p".into()),
            argument: Some("tone".into()),
            typed: Some("".into()),
            context: true,
        }))
    );
    let resource = r#"{"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":"s"}}"#;
    assert_eq!(read_request("completion/complete", resource).body, RequestBody::Other);
}

#[test]
fn questions_keep_their_schema_to_the_byte() {
    let question = asked(r#"{"message":"How much?","requestedSchema":{ "type":"object" , "properties":{}}}"#);
    assert_eq!(question.mode, Mode::Form);
    assert_eq!(&*question.message, "How much?");
    assert_eq!(question.schema.as_deref(), Some(r#"{ "type":"object" , "properties":{}}"#));
    let url = asked(r#"{"mode":"url","message":"m","url":"https://example.test","elicitationId":"e1"}"#);
    assert_eq!((url.mode, url.schema, url.elicitation_id.as_deref()), (Mode::Url, None, Some("e1")));
    assert_eq!(asked(r#"{"mode":"voice"}"#).mode, Mode::Other("voice".into()));
}

#[test]
fn actions_that_are_none_of_the_three_are_malformed() {
    assert_eq!(answered(r#"{"action":"accept"}"#).action, Action::Accept);
    assert_eq!(answered(r#"{"action":"Accept"}"#).action, Action::Malformed(Some("\"Accept\"".into())));
    assert_eq!(answered(r#"{"action":null}"#).action, Action::Malformed(Some("null".into())));
    let retry = read_request("tools/call", r#"{"inputResponses":{"k":{"content":{}}}}"#);
    assert_eq!(retry.meta.input_responses.expect("a retry")[0].1.action, Action::Malformed(None));
}

#[test]
fn content_is_absent_null_an_object_or_something_else() {
    assert_eq!(answered(r#"{"action":"accept"}"#).content, Content::Absent);
    assert_eq!(answered(r#"{"action":"accept","content":null}"#).content, Content::Null);
    let Content::Object { members, json } = answered(r#"{"action":"accept","content":{"b":1.0, "a":[2]}}"#).content
    else {
        panic!("an object");
    };
    assert_eq!(&*json, r#"{"b":1.0, "a":[2]}"#);
    assert_eq!((&*members[0].0, &*members[0].1.text), ("b", "1.0"));
    let other = answered(r#"{"action":"accept","content":"yes please"}"#).content;
    assert_eq!(other, Content::Other(Value { json_type: JsonType::String, text: "yes please".into() }));
}

#[test]
fn results_are_told_apart_by_their_members() {
    assert_eq!(read_answer("[]").shape, Shape::NotAnObject);
    assert_eq!(read_answer("{}").shape, Shape::Other);
    assert_eq!(read_answer(r#"{"tools":[]}"#).shape, Shape::Other);
    assert_eq!(read_answer(r#"{"messages":5}"#).shape, Shape::Other);
    assert_eq!(
        read_answer(r#"{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}"#).shape,
        Shape::Other
    );
    let failed = read_answer(r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#);
    assert!(failed.is_error);
    assert_eq!(failed.shape, Shape::Tool { echo: Some("no".into()) });
    let initialized = r#"{"protocolVersion":"2025-11-25","capabilities":{"prompts":{"listChanged":true}},"serverInfo":{"name":"desk","version":"1"}}"#;
    assert_eq!(
        read_answer(initialized).shape,
        Shape::Initialize {
            protocol: Some("2025-11-25".into()),
            server: Some(Implementation { name: "desk".into(), version: Some("1".into()) }),
            list_changed: true,
        }
    );
}

#[test]
fn discovery_names_the_server_in_its_meta() {
    let discovered = r#"{"capabilities":{"prompts":{}},"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"desk","version":""}}}"#;
    let answer = read_answer(discovered);
    let server = Some(Implementation { name: "desk".into(), version: Some("".into()) });
    assert_eq!(answer.server, server);
    assert_eq!(answer.shape, Shape::Initialize { protocol: None, server, list_changed: false });
}

#[test]
fn listings_are_read_with_what_hosts_ignore() {
    let result = r#"{"prompts":[{"name":"p","title":"P","arguments":[{"name":"tone","required":true,"enum":["a"],"description":"One of: a.","default":"a"},{"name":"x","required":"true"},7]},{"title":"nameless"}],"nextCursor":"2","ttlMs":1500,"cacheScope":"private"}"#;
    let Shape::Prompts(listing) = read_answer(result).shape else { panic!("a listing") };
    assert_eq!(listing.prompts.len(), 1);
    let arguments = &listing.prompts[0].arguments;
    assert_eq!(arguments.len(), 2);
    assert!(arguments[0].required && !arguments[1].required);
    assert_eq!(arguments[0].extra_members, ["default".into(), "enum".into()]);
    assert_eq!(
        (listing.next_cursor, listing.ttl_ms, listing.cache_scope.as_deref()),
        (true, Some(1500.0), Some("private"))
    );
    let last = read_answer(r#"{"prompts":[],"nextCursor":""}"#).shape;
    assert!(matches!(last, Shape::Prompts(listing) if !listing.next_cursor));
}

#[test]
fn rendered_text_joins_all_text_contents() {
    let result = r#"{"messages":[{"role":"user","content":{"type":"text","text":"one"}},{"role":"user","content":{"type":"image","data":"xx"}},{"role":"user","content":[{"type":"text","text":"two"},{"type":"resource","resource":{"uri":"u","text":"three"}},{"type":"resource","resource":{"uri":"u","blob":"eA=="}}]},{"role":"user"}]}"#;
    let Shape::Rendered(rendered) = read_answer(result).shape else { panic!("rendered") };
    assert_eq!(*rendered, Rendered { messages: 4, text: "one\ntwo\nthree".into() });
    let Shape::Rendered(empty) = read_answer(r#"{"messages":[]}"#).shape else { panic!("rendered") };
    assert_eq!(*empty, Rendered { messages: 0, text: String::new() });
}

#[test]
fn completions_tell_what_they_left_out() {
    let result = r#"{"completion":{"values":["warm","firm"],"total":12,"hasMore":true}}"#;
    let expected = CompletionAnswer { values: vec!["warm".into(), "firm".into()], total: Some(12.0), has_more: true };
    assert_eq!(read_answer(result).shape, Shape::Completion(expected));
}

#[test]
fn questions_inside_results_skip_other_methods() {
    let result = r#"{"resultType":"input_required","inputRequests":{"b":{"method":"elicitation/create","params":{"message":"Tone?","requestedSchema":{"type":"object"}}},"s":{"method":"sampling/createMessage","params":{}},"a":{"method":"elicitation/create","params":{"mode":"url"}}}}"#;
    let Shape::InputRequired { questions, state } = read_answer(result).shape else { panic!("questions") };
    let keys: Vec<&str> = questions.iter().map(|(key, _)| &**key).collect();
    assert_eq!(keys, ["b", "a"]);
    assert_eq!(state, None);
    assert_eq!(questions[0].1.schema.as_deref(), Some(r#"{"type":"object"}"#));
    let complete = read_answer(r#"{"resultType":"complete","messages":[]}"#).shape;
    assert!(matches!(complete, Shape::Rendered(_)));
}

#[test]
fn tasks_are_matched_by_their_id() {
    let asked = read_answer(
        r#"{"taskId":"t1","status":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}}"#,
    );
    let Shape::InputRequired { questions, state } = asked.shape else { panic!("questions") };
    assert_eq!(questions.len(), 1);
    let update = read_request("tasks/update", r#"{"taskId":"t1","inputResponses":{"k":{"action":"cancel"}}}"#);
    assert_eq!(update.body, RequestBody::Other);
    assert!(state.is_some());
    assert_eq!(update.meta.request_state, state);
}

#[test]
fn errors_keep_code_zero() {
    let read = |text: &str| error(text, &mut Oddities::default());
    assert_eq!(read(r#"{"code":0,"message":"Missing"}"#).code, Some(0));
    assert_eq!(read(r#"{"code":-32602.0,"message":"x"}"#).code, Some(-32602));
    assert_eq!(read(r#"{"code":"x"}"#).code, None);
    assert_eq!(read("5"), RpcError { code: None, message: "".into(), elicitations: Vec::new() });
    let long = format!(r#"{{"code":1,"message":"{}"}}"#, "é".repeat(4000));
    assert_eq!(read(&long).message.len(), 4096);
    let required = r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e1"},{}]}}"#;
    assert_eq!(read(required).elicitations, ["e1".into()]);
    let other = required.replace("-32042", "-32000");
    assert!(read(&other).elicitations.is_empty());
}

#[test]
fn notifications_name_their_subject() {
    let read = |method: &str, params: Option<&str>| notification(method, params, &mut Oddities::default()).subject;
    assert_eq!(read("notifications/cancelled", Some(r#"{"requestId":7}"#)), Some(Id::Integer(7)));
    let completed = read("notifications/elicitation/complete", Some(r#"{"elicitationId":"e"}"#));
    assert_eq!(completed, Some(Id::String("e".into())));
    assert_eq!(read("notifications/prompts/list_changed", Some("[]")), None);
    assert_eq!(read("notifications/initialized", None), None);
}

#[test]
fn senders_are_known_by_method() {
    use Direction::{ClientToServer, ServerToClient};
    assert_eq!(sender("prompts/get", true), Some(ClientToServer));
    assert_eq!(sender("server/discover", true), Some(ClientToServer));
    assert_eq!(sender("elicitation/create", true), Some(ServerToClient));
    assert_eq!(sender("notifications/prompts/list_changed", false), Some(ServerToClient));
    assert_eq!(sender("notifications/roots/list_changed", false), Some(ClientToServer));
    for both in ["ping", "tasks/get", "tasks/cancel", "x/unheard"] {
        assert_eq!(sender(both, true), None, "{both}");
    }
    assert_eq!(sender("notifications/cancelled", false), None);
    assert_eq!(sender("notifications/progress", false), None);
}

/// Methods and members that the parser knows, so that arbitrary input reaches every branch.
const METHODS: [&str; 8] = [
    "initialize",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "tools/call",
    "resources/read",
    "elicitation/create",
    "notifications/cancelled",
];
const NAMES: [&str; 24] = [
    "name",
    "arguments",
    "_meta",
    "ref",
    "argument",
    "context",
    "capabilities",
    "elicitation",
    "form",
    "clientInfo",
    "message",
    "requestedSchema",
    "mode",
    "inputResponses",
    "requestState",
    "messages",
    "content",
    "text",
    "prompts",
    "completion",
    "values",
    "action",
    "inputRequests",
    "resultType",
];

fn ours() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        prop::sample::select(vec!["accept", "input_required", "ref/prompt", "text", ""])
            .prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner), 0..6).prop_map(|members| {
                serde_json::Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

fn read_all(text: &str) {
    let flags = &mut Oddities::default();
    for method in METHODS {
        let _ = (request(method, Some(text), flags), notification(method, Some(text), flags));
    }
    let _ = (answer(text, flags), error(text, flags), id(text));
}

proptest! {
    #[test]
    fn no_message_panics(json in ours()) {
        read_all(&json.to_string());
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        read_all(&text);
    }

    #[test]
    fn no_damaged_message_panics(json in ours(), cut in any::<prop::sample::Index>(), put in any::<char>()) {
        let mut text: Vec<char> = json.to_string().chars().collect();
        let at = cut.index(text.len());
        text[at] = put;
        read_all(&text.iter().collect::<String>());
        read_all(&text[..at].iter().collect::<String>());
    }

    #[test]
    fn arguments_agree_with_serde_json(json in super::super::json::tests::any_json()) {
        let params = serde_json::json!({ "name": "p", "arguments": json }).to_string();
        let (_, arguments) = get(&params);
        let expected = json.as_object().map_or(0, serde_json::Map::len);
        prop_assert_eq!(arguments.entries.len(), expected);
        for (key, value) in &arguments.entries {
            let sent = &json[&**key];
            match sent.as_str() {
                Some(text) => prop_assert_eq!(&*value.text, text),
                None => prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&value.text).expect("JSON"), sent),
            }
        }
    }
}
