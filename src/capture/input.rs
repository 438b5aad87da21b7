//! From a path to text: compression by magic bytes, byte order marks, UTF-16.

use super::error::CaptureError;
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a file is kept on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // Skippable frames may come first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// How characters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf8Marked,
    Utf16,
}

/// A file being read as text.
pub struct Input {
    reader: Box<dyn Read + Send>,
    pub packing: Packing,
    pub encoding: Encoding,
    /// Bytes taken from the disk so far.
    taken: Arc<AtomicU64>,
    path: String,
}

/// Counts the bytes taken from disk, for the file and for the whole run.
struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
    progress: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        self.progress.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Input {
    /// Opens a file, from a byte offset on where it is plain text.
    pub fn open(path: &Path, shown: &str, offset: u64, progress: &Arc<AtomicU64>) -> Result<Self, CaptureError> {
        let unreadable = |source| CaptureError::Unreadable { path: shown.to_owned(), source };
        let mut file = File::open(path).map_err(unreadable)?;
        if offset > 0 {
            file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        }
        Self::new(file, shown, progress)
    }

    pub fn new(
        source: impl Read + Send + 'static,
        shown: &str,
        progress: &Arc<AtomicU64>,
    ) -> Result<Self, CaptureError> {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: source, taken: taken.clone(), progress: progress.clone() };
        let broken = |source| CaptureError::Unreadable { path: shown.to_owned(), source };
        let (head, rest) = peek(Box::new(counted), 4).map_err(broken)?;
        let packing = Packing::of(&head);
        let whole = Cursor::new(head).chain(rest);
        let unpacked: Box<dyn Read + Send> = match packing {
            Packing::Plain => Box::new(whole),
            Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(128 << 10, whole))),
            Packing::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(whole).map_err(broken)?;
                decoder.window_log_max(31).map_err(broken)?;
                Box::new(decoder)
            }
        };
        let mut input =
            Self { reader: Box::new(io::empty()), packing, encoding: Encoding::Utf8, taken, path: shown.to_owned() };
        let (head, rest) = peek(unpacked, 3).map_err(|source| input.error(source))?;
        input.encoding = match &*head {
            [0xef, 0xbb, 0xbf] => Encoding::Utf8Marked,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Encoding::Utf16,
            _ => Encoding::Utf8,
        };
        let whole = Cursor::new(head).chain(rest);
        input.reader = match input.encoding {
            Encoding::Utf8 => Box::new(whole),
            Encoding::Utf8Marked | Encoding::Utf16 => {
                let mut decoder = DecodeReaderBytesBuilder::new();
                Box::new(decoder.utf8_passthru(true).strip_bom(true).build(whole))
            }
        };
        Ok(input)
    }

    /// Puts text that was read already back in front.
    pub fn push_back(self, head: Vec<u8>) -> Self {
        Self { reader: Box::new(Cursor::new(head).chain(self.reader)), ..self }
    }

    /// Bytes read from the disk so far.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Fills the buffer as far as the input goes; fewer bytes than asked for mean that it ended.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, (usize, CaptureError)> {
        let mut filled = 0;
        while filled < buffer.len() {
            let rest = buffer.get_mut(filled..).unwrap_or_default();
            match self.reader.read(rest) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err((filled, self.error(error))),
            }
        }
        Ok(filled)
    }

    fn error(&self, source: io::Error) -> CaptureError {
        let (path, offset) = (self.path.clone(), self.taken());
        if self.packing == Packing::Plain {
            return CaptureError::Broken { path, offset, source };
        }
        let detail = match source.kind() {
            io::ErrorKind::UnexpectedEof => "it ends in the middle".to_owned(),
            _ => source.to_string(),
        };
        CaptureError::Corrupt { path, kind: self.packing.name(), offset, detail }
    }
}

/// The first bytes, and what follows them.
fn peek(mut reader: Box<dyn Read + Send>, count: usize) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::with_capacity(count);
    reader.as_mut().take(count as u64).read_to_end(&mut head)?;
    Ok((head, reader))
}
