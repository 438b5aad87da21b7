//! Rows → Arrow builders → Parquet row groups, with bounded memory.

use super::folder::{Folder, FramesError, SourceRecord};
use crate::exchange::{Sink, Snapshot};
use crate::protocol::message::Ts;
use crate::schema::{ArgRow, CallRow, CompletionRow, ElicitationRow, FieldRow, FileRow, ListingRow, RejectedRow, Row};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows in builders before they become a record batch.
const BATCH_ROWS: usize = 8_192;
/// Encoded bytes in a row group before it is written out: this bounds the memory of a frame.
const ROW_GROUP_BYTES: usize = 8 << 20;
const ROW_GROUP_ROWS: usize = 65_536;

/// Writes the rows of one frame into one Parquet file. No file is made for a frame without rows.
struct FrameWriter<R: Row> {
    path: PathBuf,
    schema: SchemaRef,
    builders: R::Builders,
    pending: usize,
    writer: Option<ArrowWriter<File>>,
    error: Option<FramesError>,
}

impl<R: Row> FrameWriter<R> {
    fn new(staging: &Path, part: &str) -> Self {
        let fields: Vec<_> = R::columns().into_iter().map(|column| column.field).collect();
        Self {
            path: staging.join(format!("{}@{part}.parquet", R::FRAME)),
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
                let file = File::create(&self.path).map_err(FramesError::io(&self.path, "write"))?;
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

    fn close(mut self) -> Result<(), FramesError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.flush()?;
        if let Some(writer) = self.writer {
            let path = self.path.display().to_string();
            writer.close().map_err(|source| FramesError::Write { path, source })?;
        }
        Ok(())
    }
}

fn write_all<R: Row>(staging: &Path, part: &str, rows: &[R]) -> Result<(), FramesError> {
    let mut writer = FrameWriter::<R>::new(staging, part);
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
    fn new(staging: &Path, part: &str) -> Self {
        Self {
            calls: FrameWriter::new(staging, part),
            args: FrameWriter::new(staging, part),
            listings: FrameWriter::new(staging, part),
            completions: FrameWriter::new(staging, part),
            elicitations: FrameWriter::new(staging, part),
            fields: FrameWriter::new(staging, part),
            rejected: FrameWriter::new(staging, part),
        }
    }

    pub fn rejected(&mut self, row: &RejectedRow) {
        self.rejected.push(row);
    }

    fn close(self) -> Result<(), FramesError> {
        self.calls.close()?;
        self.args.close()?;
        self.listings.close()?;
        self.completions.close()?;
        self.elicitations.close()?;
        self.fields.close()?;
        self.rejected.close()
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

/// One run's additions to a frames folder. Nothing of it is visible in the folder before [`Append::finish`].
pub struct Append {
    folder: Folder,
    staging: PathBuf,
    /// Rows that nothing can change any more.
    pub closed: Part,
    /// Rows that a later run may still change.
    pub open: Part,
}

impl Append {
    pub fn begin(folder: Folder) -> Result<Self, FramesError> {
        let staging = folder.staging()?;
        let part = format!("part-{:05}", folder.manifest.ingests + 1);
        Ok(Self { closed: Part::new(&staging, &part), open: Part::new(&staging, "open"), staging, folder })
    }

    /// Latest time of what earlier runs read.
    pub fn last_ts(&self) -> Option<Ts> {
        self.folder.manifest.last_ts.map(Ts)
    }

    /// Writes the rest, moves everything into place and returns the folder as it is now.
    pub fn finish(
        self,
        snapshot: &Snapshot,
        files: &[FileRow],
        state: &[u8],
        sources: Vec<SourceRecord>,
    ) -> Result<Folder, FramesError> {
        let Self { mut folder, staging, closed, open } = self;
        closed.close()?;
        open.close()?;
        let part = format!("part-{:05}", folder.manifest.ingests + 1);
        write_all(&staging, &part, files)?;
        write_all(&staging, "snapshot", &snapshot.sessions)?;
        write_all(&staging, "snapshot", &snapshot.methods)?;
        write_all(&staging, "snapshot", &snapshot.declarations)?;
        write_all(&staging, "snapshot", &snapshot.catalogs)?;
        // A frame that had open rows before and has none now must not keep the old ones.
        for frame in [
            CallRow::FRAME,
            ArgRow::FRAME,
            ListingRow::FRAME,
            CompletionRow::FRAME,
            ElicitationRow::FRAME,
            FieldRow::FRAME,
        ] {
            let stale = folder.root.join(frame).join("open.parquet");
            if stale.exists() {
                std::fs::remove_file(&stale).map_err(FramesError::io(&stale, "remove"))?;
            }
        }
        let duplicates = snapshot.duplicates.iter().map(|(file, count)| (file.to_string(), *count)).collect();
        let last_ts = files.iter().filter_map(|file| file.last_ts).map(|ts| ts.0).max();
        folder.commit(state, sources, duplicates, last_ts)?;
        Ok(folder)
    }
}
