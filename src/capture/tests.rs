use super::*;
use crate::protocol::message::*;
use crate::schema::RejectedRow;
use std::io::Write;
use std::path::Path;

/// What reading gave.
pub struct Read {
    pub messages: Vec<Message>,
    pub rejected: Vec<RejectedRow>,
    pub outcome: ReadOutcome,
    pub errors: Vec<CaptureError>,
    pub notes: Vec<String>,
}

pub fn read(paths: &[&Path], options: &ReadOptions) -> Read {
    let arguments: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let (sources, errors) = discover(&arguments, options);
    let notes = sources.notes.clone();
    let (mut messages, mut rejected) = (Vec::new(), Vec::new());
    let outcome = sources.read(|message, _| messages.push(message), |row| rejected.push(row), &Arc::default());
    for row in &outcome.files {
        let sum = row.message_lines + row.noise + row.blank + row.continuation + row.rejected;
        assert_eq!(row.lines, sum, "{row:?}");
    }
    Read { messages, rejected, outcome, errors, notes }
}

pub fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}

fn read_one(name: &str, content: impl AsRef<[u8]>) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), name, content);
    read(&[&path], &ReadOptions::default())
}

fn ids(read: &Read) -> Vec<String> {
    read.messages
        .iter()
        .map(|message| match &message.kind {
            Kind::Request { id, .. } => format!("{id:?}"),
            Kind::Result { id, .. } | Kind::Error { id, .. } => format!("{id:?}"),
            Kind::Notification(notification) => notification.method.to_string(),
        })
        .collect()
}

const CAPTURES: [&str; 5] = [
    "01-stdio-prompts-py1x",
    "05-stdio-elicitation-2025",
    "08-stdio-2026-input-required-py2",
    "11-batch-2025-03-26/stdio-raw",
    "14-two-servers-interleaved",
];

/// What all three renderings of a message tell.
fn gist(message: &Message) -> String {
    let known = match &message.kind {
        Kind::Request { request, .. } => crate::protocol::parse::sender(&request.method, true).is_some(),
        _ => false,
    };
    let direction = if known { format!("{:?}", message.direction) } else { String::new() };
    // The arguments of an operation are told apart by their bytes, which differ between renderings.
    let mut kind = message.kind.clone();
    if let Kind::Request { request, .. } = &mut kind
        && let RequestBody::Operation { arguments, .. } = &mut request.body
    {
        *arguments = 0;
    }
    // Writers put spaces into JSON, and schemas are kept by their exact text.
    format!("{direction} {} {kind:?}", message.batch).replace(' ', "")
}

#[test]
fn the_three_renderings_of_recorded_traffic_hold_the_same_messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    for capture in CAPTURES {
        let by_name = |name: &str| read(&[&folder.join(capture).join(name)], &ReadOptions::default());
        let (raw, envelope, desktop) =
            (by_name("raw.ndjson"), by_name("envelope.ndjson"), by_name("claude-desktop.log"));
        let formats: Vec<String> = [&raw, &envelope, &desktop]
            .iter()
            .flat_map(|read| &read.outcome.files)
            .map(|row| row.format.to_string())
            .collect();
        assert_eq!(formats, ["jsonrpc", "envelope", "claude-desktop"], "{capture}");
        let gists = |read: &Read| read.messages.iter().map(gist).collect::<Vec<_>>();
        let wanted = gists(&raw);
        for (got, name) in [(gists(&envelope), "envelope"), (gists(&desktop), "desktop")] {
            assert_eq!(got.len(), wanted.len(), "{capture} {name}");
            for (at, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
                assert_eq!(got, wanted, "{capture} {name} message {at}");
            }
        }
        let broken = if capture.starts_with("11") { 4 } else { 0 };
        for read in [&raw, &envelope, &desktop] {
            assert_eq!(read.rejected.len(), broken, "{capture}: {:?}", read.rejected);
            assert!(read.errors.is_empty() && read.outcome.errors.is_empty());
        }
    }
}
