//! Formats that are described, not programmed.
//!
//! A description is a TOML table: those that are built in are the files of `capture/formats`, a user's own stand as
//! `[formats.NAME]` in `mcptally.toml`. `kind = "records"` describes JSON, `kind = "lines"` text ([`lines`]): one engine
//! each reads them all; what both have in common is in [`language`].
//!
//! ```toml
//! [formats.gateway]
//! kind = "records"
//! match = [{ at = "/event", is = "mcp" }]      # all hold for a record of this format
//! body = "/rpc/raw"                            # the message: JSON, or text that is JSON
//! time = "/at"
//! direction = { at = "/flow", table = { up = "client", down = "server" } }
//! session = "/conn/id"
//! ```

pub mod engine;
mod format;
pub mod language;
pub mod lines;
mod moment;
mod ordered;
mod pattern;
mod pointer;
mod records;
mod stream;
mod suggest;
pub mod text;

pub use suggest::suggest;
pub use text::DescriptionError;

use super::formats::{About, Format};
use super::sink::Side;
use language::Origin;
use std::sync::LazyLock;
use text::{Fault, Read, Table, fault};
use toml::de::DeTable;

/// How to describe a format, for people.
pub const GUIDE: &str = include_str!("guide.txt");

/// The descriptions that are built in, in order of precedence: by name, the inside of a `[formats.NAME]`.
#[rustfmt::skip]
const BUILT_IN: &[(&str, &str)] = &[
    ("mcpsnoop", include_str!("../formats/mcpsnoop.toml")),
    ("reticle", include_str!("../formats/reticle.toml")),
    ("mcp-recorder", include_str!("../formats/mcp-recorder.toml")),
    ("mcp-cassette", include_str!("../formats/mcp-cassette.toml")),
    ("mcpjam", include_str!("../formats/mcpjam.toml")),
    ("inspector-protocol", include_str!("../formats/inspector-protocol.toml")),
    ("inspector-history", include_str!("../formats/inspector-history.toml")),
    ("claude-code", include_str!("../formats/claude-code.toml")),
    ("otlp", include_str!("../formats/otlp.toml")),
    ("kong-mcp", include_str!("../formats/kong-mcp.toml")),
    ("contextforge", include_str!("../formats/contextforge.toml")),
    ("fastmcp", include_str!("../formats/fastmcp.toml")),
    ("mcp-access", include_str!("../formats/mcp-access.toml")),
    ("cloudflare-portal", include_str!("../formats/cloudflare-portal.toml")),
    ("vscode", include_str!("../formats/vscode.toml")),
    ("python-sdk", include_str!("../formats/python-sdk.toml")),
    ("go-sdk", include_str!("../formats/go-sdk.toml")),
    ("csharp-sdk", include_str!("../formats/csharp-sdk.toml")),
    ("java-sdk", include_str!("../formats/java-sdk.toml")),
    ("rmcp", include_str!("../formats/rmcp.toml")),
    ("mcp-remote", include_str!("../formats/mcp-remote.toml")),
    ("supergateway", include_str!("../formats/supergateway.toml")),
    ("mcp-proxy", include_str!("../formats/mcp-proxy.toml")),
    ("mcptee", include_str!("../formats/mcptee.toml")),
    ("mcp-log-proxy", include_str!("../formats/mcp-log-proxy.toml")),
    ("contextforge-text", include_str!("../formats/contextforge-text.toml")),
    ("claude-code-debug", include_str!("../formats/claude-code-debug.toml")),
    ("cursor", include_str!("../formats/cursor.toml")),
];

/// The formats that are built in as descriptions.
pub fn built_in() -> &'static [&'static dyn Format] {
    static FORMATS: LazyLock<Vec<&'static dyn Format>> = LazyLock::new(|| {
        let loaded = BUILT_IN.iter().map(|(name, text)| one(name, text));
        // A test reads them all; here a broken one is missing rather than the end of the run.
        loaded.filter_map(Result::ok).flatten().collect()
    });
    &FORMATS
}

