//! HTTP archives (HAR 1.2, and 1.1, which differs in what is not read here): what browsers and proxies export.

mod entry;
mod synthetic;

use super::{About, Format};
use crate::capture::error::CaptureError;
use crate::capture::http::{self, Exchanges, Item, Listed};
use crate::capture::input::Input;
use crate::capture::records::{Recognised, Records};
use crate::capture::sink::FileFacts;
use crate::capture::skim::Cursor;
use crate::capture::time;
use crate::protocol::json::{self, Oddities};
use crate::protocol::message::Ts;
pub(super) use entry::{Kept, body, headers, kept_not, not_an_object, number};

pub struct Har;

/// Bytes of an archive's beginning that are looked through for what wrote it.
const HEAD: usize = 64 << 10;

impl Format for Har {
    fn name(&self) -> &'static str {
        "har"
    }

    fn looks_like(&self) -> &'static str {
        "{\"log\":{\"version\":\"1.2\",\"creator\":…,\"entries\":[…]}} (an HTTP archive)"
    }

    fn about(&self) -> About {
        About {
            what: "an HTTP archive (HAR)".into(),
            writer: "browsers' developer tools, mitmproxy, Charles, Fiddler, mcpsnoop, Reticle".into(),
            bodies: "yes, where they were exported with content".into(),
            values: "yes".into(),
            times: "of requests and answers; messages inside an event stream stand between".into(),
            direction: "request or answer".into(),
            session: "the header Mcp-Session-Id, else the address (2024-11-05)".into(),
        }
    }

    fn recognise(&self, head: &[u8], _whole: bool) -> Option<Recognised> {
        let found = Beginning::of(head)?;
        let why = match &found.creator {
            Some(creator) => format!("an HTTP archive that {creator} wrote"),
            None => "an object with a `log` of `entries`: an HTTP archive".to_owned(),
        };
        Some(Recognised { why, variant: found.creator, first_ts: found.first_ts })
    }

    fn records(&self, mut input: Input, file: &FileFacts) -> Option<Box<dyn Records>> {
        let mut head = vec![0; HEAD];
        // An error comes again when the rest is read.
        let count = input.fill(&mut head).unwrap_or_else(|(count, _)| count);
        head.truncate(count);
        let beginning = Beginning::of(&head).unwrap_or_default();
        let mitmproxy = beginning.is_by("mitmproxy");
        let input = input.push_back(head);
        let read = Box::new(move |text: &str, position| entry::exchange(text, position, mitmproxy));
        let listed = Listed::new(input, &file.path, &["log", "entries"], read);
        let version = beginning.version.filter(|version| !version.starts_with("1."));
        let source: Box<dyn Exchanges> = match version {
            None => Box::new(listed),
            Some(version) => Box::new(Refused::new(&file.path, version)),
        };
        Some(http::records(source, file))
    }

    fn is_of_records(&self) -> bool {
        true
    }
}

/// What stands at the beginning of an archive.
#[derive(Debug, Default)]
struct Beginning {
    version: Option<String>,
    /// What wrote it, with its version.
    creator: Option<String>,
    /// The earliest time of the entries that are seen.
    first_ts: Option<Ts>,
}

impl Beginning {
    /// `None` where the text is not the beginning of an archive. It may end anywhere.
    fn of(head: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(head, 0);
        let mut first = true;
        cursor.take(b'{')?;
        loop {
            // Some write a comment in front.
            let name = cursor.member(&mut first)??;
            if name.of(head) == b"log" {
                break;
            }
            cursor.value()?;
        }
        cursor.take(b'{')?;
        let mut found = Self::default();
        let mut is_archive = false;
        let mut first = true;
        while let Some(Some(name)) = cursor.member(&mut first) {
            match name.of(head) {
                b"entries" => {
                    is_archive = cursor.peek().is_none_or(|byte| byte == b'[');
                    found.read_entries(&mut cursor);
                    break;
                }
                b"version" => found.version = cursor.value().map(|span| text(span.of(head))),
                b"creator" => {
                    is_archive = true;
                    let value = cursor.value().map(|span| String::from_utf8_lossy(span.of(head)).into_owned());
                    found.creator = value.as_deref().and_then(creator);
                }
                b"pages" | b"browser" => {
                    is_archive = true;
                    cursor.value();
                }
                _ => {
                    cursor.value();
                }
            }
        }
        is_archive.then_some(found)
    }

    /// Entries stand in the order in which they ended: the first is not always the earliest.
    fn read_entries(&mut self, cursor: &mut Cursor<'_>) {
        let mut first = true;
        let mut read = || -> Option<()> {
            cursor.take(b'[')?;
            while cursor.element(&mut first)? {
                let span = cursor.value()?;
                let entry = String::from_utf8_lossy(span.of(cursor.bytes()));
                let members = json::Members::parse(&entry, &mut Oddities::default())?;
                let started = members.text("startedDateTime", &mut Oddities::default());
                let started = started.and_then(|text| time::text(text.as_bytes()));
                self.first_ts = [self.first_ts, started].into_iter().flatten().min();
            }
            Some(())
        };
        read();
    }

    fn is_by(&self, name: &str) -> bool {
        self.creator.as_ref().is_some_and(|creator| creator.to_ascii_lowercase().starts_with(name))
    }
}

fn text(exact: &[u8]) -> String {
    json::text_or_exact(&String::from_utf8_lossy(exact), &mut Oddities::default()).into_owned()
}

fn creator(exact: &str) -> Option<String> {
    let members = json::Members::parse(exact, &mut Oddities::default())?;
    let part = |name| members.text(name, &mut Oddities::default()).filter(|text| !text.is_empty());
    Some([part("name")?, part("version").unwrap_or_default()].join(" ").trim().to_owned())
}

/// An archive of a version that is not known.
struct Refused(Option<CaptureError>);

impl Refused {
    fn new(path: &str, version: String) -> Self {
        let advice = "export it as HAR 1.2";
        let what = format!("an HTTP archive of version {version}");
        Self(Some(CaptureError::OfVersion { path: path.to_owned(), what, advice }))
    }
}

impl Exchanges for Refused {
    fn next(&mut self) -> Option<Item> {
        self.0.take().map(Item::Broken)
    }

    fn taken(&self) -> u64 {
        0
    }
}
