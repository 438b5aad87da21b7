//! Data walks one way through the rooms of `src/`. A room may use itself and the rooms to its left, never one to its
//! right: this reads every `crate::` and `super::` path in the sources and says which of them run back up.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, left to right.
const ROOMS: &[&str] =
    &["protocol", "schema", "capture", "exchange", "frames", "expect", "finding", "audit", "report", "cli"];

#[derive(Debug, PartialEq, Eq)]
struct Breach {
    file: String,
    line: usize,
    from: String,
    to: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: `{}` must not use `{}`", self.file, self.line, self.from, self.to)
    }
}

#[test]
fn imports_run_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources: Vec<(PathBuf, String)> = rust_files(&root)
        .into_iter()
        .map(|file| {
            let source = fs::read_to_string(&file).expect("a source file is readable");
            (file.strip_prefix(&root).expect("below src").to_path_buf(), source)
        })
        .collect();
    let placed: BTreeMap<PathBuf, Vec<String>> =
        sources.iter().flat_map(|(file, source)| placed_modules(file, source)).collect();
    let mut breaches = Vec::new();
    let mut rooms_seen = 0;
    for (relative, source) in sources {
        let module = placed.get(&relative).cloned().unwrap_or_else(|| module_of(&relative));
        rooms_seen += usize::from(!module.is_empty());
        breaches.extend(check(&relative.to_string_lossy(), &module, &source));
    }
    assert!(rooms_seen > 0, "no file in a room was read");
    let list: Vec<String> = breaches.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "imports that run back up:\n{}", list.join("\n"));
}

#[test]
fn a_path_that_runs_back_up_is_found() {
    let source = "use crate::report::model::Report;\nuse crate::protocol::message::Text;\n";
    let found = check("audit/values.rs", &["audit".into(), "values".into()], source);
    assert_eq!(found, [Breach { file: "audit/values.rs".into(), line: 1, from: "audit".into(), to: "report".into() }]);
}

#[test]
fn groups_full_paths_and_super_are_read() {
    let module: Vec<String> = vec!["exchange".into(), "pair".into()];
    let lines = |source: &str| -> Vec<(usize, String)> {
        check("exchange/pair.rs", &module, source).into_iter().map(|breach| (breach.line, breach.to)).collect()
    };
    assert_eq!(
        lines("use crate::{\n    protocol::message::{Id, Text},\n    cli::args::Args,\n};"),
        [(3, "cli".into())]
    );
    assert_eq!(lines("fn f() -> crate::frames::Frames { todo() }"), [(1, "frames".into())]);
    assert_eq!(lines("use super::super::audit::x;"), [(1, "audit".into())]);
    assert_eq!(
        lines("mod tests {\n    use super::super::super::audit::x;\n    use super::super::audit::x;\n}"),
        [(2, "audit".into())]
    );
    assert_eq!(lines("use crate::nowhere::x;"), [(1, "nowhere".into())]);
    assert_eq!(lines("// use crate::cli::x;\n/* crate::cli */ const S: &str = \"crate::cli::x\";"), []);
    assert_eq!(
        lines("const R: &str = r#\"\" crate::cli::x\"#; const C: char = '\"'; use crate::cli::x;"),
        [(1, "cli".into())]
    );
    assert_eq!(lines("pub(crate) fn f<'a>(x: &'a str) {} use crate::protocol::x;"), []);
}

#[test]
fn a_file_placed_by_an_attribute_counts_where_it_is_declared() {
    let source = "#[cfg(test)]\n#[path = \"parse_tests.rs\"]\nmod tests;\n";
    let module = ["protocol", "parse", "tests"].map(str::to_owned).to_vec();
    let expected = (PathBuf::from("protocol/parse_tests.rs"), module.clone());
    assert_eq!(placed_modules(Path::new("protocol/parse.rs"), source), [expected]);
    assert_eq!(check("", &module, "use super::super::json::x;"), []);
}

/// Module path of a file below `src/`; empty for `main.rs` and `lib.rs`, which stand outside the rooms.
fn module_of(relative: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        relative.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "main" | "lib")) {
        module.pop();
    }
    module
}

/// Files that a `#[path = "…"] mod name;` of this file names, with their module paths.
fn placed_modules(file: &Path, source: &str) -> Vec<(PathBuf, Vec<String>)> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut placed = Vec::new();
    for attribute in source.split("#[path = \"").skip(1) {
        let Some((path, rest)) = attribute.split_once("\"]") else { continue };
        let words: Vec<&str> = rest.split_whitespace().take_while(|word| !word.contains('{')).take(3).collect();
        let name = words.iter().position(|word| *word == "mod").and_then(|at| words.get(at + 1));
        if let Some(name) = name {
            let mut module = module_of(file);
            module.push(name.trim_end_matches(';').to_owned());
            placed.push((folder.join(path), module));
        }
    }
    placed
}

