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
    let missing = |_| CliError::usage(format!("cannot prompt without a terminal: use {flag}"));
    // Hide the input before the prompt appears: a quick paste must not be shown.
    let _hidden = link_platform::terminal::hide_input();
    let text = rpassword::prompt_password(format!("{prompt}: ")).map_err(missing)?;
    if text.is_empty() {
        return Err(CliError::usage(format!("the {} cannot be empty", prompt.to_lowercase())));
    }
    Ok(Secret::new(text))
}

/// Prompts for a text.
///
/// # Errors
/// When there is no terminal. The error then names `flag` as the alternative.
pub(crate) fn ask_text(prompt: &str, flag: &str) -> Result<String, CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::usage(format!("cannot prompt without a terminal: use {flag}")));
    }
    dialoguer::Input::<String>::new()
        .with_prompt(prompt)
        .interact_text()
        .map_err(|error| CliError::new(ExitCode::Interrupted, ErrorCode::Input, error.to_string()))
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
        .map_err(|error| CliError::new(ExitCode::Interrupted, ErrorCode::Input, error.to_string()))
}
