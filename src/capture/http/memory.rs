//! What earlier exchanges of a file told about later ones. Everything is bounded: the oldest is forgotten first.

use super::talk::session_in;
use crate::protocol::json::digest;
use crate::protocol::message::{Id, Text};
use std::collections::VecDeque;
use std::hash::Hash;

/// Things remembered of each kind.
const ROOM: usize = 1 << 16;

type Map<K, V> = std::collections::HashMap<K, V, ahash::RandomState>;

/// A map that forgets its oldest entry when it is full.
#[derive(Debug)]
pub struct Recent<K, V> {
    known: Map<K, V>,
    order: VecDeque<K>,
    room: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { known: Map::default(), order: VecDeque::new(), room: ROOM }
    }
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    pub fn get(&self, key: &K) -> Option<&V> {
        self.known.get(key)
    }

    pub fn contains(&self, key: &K) -> bool {
        self.known.contains_key(key)
    }

    pub fn insert(&mut self, key: K, value: V) {
        if self.known.insert(key.clone(), value).is_some() {
            return;
        }
        self.order.push_back(key);
        // Keys that were taken out meanwhile still stand in the order; each is dropped once.
        while self.order.len() > self.room
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.known.remove(key)
    }
}

/// What is remembered while exchanges are understood, in the order of the file.
#[derive(Debug, Default)]
pub struct Memory {
    /// Servers that were seen to speak the protocol.
    servers: Recent<Text, ()>,
    /// Path and query that an `endpoint` event named, and the session it stands for.
    endpoints: Recent<String, Text>,
    /// Events by room, id and content, and whether a stream that went on behind a `Last-Event-ID` showed them.
    events: Recent<u64, bool>,
    /// Requests that the parts of an exchange which have come do not answer.
    open: Recent<u64, Vec<Id>>,
}

impl Memory {
    pub fn speaks_mcp(&self, server: &Text) -> bool {
        self.servers.contains(server)
    }

    /// Requests of an exchange that its parts so far do not answer.
    pub fn take_open(&mut self, exchange: u64) -> Vec<Id> {
        self.open.remove(&exchange).unwrap_or_default()
    }

    pub fn leave_open(&mut self, exchange: u64, requests: Vec<Id>) {
        if !requests.is_empty() {
            self.open.insert(exchange, requests);
        }
    }

    pub fn learn_server(&mut self, server: &Text) {
        if !self.servers.contains(server) {
            self.servers.insert(server.clone(), ());
        }
    }

    /// The session of requests to a path and query.
    pub fn session_at(&self, target: &str) -> Option<Text> {
        self.endpoints.get(&target.to_owned()).cloned()
    }

    /// Remembers where the requests of a stream's session go (the `endpoint` event of 2024-11-05) and names the session.
    pub fn learn_endpoint(&mut self, endpoint: &str) -> Text {
        let path = match endpoint.split_once("://") {
            Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
            None => endpoint,
        };
        let session = path.split_once('?').and_then(|(_, query)| session_in(query)).unwrap_or_else(|| path.into());
        self.endpoints.insert(path.to_owned(), session.clone());
        session
    }

    /// Whether an event was shown before: a client that lost its stream has the server repeat what it missed, under the
    /// same ids. Servers that count from 1 in each stream repeat ids, not contents.
    pub fn was_shown(&mut self, room: &Text, id: &[u8], content: u64, replay: bool) -> bool {
        let mut key = Vec::with_capacity(room.len() + id.len() + 16);
        key.extend_from_slice(room.as_bytes());
        key.push(0);
        key.extend_from_slice(id);
        key.push(0);
        key.extend_from_slice(&content.to_le_bytes());
        let key = digest(&key);
        let shown = self.events.get(&key).is_some_and(|by_replay| replay || *by_replay);
        if !shown {
            self.events.insert(key, replay);
        }
        shown
    }
}

/// What is remembered while messages are given out, in the order of their times.
#[derive(Debug, Default)]
pub struct Given {
    /// Of legacy sessions: the server's label. The stream and the requests have different addresses.
    pub labels: Recent<Text, Text>,
    /// Rooms whose client has asked for prompts.
    pub listed: Recent<Text, ()>,
    /// Questions of servers that were given out and not answered.
    pub questions: Recent<(Text, Id), ()>,
    /// Requests whose answer comes on another exchange's stream.
    pub outstanding: Recent<(Text, Id), ()>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut recent: Recent<u32, u32> = Recent { room: 2, ..Recent::default() };
        recent.insert(1, 1);
        recent.insert(2, 2);
        recent.insert(1, 3);
        recent.insert(3, 3);
        assert_eq!([1, 2, 3].map(|key| recent.get(&key).copied()), [None, Some(2), Some(3)]);
        assert_eq!(recent.remove(&2), Some(2));
        recent.insert(4, 4);
        assert_eq!([3, 4].map(|key| recent.contains(&key)), [true, true]);
    }

    #[test]
    fn endpoints_name_sessions() {
        let mut memory = Memory::default();
        assert_eq!(&*memory.learn_endpoint("/messages?x=1&session_id=abc"), "abc");
        assert_eq!(&*memory.learn_endpoint("https://a.test/messages/?sessionId=def"), "def");
        assert_eq!(&*memory.learn_endpoint("/messages/ghi"), "/messages/ghi");
        assert_eq!(memory.session_at("/messages/ghi").as_deref(), Some("/messages/ghi"));
        assert_eq!(memory.session_at("/messages/?sessionId=def").as_deref(), Some("def"));
        assert_eq!(memory.session_at("/messages"), None);
    }

    #[test]
    fn a_repeated_event_is_one_that_a_resumed_stream_shows() {
        let mut memory = Memory::default();
        let (room, other): (Text, Text) = ("s".into(), "t".into());
        assert!(!memory.was_shown(&room, b"1", 10, false));
        assert!(!memory.was_shown(&room, b"1", 10, false), "ids that begin anew with each stream");
        assert!(!memory.was_shown(&room, b"1", 11, true), "another content");
        assert!(memory.was_shown(&room, b"1", 11, false), "the resumed stream stands first");
        assert!(memory.was_shown(&room, b"1", 10, true));
        assert!(!memory.was_shown(&other, b"1", 10, true));
    }
}
