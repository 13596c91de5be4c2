//! Session files: what a run of the agent served, and who the device was (specification, section
//! 2.3).
//!
//! Every run writes a file of its own, `session_<time>.json`, again at each change. The time in the
//! name is for people; which one is the latest is decided by a revision that only grows, so a clock
//! that is set back cannot bring an old session to life.

use std::collections::BTreeMap;

use jiff::Timestamp;
use link_protocol::{
    id::DeviceId,
    identity::{Identity, SCHEMA_VERSION},
};
use serde::{Deserialize, Serialize};

use crate::record::{Change, PipelineRecord};

/// Sessions that are kept, the current one among them.
pub const KEPT: usize = 5;

/// The largest session file that is read, in bytes.
pub const SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// What a session file holds.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Session {
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: String,
    /// Grows with every write of every session of this device.
    pub revision: u64,
    pub identity: Identity,
    /// The pipelines of models, serving or not.
    pub pipelines: Vec<PipelineRecord>,
}

/// Why a file is not resumed. Such a file is kept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unusable {
    /// It was written by another version of Link.
    #[error("its schema version is `{0}`, and only `{SCHEMA_VERSION}` is read")]
    SchemaVersion(String),
    /// It is not JSON, or something in it is missing or wrong. No value of it is repeated.
    #[error("it is damaged at line {line}, column {column}")]
    Damaged { line: usize, column: usize },
    /// It is the session of another device.
    #[error("it is of {0}")]
    Foreign(DeviceId),
}

/// What was found in the folder of sessions.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The one to resume.
    pub latest: Option<Session>,
    /// The files that are not resumed, with the reason, by name.
    pub skipped: BTreeMap<String, Unusable>,
    /// The files that newer ones have made needless.
    pub needless: Vec<String>,
    /// The highest revision of all sessions on this machine, those of other devices among them.
    pub revision: u64,
    /// Whether there is a session that may have been the latest and cannot be read.
    pub doubtful: bool,
}

impl Session {
    /// The session that follows what was `found`: later than every other one on this machine, so
    /// that none of a former device ever counts as the latest.
    #[must_use]
    pub fn after(found: Found, identity: Identity) -> Self {
        let pipelines = found.latest.map(|latest| latest.pipelines).unwrap_or_default();
        let schema_version = SCHEMA_VERSION.to_owned();
        Self { schema_version, revision: found.revision, identity, pipelines }
    }

    /// Reads a session file.
    ///
    /// # Errors
    /// [`Unusable`]; its message holds nothing of the file but the schema version.
    pub fn parse(text: &str) -> Result<Self, Unusable> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: String,
        }
        let damaged = |error: serde_json::Error| Unusable::Damaged {
            line: error.line(),
            column: error.column(),
        };
        let version: Version = serde_json::from_str(text).map_err(damaged)?;
        if version.schema_version != SCHEMA_VERSION {
            return Err(Unusable::SchemaVersion(version.schema_version.chars().take(20).collect()));
        }
        serde_json::from_str(text).map_err(damaged)
    }

    /// Writes the file's text.
    ///
    /// # Panics
    /// Never: a session has only text keys.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a session has only text keys");
        text.push('\n');
        text
    }

    /// Takes up changes of pipelines; what it is then must be written.
    pub fn apply(&mut self, changes: &[Change]) {
        self.revision = self.revision.saturating_add(1);
        for change in changes {
            match change {
                Change::PutPipeline(record) => {
                    let id = record.config.pipeline_id;
                    match self.pipelines.iter_mut().find(|other| other.config.pipeline_id == id) {
                        Some(other) => *other = record.clone(),
                        None => self.pipelines.push(record.clone()),
                    }
                }
                Change::RemovePipeline(id) => {
                    self.pipelines.retain(|record| record.config.pipeline_id != *id);
                }
                Change::PutCommand(_)
                | Change::ForgetCommand(_)
                | Change::PutReport(_)
                | Change::RemoveReport(_)
                | Change::SetAside(_)
                | Change::BuryReport { .. }
                | Change::SetLastSeq(_) => {}
            }
        }
    }
}

/// The name of the session of a run that began at `start`.
#[must_use]
pub fn file_name(start: Timestamp) -> String {
    start.strftime("session_%Y%m%dT%H%M%S%3fZ.json").to_string()
}

/// Tells whether a file is a session by its name.
#[must_use]
pub fn is_session(name: &str) -> bool {
    name.starts_with("session_") && name.strip_suffix(".json").is_some()
}

/// Decides which of `files`, names and texts, is resumed by `device`; any device's when it is not
/// known which one this is.
#[must_use]
pub fn choose(files: &[(String, String)], device: Option<DeviceId>) -> Found {
    let mut found = Found::default();
    let mut usable = Vec::new();
    for (name, text) in files {
        let session = Session::parse(text).and_then(|session| {
            found.revision = found.revision.max(session.revision);
            let owner = session.identity.device_id;
            if device.is_none_or(|device| device == owner) {
                Ok(session)
            } else {
                Err(Unusable::Foreign(owner))
            }
        });
        match session {
            Ok(session) => usable.push((session, name)),
            Err(reason) => {
                found.doubtful |= !matches!(reason, Unusable::Foreign(_));
                found.skipped.insert(name.clone(), reason);
            }
        }
    }
    usable
        .sort_by(|(one, name), (other, later)| (other.revision, later).cmp(&(one.revision, name)));
    // The one that is written next is one more.
    found.needless = usable.iter().skip(KEPT - 1).map(|(_, name)| (*name).clone()).collect();
    found.latest = usable.into_iter().next().map(|(session, _)| session);
    found
}

#[cfg(test)]
mod tests;
