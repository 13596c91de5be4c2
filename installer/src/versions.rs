//! The versions on disk: laid out, put on trial, committed, rolled back, removed.
//!
//! Who changes one of them holds the installer's lock. What is decided is in [`crate::decide::update`].

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: copies programs and removes folders"
)]

mod error;
mod outdated;

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use link_platform::{
    checkpoint,
    fs::{self, Lock},
    pointer,
};
use link_protocol::command::Sha256Hex;
use semver::Version;

use crate::{
    decide::update::{Failure, Found, Step, TRIAL_STARTS, UpdateState},
    layout::{Layout, PROGRAMS, complete_mark},
    receipt::{InstalledFile, InstalledVersion, Receipt},
    state_file::{self, StateError},
    trust::Release,
    unpacked::hash,
};

pub use error::ChangeError;
pub use outdated::outdated;

/// How long another installer may hold the lock.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// What helps with a state of updates that is damaged.
const NEXT_STEP: &str = "delete it and try again; which versions were given up is forgotten then, and \
                         the one that runs counts as good";

/// Checkpoints while the version before comes back.
const ROLLING_BACK: [&str; 2] = ["roll-back-written", "roll-back-pointed"];

/// The versions of one installation, held by whoever changes them.
#[derive(Debug)]
pub struct Versions {
    layout: Layout,
    _lock: Lock,
}

/// Reads the state of updates, to show it; that of a fresh installation when there is none that can
/// be read.
#[must_use]
pub fn state(layout: &Layout) -> UpdateState {
    load_state(layout).unwrap_or_default()
}

/// Reads the state of updates, to change it.
fn load_state(layout: &Layout) -> Result<UpdateState, StateError> {
    Ok(state_file::read(&layout.update_state(), NEXT_STEP)?.unwrap_or_default())
}

/// Returns the version that is pointed to.
#[must_use]
pub fn current(layout: &Layout) -> Option<Version> {
    pointer::read(&layout.current())?.file_name()?.to_str()?.parse().ok()
}

