//! Chains: the questions of one operation, one after the other, and who is still there at each of them.

use super::asked::Fields;
use super::{Column, Rows, evidence_of, findings};
use crate::audit::stats::wilson::wilson;
use crate::audit::tables::questions::{Chain, ChainStep};
use crate::audit::wording::{count, plural};
use crate::expect::Thresholds;
use crate::finding::Finding;
use crate::finding::rule::questions;
use crate::protocol::message::Text;
use crate::schema::{ElicitationOutcome, ElicitationRow, ElicitationStyle, OperationOutcome, OperationRule, Verdict};
use ahash::AHashSet;
use std::collections::BTreeMap;

/// Rows of evidence that one finding carries.
const EVIDENCE: usize = 20;

/// A client by name and version.
pub type ClientKey = (Option<Text>, Option<Text>);

/// How one run of an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Finished,
    Left,
    Failed,
    NotKnown,
}

/// One run: its questions in order, repeats left out.
struct Run<'a> {
    steps: Vec<&'a ElicitationRow>,
    repeats: u64,
    end: End,
}

impl<'a> Run<'a> {
    /// `questions` in the order they were asked; `None` where there is none.
    fn new(questions: &[&'a ElicitationRow]) -> Option<Self> {
        let mut steps: Vec<&ElicitationRow> = Vec::new();
        let mut repeats = 0;
        for &question in questions {
            match steps.last_mut() {
                // Asked again because the answer could not be used: the same step, with its newest answer.
                Some(last) if last.verdict == Verdict::Unusable && same_question(last, question) => {
                    *last = question;
                    repeats += 1;
                }
                _ => steps.push(question),
            }
        }
        let end = end(steps.last()?);
        Some(Self { steps, repeats, end })
    }

    fn answered_first(&self) -> bool {
        self.steps.first().is_some_and(|first| first.outcome == ElicitationOutcome::Accept)
    }
}

/// The same KEY and the same form.
pub fn same_question(a: &ElicitationRow, b: &ElicitationRow) -> bool {
    a.schema_hash == b.schema_hash && a.key == b.key && a.schema.is_some() == b.schema.is_some()
}

fn end(last: &ElicitationRow) -> End {
    // Elicitations that error -32042 lists are answered outside this request, which the client sends anew.
    if last.operation_rule == OperationRule::Carried && last.style == ElicitationStyle::Request {
        return End::NotKnown;
    }
    match last.outcome {
        ElicitationOutcome::Accept => match last.operation_outcome {
            OperationOutcome::Ok => End::Finished,
            OperationOutcome::IsError | OperationOutcome::Error => End::Failed,
            OperationOutcome::Unanswered | OperationOutcome::AskedAgain | OperationOutcome::NotCaptured => {
                End::NotKnown
            }
        },
        ElicitationOutcome::Decline | ElicitationOutcome::Cancel => End::Left,
        // A retry that never came is how a person leaves in a stateless protocol. A question and a request that both
        // stay open can as well be cut off by the end of the capture.
        ElicitationOutcome::Unanswered
            if last.style == ElicitationStyle::Request && last.operation_outcome == OperationOutcome::Unanswered =>
        {
            End::NotKnown
        }
        ElicitationOutcome::Unanswered => End::Left,
        ElicitationOutcome::Error | ElicitationOutcome::Malformed => End::Failed,
        ElicitationOutcome::NotCaptured => End::NotKnown,
    }
}

/// The chain of each column that asked anything, and MT213. Clients that refuse unread are no people that leave.
pub fn chains(
    columns: &[Column],
    rows: &Rows,
    unread: &AHashSet<ClientKey>,
    limits: &Thresholds,
    found: &mut Vec<Finding>,
) -> Vec<Chain> {
    let mut chains = Vec::new();
    for column in columns {
        let runs = runs(column);
        if runs.is_empty() {
            continue;
        }
        let chain = chain(column, rows, &runs);
        found.extend(people_leave(column, rows, &runs, unread, limits));
        chains.push(chain);
    }
    chains
}

fn runs<'a>(column: &Column<'a>) -> Vec<Run<'a>> {
    let mut instances: BTreeMap<u64, Vec<&ElicitationRow>> = BTreeMap::new();
    for question in &column.questions {
        instances.entry(question.operation_instance).or_default().push(question);
    }
    instances
        .into_values()
        .filter_map(|mut questions| {
            questions.sort_by_key(|question| (question.sequence, question.seq, question.elicitation));
            Run::new(&questions)
        })
        .collect()
}

/// Questions of most finished runs, the greater of equally common lengths; of the longest where none finished.
fn usual_length<'r, 'a: 'r>(runs: impl Iterator<Item = &'r Run<'a>>) -> u32 {
    let (mut lengths, mut longest): (BTreeMap<usize, u64>, usize) = (BTreeMap::new(), 0);
    for run in runs {
        longest = longest.max(run.steps.len());
        if run.end == End::Finished {
            *lengths.entry(run.steps.len()).or_default() += 1;
        }
    }
    let usual = lengths.into_iter().max_by_key(|(length, runs)| (*runs, *length)).map_or(longest, |(length, _)| length);
    u32::try_from(usual).unwrap_or(u32::MAX)
}

/// A run that answered its first question and was left before the usual last one. Who leaves at the last question may
/// have been asked something optional.
fn is_lost(run: &Run, usual: u32) -> bool {
    run.answered_first() && run.end == End::Left && run.steps.len() < usual as usize
}

