use super::*;
use crate::capture::formats::Formats;
use crate::capture::sink::{Block, FileFacts};
use crate::capture::{ReadOptions, discover};
use crate::protocol::elicitation::Content;
use crate::protocol::message::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[test]
fn all_built_in_descriptions_load() {
    for (name, text) in BUILT_IN.iter().chain(&[("envelope", ENVELOPE)]) {
        if let Err(error) = one(name, text) {
            panic!("{:?}", miette::Report::new(error));
        }
    }
}

/// The fixtures of the formats that are described as records, by format.
fn fixtures() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let known: Vec<&str> = built_in().iter().map(|format| format.name()).collect();
    let mut fixtures: Vec<(String, PathBuf)> = walkdir::WalkDir::new(&root)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| !entry.path().extension().is_some_and(|word| word == "snap" || word == "new"))
        .filter_map(|entry| {
            let format = entry.path().strip_prefix(&root).ok()?.iter().next()?.to_string_lossy().into_owned();
            known.contains(&&*format).then(|| (format, entry.path().to_owned()))
        })
        .collect();
    fixtures.sort();
    fixtures
}

/// What is read from a file: a line for each message, then what was rejected, the ledger and the notes.
fn reading(path: &Path, options: &ReadOptions) -> String {
    let (sources, errors) = discover(&[path.display().to_string()], options);
    let (mut text, mut rejected) = (String::new(), String::new());
    let outcome = sources.read(
        |message, _| {
            let _ = writeln!(text, "{}", shown(&message));
        },
        |row| {
            let _ = writeln!(rejected, "rejected {}: {}", row.position, row.reason);
        },
        &Arc::default(),
    );
    text.push_str(&rejected);
    for row in &outcome.files {
        let _ = writeln!(
            text,
            "{}: {} = {} messages + {} continuation + {} noise + {} blank + {} rejected",
            row.format, row.lines, row.message_lines, row.continuation, row.noise, row.blank, row.rejected
        );
        for note in &row.notes {
            let _ = writeln!(text, "note: {note}");
        }
    }
    let folder = format!("{}/", env!("CARGO_MANIFEST_DIR"));
    for error in errors.iter().chain(&outcome.errors) {
        let _ = writeln!(text, "error: {}", error.to_string().replace(&folder, ""));
    }
    text
}

/// A message as a line: where it stands, when, who sent it, what it is, its values, its connection, its body's state.
fn shown(message: &Message) -> String {
    let Place { position, member, .. } = message.place;
    let mut line = format!("{position}.{member}");
    if let Some(Ts(micros)) = message.ts {
        let _ = write!(line, " {}", jiff::Timestamp::from_microsecond(micros).unwrap());
    }
    line.push_str(match message.direction {
        Some(Direction::ClientToServer) => " c2s",
        Some(Direction::ServerToClient) => " s2c",
        None => " ?",
    });
    let id = |id: Option<&Id>| match id {
        None => "none".to_owned(),
        Some(Id::Integer(number)) => number.to_string(),
        Some(Id::String(text)) => format!("{text:?}"),
        Some(Id::Other(text)) => text.to_string(),
    };
    let _ = match &message.kind {
        Kind::Request { id: given, request } => {
            write!(line, " request {} {} {}", id(Some(given)), request.method, asked(&request.body))
        }
        Kind::Notification(notification) => write!(line, " notification {}", notification.method),
        Kind::Result { id: given, answer } => {
            write!(line, " result {} {}", id(given.as_ref()), answered(&answer.shape))
        }
        Kind::Error { id: given, error } => {
            write!(line, " error {} {:?} {:?}", id(given.as_ref()), error.code, error.message)
        }
    };
    let Connection { session, server, client, .. } = &message.connection;
    for (name, label) in [("session", session), ("server", server), ("client", client)] {
        if let Some(label) = label {
            let _ = write!(line, " {name}={label}");
        }
    }
    if message.batch {
        line.push_str(" batch");
    }
    if message.captured != Captured::Full {
        let _ = write!(line, " {:?}", message.captured);
    }
    line
}

fn asked(body: &RequestBody) -> String {
    match body {
        RequestBody::PromptsGet { name, arguments } => {
            let entries: Vec<String> =
                arguments.entries.iter().map(|(key, value)| format!("{key}={:?}", value.text)).collect();
            format!("{name:?} {:?} {}", arguments.shape, entries.join(" "))
        }
        RequestBody::Complete(completion) => {
            format!("{:?} {:?}={:?}", completion.prompt, completion.argument, completion.typed)
        }
        RequestBody::Operation { name, .. } => format!("{name:?}"),
        RequestBody::Elicit(question) => format!("{:?} captured={}", question.message, question.captured),
        RequestBody::Initialize { client, .. } => format!("{:?}", client.as_ref().map(|client| &client.name)),
        _ => String::new(),
    }
}

