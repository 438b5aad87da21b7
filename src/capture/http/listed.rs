//! Exchanges that stand one after the other in a JSON array: archives and the exports of developer tools.

use super::{Exchanges, HttpExchange, Item};
use crate::capture::elements::{Element, Elements};
use crate::capture::error::CaptureError;
use crate::capture::input::Input;

/// Reads the exchange in an element's text; the number is its position, from 1. The error says what is wrong with it.
pub type Read = Box<dyn FnMut(&str, u64) -> Result<HttpExchange, String> + Send>;

/// The elements of an array as exchanges.
pub struct Listed {
    elements: Elements,
    path: String,
    read: Read,
    position: u64,
    ended: bool,
    /// What comes behind the record that was cut.
    broken: Option<CaptureError>,
}

impl Listed {
    /// Of the array at `members` (names, outermost first) of a file that is known as `path`.
    pub fn new(input: Input, path: &str, members: &'static [&'static str], read: Read) -> Self {
        let elements = Elements::new(input, members);
        Self { elements, path: path.to_owned(), read, position: 0, ended: false, broken: None }
    }

    /// Why nothing follows. Damaged compression says more than that the text ends.
    fn stop(&mut self, place: String, detail: &str) -> CaptureError {
        self.ended = true;
        let (path, detail) = (self.path.clone(), detail.to_owned());
        self.elements.take_error().unwrap_or(CaptureError::Cut { path, place, detail })
    }
}

impl Exchanges for Listed {
    fn next(&mut self) -> Option<Item> {
        if self.ended {
            return self.broken.take().map(Item::Broken);
        }
        let element = self.elements.next();
        if !matches!(&element, None | Some(Element::Missing(_))) {
            self.position += 1;
        }
        let position = self.position;
        Some(match element? {
            Element::Text(bytes) => {
                let size = bytes.len();
                let text = String::from_utf8_lossy(&bytes);
                match (self.read)(&text, position) {
                    Ok(exchange) => Item::Exchange(Box::new(HttpExchange { position, size, ..exchange })),
                    Err(reason) => Item::Rejected { position, size, reason, excerpt: excerpt(&bytes) },
                }
            }
            Element::TooLong(size, begins) => Item::Rejected {
                position,
                size: usize::try_from(size).unwrap_or(usize::MAX),
                reason: format!("an entry of {size} bytes, longer than any that is read"),
                excerpt: excerpt(&begins),
            },
            Element::Cut(rest) if rest.is_empty() => {
                let place = format!("behind entry {}", position - 1);
                Item::Broken(self.stop(place, "the file ends before its list of entries does"))
            }
            // It is counted before the error ends the file.
            Element::Cut(rest) => {
                self.broken = Some(self.stop(format!("entry {position}"), "the file ends inside it"));
                Item::Rejected {
                    position,
                    size: rest.len(),
                    reason: "cut off at the end of the file".to_owned(),
                    excerpt: excerpt(&rest),
                }
            }
            Element::Missing(reason) => Item::Broken(self.stop("its beginning".to_owned(), &reason)),
        })
    }

    fn taken(&self) -> u64 {
        self.elements.taken()
    }
}

/// How a record begins, on one line: archives are printed over many.
fn excerpt(bytes: &[u8]) -> Vec<u8> {
    let head = bytes.get(..4096).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ").into_bytes()
}
