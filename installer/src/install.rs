//! Installs the programs of an unpacked release, or repairs an existing installation.
//!
//! [`crate::observe`] reads the state, [`crate::decide::plan`] decides the steps, and this module runs the file steps.
//! The caller runs the steps after them. No file is overwritten in place: a version is copied under a temporary name,
//! renamed, marked complete, and only then becomes current.

#![expect(clippy::disallowed_methods, reason = "IO shell: makes folders")]

use std::path::{Path, PathBuf};

use link_platform::{checkpoint, fs, program};
use link_protocol::{exit_code::ExitCode, release::is_downgrade};
use semver::Version;

use crate::{
    decide::plan::{self, FileState, FileStep, NameTaken, Observed, Plan},
    layout::{Layout, Product},
    observe::observe,
    receipt::{InstalledFile, InstalledRelease, Receipt},
    shared::SharedFile,
    state_file::StateError,
    trust::Release,
    uninstall::undo,
    unpacked::hash_of,
    versions::{self, ChangeError, PATIENCE, Versions},
};

/// The result of an installation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InstallOutcome {
    /// There was no installation before.
    Installed,
    /// The installation was complete and equal to the release. No program was written.
    Intact,
    /// This version was installed, and a part of it was missing or changed.
    Repaired,
    /// Another version was current before.
    Changed,
}

impl InstallOutcome {
    /// Returns the word for this outcome in output for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Intact => "intact",
            Self::Repaired => "repaired",
            Self::Changed => "changed",
        }
    }
}

/// A release could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A file of another program has the name `link` or `linkctl`.
    #[error("`{}` is another program", .0.display())]
    NameTaken(PathBuf),
    /// The release is older than the installed version.
    #[error("the release {offered} is older than the installed {installed}")]
    Downgrade { installed: String, offered: String },
    /// The files of the installation could not be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl InstallError {
    /// Returns the exit code of a command that fails with this error.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NameTaken(_) => ExitCode::CannotWrite,
            Self::Downgrade { .. } => ExitCode::Downgrade,
            Self::Change(error) => error.exit_code(),
        }
    }
}

/// The release to install, and its place.
#[derive(Clone, Copy, Debug)]
pub struct Install<'a> {
    pub release: &'a Release,
    pub layout: &'a Layout,
    pub shared: &'a [SharedFile],
    /// The outermost folder that was created for this installation beforehand, as a parent of the data folder.
    pub made: Option<&'a Path>,
    /// The address from which later releases are downloaded.
    pub source: Option<&'a str>,
}

/// The outcome of the file steps, and the complete plan.
#[derive(Clone, Debug)]
pub struct Done<Further> {
    pub outcome: InstallOutcome,
    pub plan: Plan<Further>,
}

/// The decided file steps and the new receipt, before anything is changed.
#[derive(Debug)]
struct Prepared {
    before: Option<Version>,
    /// Whether there is no installation yet.
    is_new: bool,
    steps: Vec<FileStep>,
    receipt: Receipt,
}

