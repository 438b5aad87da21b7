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

fn said(errors: &[CaptureError]) -> Vec<String> {
    errors.iter().map(CaptureError::to_string).collect()
}

fn request(id: usize, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

#[test]
fn byte_order_marks_utf16_and_compression_change_nothing() {
    let text = format!("{}\r\n{}\r\n", request(1, "prompts/list"), request(2, "ping"));
    let utf16 = |little: bool| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(|unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
    };
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let members: Vec<u8> = lines.iter().flat_map(|line| gzip(line)).collect();
    let frames: Vec<u8> = lines.iter().flat_map(|line| zstd::encode_all(line.as_bytes(), 1).unwrap()).collect();
    let marked = [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat();
    for (name, content) in [
        ("plain", text.clone().into_bytes()),
        ("marked", marked),
        ("little", utf16(true)),
        ("big", utf16(false)),
        ("gzip", members),
        ("zstd", frames),
    ] {
        let read = read_one(name, content);
        assert_eq!(ids(&read), ["Integer(1)", "Integer(2)"], "{name}: {:?} {:?}", read.errors, read.outcome.errors);
        assert_eq!(read.outcome.files[0].lines, 2, "{name}");
        assert_eq!(read.outcome.files[0].bytes, text.len() as u64, "{name}");
    }
}

#[test]
fn damaged_compression_gives_what_stands_before_it_and_says_where() {
    let text: String = (0..20_000).map(|id| request(id, "ping") + "\n").collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let mut packed = encoder.finish().unwrap();
    packed.truncate(packed.len() / 2);
    let read = read_one("cut.ndjson.gz", &packed);
    assert!(read.messages.len() > 1_000 && read.messages.len() < 20_000);
    let errors = said(&read.outcome.errors);
    assert!(
        errors[0].contains("the gzip data is corrupt near byte") && errors[0].contains("ends in the middle"),
        "{errors:?}"
    );
    let mut packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let middle = packed.len() / 2;
    packed[middle..middle + 64].fill(0xff);
    let read = read_one("bad.ndjson.zst", &packed);
    assert!(
        said(&read.outcome.errors)
            .iter()
            .chain(&said(&read.errors))
            .any(|error| error.contains("the zstd data is corrupt"))
    );
}

#[test]
fn each_bad_input_has_its_own_message() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, content: &[u8]| file(folder.path(), name, content);
    let inputs = [
        (folder.path().join("none.log"), "no such file or folder"),
        (folder.path().join("*.nothing"), "no file matches this pattern"),
        (at("empty.log", b""), "the file is empty"),
        (at("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x01\x02\x03\x04\x05\x06"), "a binary file"),
        (at("notes.txt", b"Dear diary,\nnothing happened.\n"), "no known format"),
        (at("a.db", b"SQLite format 3\0...."), "an SQLite database"),
        (at("ek.json", br#"{"index":{"_index":"packets-2026","_type":"doc"}}"#), "no known format"),
        (at("diary/a.txt", b"hello\n").parent().unwrap().to_owned(), "the folder holds no capture (1 files looked at"),
    ];
    for (path, wanted) in inputs {
        let read = read(&[&path], &ReadOptions::default());
        let errors = said(&read.errors);
        assert_eq!(errors.len(), 1, "{path:?}: {errors:?}");
        assert!(errors[0].contains(wanted), "{errors:?}");
        assert!(errors[0].contains(path.file_name().unwrap().to_str().unwrap()), "{errors:?}");
        assert!(read.messages.is_empty());
        assert_eq!(read.outcome.files.len(), usize::from(wanted == "the file is empty"));
    }
    let wrong = ReadOptions { format: Some("xml".to_owned()), ..ReadOptions::default() };
    let errors = said(&read(&[folder.path()], &wrong).errors);
    assert!(errors[0].contains("no such format; known are ") && errors[0].contains("jsonrpc, envelope"), "{errors:?}");
}

#[test]
fn folders_are_searched_and_what_is_no_capture_is_named() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "b/two.ndjson", request(2, "ping"));
    file(folder.path(), "a/one.ndjson", request(1, "ping"));
    file(folder.path(), ".hidden/three.ndjson", request(3, "ping"));
    file(folder.path(), "README.md", "# Captures\n");
    let read_all = read(&[folder.path()], &ReadOptions::default());
    assert_eq!(ids(&read_all), ["Integer(1)", "Integer(2)"]);
    assert!(read_all.errors.is_empty());
    assert!(read_all.notes.iter().any(|note| note.contains("README.md")), "{:?}", read_all.notes);
    assert!(read_all.notes.iter().any(|note| note.contains("1 hidden")), "{:?}", read_all.notes);
    let pattern = folder.path().join("*/*.ndjson");
    let twice = read(&[&pattern, &folder.path().join("a/one.ndjson")], &ReadOptions::default());
    assert_eq!(ids(&twice), ["Integer(1)", "Integer(2)"]);
}

#[test]
fn files_are_merged_by_time_in_whatever_order_they_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let line = |second: u32, id: usize| {
        format!("{{\"ts\":\"2026-02-01T10:00:{second:02}Z\",\"dir\":\"c2s\",\"msg\":{}}}\n", request(id, "ping"))
    };
    let a = file(folder.path(), "a.ndjson", [line(1, 1), line(5, 2), line(3, 3), line(9, 4)].concat());
    let b = file(folder.path(), "b.ndjson", [line(2, 5), line(4, 6), line(5, 7)].concat());
    let c = file(folder.path(), "c.ndjson", [line(0, 8), line(20, 9)].concat());
    let bare = file(folder.path(), "0.jsonl", request(10, "ping"));
    let wanted = [8, 1, 5, 6, 2, 3, 7, 4, 9, 10].map(|id| format!("Integer({id})"));
    for order in [[&a, &b, &c, &bare], [&bare, &c, &b, &a], [&b, &bare, &a, &c]] {
        assert_eq!(ids(&read(&order.map(PathBuf::as_path), &ReadOptions::default())), wanted);
    }
}

