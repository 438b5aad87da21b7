//! Whatever stands in a log: no panic, every record is one thing, and the sums close.

use super::*;
use crate::capture::formats::Format;
use crate::capture::input::Input;
use crate::capture::records::Stretch;
use crate::capture::sink::{Block, FileFacts};
use proptest::prelude::*;

/// What is put where a value or a member may stand, or anywhere.
fn nasty() -> Vec<Vec<u8>> {
    let deep = |open: &str, close: &str, depth| format!("{}{}", open.repeat(depth), close.repeat(depth)).into_bytes();
    let mut nasty = vec![
        deep("[", "]", 3000),
        deep("{\"a\":", "}", 3000),
        deep("[", "", 500),
        deep("", "}", 9),
        "9".repeat(400).into_bytes(),
        format!("\"{}\"", "\\\"".repeat(2000)).into_bytes(),
    ];
    for text in [
        "1e999",
        "-1e999",
        "-0",
        "null",
        "\"\"",
        "{}",
        "[]",
        "true",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "\"\\ud83d\\ude00\"",
        "\"id\":1,\"id\":2,",
        "\"method\":\"ping\",",
        "\"method\":7,",
        "\"params\":[1],",
        "\"result\":{\"action\":{}},",
        "\"error\":\"text\",",
        "\"timestamp\":-9223372036854775808,",
        "\"t\":1e300,",
        "\"seq\":18446744073709551616,",
        "\"duration\":-1e300,",
        "\"direction\":[\"in\"],",
        "\\",
        "\"",
        "\n",
        "\r\n",
        "\u{2028}",
        "\u{feff}",
        "\0\0",
        "\u{1b}[31m",
        "******",
        "... [truncated]",
        "[REDACTED]",
        "}{",
        ",,",
    ] {
        nasty.push(text.into());
    }
    nasty.push(vec![0xff, 0xfe, 0x80]);
    nasty
}

fn check(format: &dyn Format, bytes: &[u8]) -> Result<(), TestCaseError> {
    let _ = format.recognise(bytes, true);
    let _ = format.recognise(bytes, false);
    let file = FileFacts { session_key: Some("session_id".into()), ..FileFacts::default() };
    let mut sum = crate::capture::sink::Tally::default();
    if !format.is_of_records() {
        let block = Block { offset: 0, bytes: Arc::new(bytes.to_vec()), used: bytes.len(), first: true, last: true };
        let mut decoded = format.decode(&block, &file);
        prop_assert_eq!(decoded.tally.lines, bytes.split_inclusive(|byte| *byte == b'\n').count() as u64);
        prop_assert_eq!(decoded.tally.messages, decoded.messages.len() as u64);
        prop_assert_eq!(decoded.tally.rejected, decoded.rejected.len() as u64);
        let mut settled = Default::default();
        format.settle(&mut decoded, &mut settled);
        prop_assert_eq!(decoded.tally.messages, decoded.messages.len() as u64);
        sum.add(&decoded.tally);
        let mut again = format.decode(&block, &file);
        format.settle(&mut again, &mut settled);
        prop_assert!(again.tally.closes(), "{}: {:?}", format.name(), again.tally);
    } else if let Ok(input) = Input::new(std::io::Cursor::new(bytes.to_vec()), "x", &Arc::default())
        && let Some(mut records) = format.records(input, &file)
    {
        let (mut given, mut ended) = (0, false);
        while let Some(Stretch { decoded, error }) = records.next() {
            prop_assert!(!ended, "records behind an error");
            ended = error.is_some();
            prop_assert!(decoded.tally.closes(), "{}: {:?}", format.name(), decoded.tally);
            prop_assert_eq!(decoded.tally.rejected, decoded.rejected.len() as u64);
            given += decoded.messages.len() as u64;
            sum.add(&decoded.tally);
        }
        prop_assert_eq!(sum.messages, given, "{}", format.name());
        records.notes();
    }
    prop_assert!(sum.closes(), "{}: {:?}", format.name(), sum);
    format.remarks(&sum);
    format.misfit(&sum);
    Ok(())
}

fn check_all(bytes: &[u8]) -> Result<(), TestCaseError> {
    for format in built_in() {
        check(*format, bytes)?;
    }
    suggest(bytes, true, "x.log");
    suggest(bytes, false, "");
    Ok(())
}

/// The texts of the fixtures, with the formats they are of.
fn texts() -> &'static [(String, Vec<u8>)] {
    static TEXTS: LazyLock<Vec<(String, Vec<u8>)>> =
        LazyLock::new(|| fixtures().into_iter().map(|(name, path)| (name, std::fs::read(path).unwrap())).collect());
    &TEXTS
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check_all(&bytes)?;
    }

    #[test]
    fn fixtures_with_parts_changed(
        pick in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0..6_u8), 1..6),
    ) {
        let (name, text) = pick.get(texts());
        let (mut text, nasty) = (text.clone(), nasty());
        for (at, what, byte, how) in changes {
            let what = what.get(&nasty);
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            // Behind a colon or a comma stands a value or a member.
            let behind = text[at..].iter().position(|byte| b":,{[".contains(byte)).map_or(at, |found| at + found + 1);
            match how {
                0 => text[at] = byte,
                1 => drop(text.remove(at)),
                2 => text.truncate(at),
                3 => drop(text.splice(at..at, what.iter().copied())),
                4 => drop(text.splice(behind..behind, what.iter().copied())),
                _ => {
                    let end = text[behind..].iter().position(|byte| b",}]".contains(byte)).map_or(behind, |found| behind + found);
                    drop(text.splice(behind..end, what.iter().copied()));
                }
            }
        }
        for format in built_in().iter().filter(|format| format.name() == name) {
            check(*format, &text)?;
        }
        suggest(&text, true, name);
    }
}

/// Each fixture, read as every other format.
#[test]
fn fixtures_of_others() {
    for (_, text) in texts() {
        check_all(text).unwrap();
    }
}
