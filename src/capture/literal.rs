//! String literals as programs write them into logs.

/// Reads a literal in quotes, as Python (`b'…'` as well), Go and C write it, at the beginning of a text: its bytes, and
/// the length of the literal. `None` where it does not end.
pub fn read(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let begin = usize::from(matches!(text, [b'b', b'\'' | b'"', ..]));
    let quote = *text.get(begin).filter(|quote| matches!(quote, b'\'' | b'"' | b'`'))?;
    let mut out = Vec::new();
    let mut at = begin + 1;
    loop {
        let rest = text.get(at..)?;
        let plain = rest.iter().position(|byte| *byte == quote || *byte == b'\\')?;
        out.extend_from_slice(rest.get(..plain)?);
        at += plain + 1;
        if *rest.get(plain)? == quote {
            return Some((out, at));
        }
        at += escape(text.get(at..)?, &mut out)?;
    }
}

/// Reads what follows a backslash; how long it is.
fn escape(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let letter = *text.first()?;
    let plain = match letter {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'0' => 0,
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        b'x' => match hex(text.get(1..3)?) {
            Some(byte) => {
                out.push(u8::try_from(byte).ok()?);
                return Some(3);
            }
            None => b'x',
        },
        b'u' | b'U' => return Some(character(text, letter, out)),
        other => other,
    };
    out.push(plain);
    Some(1)
}

/// `uXXXX`, two of them where one stands for a half, `u{X…}` and `UXXXXXXXX`.
fn character(text: &[u8], letter: u8, out: &mut Vec<u8>) -> usize {
    let (digits, mut length) = match text.get(1) {
        Some(b'{') => {
            let end = text.iter().take(10).position(|byte| *byte == b'}').unwrap_or(1);
            (text.get(2..end).unwrap_or_default(), end + 1)
        }
        _ if letter == b'U' => (text.get(1..9).unwrap_or_default(), 9),
        _ => (text.get(1..5).unwrap_or_default(), 5),
    };
    let Some(mut code) = hex(digits) else {
        out.push(letter);
        return 1;
    };
    if (0xd800..0xdc00).contains(&code)
        && text.get(length..length + 2) == Some(b"\\u")
        && let Some(low @ 0xdc00..0xe000) = text.get(length + 2..length + 6).and_then(hex)
    {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        length += 6;
    }
    let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    length
}

fn hex(digits: &[u8]) -> Option<u32> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| plain)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_language_is_read() {
        for (literal, bytes) in [
            (r#"b'{"a":"it\'s \xc3\xa9 \\" \\u00e9"}' rest"#, "{\"a\":\"it's é \\\" \\u00e9\"}"),
            (r#"b"event: message\r\ndata: it's""#, "event: message\r\ndata: it's"),
            (r#""{\"a\":\"\u00e9 \U0001f600 \x41\a\"}\n" x=1"#, "{\"a\":\"é 😀 A\u{7}\"}\n"),
            (r#""\ud83d\ude00 \ud83d \u{1f600} \q \xzz""#, "😀 \u{fffd} 😀 q xzz"),
            ("''", ""),
        ] {
            let (read, length) = read(literal.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(read).unwrap(), bytes, "{literal}");
            assert!(literal[..length].ends_with(['\'', '"']));
        }
        for broken in ["b'abc", "'abc\\", "'abc\\'", "abc", "", "b", "'\\x4"] {
            assert_eq!(read(broken.as_bytes()), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn python_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut literal = b"b'".to_vec();
            for byte in &bytes {
                match byte {
                    b'\'' | b'\\' => literal.extend([b'\\', *byte]),
                    b'\n' => literal.extend(b"\\n"),
                    0x20..=0x7e => literal.push(*byte),
                    other => literal.extend(format!("\\x{other:02x}").bytes()),
                }
            }
            literal.push(b'\'');
            let length = literal.len();
            literal.extend(b" 'tail");
            prop_assert_eq!(read(&literal), Some((bytes, length)));
        }

        #[test]
        fn no_text_makes_it_panic(text in r#"b?['"`]([a-f0-9{}\\uUxn'"]|\\u|\\x){0,24}"#) {
            let _ = read(text.as_bytes());
        }
    }
}
