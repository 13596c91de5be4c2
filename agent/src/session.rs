//! The session file of this run, and what the ones before have left.

#![expect(clippy::disallowed_methods, reason = "IO shell: the folder of sessions")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use link_agent_core::{
    record::{Change, PipelineRecord},
    session::{self, Found, Session},
};
use link_platform::{fs, paths::Roots};
use link_protocol::{id::DeviceId, identity::Identity};

/// The session of this run.
#[derive(Debug)]
pub(crate) struct SessionFile {
    path: PathBuf,
    session: Session,
}

/// Looks for the session to resume. A file that cannot be resumed is told and kept.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn find(roots: &Roots, device: Option<DeviceId>) -> anyhow::Result<Found> {
    let folder = roots.sessions();
    let mut files = Vec::new();
    for name in names(&folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        match fs::read_limited(&folder.join(&name), session::SIZE_LIMIT) {
            Ok(text) => files.push((name, text)),
            Err(error) => tracing::warn!("a session is left alone: {error}"),
        }
    }
    let found = session::choose(&files, device);
    for (name, reason) in &found.skipped {
        tracing::warn!("the session `{name}` is not resumed and is kept: {reason}");
    }
    Ok(found)
}

impl SessionFile {
    /// Begins the session of this run at `now`, where the one before ended.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn begin(
        roots: &Roots,
        found: Found,
        identity: Identity,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let folder = roots.sessions();
        fs::create_private_dir(&folder)?;
        let path = free_name(&folder, now)?;
        let mut file = Self { path, session: Session::after(found.latest, identity) };
        file.apply(&[])?;
        for name in found.needless {
            if let Err(error) = fs::remove_file(&folder.join(name)) {
                tracing::warn!("{error}");
            }
        }
        Ok(file)
    }

    /// What the session before has left to this one.
    pub(crate) fn pipelines(&self) -> Vec<PipelineRecord> {
        self.session.pipelines.clone()
    }

    /// Takes up `changes`; they are on disk when this returns, or nothing has changed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn apply(&mut self, changes: &[Change]) -> anyhow::Result<()> {
        let mut next = self.session.clone();
        next.apply(changes);
        fs::write_private(&self.path, next.to_text().as_bytes())?;
        self.session = next;
        Ok(())
    }
}

fn names(folder: &Path) -> std::io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        names.extend(name.to_str().filter(|name| session::is_session(name)).map(str::to_owned));
    }
    Ok(names)
}

/// A name that no session has: a clock may show the same time twice.
fn free_name(folder: &Path, now: Timestamp) -> anyhow::Result<PathBuf> {
    let mut time = now;
    loop {
        let path = folder.join(session::file_name(time));
        if !path.exists() {
            return Ok(path);
        }
        let later = time.checked_add(SignedDuration::from_millis(1));
        time = later.context("the clock of this machine shows the end of time")?;
    }
}

#[cfg(test)]
mod tests;