fn chain(column: &Column, rows: &Rows, runs: &[Run]) -> Chain {
    let ended = |end: End| runs.iter().filter(|run| run.end == end).count() as u64;
    let usual_length = usual_length(runs.iter());
    let longest = runs.iter().map(|run| run.steps.len()).max().unwrap_or(0);
    Chain {
        server: column.server.clone(),
        operation_kind: column.kind.as_str(),
        operation: column.operation.clone(),
        started: runs.len() as u64,
        finished: ended(End::Finished),
        left: ended(End::Left),
        failed: ended(End::Failed),
        not_known: ended(End::NotKnown),
        usual_length,
        entered: runs.iter().filter(|run| run.answered_first()).count() as u64,
        lost: runs.iter().filter(|run| is_lost(run, usual_length)).count() as u64,
        steps: steps(runs, rows, longest),
        repeats: runs.iter().map(|run| run.repeats).sum(),
    }
}

fn steps(runs: &[Run], rows: &Rows, longest: usize) -> Vec<ChainStep> {
    let mut steps: Vec<ChainStep> = Vec::with_capacity(longest);
    let mut forms: Vec<BTreeMap<u64, (u64, &ElicitationRow)>> = Vec::with_capacity(longest);
    for number in 1..=longest {
        steps.push(ChainStep { step: u32::try_from(number).unwrap_or(u32::MAX), ..ChainStep::default() });
        forms.push(BTreeMap::new());
    }
    for run in runs {
        for (at, (question, (step, forms))) in run.steps.iter().zip(steps.iter_mut().zip(&mut forms)).enumerate() {
            step.asked += 1;
            *match question.outcome {
                ElicitationOutcome::Accept => &mut step.answered,
                ElicitationOutcome::Decline => &mut step.declined,
                ElicitationOutcome::Cancel => &mut step.cancelled,
                ElicitationOutcome::Unanswered => &mut step.unanswered,
                ElicitationOutcome::Error | ElicitationOutcome::Malformed => &mut step.failed,
                ElicitationOutcome::NotCaptured => &mut step.not_captured,
            } += 1;
            step.left += u64::from(run.end == End::Left && at + 1 == run.steps.len());
            forms.entry(question.schema_hash).or_insert((0, question)).0 += 1;
        }
    }
    let started = runs.len() as u64;
    for (step, forms) in steps.iter_mut().zip(forms) {
        step.still = wilson(step.answered, started);
        let commonest = forms.into_iter().max_by_key(|(hash, (asked, _))| (*asked, std::cmp::Reverse(*hash)));
        let fields: Option<&Fields> = commonest.and_then(|(_, (_, question))| rows.asked(question));
        step.fields = fields.map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
    }
    steps
}

/// MT213: the questions are correct, and people go away in the middle of them.
fn people_leave(
    column: &Column,
    rows: &Rows,
    runs: &[Run],
    unread: &AHashSet<ClientKey>,
    limits: &Thresholds,
) -> Option<Finding> {
    let by_people = |run: &&Run| {
        let client = |row: &ElicitationRow| (row.client.clone(), row.client_version.clone());
        unread.is_empty() || run.steps.first().is_none_or(|first| !unread.contains(&client(first)))
    };
    let runs: Vec<&Run> = runs.iter().filter(by_people).collect();
    let usual = usual_length(runs.iter().copied());
    let entered = runs.iter().filter(|run| run.answered_first()).count() as u64;
    let lost: Vec<&ElicitationRow> =
        runs.iter().filter(|run| is_lost(run, usual)).filter_map(|run| run.steps.last().copied()).collect();
    let n = lost.len() as u64;
    let share = wilson(n, entered)?;
    if usual < 2 || entered < limits.chain_runs || share.low < limits.chain_loss {
        return None;
    }
    let mut at: BTreeMap<usize, u64> = BTreeMap::new();
    for run in runs.iter().filter(|run| is_lost(run, usual)) {
        *at.entry(run.steps.len()).or_default() += 1;
    }
    let (worst, most) = at.into_iter().max_by_key(|(step, left)| (*left, std::cmp::Reverse(*step)))?;
    let reached = runs.iter().filter(|run| run.steps.len() >= worst).count() as u64;
    let finished = runs.iter().filter(|run| run.end == End::Finished).count() as u64;
    let mut sentence = findings::about_column(column).share(n, entered).say(format!(
        " runs whose first question was answered are left before the last of {} questions; {} of {} finish; most go \
             at question {worst} ({} of {} asked",
        count(u64::from(usual)),
        count(finished),
        plural(runs.len() as u64, "run"),
        count(most),
        count(reached),
    ));
    let question = lost.iter().find(|row| runs.iter().any(|run| run.steps.len() == worst && is_last(run, row)));
    let fields: Vec<&Text> = question.and_then(|row| rows.asked(row)).map(|f| f.keys().collect()).unwrap_or_default();
    if !fields.is_empty() {
        sentence = sentence.say(", which asks for ").names(fields);
    }
    Some(Finding {
        sentence: sentence
            .say(")")
            .clients(lost.iter().filter_map(|row| row.client.as_ref()))
            .since(lost.iter().filter_map(|row| row.ts).min())
            .done(),
        numbers: BTreeMap::from([
            ("runs", runs.len() as f64),
            ("entered", entered as f64),
            ("lost", n as f64),
            ("finished", finished as f64),
            ("questions", f64::from(usual)),
            ("worst_question", worst as f64),
        ]),
        evidence: lost.iter().take(EVIDENCE).map(|row| evidence_of(row)).collect(),
        next_step:
            "Ask everything in one form, take what can be known without asking from the call's arguments, or give \
                    the later questions defaults."
                .to_owned(),
        weight: n,
        ..Finding::of(&questions::MT213, vec![column.server.clone(), column.operation.clone()])
    })
}

fn is_last(run: &Run, row: &ElicitationRow) -> bool {
    run.steps.last().is_some_and(|last| last.elicitation == row.elicitation)
}

#[cfg(test)]
#[path = "chains_tests.rs"]
mod tests;