impl Versions {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`ChangeError::Busy`] when another installer holds it.
    pub fn lock(layout: &Layout) -> Result<Self, ChangeError> {
        let lock = fs::try_lock(&layout.lock())?.ok_or(ChangeError::Busy)?;
        Ok(Self { layout: layout.clone(), _lock: lock })
    }

    /// Takes the lock once it is free.
    ///
    /// # Errors
    /// [`ChangeError::Busy`] when another installer holds it for longer than `patience`.
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

    /// Names a version in the receipt; to be called before it is laid out.
    ///
    /// # Errors
    /// When the receipt cannot be written.
    pub fn record(&self, release: &Release) -> Result<(), ChangeError> {
        let folder = self.layout.version(&release.version.to_string());
        self.change_receipt(|receipt| receipt.set_version(installed(release, &folder)))
    }

    /// Changes the receipt.
    ///
    /// # Errors
    /// When it is damaged or cannot be written.
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

    /// Copies a release beside its place, then puts it there, and marks it complete.
    ///
    /// # Errors
    /// [`ChangeError`]; there is no such version then, or the one that was there before.
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
        if folder.exists() {
            fs::rename(&folder, &replaced)?;
        }
        fs::rename(&staged, &folder)?;
        checkpoint::reach("version-renamed");
        fs::write_atomic(&complete_mark(&folder), b"")?;
        checkpoint::reach("version-complete");
        Ok(fs::remove_dir(&replaced)?)
    }

    /// Takes a version away again, with its line in the receipt.
    ///
    /// # Errors
    /// [`ChangeError`] when a file cannot be deleted.
    pub fn remove(&self, version: &Version) -> Result<(), ChangeError> {
        // Another run may have made it the one that runs.
        if current(&self.layout).as_ref() == Some(version) {
            return Ok(());
        }
        let version = version.to_string();
        fs::remove_dir(&self.layout.version(&version))?;
        let forgotten = self.change_receipt(|receipt| {
            receipt.versions.retain(|installed| installed.version != version);
        });
        match forgotten {
            // It names no version any more.
            Err(ChangeError::State(StateError::Damaged { .. })) => Ok(()),
            other => other,
        }
    }

    /// Notes that `version` is not to be installed again by itself.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn skip(&self, version: &Version, reason: &str) -> Result<(), ChangeError> {
        self.write(&load_state(&self.layout)?.skip(version, reason.to_owned()))
    }

    /// Puts `to` on trial in the place of the version that runs.
    ///
    /// # Errors
    /// [`ChangeError`]; a failure between the steps is resolved by the guard.
    pub fn swap(&self, to: &Version) -> Result<(), ChangeError> {
        let state = load_state(&self.layout)?;
        let Some(current) = current(&self.layout) else { return self.point(to) };
        // What is on trial has not proved itself: what ran before it is what may come back.
        let from = state.pending.as_ref().map_or(&current, |pending| &pending.from);
        self.apply(&state.swap(from, to), ["swap-written", "swap-pointed"])
    }

    /// Puts the version before `tried` back in its place, and deletes that one; nothing when another
    /// version is on trial by now.
    ///
    /// # Errors
    /// [`ChangeError`]; what is left of it is resolved by the next look.
    pub fn roll_back(&self, tried: &Version, failure: Failure) -> Result<(), ChangeError> {
        let state = load_state(&self.layout)?;
        if state.pending.as_ref().is_some_and(|pending| pending.to == *tried) {
            self.apply(&state.roll_back(failure), ROLLING_BACK)?;
        }
        self.prune()
    }

    /// Keeps `tried`, and of the others only the one before it; nothing when another version is on
    /// trial by now.
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

    /// Puts the guard of the current version in its place, unless it is there or a version is on
    /// trial. The one that runs goes on until its next start.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn refresh_guard(&self) -> Result<(), ChangeError> {
        let Some(current) = current(&self.layout) else { return Ok(()) };
        let current = current.to_string();
        let receipt = Receipt::read(&self.layout.receipt()).unwrap_or_default();
        let files = receipt.version(&current).into_iter().flat_map(|version| &version.files);
        let wanted = files.into_iter().find(|file| file.path.ends_with(PROGRAMS[2]));
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

    /// Resolves what an interrupted replacement left; returns the version on trial.
    /// `starting` says that the guard starts, which a version may need only so often.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn look(&self, starting: bool) -> Result<Option<Version>, ChangeError> {
        let Some(current) = current(&self.layout) else { return Ok(None) };
        self.restore(&current)?;
        let mut state = load_state(&self.layout)?;
        match state.found(&current) {
            Found::Nothing => Ok(None),
            Found::Unfinished(steps) => {
                self.apply(&steps, ROLLING_BACK)?;
                self.prune().map(|()| None)
            }
            Found::Trial if !starting => Ok(Some(current)),
            Found::Trial => {
                let starts = state.pending.as_mut().map_or(0, |pending| {
                    pending.starts += 1;
                    pending.starts
                });
                if starts > TRIAL_STARTS {
                    let reason = format!("it was interrupted {TRIAL_STARTS} times while on trial");
                    let failure = Failure { reason, is_its_fault: true };
                    return self.roll_back(&current, failure).map(|()| None);
                }
                self.write(&state).map(|()| Some(current))
            }
        }
    }

    /// Puts a version back that was about to be replaced by a whole one of itself when the power
    /// went.
    fn restore(&self, version: &Version) -> Result<(), ChangeError> {
        let folder = self.layout.version(&version.to_string());
        let replaced = beside(&folder, "old");
        if !folder.exists() && replaced.exists() {
            fs::rename(&replaced, &folder)?;
        }
        Ok(())
    }

    /// Takes back that the guard has started: it is told to stop, which is no fault of the version.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn uncount_start(&self) -> Result<(), ChangeError> {
        let mut state = load_state(&self.layout)?;
        let Some(pending) = &mut state.pending else { return Ok(()) };
        pending.starts = pending.starts.saturating_sub(1);
        self.write(&state)
    }

    /// Puts the guard of the current version in its place, outside of all versions.
    pub(crate) fn place_guard(&self, version: &str) -> Result<(), ChangeError> {
        let (guard, source) = (self.layout.guard(), self.layout.version(version).join(PROGRAMS[2]));
        let staged = guard.with_extension("new");
        let folder = guard.parent().unwrap_or(&guard);
        std::fs::create_dir_all(folder)
            .map_err(|error| ChangeError::io("create", folder, error))?;
        copy(&source, &staged).map_err(|error| ChangeError::io("write", &guard, error))?;
        Ok(fs::rename(&staged, &guard)?)
    }

    /// Deletes the versions that are neither current, nor the one before, nor pending.
    ///
    /// # Errors
    /// [`ChangeError`] when a file cannot be deleted.
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

    /// Does `steps`; the names are those of the checkpoints after a write and after the pointer.
    fn apply(&self, steps: &[Step], [written, pointed]: [&str; 2]) -> Result<(), ChangeError> {
        for step in steps {
            match step {
                Step::Write(state) => {
                    self.write(state)?;
                    checkpoint::reach(written);
                }
                Step::Point(version) => {
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
    /// When the folder cannot be written.
    pub fn point(&self, version: &Version) -> Result<(), ChangeError> {
        let (pointer, target) = (self.layout.current(), self.layout.version(&version.to_string()));
        pointer::replace(&pointer, &target)
            .map_err(|source| ChangeError::io("point", &pointer, source))
    }
}

/// What the receipt says of `release`.
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

/// Copies a file with its permissions; on disk when this returns.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::copy(from, to)?;
    File::open(to)?.sync_all()
}

#[cfg(test)]
mod tests;