impl Install<'_> {
    /// Decides the steps and changes nothing. `further` decides the steps after the file steps.
    ///
    /// # Errors
    /// [`InstallError`] if the installation must be refused.
    pub fn plan<Further>(
        &self,
        further: impl FnOnce(&[FileStep]) -> Vec<Further>,
    ) -> Result<Plan<Further>, InstallError> {
        let files = self.prepare(self.folders())?.steps;
        Ok(Plan { further: further(&files), files })
    }

    /// Decides the steps like [`Self::plan`], under the installer's lock, and runs the file steps: installs, completes
    /// an interrupted run, or repairs. A version that replaces another one is on trial. The guard later commits it or
    /// rolls it back.
    ///
    /// # Errors
    /// [`InstallError`]. The previous version stays current, and a failed first installation leaves no files.
    pub fn run<Further>(
        &self,
        further: impl FnOnce(&[FileStep]) -> Vec<Further>,
    ) -> Result<Done<Further>, InstallError> {
        let (folders, missing) = (self.folders(), self.missing());
        fs::create_private_dir(&self.layout.roots().data).map_err(ChangeError::from)?;
        let versions = Versions::lock_within(self.layout, PATIENCE)?;
        let is_new = versions::current(self.layout).is_none() && !self.layout.receipt().exists();
        let done = self.prepare(folders.clone()).and_then(|mut prepared| {
            // If two installers start at once, the first to finish may have found folders that this one created.
            prepared.receipt.folders.extend(missing);
            prepared.receipt.folders.sort();
            prepared.receipt.folders.dedup();
            // Decide everything before the first change, as a dry run does.
            let further = further(&prepared.steps);
            let outcome = self.apply(&versions, &prepared)?;
            Ok(Done { outcome, plan: Plan { files: prepared.steps, further } })
        });
        if done.is_err() && is_new {
            let made = Receipt::read(&self.layout.receipt());
            let made = made.unwrap_or_else(|| Receipt { folders, ..Receipt::default() });
            let _what_cannot_be_deleted = undo(self.layout, &made);
        }
        done
    }

    /// Runs the file steps only.
    ///
    /// # Errors
    /// The errors of [`Self::run`].
    pub fn run_files(&self) -> Result<InstallOutcome, InstallError> {
        self.run(|_files| Vec::<()>::new()).map(|done| done.outcome)
    }

    /// Returns the folders that this installation creates, and those of an installation without a receipt.
    fn folders(&self) -> Vec<PathBuf> {
        folders(&self.places(), self.made, versions::current(self.layout).is_some())
    }

    /// Returns the folders that this installation creates.
    fn missing(&self) -> Vec<PathBuf> {
        folders(&self.places(), self.made, false)
    }

    fn places(&self) -> [&Path; 4] {
        let roots = self.layout.roots();
        [&roots.data, &roots.state, &roots.config, &roots.bin].map(PathBuf::as_path)
    }

    /// Observes the state and decides the steps. `folders` are those that an installation without a receipt has
    /// created.
    fn prepare(&self, folders: Vec<PathBuf>) -> Result<Prepared, InstallError> {
        let (release, layout) = (self.release, self.layout);
        let known = match Receipt::load(&layout.receipt()) {
            // A damaged receipt is rebuilt from the observed state.
            Err(StateError::Damaged { .. }) => None,
            other => other.map_err(ChangeError::from)?,
        };
        let before = versions::current(layout);
        let is_new = !layout.receipt().exists() && before.is_none();
        let mut receipt = known.unwrap_or_else(|| Receipt { folders, ..Receipt::default() });
        let folder = layout.version(&release.version.to_string());
        let mut wanted = versions::installed(release, &folder);
        wanted.release = not_older(before.as_ref(), &receipt, release)?;
        let observed = observe(layout, &receipt, &wanted, self.shared);
        let steps = plan::files(&release.version, &observed)
            .map_err(|NameTaken(name)| InstallError::NameTaken(name))?;

        for pointer in std::iter::once(layout.current()).chain(layout.commands()) {
            // An earlier installation may have put the command into another folder.
            if !receipt.pointers.contains(&pointer) {
                receipt.pointers.push(pointer);
            }
        }
        receipt.source = self.source.map(str::to_owned).or(receipt.source);
        receipt.set_version(wanted);
        record_shared(&mut receipt, self.shared, &observed);
        Ok(Prepared { before, is_new, steps, receipt })
    }

    fn apply(
        &self,
        versions: &Versions,
        prepared: &Prepared,
    ) -> Result<InstallOutcome, ChangeError> {
        let path = self.layout.receipt();
        let is_written = Receipt::read(&path).as_ref() == Some(&prepared.receipt);
        if !is_written {
            prepared.receipt.write(&path)?;
            checkpoint::reach("receipt-written");
        }
        let roots = self.layout.roots();
        fs::create_private_dir(&roots.state)?;
        std::fs::create_dir_all(&roots.bin)
            .map_err(|source| ChangeError::io("create", &roots.bin, source))?;
        for step in &prepared.steps {
            self.step(versions, step)?;
            checkpoint::reach(step.name());
        }
        let to = &self.release.version;
        Ok(match &prepared.before {
            None if prepared.is_new => InstallOutcome::Installed,
            Some(before) if before != to => InstallOutcome::Changed,
            Some(_) if prepared.steps.is_empty() => InstallOutcome::Intact,
            Some(_) | None => InstallOutcome::Repaired,
        })
    }

    fn step(&self, versions: &Versions, step: &FileStep) -> Result<(), ChangeError> {
        match step {
            FileStep::LayOut(_) => versions.lay_out(self.release),
            FileStep::PlaceGuard => versions.place_guard(&self.release.version.to_string()),
            FileStep::Switch { to, .. } => match self.layout.product() {
                Product::Agent => versions.swap(to),
                // No guard supervises a backend. The caller that starts it checks that it becomes ready.
                Product::Backend => versions.point(to),
            },
            FileStep::Point(command) => {
                program::make_command(command, &self.layout.command_target())
                    .map_err(|source| ChangeError::io("point", command, source))
            }
            FileStep::Write(path) => write_shared(self.shared, path),
            FileStep::Delete(path) => Ok(fs::remove_file(path)?),
        }
    }
}

