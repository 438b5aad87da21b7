//! The columnar contract between ingest and analysis.

pub mod append;
pub mod folder;
mod manifest;
mod part;
pub mod store;

#[cfg(test)]
mod tests;

pub use manifest::{Manifest, SourceRecord};

use crate::schema::*;

/// Every frame, by the name of its folder.
const FRAMES: [&str; 12] = [
    FileRow::FRAME,
    MethodRow::FRAME,
    SessionRow::FRAME,
    CallRow::FRAME,
    ArgRow::FRAME,
    DeclarationRow::FRAME,
    CatalogRow::FRAME,
    ListingRow::FRAME,
    CompletionRow::FRAME,
    ElicitationRow::FRAME,
    FieldRow::FRAME,
    RejectedRow::FRAME,
];

/// All rows that the analyses read, in reading order within each frame.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    pub files: Vec<FileRow>,
    pub methods: Vec<MethodRow>,
    pub sessions: Vec<SessionRow>,
    pub calls: Vec<CallRow>,
    /// Ordered by call.
    pub args: Vec<ArgRow>,
    pub declarations: Vec<DeclarationRow>,
    pub catalogs: Vec<CatalogRow>,
    pub listings: Vec<ListingRow>,
    pub completions: Vec<CompletionRow>,
    pub elicitations: Vec<ElicitationRow>,
    /// Ordered by elicitation.
    pub fields: Vec<FieldRow>,
    pub rejected: Vec<RejectedRow>,
}
