//! Events of an event stream (WHATWG HTML, "Server-sent events"), as far as a recorder kept them.

use crate::protocol::message::Ts;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Its own `id`, where it has one.
    pub id: Option<Vec<u8>>,
    /// Its `event`; empty where it has none.
    pub name: Vec<u8>,
    /// Its `data` lines, joined by line feeds; empty in the event that opens a stream (2025-11-25).
    pub data: Vec<u8>,
    /// When its last byte came, where pieces of the body have times.
    pub ts: Option<Ts>,
    /// The body ends inside it.
    pub cut: bool,
    /// It begins where bytes were missing before, and may be the rest of an event.
    pub unsure: bool,
}

/// Reads an event stream piece by piece.
#[derive(Debug, Default)]
pub struct Events {
    /// A line that is not finished.
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    event: Event,
    /// The event has a `data` line.
    has_data: bool,
    /// A line was read: a byte order mark can stand before the first only.
    begun: bool,
    /// Bytes are missing: nothing is read up to the end of the event that they belong to.
    lost: bool,
    /// The next line is the first behind missing bytes.
    behind: bool,
}

impl Events {
    /// Takes the next bytes of the body, which came at `ts`, and adds the events that end in them.
    pub fn feed(&mut self, mut bytes: &[u8], ts: Option<Ts>, out: &mut Vec<Event>) {
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = match rest {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            if self.line.is_empty() {
                self.take_line(line, ts, out);
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                self.take_line(&line, ts, out);
            }
        }
        self.line.extend_from_slice(bytes);
    }

    /// Bytes of the body are missing here: the event before is cut. An event may begin right behind, where a line does;
    /// the next that certainly is whole begins behind a blank line.
    pub fn skip_gap(&mut self, ts: Option<Ts>, out: &mut Vec<Event>) {
        self.close(ts, out);
        self.event = Event::default();
        // A line feed that comes first may belong to a carriage return that is missing.
        self.after_return = true;
        self.begun = true;
        self.lost = true;
        self.behind = true;
    }

    /// The body ends: an event that no blank line closed is kept and marked.
    pub fn finish(mut self, ts: Option<Ts>, out: &mut Vec<Event>) {
        self.close(ts, out);
    }

    fn close(&mut self, ts: Option<Ts>, out: &mut Vec<Event>) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, ts, out);
        }
        if self.has_data || self.event.id.is_some() {
            self.event.cut = true;
            self.dispatch(ts, out);
        }
    }

    fn take_line(&mut self, line: &[u8], ts: Option<Ts>, out: &mut Vec<Event>) {
        let mut line = line;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            (self.lost, self.behind) = (false, false);
            return self.dispatch(ts, out);
        }
        if std::mem::take(&mut self.behind) && begins_field(line) {
            self.lost = false;
            self.event.unsure = true;
        }
        if self.lost {
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default()),
            None => (line, [].as_slice()),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = value.to_vec(),
            b"id" if !value.contains(&0) => self.event.id = Some(value.to_vec()),
            // `retry`, comments (no field before the colon), and fields nobody knows.
            _ => {}
        }
    }

    fn dispatch(&mut self, ts: Option<Ts>, out: &mut Vec<Event>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) || event.id.is_some() {
            out.push(Event { ts, ..event });
        }
    }
}

/// Whether a line is one that an event may begin with.
fn begins_field(line: &[u8]) -> bool {
    let fields: [&[u8]; 4] = [b"event:", b"data:", b"id:", b"retry:"];
    fields.iter().any(|field| line.starts_with(field))
}

