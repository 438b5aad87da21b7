//! Bodies as they were meant: without chunks, compression and what a recorder did to their text.

use super::{Body, Leg, Piece};
use crate::capture::blocks::LONGEST_LINE;
use crate::protocol::message::Ts;
use std::borrow::Cow;
use std::io::Read;

/// A body that can be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Plain<'b> {
    Empty,
    /// Its bytes, each piece with its time where the recorder kept times.
    Pieces(Vec<PlainPiece<'b>>),
    /// There was one and it is not known, and why.
    Unknown(&'static str),
}

/// A piece of a body that can be read.
#[derive(Debug, PartialEq, Eq)]
pub struct PlainPiece<'b> {
    pub ts: Option<Ts>,
    /// Bytes are missing before it.
    pub after_gap: bool,
    pub bytes: Cow<'b, [u8]>,
}

impl<'b> From<&'b Piece> for PlainPiece<'b> {
    fn from(piece: &'b Piece) -> Self {
        Self { ts: piece.ts, after_gap: piece.after_gap, bytes: Cow::Borrowed(&piece.bytes) }
    }
}

/// What stands in a body, and whether some of it is missing.
pub fn plain(leg: &Leg) -> (Plain<'_>, bool) {
    let (bytes, cut) = match &leg.body {
        Body::Empty => return (Plain::Empty, false),
        Body::NotStored => return (Plain::Unknown("not stored"), false),
        Body::Whole(bytes) => (Cow::Borrowed(bytes.as_slice()), false),
        Body::Cut(bytes) => (Cow::Borrowed(bytes.as_slice()), true),
        Body::Pieces(pieces) => {
            let cut = pieces.iter().any(|piece| piece.after_gap);
            if !is_packed(&leg.headers) {
                return (Plain::Pieces(pieces.iter().map(PlainPiece::from).collect()), cut);
            }
            // Where in the plain text a piece ends is not known before all of it is, and nothing behind a gap is.
            let whole = pieces.iter().take_while(|piece| !piece.after_gap);
            (Cow::Owned(whole.flat_map(|piece| &piece.bytes).copied().collect()), cut)
        }
    };
    let (bytes, cut) = without_chunks(leg, bytes, cut);
    match unpacked(leg, bytes) {
        Ok((bytes, broken)) if bytes.is_empty() && (cut || broken) => {
            (Plain::Unknown("cut before its beginning"), true)
        }
        Ok((bytes, _)) if bytes.is_empty() => (Plain::Empty, false),
        Ok((bytes, broken)) => (Plain::Pieces(vec![PlainPiece { ts: None, after_gap: false, bytes }]), cut || broken),
        Err(reason) => (Plain::Unknown(reason), false),
    }
}

/// Some recorders keep the framing of `Transfer-Encoding: chunked` in the body. It is taken off only where the whole
/// body is framed.
fn without_chunks<'b>(leg: &Leg, bytes: Cow<'b, [u8]>, cut: bool) -> (Cow<'b, [u8]>, bool) {
    if !leg.header("transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked")) {
        return (bytes, cut);
    }
    match joined(&bytes) {
        Some((plain, ended)) => (Cow::Owned(plain), cut || !ended),
        None => (bytes, cut),
    }
}

/// The contents of chunks, and whether the last of them is there; `None` where the bytes are not framed.
fn joined(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let end = memchr::memmem::find(rest.get(..rest.len().min(1024))?, b"\r\n");
        let Some(end) = end else {
            // A size that is cut; at the very beginning it is no size.
            return (!plain.is_empty()).then_some((plain, false));
        };
        let line = rest.get(..end)?;
        let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
        if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        rest = rest.get(end + 2..)?;
        if size == 0 {
            return Some((plain, true));
        }
        let Some(chunk) = rest.get(..size) else {
            plain.extend_from_slice(rest);
            return Some((plain, false));
        };
        plain.extend_from_slice(chunk);
        rest = rest.get(size..)?;
        if rest.is_empty() {
            return Some((plain, false));
        }
        rest = rest.strip_prefix(b"\r\n")?;
    }
}

