//! The heads of HTTP/1 messages, and how they say where their bodies end (RFC 9112).

use super::body::{Chunks, Framing};

/// The most headers that are read in one head.
const HEADERS: usize = 512;

const METHODS: [&[u8]; 9] =
    [b"POST ", b"GET ", b"DELETE ", b"OPTIONS ", b"HEAD ", b"PUT ", b"PATCH ", b"CONNECT ", b"TRACE "];

/// Which messages a direction carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Requests,
    Answers,
}

/// What bytes at the beginning of a packet look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    Http(Side),
    Http2,
    Tls,
    /// Too few to tell.
    Short,
    Other,
}

/// Tells what the first bytes of a direction, or of a packet, are.
pub fn looks(bytes: &[u8]) -> Looks {
    let begins = |word: &[u8]| bytes.starts_with(word);
    let may_begin = |word: &[u8]| word.starts_with(bytes);
    match bytes {
        // Records of TLS 1.0 to 1.3, at most 2^14 bytes and what encryption adds.
        [0x14..=0x17, 0x03, 0x00..=0x04, 0x00..=0x48, ..] => Looks::Tls,
        _ if begins(b"HTTP/1.") => Looks::Http(Side::Answers),
        _ if begins(b"PRI * HTTP/2") => Looks::Http2,
        _ if METHODS.iter().any(|method| begins(method)) => Looks::Http(Side::Requests),
        _ if may_begin(b"HTTP/1.") || may_begin(b"PRI * HTTP/2") => Looks::Short,
        _ if METHODS.iter().any(|method| may_begin(method)) => Looks::Short,
        [0x14..=0x17] | [0x14..=0x17, 0x03] | [0x14..=0x17, 0x03, 0x00..=0x04] => Looks::Short,
        _ => Looks::Other,
    }
}

/// How a message begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    Request { method: String, url: String },
    Answer(u16),
}

impl Start {
    fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Request { method, .. } if method == wanted)
    }
}

/// The length of `text` up to the end of a head that begins with `known`.
pub fn head_end(known: &[u8], text: &[u8]) -> Option<usize> {
    // A blank line may begin in what was read before.
    let tail = known.get(known.len().saturating_sub(3)..).unwrap_or_default();
    let ends = |bytes: &[u8]| bytes.ends_with(b"\n\n") || bytes.ends_with(b"\n\r\n");
    memchr::memchr_iter(b'\n', text).map(|at| at + 1).find(|end| {
        let near = text.get(end.saturating_sub(3)..*end).unwrap_or_default();
        ends(&[tail, near].concat())
    })
}

type Head = (Start, Vec<(String, String)>);

pub fn parse(head: &[u8]) -> Result<Head, httparse::Error> {
    let mut room = [httparse::EMPTY_HEADER; HEADERS];
    let mut config = httparse::ParserConfig::default();
    config
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .ignore_invalid_headers_in_requests(true);
    if head.starts_with(b"HTTP/") {
        let mut answer = httparse::Response::new(&mut room);
        config.parse_response(&mut answer, head)?;
        return Ok((Start::Answer(answer.code.unwrap_or_default()), headers(answer.headers)));
    }
    let mut request = httparse::Request::new(&mut room);
    config.parse_request(&mut request, head)?;
    let (method, url) = (request.method.unwrap_or_default().to_owned(), request.path.unwrap_or_default().to_owned());
    Ok((Start::Request { method, url }, headers(request.headers)))
}

fn headers(found: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    let text = |header: &httparse::Header<'_>| String::from_utf8_lossy(header.value).into_owned();
    found.iter().map(|header| (header.name.to_ascii_lowercase(), text(header))).collect()
}

/// How the end of a body is known; `None` where there is no body. `asked` is how the request of an answer began.
pub fn framing(
    start: &Start,
    headers: &[(String, String)],
    asked: Option<&Start>,
) -> Result<Option<Framing>, &'static str> {
    if let Start::Answer(code) = *start {
        let bare = asked.is_some_and(|asked| asked.is("HEAD") || asked.is("CONNECT") && (200..300).contains(&code));
        if bare || matches!(code, 100..=199 | 204 | 304) {
            return Ok(None);
        }
    }
    let mut codings = headers.iter().filter(|(name, _)| name == "transfer-encoding").peekable();
    if codings.peek().is_some() {
        let last = codings.last().map(|(_, value)| value.rsplit(',').next().unwrap_or_default().trim());
        return match (last.is_some_and(|last| last.eq_ignore_ascii_case("chunked")), start) {
            (true, _) => Ok(Some(Framing::Chunked(Chunks::begin()))),
            (false, Start::Answer(_)) => Ok(Some(Framing::Close)),
            (false, Start::Request { .. }) => Err("its last transfer coding is not `chunked`"),
        };
    }
    let lengths = headers.iter().filter(|(name, _)| name == "content-length");
    let mut length = None;
    for value in lengths.flat_map(|(_, value)| value.split(',')) {
        let number = value.trim();
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number: u64 = number.parse().ok().filter(|_| digits).ok_or("`Content-Length` is no number")?;
        if length.is_some_and(|known| known != number) {
            return Err("two lengths that differ");
        }
        length = Some(number);
    }
    Ok(match (length, start) {
        (Some(length), _) => Some(Framing::Length(length)),
        (None, Start::Answer(_)) => Some(Framing::Close),
        (None, Start::Request { .. }) => None,
    })
}
