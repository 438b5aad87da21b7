//! The names of members and the words for who sent a message that captures use: those of `envelope.toml`, made ready for
//! being looked up at every member of every line.

use crate::capture::described::{self, Names};
use crate::capture::formats::About;
use crate::capture::sink::Side;
use std::sync::LazyLock;

/// What a word says about the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Side(Side),
    /// Standard error and remarks of the recorder.
    NoMessage,
}

/// What a member's name means, with its rank among those that mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    Payload(usize),
    Direction(usize),
    Time(usize),
    Session(usize),
    Server(usize),
    Client(usize),
    Version,
    Nothing,
}

/// A table of short texts, by their length and their ends.
struct Table<T> {
    rooms: Vec<Vec<(Box<[u8]>, T)>>,
}

const ROOMS: usize = 512;

fn room(text: &[u8]) -> usize {
    let (first, last) = (text.first().copied().unwrap_or(0), text.last().copied().unwrap_or(0));
    (text.len() * 37 + usize::from(first) * 5 + usize::from(last)) % ROOMS
}

impl<T: Copy> Table<T> {
    fn new(entries: impl IntoIterator<Item = (Box<[u8]>, T)>) -> Self {
        let mut rooms: Vec<Vec<(Box<[u8]>, T)>> = (0..ROOMS).map(|_| Vec::new()).collect();
        for (text, value) in entries {
            if let Some(room) = rooms.get_mut(room(&text)) {
                room.push((text, value));
            }
        }
        Self { rooms }
    }

    fn get(&self, text: &[u8]) -> Option<T> {
        let room = self.rooms.get(room(text))?;
        room.iter().find(|(known, _)| **known == *text).map(|(_, value)| *value)
    }
}

/// What `envelope.toml` says.
pub struct Envelope {
    /// Members that hold the message, first choice first.
    pub payloads: Vec<String>,
    names: Table<Means>,
    words: Table<Word>,
    pub about: About,
}

impl Envelope {
    pub fn get() -> &'static Self {
        static ENVELOPE: LazyLock<Envelope> = LazyLock::new(|| Envelope::new(described::envelope()));
        &ENVELOPE
    }

    fn new(names: Names) -> Self {
        let of = |names: &[String], means: fn(usize) -> Means| -> Vec<(Box<[u8]>, Means)> {
            names.iter().enumerate().map(|(rank, name)| (name.as_bytes().into(), means(rank))).collect()
        };
        let members = [
            of(&names.body, Means::Payload),
            of(&names.direction, Means::Direction),
            of(&names.time, Means::Time),
            of(&names.session, Means::Session),
            of(&names.server, Means::Server),
            of(&names.client, Means::Client),
            vec![(b"jsonrpc".as_slice().into(), Means::Version)],
        ];
        let said = names.words.iter().map(|(word, side)| (word, Word::Side(*side)));
        let noise = names.noise.iter().map(|word| (word, Word::NoMessage));
        let words = said.chain(noise).filter_map(|(word, said)| Some((spelled(word)?.text().into(), said)));
        Self {
            names: Table::new(members.into_iter().flatten()),
            words: Table::new(words),
            payloads: names.body,
            about: names.about,
        }
    }

    /// What a member's name means.
    pub fn means(&self, name: &[u8]) -> Means {
        self.names.get(name).unwrap_or(Means::Nothing)
    }

    /// Reads a word; `None` for one that says nothing about the sender.
    pub fn word(&self, inside: &[u8]) -> Option<Word> {
        self.words.get(spelled(std::str::from_utf8(inside).ok()?)?.text())
    }
}

/// As [`Envelope::word`].
pub fn word(inside: &[u8]) -> Option<Word> {
    Envelope::get().word(inside)
}

/// A word without what spelling adds: case, and what joins the two ends.
struct Spelled {
    // The longest word known has 18 letters.
    letters: [u8; 24],
    length: usize,
}

impl Spelled {
    fn text(&self) -> &[u8] {
        self.letters.get(..self.length).unwrap_or_default()
    }
}

fn spelled(word: &str) -> Option<Spelled> {
    let mut spelled = Spelled { letters: [0; 24], length: 0 };
    for letter in word.chars() {
        let plain = match letter {
            '\u{2192}' => b'>',
            '-' | '_' | ' ' => continue,
            letter => u8::try_from(letter).ok()?.to_ascii_lowercase(),
        };
        *spelled.letters.get_mut(spelled.length)? = plain;
        spelled.length += 1;
    }
    Some(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::message::Direction::{ClientToServer, ServerToClient};

    #[test]
    fn spelling_does_not_matter() {
        for (text, said) in [
            ("c2s", Some(Word::Side(Side::Said(ClientToServer)))),
            ("Client \u{2192} Server", Some(Word::Side(Side::Said(ClientToServer)))),
            ("SERVER_TO_CLIENT", Some(Word::Side(Side::Said(ServerToClient)))),
            ("Incoming", Some(Word::Side(Side::Inward(true)))),
            ("sent", Some(Word::Side(Side::Inward(false)))),
            ("stderr", Some(Word::NoMessage)),
            ("request", None),
            ("response", None),
            ("", None),
            ("a word that is much longer than any that is known", None),
        ] {
            assert_eq!(word(text.as_bytes()), said, "{text}");
        }
    }

    #[test]
    fn the_file_is_whole() {
        let envelope = Envelope::get();
        assert_eq!(envelope.payloads.first().map(String::as_str), Some("raw"));
        assert_eq!(envelope.payloads.len(), 12);
        assert_eq!(envelope.means(b"rpc"), Means::Payload(11));
        assert_eq!(envelope.means(b"timeUnixNano"), Means::Time(10));
        assert_eq!(envelope.means(b"client"), Means::Client(1));
        assert_eq!(envelope.means(b"jsonrpc"), Means::Version);
        assert_eq!(envelope.means(b"level"), Means::Nothing);
    }
}