/// Whether a body that nothing declares an event stream reads like the beginning of one.
pub fn looks_like(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    begins_field(body) || (body.starts_with(b":") && memchr::memmem::find(body, b"\ndata:").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]]) -> Vec<(String, String, String, bool)> {
        let (mut reader, mut out) = (Events::default(), Vec::new());
        for piece in pieces {
            reader.feed(piece, None, &mut out);
        }
        reader.finish(None, &mut out);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        out.iter()
            .map(|event| {
                (event.id.as_deref().map_or("-".to_owned(), text), text(&event.name), text(&event.data), event.cut)
            })
            .collect()
    }

    fn event(id: &str, name: &str, data: &str, cut: bool) -> (String, String, String, bool) {
        (id.to_owned(), name.to_owned(), data.to_owned(), cut)
    }

    #[test]
    fn line_ends_comments_and_fields_are_those_of_the_standard() {
        let wanted = [event("7", "message", "{\n}", false), event("-", "", "x", false)];
        for text in [
            ": keep-alive\n\nevent: message\nid: 7\nretry: 500\ndata: {\ndata:}\n\ndata: x\n\n",
            ": keep-alive\r\n\r\nevent: message\r\nid: 7\r\ndata: {\r\ndata:}\r\n\r\ndata: x\r\n\r\n",
            "event:message\rid:7\rdata:{\rdata:}\r\rdata:x\r\r",
            "\u{feff}event: message\nid: 7\nunknown: 1\nunknown\ndata: {\ndata:}\n\n\n\ndata: x\n\n",
        ] {
            assert_eq!(events(&[text.as_bytes()]), wanted, "{text:?}");
        }
    }

    #[test]
    fn an_event_without_data_is_the_priming_one_and_a_cut_event_is_kept() {
        let text = b"id: 1\ndata: \n\nevent: x\n\nid: 2\n\ndata: {\"jsonrpc\"";
        assert_eq!(
            events(&[text]),
            [event("1", "", "", false), event("2", "", "", false), event("-", "", "{\"jsonrpc\"", true)]
        );
        assert_eq!(events(&[b"data: a\n"]), [event("-", "", "a", true)]);
        assert_eq!(events(&[b"event: message\n"]), []);
    }

    #[test]
    fn behind_a_gap_events_are_read_and_the_first_of_them_may_be_a_rest() {
        for (before, after, wanted) in [
            ("data: a\n\ndata: b", "c\ndata: d\n\ndata: e\n\n", vec!["a", "b (cut)", "e"]),
            ("data: a\r\n\r\ndata: b\r", "\ndata: c\r\n\r\ndata: e\r\n\r\n", vec!["a", "b (cut)", "c (unsure)", "e"]),
            ("data: a\n\n", "data: b\n\ndata: e", vec!["a", "b (unsure)", "e (cut)"]),
            ("data: a\n\nevent: x\n", "data: b\ndata: c", vec!["a", "b\nc (cut) (unsure)"]),
            ("data: a\n\n", "\ndata: b\n\n", vec!["a", "b (unsure)"]),
            ("data: a\n\n", "", vec!["a"]),
        ] {
            let (mut reader, mut out) = (Events::default(), Vec::new());
            reader.feed(before.as_bytes(), None, &mut out);
            reader.skip_gap(None, &mut out);
            reader.feed(after.as_bytes(), None, &mut out);
            reader.finish(None, &mut out);
            assert!(out.iter().all(|event| event.name.is_empty()), "the name is another event's");
            let marks =
                |event: &Event| [if event.cut { " (cut)" } else { "" }, if event.unsure { " (unsure)" } else { "" }];
            let data = |event: &Event| String::from_utf8_lossy(&event.data).into_owned();
            let found: Vec<_> = out.iter().map(|event| data(event) + &marks(event).concat()).collect();
            assert_eq!(found, wanted, "{before:?} … {after:?}");
        }
    }

    #[test]
    fn streams_are_told_by_their_first_field() {
        for stream in ["event: a\n", "\u{feff}data: {}", "\n\nid: 1", ": hello\ndata: {}"] {
            assert!(looks_like(stream.as_bytes()), "{stream:?}");
        }
        for other in ["{\"data\": 1}", "", "dates: 1", ": hello"] {
            assert!(!looks_like(other.as_bytes()), "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn where_pieces_end_changes_nothing(text in "[dait: \r\n{}1]{0,80}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let bytes = text.as_bytes();
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            ends.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for end in ends {
                pieces.push(&bytes[from..end]);
                from = end;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(events(&pieces), events(&[bytes]));
        }
    }
}
