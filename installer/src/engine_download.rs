//! Downloads an engine for a machine that has none: chooses a build from the index, downloads, verifies, unpacks and
//! runs it, and makes it the current build.
//!
//! Builds are tried in the order of [`crate::engine::choose`]. A build that does not run here is remembered, and the
//! next build is tried. Any other failure aborts the download and leaves the previously installed build in use.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: looks at downloads, and waits for another program"
)]

use std::{path::Path, pin::pin, time::Duration};

use link_client::transfer::{self, Transfer, TransferError};
use link_platform::{
    checkpoint, disk, facts,
    fs::{self, FileError},
    paths::Roots,
};
use link_protocol::{
    engine_index::{Accelerator, EngineBuild},
    exit_code::ExitCode,
    release::{Archive, Package},
};
use tokio::sync::watch;

use crate::{
    engine::{Choice, Machine, Unfit, Wanted, choose},
    engine_index::{FoundIndex, IndexError, Indexes, Known},
    engines::{DOWNLOADS, EngineError, Engines, Origin},
    layout::Layout,
    owner_keys::OwnerKeys,
    receipt::Receipt,
    source::Source,
    trust::{Trust, VerifyError},
};

/// The file that keeps two downloads of engines apart.
const LOCK: &str = ".download.lock";
/// The path at which a backend serves releases and engines.
const AT_THE_BACKEND: &str = "releases";
/// Disk space that the download leaves free, in bytes.
const SPARE: u64 = 64 * 1024 * 1024;
/// How often to retry a held lock. [`LOCK_WAIT`] is the delay between two attempts.
const LOCK_TRIES: u32 = 120;
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// The download of an engine.
#[derive(Debug)]
pub struct Download<'a> {
    pub roots: &'a Roots,
    pub trust: &'a Trust,
    pub wanted: &'a Wanted,
    /// The possible sources of the index, in the order in which they are tried.
    pub sources: &'a [Source],
    /// Whether to retry builds that did not run on this machine before.
    pub again: bool,
}

/// The progress of a download.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Progress {
    /// The build that is being downloaded.
    pub build: String,
    pub bytes_done: u64,
    pub bytes_total: u64,
}

/// A downloaded and installed engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Brought {
    pub build: String,
    /// Why this build was chosen, as text for a person.
    pub why: String,
}

/// No engine was installed.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("another program changes the engines; try again in a moment")]
    Busy,
    #[error(transparent)]
    Trust(#[from] VerifyError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error(
        "not enough disk space for the build {build}: {needed} bytes are needed, {free} are free"
    )]
    NoSpace { build: String, needed: u64, free: u64 },
    #[error("the build {build} could not be downloaded: {reason}")]
    Download { build: String, reason: TransferError },
    #[error("no build of the index runs here: {}", .0.join("; "))]
    NoneRuns(Vec<String>),
    #[error("the disk is full: the build {0} was not installed")]
    DiskFull(String),
    #[error("the build {build} was not installed")]
    Engine {
        build: String,
        #[source]
        source: EngineError,
    },
    #[error(transparent)]
    File(#[from] FileError),
}

impl DownloadError {
    /// Returns the exit code of a command that fails with this error.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Busy => ExitCode::Busy,
            Self::Trust(error) => error.exit_code(),
            Self::Index(IndexError::NoSource) => ExitCode::Failed,
            Self::Index(IndexError::None(_)) => ExitCode::DownloadFailed,
            Self::Index(IndexError::File(error)) | Self::File(error) if error.is_disk_full() => {
                ExitCode::NoSpace
            }
            Self::Index(_) | Self::File(_) | Self::Engine { .. } => ExitCode::CannotWrite,
            Self::Unfit(_) => ExitCode::UnsupportedPlatform,
            Self::NoSpace { .. } | Self::DiskFull(_) => ExitCode::NoSpace,
            Self::Download { reason: TransferError::Altered(_), .. } => ExitCode::ChecksumMismatch,
            Self::Download { reason: TransferError::Failed(_), .. } => ExitCode::DownloadFailed,
            Self::NoneRuns(_) => ExitCode::SelfCheckFailed,
        }
    }
}