fn check(file: &str, module: &[String], source: &str) -> Vec<Breach> {
    let Some(from) = module.first() else { return Vec::new() };
    let place = |room: &str| ROOMS.iter().position(|known| *known == room);
    let own = place(from);
    used_rooms(&code_only(source), module.len())
        .into_iter()
        .filter(|(_, to)| match (own, place(to)) {
            (Some(own), Some(other)) => other > own,
            _ => true,
        })
        .map(|(line, to)| Breach { file: file.to_owned(), line, from: from.clone(), to })
        .collect()
}

/// Every name that stands directly under the crate's root in a path, with its line.
/// `depth` is the number of modules the file itself is nested in.
fn used_rooms(code: &str, depth: usize) -> Vec<(usize, String)> {
    let tokens = tokens(code);
    let text = |index: usize| tokens.get(index).map_or("", |(_, token)| *token);
    let mut found = Vec::new();
    // Brace depth at which each inline module opened.
    let mut inline: Vec<usize> = Vec::new();
    let mut braces = 0;
    let mut index = 0;
    while index < tokens.len() {
        match text(index) {
            "{" => {
                braces += 1;
                if index >= 2 && text(index - 2) == "mod" {
                    inline.push(braces);
                }
            }
            "}" => {
                if inline.last() == Some(&braces) {
                    inline.pop();
                }
                braces = braces.saturating_sub(1);
            }
            "crate" if text(index + 1) == "::" => names_after(&tokens, index + 2, &mut found),
            "super" if text(index.wrapping_sub(1)) != "::" || text(index.wrapping_sub(2)) == "self" => {
                let mut climbed = 1;
                let mut next = index + 1;
                while text(next) == "::" && text(next + 1) == "super" {
                    climbed += 1;
                    next += 2;
                }
                if climbed == depth + inline.len() && text(next) == "::" {
                    names_after(&tokens, next + 1, &mut found);
                }
            }
            _ => {}
        }
        index += 1;
    }
    found
}

/// The name at `index`, or the first names of a `{…}` group.
fn names_after(tokens: &[(usize, &str)], index: usize, found: &mut Vec<(usize, String)>) {
    match tokens.get(index) {
        Some((_, "{")) => {
            let mut nested = 0;
            let mut expects_name = true;
            for (line, token) in &tokens[index + 1..] {
                match *token {
                    "{" => nested += 1,
                    "}" if nested == 0 => break,
                    "}" => nested -= 1,
                    "," if nested == 0 => expects_name = true,
                    name if nested == 0 && expects_name => {
                        found.push((*line, name.to_owned()));
                        expects_name = false;
                    }
                    _ => {}
                }
            }
        }
        Some((line, name)) => found.push((*line, (*name).to_owned())),
        None => {}
    }
}

/// Identifiers, `::` and single punctuation characters, each with its line from 1.
fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if first == '\n' {
            line += 1;
        } else if !first.is_whitespace() {
            tokens.push((line, token));
        }
        rest = after;
    }
    tokens
}

/// The source with comments and literals blanked; line breaks stay.
fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(source, at);
        if end > at {
            code.push(' ');
            code.extend(source[at..end].matches('\n'));
            at = end;
        } else {
            let next = source[at..].chars().next().map_or(1, char::len_utf8);
            code.push_str(&source[at..at + next]);
            at += next;
        }
    }
    code
}

/// End of the comment or literal that starts at `at`, or `at` where none does.
fn literal_end(source: &str, at: usize) -> usize {
    let rest = &source[at..];
    let until =
        |needle: &str, from: usize| rest[from..].find(needle).map_or(source.len(), |p| at + from + p + needle.len());
    let after_name = source[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    if rest.starts_with("//") {
        return rest.find('\n').map_or(source.len(), |p| at + p);
    }
    if rest.starts_with("/*") {
        return block_comment_end(source, at);
    }
    if !after_name && (rest.starts_with('r') || rest.starts_with("br")) {
        let quotes = &rest[rest.find('r').map_or(0, |p| p + 1)..];
        let hashes = quotes.len() - quotes.trim_start_matches('#').len();
        if quotes[hashes..].starts_with('"') {
            let open = rest.len() - quotes.len() + hashes + 1;
            return until(&format!("\"{}", "#".repeat(hashes)), open);
        }
    }
    if rest.starts_with('"') {
        let mut escaped = false;
        for (position, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return at + position + 1,
                _ => {}
            }
        }
        return source.len();
    }
    if rest.starts_with("'\\") {
        return until("'", 3);
    }
    // A character, not a lifetime: one character and the closing quote.
    let mut chars = rest.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\''), Some(c), Some('\'')) => at + 2 + c.len_utf8(),
        _ => at,
    }
}

fn block_comment_end(source: &str, at: usize) -> usize {
    let mut depth = 0;
    let mut position = at;
    while position < source.len() {
        let rest = &source[position..];
        if rest.starts_with("/*") {
            depth += 1;
            position += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    source.len()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a source folder is readable") {
            let path = entry.expect("a folder entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
