//! Words that a developer may try as commands. The error names the command to use.

use std::ffi::OsString;

use super::trouble::Trouble;

const REFUSED: &[(&str, &str)] = &[
    ("tui", "`link status` shows what runs, `cargo xtask run` runs the agent"),
    ("--tui", "`link status` shows what runs, `cargo xtask run` runs the agent"),
    ("--username", "use `--email`"),
    ("update", "a checkout is updated with `git pull`, and `cargo xtask setup` again"),
];

/// Refuses these words. Arguments after `--` are for another program and are not checked.
///
/// # Errors
/// The command to use instead.
pub(crate) fn check(arguments: impl Iterator<Item = OsString>) -> anyhow::Result<()> {
    let words: Vec<_> = arguments.skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let own = || words.iter().take_while(|word| *word != "--");
    let flags = own().filter(|word| word.starts_with('-'));
    let first = own().find(|word| !word.starts_with('-'));
    for word in flags.chain(first) {
        let name = word.split('=').next().unwrap_or(word);
        if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(Trouble::misuse(format!("there is no `{name}`"), *instead).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_no_commands_name_what_is_meant() {
        for (line, instead) in [
            ("tui", "link status"),
            ("run --tui", "link status"),
            ("run --username=me", "--email"),
            ("update", "git pull"),
        ] {
            let refused = judge(line).unwrap_err();
            assert!(refused.to_string().contains(instead), "{line}");
            assert_eq!(super::super::exit_code(&refused), 2, "{line}");
        }
    }

    #[test]
    fn commands_and_what_is_for_other_programs_pass() {
        for line in ["tidy --write", "run -- --tui", "install-plugin update"] {
            assert!(judge(line).is_ok(), "{line}");
        }
    }

    fn judge(line: &str) -> anyhow::Result<()> {
        check(std::iter::once("xtask").chain(line.split(' ')).map(OsString::from))
    }
}