/// Returns the possible sources of the index: the release source, then the backend of this device. Invalid addresses
/// are left out.
#[must_use]
pub fn sources(roots: &Roots, backend_url: Option<&str>) -> Vec<Source> {
    let receipt = Receipt::read(&Layout::new(roots.clone()).receipt());
    let releases = receipt.and_then(|receipt| receipt.source);
    let backend = backend_url.map(|url| format!("{}/{AT_THE_BACKEND}", url.trim_end_matches('/')));
    let mut sources: Vec<Source> = Vec::new();
    for source in [releases, backend].into_iter().flatten() {
        match Source::parse(&source) {
            Ok(source) if !sources.contains(&source) => sources.push(source),
            Ok(_) | Err(_) => {}
        }
    }
    sources
}

/// Deletes what a cancelled download of the builds of `engine` has left. If another download runs, nothing is deleted,
/// because that download uses the same file.
///
/// # Errors
/// If the file cannot be deleted.
pub fn discard(roots: &Roots, engine: &str) -> Result<(), FileError> {
    let folder = roots.engines();
    let staging = folder.join(engine).join(DOWNLOADS);
    if !staging.exists() {
        return Ok(());
    }
    match fs::try_lock(&folder.join(LOCK))? {
        Some(_one_at_a_time) => fs::remove_dir(&staging),
        None => Ok(()),
    }
}

/// Returns the facts about this machine.
#[must_use]
pub fn this_machine() -> Machine {
    let mut accelerators = vec![Accelerator::Cpu];
    accelerators.extend(facts::graphics().into_iter().map(|name| match name {
        "vulkan" => Accelerator::Vulkan,
        "rocm" => Accelerator::Rocm,
        "cuda" => Accelerator::Cuda,
        "metal" => Accelerator::Metal,
        _ => Accelerator::Other,
    }));
    accelerators.retain(|accelerator| *accelerator != Accelerator::Other);
    let features = facts::processor_features();
    Machine { system: facts::os(), processor: facts::arch(), features, accelerators }
}

impl Download<'_> {
    /// Downloads and installs the best build that runs here. Later starts of a model use it.
    ///
    /// # Errors
    /// [`DownloadError`]. The build that was in use before stays in use.
    pub async fn run(&self, progress: &watch::Sender<Progress>) -> Result<Brought, DownloadError> {
        let folder = self.roots.engines();
        let engines = Engines::of(&folder, &self.wanted.engine, &self.wanted.executable);
        fs::create_private_dir(&folder)?;
        let _one_at_a_time = lock(&folder.join(LOCK)).await?;
        let owner_keys = OwnerKeys::of_engines(&self.roots.config);
        let (trust, owner_keys, sources) = (self.trust, &owner_keys, self.sources);
        let found = Indexes { engines: &folder, trust, owner_keys, sources }.find().await?;
        let machine = this_machine();
        let Choice { tries, mut passed_over } = choose(&found.builds, self.wanted, &machine)?;
        let known = Known::read(&folder);
        for build in tries {
            let unfit = known.unfit.get(build.sha256.as_str()).filter(|_| !self.again);
            if let Some(reason) = unfit {
                passed_over.push(format!("{} {reason}", build.build));
                continue;
            }
            let why = why(build, self.wanted, &passed_over);
            match self.bring(&engines, &found, build, &why, progress).await {
                Ok(()) => return Ok(Brought { build: build.build.clone(), why }),
                Err(DownloadError::Engine { source: EngineError::DoesNotRun(reason), .. }) => {
                    let reason = format!("does not run on this machine ({reason})");
                    Known::change(&folder, |known| {
                        known.unfit.insert(build.sha256.to_string(), reason.clone());
                    })?;
                    passed_over.push(format!("{} {reason}", build.build));
                }
                Err(error) => return Err(error),
            }
        }
        Err(DownloadError::NoneRuns(passed_over))
    }

    async fn bring(
        &self,
        engines: &Engines,
        found: &FoundIndex,
        build: &EngineBuild,
        why: &str,
        progress: &watch::Sender<Progress>,
    ) -> Result<(), DownloadError> {
        let staging = engines.downloads();
        fs::create_private_dir(&staging)?;
        let path = staging.join(format!("{}.tar.gz", &build.sha256.as_str()[..16]));
        remove_others(&staging, &path)?;
        // A complete archive that a killed run has left may be damaged.
        fs::remove_file(&path)?;
        check_space(build, &staging, &path)?;
        progress.send_replace(Progress {
            build: build.build.clone(),
            bytes_done: 0,
            bytes_total: build.size_bytes,
        });
        if let Err(error) = fetch(found, build, &path, progress).await {
            // The part file of a killed run is resumed later. A download that failed leaves none.
            fs::remove_dir(&staging)?;
            return Err(error);
        }
        checkpoint::reach("engine-downloaded");
        let licence = Some(build.licence.clone());
        let sha256 = Some(build.sha256.to_string());
        let origin = Origin { why: why.to_owned(), licence, sha256 };
        let (engines, name, archive) = (engines.clone(), build.build.clone(), path.clone());
        let place = move || engines.place(&archive, None, Some(&name), &origin);
        let placed = tokio::task::spawn_blocking(place).await;
        // A complete archive is either installed or bad. Only a partial one is worth keeping.
        fs::remove_dir(&staging)?;
        let build = build.build.clone();
        match placed {
            Ok(Ok(_name)) => {
                checkpoint::reach("engine-installed");
                Ok(())
            }
            Ok(Err(EngineError::Busy)) => Err(DownloadError::Busy),
            Ok(Err(error)) if error.is_disk_full() => Err(DownloadError::DiskFull(build)),
            Ok(Err(source)) => Err(DownloadError::Engine { build, source }),
            Err(stopped) => {
                let reason = TransferError::Failed(format!("it was broken off: {stopped}"));
                Err(DownloadError::Download { build, reason })
            }
        }
    }
}

