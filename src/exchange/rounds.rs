//! Multi round-trip requests (2026-07-28): answers that ask for input, and the retries that bring it.
//!
//! A retry is the same operation as the request it repeats. It is found by its `requestState`, else by equal method,
//! name and arguments; equal KEYs and nearness in time only rank what is found.

use super::Map;
use super::calls::OpenCall;
use super::elicit::How;
use super::machine::{Core, Out, Wire};
use super::operations::{Operation, Waiting};
use super::pair::{Carrier, OpenKey, Reply};
use crate::protocol::elicitation::{ElicitationAnswer, Question};
use crate::protocol::message::{Direction, RequestMeta, Shape, Text};
use crate::schema::{ElicitationStyle, OperationKind, Stray};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// States and KEYs of which the newest question is remembered, so that a late answer can be checked against it.
const MAX_REMEMBERED: usize = 50_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Asked {
    State(u64),
    Key(Text),
}

/// Questions with their KEYs, in the order they were asked.
type Keyed = Vec<(Text, Arc<Question>)>;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// Operations that wait for a retry, by session and state.
    by_state: Map<(u32, u64), Vec<u64>>,
    /// The same by session and signature.
    by_signature: Map<(u32, u64), Vec<u64>>,
    /// By session: the newest questions with a state or a KEY.
    remembered: Map<(u32, Asked), Keyed>,
    order: VecDeque<(u32, Asked)>,
    /// Open tasks by session and `taskId`.
    tasks: Map<(u32, u64), u64>,
}

/// A retry that was read before the answer it continues, because the client's half of a capture was read first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Early {
    wire: Wire,
    state: Option<u64>,
    responses: Vec<(Text, ElicitationAnswer)>,
    /// The call it would be if it were no retry.
    call: Option<Box<OpenCall>>,
}

impl Rounds {
    fn remember(&mut self, session: u32, asked: Asked, questions: Keyed) {
        if self.remembered.insert((session, asked.clone()), questions).is_none() {
            self.order.push_back((session, asked));
            if self.order.len() > MAX_REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.remembered.remove(&oldest);
            }
        }
    }

    fn issued(&self, session: u32, state: u64) -> bool {
        self.remembered.contains_key(&(session, Asked::State(state)))
    }

    /// The newest question with this KEY under this state, else with this KEY, else with this state.
    fn newest(&self, session: u32, state: Option<u64>, key: &Text) -> Option<Arc<Question>> {
        let of_state = state.and_then(|state| self.remembered.get(&(session, Asked::State(state))));
        let same_key = of_state.and_then(|asked| asked.iter().rev().find(|(known, _)| known == key));
        let of_key = || self.remembered.get(&(session, Asked::Key(key.clone()))).and_then(|asked| asked.last());
        same_key.or_else(of_key).or_else(|| of_state?.last()).map(|(_, question)| question.clone())
    }

    fn key_known(&self, session: u32, key: &Text) -> bool {
        self.remembered.contains_key(&(session, Asked::Key(key.clone())))
    }
}

impl Core {
    /// The waiting operation that a request with `inputResponses` or `requestState` continues.
    pub fn retried(&mut self, lane: u32, carrier: &Carrier, meta: &RequestMeta) -> Option<u64> {
        let session = self.sessions.session_of(lane);
        let rounds = &self.operations.rounds;
        let named = |operation: &Operation| {
            operation.kind == carrier.kind && carrier.name.as_ref().is_none_or(|name| *name == operation.name)
        };
        let rank = |number: &u64| {
            let operation = self.operations.open.get(number).filter(|operation| named(operation))?;
            let waiting = operation.waiting?;
            let same_input = operation.signature == carrier.signature;
            let answers = meta.input_responses.iter().flatten();
            let hits = answers.filter(|(key, _)| operation.pending.iter().any(|(asked, _)| asked == key)).count();
            Some((same_input, hits, waiting.at.seq, *number))
        };
        let best = |found: Option<&Vec<u64>>| found?.iter().filter_map(rank).max();
        let by_state = meta.request_state.and_then(|state| best(rounds.by_state.get(&(session, state))));
        let found = by_state.or_else(|| {
            // A state that was issued for something else is a replay of that.
            if meta.request_state.is_some_and(|state| rounds.issued(session, state)) {
                return None;
            }
            best(rounds.by_signature.get(&(session, carrier.signature))).filter(|(same_input, ..)| *same_input)
        });
        let number = found?.3;
        self.forget_waiting(number);
        Some(number)
    }

