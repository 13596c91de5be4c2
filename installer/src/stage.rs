//! Installs the next version beside the current one: finds, downloads, verifies, unpacks and self-checks it.
//!
//! A release that is incomplete or unsigned, or that fails its self-check, never becomes current.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: unpacks an archive"
)]

use std::{
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
    pin::pin,
    time::Duration,
};

use flate2::read::GzDecoder;
use jiff::Timestamp;
use link_client::transfer::TransferError;
use link_platform::{
    checkpoint, disk, facts,
    fs::{self, FileError},
    process::{self, Call},
    program,
};
use link_protocol::{
    exit_code::ExitCode,
    limits,
    release::{Archive, Channel, Freshness, Manifest},
    update::{UpdatePhase, UpdateProgress},
};
use semver::Version;
use tokio::sync::watch;

use crate::{
    decide::update::{self, Declined, Installed, Wanted},
    install::InstallError,
    layout::{Layout, Product},
    receipt::{InstalledRelease, Receipt},
    source::{Source, SourceError},
    trust::{Release, Trust, VerifyError},
    versions::{self, ChangeError, Versions},
};

mod backend;
mod mend;

/// Disk space that an update needs, as a multiple of the archive's size: for the archive and, temporarily, two copies
/// of its files.
const SPACE: u64 = 9;
/// Exit code of a self-check that could not decide, because the disk is full or the backend is unreachable. The version
/// may be retried.
pub const CANNOT_TELL: u8 = 75;
/// Timeout for the self-check of a new version.
const CHECK_PATIENCE: Duration = Duration::from_secs(60);
/// How long another installer may hold the lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// An update to install.
#[derive(Debug)]
pub struct Stage<'a> {
    pub layout: &'a Layout,
    pub trust: &'a Trust,
    pub wanted: &'a Wanted,
    pub now: Timestamp,
    /// The arguments of the new agent's self-check.
    pub check: &'a [OsString],
}

