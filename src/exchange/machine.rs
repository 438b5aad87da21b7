//! The machine: takes one message after the other and sends each to the part that knows it.

use super::check::Checker;
use super::contract::Contract;
use super::elicit::Elicitations;
use super::ledger::{Counted, Files, Ledger, UNKNOWN};
use super::operations::Operations;
use super::pair::{Ask, Carrier, Open, OpenKey, Orphan, Reply, Requests};
use super::session::{CarrierRef, Sessions};
use super::{At, Sink, Snapshot};
use crate::protocol::elicitation::{Mode, Question};
use crate::protocol::message::{
    Answer, Captured, Direction, Id, Kind, Message, Notification, PromptName, Request, RequestBody, Shape, Text,
};
use crate::protocol::parse::sender;
use crate::protocol::prompt::{Arguments, ArgumentsAs, Completion};
use crate::schema::OperationKind;
use serde::{Deserialize, Serialize};

/// Everything that outlives a run, but for the messages seen.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Core {
    pub seq: u64,
    pub files: Files,
    pub ledger: Ledger,
    pub sessions: Sessions,
    pub requests: Requests,
    pub operations: Operations,
    pub elicitations: Elicitations,
    pub contract: Contract,
}

/// Where rows go, and what checks answers.
pub(super) struct Out<'a> {
    pub sink: &'a mut dyn Sink,
    pub checker: &'a mut Checker,
}

/// What is true of a message whatever it says.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Wire {
    pub at: At,
    pub scope: u32,
    pub direction: Option<Direction>,
    pub batch: bool,
    pub captured: Captured,
    pub bytes: u32,
    /// Requests of the other side that came later in the reading order than this cannot have been open.
    pub before: Option<u64>,
}

impl Orphan {
    fn wire(&self, key: &OpenKey) -> Wire {
        Wire {
            at: self.at,
            scope: key.scope,
            direction: Some(key.asker.opposite()),
            batch: false,
            captured: self.captured,
            bytes: self.bytes,
            before: None,
        }
    }
}

impl Core {
    pub fn message(&mut self, message: Message, at: At, scope: u32, out: &mut Out<'_>) {
        let Message { direction, batch, captured, bytes, kind, unread, .. } = message;
        let wire = Wire { at, scope, direction, batch, captured, bytes, before: None };
        if let Some(sender) = direction {
            self.files.heard(at.file, sender);
        }
        match kind {
            Kind::Request { id, request } => self.request(wire, id, request, out),
            Kind::Notification(notification) => self.notification(wire, notification, out),
            Kind::Result { id, answer } => self.reply(wire, id, Reply::Result { answer, unread }, out),
            Kind::Error { id, error } => self.reply(wire, id, Reply::Error(error), out),
        }
    }

    fn request(&mut self, wire: Wire, id: Id, request: Request, out: &mut Out<'_>) {
        let Wire { at, scope, captured, bytes, .. } = wire;
        let asker = wire
            .direction
            .or_else(|| sender(&request.method, true))
            .unwrap_or_else(|| self.sessions.likely_asker(scope, &id));
        let lane = self.sessions.of_request(scope, asker, &id, &request, at);
        self.sessions.touch(lane, asker, at);
        let method = self.ledger.method(&request.method);
        self.ledger.count(at.file, method, Counted::Request, Some(asker), bytes);
        let key = OpenKey { scope, asker, id };
        self.learn(lane, &request);
        let early = self.other_half(&key, at);
        let ask = self.ask(Wire { before: early, ..wire }, lane, request, out);
        if matches!(ask, Ask::Carrier(_)) {
            self.sessions.lanes[lane as usize].carriers.push(CarrierRef { id: key.id.clone(), seq: at.seq });
        }
        let open = Open { lane, at, method, bytes, captured, ask };
        let answer = early.and_then(|_| self.requests.take_orphan(&key, &open, self.sessions.explicit(scope)));
        if let Some(orphan) = answer {
            let wire = orphan.wire(&key);
            self.answered(wire, open, orphan.reply, out);
        } else if let Some(open) = self.requests.add(key, open, self.sessions.explicit(scope)) {
            self.never_answered(asker, open, out);
        }
    }

    /// Where in the reading order the answer of a request stands that is read only now, because the other half of an
    /// untimed capture came first.
    fn other_half(&self, key: &OpenKey, at: At) -> Option<u64> {
        let kept = self.requests.orphans.get(key)?.first()?.at;
        let half = self.files.half_of(kept.file, key.asker.opposite());
        (half && kept.file != at.file && kept.ts.is_none() && at.ts.is_none()).then_some(kept.seq)
    }

