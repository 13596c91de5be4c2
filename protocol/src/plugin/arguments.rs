//! Argument templates: words in which `{name}` stands for a value of the launch or of a setting.
//!
//! Each word of a template becomes exactly one argument. A value is inserted as it is: no shell reads it, and
//! placeholders inside a value have no meaning, so no template can refer to itself.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use super::{Value, shown};
use crate::task::Task;

/// The values that every launch has, besides the settings.
pub(super) const LAUNCH: [&str; 7] =
    ["model", "alias", "secret_file", "folder", "base_path", "socket", "port"];
/// The longest word of a template, in bytes.
const WORD_LIMIT: usize = 512;

/// One argument of an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Argument(Vec<Piece>);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Piece {
    Text(String),
    Placeholder(String),
}

/// The values of one launch.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Values {
    /// Paths, by the name of their placeholder.
    pub paths: BTreeMap<&'static str, PathBuf>,
    /// Other texts, by the name of their placeholder.
    pub texts: BTreeMap<&'static str, String>,
    pub settings: BTreeMap<String, Value>,
    /// What the model is for, if known.
    pub task: Option<Task>,
}

/// A template has an unusable word.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidArgument {
    #[error("`{{{0}}}` stands for nothing: no launch and no setting has a value of this name")]
    Unknown(String),
    #[error("`{{{0}}}` has a value only where the engine listens on it")]
    Misplaced(String),
    #[error("a brace in `{0}` has no partner")]
    Brace(String),
    #[error("`{0}` has a control character, or more than 512 bytes")]
    Word(String),
    #[error(
        "`{0}` is an absolute path; a plugin names only files of its own folder, with {{folder}}"
    )]
    AbsolutePath(String),
}

impl Argument {
    /// Reads one word of a template. `is_known` tells which placeholders have a value there.
    ///
    /// # Errors
    /// [`InvalidArgument`].
    pub(super) fn read(
        word: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Self, InvalidArgument> {
        if word.len() > WORD_LIMIT || word.chars().any(char::is_control) {
            return Err(InvalidArgument::Word(shown(word)));
        }
        if word.starts_with('/') || word.contains("=/") {
            return Err(InvalidArgument::AbsolutePath(shown(word)));
        }
        let brace = || InvalidArgument::Brace(shown(word));
        let (mut pieces, mut rest) = (Vec::new(), word);
        while let Some((text, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or_else(brace)?;
            if text.contains('}') || name.contains('{') {
                return Err(brace());
            }
            if !is_known(name) {
                let known = LAUNCH.contains(&name);
                let name = shown(name);
                return Err(match known {
                    true => InvalidArgument::Misplaced(name),
                    false => InvalidArgument::Unknown(name),
                });
            }
            pieces.push(Piece::Text(text.to_owned()));
            pieces.push(Piece::Placeholder(name.to_owned()));
            rest = after;
        }
        if rest.contains('}') {
            return Err(brace());
        }
        pieces.push(Piece::Text(rest.to_owned()));
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        Ok(Self(pieces))
    }

    /// Returns the names of the placeholders.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Placeholder(name) => Some(name.as_str()),
        })
    }

    /// Returns the argument, or `None` if one of its placeholders has no value.
    #[must_use]
    pub fn fill(&self, values: &Values) -> Option<OsString> {
        let mut filled = OsString::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push(text),
                Piece::Placeholder(name) => values.push(name, &mut filled)?,
            }
        }
        Some(filled)
    }
}

impl Values {
    fn push(&self, name: &str, filled: &mut OsString) -> Option<()> {
        if let Some(path) = self.paths.get(name) {
            filled.push(path);
        } else if let Some(text) = self.texts.get(name) {
            filled.push(text);
        } else {
            filled.push(self.settings.get(name)?.to_string());
        }
        Some(())
    }
}
