//! `mcptally.toml`:
//!
//! ```toml
//! [[intended]]                     # the values an argument is meant to receive
//! server = "storefront-desk"       # optional: whatever server has the prompt
//! prompt = "reply_to_review"
//! argument = "tone"
//! values = ["warm", "firm", "neutral"]
//!
//! [suppress]                       # findings that are known and not reported
//! rules = ["MT303"]
//! findings = ["0123456789abcdef"]  # fingerprints, as reports print them
//!
//! [thresholds]                     # see `mcptally explain thresholds`
//! session_bad_attempts = 10
//!
//! [formats.gateway]                # formats of one's own: read where captures are read
//! ```

use super::thresholds::{Thresholds, nearest};
use super::{Expectations, Intended};
use crate::protocol::message::Text;
use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// What is wrong with an expectations file, and where.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{file}: {message}")]
#[diagnostic(help(
    "see `mcptally explain MT101` for what an intended set is; the file's grammar: [[intended]] with prompt, argument, values and optionally server; [suppress] with rules and findings; [thresholds], see `mcptally explain thresholds`; [formats.NAME], see `mcptally formats --describe`"
))]
pub struct FileError {
    file: String,
    message: String,
    #[source_code]
    source_code: Arc<NamedSource<String>>,
    #[label("here")]
    span: Option<SourceSpan>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    intended: Vec<IntendedTable>,
    #[serde(default)]
    suppress: SuppressTable,
    #[serde(default)]
    thresholds: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    /// Read by those who read captures.
    #[serde(default, rename = "formats")]
    _formats: serde::de::IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntendedTable {
    server: Option<String>,
    prompt: Spanned<String>,
    argument: String,
    values: Spanned<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuppressTable {
    #[serde(default)]
    rules: Vec<Spanned<String>>,
    #[serde(default)]
    findings: Vec<Spanned<String>>,
}

/// Reads an expectations file. `name` is how messages call it.
///
/// # Errors
/// Text that is no TOML or not of this grammar, an empty or repeated set: with the place in the file.
pub fn parse(name: &str, text: &str) -> Result<Expectations, FileError> {
    let wrong = |message: String, span: Option<Range<usize>>| FileError {
        file: name.to_owned(),
        message,
        source_code: Arc::new(NamedSource::new(name, text.to_owned())),
        span: span.map(SourceSpan::from),
    };
    let file: File = toml::from_str(text).map_err(|error| wrong(error.message().to_owned(), error.span()))?;
    let mut expectations = Expectations::default();
    for table in file.intended {
        if table.values.get_ref().is_empty() {
            return Err(wrong(
                "`values` is empty: name at least one intended value, or leave the table out".to_owned(),
                Some(table.values.span()),
            ));
        }
        let intended = Intended {
            server: table.server.as_deref().map(Text::from),
            prompt: table.prompt.get_ref().as_str().into(),
            argument: table.argument.as_str().into(),
            values: table.values.get_ref().iter().map(|value| Text::from(value.as_str())).collect(),
            source: "expectations",
        };
        let twice = expectations.intended.iter().any(|known: &Intended| {
            (&known.server, &known.prompt, &known.argument) == (&intended.server, &intended.prompt, &intended.argument)
        });
        if twice {
            let message = format!("the intended values of {}.{} stand twice", intended.prompt, intended.argument);
            return Err(wrong(message, Some(table.prompt.span())));
        }
        expectations.intended.push(intended);
    }
    for rule in file.suppress.rules {
        let id = rule.get_ref();
        let is_rule = id.len() == 5 && id.starts_with("MT") && id.bytes().skip(2).all(|byte| byte.is_ascii_digit());
        if !is_rule {
            return Err(wrong(format!("`{id}` is no rule id; rules are MT and three digits"), Some(rule.span())));
        }
        expectations.suppressed.push(id.as_str().into());
    }
    for fingerprint in file.suppress.findings {
        let text = fingerprint.get_ref();
        if text.len() != 16 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let message = format!("`{text}` is no fingerprint; a finding's fingerprint is 16 hex digits");
            return Err(wrong(message, Some(fingerprint.span())));
        }
        expectations.suppressed.push(text.to_ascii_lowercase().into());
    }
    for (name, value) in &file.thresholds {
        set(&mut expectations.thresholds, name, value).map_err(|(message, span)| wrong(message, Some(span)))?;
    }
    Ok(expectations)
}

fn set(
    thresholds: &mut Thresholds,
    name: &Spanned<String>,
    value: &Spanned<toml::Value>,
) -> Result<(), (String, Range<usize>)> {
    match thresholds.set(name.get_ref(), value.get_ref()) {
        Some(Ok(())) => Ok(()),
        Some(Err(right)) => Err((format!("`{}` is {right}", name.get_ref()), value.span())),
        None => {
            let near = nearest(name.get_ref()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Err((format!("no threshold `{}`{near}", name.get_ref()), name.span()))
        }
    }
}

/// What is wrong with an `--intended`.
#[derive(Debug, thiserror::Error)]
#[error(
    "--intended {flag}: write PROMPT.ARGUMENT=a,b,c with at least one value (a comma inside a value, or the empty value alone, needs an expectations file)"
)]
pub struct FlagError {
    flag: String,
}

