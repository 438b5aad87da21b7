//! Chains of questions and those who answer them.

use super::{Names, finite};
use crate::audit::tables as from;
use crate::audit::tables::questions as asked;
use crate::report::json::document::{Answering, Chain, Questions, Rate, Step};

fn rate(rate: Option<from::Rate>) -> Option<Rate> {
    rate.map(|rate| Rate { rate: rate.rate, low: rate.low, high: rate.high })
}

impl Names<'_> {
    pub fn questions(&self, questions: &asked::Questions) -> Questions {
        Questions {
            chains: questions.chains.iter().map(|row| self.chain(row)).collect(),
            answering: questions.answering.iter().map(|row| self.answering(row)).collect(),
        }
    }

    fn chain(&self, row: &asked::Chain) -> Chain {
        Chain {
            server: self.name(&row.server),
            operation_kind: row.operation_kind,
            operation: self.name(&row.operation),
            started: row.started,
            finished: row.finished,
            left: row.left,
            failed: row.failed,
            not_known: row.not_known,
            usual_length: row.usual_length,
            entered: row.entered,
            lost: row.lost,
            repeats: row.repeats,
            steps: row.steps.iter().map(|step| self.step(step)).collect(),
        }
    }

    fn step(&self, step: &asked::ChainStep) -> Step {
        Step {
            step: step.step,
            asked: step.asked,
            answered: step.answered,
            declined: step.declined,
            cancelled: step.cancelled,
            unanswered: step.unanswered,
            failed: step.failed,
            not_captured: step.not_captured,
            left: step.left,
            still: rate(step.still),
            fields: self.list(&step.fields),
        }
    }

    fn answering(&self, row: &asked::Answering) -> Answering {
        Answering {
            client: self.name(&row.client),
            version: self.optional(row.version.as_ref()),
            asked: row.asked,
            accept: row.accept,
            decline: row.decline,
            cancel: row.cancel,
            error: row.error,
            malformed: row.malformed,
            unanswered: row.unanswered,
            not_captured: row.not_captured,
            timed_refusals: row.timed_refusals,
            fast_refusals: row.fast_refusals,
            refusal_p50_ms: finite(row.refusal_p50_ms),
            refusal_p95_ms: finite(row.refusal_p95_ms),
            refused_with_content: row.refused_with_content,
            refused_with_empty: row.refused_with_empty,
            accepted_empty: row.accepted_empty,
            refuses_unread: row.refuses_unread,
            first: row.first.as_ref().map(|at| self.evidence(at)),
        }
    }
}
