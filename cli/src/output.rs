//! The output for persons and programs: data on stdout, messages and errors on stderr.
//!
//! With `--json`, stdout contains one JSON document, and stderr contains only an error as a JSON
//! document. Control characters in texts from devices and servers are neutralised. Colours are off
//! with `NO_COLOR` or without a terminal.

mod pager;
mod table;

use std::io::{self, IsTerminal as _, Write as _};

use console::Term;
use jiff::Timestamp;
use link_protocol::{exit_code::ExitCode, shown};
use owo_colors::OwoColorize as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{args::Global, called, error::CliError, error_code::ErrorCode};

pub(crate) use table::{Cell, View};

/// The destination and form of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    full: bool,
    utc: bool,
}

impl Output {
    /// Creates the output that the flags request.
    pub(crate) const fn new(global: Global) -> Self {
        let Global { json, quiet, full, utc } = global;
        Self { json, quiet, full, utc }
    }

    /// Returns whether stdout holds JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Returns how progress is shown.
    pub(crate) fn progress_style(&self) -> ProgressStyle {
        if self.json || self.quiet {
            ProgressStyle::Hidden
        } else if io::stderr().is_terminal() {
            ProgressStyle::Bar
        } else {
            ProgressStyle::Lines
        }
    }

    /// Returns the form in which tables show their values: shortened on a terminal, complete
    /// elsewhere.
    pub(crate) fn view(&self, now: Timestamp) -> View {
        let Some((_rows, columns)) = terminal() else { return View::exact(now) };
        View { width: Some(columns), full: self.full, utc: self.utc, now }
    }

    /// Prints the result of a command: `value` as JSON, or `text`. A text that is longer than the
    /// terminal is shown in a pager.
    ///
    /// # Errors
    /// If stdout cannot be written.
    pub(crate) fn data<T: Serialize + ?Sized>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), CliError> {
        let text = if self.json {
            shown::json(&to_json(value))
        } else {
            shown::lines(&called::in_words(&text(value)))
        };
        if text.is_empty() {
            return Ok(());
        }
        let text = format!("{}\n", text.trim_end());
        let is_long = terminal().is_some_and(|(rows, _columns)| text.lines().count() >= rows);
        if is_long && pager::show(&text) { Ok(()) } else { write_stdout(&text) }
    }

    /// Prints a message for a person.
    pub(crate) fn say(&self, text: &str) {
        if !self.json && !self.quiet {
            write_stderr(&format!("{}\n", shown::lines(&called::in_words(text))));
        }
    }

    /// Prints what a person must do before the command can continue. `--quiet` does not hide it.
    /// With `--json` it is a one-line document on stderr.
    pub(crate) fn prompt(&self, value: &Prompt, text: &str) {
        let line = if self.json {
            let line = serde_json::to_string(value).expect("a prompt has only string keys");
            shown::json(&line)
        } else {
            shown::lines(&called::in_words(text))
        };
        write_stderr(&format!("{line}\n"));
    }

    /// Prints an error.
    pub(crate) fn error(&self, error: &CliError) {
        if self.json {
            write_stderr(&format!("{}\n", shown::json(&error.to_json())));
            return;
        }
        let message = shown::lines(&called::in_words(&error.message));
        let mut text = format!("{} {message}\n", "error:".red().bold());
        if let Some(hint) = error.hint.as_deref().map(called::in_words) {
            let hint = shown::lines(&hint);
            text.push_str(&format!("{} {hint}\n", " hint:".cyan().bold()));
        }
        if let Some(request_id) = error.request_id.as_deref().map(shown::one_line) {
            text.push_str(&format!("       request {request_id}\n"));
        }
        write_stderr(&text);
    }
}

/// A step that a person must take in a browser before the command can continue, on stderr.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Prompt {
    /// The address to open.
    pub(crate) verification_uri: String,
    /// The code to enter there.
    pub(crate) user_code: String,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ProgressStyle {
    Hidden,
    /// A bar that is redrawn on a terminal.
    Bar,
    /// One line per step, for a log.
    Lines,
}

/// Returns the rows and columns of the terminal. None if stdout is not a terminal.
fn terminal() -> Option<(usize, usize)> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (rows, columns) = Term::stdout().size_checked()?;
    Some((rows.into(), columns.into()))
}

/// Formats a number of bytes for a person.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::DecimalBytes(count).to_string()
}

/// Prints a text unchanged.
///
/// # Errors
/// If stdout cannot be written. A closed reader is no error.
pub(crate) fn write_stdout(text: &str) -> Result<(), CliError> {
    stream_stdout(text).map(|_| ())
}

/// Prints a text unchanged. Returns false if the reader has closed the output.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn stream_stdout(text: &str) -> Result<bool, CliError> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(CliError::new(
            ExitCode::CannotWrite,
            ErrorCode::Output,
            format!("failed to write to stdout: {error}"),
        )),
    }
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string_pretty(value).expect("our documents have only string keys")
}

fn write_stderr(text: &str) {
    // If stderr is closed, nobody can read the message.
    let _closed = anstream::stderr().lock().write_all(text.as_bytes());
}
