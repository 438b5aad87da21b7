//! The commands that the README shows are commands the program takes.

use crate::support::run;
use std::fs;
use std::path::Path;

/// Lines of the README's code blocks that call the program, without their prompt sign and comment.
fn commands(readme: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in readme.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let line = line.trim().trim_start_matches("$ ");
        if in_block && (line.starts_with("cargo run ") || line.starts_with("mcptally ")) {
            commands.push(line.split(" #").next().unwrap_or(line).trim().to_owned());
        }
    }
    commands
}

#[test]
fn readme_commands_parse() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md is readable");
    let commands = commands(&readme);
    assert!(!commands.is_empty(), "the README shows no command");
    for command in commands {
        let arguments: Vec<&str> = match command.strip_prefix("mcptally ") {
            Some(rest) => rest.split_whitespace().collect(),
            None => command.split_once(" -- ").map_or(Vec::new(), |(_, rest)| rest.split_whitespace().collect()),
        };
        let Some(verb) = arguments.first() else { continue };
        // Every option of the command stands in the verb's help.
        let help = run([*verb, "--help"]);
        assert_eq!(help.status, Some(0), "{command}: {}", help.stderr);
        for option in arguments.iter().filter(|argument| argument.starts_with("--")) {
            let name = option.split('=').next().unwrap_or(option);
            assert!(help.text().contains(name), "{command}: no option {name}");
        }
        for path in arguments.iter().filter(|argument| argument.starts_with("sample-logs")) {
            assert!(root.join(path.split(['*', '?', '[']).next().unwrap_or(path)).exists(), "{command}: no {path}");
        }
    }
}

#[test]
fn code_blocks_are_found() {
    let readme = "text mcptally audit x\n```sh\n$ mcptally audit logs  # all\ncargo run --release -- audit y\n```\n";
    assert_eq!(commands(readme), ["mcptally audit logs", "cargo run --release -- audit y"]);
}