    /// The open operation that a retry continues whose question was not read yet. Only where the client's half of a
    /// capture comes first: there every question follows its answer.
    pub fn retried_early(
        &mut self,
        wire: Wire,
        lane: u32,
        carrier: &Carrier,
        meta: &mut RequestMeta,
        call: Option<OpenCall>,
    ) -> Option<u64> {
        if !self.files.half_of(wire.at.file, Direction::ClientToServer) {
            return None;
        }
        // The newest of equal requests: questions and retries of equal calls alternate.
        let carriers = self.sessions.lanes[lane as usize].carriers.iter().rev();
        let keys = carriers.map(|known| {
            let key = OpenKey { scope: wire.scope, asker: Direction::ClientToServer, id: known.id.clone() };
            (key, known.seq)
        });
        let same = keys.into_iter().find(|(key, seq)| {
            let open = self.requests.carrier(key, *seq);
            open.is_some_and(|open| {
                (open.kind, &open.name, open.signature) == (carrier.kind, &carrier.name, carrier.signature)
            })
        });
        let (key, seq) = same?;
        let number = match self.requests.operation_of(&key, seq)? {
            (Carrier { operation: Some(number), .. }, _, _) => *number,
            (open, _, captured) => {
                let operation = Operation::new(lane, open.kind, open.label(captured), open.signature);
                *open.operation.insert(self.operations.add(operation))
            }
        };
        let operation = self.operations.open.get_mut(&number)?;
        if let Some(first) = operation.call.as_mut() {
            first.another_round(carrier.signature);
        }
        operation.early.push_back(Early {
            wire,
            state: meta.request_state,
            responses: meta.input_responses.take().unwrap_or_default(),
            call: call.map(Box::new),
        });
        Some(number)
    }

    /// Ends an operation's wait with the retry that was read before the question.
    fn continue_early(&mut self, number: u64, out: &mut Out<'_>) {
        let Some(operation) = self.operations.open.get_mut(&number) else { return };
        let Some(early) = operation.early.pop_front() else { return };
        self.forget_waiting(number);
        let mut meta = RequestMeta {
            input_responses: Some(early.responses),
            request_state: early.state,
            ..RequestMeta::default()
        };
        self.take_responses(number, true, early.wire, &mut meta, out);
    }

    /// Requests that were taken for retries of an operation that ended without a question are one of their own.
    pub fn not_a_retry(
        &mut self,
        number: u64,
        mut operation: Operation,
        mut early: VecDeque<Early>,
        out: &mut Out<'_>,
    ) {
        let Some(first) = early.pop_front() else { return };
        operation.call = first.call.map(|call| Box::new(self.numbered(*call)));
        if let Some(call) = operation.call.as_mut() {
            for _ in &early {
                call.another_round(operation.signature);
            }
        }
        operation.early = early;
        self.operations.open.insert(number, operation);
        let mut meta = RequestMeta {
            input_responses: Some(first.responses),
            request_state: first.state,
            ..RequestMeta::default()
        };
        self.take_responses(number, false, first.wire, &mut meta, out);
    }

    /// Ends the waiting of an operation, if it waits.
    pub fn forget_waiting(&mut self, number: u64) {
        let Some(operation) = self.operations.open.get_mut(&number) else { return };
        let Some(waiting) = operation.waiting.take() else { return };
        let session = self.sessions.session_of(operation.lane);
        let rounds = &mut self.operations.rounds;
        remove(&mut rounds.by_signature, (session, operation.signature), number);
        if let Some(state) = waiting.state {
            remove(&mut rounds.by_state, (session, state), number);
        }
    }

    /// The answers of a retry: each closes the question with its KEY, or is a stray answer.
    pub fn take_responses(
        &mut self,
        number: u64,
        continues: bool,
        wire: Wire,
        meta: &mut RequestMeta,
        out: &mut Out<'_>,
    ) {
        let Some(operation) = self.operations.open.get(&number) else { return };
        let session = self.sessions.session_of(operation.lane);
        let state = meta.request_state;
        let unknown = state.is_some_and(|state| !self.operations.rounds.issued(session, state));
        for (key, answer) in meta.input_responses.take().unwrap_or_default() {
            let Some(operation) = self.operations.open.get_mut(&number) else { return };
            let asked = operation.pending.iter().position(|(pending, _)| *pending == key);
            if let Some(at) = asked.filter(|_| continues && !unknown) {
                let (_, elicitation) = operation.pending.remove(at);
                self.answer_question(elicitation, &answer, wire, out);
                continue;
            }
            let asked_before = operation.keys.contains(&key);
            let rounds = &self.operations.rounds;
            let stray = if unknown {
                Stray::StateUnknown
            } else if asked_before || (!continues && (state.is_some() || rounds.key_known(session, &key))) {
                Stray::Replayed
            } else {
                Stray::KeyNotAsked
            };
            let question = rounds.newest(session, state, &key);
            self.stray(number, wire, question.as_deref(), &answer, (key, stray), out);
        }
    }

