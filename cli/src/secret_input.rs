//! Secrets and e-mails from a prompt, a pipe or a file. They never appear among the arguments.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads stdin, a file and the terminal")]

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use link_protocol::{exit_code::ExitCode, secret::Secret};

use crate::{error::CliError, error_code::ErrorCode};

/// Reads the first line of a file, or the next line of stdin for `-`.
///
/// # Errors
/// When there is nothing to read.
pub(crate) fn line_of(file: &str, what: &str) -> Result<Secret, CliError> {
    if file == "-" {
        return stdin_line(what);
    }
    let text = std::fs::read_to_string(file).map_err(|error| {
        let message = format!("failed to read `{file}`: {error}");
        CliError::new(ExitCode::CannotWrite, ErrorCode::File, message)
    })?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(CliError::usage(format!("`{file}` holds no {what}")));
    }
    Ok(Secret::new(line))
}

/// Reads the next line of stdin.
///
/// # Errors
/// When stdin has ended.
pub(crate) fn stdin_line(what: &str) -> Result<Secret, CliError> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| {
        CliError::new(ExitCode::Failed, ErrorCode::Input, format!("failed to read stdin: {error}"))
    })?;
    let line = line.trim_end_matches(['\n', '\r']);
    if line.is_empty() {
        return Err(CliError::usage(format!("stdin holds no {what}")));
    }
    Ok(Secret::new(line))
}

/// Prompts for a line that is not secret.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) fn ask_line(question: &str) -> Result<String, CliError> {
    let failed = |error: io::Error| {
        CliError::new(ExitCode::Failed, ErrorCode::Input, format!("failed to read stdin: {error}"))
    };
    io::stderr().write_all(question.as_bytes()).map_err(failed)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(failed)?;
    Ok(line)
}

/// Prompts for a secret without echo.
///
/// # Errors
/// When there is no terminal. The error then names `flag` as the alternative.
pub(crate) fn ask_secret(prompt: &str, flag: &str) -> Result<Secret, CliError> {
    let missing = |error: io::Error| {
        if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::Interrupted) {
            return cancelled();
        }
        CliError::usage(format!("cannot prompt without a terminal: use {flag}"))
    };
    // Hide the input before the prompt appears: a quick paste must not be shown.
    let _hidden = link_platform::terminal::hide_input();
    let text = rpassword::prompt_password(format!("{prompt}: ")).map_err(missing)?;
    if text.is_empty() {
        return Err(CliError::usage(format!("the {} cannot be empty", prompt.to_lowercase())));
    }
    Ok(Secret::new(text))
}

/// Prompts for a text until `check` accepts one; its error says what is wrong.
///
/// # Errors
/// When there is no terminal. The error then names `flag` as the alternative.
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

/// Asks whether to continue. Without a terminal, `--yes` is required.
///
/// # Errors
/// When there is no terminal.
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

/// Asks whether a destructive command is meant, on a terminal and without `--yes`. A script means it.
///
/// # Errors
/// When the prompt is cancelled.
pub(crate) fn is_meant(question: &str, yes: bool) -> Result<bool, CliError> {
    if yes || !io::stdin().is_terminal() { Ok(true) } else { confirm(question) }
}

/// Prompts for a new password until it is long enough and was typed twice alike.
///
/// # Errors
/// When there is no terminal, or the prompt is cancelled.
pub(crate) fn ask_new_password() -> Result<Secret, CliError> {
    let flag = "--password-stdin";
    loop {
        let password = ask_secret("New password (12 or more characters)", flag)?;
        if let Err(why) = check_password(password.expose()) {
            say(&why);
            continue;
        }
        if ask_secret("Repeat password", flag)?.expose() == password.expose() {
            return Ok(password);
        }
        say("the two passwords differ");
    }
}

fn check_password(text: &str) -> Result<(), String> {
    match text.chars().count() {
        0..12 => Err("the password must have at least 12 characters".to_owned()),
        12..=200 => Ok(()),
        _ => Err("the password must have at most 200 characters".to_owned()),
    }
}

/// Tells whether a text can be an e-mail address.
///
/// # Errors
/// What is wrong, for a person.
pub(crate) fn check_email(text: &str) -> Result<(), String> {
    let (name, host) = text.split_once('@').unwrap_or((text, ""));
    let is_part = |part: &str| !part.is_empty() && !part.contains(['@', ' ']);
    if is_part(name) && is_part(host) {
        Ok(())
    } else {
        Err("an e-mail has the form name@host".to_owned())
    }
}

fn say(text: &str) {
    // If stderr is closed, nobody reads the message.
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
