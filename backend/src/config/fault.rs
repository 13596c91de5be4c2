//! What can be wrong with a configuration, and where a value stands.

use std::{fmt, path::PathBuf};

/// What every variable of the environment begins with.
pub const PREFIX: &str = "LINK_BACKEND_";
/// The key of the database's address, which may stand in the environment and not in the file.
pub const DATABASE_URL: &str = "database.url";
/// The key of the secret of the object store, which may stand there too.
pub const CONTENT_SECRET_KEY: &str = "content.secret_key";
/// Keys that do not stand in the file, each with the one that names a private file in its place.
pub const SECRETS: [(&str, &str); 2] =
    [(DATABASE_URL, "database.url_file"), (CONTENT_SECRET_KEY, "content.secret_key_file")];

/// Where a value stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    Flag(String),
    Environment(String),
    File,
    /// Nobody said anything else.
    Default,
}

/// Something that is wrong with one key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    pub key: String,
    pub place: Place,
    /// What was expected, and what is there unless that could be a secret.
    pub said: String,
}

/// A configuration cannot be used; every fault of it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub struct Unusable {
    pub file: Option<PathBuf>,
    pub faults: Vec<Fault>,
}

/// Returns the variable that overrides `key`.
#[must_use]
pub fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_uppercase())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => f.write_str(name),
            Self::Environment(name) => f.write_str(name),
            Self::File => f.write_str("file"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File | Place::Default => write!(f, "{}: {}", self.key, self.said),
            place @ (Place::Flag(_) | Place::Environment(_)) => {
                write!(f, "{}: {} (from {place})", self.key, self.said)
            }
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "cannot use `{}`:", file.display())?,
            None => f.write_str("cannot use this configuration:")?,
        }
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}
