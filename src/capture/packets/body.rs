//! Where a message's body ends, and what of it belongs to the content (RFC 9112, section 6).

/// Longest line that gives a chunk's size, with its extensions; longest trailer.
const SIZE_LINE: usize = 1 << 10;
const TRAILER: usize = 1 << 16;

/// What is still to come of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Framing {
    /// So many bytes.
    Length(u64),
    Chunked(Chunks),
    /// Everything up to the end of the connection.
    Close,
}

/// Where the reading of chunks stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunks {
    /// In the line that gives a size.
    Size(Vec<u8>),
    /// In a chunk, so many bytes before its end.
    Inside(u64),
    /// In the line feed behind a chunk.
    Behind,
    /// In what follows the last chunk: bytes so far, and in the current line.
    Trailer { seen: usize, line: usize },
    /// Bytes are missing, and where the next chunk begins is not known.
    Lost,
}

impl Chunks {
    pub fn begin() -> Self {
        Self::Size(Vec::new())
    }
}

/// What some bytes of a body are.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'b> {
    /// So many bytes of the body, which are content.
    Content(&'b [u8]),
    /// So many bytes around the content.
    Around(usize),
    /// The body ends behind so many bytes around the content.
    End(usize),
    /// The next message may begin here: what was announced is not what comes.
    Broken,
}

impl Framing {
    /// Takes the next bytes (some): what the first of them are. `starts` says that they begin a packet.
    pub fn read<'b>(&mut self, bytes: &'b [u8], starts: bool) -> Part<'b> {
        match self {
            Self::Length(0) => Part::End(0),
            Self::Length(left) => {
                let part = first(bytes, *left);
                *left -= part.len() as u64;
                Part::Content(part)
            }
            Self::Close => Part::Content(bytes),
            Self::Chunked(chunks) => chunks.read(bytes, starts),
        }
    }

    /// Whether the body is over although nothing said so yet.
    pub fn is_over(&self) -> bool {
        *self == Self::Length(0)
    }

    /// Bytes are missing. False where the body's end may be among them.
    pub fn skip(&mut self, gap: u64) -> bool {
        match self {
            Self::Length(left) if gap <= *left => *left -= gap,
            Self::Length(_) => return false,
            Self::Chunked(Chunks::Inside(left)) if gap < *left => *left -= gap,
            Self::Chunked(Chunks::Inside(left)) if gap == *left => *self = Self::Chunked(Chunks::Behind),
            Self::Chunked(chunks) => *chunks = Chunks::Lost,
            Self::Close => {}
        }
        true
    }
}

fn first(bytes: &[u8], count: u64) -> &[u8] {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(bytes.len());
    bytes.get(..count).unwrap_or_default()
}

impl Chunks {
    fn read<'b>(&mut self, bytes: &'b [u8], starts: bool) -> Part<'b> {
        match self {
            Self::Inside(left) => {
                let part = first(bytes, *left);
                *left -= part.len() as u64;
                if *left == 0 {
                    *self = Self::Behind;
                }
                Part::Content(part)
            }
            Self::Behind => match bytes {
                [b'\r', ..] => Part::Around(1),
                [b'\n', ..] => {
                    *self = Self::begin();
                    Part::Around(1)
                }
                _ => Part::Broken,
            },
            Self::Size(line) => {
                let end = memchr::memchr(b'\n', bytes);
                let count = end.map_or(bytes.len(), |end| end + 1);
                if line.len() + count > SIZE_LINE {
                    return Part::Broken;
                }
                line.extend_from_slice(bytes.get(..count).unwrap_or_default());
                if end.is_none() {
                    return Part::Around(count);
                }
                match httparse::parse_chunk_size(line) {
                    Ok(httparse::Status::Complete((_, 0))) => *self = Self::Trailer { seen: 0, line: 0 },
                    Ok(httparse::Status::Complete((_, size))) => *self = Self::Inside(size),
                    _ => return Part::Broken,
                }
                Part::Around(count)
            }
            Self::Trailer { seen, line } => {
                let end = memchr::memchr(b'\n', bytes);
                let count = end.map_or(bytes.len(), |end| end + 1);
                let text = bytes.iter().take(count).filter(|byte| !matches!(byte, b'\r' | b'\n')).count();
                *line += text;
                *seen += count;
                if end.is_some() && *line == 0 {
                    return Part::End(count);
                }
                if end.is_some() {
                    *line = 0;
                }
                if *seen > TRAILER { Part::Broken } else { Part::Around(count) }
            }
            Self::Lost if starts && whole_chunk(bytes).is_some() => {
                *self = Self::begin();
                self.read(bytes, false)
            }
            Self::Lost => Part::Around(bytes.len()),
        }
    }
}

/// The content of the chunk that bytes begin with, where all of it is there and ends as a chunk does: its bytes prove
/// what they are. That of the last chunk is empty.
pub fn whole_chunk(bytes: &[u8]) -> Option<&[u8]> {
    let Ok(httparse::Status::Complete((head, size))) = httparse::parse_chunk_size(bytes) else { return None };
    let end = head.checked_add(usize::try_from(size).ok()?)?;
    bytes.get(end..)?.starts_with(b"\r\n").then(|| bytes.get(head..end)).flatten()
}

/// Whether a transfer coding is nothing but chunks, which are joined when a body is read.
pub fn is_only_chunked(coding: &str) -> bool {
    coding.trim().eq_ignore_ascii_case("chunked")
}
