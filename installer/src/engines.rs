//! The installed builds of an engine: one folder for each build, and a file that names the build in use.
//!
//! A new build is unpacked into a folder beside the others and run once before it is used. So an interrupted
//! installation leaves the previous build in use.

#![expect(clippy::disallowed_methods, reason = "IO shell: lists builds")]

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{
    fs::{self, FileError},
    program,
};
use link_protocol::{engine_index::is_build_name, limits::ENGINE_SIZE};
use serde::{Deserialize, Serialize};

use self::files::{DEPTH, MOST_FILES, copy, find, unpack, verify};
pub use self::in_use::in_use;

mod files;
mod in_use;
mod trial;

/// The engine of language models.
pub const LLAMA_SERVER: &str = "llama-server";

/// The folder of the downloads of builds.
pub(crate) const DOWNLOADS: &str = ".download";
/// The file that names the build in use.
const CURRENT: &str = "current";
/// The folder into which a new build is unpacked before it gets its final name.
const STAGED: &str = ".new";
/// The file in a build's folder that records where the build came from.
const ORIGIN: &str = "link-build.json";
/// The size limit of that file, in bytes.
const ORIGIN_LIMIT: u64 = 64 * 1024;

/// The builds of one engine.
#[derive(Clone, Debug)]
pub struct Engines {
    folder: PathBuf,
    executable: String,
}

/// An installed build.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Build {
    pub name: String,
    /// Whether models run on this build.
    pub current: bool,
    /// Where the build came from, if known.
    pub origin: Option<Origin>,
}

/// The origin of a build.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Origin {
    /// Why the build was installed, as text for a person.
    pub why: String,
    /// The licence, if the index names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The SHA-256 of the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A build could not be installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("another command changes the engines")]
    Busy,
    #[error("`{}` holds no `{executable}`", .from.display())]
    NoExecutable { from: PathBuf, executable: String },
    #[error("`{}` is not the file that was meant: its SHA-256 is {found}", .path.display())]
    Altered { path: PathBuf, found: String },
    #[error("the archive holds `{0}`, which is not a regular file of an engine")]
    NotPlain(String),
    #[error("the build has more than {MOST_FILES} files or {ENGINE_SIZE} bytes")]
    TooLarge,
    #[error("the engine does not run on this machine: {0}")]
    DoesNotRun(String),
    #[error("the engine does not say which build it is")]
    Nameless,
    #[error("`{0}` is not the name of a build: it has letters, digits, dots and dashes")]
    BadName(String),
    #[error("the build {0} is not installed")]
    Unknown(String),
    #[error("failed to {doing} `{}`", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    File(#[from] FileError),
}

impl EngineError {
    /// Returns whether the disk is full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            Self::File(error) => error.is_disk_full(),
            Self::Busy
            | Self::NoExecutable { .. }
            | Self::Altered { .. }
            | Self::NotPlain(_)
            | Self::TooLarge
            | Self::DoesNotRun(_)
            | Self::Nameless
            | Self::BadName(_)
            | Self::Unknown(_) => false,
        }
    }
}

impl Engines {
    /// Returns the builds of `llama-server` in the folder of all engines.
    #[must_use]
    pub fn of_language_models(engines: &Path) -> Self {
        Self::of(engines, LLAMA_SERVER, LLAMA_SERVER)
    }

    /// Returns the builds of the engine `name`, whose program is `executable`, in the folder of all engines.
    #[must_use]
    pub fn of(engines: &Path, name: &str, executable: &str) -> Self {
        Self { folder: engines.join(name), executable: program::file_of(executable) }
    }