fn one(name: &'static str, text: &'static str) -> Result<Vec<&'static dyn Format>, DescriptionError> {
    let wrong = |fault| DescriptionError::new(&format!("{name}.toml"), text, fault);
    let document = parse(text).map_err(wrong)?;
    compile(name, Table::new(document.get_ref(), document.span()), text, None).map_err(wrong)
}

/// Reads the formats of a file: the tables of `[formats]`, in order of their names. Other tables are not looked at.
///
/// # Errors
/// Text that is no TOML, or a description that is not of this language: with the place in the file.
pub fn load(file: &str, text: &str) -> Result<Vec<&'static dyn Format>, DescriptionError> {
    let wrong = |fault| DescriptionError::new(file, text, fault);
    let document = parse(text).map_err(wrong)?;
    let all = Table::new(document.get_ref(), document.span());
    let Some(formats) = all.get("formats") else { return Ok(Vec::new()) };
    let formats = formats.table().map_err(wrong)?;
    let mut loaded = Vec::new();
    for (name, span, item) in formats.entries() {
        let table = checked_name(name, span).and_then(|()| item.table()).map_err(wrong)?;
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        loaded.extend(compile(name, table, text, Some(file)).map_err(wrong)?);
    }
    Ok(loaded)
}

/// What the generic envelope's description says, for the reader of its own that it has.
#[derive(Debug)]
pub struct Names {
    /// Names of members, first choice first.
    pub body: Vec<String>,
    pub direction: Vec<String>,
    pub time: Vec<String>,
    pub session: Vec<String>,
    pub server: Vec<String>,
    pub client: Vec<String>,
    pub words: Vec<(String, Side)>,
    /// Words of members that say who sent a message, where none was sent.
    pub noise: Vec<String>,
    pub about: About,
}

const ENVELOPE: &str = include_str!("../formats/envelope.toml");

/// Reads `envelope.toml`.
pub fn envelope() -> Names {
    // A test reads it; here a broken one knows no names.
    let read = || -> Read<Names> {
        let document = parse(ENVELOPE)?;
        let table = Table::new(document.get_ref(), document.span());
        let about = language::about(table.get("about"), "")?;
        Ok(records::read(&table, ENVELOPE, Origin::BuiltIn)?.names(about))
    };
    read().unwrap_or_else(|_| records::Description::default().names(About::default()))
}

fn parse(text: &str) -> Read<toml::Spanned<DeTable<'_>>> {
    DeTable::parse(text).map_err(|error| Fault { message: error.message().to_owned(), span: error.span() })
}

/// Names stand on command lines and in reports.
fn checked_name(name: &str, span: std::ops::Range<usize>) -> Read<()> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if name.is_empty() || !plain {
        return fault("a format's name is made of letters, digits, `-`, `_` and `.`", span);
    }
    Ok(())
}

/// A description as formats: one for each way in which its records can be laid out. Formats live as long as the run.
fn compile(name: &'static str, table: Table<'_>, text: &str, file: Option<&str>) -> Read<Vec<&'static dyn Format>> {
    let kind = table.required("kind")?;
    let about = language::about(table.get("about"), file.unwrap_or("described"))?;
    let looks_like = table.text("looks_like")?.map(str::to_owned);
    let origin = if file.is_some() { Origin::User } else { Origin::BuiltIn };
    let formats = match kind.text()? {
        "records" => {
            let description = records::read(&table, text, origin)?;
            format::formats(name, about, looks_like, description, file)
        }
        "lines" => {
            let description = lines::read(&table, text, origin)?;
            vec![lines::DescribedLines::format(name, about, looks_like, description, file) as &'static dyn Format]
        }
        other => return kind.fault(format!("`{other}` is no kind of format; the kinds are records and lines")),
    };
    table.finish()?;
    Ok(formats)
}

#[cfg(test)]
mod tests;
