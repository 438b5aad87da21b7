//! What was read, and that it adds up (analyses.md §1).

use super::context::Context;
use super::tables::{Ledger, LedgerFile, LedgerMethod, LedgerTotals};
use crate::protocol::message::Text;
use crate::schema::Stray;
use std::collections::BTreeMap;

/// Files in the order they were given, methods by name.
pub fn ledger(context: &Context) -> Ledger {
    let frames = context.frames;
    let files: Vec<LedgerFile> = frames
        .files
        .iter()
        .map(|row| LedgerFile {
            file: row.file.clone(),
            format: row.format.clone(),
            format_version: row.format_version.clone(),
            why: row.why.clone(),
            bytes: row.bytes,
            lines: row.lines,
            message_lines: row.message_lines,
            messages: row.messages,
            other: row.other,
            other_bytes: row.other_bytes,
            noise: row.noise,
            blank: row.blank,
            continuation: row.continuation,
            rejected: row.rejected,
            duplicates: row.duplicates,
            duplicate_keys: row.duplicate_keys,
            first_ts: row.first_ts,
            last_ts: row.last_ts,
            notes: row.notes.clone(),
        })
        .collect();
    let mut methods: BTreeMap<&Text, LedgerMethod> = BTreeMap::new();
    for row in &frames.methods {
        let method = methods.entry(&row.method).or_insert_with(|| LedgerMethod {
            method: row.method.clone(),
            requests: 0,
            results: 0,
            errors: 0,
            notifications: 0,
            unanswered: 0,
            orphans: 0,
        });
        match &*row.kind {
            "request" => method.requests += row.count,
            "result" => method.results += row.count,
            "error" => method.errors += row.count,
            "notification" => method.notifications += row.count,
            "unanswered" => method.unanswered += row.count,
            "orphan" => method.orphans += row.count,
            _ => {}
        }
    }
    let totals = LedgerTotals {
        files: files.len() as u64,
        messages: files.iter().map(|file| file.messages).sum(),
        prompt_calls: frames.calls.len() as u64,
        prompt_wire_requests: frames.calls.iter().map(|call| u64::from(call.rounds)).sum(),
        elicitations: frames.elicitations.iter().filter(|row| row.stray == Stray::None).count() as u64,
        sessions: frames.sessions.len() as u64,
        rejected: frames.rejected.len() as u64,
    };
    Ledger { files, methods: methods.into_values().collect(), totals }
}