    /// Revision 2026-07-28 says with every request what older ones say once.
    fn learn(&mut self, lane: u32, request: &Request) {
        let meta = &request.meta;
        if meta.client.is_some() || meta.protocol.is_some() || meta.capabilities.is_some() {
            let session = self.sessions.session_mut(lane);
            if session.client.is_none() {
                session.client.clone_from(&meta.client);
            }
            if session.protocol.is_none() {
                session.protocol.clone_from(&meta.protocol);
            }
            session.elicits = meta.capabilities.or(session.elicits);
        }
        if let RequestBody::Initialize { protocol, client, elicits } = &request.body {
            let session = self.sessions.session_mut(lane);
            session.client = client.clone().or_else(|| session.client.take());
            session.protocol = protocol.clone().or_else(|| session.protocol.take());
            session.elicits = Some(*elicits);
        }
    }

    fn ask(&mut self, wire: Wire, lane: u32, request: Request, out: &mut Out<'_>) -> Ask {
        let Request { method, mut meta, body } = request;
        match body {
            RequestBody::Initialize { .. } | RequestBody::Discover => Ask::Handshake,
            RequestBody::PromptsList { first } => Ask::List { first },
            RequestBody::Complete(completion) => Ask::Complete(completion),
            RequestBody::PromptsGet { name, arguments } => {
                Ask::Carrier(self.prompt_call(wire, lane, name, arguments, &mut meta, out))
            }
            RequestBody::Operation { name, arguments } => {
                let carrier = Carrier { kind: operation_kind(&method), name, signature: arguments, operation: None };
                Ask::Carrier(self.operation_request(wire, lane, carrier, &mut meta, out))
            }
            RequestBody::Elicit(question) => Ask::Elicit(self.question(wire, lane, *question, out)),
            RequestBody::Other => match &*method {
                "prompts/get" => {
                    let arguments = Arguments { shape: ArgumentsAs::NotCaptured, entries: Vec::new() };
                    let name = PromptName::NotCaptured;
                    Ask::Carrier(self.prompt_call(wire, lane, name, arguments, &mut meta, out))
                }
                "prompts/list" => Ask::List { first: true },
                "initialize" | "server/discover" => Ask::Handshake,
                "completion/complete" if wire.captured != Captured::Full => Ask::Complete(Box::new(Completion {
                    prompt: PromptName::NotCaptured,
                    argument: None,
                    typed: None,
                    context: false,
                })),
                "elicitation/create" => {
                    let question = Question {
                        mode: Mode::Form,
                        message: "".into(),
                        schema: None,
                        elicitation_id: None,
                        captured: false,
                    };
                    Ask::Elicit(self.question(wire, lane, question, out))
                }
                "tools/call" | "resources/read" => {
                    let kind = operation_kind(&method);
                    let carrier = Carrier { kind, name: None, signature: 0, operation: None };
                    Ask::Carrier(self.operation_request(wire, lane, carrier, &mut meta, out))
                }
                "tasks/get" => Ask::Task(meta.request_state),
                "tasks/update" => {
                    self.task_update(wire, lane, &mut meta, out);
                    Ask::Plain
                }
                _ => Ask::Plain,
            },
        }
    }

    fn notification(&mut self, wire: Wire, notification: Notification, out: &mut Out<'_>) {
        let Wire { at, scope, bytes, .. } = wire;
        let Notification { method, subject } = notification;
        let direction = wire.direction.or_else(|| sender(&method, false));
        let number = self.ledger.method(&method);
        self.ledger.count(at.file, number, Counted::Notification, direction, bytes);
        let lane = match self.subject_lane(scope, direction, &method, subject.as_ref()) {
            Some(lane) => lane,
            None => self.sessions.of_notification(scope, &method, at),
        };
        self.sessions.touch(lane, direction.unwrap_or(Direction::ServerToClient), at);
        match &*method {
            "notifications/prompts/list_changed" => self.list_changed(lane, at, out),
            "notifications/cancelled" => {
                if let Some(id) = &subject {
                    self.sessions.lanes[lane as usize].carriers.retain(|carrier| carrier.id != *id);
                }
            }
            "notifications/elicitation/complete" => {
                if let Some(Id::String(id)) = &subject {
                    self.url_completed(lane, id, at, out);
                }
            }
            _ => {}
        }
    }