/// The codings of a body in the order in which they come off: those of its transfer, then those of its content
/// (RFC 9112, section 6.1). Chunks are none: they are joined before.
fn codings(headers: &[(String, String)]) -> impl Iterator<Item = &str> {
    ["transfer-encoding", "content-encoding"].into_iter().flat_map(|wanted| {
        let values = headers.iter().rev().filter(move |(name, _)| name == wanted);
        values
            .flat_map(|(_, value)| value.rsplit(',').map(str::trim))
            .filter(|coding| !["", "identity", "chunked"].iter().any(|nothing| coding.eq_ignore_ascii_case(nothing)))
    })
}

/// Whether headers say that a body is compressed.
pub fn is_packed(headers: &[(String, String)]) -> bool {
    codings(headers).next().is_some()
}

/// Takes compression off. Recorders that store plain text leave the header in place: what does not begin as the
/// compressed form does is plain.
fn unpacked<'b>(leg: &Leg, bytes: Cow<'b, [u8]>) -> Result<(Cow<'b, [u8]>, bool), &'static str> {
    let (mut bytes, mut broken) = (bytes, false);
    for encoding in codings(&leg.headers) {
        let inflated = match encoding.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" if bytes.starts_with(&[0x1f, 0x8b]) => {
                read_all(flate2::read::MultiGzDecoder::new(&*bytes))
            }
            "deflate" if is_zlib(&bytes) => read_all(flate2::read::ZlibDecoder::new(&*bytes)),
            // Some servers leave out the frame that the name stands for.
            "deflate" if !is_text(&bytes) => read_all(flate2::read::DeflateDecoder::new(&*bytes)),
            "zstd" if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => {
                read_all(zstd::stream::read::Decoder::new(&*bytes).map_err(|_| "zstd-compressed and damaged")?)
            }
            "br" if !is_text(&bytes) => return Err("brotli-compressed"),
            "gzip" | "x-gzip" | "deflate" | "zstd" | "br" => continue,
            _ if is_text(&bytes) => continue,
            _ => return Err("compressed in a way that is not known"),
        };
        broken |= inflated.1;
        bytes = Cow::Owned(inflated.0);
    }
    Ok((bytes, broken))
}

/// What can be read, and whether it ends before its time. A body that swells beyond the longest record is cut there.
fn read_all(reader: impl Read) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let broken = reader.take(LONGEST_LINE as u64).read_to_end(&mut bytes).is_err();
    let cut = broken || bytes.len() >= LONGEST_LINE;
    (bytes, cut)
}

fn is_zlib(bytes: &[u8]) -> bool {
    let [first, second, ..] = bytes else { return false };
    first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
}

/// Whether a body reads like JSON, markup or an event stream.
fn is_text(bytes: &[u8]) -> bool {
    let head = bytes.get(..512).unwrap_or(bytes);
    !head.iter().any(|byte| *byte < 0x20 && !byte.is_ascii_whitespace())
        && match std::str::from_utf8(head) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        }
}