fn answered(shape: &Shape) -> String {
    match shape {
        Shape::Elicitation(answer) => match &answer.content {
            Content::Object { members, .. } => {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{key}={:?}", value.text)).collect();
                format!("{:?} {}", answer.action, members.join(" "))
            }
            content => format!("{:?} {content:?}", answer.action),
        },
        Shape::Initialize { server, .. } => format!("{:?}", server.as_ref().map(|server| &server.name)),
        Shape::Prompts(listing) => format!("{} prompts", listing.prompts.len()),
        Shape::Rendered(rendered) => format!("{} messages {:?}", rendered.messages, rendered.text),
        Shape::Completion(completion) => format!("{:?}", completion.values),
        Shape::InputRequired { questions, .. } => format!("{} questions", questions.len()),
        Shape::Tool { .. } => "tool".to_owned(),
        Shape::Other => "other".to_owned(),
        Shape::NotAnObject => "no object".to_owned(),
        Shape::NotCaptured => "not captured".to_owned(),
        Shape::NotSeen => "not seen".to_owned(),
    }
}

#[test]
fn fixtures_are_read_as_they_were_when_last_looked_at() {
    let fixtures = fixtures();
    assert!(!fixtures.is_empty());
    for (_, path) in fixtures {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        insta::with_settings!({ snapshot_path => path.parent().unwrap(), prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, reading(&path, &ReadOptions::default()));
        });
    }
}

/// No other format takes a fixture for its own.
#[test]
fn each_fixture_is_claimed_by_one_format() {
    for (expected, path) in fixtures() {
        let text = std::fs::read(&path).unwrap();
        let lines = |format: &dyn Format| {
            BUILT_IN.iter().any(|(name, text)| *name == format.name() && text.contains("kind = \"lines\""))
        };
        let claims = |format: &dyn Format| format.unmistakable() || lines(format);
        for format in Formats::default().iter().filter(|format| format.name() != expected && claims(*format)) {
            let options = ReadOptions { format: Some(format.name().to_owned()), ..ReadOptions::default() };
            let claimed = match format.is_of_records() {
                _ if lines(format) => {
                    let block =
                        Block { offset: 0, bytes: Arc::new(text.clone()), used: text.len(), first: true, last: true };
                    let tally = format.decode(&block, &FileFacts::default()).tally;
                    let signs = text.split(|byte| *byte == b'\n').any(|line| format.is_sign(line));
                    signs || tally.message_lines > tally.nested
                }
                true => format.recognise(&text, true).is_some(),
                false => {
                    let signs = text.split(|byte| *byte == b'\n').filter(|line| format.is_sign(line)).count();
                    signs > 0 || reading(&path, &options).contains(" 1.0 ")
                }
            };
            assert!(!claimed, "{} is taken for {}", path.display(), format.name());
        }
    }
}

/// What the guide says by way of example is so.
#[test]
fn the_example_of_the_guide_reads_its_record() {
    let example = GUIDE.split("\n\n").find(|part| part.starts_with("    {")).unwrap();
    let record: serde_json::Value = serde_json::from_str(example).unwrap();
    let (_, after) = GUIDE.split_once("```toml\n").unwrap();
    let (description, _) = after.split_once("```").unwrap();
    let mut options = ReadOptions::default();
    options.formats.prefer(load("mcptally.toml", description).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, format!("{record}\n")).unwrap();
    insta::assert_snapshot!(reading(&path, &options), @r#"
    1.0 2026-08-01T08:00:00Z c2s request 1 prompts/get Name("scale") Absent  session=c-1 server=recipes client=desk
    1.1 2026-08-01T08:00:00.012Z s2c result 1 0 messages "" session=c-1 server=recipes client=desk
    gateway: 1 = 1 messages + 0 continuation + 0 noise + 0 blank + 0 rejected
    "#);
}

/// The same of text lines.
#[test]
fn the_example_of_lines_in_the_guide_reads_its_lines() {
    let (_, lines) = GUIDE.split_once("\nTEXT LINES\n").unwrap();
    let example = lines.split("\n\n").find(|part| part.starts_with("    ")).unwrap();
    let log: String = example.lines().map(|line| format!("{}\n", line.trim_start())).collect();
    let (_, after) = lines.split_once("```toml\n").unwrap();
    let (description, _) = after.split_once("```").unwrap();
    let mut options = ReadOptions::default();
    options.formats.prefer(load("mcptally.toml", description).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proxy.log");
    std::fs::write(&path, log).unwrap();
    insta::assert_snapshot!(reading(&path, &options), @r"
    1.0 2026-07-01T10:00:00Z c2s request 1 prompts/list  session=c1
    proxy: 2 = 1 messages + 0 continuation + 1 noise + 0 blank + 0 rejected
    note: 1 times name no zone: taken as UTC; --timezone says which zone they are in
    note: 1 connections that were closed
    ");
}

mod envelope;
mod faults;
mod hostile;
