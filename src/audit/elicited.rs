//! Elicited columns (analyses.md §5): what clients answered, whether it could be used, and what the server did with it.

mod answering;
mod asked;
mod chains;
mod fields;
mod findings;
#[cfg(test)]
pub mod rows;
#[cfg(test)]
mod tests;
mod values;

use super::context::Context;
use super::tables::questions::Questions;
use super::tables::{Elicitation, Evidence, StrayCounts};
use super::wording;
use crate::finding::Finding;
use crate::protocol::message::Text;
use crate::schema::{
    ElicitationOutcome, ElicitationRow, FieldRow, OperationKind, OperationOutcome, Reason, ReasonCause, Stray, Verdict,
};
use ahash::{AHashMap, AHashSet};
use asked::Fields;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

pub use values::Measure;

/// The questions of one operation of one server, in reading order.
struct Column<'a> {
    server: Text,
    kind: OperationKind,
    operation: Text,
    questions: Vec<&'a ElicitationRow>,
    strays: Vec<&'a ElicitationRow>,
}

/// A column's table row with what its findings need besides.
struct Summary<'a> {
    column: &'a Column<'a>,
    row: Elicitation,
    fields: Vec<fields::Summary<'a>>,
    /// Unusable answers that the server acted on, and usable ones it refused.
    acted_on: Vec<&'a ElicitationRow>,
    refused: Vec<&'a ElicitationRow>,
    /// First questions of the operations that are loops.
    loops: Vec<&'a ElicitationRow>,
    /// Secret field → questions in form mode.
    secrets: BTreeMap<Text, Vec<&'a ElicitationRow>>,
    numbers_as_text: u64,
}

/// Shared look-ups.
struct Rows<'a> {
    fields: &'a [FieldRow],
    spans: AHashMap<u64, Range<usize>>,
    /// Schema hash → its properties.
    schemas: AHashMap<u64, Fields>,
}

impl<'a> Rows<'a> {
    fn new(context: &Context<'a>) -> Self {
        let frames = context.frames;
        let mut spans: AHashMap<u64, Range<usize>> = AHashMap::with_capacity(frames.elicitations.len());
        for (at, field) in frames.fields.iter().enumerate() {
            spans.entry(field.elicitation).or_insert(at..at).end = at + 1;
        }
        let mut schemas = AHashMap::new();
        for row in &frames.elicitations {
            if let Some(schema) = &row.schema {
                schemas.entry(row.schema_hash).or_insert_with(|| asked::fields(schema));
            }
        }
        Self { fields: &frames.fields, spans, schemas }
    }

    /// Fields of an accepted answer.
    fn of(&self, row: &ElicitationRow) -> &'a [FieldRow] {
        self.spans.get(&row.elicitation).map_or(&[], |span| &self.fields[span.clone()])
    }

    /// What the question's schema declares; `None` where none was captured.
    fn asked(&self, row: &ElicitationRow) -> Option<&Fields> {
        row.schema.as_ref()?;
        self.schemas.get(&row.schema_hash)
    }
}

/// The tables of §5, sorted by server, kind and operation.
pub fn elicitations(context: &Context) -> (Vec<Elicitation>, Questions, Vec<Finding>) {
    let rows = Rows::new(context);
    let columns = columns(context);
    let summaries: Vec<Summary> = columns.par_iter().map(|column| summary(column, &rows)).collect();
    let mut found = Vec::new();
    for summary in &summaries {
        findings::add(summary, &mut found);
    }
    let questions = questions(context, &columns, &rows, &mut found);
    (summaries.into_iter().map(|summary| summary.row).collect(), questions, found)
}

/// What goes across columns and fields.
fn questions(context: &Context, columns: &[Column], rows: &Rows, found: &mut Vec<Finding>) -> Questions {
    let limits = &context.expectations.thresholds;
    let (answering, unread) = answering::answering(columns, rows, limits, found);
    Questions { chains: chains::chains(columns, rows, &unread, limits, found), answering }
}

fn evidence_of(row: &ElicitationRow) -> Evidence {
    Evidence { file: row.file.clone(), position: row.position, ts: row.ts, session: Some(row.session.clone()) }
}

