//! Which session a message belongs to (protocol.md, "Sessions"): an explicit key of the capture, else a lane, else a
//! group of stateless traffic.
//!
//! A *scope* is the room within which ids can collide: one explicit key, or one stream and server label. A *lane* is
//! one connection within a scope. An explicit key has one lane; without a key the lanes are cut by handshakes and by
//! the chain of ids.

mod lanes;

use super::{At, Map};
use crate::protocol::message::{Connection, Direction, Elicits, Id, Implementation, Text, Ts};
use crate::schema::{SessionQuality, SessionRow};
use serde::{Deserialize, Serialize};

/// Lanes that a new request or notification can still fall to; answers find older ones by their id.
const LIVE_LANES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Rule {
    Capture,
    Lane,
    Stateless,
}

impl Rule {
    fn word(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Lane => "lane",
            Self::Stateless => "stateless",
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Session {
    /// `None` until a stateless group has learnt its server, or has to be named without it.
    name: Option<Text>,
    /// What the name is made from.
    base: Text,
    rule: Rule,
    quality: SessionQuality,
    pub server: Option<Implementation>,
    label: Option<Text>,
    pub client: Option<Implementation>,
    client_label: Option<Text>,
    pub protocol: Option<Text>,
    pub elicits: Option<Elicits>,
    pub list_changed: Option<bool>,
    first: At,
    last_seq: u64,
    first_ts: Option<Ts>,
    last_ts: Option<Ts>,
    messages: u64,
    /// A stateless group that turned out to be another one.
    merged_into: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Handshake {
    None,
    Sent,
    Answered,
    Done,
}

/// A request that can carry questions and is still open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CarrierRef {
    pub id: Id,
    pub seq: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lane {
    pub scope: u32,
    session: u32,
    /// Index among the scope's lanes.
    number: u32,
    /// Began with `initialize` or `server/discover`.
    opened: bool,
    handshake: Handshake,
    last_c2s: Option<i64>,
    last_s2c: Option<i64>,
    /// The client has sent something.
    heard_client: bool,
    first_file: u32,
    pub carriers: Vec<CarrierRef>,
}

impl Lane {
    fn last(&self, asker: Direction) -> Option<i64> {
        match asker {
            Direction::ClientToServer => self.last_c2s,
            Direction::ServerToClient => self.last_s2c,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Scope {
    explicit: bool,
    base: Text,
    label: Option<Text>,
    client_label: Option<Text>,
    /// In order of opening.
    lanes: Vec<u32>,
    /// Last used first.
    recent: Vec<u32>,
    stateless: Vec<(Option<Implementation>, u32)>,
    /// Some lane began with a handshake.
    handshakes: bool,
    /// Range of lane numbers last marked as open together.
    together: Option<(u32, u32)>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Sessions {
    sessions: Vec<Session>,
    pub lanes: Vec<Lane>,
    scopes: Vec<Scope>,
    /// Explicit keys, each with the server labels it was seen with.
    keys: Map<Text, Vec<u32>>,
    streams: Map<(Text, Option<Text>), u32>,
    groups: Map<(Text, Option<Implementation>), u32>,
    /// Names in use, each with the number of times it was asked for.
    names: Map<Text, u32>,
}

/// What a row says about its session.
pub(super) struct Facts {
    pub name: Text,
    pub server: Option<Text>,
    pub client: Option<Text>,
    pub client_version: Option<Text>,
    pub protocol: Option<Text>,
}

impl Sessions {
    /// The scope of a connection, made where it is new.
    pub fn scope(&mut self, connection: &Connection) -> u32 {
        match &connection.session {
            Some(key) => self.explicit_scope(key, connection),
            None => {
                let key = (connection.stream.clone(), connection.server.clone());
                if let Some(&scope) = self.streams.get(&key) {
                    return scope;
                }
                let base = connection.server.clone().unwrap_or_else(|| stem(&connection.stream));
                let scope = self.add_scope(false, base, connection);
                self.streams.insert(key, scope);
                scope
            }
        }
    }

    /// A record without a server label belongs to the key's first session; a label that comes later is adopted.
    fn explicit_scope(&mut self, key: &Text, connection: &Connection) -> u32 {
        let known: &[u32] = self.keys.get(key).map_or(&[], Vec::as_slice);
        let label = &connection.server;
        let exact = known.iter().find(|scope| self.scopes[**scope as usize].label == *label);
        let open = known.iter().find(|scope| label.is_none() || self.scopes[**scope as usize].label.is_none());
        if let Some(&scope) = exact.or(open) {
            let found = &mut self.scopes[scope as usize];
            if found.label.is_none() && label.is_some() {
                found.label.clone_from(label);
                if let Some(&lane) = found.lanes.first() {
                    let session = self.lanes[lane as usize].session;
                    self.sessions[session as usize].label.clone_from(label);
                }
            }
            return scope;
        }
        let base = match label {
            Some(label) if !known.is_empty() => format!("{key}@{label}").into(),
            _ => key.clone(),
        };
        let scope = self.add_scope(true, base, connection);
        self.keys.entry(key.clone()).or_default().push(scope);
        scope
    }

    fn add_scope(&mut self, explicit: bool, base: Text, connection: &Connection) -> u32 {
        self.scopes.push(Scope {
            explicit,
            base,
            label: connection.server.clone(),
            client_label: connection.client.clone(),
            lanes: Vec::new(),
            recent: Vec::new(),
            stateless: Vec::new(),
            handshakes: false,
            together: None,
        });
        index(self.scopes.len() - 1)
    }

    pub fn explicit(&self, scope: u32) -> bool {
        self.scopes[scope as usize].explicit
    }

    fn only_lane(&mut self, scope: u32, at: At) -> u32 {
        match self.scopes[scope as usize].lanes.last() {
            Some(&lane) => lane,
            None => self.add_lane(scope, at),
        }
    }

    fn add_lane(&mut self, scope: u32, at: At) -> u32 {
        let room = &self.scopes[scope as usize];
        let (rule, quality) = match room.explicit {
            true => (Rule::Capture, SessionQuality::Exact),
            false => (Rule::Lane, SessionQuality::Cut),
        };
        let name = match room.explicit {
            true => unique(&mut self.names, &room.base),
            false => numbered(&mut self.names, &room.base),
        };
        let number = index(room.lanes.len());
        let lane = self.push_lane(scope, number, rule, quality, Some(name), at);
        self.scopes[scope as usize].lanes.push(lane);
        lane
    }

    fn stateless_lane(&mut self, scope: u32, client: Option<&Implementation>, at: At) -> u32 {
        let room = &self.scopes[scope as usize];
        if let Some((_, lane)) = room.stateless.iter().find(|(known, _)| known.as_ref() == client) {
            return *lane;
        }
        let label = room.label.clone();
        let lane = self.push_lane(scope, u32::MAX, Rule::Stateless, SessionQuality::Stateless, None, at);
        self.scopes[scope as usize].stateless.push((client.cloned(), lane));
        let session = self.lanes[lane as usize].session;
        self.sessions[session as usize].client = client.cloned();
        if let Some(label) = label {
            self.group(lane, label);
        }
        lane
    }

    fn push_lane(
        &mut self,
        scope: u32,
        number: u32,
        rule: Rule,
        quality: SessionQuality,
        name: Option<Text>,
        at: At,
    ) -> u32 {
        let room = &self.scopes[scope as usize];
        self.sessions.push(Session {
            name,
            base: room.base.clone(),
            rule,
            quality,
            server: None,
            label: room.label.clone(),
            client: None,
            client_label: room.client_label.clone(),
            protocol: None,
            elicits: None,
            list_changed: None,
            first: at,
            last_seq: at.seq,
            first_ts: at.ts,
            last_ts: at.ts,
            messages: 0,
            merged_into: None,
        });
        self.lanes.push(Lane {
            scope,
            session: index(self.sessions.len() - 1),
            number,
            opened: false,
            handshake: Handshake::None,
            last_c2s: None,
            last_s2c: None,
            heard_client: false,
            first_file: at.file,
            carriers: Vec::new(),
        });
        index(self.lanes.len() - 1)
    }

    /// Puts a stateless lane into the group of its server and client.
    fn group(&mut self, lane: u32, server: Text) {
        let own = self.lanes[lane as usize].session;
        let client = self.sessions[own as usize].client.clone();
        let Some(&group) = self.groups.get(&(server.clone(), client.clone())) else {
            let client_name = client.as_ref().map_or("unknown client", |client| &client.name);
            let version = client.as_ref().and_then(|client| client.version.as_deref());
            let version = version.map(|version| format!(" {version}")).unwrap_or_default();
            self.sessions[own as usize].name =
                Some(unique(&mut self.names, &format!("{server}/{client_name}{version}")));
            self.groups.insert((server, client), own);
            return;
        };
        if group == own {
            return;
        }
        let merged = self.sessions[own as usize].clone();
        self.sessions[own as usize].merged_into = Some(group);
        let kept = &mut self.sessions[group as usize];
        kept.messages += merged.messages;
        kept.last_seq = kept.last_seq.max(merged.last_seq);
        kept.first_ts = earliest(kept.first_ts, merged.first_ts);
        kept.last_ts = kept.last_ts.max(merged.last_ts);
        if merged.first.seq < kept.first.seq {
            kept.first = merged.first;
        }
    }

    pub fn answered(&mut self, lane: u32) {
        let found = &mut self.lanes[lane as usize];
        if found.handshake == Handshake::Sent {
            found.handshake = Handshake::Answered;
        }
    }

    fn resolve(&self, session: u32) -> u32 {
        self.sessions[session as usize].merged_into.unwrap_or(session)
    }

    /// The number of a lane's session; equal numbers are one session.
    pub fn session_of(&self, lane: u32) -> u32 {
        self.resolve(self.lanes[lane as usize].session)
    }

    pub fn session_mut(&mut self, lane: u32) -> &mut Session {
        let session = self.session_of(lane);
        &mut self.sessions[session as usize]
    }

    pub fn protocol(&self, lane: u32) -> Option<Text> {
        self.sessions[self.session_of(lane) as usize].protocol.clone()
    }

    /// A server told its name.
    pub fn learn_server(&mut self, lane: u32, server: &Implementation) {
        let session = self.session_mut(lane);
        if session.server.is_none() {
            session.server = Some(server.clone());
        }
        if session.rule == Rule::Stateless && session.name.is_none() {
            self.group(lane, server.name.clone());
        }
    }

    /// The server of a handshake. Under an explicit key a handshake with another server begins another session, because
    /// a session never spans two; what follows under the key belongs to it. Returns the lane of that session.
    pub fn handshake_server(&mut self, lane: u32, server: &Implementation) -> u32 {
        let scope = self.lanes[lane as usize].scope;
        let known = |sessions: &Self, lane: u32| {
            let session = &sessions.sessions[sessions.session_of(lane) as usize];
            session.server.as_ref().map(|server| server.name.clone())
        };
        let other = known(self, lane).is_some_and(|name| name != server.name);
        if !self.explicit(scope) || !other {
            self.learn_server(lane, server);
            return lane;
        }
        let own =
            self.scopes[scope as usize].lanes.iter().position(|&lane| known(self, lane).as_ref() == Some(&server.name));
        if let Some(at) = own {
            let lanes = &mut self.scopes[scope as usize].lanes;
            lanes[at..].rotate_left(1);
            return lanes.last().copied().unwrap_or(lane);
        }
        let before = self.session_mut(lane).clone();
        let name = unique(&mut self.names, &format!("{}@{}", before.base, server.name));
        let at = At { seq: before.last_seq, ts: before.last_ts, ..before.first };
        let number = index(self.scopes[scope as usize].lanes.len());
        let added = self.push_lane(scope, number, Rule::Capture, SessionQuality::Exact, Some(name), at);
        self.scopes[scope as usize].lanes.push(added);
        let session = self.session_mut(added);
        session.client = before.client;
        session.elicits = before.elicits;
        session.protocol = before.protocol;
        session.server = Some(server.clone());
        added
    }

    /// What a row of this lane says about its session.
    pub fn facts(&mut self, lane: u32) -> Facts {
        let number = self.session_of(lane) as usize;
        if self.sessions[number].name.is_none() {
            let base = self.sessions[number].base.clone();
            self.group(lane, base);
        }
        let number = self.session_of(lane) as usize;
        let session = &self.sessions[number];
        Facts {
            name: session.name.clone().unwrap_or_else(|| session.base.clone()),
            server: session.server.as_ref().map(|server| server.name.clone()).or_else(|| session.label.clone()),
            client: session.client.as_ref().map(|client| client.name.clone()).or_else(|| session.client_label.clone()),
            client_version: session.client.as_ref().and_then(|client| client.version.clone()),
            protocol: session.protocol.clone(),
        }
    }

    /// All sessions as rows, in order of their first message.
    pub fn rows(&mut self, file: impl Fn(u32) -> Text) -> Vec<SessionRow> {
        for lane in 0..self.lanes.len() {
            self.facts(index(lane));
        }
        let mut rows: Vec<SessionRow> = Vec::with_capacity(self.sessions.len());
        for session in self.sessions.iter().filter(|session| session.merged_into.is_none()) {
            rows.push(SessionRow {
                session: session.name.clone().unwrap_or_else(|| session.base.clone()),
                session_rule: session.rule.word().into(),
                session_quality: session.quality,
                server: session.server.as_ref().map(|server| server.name.clone()),
                server_version: session.server.as_ref().and_then(|server| server.version.clone()),
                server_label: session.label.clone(),
                client: session
                    .client
                    .as_ref()
                    .map(|client| client.name.clone())
                    .or_else(|| session.client_label.clone()),
                client_version: session.client.as_ref().and_then(|client| client.version.clone()),
                protocol: session.protocol.clone(),
                file: file(session.first.file),
                position: session.first.position,
                first_ts: session.first_ts,
                last_ts: session.last_ts,
                first_seq: session.first.seq,
                last_seq: session.last_seq,
                messages: session.messages,
                elicitation_form: session.elicits.map(|elicits| elicits.form),
                elicitation_url: session.elicits.map(|elicits| elicits.url),
                prompts_list_changed: session.list_changed,
            });
        }
        rows.sort_by_key(|row| row.first_seq);
        rows
    }
}

fn earliest(a: Option<Ts>, b: Option<Ts>) -> Option<Ts> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Counts in memory stay far below this type's limit: a lane alone takes more bytes than there are addresses.
fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The file's name without folders and extension.
fn stem(stream: &str) -> Text {
    let name = stream.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("capture");
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.into(),
        _ => name.into(),
    }
}

fn numbered(names: &mut Map<Text, u32>, base: &str) -> Text {
    // The counter of a base has a name of its own that no session can have.
    let count = names.entry(format!("{base}#").into()).or_default();
    *count += 1;
    let name = format!("{base}#{count}");
    unique(names, &name)
}

fn unique(names: &mut Map<Text, u32>, wanted: &str) -> Text {
    let mut name: Text = wanted.into();
    while names.contains_key(&name) {
        let count = names.entry(wanted.into()).or_insert(1);
        *count += 1;
        name = format!("{wanted}~{count}").into();
    }
    names.insert(name.clone(), 1);
    name
}