/// Downloads the archive to `path`: from the folder of the index or, if that fails, from the URL in the index.
async fn fetch(
    found: &FoundIndex,
    build: &EngineBuild,
    path: &Path,
    progress: &watch::Sender<Progress>,
) -> Result<(), DownloadError> {
    let (target, name) = (build.system.clone(), build.file.clone());
    let (size_bytes, sha256) = (build.size_bytes, build.sha256.clone());
    let package = Package::default();
    let archive = Archive { target, package, name, size_bytes, sha256: sha256.clone() };
    let (bytes, mut done) = watch::channel(0);
    let fetched = async {
        let beside = found.source.fetch(&archive, path, &bytes).await;
        match (&build.url, beside) {
            (Some(url), Err(TransferError::Failed(_))) => {
                let source = transfer::Source { url: url.clone(), bearer: None };
                Transfer { source, size_bytes, sha256: &sha256, path, progress: &bytes }.run().await
            }
            (_, beside) => beside,
        }
    };
    let mut fetched = pin!(fetched);
    let ended = loop {
        tokio::select! {
            ended = &mut fetched => break ended,
            Ok(()) = done.changed() => {
                let bytes_done = *done.borrow_and_update();
                progress.send_modify(|progress| progress.bytes_done = bytes_done);
            }
        }
    };
    ended.map_err(|reason| DownloadError::Download { build: build.build.clone(), reason })
}

/// Returns the reason for choosing a build.
fn why(build: &EngineBuild, wanted: &Wanted, passed_over: &[String]) -> String {
    let rank = match wanted.builds.first() {
        Some(default) if *default == build.build => "the default build",
        Some(_) | None => "an accepted build",
    };
    let accelerators: Vec<_> = build.accelerators.iter().map(ToString::to_string).collect();
    let mut why = format!("{rank} for {}", accelerators.join(" and "));
    if !passed_over.is_empty() {
        why.push_str(&format!("; passed over: {}", passed_over.join("; ")));
    }
    why
}

/// Checks that the disk has space for the archive and its unpacked files together.
fn check_space(build: &EngineBuild, staging: &Path, path: &Path) -> Result<(), DownloadError> {
    let part = std::fs::metadata(transfer::part(path)).map_or(0, |part| part.len());
    let rest = build.size_bytes.saturating_sub(part);
    let needed = rest.saturating_add(build.unpacked_bytes).saturating_add(SPARE);
    match disk::free_bytes(staging) {
        Ok(Some(free)) if free < needed => {
            Err(DownloadError::NoSpace { build: build.build.clone(), needed, free })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Deletes the leftovers of downloads of other archives.
fn remove_others(staging: &Path, path: &Path) -> Result<(), FileError> {
    let part = transfer::part(path);
    let others = std::fs::read_dir(staging).into_iter().flatten().flatten();
    for other in others.map(|entry| entry.path()) {
        if other != path && other != part {
            fs::remove_file(&other)?;
        }
    }
    Ok(())
}

async fn lock(path: &Path) -> Result<fs::Lock, DownloadError> {
    for _ in 0..LOCK_TRIES {
        match fs::try_lock(path)? {
            Some(lock) => return Ok(lock),
            None => tokio::time::sleep(LOCK_WAIT).await,
        }
    }
    Err(DownloadError::Busy)
}

#[cfg(test)]
mod tests;
