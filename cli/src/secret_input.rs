//! Secrets from a pipe or a file. They are never command-line arguments.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads stdin and a file")]

use std::io::{self, BufRead as _};

use link_protocol::{exit_code::ExitCode, secret::Secret};

use crate::{error::CliError, error_code::ErrorCode};

/// Reads the first line of a file, or the next line of stdin for `-`.
///
/// # Errors
/// If there is nothing to read.
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
/// If stdin has ended.
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