/// Text that was decoded as Latin-1 although it is UTF-8, as it was; `None` where it cannot have been.
pub fn repaired(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let bytes: Option<Vec<u8>> = text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
    bytes.filter(|bytes| std::str::from_utf8(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn leg(headers: &[(&str, &str)], body: Body) -> Leg {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Leg { headers, body, ..Leg::default() }
    }

    /// The text of a body, with a mark where its end is missing.
    fn read(headers: &[(&str, &str)], body: Body) -> String {
        let leg = leg(headers, body);
        let (found, cut) = plain(&leg);
        let text = match found {
            Plain::Empty => "(empty)".to_owned(),
            Plain::Unknown(reason) => format!("({reason})"),
            Plain::Pieces(pieces) => {
                pieces.iter().map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned()).collect()
            }
        };
        if cut { format!("{text}|") } else { text }
    }

    fn whole(bytes: impl Into<Vec<u8>>) -> Body {
        Body::Whole(bytes.into())
    }

    #[test]
    fn compression_is_taken_off_where_it_is_there() {
        let text = r#"{"jsonrpc":"2.0"}"#;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(text.as_bytes()).unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        raw.write_all(text.as_bytes()).unwrap();
        for (encoding, bytes) in [
            ("gzip", gzip.clone()),
            ("GZIP", gzip.clone()),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("zstd", zstd::encode_all(text.as_bytes(), 1).unwrap()),
            ("gzip", text.as_bytes().to_vec()),
            ("br", text.as_bytes().to_vec()),
            ("deflate", text.as_bytes().to_vec()),
            ("identity", text.as_bytes().to_vec()),
        ] {
            assert_eq!(read(&[("content-encoding", encoding)], whole(bytes)), text, "{encoding}");
        }
        let cut = read(&[("content-encoding", "gzip")], whole(&gzip[..gzip.len() - 9]));
        assert!(cut.ends_with('|'), "{cut}");
        assert_eq!(read(&[("content-encoding", "br")], whole(*b"\x1b\x10\x00\xf8\x8d\x94")), "(brotli-compressed)");
        assert_eq!(
            read(&[("content-encoding", "exotic")], whole(*b"\x00\x01")),
            "(compressed in a way that is not known)"
        );
    }

    #[test]
    fn chunks_are_joined_only_where_the_body_is_framed() {
        let chunked = [("transfer-encoding", "chunked")];
        assert_eq!(read(&chunked, whole("5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")), "hello world");
        assert_eq!(read(&chunked, whole("5\r\nhello\r\n6\r\n wo")), "hello wo|");
        assert_eq!(read(&chunked, whole("data: 5\r\n\r\n")), "data: 5\r\n\r\n");
        assert_eq!(read(&chunked, whole("{\"a\":1}")), "{\"a\":1}");
        assert_eq!(read(&[], whole("5\r\nhello\r\n0\r\n\r\n")), "5\r\nhello\r\n0\r\n\r\n");
    }

    #[test]
    fn what_is_not_there_is_said() {
        assert_eq!(read(&[], Body::Empty), "(empty)");
        assert_eq!(read(&[], Body::NotStored), "(not stored)");
        assert_eq!(read(&[], Body::Cut(Vec::new())), "(cut before its beginning)|");
        assert_eq!(read(&[], Body::Cut(b"{".to_vec())), "{|");
    }

    #[test]
    fn nothing_behind_a_gap_is_inflated() {
        let text = "data: {}\n\n".repeat(500);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let (first, second) = gzip.split_at(gzip.len() - 9);
        let pieces = |after_gap| {
            let piece = |after_gap, bytes: &[u8]| Piece { ts: None, after_gap, bytes: bytes.to_vec() };
            Body::Pieces(vec![piece(false, first), piece(after_gap, second)])
        };
        assert_eq!(read(&[("content-encoding", "gzip")], pieces(false)), text);
        let cut = read(&[("content-encoding", "gzip")], pieces(true));
        assert!(text.starts_with(cut.strip_suffix('|').unwrap()), "{cut}");
    }

    #[test]
    fn latin_1_is_repaired_only_where_it_gives_utf_8() {
        assert_eq!(repaired("â\u{80}\u{93} Zürich".as_bytes()), None, "half of it was read right");
        let wrong: String = "– Zürich 😀".bytes().map(char::from).collect();
        assert_eq!(repaired(wrong.as_bytes()), Some("– Zürich 😀".as_bytes().to_vec()));
        assert_eq!(repaired("plain".as_bytes()), None);
        assert_eq!(repaired("Zürich".as_bytes()), None);
        assert_eq!(repaired("–".as_bytes()), None);
    }
}
