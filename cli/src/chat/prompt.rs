//! The line editor. It keeps the history of earlier lines in a private file.
//!
//! The editor blocks until a line is complete, so it runs on its own thread.

use std::path::{Path, PathBuf};

use link_platform::{fs, terminal};
use link_protocol::exit_code::ExitCode;
use rustyline::{Config, DefaultEditor, error::ReadlineError};

use crate::{error::CliError, error_code::ErrorCode};

/// The maximum number of lines in the history.
const KEPT: usize = 1000;

/// The mark at the start and the end of a text of several lines.
const BLOCK: &str = "\"\"\"";

/// The editor and the file of its history.
pub(super) struct Prompt {
    editor: DefaultEditor,
    history: PathBuf,
}

/// The user's input at the prompt.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Typed {
    Text(String),
    /// The end of the input.
    End,
}

impl Prompt {
    /// Opens the editor, with the lines of earlier conversations as its history.
    ///
    /// # Errors
    /// If the terminal cannot be used.
    pub(super) fn open(history: &Path) -> Result<Self, CliError> {
        let config = Config::builder().max_history_size(KEPT).map_err(failed)?;
        let config = config.history_ignore_space(true).auto_add_history(true).build();
        let mut editor = DefaultEditor::with_config(config).map_err(failed)?;
        // An unreadable or missing history counts as an empty one.
        let _none = editor.load_history(history);
        Ok(Self { editor, history: history.to_owned() })
    }

    /// Reads a text, and adds it to the history.
    ///
    /// # Errors
    /// If the terminal cannot be read.
    pub(super) async fn read(self) -> Result<(Self, Typed), CliError> {
        let read = tokio::task::spawn_blocking(move || {
            let mut prompt = self;
            let typed = prompt.read_text()?;
            prompt.keep();
            Ok((prompt, typed))
        });
        read.await.map_err(|error| unreadable(error.to_string()))?
    }

    fn read_text(&mut self) -> Result<Typed, CliError> {
        let mut text = String::new();
        let mut block = false;
        loop {
            let begins = text.is_empty() && !block;
            if begins && terminal::take_typed_end() {
                return Ok(Typed::End);
            }
            let shown = if begins { ">>> " } else { "... " };
            match self.editor.readline(shown) {
                Ok(line) => {
                    if !take(&mut text, &mut block, &line) {
                        return Ok(Typed::Text(text));
                    }
                }
                // As in a shell, Ctrl-C discards the typed text.
                Err(ReadlineError::Interrupted) => (text, block) = (String::new(), false),
                Err(ReadlineError::Eof) => return Ok(Typed::End),
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Writes the history to its file. A failure, such as a full disk, does not end the
    /// conversation.
    fn keep(&mut self) {
        let folder = self.history.parent();
        if folder.is_some_and(|folder| fs::create_private_dir(folder).is_ok()) {
            let _unkept = self.editor.append_history(&self.history);
        }
    }
}

/// Adds a line to a text. Returns whether more lines belong to the text.
fn take(text: &mut String, block: &mut bool, line: &str) -> bool {
    if *block {
        let Some(last) = line.trim_end().strip_suffix(BLOCK) else {
            text.push_str(line);
            text.push('\n');
            return true;
        };
        text.push_str(last);
        return false;
    }
    if text.is_empty()
        && let Some(first) = line.trim_start().strip_prefix(BLOCK)
    {
        if let Some(whole) = first.trim_end().strip_suffix(BLOCK) {
            text.push_str(whole);
            return false;
        }
        *block = true;
        text.push_str(first);
        if !first.is_empty() {
            text.push('\n');
        }
        return true;
    }
    let Some(continued) = line.strip_suffix('\\') else {
        text.push_str(line);
        return false;
    };
    text.push_str(continued);
    text.push('\n');
    true
}

fn failed(error: ReadlineError) -> CliError {
    unreadable(error.to_string())
}

fn unreadable(why: String) -> CliError {
    CliError::new(
        ExitCode::Failed,
        ErrorCode::Terminal,
        format!("failed to read the terminal: {why}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_until_the_text_is_whole() {
        let typed = |lines: &[&str]| {
            let (mut text, mut block) = (String::new(), false);
            let more: Vec<_> = lines.iter().map(|line| take(&mut text, &mut block, line)).collect();
            (text, more)
        };
        assert_eq!(typed(&["one"]), ("one".to_owned(), vec![false]));
        assert_eq!(typed(&["one\\", "two"]), ("one\ntwo".to_owned(), vec![true, false]));
        let block = ["\"\"\"a", "b\\", "c\"\"\""];
        assert_eq!(typed(&block), ("a\nb\\\nc".to_owned(), vec![true, true, false]));
        assert_eq!(typed(&["\"\"\"a\"\"\""]), ("a".to_owned(), vec![false]));
    }
}
