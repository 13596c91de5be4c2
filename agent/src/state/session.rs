//! The session file of this run, and the files of earlier runs.

#![expect(clippy::disallowed_methods, reason = "IO shell: the folder of sessions")]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use link_agent_core::{
    record::{Change, PipelineRecord},
    session::{self, Session, SessionFolder, Unusable},
};
use link_platform::{
    fs::{self, FileError},
    paths::Roots,
};
use link_protocol::{id::DeviceId, identity::Identity};

use crate::state::disk_space::Patience;

/// The session of this run.
#[derive(Debug)]
pub(crate) struct SessionFile {
    path: PathBuf,
    session: Session,
}

/// Finds the session to resume. A file that cannot be resumed is logged and kept.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn find(roots: &Roots, device: Option<DeviceId>) -> anyhow::Result<SessionFolder> {
    let folder = roots.sessions();
    let mut files = Vec::new();
    let mut unread = false;
    for name in names(&folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        match fs::read_plain(&folder.join(&name), session::SIZE_LIMIT) {
            Ok(text) => files.push((name, text)),
            Err(error) => {
                tracing::warn!(
                    "a session cannot be read and is kept: {:#}",
                    anyhow::Error::new(error)
                );
                unread = true;
            }
        }
    }
    let mut found = session::choose(&files, device);
    found.doubtful |= unread;
    for (name, reason) in &found.skipped {
        tracing::warn!("the session `{name}` is not resumed and is kept: {reason}");
    }
    Ok(found)
}

/// Renames the sessions of former devices: they are kept but never read again.
///
/// # Errors
/// If one cannot be renamed.
pub(crate) fn set_former_aside(roots: &Roots, device: DeviceId) -> anyhow::Result<()> {
    let folder = roots.sessions();
    for (name, reason) in find(roots, Some(device))?.skipped {
        if matches!(reason, Unusable::Foreign(_)) {
            fs::rename(&folder.join(&name), &folder.join(format!("former_{name}")))?;
        }
    }
    Ok(())
}

impl SessionFile {
    /// Starts the session of this run at `now` with the pipelines of the latest session. While the
    /// disk is full this waits, because the models being served must not stop.
    ///
    /// # Errors
    /// If the file cannot be written for another reason.
    pub(crate) async fn begin(
        roots: &Roots,
        found: SessionFolder,
        identity: Identity,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let folder = roots.sessions();
        fs::create_private_dir(&folder)?;
        let path = free_name(&folder, now)?;
        let needless = found.needless.clone();
        let mut file = Self { path, session: Session::after(found, identity) };
        let mut patience = Patience::default();
        while let Err(error) = file.apply(&[]).await {
            let full = error.downcast_ref::<FileError>().is_some_and(FileError::is_disk_full);
            anyhow::ensure!(full, error);
            patience.after(&error).await;
        }
        for name in needless {
            if let Err(error) = fs::remove_file(&folder.join(name)) {
                tracing::warn!("{error}");
            }
        }
        Ok(file)
    }

    /// Returns the pipelines from the latest session.
    pub(crate) fn pipelines(&self) -> Vec<PipelineRecord> {
        self.session.pipelines.clone()
    }

    /// Applies `changes`. On return, either all changes are on disk or nothing has changed. A slow
    /// disk does not block other tasks of this thread.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) async fn apply(&mut self, changes: &[Change]) -> anyhow::Result<()> {
        let mut next = self.session.clone();
        next.apply(changes);
        let (path, text) = (self.path.clone(), next.to_text());
        let write = move || fs::write_private(&path, text.as_bytes());
        tokio::task::spawn_blocking(write).await??;
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

/// Returns an unused file name: a clock may show the same time twice.
fn free_name(folder: &Path, now: Timestamp) -> anyhow::Result<PathBuf> {
    let mut time = now;
    loop {
        let path = folder.join(session::file_name(time));
        if !path.exists() {
            return Ok(path);
        }
        let later = time.checked_add(SignedDuration::from_millis(1));
        time = later.context("the clock of this machine is set too far ahead")?;
    }
}

#[cfg(test)]
mod tests;