#[test]
fn rotated_files_without_times_are_read_oldest_first() {
    let folder = tempfile::tempdir().unwrap();
    for (name, id) in [("cap.ndjson", 3), ("cap.ndjson.1", 2), ("cap.ndjson.2", 1)] {
        file(folder.path(), name, request(id, "ping"));
    }
    let read = read(&[folder.path()], &ReadOptions::default());
    assert_eq!(ids(&read), ["Integer(1)", "Integer(2)", "Integer(3)"]);
    assert!(read.messages.windows(2).all(|pair| pair[0].connection.stream == pair[1].connection.stream));
}

#[test]
fn a_grown_file_is_read_from_where_reading_ended() {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: usize| request(id, "ping") + "\n";
    let cut = &request(3, "ping")[..20];
    // The last line: whole, without line feed, or cut in its middle.
    for (end, before, rest) in [
        (line(3), vec![1, 2, 3], line(4)),
        (request(3, "ping"), vec![1, 2, 3], format!("\n{}", line(4))),
        (cut.to_owned(), vec![1, 2], format!("{}\n{}", &request(3, "ping")[20..], line(4))),
    ] {
        let start = [line(1), line(2), end].concat();
        let path = file(folder.path(), "cap.ndjson", &start);
        let first = read(&[&path], &ReadOptions::default());
        assert_eq!(first.messages.len(), before.len());
        let consumed = &first.outcome.consumed[0];
        assert!(consumed.resumable);
        file(folder.path(), "cap.ndjson", start + &rest);
        assert_eq!(fingerprint(&path, consumed.offset).unwrap(), consumed.fingerprint);
        assert_ne!(fingerprint(&path, consumed.offset - 1).unwrap(), consumed.fingerprint);
        let resume = HashMap::from([(path.clone(), (consumed.offset, consumed.line))]);
        let more = read(&[&path], &ReadOptions { resume, ..ReadOptions::default() });
        let found = more.messages.iter().map(|message| message.place.position).collect::<Vec<_>>();
        assert_eq!(found.last(), Some(&4), "{rest}");
        assert_eq!(found.len() + before.len(), 4);
    }
}

#[test]
fn blocks_and_long_lines_keep_lines_whole() {
    // Several blocks, one line longer than a block, a record separator that is no line feed.
    let long = "x".repeat(3 << 20);
    let mut text = String::new();
    for id in 0..30_000 {
        text += &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"a\u{2028}b\"}}]}}}}\n"
        );
        if id == 15_000 {
            text += &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{long}\"}}]}}}}\n"
            );
        }
    }
    let read = read_one("cap.ndjson", &text);
    assert_eq!(read.messages.len(), 30_001);
    assert!(read.rejected.is_empty());
    assert!(read.messages.iter().enumerate().all(|(at, message)| message.place.position == at as u64 + 1));
    assert_eq!(read.messages[15_001].tool_text().unwrap().len(), 64 << 10);
    assert_eq!(read.messages[7].tool_text().as_deref(), Some("a\u{2028}b"));
    assert_eq!(read.outcome.files[0].bytes, text.len() as u64);
    assert_eq!(read.messages.iter().map(|message| u64::from(message.bytes)).sum::<u64>(), text.len() as u64);
}
