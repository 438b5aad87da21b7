//! Messages become exchanges: questions meet their answers.

pub mod check;
pub mod render;

use crate::protocol::message::Text;
use crate::schema::{
    ArgRow, CallRow, CatalogRow, CompletionRow, DeclarationRow, ElicitationRow, FieldRow, ListingRow, MethodRow,
    SessionRow,
};

/// Receives rows as they close. A row that was handed over is never changed by a later message.
pub trait Sink {
    fn call(&mut self, call: CallRow, args: Vec<ArgRow>);
    fn listing(&mut self, listing: ListingRow);
    fn completion(&mut self, completion: CompletionRow);
    fn elicitation(&mut self, elicitation: ElicitationRow, fields: Vec<FieldRow>);
}

/// What is known at the end of a run about things that have no end of their own; it replaces the run's before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub sessions: Vec<SessionRow>,
    pub methods: Vec<MethodRow>,
    pub declarations: Vec<DeclarationRow>,
    pub catalogs: Vec<CatalogRow>,
    /// Exact duplicates dropped, by file.
    pub duplicates: Vec<(Text, u64)>,
}
