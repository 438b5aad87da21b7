//! The words that captures use for who sent a message.

use crate::capture::sink::Side;
use crate::protocol::message::Direction;

/// What a word says about the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Side(Side),
    /// Standard error and remarks of the recorder.
    NoMessage,
}

/// Reads a word; `None` for one that says nothing about the sender (`request` and `response` are kinds of messages).
pub fn word(inside: &[u8]) -> Option<Word> {
    use Direction::{ClientToServer, ServerToClient};
    // The longest word known has 18 letters; spelling varies in case and in what joins the two ends.
    let mut letters = [0_u8; 24];
    let mut length = 0;
    let text = std::str::from_utf8(inside).ok()?;
    for letter in text.chars() {
        let plain = match letter {
            '\u{2192}' => b'>',
            '-' | '_' | ' ' => continue,
            letter => u8::try_from(letter).ok()?.to_ascii_lowercase(),
        };
        *letters.get_mut(length)? = plain;
        length += 1;
    }
    Some(Word::Side(match letters.get(..length)? {
        b"c2s" | b"client>server" | b"clienttoserver" | b"client2server" | b"toserver" | b"client" | b"fromclient" => {
            Side::Said(ClientToServer)
        }
        b"s2c" | b"server>client" | b"servertoclient" | b"server2client" | b"toclient" | b"server" | b"fromserver" => {
            Side::Said(ServerToClient)
        }
        b"in" | b"incoming" | b"inbound" | b"receive" | b"received" | b"recv" | b"read" | b"rx" => Side::Inward(true),
        b"out" | b"outgoing" | b"outbound" | b"send" | b"sent" | b"write" | b"written" | b"tx" => Side::Inward(false),
        b"stderr" | b"meta" => return Some(Word::NoMessage),
        _ => return None,
    }))
}