    /// A cancellation names the request it is about.
    fn subject_lane(
        &self,
        scope: u32,
        direction: Option<Direction>,
        method: &str,
        subject: Option<&Id>,
    ) -> Option<u32> {
        if method != "notifications/cancelled" || self.sessions.explicit(scope) {
            return None;
        }
        let key = OpenKey { scope, asker: direction?, id: subject?.clone() };
        self.requests.open.get(&key)?.last().map(|open| open.lane)
    }

    fn reply(&mut self, wire: Wire, id: Option<Id>, mut reply: Reply, out: &mut Out<'_>) {
        let explicit = self.sessions.explicit(wire.scope);
        let direction = wire.direction.or_else(|| self.answerer(wire.scope, id.as_ref(), &reply));
        let wire = Wire { direction, ..wire };
        let Some((direction, id)) = direction.zip(id) else {
            self.without_request(wire, &reply);
            return;
        };
        let key = OpenKey { scope: wire.scope, asker: direction.opposite(), id };
        match self.requests.take_answered(key, &reply, explicit) {
            Ok((_, open)) => self.answered(wire, open, reply, out),
            // Some SDKs answer what they could not read under this id (2025 revisions).
            Err(key) if matches!(&key.id, Id::String(id) if &**id == "server-error") => {
                self.without_request(wire, &reply);
            }
            Err(key) => {
                let lane = self.sessions.of_notification(wire.scope, "", wire.at);
                self.sessions.touch(lane, direction, wire.at);
                reply.read();
                if self.requests.has_room(&reply) {
                    let orphan = Orphan { at: wire.at, captured: wire.captured, bytes: wire.bytes, reply };
                    self.requests.keep(key, orphan);
                } else {
                    self.count_orphan(wire, &reply);
                }
            }
        }
    }

    /// An answer that can never have a request.
    fn without_request(&mut self, wire: Wire, reply: &Reply) {
        let lane = self.sessions.of_notification(wire.scope, "", wire.at);
        self.sessions.touch(lane, wire.direction.unwrap_or(Direction::ServerToClient), wire.at);
        self.count_orphan(wire, reply);
    }

    fn count_orphan(&mut self, wire: Wire, reply: &Reply) {
        let kind = counted(reply);
        self.ledger.count(wire.at.file, UNKNOWN, kind, wire.direction, wire.bytes);
        self.ledger.count(wire.at.file, UNKNOWN, Counted::Orphan, wire.direction, wire.bytes);
    }

    /// Who sent an answer of unknown direction: the side that was asked. Where both were, the better fit decides,
    /// then the older request; where neither was, the shape.
    fn answerer(&self, scope: u32, id: Option<&Id>, reply: &Reply) -> Option<Direction> {
        let best = |asker: Direction| {
            let key = OpenKey { scope, asker, id: id?.clone() };
            self.requests.best(&key, reply).filter(|(fit, _)| *fit > 0)
        };
        let asked_by_client = best(Direction::ClientToServer);
        let asked_by_server = best(Direction::ServerToClient);
        match (asked_by_client, asked_by_server) {
            (Some(client), Some(server)) if (u8::MAX - server.0, server.1) < (u8::MAX - client.0, client.1) => {
                Some(Direction::ClientToServer)
            }
            (Some(_), _) => Some(Direction::ServerToClient),
            (None, Some(_)) => Some(Direction::ClientToServer),
            (None, None) => reply.sender(),
        }
    }

    fn answered(&mut self, wire: Wire, open: Open, reply: Reply, out: &mut Out<'_>) {
        let lane = open.lane;
        self.ledger.count(wire.at.file, open.method, counted(&reply), wire.direction, wire.bytes);
        self.sessions.touch(lane, wire.direction.unwrap_or(Direction::ServerToClient), wire.at);
        if let Reply::Result { answer: Answer { server: Some(server), .. }, .. } = &reply {
            self.sessions.learn_server(lane, server);
        }
        match open.ask {
            Ask::Plain => {}
            Ask::Handshake => self.handshake(lane, &reply),
            Ask::List { first } => self.listed(lane, first, wire, reply, out),
            Ask::Complete(completion) => self.completed(lane, open.at, &completion, Some(&reply), out),
            Ask::Elicit(elicitation) => self.elicited(elicitation, &reply, wire, out),
            Ask::Task(task) => self.task_answered(lane, task, reply, wire, out),
            Ask::Carrier(carrier) => {
                let carriers = &mut self.sessions.lanes[lane as usize].carriers;
                carriers.retain(|known| known.seq != open.at.seq);
                self.carried(lane, carrier, reply, wire, out);
            }
        }
    }