/// Writes the completions and manual pages of the current version, deletes those of other versions, and points the
/// commands to the current version.
///
/// # Errors
/// [`ChangeError`].
pub fn refresh(layout: &Layout, shared: &[SharedFile]) -> Result<(), ChangeError> {
    let _versions = Versions::lock_within(layout, PATIENCE)?;
    let Some(mut receipt) = Receipt::load(&layout.receipt())? else { return Ok(()) };
    let current = versions::current(layout).map(|version| version.to_string());
    let Some(installed) = current.and_then(|current| receipt.version(&current).cloned()) else {
        return Ok(());
    };
    let observed = observe(layout, &receipt, &installed, shared);
    record_shared(&mut receipt, shared, &observed);
    receipt.write(&layout.receipt())?;
    for (path, found) in &observed.shared {
        if matches!(found, FileState::Missing | FileState::Damaged) {
            write_shared(shared, path)?;
        }
    }
    for path in &observed.outdated {
        fs::remove_file(path)?;
    }
    // Where a command is a copy of its program, an update leaves the copy of the previous version.
    for (command, _) in observed.commands.iter().filter(|(_, found)| *found == FileState::Damaged) {
        program::make_command(command, &layout.command_target())
            .map_err(|source| ChangeError::io("point", command, source))?;
    }
    Ok(())
}

/// Lists the shared files that are ours in the receipt. Files of another version stay listed until they are deleted.
fn record_shared(receipt: &mut Receipt, shared: &[SharedFile], observed: &Observed) {
    let is_ours =
        |file: &&SharedFile| !observed.shared.contains(&(file.path.clone(), FileState::Foreign));
    let ours: Vec<_> = shared.iter().filter(is_ours).collect();
    for file in &ours {
        receipt.add_folders(file.path.parent().unwrap_or(&file.path));
    }
    receipt.files.retain(|file| observed.outdated.contains(&file.path));
    receipt.files.extend(ours.into_iter().map(|file| InstalledFile {
        path: file.path.clone(),
        sha256: hash_of(&file.contents).to_string(),
    }));
}

fn write_shared(shared: &[SharedFile], path: &Path) -> Result<(), ChangeError> {
    let file = shared.iter().find(|file| file.path == *path);
    let contents = file.map(|file| file.contents.as_slice()).unwrap_or_default();
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|source| ChangeError::io("create", folder, source))?;
    Ok(fs::write_atomic(path, contents)?)
}

/// Returns the folders that the creation of `places` creates, and those at or below `made`, outermost first. If the
/// receipt is lost, folders with our name count as ours.
fn folders(places: &[&Path], made: Option<&Path>, lost: bool) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for place in places {
        let new = |folder: &&Path| {
            !folder.exists()
                || made.is_some_and(|made| folder.starts_with(made))
                || (lost && folder == place && folder.ends_with("link"))
        };
        folders.extend(place.ancestors().take_while(new).map(Path::to_owned));
    }
    folders.sort();
    folders.dedup();
    folders
}

/// Refuses a release that is older than the current version.
///
/// # Errors
/// [`InstallError::Downgrade`].
pub fn refuse_downgrade(layout: &Layout, release: &Release) -> Result<(), InstallError> {
    let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
    not_older(versions::current(layout).as_ref(), &receipt, release).map(drop)
}

/// Returns the signed release to record in the receipt. Refuses a release that is older than `current`.
fn not_older(
    current: Option<&Version>,
    receipt: &Receipt,
    release: &Release,
) -> Result<Option<InstalledRelease>, InstallError> {
    let (Some(mut signed), Some(current)) = (release.signed.clone(), current) else {
        return Ok(release.signed.clone());
    };
    let (have, offered) = (current.to_string(), release.version.to_string());
    let recorded = receipt.version(&have).and_then(|current| current.release.as_ref());
    let is_older = match recorded {
        Some(installed) => is_downgrade((&have, installed.counter), (&offered, signed.counter)),
        // The receipt is lost, or the current version was not signed.
        None => release.version < *current,
    };
    if is_older {
        return Err(InstallError::Downgrade { installed: have, offered });
    }
    if let Some(installed) = recorded {
        signed.counter = signed.counter.max(installed.counter);
    }
    Ok(Some(signed))
}

#[cfg(test)]
mod tests;
