//! A batch within a batch: JSON-RPC 2.0 knows arrays of messages, and no arrays of arrays. SDKs refuse such a record, and
//! a reader who takes its members for noise loses calls without a word.

use super::rpc::Rpc;
use super::skim::{Cursor, Span};

/// Why it is rejected, and what to do.
pub const REASON: &str = "a batch within a batch, which JSON-RPC forbids: its messages are not read; move them into the \
                          outer array, or give each a line of its own, and read the file again";

/// Whether an array holds a message, however deep: only then its loss is one.
pub fn holds_message(bytes: &[u8], array: Span) -> bool {
    let mut cursor = Cursor::new(bytes.get(..array.to).unwrap_or_default(), array.from);
    let mut step = || {
        let byte = cursor.peek()?;
        match byte {
            b'[' | b']' | b',' => cursor.take(byte).map(|()| false),
            b'{' => {
                let rpc = Rpc::read(&mut cursor)?;
                let words = rpc.method.is_none_or(|method| method.of(bytes).first() == Some(&b'"'));
                Some(rpc.is_message() && words)
            }
            _ => cursor.value().map(|_| false),
        }
    };
    std::iter::from_fn(&mut step).any(|message| message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds(text: &str) -> bool {
        holds_message(text.as_bytes(), Span { from: 0, to: text.len() })
    }

    #[test]
    fn only_messages_count_and_at_any_depth() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for text in [format!("[{ping}]"), format!("[1, [ [{ping}] ]]"), format!("[[],\"x\",[{{\"a\":1}},{ping}]]")] {
            assert!(holds(&text), "{text}");
        }
        for text in ["[]", "[[1,2],[3]]", r#"[{"a":[{"method":"ping"}]}]"#, r#"[{"method":5}]"#, r#"["method"]"#] {
            assert!(!holds(text), "{text}");
        }
        let deep = format!("{}{ping}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(holds(&deep));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_or_run_for_ever(text in r#"[\[\]{},:"a1 \\]{0,80}"#) {
            holds(&text);
        }
    }
}
