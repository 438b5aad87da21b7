//! Lines as a desktop application logs them: one file per server, the server's standard error in between.

use super::talk::{From, Line, time};

/// What builds of the middle of 2025 and later write after a body.
const SUFFIX: &str = " { metadata: undefined }";

pub fn render(lines: &[Line], tag: &str) -> String {
    let mut out = String::new();
    for line in lines {
        let (at, body) = (time(line.at), &line.body);
        match line.from {
            From::Client => out.push_str(&format!("{at} [{tag}] [info] Message from client: {body}{SUFFIX}")),
            From::Server => out.push_str(&format!("{at} [{tag}] [info] Message from server: {body}{SUFFIX}")),
            // An error dumps an object over several lines and ends in a brace of its own.
            From::Log("error") => out.push_str(&format!("{at} [{tag}] [error] {body}")),
            From::Log(level) => out.push_str(&format!("{at} [{tag}] [{level}] {body}{SUFFIX}")),
            From::Stderr => out.push_str(body),
        }
        out.push('\n');
    }
    out
}