/// Reads `PROMPT.ARGUMENT=a,b,c`. Prompt names may hold dots: the last one before `=` divides.
///
/// # Errors
/// Text of another form.
pub fn parse_flag(flag: &str) -> Result<Intended, FlagError> {
    let wrong = || FlagError { flag: flag.to_owned() };
    let (name, values) = flag.split_once('=').ok_or_else(wrong)?;
    let (prompt, argument) = name.rsplit_once('.').ok_or_else(wrong)?;
    // A set of the empty value alone says more than a slip of the keyboard can: that is for the file.
    if prompt.is_empty() || argument.is_empty() || values.split(',').all(str::is_empty) {
        return Err(wrong());
    }
    Ok(Intended {
        server: None,
        prompt: prompt.into(),
        argument: argument.into(),
        values: values.split(',').map(Text::from).collect(),
        source: "command line",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_sets_and_what_is_known() {
        let text = "[[intended]]\nserver = \"desk\"\nprompt = \"reply\"\nargument = \"tone\"\nvalues = [\"warm\", \"\"]\n\
                    [suppress]\nrules = [\"MT303\"]\nfindings = [\"0123456789ABCDEF\"]\n";
        let read = parse("mcptally.toml", text).unwrap();
        assert_eq!(read.intended[0].values, ["warm".into(), "".into()] as [Text; 2]);
        assert_eq!(read.intended[0].server.as_deref(), Some("desk"));
        assert_eq!(read.suppressed, ["MT303".into(), "0123456789abcdef".into()] as [Text; 2]);
        assert_eq!(parse("mcptally.toml", "").unwrap(), Expectations::default());
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_place() {
        for (text, place) in [
            ("[[intended]]\nprompt = \"p\"\nargument = \"a\"\nvalue = [\"x\"]\n", "value"),
            ("[[intended]]\nprompt = \"p\"\nargument = \"a\"\nvalues = []\n", "[]"),
            ("[[intended]]\nprompt = 7\nargument = \"a\"\nvalues = [\"x\"]\n", "7"),
            ("[suppress]\nrules = [\"MT1\"]\n", "\"MT1\""),
            ("[suppress]\nfindings = [\"xyz\"]\n", "\"xyz\""),
            ("[thresholds]\nsession_unit = 4\n", "session_unit"),
            ("[thresholds]\nsession_units = -4\n", "-4"),
            ("[thresholds]\nsession_units = 2.5\n", "2.5"),
            ("[thresholds]\nsession_level = 1.5\n", "1.5"),
            ("[thresholds]\nsession_level = \"low\"\n", "\"low\""),
        ] {
            let error = parse("mcptally.toml", text).unwrap_err();
            let span = error.span.unwrap();
            assert_eq!(&text[span.offset()..span.offset() + span.len()], place, "{error}");
        }
        assert!(parse("mcptally.toml", "[[intended]").is_err());
    }

    #[test]
    fn thresholds_are_set_by_name_and_a_mistyped_one_is_guessed() {
        let read = parse("mcptally.toml", "[thresholds]\nsession_units = 4\nsession_level = 0\n").unwrap();
        let wanted = Thresholds { session_units: 4, session_level: 0.0, ..Thresholds::default() };
        assert_eq!(read.thresholds, wanted);
        let error = parse("mcptally.toml", "[thresholds]\nsesion_units = 4\n").unwrap_err().to_string();
        assert_eq!(error, "mcptally.toml: no threshold `sesion_units`; did you mean `session_units`?");
    }

    #[test]
    fn a_set_that_stands_twice_is_refused() {
        let table = "[[intended]]\nprompt = \"p\"\nargument = \"a\"\nvalues = [\"x\"]\n";
        assert!(parse("mcptally.toml", &table.repeat(2)).unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn the_last_dot_divides_prompt_and_argument() {
        let read = parse_flag("team.reply.tone=warm,firm,").unwrap();
        assert_eq!((&*read.prompt, &*read.argument), ("team.reply", "tone"));
        assert_eq!(read.values, ["warm".into(), "firm".into(), "".into()] as [Text; 3]);
        for wrong in ["tone=warm", "reply.tone", ".tone=a", "reply.=a", "reply.tone=", "reply.tone=,,,"] {
            assert!(parse_flag(wrong).is_err(), "{wrong}");
        }
    }
}
