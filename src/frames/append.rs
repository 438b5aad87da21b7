//! Rows → Arrow builders → Parquet row groups, with bounded memory.

use super::folder::{Folder, FramesError, Run, Staging};
use super::manifest::SourceRecord;
use super::part::{Hashing, PartRecord};
use crate::exchange::{Sink, Snapshot};
use crate::protocol::message::Ts;
use crate::schema::{ArgRow, CallRow, CompletionRow, ElicitationRow, FieldRow, FileRow, ListingRow, RejectedRow, Row};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows in builders before they become a record batch.
const BATCH_ROWS: usize = 8_192;
/// Encoded bytes in a row group before it is written out: this bounds the memory of a frame.
const ROW_GROUP_BYTES: usize = 2 << 20;
const ROW_GROUP_ROWS: usize = 16_384;

/// Writes the rows of one frame into one Parquet file. No file is made for a frame without rows.
struct FrameWriter<R: Row> {
    /// The part's path in the folder, and where it is written first.
    part: String,
    path: PathBuf,
    schema: SchemaRef,
    builders: R::Builders,
    pending: usize,
    writer: Option<ArrowWriter<Hashing>>,
    error: Option<FramesError>,
}

impl<R: Row> FrameWriter<R> {
    fn new(staging: &Staging, name: &str) -> Self {
        let fields: Vec<_> = R::columns().into_iter().map(|column| column.field).collect();
        let part = format!("{}/{name}.parquet", R::FRAME);
        Self {
            path: staging.file(&part),
            part,
            schema: Arc::new(Schema::new(fields)),
            builders: R::Builders::default(),
            pending: 0,
            writer: None,
            error: None,
        }
    }

    /// Adds a row. The first failure is kept and reported by [`Self::close`].
    fn push(&mut self, row: &R) {
        if self.error.is_some() {
            return;
        }
        row.append(&mut self.builders);
        self.pending += 1;
        if self.pending >= BATCH_ROWS {
            self.error = self.flush().err();
        }
    }

    fn flush(&mut self) -> Result<(), FramesError> {
        if self.pending == 0 {
            return Ok(());
        }
        let path = self.path.display().to_string();
        let batch = RecordBatch::try_new(self.schema.clone(), R::finish(&mut self.builders))
            .map_err(|source| FramesError::Batch { path: path.clone(), source })?;
        self.pending = 0;
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let file = Hashing::create(&self.path)?;
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
                    .build();
                ArrowWriter::try_new(file, self.schema.clone(), Some(properties))
                    .map_err(|source| FramesError::Write { path: path.clone(), source })?
            }
        };
        let writer = self.writer.insert(writer);
        let mut write = || {
            writer.write(&batch)?;
            if writer.in_progress_size() > ROW_GROUP_BYTES {
                writer.flush()?;
            }
            Ok(())
        };
        write().map_err(|source| FramesError::Write { path, source })
    }

    /// Ends the part; `None` where there were no rows.
    fn close(mut self) -> Result<Option<PartRecord>, FramesError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.flush()?;
        let Some(writer) = self.writer else { return Ok(None) };
        let path = self.path.display().to_string();
        let file = writer.into_inner().map_err(|source| FramesError::Write { path, source })?;
        Ok(Some(file.record(self.part)))
    }
}

fn write_all<R: Row>(staging: &Staging, name: &str, rows: &[R]) -> Result<Option<PartRecord>, FramesError> {
    let mut writer = FrameWriter::<R>::new(staging, name);
    for row in rows {
        writer.push(row);
    }
    writer.close()
}

/// The frames that grow row by row, as one part each.
pub struct Part {
    calls: FrameWriter<CallRow>,
    args: FrameWriter<ArgRow>,
    listings: FrameWriter<ListingRow>,
    completions: FrameWriter<CompletionRow>,
    elicitations: FrameWriter<ElicitationRow>,
    fields: FrameWriter<FieldRow>,
    rejected: FrameWriter<RejectedRow>,
}

impl Part {
    fn new(staging: &Staging, name: &str) -> Self {
        Self {
            calls: FrameWriter::new(staging, name),
            args: FrameWriter::new(staging, name),
            listings: FrameWriter::new(staging, name),
            completions: FrameWriter::new(staging, name),
            elicitations: FrameWriter::new(staging, name),
            fields: FrameWriter::new(staging, name),
            rejected: FrameWriter::new(staging, name),
        }
    }

    pub fn rejected(&mut self, row: &RejectedRow) {
        self.rejected.push(row);
    }

    fn close(self) -> Result<Vec<PartRecord>, FramesError> {
        let parts = [
            self.calls.close()?,
            self.args.close()?,
            self.listings.close()?,
            self.completions.close()?,
            self.elicitations.close()?,
            self.fields.close()?,
            self.rejected.close()?,
        ];
        Ok(parts.into_iter().flatten().collect())
    }
}

impl Sink for Part {
    fn call(&mut self, call: CallRow, args: Vec<ArgRow>) {
        self.calls.push(&call);
        for arg in &args {
            self.args.push(arg);
        }
    }

    fn listing(&mut self, listing: ListingRow) {
        self.listings.push(&listing);
    }

    fn completion(&mut self, completion: CompletionRow) {
        self.completions.push(&completion);
    }

    fn elicitation(&mut self, elicitation: ElicitationRow, fields: Vec<FieldRow>) {
        self.elicitations.push(&elicitation);
        for field in &fields {
            self.fields.push(field);
        }
    }
}

/// One run's additions to a frames folder. Nothing of it is part of the folder before [`Append::finish`].
pub struct Append {
    folder: Folder,
    staging: Staging,
    /// Rows that nothing can change any more.
    pub closed: Part,
    /// Rows that a later run may still change.
    pub open: Part,
}

impl Append {
    pub fn begin(folder: Folder) -> Result<Self, FramesError> {
        let staging = folder.stage()?;
        let (part, open) = (name(&folder, "part"), name(&folder, "open"));
        Ok(Self { closed: Part::new(&staging, &part), open: Part::new(&staging, &open), staging, folder })
    }

    /// Latest time of what earlier runs read.
    pub fn last_ts(&self) -> Option<Ts> {
        self.folder.manifest.last_ts.map(Ts)
    }

    /// Writes the rest, makes everything part of the folder and returns it as it is now.
    pub fn finish(
        self,
        snapshot: &Snapshot,
        files: &[FileRow],
        state: &[u8],
        sources: Vec<SourceRecord>,
    ) -> Result<Folder, FramesError> {
        let Self { mut folder, staging, closed, open } = self;
        let mut parts = closed.close()?;
        parts.extend(open.close()?);
        parts.extend(write_all(&staging, &name(&folder, "part"), files)?);
        let whole = name(&folder, "snapshot");
        parts.extend(write_all(&staging, &whole, &snapshot.sessions)?);
        parts.extend(write_all(&staging, &whole, &snapshot.methods)?);
        parts.extend(write_all(&staging, &whole, &snapshot.declarations)?);
        parts.extend(write_all(&staging, &whole, &snapshot.catalogs)?);
        let last_ts = files.iter().filter_map(|file| file.last_ts).map(|ts| ts.0).max();
        folder.commit(staging, Run { parts, state, sources, last_ts })?;
        Ok(folder)
    }
}

/// Name of a file that the coming run writes.
fn name(folder: &Folder, kind: &str) -> String {
    format!("{kind}-{:05}", folder.manifest.ingests + 1)
}
