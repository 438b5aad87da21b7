//! The TOML of a description, read with its places: whatever is wrong with it is shown where it stands.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a description, and where.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{file}: {message}")]
#[diagnostic(help(
    "a described format is a table [formats.NAME] with kind = \"records\" (JSON) or \"lines\" (text); \
     `mcptally inspect LOG` prints one for a JSON log that it does not know"
))]
pub struct DescriptionError {
    file: String,
    message: String,
    #[source_code]
    source_code: Arc<NamedSource<String>>,
    #[label("here")]
    span: Option<SourceSpan>,
}

impl DescriptionError {
    pub fn new(file: &str, text: &str, fault: Fault) -> Self {
        Self {
            file: file.to_owned(),
            message: fault.message,
            source_code: Arc::new(NamedSource::new(file, text.to_owned())),
            span: fault.span.map(SourceSpan::from),
        }
    }

    /// The file, and the bytes of it that are pointed at.
    pub fn place(&self) -> Option<(&str, Range<usize>)> {
        let span = self.span?;
        Some((&self.file, span.offset()..span.offset() + span.len()))
    }
}

/// What is wrong, and the bytes of the text it is about.
#[derive(Debug)]
pub struct Fault {
    pub message: String,
    pub span: Option<Range<usize>>,
}

pub type Read<T> = Result<T, Fault>;

pub fn fault<T>(message: impl Into<String>, span: Range<usize>) -> Read<T> {
    Err(Fault { message: message.into(), span: Some(span) })
}

/// A value with its place.
#[derive(Clone, Copy)]
pub struct Item<'t>(&'t Spanned<DeValue<'t>>);

impl<'t> Item<'t> {
    pub fn span(self) -> Range<usize> {
        self.0.span()
    }

    pub fn fault<T>(self, message: impl Into<String>) -> Read<T> {
        fault(message, self.span())
    }

    fn wrong<T>(self, wanted: &str) -> Read<T> {
        self.fault(format!("{wanted} is wanted here, not a TOML {}", self.0.get_ref().type_str()))
    }

    pub fn text(self) -> Read<&'t str> {
        match self.0.get_ref().as_str() {
            Some(text) => Ok(text),
            None => self.wrong("text"),
        }
    }

    pub fn flag(self) -> Read<bool> {
        match self.0.get_ref().as_bool() {
            Some(flag) => Ok(flag),
            None => self.wrong("true or false"),
        }
    }

    pub fn is_text(self) -> bool {
        self.0.get_ref().is_str()
    }

    pub fn is_table(self) -> bool {
        self.0.get_ref().is_table()
    }

    /// A text, a number or a boolean, as JSON captures write it.
    pub fn scalar(self) -> Read<String> {
        match self.0.get_ref() {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().replace('_', "")),
            DeValue::Float(number) => Ok(number.as_str().replace('_', "")),
            DeValue::Boolean(flag) => Ok(flag.to_string()),
            _ => self.wrong("text, a number, true or false"),
        }
    }

    /// The elements of an array; anything else is a list of one.
    pub fn list(self) -> Vec<Self> {
        match self.0.get_ref() {
            DeValue::Array(items) => items.iter().map(Item).collect(),
            _ => vec![self],
        }
    }

    pub fn table(self) -> Read<Table<'t>> {
        match self.0.get_ref() {
            DeValue::Table(entries) => Ok(Table::new(entries, self.span())),
            _ => self.wrong("a table"),
        }
    }
}

/// A table, of which the keys asked for are remembered: the others are faults.
pub struct Table<'t> {
    entries: &'t DeTable<'t>,
    span: Range<usize>,
    known: RefCell<Vec<&'static str>>,
}

impl<'t> Table<'t> {
    pub fn new(entries: &'t DeTable<'t>, span: Range<usize>) -> Self {
        Self { entries, span, known: RefCell::default() }
    }

    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub fn get(&self, name: &'static str) -> Option<Item<'t>> {
        self.known.borrow_mut().push(name);
        self.entries.get(name).map(Item)
    }

    pub fn required(&self, name: &'static str) -> Read<Item<'t>> {
        match self.get(name) {
            Some(item) => Ok(item),
            None => fault(format!("`{name}` is missing here"), self.span()),
        }
    }

    pub fn text(&self, name: &'static str) -> Read<Option<&'t str>> {
        self.get(name).map(Item::text).transpose()
    }

    /// All keys with their values, for tables whose keys are the user's own.
    pub fn entries(&self) -> impl Iterator<Item = (&'t str, Range<usize>, Item<'t>)> + use<'t> {
        self.entries.iter().map(|(key, value)| (&**key.get_ref(), key.span(), Item(value)))
    }

    /// Refuses keys that nobody asked for.
    pub fn finish(self) -> Read<()> {
        let mut known = self.known.take();
        for (key, span, _) in self.entries() {
            if !known.contains(&key) {
                let near = known.iter().max_by(|a, b| strsim::jaro(a, key).total_cmp(&strsim::jaro(b, key)));
                let near = near.filter(|near| strsim::jaro(near, key) > 0.8);
                let advice = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        known.sort_unstable();
                        known.dedup();
                        format!("known are {}", known.join(", "))
                    }
                };
                return fault(format!("`{key}` is no key of this table; {advice}"), span);
            }
        }
        Ok(())
    }
}
