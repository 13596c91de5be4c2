//! The installed builds of an engine: a folder for each, and the name of the build in use.
//!
//! A build is laid out beside the others and run once before it is used. So an interrupted installation leaves the
//! previous build in use.

#![expect(clippy::disallowed_methods, reason = "IO shell: lists builds and runs one")]

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use link_platform::{
    fs::{self, FileError},
    process::{self, Call},
};
use link_protocol::{engine_index::is_build_name, limits::ENGINE_SIZE};
use serde::{Deserialize, Serialize};

use self::files::{DEPTH, MOST_FILES, copy, find, unpack, verify};

mod files;

/// The engine of language models.
pub const LLAMA_SERVER: &str = "llama-server";

/// The file that names the build in use.
const CURRENT: &str = "current";
/// The folder in which a build is laid out before it has its name.
const STAGED: &str = ".new";
/// The file in a build's folder that says where the build came from.
const ORIGIN: &str = "link-build.json";
/// The largest such file that is read, in bytes.
const ORIGIN_LIMIT: u64 = 64 * 1024;
/// How long a build may take to print its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(60);

/// The builds of one engine.
#[derive(Clone, Debug)]
pub struct Engines {
    folder: PathBuf,
    executable: &'static str,
}

/// A build that is installed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Build {
    pub name: String,
    /// Whether models are served with this build.
    pub current: bool,
    /// Why this build is installed, if known.
    pub origin: Option<Origin>,
}

/// The origin of a build.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Origin {
    /// Why the build was installed, in words for a person.
    pub why: String,
    /// The licence, if an index names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The SHA-256 of its archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A build could not be installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("another command changes the engines")]
    Busy,
    #[error("`{}` holds no `{executable}`", .from.display())]
    NoExecutable { from: PathBuf, executable: &'static str },
    #[error("`{}` is not the file that was meant: its SHA-256 is {found}", .path.display())]
    Altered { path: PathBuf, found: String },
    #[error("the archive holds `{0}`, which is no plain file of an engine")]
    NotPlain(String),
    #[error("the build has more than {MOST_FILES} files or {ENGINE_SIZE} bytes")]
    TooLarge,
    #[error("the engine does not run on this machine: {0}")]
    DoesNotRun(String),
    #[error("the engine does not say which build it is")]
    Nameless,
    #[error("`{0}` is no name of a build: it has letters, digits, dots and dashes")]
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
    /// Names the builds of `llama-server` below the folder of all engines.
    #[must_use]
    pub fn of_language_models(engines: &Path) -> Self {
        Self { folder: engines.join(LLAMA_SERVER), executable: LLAMA_SERVER }
    }

    /// Returns the installed builds by their names.
    ///
    /// # Errors
    /// When the folder cannot be read.
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
            if !name.starts_with('.') && entry.path().join(self.executable).is_file() {
                let origin = fs::read_limited(&entry.path().join(ORIGIN), ORIGIN_LIMIT).ok();
                let origin = origin.and_then(|text| serde_json::from_str(&text).ok());
                builds.push(Build { current: current.as_deref() == Some(&name), name, origin });
            }
        }
        builds.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(builds)
    }

    /// Installs a build from an archive (`.tar.gz`) or an unpacked folder, and uses it from the next
    /// start of a model on. Unless a name is given, the build is named after its own version.
    ///
    /// # Errors
    /// [`EngineError`]; the build that was used before still is.
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

    /// The folder for downloads of builds until they are installed.
    pub(crate) fn downloads(&self) -> PathBuf {
        self.folder.join(".download")
    }

    /// Like [`Engines::install`], for a build that came from `origin`.
    ///
    /// # Errors
    /// [`EngineError`]; the build that was used before still is.
    pub(crate) fn place(
        &self,
        from: &Path,
        sha256: Option<&str>,
        name: Option<&str>,
        origin: &Origin,
    ) -> Result<String, EngineError> {
        let _one_at_a_time = self.lock()?;
        let staged = self.folder.join(STAGED);
        // What an installation has left that was interrupted.
        fs::remove_dir(&staged)?;
        let installed = self.stage(from, sha256, name, &staged, origin);
        fs::remove_dir(&staged)?;
        installed
    }

    /// Removes a build. Removes the build in use only if there is no other.
    ///
    /// # Errors
    /// [`EngineError::Unknown`], or when it cannot be deleted.
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
        let missing =
            || EngineError::NoExecutable { from: from.to_owned(), executable: self.executable };
        let source = find(source, self.executable, DEPTH).ok_or_else(missing)?;
        let build = staged.join("build");
        if source.starts_with(staged) {
            fs::rename(&source, &build)?;
        } else {
            copy(&source, &build)?;
        }
        let said = run(&build.join(self.executable))?;
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

/// Runs the engine to print its version, and returns its output.
fn run(executable: &Path) -> Result<String, EngineError> {
    let args = vec!["--version".into()];
    let call = Call { program: executable.to_owned(), args, env: None, limit: VERSION_PATIENCE };
    let ran = process::call(&call).map_err(|error| EngineError::DoesNotRun(error.to_string()))?;
    let said = ran.stdout + "\n" + &ran.stderr;
    if ran.success {
        return Ok(said);
    }
    let how = ran
        .code
        .map_or_else(|| "a signal ended it".to_owned(), |code| format!("it ended with {code}"));
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let separator = if last.is_empty() { "" } else { ": " };
    Err(EngineError::DoesNotRun(format!("{how}{separator}{last}")))
}

/// Reads the build's name from `version: 10068 (0123abc)`. A build that was made without the history of its source
/// prints 1, which names no build.
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
