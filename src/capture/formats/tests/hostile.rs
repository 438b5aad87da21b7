use super::*;
use crate::capture::formats::Format;
use crate::capture::input::Input;
use crate::capture::records::Stretch;

const LINES: [&str; 12] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a","arguments":{"b":"c"}}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
    r#"--> {"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#,
    r#"data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#,
    r#"{"ts":"2026-02-01T10:00:00Z","dir":"in","session":"s","msg":{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}}"#,
    r#"{"t":1769940000125,"direction":"out","raw":"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"messages\":[]}}"}"#,
    r#"2026-02-01T10:00:00.000Z [a b] [info] Message from client: {"method":"ping","jsonrpc":"2.0","id":0} { metadata: undefined }"#,
    r#"2026-02-01T10:00:00.000Z [a] [info] Message from server: {"result":{"content":[{"text":"x... 12 chars truncated ...y"}]},"jsonrpc":"2.0","id":7}"#,
    r#"2026-02-01T10:00:00.000Z [info] [a] Message from client: method="prompts/get" id=3 params"#,
    r#"2026-02-01T10:00:00.000Z [a] [error] failed {"#,
    "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"ping\"\n}",
    "\u{1b}[32m> IN: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\u{1b}[0m\r",
];

fn check(text: &[u8]) -> Result<(), TestCaseError> {
    for format in Formats::default().iter() {
        if format.is_of_records() {
            check_records(format, text)?;
            continue;
        }
        let decoded = decode(format.name(), text);
        prop_assert!(decoded.tally.closes(), "{}: {:?}", format.name(), decoded.tally);
        prop_assert_eq!(decoded.tally.lines, text.split_inclusive(|byte| *byte == b'\n').count() as u64);
        prop_assert_eq!(decoded.tally.messages, decoded.messages.len() as u64);
        prop_assert_eq!(decoded.tally.rejected, decoded.rejected.len() as u64);
    }
    Ok(())
}

/// Reads all records; every one of them is one thing, and an error or none ends them.
pub fn check_records(format: &dyn Format, bytes: &[u8]) -> Result<(), TestCaseError> {
    // Detection looks at any bytes first.
    let _ = format.recognise(bytes, true);
    let input = Input::new(std::io::Cursor::new(bytes.to_vec()), "x", &Arc::default());
    let Ok(input) = input else { return Ok(()) };
    let Some(mut records) = format.records(input, &FileFacts::default()) else { return Ok(()) };
    let (mut ended, mut counted, mut given) = (false, 0, 0);
    while let Some(Stretch { decoded, error }) = records.next() {
        prop_assert!(!ended, "{}: records behind an error", format.name());
        ended = error.is_some();
        prop_assert!(decoded.tally.closes(), "{}: {:?}", format.name(), decoded.tally);
        counted += decoded.tally.messages;
        given += decoded.messages.len() as u64;
        prop_assert_eq!(decoded.tally.rejected, decoded.rejected.len() as u64);
    }
    // Messages may be held back until those before them have come.
    prop_assert_eq!(counted, given);
    records.notes();
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&text)?;
    }

    #[test]
    fn lines_with_bytes_changed_cut_and_moved(
        picks in prop::collection::vec(0..LINES.len(), 1..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 0..6),
    ) {
        let mut text = picks.iter().map(|pick| LINES[*pick]).collect::<Vec<_>>().join("\n").into_bytes();
        for (at, byte, how) in changes {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                2 => drop(text.remove(at)),
                _ => text.truncate(at),
            }
        }
        check(&text)?;
    }
}
