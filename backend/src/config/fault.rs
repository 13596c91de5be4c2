//! The faults of a configuration, and the sources of its values.

use std::{fmt, path::PathBuf};

/// The start of the name of every environment variable.
pub const PREFIX: &str = "LINK_BACKEND_";
/// The key of the database's URL. The environment may set it, the file may not.
pub const DATABASE_URL: &str = "database.url";
/// The key of the object store's secret. The environment may set it, the file may not.
pub const CONTENT_SECRET_KEY: &str = "content.secret_key";
/// The keys that the file may not set, each with the key for the path of a private file.
pub const SECRETS: [(&str, &str); 2] =
    [(DATABASE_URL, "database.url_file"), (CONTENT_SECRET_KEY, "content.secret_key_file")];

/// The source of a value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    Flag(String),
    Environment(String),
    File,
    /// The default.
    Default,
}

/// A fault of one key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    pub key: String,
    pub place: Place,
    /// The expected value, and the actual value unless it may be a secret.
    pub said: String,
}

/// All faults of an invalid configuration.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub struct Unusable {
    pub file: Option<PathBuf>,
    pub faults: Vec<Fault>,
}

/// Returns the environment variable that overrides `key`.
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
