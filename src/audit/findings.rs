//! Findings of the ledger, of arguments and keys, and of declarations. Elicitations, sessions and handlers bring their own.

mod arguments;
mod declarations;
mod input;
mod keys;

use super::context::Context;
use super::tables::{Audit, Evidence};
use crate::finding::Finding;
use crate::protocol::message::{Text, Ts};
use std::collections::BTreeSet;

/// Rows of evidence that one finding carries.
const EVIDENCE: usize = 20;

/// The findings about the input, arguments, keys and declarations of these tables.
pub fn findings(context: &Context, audit: &Audit) -> Vec<Finding> {
    let mut found = Vec::new();
    arguments::add(context, audit, &mut found);
    keys::add(context, audit, &mut found);
    declarations::add(context, audit, &mut found);
    input::add(context, audit, &mut found);
    found
}

/// Server, prompt if it has a name, and what else names the subject.
fn subject(server: &Text, prompt: Option<&Text>, rest: &[&Text]) -> Vec<Text> {
    std::iter::once(server).chain(prompt).chain(rest.iter().copied()).cloned().collect()
}

/// Calls that a finding is about.
struct Affected<'c, 'a> {
    context: &'c Context<'a>,
    /// In reading order.
    calls: Vec<usize>,
}

impl<'c, 'a> Affected<'c, 'a> {
    /// The calls of a server's prompt that satisfy `is`.
    fn new(context: &'c Context<'a>, server: &str, prompt: Option<&Text>, is: impl Fn(usize) -> bool) -> Self {
        let groups = context
            .groups
            .iter()
            .filter(|group| *context.servers[group.server] == *server && group.prompt.as_ref() == prompt);
        let calls = groups.flat_map(|group| group.calls.iter().copied()).filter(|&at| is(at)).collect();
        Self { context, calls }
    }

    fn count(&self) -> u64 {
        self.calls.len() as u64
    }

    fn clients(&self) -> BTreeSet<Text> {
        self.calls.iter().map(|&at| Context::client_of(&self.context.frames.calls[at])).collect()
    }

    fn since(&self) -> Option<Ts> {
        self.calls.iter().filter_map(|&at| self.context.frames.calls[at].ts).min()
    }

    fn evidence(&self) -> Vec<Evidence> {
        self.calls.iter().take(EVIDENCE).map(|&at| self.context.evidence(at)).collect()
    }
}

#[cfg(test)]
#[path = "findings/tests.rs"]
mod tests;