/// No new version was installed.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// No newer release exists, or it may not be installed.
    #[error(transparent)]
    Declined(#[from] Declined),
    /// This installation cannot be updated.
    #[error("{0}")]
    NotInstalled(&'static str),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("not enough disk space: {needed} bytes are needed, {free} are free")]
    NoSpace { needed: u64, free: u64 },
    #[error("the archive could not be had")]
    Download(#[source] TransferError),
    /// The manifest and the archive of a release disagree.
    #[error("the archive is of channel {channel} and counter {counter}, and its manifest is not")]
    Mixed { channel: Channel, counter: u64 },
    #[error("the archive cannot be unpacked")]
    Unpack(#[source] io::Error),
    #[error(transparent)]
    Untrusted(#[from] VerifyError),
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    File(#[from] FileError),
    /// The new version failed its self-check and was deleted.
    #[error("version {version} does not work here: {reason}")]
    SelfCheck { version: Version, reason: String },
}

impl StageError {
    /// Returns whether an update was refused or not needed, rather than failed.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Declined(_) | Self::NotInstalled(_) | Self::Source(SourceError::Nothing(_))
        )
    }
}

impl StageError {
    /// Returns the exit code of a command that fails with this error.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Declined(Declined::Downgrade { .. }) => ExitCode::Downgrade,
            Self::Declined(_) | Self::NotInstalled(_) => ExitCode::Failed,
            Self::Source(error) => error.exit_code(),
            Self::NoSpace { .. } => ExitCode::NoSpace,
            Self::Download(TransferError::Altered(_)) => ExitCode::ChecksumMismatch,
            Self::Download(TransferError::Failed(_)) => ExitCode::DownloadFailed,
            Self::Mixed { .. } => ExitCode::SignatureInvalid,
            Self::Unpack(_) => ExitCode::CannotWrite,
            Self::Untrusted(error) => error.exit_code(),
            Self::Install(error) => error.exit_code(),
            Self::Change(error) => error.exit_code(),
            Self::File(error) if error.is_disk_full() => ExitCode::NoSpace,
            Self::File(_) => ExitCode::CannotWrite,
            Self::SelfCheck { .. } => ExitCode::SelfCheckFailed,
        }
    }
}

impl Stage<'_> {
    /// Finds the wanted release, installs it, and makes it current, on trial.
    ///
    /// # Errors
    /// [`StageError`]. The current version stays current.
    pub async fn run(
        &self,
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<Version, StageError> {
        // Check this first: without an installation, not even the lock file may be created.
        self.receipt()?;
        let _one_at_a_time = fs::try_lock(&self.layout.staging_lock())?.ok_or(ChangeError::Busy)?;
        let found = self.find(progress).await?;
        self.bring(&found, progress).await?;
        progress.send_modify(|progress| progress.phase = UpdatePhase::Replacing);
        let versions = Versions::lock_within(self.layout, LOCK_PATIENCE)?;
        // Decide again: another version may have been installed in the meantime.
        self.decide(&found.manifest)?;
        versions.swap(&found.version)?;
        Ok(found.version)
    }

    /// Finds the wanted release, and reports whether its manifest has expired.
    ///
    /// # Errors
    /// [`StageError`] if no release may be installed.
    pub async fn find(
        &self,
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<FoundRelease, StageError> {
        let (source, manifest) = self.published(self.wanted.version.as_ref(), progress).await?;
        self.decide(&manifest)?;
        FoundRelease::new(source, manifest, Product::Agent)
    }

    /// Reads the published manifest of `version`, or that of the newest release.
    async fn published(
        &self,
        version: Option<&Version>,
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<(Source, Manifest), StageError> {
        let receipt = self.receipt()?;
        let source = receipt.source.as_deref().ok_or(StageError::NotInstalled(
            "it is not known where releases come from; run install.sh again",
        ))?;
        let source = Source::parse(source)?;
        let manifest = source.manifest(self.trust, version).await?;
        let stale = manifest.freshness(self.now) != Freshness::Fresh;
        progress.send_modify(|progress| progress.stale = stale);
        Ok((source, manifest))
    }

    fn receipt(&self) -> Result<Receipt, StageError> {
        Receipt::read(&self.layout.receipt()).ok_or(StageError::NotInstalled(
            "it was not installed by install.sh; a source checkout is updated with `git pull`",
        ))
    }

    /// Decides whether the release of `manifest` may replace the version that is installed now.
    fn decide(&self, manifest: &Manifest) -> Result<(), StageError> {
        let receipt = self.receipt()?;
        let current = versions::current(self.layout)
            .ok_or(StageError::NotInstalled("no version is current; run install.sh again"))?;
        let release = receipt.version(&current.to_string()).and_then(|it| it.release.as_ref());
        let counter = release.map(|release| release.counter);
        let channel = receipt.channel(&current.to_string());
        let installed = Installed { version: &current, counter, channel };
        let state = versions::state(self.layout);
        Ok(update::decide(&state, installed, self.wanted, manifest, self.now)?)
    }

    /// Downloads the found release, installs it beside the current version, and runs its self-check.
    async fn bring(
        &self,
        found: &FoundRelease,
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<(), StageError> {
        self.verified(found, progress, |release| self.lay_out(release)).await?;
        checkpoint::reach("update-laid-out");
        self.check(&found.version)
    }

    /// Downloads, unpacks and verifies the found release, and passes it to `install`. After a failure only the part
    /// file stays, from which a later attempt resumes.
    async fn verified<T>(
        &self,
        found: &FoundRelease,
        progress: &watch::Sender<UpdateProgress>,
        install: impl FnOnce(&Release) -> Result<T, InstallError>,
    ) -> Result<T, StageError> {
        progress.send_modify(|progress| {
            progress.to = Some(found.version.clone());
            progress.phase = UpdatePhase::Downloading;
            progress.bytes_total = found.archive.size_bytes;
        });
        let staging = self.layout.staging();
        fs::create_private_dir(&staging)?;
        // A complete archive that a killed run has left may be damaged.
        fs::remove_file(&staging.join(found.archive.name.as_str()))?;
        fs::remove_dir(&staging.join("files"))?;
        let path = self.download(found, &staging, progress).await?;
        progress.send_modify(|progress| progress.phase = UpdatePhase::Checking);
        let release = self.unpack(&path, &staging.join("files"), found);
        let installed = release.and_then(|release| Ok(install(&release)?));
        // A complete archive is either installed or bad. Only a partial one is worth keeping.
        fs::remove_dir(&staging)?;
        installed
    }

    async fn download(
        &self,
        found: &FoundRelease,
        staging: &Path,
        progress: &watch::Sender<UpdateProgress>,
    ) -> Result<PathBuf, StageError> {
        let (archive, path) = (&found.archive, staging.join(found.archive.name.as_str()));
        let needed = archive.size_bytes.saturating_mul(SPACE);
        if let Ok(Some(free)) = disk::free_bytes(staging)
            && free < needed
        {
            return Err(StageError::NoSpace { needed, free });
        }
        let (bytes, mut done) = watch::channel(0);
        let mut fetch = pin!(found.source.fetch(archive, &path, &bytes));
        let fetched = loop {
            tokio::select! {
                fetched = &mut fetch => break fetched,
                Ok(()) = done.changed() => {
                    let bytes_done = *done.borrow_and_update();
                    progress.send_modify(|progress| progress.bytes_done = bytes_done);
                }
            }
        };
        fetched.map_err(StageError::Download).map(|()| path.clone())
    }

    fn unpack(
        &self,
        archive: &Path,
        files: &Path,
        found: &FoundRelease,
    ) -> Result<Release, StageError> {
        unpack(archive, files).map_err(StageError::Unpack)?;
        checkpoint::reach("update-unpacked");
        let programs = found.product.programs();
        let release = self.trust.verify(files, &found.version, programs)?;
        // The decision was based on the manifest, so the archive must have the same channel and counter.
        if let Some(InstalledRelease { channel, counter, .. }) = release.signed
            && (channel, counter) != (found.manifest.channel, found.manifest.counter)
        {
            return Err(StageError::Mixed { channel, counter });
        }
        Ok(release.out_of(Some(found.archive.sha256.clone())))
    }

    fn lay_out(&self, release: &Release) -> Result<(), InstallError> {
        let versions = Versions::lock_within(self.layout, LOCK_PATIENCE)?;
        versions.record(release)?;
        Ok(versions.lay_out(release)?)
    }

    /// Runs the self-check of the new agent with the real configuration. A version that fails is deleted. It is also
    /// skipped by later updates if the failure is its own fault.
    fn check(&self, version: &Version) -> Result<(), StageError> {
        let program = self.layout.version(&version.to_string()).join(program::AGENT);
        let args = [&["--self-check".into()], self.check].concat();
        let call = Call { program, args, env: None, limit: CHECK_PATIENCE };
        let (reason, is_its_fault) = match process::call(&call) {
            Ok(answer) if answer.success => return Ok(()),
            Ok(answer) => {
                let last = answer.stderr.lines().last().unwrap_or("it did not say why").to_owned();
                (format!("its self-check failed: {last}"), answer.code != Some(CANNOT_TELL.into()))
            }
            Err(error) => (
                format!("its self-check did not end: {error}"),
                error.kind() != io::ErrorKind::TimedOut,
            ),
        };
        let versions = Versions::lock_within(self.layout, LOCK_PATIENCE)?;
        versions.remove(version)?;
        if is_its_fault {
            versions.skip(version, &reason)?;
        }
        Err(StageError::SelfCheck { version: version.clone(), reason })
    }
}

/// A release that may be installed.
#[derive(Debug)]
pub struct FoundRelease {
    pub version: Version,
    archive: Archive,
    product: Product,
    source: Source,
    manifest: Manifest,
}

impl FoundRelease {
    fn new(source: Source, manifest: Manifest, product: Product) -> Result<Self, StageError> {
        let archive = facts::target().and_then(|it| manifest.archive(it, product.package()));
        let archive = archive.cloned().ok_or(StageError::NotInstalled(match product {
            Product::Agent => "the release has no archive for this system",
            Product::Backend => "the release has no backend for this system",
        }))?;
        Ok(Self { version: manifest.version.clone(), archive, product, source, manifest })
    }

    /// Returns the version with the label of its channel.
    #[must_use]
    pub fn label(&self) -> String {
        self.manifest.channel.beside(&self.version)
    }
}

/// Unpacks an archive. Refuses everything except regular files within the limits of a release.
fn unpack(archive: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(archive)?));
    let mut total = 0_u64;
    for (number, entry) in archive.entries()?.enumerate() {
        let mut entry = entry?;
        total = total.saturating_add(entry.size());
        if number == limits::RELEASE_FILES_LIMIT || total > limits::RELEASE_SIZE_LIMIT {
            return Err(io::Error::other("it holds more than a release has"));
        }
        let path = entry.path()?.into_owned();
        let is_plain = entry.header().entry_type().is_file()
            && path.components().count() == 1
            && path.file_name().is_some();
        if !is_plain {
            return Err(io::Error::other(format!("`{}` is not a regular file", path.display())));
        }
        entry.unpack(to.join(path))?;
    }
    Ok(())
}
