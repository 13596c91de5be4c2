//! The versions on disk: installed, put on trial, committed, rolled back, and removed.
//!
//! A caller that changes them holds the installer's lock. The decisions are in [`crate::decide::update`].

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: copies programs and removes folders"
)]

mod error;
mod outdated;
mod runnable;
mod trial;

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use link_platform::{
    checkpoint,
    fs::{self, Lock},
    pointer, program,
};
use link_protocol::command::Sha256Hex;
use semver::Version;

use crate::{
    decide::update::{TrialFailure, UpdateState, UpdateStep},
    layout::{Layout, complete_mark},
    receipt::{InstalledFile, InstalledVersion, Receipt},
    state_file::{self, StateError},
    trust::Release,
    unpacked::hash,
};

pub use error::ChangeError;
pub use outdated::outdated;
pub use runnable::program;
pub use trial::Asker;

/// How long another installer may hold the lock.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The next step if the state of updates is damaged.
const NEXT_STEP: &str = "delete it and try again; which versions were given up is forgotten then, and \
                         the one that runs counts as good";

/// Checkpoints of a rollback.
const ROLLING_BACK: [&str; 2] = ["roll-back-written", "roll-back-pointed"];

/// The versions of one installation, with the installer's lock held.
#[derive(Debug)]
pub struct Versions {
    layout: Layout,
    _lock: Lock,
}

/// Reads the state of updates, to show it. A missing or unreadable state counts as that of a new installation.
#[must_use]
pub fn state(layout: &Layout) -> UpdateState {
    load_state(layout).unwrap_or_default()
}

/// Reads the state of updates, to change it.
fn load_state(layout: &Layout) -> Result<UpdateState, StateError> {
    Ok(state_file::read(&layout.update_state(), NEXT_STEP)?.unwrap_or_default())
}

/// Returns the current version.
#[must_use]
pub fn current(layout: &Layout) -> Option<Version> {
    pointer::read(&layout.current())?.file_name()?.to_str()?.parse().ok()
}