fn columns<'a>(context: &Context<'a>) -> Vec<Column<'a>> {
    let mut order: Vec<&ElicitationRow> = context.frames.elicitations.iter().collect();
    order.sort_by_key(|row| (row.seq, row.elicitation));
    let mut columns: BTreeMap<(usize, &'static str, &Text), Column> = BTreeMap::new();
    for row in order {
        let server = context.server_of(&row.session);
        let column = columns.entry((server, row.operation_kind.as_str(), &row.operation)).or_insert_with(|| Column {
            server: context.server_name(&row.session),
            kind: row.operation_kind,
            operation: row.operation.clone(),
            questions: Vec::new(),
            strays: Vec::new(),
        });
        let list = if row.stray == Stray::None { &mut column.questions } else { &mut column.strays };
        list.push(row);
    }
    columns.into_values().collect()
}

/// The answer was accepted with a form.
fn is_form_accept(row: &ElicitationRow) -> bool {
    row.outcome == ElicitationOutcome::Accept && row.verdict != Verdict::Url
}

fn blank(column: &Column) -> Elicitation {
    Elicitation {
        server: column.server.clone(),
        operation_kind: column.kind.as_str(),
        operation: column.operation.clone(),
        asked: column.questions.len() as u64,
        accept_usable: 0,
        accept_unusable: 0,
        accept_unchecked: 0,
        accept_url: 0,
        decline: 0,
        cancel: 0,
        error: 0,
        malformed: 0,
        unanswered: 0,
        not_captured: 0,
        acted_on_unusable: 0,
        refused_usable: 0,
        stray: StrayCounts::default(),
        reasons: BTreeMap::new(),
        causes: BTreeMap::new(),
        fields: Vec::new(),
        handled: BTreeMap::new(),
        schemas: 0,
        chain: Vec::new(),
        loops: 0,
        months: Vec::new(),
        reprompts: BTreeMap::new(),
    }
}

fn summary<'a>(column: &'a Column<'a>, rows: &Rows<'a>) -> Summary<'a> {
    let mut row = blank(column);
    let mut chain: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut months: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut schemas = AHashSet::new();
    let mut secrets: BTreeMap<Text, Vec<&ElicitationRow>> = BTreeMap::new();
    for question in &column.questions {
        count_outcome(&mut row, question);
        let step = chain.entry(question.sequence).or_default();
        step.0 += 1;
        step.1 += u64::from(question.outcome == ElicitationOutcome::Accept);
        if let Some(asked) = rows.asked(question) {
            schemas.insert(question.schema_hash);
            if &*question.mode == "form" {
                for field in asked::secrets(asked) {
                    secrets.entry(field).or_default().push(question);
                }
            }
        }
        if !matches!(question.verdict, Verdict::Usable | Verdict::Unusable) || !is_form_accept(question) {
            continue;
        }
        let unusable = question.verdict == Verdict::Unusable;
        if unusable && let Some(reason) = question.first_reason {
            *row.reasons.entry(reason).or_default() += 1;
            *row.causes.entry(question.cause.unwrap_or(cause(reason)).as_str()).or_default() += 1;
        }
        *row.handled
            .entry(question.verdict.as_str())
            .or_default()
            .entry(question.operation_outcome.as_str())
            .or_default() += 1;
        if let Some(month) = question.ts.and_then(wording::month) {
            let month = months.entry(month).or_default();
            month.0 += 1;
            month.1 += u64::from(unusable);
        }
    }
    for stray in &column.strays {
        match stray.stray {
            Stray::Replayed => row.stray.replayed += 1,
            Stray::KeyNotAsked => row.stray.key_not_asked += 1,
            Stray::StateUnknown => row.stray.state_unknown += 1,
            Stray::None => {}
        }
    }
    row.schemas = schemas.len() as u64;
    row.chain = chain.into_iter().map(|(step, (asked, accepted))| (step, asked, accepted)).collect();
    row.months = months.into_iter().map(|(month, (accepted, unusable))| (month, accepted, unusable)).collect();

    let handled = Handled::of(column);
    row.acted_on_unusable = handled.acted_on.len() as u64;
    row.refused_usable = handled.refused.len() as u64;
    row.loops = handled.loops.len() as u64;
    row.reprompts = handled.reprompts;

    let fields = fields::summaries(column, rows);
    row.fields = fields.iter().map(|summary| summary.row.clone()).collect();
    Summary {
        column,
        row,
        numbers_as_text: fields.iter().map(|field| field.numbers_as_text).sum(),
        fields,
        acted_on: handled.acted_on,
        refused: handled.refused,
        loops: handled.loops,
        secrets,
    }
}

