//! Every command in a text exists and parses: in the examples of `--help`, in hints and in
//! messages, for `link` and for `link-backend`.

#![expect(clippy::disallowed_methods, reason = "the tests read the sources")]

use std::path::Path;

use clap::{Command, CommandFactory as _, error::ErrorKind};

/// The folders whose texts a person reads.
const FOLDERS: [&str; 8] = [
    "agent/core/src",
    "agent/src",
    "backend/src",
    "cli/src",
    "client/src",
    "installer/src",
    "platform/src",
    "protocol/src",
];

#[test]
fn every_example_of_the_help_parses() {
    for (program, at_least) in [("link", 80), ("link-backend", 20)] {
        let mut seen = 0;
        let mut commands = vec![definition(program)];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            let texts = [command.get_after_help(), command.get_after_long_help()];
            for text in texts.into_iter().flatten().map(ToString::to_string) {
                let lines = text.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
                for line in lines.take_while(|line| line.starts_with("  ")) {
                    line.trim().split("&&").for_each(parses);
                    seen += 1;
                }
            }
        }
        assert!(seen > at_least, "{program}: {seen}");
    }
}

#[test]
fn every_command_that_a_message_names_parses() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths: Vec<_> = FOLDERS.map(|folder| root.join(folder)).into_iter().collect();
    let mut seen = 0;
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        if path.ends_with("tests.rs") || path.extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for quoted in commands_in(text) {
            parses(&quoted);
            seen += 1;
        }
    }
    assert!(seen > 90, "{seen}");
}

#[test]
fn a_shell_takes_what_an_example_shows() {
    assert_eq!(words("link a 'b<1' \"c d\" > e"), ["link", "a", "b<1", "c d"]);
    assert_eq!(words("link a < b"), ["link", "a"]);
    for line in ["link a --select tag=b,version<1.3.0", "link a <b>", "link a>b"] {
        let refused = std::panic::catch_unwind(|| words(line));
        assert!(refused.is_err(), "{line}");
    }
}

/// Returns the texts between backticks that begin with `link ` or `link-backend `, in strings but not in comments.
fn commands_in(text: &str) -> Vec<String> {
    let code: Vec<&str> =
        text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect();
    // A backslash at the line end continues the string at the first letter of the next line.
    let code = code.join("\n").replace("\\\n", "");
    let mut found = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find("`link") {
        rest = &rest[at + 1..];
        let Some(end) = rest.find(['`', '\n']) else { break };
        let (quoted, closed) = (&rest[..end], rest[end..].starts_with('`'));
        let is_command = quoted.starts_with("link ") || quoted.starts_with("link-backend ");
        // A quotation mark in between ends the string: this is code that searches for commands.
        if is_command && closed && !quoted.contains('"') {
            found.push(quoted.to_owned());
        }
        rest = &rest[end..];
    }
    found
}

fn parses(line: &str) {
    // Two spaces separate the command from its explanation.
    let command = line.trim().split("  ").next().unwrap();
    let words = words(command);
    let words: Vec<String> =
        words.into_iter().skip_while(|word| word.starts_with("LINK_")).map(filled_in).collect();
    let program = words.first().map(String::as_str).unwrap_or_default();
    // A text may name a command without its arguments, or a group of commands.
    let complete = definition(program).try_get_matches_from(&words);
    let Err(error) = complete else { return };
    let may_be = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::DisplayVersion,
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
    ];
    assert!(may_be.contains(&error.kind()), "{line}: {error}");
}

fn definition(program: &str) -> Command {
    match program {
        "link" => link_cli::command(),
        "link-backend" => link_backend::args::Arguments::command(),
        other => panic!("`{other}` is no program of ours"),
    }
}

/// Splits a line as a shell does, up to a redirection, which stands as a word of its own.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.replace("\\\"", "\"").chars() {
        match (letter, quote) {
            (quoted, Some(end)) if quoted == end => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            // The output of another command stands for one word.
            ('(', None) => quote = Some(')'),
            (' ', None) => words.extend(word.take()),
            ('|', None) => return words,
            ('<' | '>', None) => {
                assert!(word.is_none(), "put what contains `{letter}` into quotes: {line}");
                assert!(line.contains(&format!(" {letter} ")), "`{letter}` in {line}");
                return words;
            }
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// Replaces a placeholder with a value.
fn filled_in(word: String) -> String {
    let digits = "0".repeat(32);
    match word.as_str() {
        "acc_…" => format!("acc_{digits}"),
        "ID" | "{id}" => format!("op_{digits}"),
        "COMMAND" => "model".to_owned(),
        "{what}" => "device".to_owned(),
        "N" => "8081".to_owned(),
        "{origin}" => "https://workspace.example".to_owned(),
        "{channel}" => "stable".to_owned(),
        "2c26…b0d4" => "0".repeat(64),
        _ if word.contains('{') => "x".to_owned(),
        _ => word,
    }
}
