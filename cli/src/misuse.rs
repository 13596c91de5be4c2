//! Arguments that are not commands of this program, and the commands to use in their place.

use std::ffi::OsString;

use crate::error::CliError;

/// Commands of earlier versions, each with its replacement (specification, section 9).
const REMOVED: &[(&str, &str)] = &[
    (
        "setup",
        "`link register` registers this device; `link account create` creates a backend's first account",
    ),
    ("install", "`install.sh` installs Link; `link model deploy MODEL` puts a model on a device"),
    ("manager", "use `link status`, `link start`, `link stop` and `link restart`"),
    ("tui", "`link status` shows what runs"),
    ("--tui", "`link status` shows what runs"),
    ("--username", "use `--email`"),
];

/// Refuses removed commands, and calls with two file names, which were meant for coreutils' `link`.
///
/// # Errors
/// An error that names the command to use.
pub(crate) fn check(
    arguments: &[OsString],
    command: &clap::Command,
    is_file: impl Fn(&str) -> bool,
) -> Result<(), CliError> {
    let words: Vec<_> = arguments.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let flags = words.iter().take_while(|word| *word != "--").filter(|word| word.starts_with('-'));
    let first = words.iter().find(|word| !word.starts_with('-'));
    for word in flags.chain(first) {
        let name = word.split('=').next().unwrap_or(word);
        if let Some((_, instead)) = REMOVED.iter().find(|(removed, _)| *removed == name) {
            return Err(CliError::usage(format!("`{name}` was removed")).hint(*instead));
        }
    }
    let known = |word: &str| word == "help" || command.find_subcommand(word).is_some();
    if let [from, to] = words.as_slice()
        && !from.starts_with('-')
        && !to.starts_with('-')
        && !known(from)
        && is_file(from)
    {
        let message = format!("`{from}` is not a command; this `link` deploys and serves models");
        return Err(CliError::usage(message)
            .hint(format!("to make a hard link: ln {from} {to}; commands: link --help")));
    }
    Ok(())
}

/// Converts clap's message into an error of this program.
pub(crate) fn of_clap(error: &clap::Error) -> CliError {
    let text = error.render().to_string();
    let mut paragraphs = text.trim().split("\n\n");
    let message = paragraphs.next().unwrap_or_default().trim_start_matches("error: ");
    let tip = paragraphs.find_map(|rest| rest.trim().strip_prefix("tip: "));
    CliError::usage(message.split_whitespace().collect::<Vec<_>>().join(" "))
        .hint(tip.map_or_else(|| "see `link --help`".to_owned(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_words_name_their_replacement() {
        for (line, replacement) in [
            ("setup", "link register"),
            ("--json setup --dev", "link register"),
            ("install", "install.sh"),
            ("tui", "link status"),
            ("--tui", "link status"),
            ("register --username me", "--email"),
            ("login --username=me", "--email"),
        ] {
            let error = judge(line).unwrap_err();
            assert_eq!(error.exit.number(), 2, "{line}");
            assert!(error.hint.as_deref().is_some_and(|hint| hint.contains(replacement)), "{line}");
        }
    }

    #[test]
    fn two_files_were_meant_for_another_program() {
        let error = judge("a.txt b.txt").unwrap_err();
        assert!(error.hint.is_some_and(|hint| hint.contains("ln a.txt b.txt")));
    }

    #[test]
    fn commands_and_their_values_pass() {
        for line in ["status", "model list", "help model", "key create --kind fleet --name setup"] {
            assert_eq!(judge(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn a_mistyped_command_is_left_to_the_parser_which_knows_a_similar_one() {
        assert_eq!(judge("modle list"), Ok(()));
    }

    fn judge(line: &str) -> Result<(), CliError> {
        let words = std::iter::once("link").chain(line.split(' ')).map(OsString::from);
        check(&words.collect::<Vec<_>>(), &crate::command(), |name| name.ends_with(".txt"))
    }
}
