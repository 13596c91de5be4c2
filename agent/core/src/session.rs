//! Session files: the pipelines of one run of the agent, and the device's identity (specification,
//! section 2.3).
//!
//! Every run writes its own file, `session_<time>.json`, and rewrites it at each change. The time
//! in the name is for people; the latest session is the one with the highest revision. Revisions
//! only grow, so setting the clock back cannot revive an old session.

use std::collections::BTreeMap;

use jiff::Timestamp;
use link_protocol::{
    id::DeviceId,
    identity::{Identity, SCHEMA_VERSION},
};
use serde::{Deserialize, Serialize};

use crate::record::{Change, PipelineRecord};

/// The number of sessions kept, including the current one.
pub const KEPT: usize = 5;

/// The size limit for reading a session file, in bytes.
pub const SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// The contents of a session file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Session {
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: String,
    /// Increases with every write of any session of this device.
    pub revision: u64,
    pub identity: Identity,
    /// The pipelines of models, serving or not.
    pub pipelines: Vec<PipelineRecord>,
}

/// The reason why a file is not resumed. The file is kept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unusable {
    /// Another version of Link wrote the file.
    #[error("its schema version is `{0}`, and only `{SCHEMA_VERSION}` is read")]
    SchemaVersion(String),
    /// The file is not JSON, or a field is missing or wrong. The error contains no value of the
    /// file.
    #[error("it is damaged at line {line}, column {column}")]
    Damaged { line: usize, column: usize },
    /// The session belongs to another device.
    #[error("it is of {0}")]
    Foreign(DeviceId),
}

/// The contents of the session folder.
#[derive(Clone, Debug, Default)]
pub struct SessionFolder {
    /// The session to resume.
    pub latest: Option<Session>,
    /// The files that are not resumed, by name, each with the reason.
    pub skipped: BTreeMap<String, Unusable>,
    /// The files that newer sessions make obsolete.
    pub needless: Vec<String>,
    /// The highest revision of all sessions on this machine, including those of other devices.
    pub revision: u64,
    /// Whether an unreadable file might have been the latest session.
    pub doubtful: bool,
}

impl Session {
    /// Creates the session that follows `found`. Its revision is higher than that of any other
    /// session on this machine, so a former device's session never counts as the latest.
    #[must_use]
    pub fn after(found: SessionFolder, identity: Identity) -> Self {
        let pipelines = found.latest.map(|latest| latest.pipelines).unwrap_or_default();
        let schema_version = SCHEMA_VERSION.to_owned();
        Self { schema_version, revision: found.revision, identity, pipelines }
    }

    /// Parses a session file.
    ///
    /// # Errors
    /// [`Unusable`]; its message contains nothing of the file but the schema version.
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

    /// Returns the file's text.
    ///
    /// # Panics
    /// Never: a session has only text keys.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a session has only text keys");
        text.push('\n');
        text
    }

    /// Applies changes of pipelines; the caller must then write the session.
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
                | Change::HoldReport(_)
                | Change::BuryReport { .. }
                | Change::SetLastSeq(_) => {}
            }
        }
    }
}

/// Returns the name of the session file of a run that began at `start`.
#[must_use]
pub fn file_name(start: Timestamp) -> String {
    start.strftime("session_%Y%m%dT%H%M%S%3fZ.json").to_string()
}

/// Returns whether `name` is the name of a session file.
#[must_use]
pub fn is_session(name: &str) -> bool {
    name.starts_with("session_") && name.strip_suffix(".json").is_some()
}

/// Chooses the session to resume from `files` (names and texts). Only sessions of `device` are
/// considered, or those of any device if `device` is unknown.
#[must_use]
pub fn choose(files: &[(String, String)], device: Option<DeviceId>) -> SessionFolder {
    let mut found = SessionFolder::default();
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
    // The session that is written next counts towards the limit.
    found.needless = usable.iter().skip(KEPT - 1).map(|(_, name)| (*name).clone()).collect();
    found.latest = usable.into_iter().next().map(|(session, _)| session);
    found
}

#[cfg(test)]
mod tests;