    fn handshake(&mut self, lane: u32, reply: &Reply) {
        self.sessions.answered(lane);
        let Some(Shape::Initialize { protocol, server, list_changed }) = reply.shape() else { return };
        let lane = match server {
            Some(server) => self.sessions.handshake_server(lane, server),
            None => lane,
        };
        let session = self.sessions.session_mut(lane);
        session.protocol = protocol.clone().or_else(|| session.protocol.take());
        session.list_changed = Some(*list_changed);
    }

    /// A request that no answer can reach any more.
    fn never_answered(&mut self, asker: Direction, open: Open, out: &mut Out<'_>) {
        self.ledger.count(open.at.file, open.method, Counted::Unanswered, Some(asker), open.bytes);
        match open.ask {
            Ask::Plain | Ask::Handshake | Ask::List { .. } | Ask::Task(_) => {}
            Ask::Complete(completion) => self.completed(open.lane, open.at, &completion, None, out),
            Ask::Elicit(elicitation) => self.give_up(elicitation, out),
            Ask::Carrier(carrier) => {
                let carriers = &mut self.sessions.lanes[open.lane as usize].carriers;
                carriers.retain(|known| known.seq != open.at.seq);
                self.carrier_unanswered(carrier, out);
            }
        }
    }

    /// Pairs what was read in the wrong order and writes what is still open.
    pub fn finish(&mut self, out: &mut Out<'_>) -> Snapshot {
        self.settle(out);
        for (key, open) in self.open_in_order() {
            let Some(open) = self.requests.take(&key, open) else { continue };
            self.never_answered(key.asker, open, out);
        }
        self.abandon_operations(out);
        self.abandon_elicitations(out);
        self.abandon_listings(out);
        for (key, orphans) in std::mem::take(&mut self.requests.orphans) {
            for orphan in orphans {
                self.count_orphan(orphan.wire(&key), &orphan.reply);
            }
        }
        let files = &self.files;
        let (declarations, catalogs) = self.contract.rows();
        Snapshot {
            sessions: self.sessions.rows(|file| files.name(file)),
            methods: self.ledger.rows(|file| files.name(file)),
            declarations,
            catalogs,
            duplicates: Vec::new(),
        }
    }

    fn settle(&mut self, out: &mut Out<'_>) {
        if self.requests.orphans.is_empty() {
            return;
        }
        for (key, lane) in self.open_in_order() {
            let explicit = self.sessions.explicit(key.scope);
            let Some(open) = self.requests.open.get(&key).and_then(|found| found.iter().find(|open| open.lane == lane))
            else {
                continue;
            };
            let open = open.clone();
            let Some(orphan) = self.requests.take_orphan(&key, &open, explicit) else { continue };
            self.requests.take(&key, lane);
            let wire = orphan.wire(&key);
            self.answered(wire, open, orphan.reply, out);
        }
    }

    /// Keys and lanes of the open requests, in reading order.
    fn open_in_order(&self) -> Vec<(OpenKey, u32)> {
        let mut found: Vec<(u64, &OpenKey, u32)> = Vec::new();
        for (key, open) in &self.requests.open {
            found.extend(open.iter().map(|open| (open.at.seq, key, open.lane)));
        }
        found.sort_by_key(|(seq, _, _)| *seq);
        found.into_iter().map(|(_, key, lane)| (key.clone(), lane)).collect()
    }
}

fn counted(reply: &Reply) -> Counted {
    match reply {
        Reply::Result { .. } => Counted::Result,
        Reply::Error(_) => Counted::Error,
    }
}

fn operation_kind(method: &str) -> OperationKind {
    match method {
        "tools/call" => OperationKind::ToolCall,
        "prompts/get" => OperationKind::PromptGet,
        "resources/read" => OperationKind::ResourceRead,
        _ => OperationKind::Other,
    }
}

impl Carrier {
    pub fn label(&self, captured: Captured) -> Text {
        match &self.name {
            Some(name) => name.clone(),
            None if captured == Captured::Full => "".into(),
            None => "(not captured)".into(),
        }
    }
}
