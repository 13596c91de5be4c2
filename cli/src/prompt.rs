//! What a person is asked on a terminal: lines, secrets, choices and confirmations.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use link_protocol::{exit_code::ExitCode, secret::Secret};

use crate::{error::CliError, error_code::ErrorCode};

/// Prompts for a line that is not secret, until `parse` accepts it. An error of `parse` says what
/// is wrong. The line may be empty.
///
/// # Errors
/// If the terminal cannot be read, or its input has ended.
pub(crate) fn ask_line<T>(
    question: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, CliError> {
    let failed = |error: io::Error| {
        CliError::new(ExitCode::Failed, ErrorCode::Input, format!("failed to read stdin: {error}"))
    };
    loop {
        io::stderr().write_all(question.as_bytes()).map_err(failed)?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line).map_err(failed)? == 0 {
            return Err(cancelled());
        }
        match parse(line.trim()) {
            Ok(value) => return Ok(value),
            Err(why) => say(&why),
        }
    }
}

/// Prompts for a secret until it is not empty, without showing the input.
///
/// # Errors
/// If the prompt is cancelled, or there is no terminal. Without a terminal, the error names `flag` as the alternative.
pub(crate) fn ask_secret(prompt: &str, flag: &str) -> Result<Secret, CliError> {
    loop {
        let secret = ask_hidden(prompt, flag)?;
        if !secret.expose().is_empty() {
            return Ok(secret);
        }
        say(&format!("the {} cannot be empty", prompt.to_lowercase()));
    }
}

/// Prompts for a text until `check` accepts it. An error of `check` says what is wrong.
///
/// # Errors
/// If there is no terminal. Then the error names `flag` as the alternative.
pub(crate) fn ask_text(
    prompt: &str,
    flag: &str,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<String, CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::usage(format!("cannot prompt without a terminal: use {flag}")));
    }
    dialoguer::Input::<String>::new()
        .with_prompt(prompt)
        .validate_with(|text: &String| check(text.trim()))
        .interact_text()
        .map(|text| text.trim().to_owned())
        .map_err(|_no_more_input| cancelled())
}

/// Returns whether a person is there who can choose with the arrow keys.
pub(crate) fn can_choose() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Lets a person choose one of `items` with the arrow keys, and returns its index. The first item is chosen at the
/// beginning. There must be a terminal ([`can_choose`]).
///
/// # Errors
/// If the choice is cancelled.
pub(crate) fn choose(prompt: &str, items: &[String]) -> Result<usize, CliError> {
    let chosen =
        dialoguer::Select::new().with_prompt(prompt).items(items).default(0).interact_opt();
    chosen.ok().flatten().ok_or_else(cancelled)
}

/// Asks a person whether to continue. Without a terminal, `--yes` is required.
///
/// # Errors
/// If there is no terminal.
pub(crate) fn confirm(question: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::usage("cannot ask for confirmation without a terminal: use --yes"));
    }
    dialoguer::Confirm::new()
        .with_prompt(question)
        .default(false)
        .interact()
        .map_err(|_no_more_input| cancelled())
}

/// Asks for confirmation of a destructive command on a terminal, unless `yes` is set. A script needs no confirmation.
///
/// # Errors
/// If the prompt is cancelled.
pub(crate) fn is_meant(question: &str, yes: bool) -> Result<bool, CliError> {
    if yes || !io::stdin().is_terminal() { Ok(true) } else { confirm(question) }
}

/// Prompts for a new password until it is long enough and was typed the same way twice.
///
/// # Errors
/// If there is no terminal, or the prompt is cancelled.
pub(crate) fn ask_new_password() -> Result<Secret, CliError> {
    let flag = "--password-stdin";
    loop {
        let password = ask_hidden("New password (12 or more characters)", flag)?;
        if let Err(why) = check_password(password.expose()) {
            say(&why);
            continue;
        }
        if ask_hidden("Repeat password", flag)?.expose() == password.expose() {
            return Ok(password);
        }
        say("the two passwords differ");
    }
}

/// Prompts for a secret once. The secret may be empty.
fn ask_hidden(prompt: &str, flag: &str) -> Result<Secret, CliError> {
    let missing = |error: io::Error| {
        if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::Interrupted) {
            return cancelled();
        }
        CliError::usage(format!("cannot prompt without a terminal: use {flag}"))
    };
    // Hide the input before the prompt appears, so that an immediate paste is not shown.
    let _hidden = link_platform::terminal::hide_input();
    let text = rpassword::prompt_password(format!("{prompt}: ")).map_err(missing)?;
    Ok(Secret::new(text))
}

fn check_password(text: &str) -> Result<(), String> {
    match text.chars().count() {
        0 => Err("the password cannot be empty; use at least 12 characters".to_owned()),
        1..12 => Err("the password must have at least 12 characters".to_owned()),
        12..=200 => Ok(()),
        _ => Err("the password must have at most 200 characters".to_owned()),
    }
}

/// Returns whether a text can be an e-mail address.
///
/// # Errors
/// The fault of the text, for a person.
pub(crate) fn check_email(text: &str) -> Result<(), String> {
    let (name, host) = text.split_once('@').unwrap_or((text, ""));
    let is_part = |part: &str| !part.is_empty() && !part.contains(['@', ' ']);
    if is_part(name) && is_part(host) {
        Ok(())
    } else {
        Err("an e-mail has the form name@host".to_owned())
    }
}

/// Says what is wrong with an answer, before the prompt is shown again.
pub(crate) fn say(text: &str) {
    // If stderr is closed, nobody can read the message.
    let _closed = writeln!(io::stderr(), "{text}");
}

fn cancelled() -> CliError {
    CliError::new(ExitCode::Interrupted, ErrorCode::Cancelled, "cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_checked_before_the_next_question() {
        for bad in ["", " ", "ada", "@host", "ada@", "a da@host", "ada@ho@st"] {
            assert!(check_email(bad).is_err(), "{bad}");
        }
        assert!(check_email("ada@localhost").is_ok());
        assert!(check_password("elevenchars").is_err() && check_password(&"é".repeat(12)).is_ok());
        assert!(check_password(&"x".repeat(201)).is_err());
    }
}
