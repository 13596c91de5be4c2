//! Every command that a text shows exists and parses: the examples of `--help`, hints and messages.

use std::path::Path;

#[test]
fn every_example_of_the_help_parses() {
    let mut seen = 0;
    let mut commands = vec![link_cli::command()];
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
    assert!(seen > 80, "{seen}");
}

#[test]
fn every_command_that_a_message_names_parses() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<_> =
        ["cli/src", "protocol/src"].map(|folder| root.join(folder)).into_iter().collect();
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for quoted in commands_in(text) {
            parses(&quoted);
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen}");
}

/// Returns what stands between backticks and begins with `link `, in strings and not in comments.
fn commands_in(text: &str) -> Vec<String> {
    let code: Vec<&str> =
        text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect();
    // A string continues with the first letter of the next line after a backslash.
    let code = code.join("\n").replace("\\\n", "");
    let mut found = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find("`link ") {
        rest = &rest[at + 1..];
        let Some(end) = rest.find(['`', '\n']) else { break };
        // A quotation mark ends the string: this is code that looks for commands.
        if rest[end..].starts_with('`') && !rest[..end].contains('"') {
            found.push(rest[..end].to_owned());
        }
        rest = &rest[end..];
    }
    found
}

fn parses(line: &str) {
    // What follows two spaces is an explanation.
    let command = line.trim().split("  ").next().unwrap();
    let words = words(command);
    let words: Vec<String> =
        words.into_iter().skip_while(|word| word.starts_with("LINK_")).map(filled_in).collect();
    assert_eq!(words.first().map(String::as_str), Some("link"), "{line}");
    // A text may name a command without its arguments, or as a group.
    let complete = link_cli::command().try_get_matches_from(&words);
    let Err(error) = complete else { return };
    let may_be = [
        clap::error::ErrorKind::DisplayHelp,
        clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        clap::error::ErrorKind::MissingRequiredArgument,
        clap::error::ErrorKind::MissingSubcommand,
    ];
    assert!(may_be.contains(&error.kind()), "{line}: {error}");
}

/// Splits a line as a shell does, up to a redirection.
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
            (' ', None) => words.extend(word.take()),
            ('<' | '>' | '|', None) => return words,
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// Puts a value in the place of one that a text leaves open.
fn filled_in(word: String) -> String {
    let digits = "0".repeat(32);
    match word.as_str() {
        "acc_…" => format!("acc_{digits}"),
        "ID" | "{id}" => format!("op_{digits}"),
        "{what}" => "device".to_owned(),
        "2c26…b0d4" => "0".repeat(64),
        _ if word.contains('{') => "x".to_owned(),
        _ => word,
    }
}
