//! A frames folder, asked by Polars: scans over the Parquet parts, with the filters a user gave applied lazily.

use super::Frames;
use super::folder::{Folder, FramesError};
use crate::protocol::message::{Text, Ts};
use crate::schema::{
    ArgRow, CallRow, CatalogRow, CompletionRow, DeclarationRow, ElicitationRow, FieldRow, FileRow, ListingRow,
    MethodRow, RejectedRow, Row, SessionRow,
};
use ahash::AHashSet;
use polars::prelude::{Expr, IntoLazy as _, col, lit};
use polars_io::SerReader as _;
use polars_io::parquet::read::ParquetReader;
use std::fs::File;
use std::path::Path;

/// Rows read at a time: bounds the memory of a scan, whatever the frame's size.
const SLICE_ROWS: usize = 16_384;

/// Which calls and elicitations to look at. Listings and sessions are never filtered: the declaration in effect
/// depends on all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    pub since: Option<Ts>,
    /// Exclusive.
    pub until: Option<Ts>,
    pub server: Option<Text>,
    pub prompt: Option<Text>,
    pub client: Option<Text>,
    pub session: Option<Text>,
}

impl Filter {
    /// The part that Polars pushes into the scan of a frame.
    fn predicate(&self, with_prompt: bool, with_client: bool) -> Option<Expr> {
        let mut parts: Vec<Expr> = Vec::new();
        if let Some(since) = self.since {
            parts.push(micros().gt_eq(lit(since.0)));
        }
        if let Some(until) = self.until {
            parts.push(micros().lt(lit(until.0)));
        }
        let mut equal = |column: &str, wanted: &Option<Text>| {
            if let Some(wanted) = wanted {
                parts.push(col(column).cast(polars::prelude::DataType::String).eq(lit(wanted.to_string())));
            }
        };
        equal("session", &self.session);
        if with_prompt {
            equal("prompt", &self.prompt);
        }
        if with_client {
            equal("client", &self.client);
        }
        parts.into_iter().reduce(Expr::and)
    }
}

fn micros() -> Expr {
    col("ts").cast(polars::prelude::DataType::Int64)
}

fn scan<R: Row>(folder: &Folder, predicate: Option<Expr>) -> Result<Vec<R>, FramesError> {
    let mut rows = Vec::new();
    for part in folder.manifest.parts_of(R::FRAME) {
        scan_part(&folder.checked(part)?, predicate.as_ref(), &mut rows)?;
    }
    Ok(rows)
}

/// Reads a part slice by slice: only this row type's columns, only the row groups of the slice. Polars' own lazy
/// Parquet source needs its streaming engine, which brings an HTTP client and half of a cold build with it; reading
/// the slice eagerly and asking it lazily gives the same rows without them.
fn scan_part<R: Row>(part: &Path, predicate: Option<&Expr>, rows: &mut Vec<R>) -> Result<(), FramesError> {
    let failed = |source| FramesError::Read { path: part.display().to_string(), source: Box::new(source) };
    let names: Vec<String> = R::columns().iter().map(|column| column.name.to_string()).collect();
    let mut offset = 0;
    loop {
        let file = File::open(part).map_err(FramesError::io(part, "read"))?;
        let frame = ParquetReader::new(file)
            .with_columns(Some(names.clone()))
            .with_slice(Some((offset, SLICE_ROWS)))
            .finish()
            .map_err(failed)?;
        let height = frame.height();
        let frame = match predicate {
            Some(predicate) => frame.lazy().filter(predicate.clone()).collect().map_err(failed)?,
            None => frame,
        };
        rows.append(&mut R::read(&frame).map_err(failed)?);
        if height < SLICE_ROWS {
            return Ok(());
        }
        offset += SLICE_ROWS;
    }
}

/// The frames of which a month has few rows.
fn small(folder: &Folder, filter: &Filter) -> Result<Frames, FramesError> {
    Ok(Frames {
        files: scan::<FileRow>(folder, None)?,
        methods: scan::<MethodRow>(folder, None)?,
        sessions: scan::<SessionRow>(folder, None)?,
        declarations: scan::<DeclarationRow>(folder, None)?,
        catalogs: scan::<CatalogRow>(folder, None)?,
        listings: scan::<ListingRow>(folder, None)?,
        completions: scan::<CompletionRow>(folder, filter.predicate(true, false))?,
        rejected: scan::<RejectedRow>(folder, None)?,
        ..Frames::default()
    })
}

/// Sorts rows by a number. Most are in order already, and a stable sort would take half their memory again to see it.
fn sort<R>(rows: &mut [R], number: impl Fn(&R) -> u64) {
    if !rows.is_sorted_by_key(&number) {
        rows.sort_by_key(number);
    }
}

/// Reads what the analyses need.
///
/// # Errors
/// A folder whose first run has not ended. A part that is not there, was changed, is missing a column or cannot be read
/// is named.
pub fn load(folder: &Folder, filter: &Filter) -> Result<Frames, FramesError> {
    if folder.manifest.ingests == 0 {
        return Err(FramesError::Unfinished { path: folder.root.display().to_string() });
    }
    // The large frames are read side by side.
    let ((calls, args), (elicitations, (fields, small))) = rayon::join(
        || rayon::join(|| scan::<CallRow>(folder, filter.predicate(true, true)), || scan::<ArgRow>(folder, None)),
        || {
            rayon::join(
                || scan::<ElicitationRow>(folder, filter.predicate(false, true)),
                || rayon::join(|| scan::<FieldRow>(folder, None), || small(folder, filter)),
            )
        },
    );
    let mut frames = Frames { calls: calls?, args: args?, elicitations: elicitations?, fields: fields?, ..small? };
    if let Some(server) = &filter.server {
        let sessions: AHashSet<Text> = frames
            .sessions
            .iter()
            .filter(|session| session.server.as_ref() == Some(server) || session.server_label.as_ref() == Some(server))
            .map(|session| session.session.clone())
            .collect();
        frames.calls.retain(|call| sessions.contains(&call.session));
        frames.completions.retain(|completion| sessions.contains(&completion.session));
        frames.elicitations.retain(|elicitation| sessions.contains(&elicitation.session));
    }
    if *filter != Filter::default() {
        let calls: AHashSet<u64> = frames.calls.iter().map(|call| call.call).collect();
        frames.args.retain(|arg| calls.contains(&arg.call));
        if filter.prompt.is_some() {
            frames.elicitations.retain(|elicitation| elicitation.call.is_some_and(|call| calls.contains(&call)));
        }
        let elicitations: AHashSet<u64> = frames.elicitations.iter().map(|row| row.elicitation).collect();
        frames.fields.retain(|field| elicitations.contains(&field.elicitation));
    }
    sort(&mut frames.calls, |call| call.seq);
    sort(&mut frames.args, |arg| arg.call);
    sort(&mut frames.listings, |listing| listing.seq);
    sort(&mut frames.completions, |completion| completion.seq);
    sort(&mut frames.elicitations, |elicitation| elicitation.seq);
    sort(&mut frames.fields, |field| field.elicitation);
    sort(&mut frames.sessions, |session| session.first_seq);
    frames.rejected.sort_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)));
    Ok(frames)
}