impl Versions {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`ChangeError::Busy`] if another installer holds it.
    pub fn lock(layout: &Layout) -> Result<Self, ChangeError> {
        let lock = fs::try_lock(&layout.lock())?.ok_or(ChangeError::Busy)?;
        Ok(Self { layout: layout.clone(), _lock: lock })
    }

    /// Waits for the lock and takes it.
    ///
    /// # Errors
    /// [`ChangeError::Busy`] if another installer holds it for longer than `patience`.
    pub fn lock_within(layout: &Layout, patience: Duration) -> Result<Self, ChangeError> {
        let deadline = Instant::now() + patience;
        loop {
            match Self::lock(layout) {
                Err(ChangeError::Busy) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                locked => return locked,
            }
        }
    }

    /// Lists a version in the receipt. Call this before the version is copied.
    ///
    /// # Errors
    /// If the receipt cannot be written.
    pub fn record(&self, release: &Release) -> Result<(), ChangeError> {
        let folder = self.layout.version(&release.version.to_string());
        self.change_receipt(|receipt| receipt.set_version(installed(release, &folder)))
    }

    /// Changes the receipt.
    ///
    /// # Errors
    /// If the receipt is damaged or cannot be written.
    pub(crate) fn change_receipt(
        &self,
        change: impl FnOnce(&mut Receipt),
    ) -> Result<(), ChangeError> {
        let before = Receipt::load(&self.layout.receipt())?.unwrap_or_default();
        let mut receipt = before.clone();
        change(&mut receipt);
        if receipt != before {
            receipt.write(&self.layout.receipt())?;
        }
        Ok(())
    }

    /// Copies a release under a temporary name, renames it, and marks it complete.
    ///
    /// # Errors
    /// [`ChangeError`]. Then the version does not exist, or is the same as before.
    pub fn lay_out(&self, release: &Release) -> Result<(), ChangeError> {
        let folder = self.layout.version(&release.version.to_string());
        let (staged, replaced) = (beside(&folder, "new"), beside(&folder, "old"));
        for leftover in [&staged, &replaced] {
            fs::remove_dir(leftover)?;
        }
        std::fs::create_dir_all(&staged)
            .map_err(|source| ChangeError::io("create", &staged, source))?;
        for (program, sha256) in &release.programs {
            let (source_path, target) = (release.from.join(program), staged.join(program));
            copy(&source_path, &target)
                .map_err(|source| ChangeError::io("write", &target, source))?;
            if !has_hash(&target, sha256.as_str()) {
                fs::remove_dir(&staged)?;
                return Err(ChangeError::Changed(source_path));
            }
        }
        checkpoint::reach("version-copied");
        fs::replace_dir(&staged, &folder, &replaced)?;
        checkpoint::reach("version-renamed");
        fs::write_atomic(&complete_mark(&folder), b"")?;
        checkpoint::reach("version-complete");
        Ok(fs::remove_replaced(&replaced)?)
    }

    /// Deletes a version that is not current, and removes it from the receipt.
    ///
    /// # Errors
    /// [`ChangeError`] if a file cannot be deleted.
    pub fn remove(&self, version: &Version) -> Result<(), ChangeError> {
        // Another run may have made this version current.
        if current(&self.layout).as_ref() == Some(version) {
            return Ok(());
        }
        let version = version.to_string();
        fs::remove_dir(&self.layout.version(&version))?;
        let forgotten = self.change_receipt(|receipt| {
            receipt.versions.retain(|installed| installed.version != version);
        });
        match forgotten {
            // A damaged receipt lists no version.
            Err(ChangeError::State(StateError::Damaged { .. })) => Ok(()),
            other => other,
        }
    }

    /// Records that `version` must not be installed again automatically.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub fn skip(&self, version: &Version, reason: &str) -> Result<(), ChangeError> {
        self.write(&load_state(&self.layout)?.skip(version, reason.to_owned()))
    }

    /// Makes `to` the current version, on trial.
    ///
    /// # Errors
    /// [`ChangeError`]. If a step fails, the guard resolves the unfinished replacement.
    pub fn swap(&self, to: &Version) -> Result<(), ChangeError> {
        let state = load_state(&self.layout)?;
        let Some(current) = current(&self.layout) else { return self.point(to) };
        // A version on trial is not proven. The version to restore is the one that ran before the trial.
        let from = state.pending.as_ref().map_or(&current, |pending| &pending.from);
        self.apply(&state.swap(from, to), ["swap-written", "swap-pointed"])
    }

    /// Restores the version that ran before `tried`, and deletes `tried`. Does nothing if another version is now on
    /// trial.
    ///
    /// # Errors
    /// [`ChangeError`]. The next [`Self::look`] resolves an unfinished rollback.
    pub fn roll_back(&self, tried: &Version, failure: TrialFailure) -> Result<(), ChangeError> {
        let state = load_state(&self.layout)?;
        if state.pending.as_ref().is_some_and(|pending| pending.to == *tried) {
            self.apply(&state.roll_back(failure), ROLLING_BACK)?;
        }
        self.prune()
    }

    /// Commits `tried`, and deletes all other versions except the previous one. Does nothing if another version is now
    /// on trial.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn commit(&self, tried: &Version) -> Result<(), ChangeError> {
        let state = load_state(&self.layout)?;
        if let Some(committed) = state.commit()
            && state.pending.as_ref().is_some_and(|pending| pending.to == *tried)
        {
            self.write(&committed)?;
            checkpoint::reach("committed");
        }
        self.refresh_guard()?;
        self.prune()
    }

    /// Replaces the guard's file with that of the current version, unless the file is up to date or a version is on
    /// trial. A running guard keeps running until its next start.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn refresh_guard(&self) -> Result<(), ChangeError> {
        let Some(current) = current(&self.layout) else { return Ok(()) };
        let current = current.to_string();
        let receipt = Receipt::read(&self.layout.receipt()).unwrap_or_default();
        let files = receipt.version(&current).into_iter().flat_map(|version| &version.files);
        let wanted = files.into_iter().find(|file| file.path.ends_with(program::GUARD));
        let is_pending = load_state(&self.layout)?.pending.is_some();
        match wanted {
            Some(wanted)
                if !is_pending
                    && has_hash(&wanted.path, &wanted.sha256)
                    && !has_hash(&self.layout.guard(), &wanted.sha256) =>
            {
                self.place_guard(&current)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Copies the guard of `version` to its place outside the versions' folders.
    pub(crate) fn place_guard(&self, version: &str) -> Result<(), ChangeError> {
        let (guard, source) =
            (self.layout.guard(), self.layout.version(version).join(program::GUARD));
        let staged = guard.with_extension("new");
        let folder = guard.parent().unwrap_or(&guard);
        std::fs::create_dir_all(folder)
            .map_err(|error| ChangeError::io("create", folder, error))?;
        copy(&source, &staged).map_err(|error| ChangeError::io("write", &guard, error))?;
        program::replace(&staged, &guard).map_err(|error| ChangeError::io("write", &guard, error))
    }

    /// Deletes the versions that are neither current, nor previous, nor pending.
    ///
    /// # Errors
    /// [`ChangeError`] if a file cannot be deleted.
    pub fn prune(&self) -> Result<(), ChangeError> {
        let Some(current) = current(&self.layout) else { return Ok(()) };
        for name in outdated(&self.layout, &current)? {
            match name.parse::<Version>() {
                Ok(version) => self.remove(&version)?,
                Err(_) => fs::remove_dir(&self.layout.versions().join(name))?,
            }
        }
        Ok(())
    }

    /// Runs `steps`. `written` and `pointed` are the checkpoints after a write and after a change of the pointer.
    fn apply(
        &self,
        steps: &[UpdateStep],
        [written, pointed]: [&str; 2],
    ) -> Result<(), ChangeError> {
        for step in steps {
            match step {
                UpdateStep::Write(state) => {
                    self.write(state)?;
                    checkpoint::reach(written);
                }
                UpdateStep::Point(version) => {
                    self.point(version)?;
                    checkpoint::reach(pointed);
                }
            }
        }
        Ok(())
    }

    fn write(&self, state: &UpdateState) -> Result<(), ChangeError> {
        Ok(fs::write_atomic(&self.layout.update_state(), state.to_text().as_bytes())?)
    }

    /// Makes `version` the current one, without a trial.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn point(&self, version: &Version) -> Result<(), ChangeError> {
        let (pointer, target) = (self.layout.current(), self.layout.version(&version.to_string()));
        pointer::replace(&pointer, &target)
            .map_err(|source| ChangeError::io("point", &pointer, source))
    }
}

/// Returns the entry of the receipt for `release`.
pub(crate) fn installed(release: &Release, folder: &Path) -> InstalledVersion {
    let place = |(name, sha256): &(&str, Sha256Hex)| InstalledFile {
        path: folder.join(name),
        sha256: sha256.to_string(),
    };
    InstalledVersion {
        version: release.version.to_string(),
        release: release.signed.clone(),
        archive: release.archive.as_ref().map(ToString::to_string),
        files: release.programs.iter().map(place).collect(),
    }
}

pub(crate) fn has_hash(path: &Path, sha256: &str) -> bool {
    hash(path).is_ok_and(|(found, _)| found.as_str() == sha256)
}

fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.{suffix}"))
}

/// Copies a file with its permissions, and syncs it to disk; Windows does that by a handle that may write.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::copy(from, to)?;
    File::options().write(true).open(to)?.sync_all()
}

#[cfg(test)]
mod tests;