    /// An answer that asks for input: its questions are the operation's newest round.
    pub fn ask_round(
        &mut self,
        number: u64,
        questions: Vec<(Text, Question)>,
        state: Option<u64>,
        wire: Wire,
        out: &mut Out<'_>,
    ) {
        let Some(operation) = self.operations.open.get_mut(&number) else { return };
        let lane = operation.lane;
        let signature = operation.signature;
        let session = self.sessions.session_of(lane);
        let superseded = std::mem::take(&mut operation.pending);
        for (_, elicitation) in superseded {
            self.give_up(elicitation, out);
        }
        let mut asked = Vec::with_capacity(questions.len());
        for (key, question) in questions {
            let kept = Arc::new(question.clone());
            self.operations.rounds.remember(session, Asked::Key(key.clone()), vec![(key.clone(), kept.clone())]);
            asked.push((key.clone(), kept));
            self.asked_again(number, Some(&key), None, out);
            let how = How::carried(ElicitationStyle::InputRequired, Some(key.clone()), number);
            let elicitation = self.add_question(lane, wire, question, how, out);
            if let Some(operation) = self.operations.open.get_mut(&number) {
                operation.keys.push(key.clone());
                operation.pending.push((key, elicitation));
            }
        }
        let rounds = &mut self.operations.rounds;
        if let Some(state) = state {
            // One state may serve every round of an order: its questions add up.
            let mut known = rounds.remembered.get(&(session, Asked::State(state))).cloned().unwrap_or_default();
            known.retain(|(key, _)| !asked.iter().any(|(new, _)| new == key));
            known.extend(asked);
            rounds.remember(session, Asked::State(state), known);
            rounds.by_state.entry((session, state)).or_default().push(number);
        }
        rounds.by_signature.entry((session, signature)).or_default().push(number);
        if let Some(operation) = self.operations.open.get_mut(&number) {
            operation.waiting = Some(Waiting { state, at: wire.at });
        }
        self.continue_early(number, out);
    }

    /// `tasks/get`: a task that waits for input carries its questions in every answer until they are answered.
    pub fn task_answered(&mut self, lane: u32, task: Option<u64>, reply: Reply, wire: Wire, out: &mut Out<'_>) {
        let session = self.sessions.session_of(lane);
        let Some(task) = task else { return };
        let known = self.operations.rounds.tasks.get(&(session, task)).copied();
        let Reply::Result { answer, .. } = reply else { return };
        let Shape::InputRequired { questions, .. } = answer.shape else { return };
        let number = known.unwrap_or_else(|| {
            let operation = Operation::new(lane, OperationKind::Other, "tasks/get".into(), task);
            let number = self.operations.add(operation);
            self.operations.rounds.tasks.insert((session, task), number);
            number
        });
        for (key, question) in questions {
            let asked = |operation: &Operation| operation.pending.iter().any(|(known, _)| *known == key);
            if self.operations.open.get(&number).is_none_or(asked) {
                continue;
            }
            let kept = Arc::new(question.clone());
            self.operations.rounds.remember(session, Asked::Key(key.clone()), vec![(key.clone(), kept.clone())]);
            self.operations.rounds.remember(session, Asked::State(task), vec![(key.clone(), kept)]);
            let how = How::carried(ElicitationStyle::Task, Some(key.clone()), number);
            let elicitation = self.add_question(lane, wire, question, how, out);
            if let Some(operation) = self.operations.open.get_mut(&number) {
                operation.keys.push(key.clone());
                operation.pending.push((key, elicitation));
            }
        }
    }

    /// `tasks/update`: answers by `taskId` and KEY.
    pub fn task_update(&mut self, wire: Wire, lane: u32, meta: &mut RequestMeta, out: &mut Out<'_>) {
        let session = self.sessions.session_of(lane);
        let known = meta.request_state.and_then(|task| self.operations.rounds.tasks.get(&(session, task)).copied());
        let number = known.unwrap_or_else(|| {
            self.operations.add(Operation::new(lane, OperationKind::Other, "tasks/update".into(), 0))
        });
        self.take_responses(number, known.is_some(), wire, meta, out);
    }
}

fn remove(index: &mut Map<(u32, u64), Vec<u64>>, key: (u32, u64), number: u64) {
    if let Some(numbers) = index.get_mut(&key) {
        numbers.retain(|known| *known != number);
        if numbers.is_empty() {
            index.remove(&key);
        }
    }
}