fn count_outcome(row: &mut Elicitation, question: &ElicitationRow) {
    let term = match (question.outcome, question.verdict) {
        (ElicitationOutcome::Accept, Verdict::Usable) => &mut row.accept_usable,
        (ElicitationOutcome::Accept, Verdict::Unusable) => &mut row.accept_unusable,
        (ElicitationOutcome::Accept, Verdict::Url) => &mut row.accept_url,
        (ElicitationOutcome::Accept, Verdict::Unchecked | Verdict::None) => &mut row.accept_unchecked,
        (ElicitationOutcome::Decline, _) => &mut row.decline,
        (ElicitationOutcome::Cancel, _) => &mut row.cancel,
        (ElicitationOutcome::Error, _) => &mut row.error,
        (ElicitationOutcome::Malformed, _) => &mut row.malformed,
        (ElicitationOutcome::Unanswered, _) => &mut row.unanswered,
        (ElicitationOutcome::NotCaptured, _) => &mut row.not_captured,
    };
    *term += 1;
}

/// Who could have caused a fault: a person can pass a bound; only software can drop a field.
fn cause(reason: Reason) -> ReasonCause {
    match reason {
        Reason::BelowMinimum
        | Reason::AboveMaximum
        | Reason::TooShort
        | Reason::TooLong
        | Reason::Pattern
        | Reason::BadFormat
        | Reason::TooFewItems
        | Reason::TooManyItems => ReasonCause::Person,
        Reason::NotInEnum => ReasonCause::Enumeration,
        Reason::ContentMissing
        | Reason::ContentNotAnObject
        | Reason::MissingRequired
        | Reason::UnknownKey
        | Reason::WrongType
        | Reason::NotAnInteger
        | Reason::NestedValue => ReasonCause::Integration,
    }
}

/// What servers did with the answers of a column.
struct Handled<'a> {
    acted_on: Vec<&'a ElicitationRow>,
    refused: Vec<&'a ElicitationRow>,
    loops: Vec<&'a ElicitationRow>,
    /// Cause of an unusable answer → (asked again, usable then).
    reprompts: BTreeMap<&'static str, (u64, u64)>,
}

impl<'a> Handled<'a> {
    fn of(column: &Column<'a>) -> Self {
        let mut handled =
            Self { acted_on: Vec::new(), refused: Vec::new(), loops: Vec::new(), reprompts: BTreeMap::new() };
        let mut operations: BTreeMap<u64, Vec<&ElicitationRow>> = BTreeMap::new();
        for question in &column.questions {
            operations.entry(question.operation_instance).or_default().push(question);
        }
        for mut questions in operations.into_values() {
            questions.sort_by_key(|question| (question.sequence, question.seq));
            handled.add(&questions);
        }
        for list in [&mut handled.acted_on, &mut handled.refused, &mut handled.loops] {
            list.sort_by_key(|question| (question.seq, question.elicitation));
        }
        handled
    }

    /// One operation's questions in order.
    fn add(&mut self, questions: &[&'a ElicitationRow]) {
        let all_usable = questions.iter().all(|question| question.verdict == Verdict::Usable);
        let mut repeats = 0;
        for (index, question) in questions.iter().enumerate() {
            match question.verdict {
                Verdict::Unusable => {
                    match questions[index + 1..].iter().find(|later| chains::same_question(question, later)) {
                        Some(later) => {
                            repeats += 1;
                            let cause = question.cause.or(question.first_reason.map(cause)).unwrap_or_default();
                            let reprompt = self.reprompts.entry(cause.as_str()).or_default();
                            reprompt.0 += 1;
                            reprompt.1 += u64::from(later.verdict == Verdict::Usable);
                        }
                        None if question.operation_outcome == OperationOutcome::Ok => self.acted_on.push(question),
                        None => {}
                    }
                }
                // Where another answer of the operation was declined or unusable, that explains the refusal.
                Verdict::Usable
                    if all_usable
                        && matches!(
                            question.operation_outcome,
                            OperationOutcome::IsError | OperationOutcome::Error
                        ) =>
                {
                    self.refused.push(question);
                }
                _ => {}
            }
        }
        if repeats > 1 {
            self.loops.extend(questions.first());
        }
    }
}