    /// Returns the installed builds, sorted by name.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Build>, EngineError> {
        let current = self.current()?;
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(failed("read", &self.folder, source)),
        };
        let mut builds = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| failed("read", &self.folder, source))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && entry.path().join(&self.executable).is_file() {
                let origin = fs::read_limited(&entry.path().join(ORIGIN), ORIGIN_LIMIT).ok();
                let origin = origin.and_then(|text| serde_json::from_str(&text).ok());
                builds.push(Build { current: current.as_deref() == Some(&name), name, origin });
            }
        }
        builds.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(builds)
    }

    /// Starts an installed build to print its version.
    ///
    /// # Errors
    /// [`EngineError::DoesNotRun`] with the reason, for example because the processor lacks an instruction.
    pub fn start(&self, build: &str) -> Result<(), EngineError> {
        trial::run(&self.folder.join(build).join(&self.executable), &self.folder).map(drop)
    }

    /// Installs a build from an archive (`.tar.gz`) or an unpacked folder. Later starts of a model use it. Without a
    /// given name, the version that the build prints becomes its name.
    ///
    /// # Errors
    /// [`EngineError`]. The build that was in use before stays in use.
    pub fn install(
        &self,
        from: &Path,
        sha256: Option<&str>,
        name: Option<&str>,
    ) -> Result<String, EngineError> {
        let why = format!("installed by hand from {}", from.display());
        let origin = Origin { why, licence: None, sha256: sha256.map(str::to_owned) };
        self.place(from, sha256, name, &origin)
    }

    /// Returns the folder for the downloads of builds.
    pub(crate) fn downloads(&self) -> PathBuf {
        self.folder.join(DOWNLOADS)
    }

    /// Installs a build like [`Engines::install`], and records its `origin`.
    ///
    /// # Errors
    /// [`EngineError`]. The build that was in use before stays in use.
    pub(crate) fn place(
        &self,
        from: &Path,
        sha256: Option<&str>,
        name: Option<&str>,
        origin: &Origin,
    ) -> Result<String, EngineError> {
        let _one_at_a_time = self.lock()?;
        let staged = self.folder.join(STAGED);
        // Delete the leftovers of an interrupted installation.
        fs::remove_dir(&staged)?;
        let installed = self.stage(from, sha256, name, &staged, origin);
        fs::remove_dir(&staged)?;
        installed
    }

    /// Makes an installed build the build in use. It runs once first.
    ///
    /// # Errors
    /// [`EngineError::Unknown`], or [`EngineError::DoesNotRun`]. The build that was in use before stays in use.
    pub fn switch(&self, name: &str) -> Result<(), EngineError> {
        let _one_at_a_time = self.lock()?;
        if !self.list()?.iter().any(|build| build.name == name) {
            return Err(EngineError::Unknown(name.to_owned()));
        }
        self.start(name)?;
        self.point(name)
    }

    /// Removes a build. If it is in use, the last of the other builds becomes the build in use.
    ///
    /// # Errors
    /// [`EngineError::Unknown`], or an error if the folder cannot be deleted.
    pub fn remove(&self, name: &str) -> Result<(), EngineError> {
        let _one_at_a_time = self.lock()?;
        let builds = self.list()?;
        let known = builds.iter().find(|build| build.name == name);
        let build = known.ok_or_else(|| EngineError::Unknown(name.to_owned()))?;
        if build.current {
            match builds.iter().rfind(|other| other.name != name) {
                Some(other) => self.point(&other.name)?,
                None => fs::remove_file(&self.folder.join(CURRENT))?,
            }
        }
        Ok(fs::remove_dir(&self.folder.join(name))?)
    }

    fn stage(
        &self,
        from: &Path,
        sha256: Option<&str>,
        name: Option<&str>,
        staged: &Path,
        origin: &Origin,
    ) -> Result<String, EngineError> {
        let unpacked = staged.join("archive");
        let source = if from.is_dir() {
            from
        } else {
            if let Some(expected) = sha256 {
                verify(from, expected)?;
            }
            std::fs::create_dir_all(&unpacked)
                .map_err(|source| failed("create", &unpacked, source))?;
            unpack(from, &unpacked)?;
            &unpacked
        };
        let missing = || EngineError::NoExecutable {
            from: from.to_owned(),
            executable: self.executable.clone(),
        };
        let source = find(source, &self.executable, DEPTH).ok_or_else(missing)?;
        let build = staged.join("build");
        if source.starts_with(staged) {
            fs::rename(&source, &build)?;
        } else {
            copy(&source, &build)?;
        }
        let said = trial::run(&build.join(&self.executable), staged)?;
        let own = || build_name(&said).ok_or(EngineError::Nameless);
        let name = name.map_or_else(own, |name| Ok(name.to_owned()))?;
        if !is_build_name(&name) {
            return Err(EngineError::BadName(name));
        }
        let text = serde_json::to_vec(origin)
            .map_err(|error| failed("write", &build.join(ORIGIN), io::Error::other(error)))?;
        fs::write_atomic(&build.join(ORIGIN), &text)?;
        let target = self.folder.join(&name);
        fs::remove_dir(&target)?;
        fs::rename(&build, &target)?;
        self.point(&name)?;
        Ok(name)
    }

    fn lock(&self) -> Result<fs::Lock, EngineError> {
        fs::create_private_dir(&self.folder)?;
        fs::try_lock(&self.folder.join(".lock"))?.ok_or(EngineError::Busy)
    }

    fn current(&self) -> Result<Option<String>, EngineError> {
        match fs::read_limited(&self.folder.join(CURRENT), 4096) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn point(&self, name: &str) -> Result<(), EngineError> {
        Ok(fs::write_atomic(&self.folder.join(CURRENT), format!("{name}\n").as_bytes())?)
    }
}

/// Parses the name of a build from `version: 10068 (0123abc)`. None for a number of fewer than four digits: a build
/// that was compiled without the git history prints 1.
fn build_name(said: &str) -> Option<String> {
    let rest = said.lines().find_map(|line| line.trim().strip_prefix("version: "))?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (number.len() >= 4).then(|| format!("b{number}"))
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> EngineError {
    EngineError::Io { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
