//! JSON text with a chosen order of members and a chosen style: SDKs differ in both, and a reader must not care.

pub enum Json {
    Text(String),
    /// A number or literal by its exact text.
    Exact(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How a writer spaces and escapes.
#[derive(Clone, Copy)]
pub struct Style {
    /// `", "` and `": "`, as Python's json.dumps does by default.
    pub spaced: bool,
    /// `\u00e9` in place of é, as json.dumps does by default.
    pub ascii: bool,
}

pub const COMPACT: Style = Style { spaced: false, ascii: false };
pub const SPACED: Style = Style { spaced: true, ascii: false };
pub const SPACED_ASCII: Style = Style { spaced: true, ascii: true };

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Exact(number.to_string())
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Self::Exact(truth.to_string())
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Self::List(items)
    }
}

impl From<&[&str]> for Json {
    fn from(items: &[&str]) -> Self {
        Self::List(items.iter().map(|item| Self::from(*item)).collect())
    }
}

/// `object! { "name": value, ... }`, members in the order written.
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {
        super::json::Json::Object(vec![$(($key.to_owned(), super::json::Json::from($value))),*])
    };
}
pub(crate) use object;

impl Json {
    pub fn object() -> Self {
        Self::Object(Vec::new())
    }

    /// The same object with one more member at its end; anything else is returned as it is.
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        if let Self::Object(members) = &mut self {
            members.push((key.to_owned(), value.into()));
        }
        self
    }

    pub fn to_text(&self, style: Style) -> String {
        let mut out = String::new();
        self.write(style, &mut out);
        out
    }

    fn write(&self, style: Style, out: &mut String) {
        let (comma, colon) = if style.spaced { (", ", ": ") } else { (",", ":") };
        match self {
            Self::Text(text) => quote(text, style.ascii, out),
            Self::Exact(text) => out.push_str(text),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push_str(comma);
                    }
                    item.write(style, out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push_str(comma);
                    }
                    quote(key, style.ascii, out);
                    out.push_str(colon);
                    value.write(style, out);
                }
                out.push('}');
            }
        }
    }
}

fn quote(text: &str, ascii: bool, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other if ascii && !other.is_ascii() => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            other => out.push(other),
        }
    }
    out.push('"');
}
