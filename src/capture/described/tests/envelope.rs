//! The generic envelope has a reader of its own: it reads as its description says.

use super::*;
use crate::capture::sink::{Block, FileFacts};
use proptest::prelude::*;

fn decode(format: &dyn Format, line: &str) -> Vec<String> {
    let bytes = Arc::new(format!("{line}\n").into_bytes());
    let block = Block { offset: 0, used: bytes.len(), bytes, first: true, last: true };
    let decoded = format.decode(&block, &FileFacts::default());
    assert!(decoded.tally.closes());
    decoded.messages.iter().map(shown).collect()
}

proptest! {
    #[test]
    fn the_fast_reader_and_the_description_agree(
        body in any::<prop::sample::Index>(),
        time in any::<prop::sample::Index>(),
        direction in any::<prop::sample::Index>(),
        session in any::<prop::sample::Index>(),
        server in any::<prop::sample::Index>(),
        said in any::<prop::sample::Index>(),
        as_text in any::<bool>(),
        before in any::<bool>(),
        id in 0..9_u32,
        answers in any::<bool>(),
    ) {
        let names = envelope();
        let message = match answers {
            true => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"messages":[]}}}}"#),
            false => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"prompts/get","params":{{"name":"p","arguments":{{"a":"{id}"}}}}}}"#),
        };
        let message = if as_text { serde_json::Value::from(message).to_string() } else { message };
        let mut words: Vec<&str> = names.words.iter().map(|(word, _)| word.as_str()).collect();
        words.push("request");
        let facts = format!(
            r#""{}":"2026-02-01T10:00:00.5Z","{}":"{}","{}":"s-1","{}":"desk""#,
            time.get(&names.time), direction.get(&names.direction), said.get(&words), session.get(&names.session), server.get(&names.server)
        );
        let body = format!(r#""{}":{message}"#, body.get(&names.body));
        let line = if before { format!("{{{facts},{body}}}") } else { format!("{{{body},{facts}}}") };
        let described = one("envelope", ENVELOPE).unwrap();
        let fast = Formats::default().named("envelope");
        let (described, fast) = (decode(described[0], &line), decode(fast[0], &line));
        prop_assert_eq!(described.len(), 1, "{}", line);
        prop_assert_eq!(described, fast, "{}", line);
    }
}
