//! The builds of an engine in an installation: a folder for each, and the name of the one that is used.
//!
//! A build is laid out beside the others and runs once before it is used, so that whatever interrupts
//! an installation leaves the build before in its place.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: unpacks, copies and runs a build"
)]

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
};

use flate2::read::GzDecoder;
use link_platform::fs::{self, FileError};
use sha2::{Digest as _, Sha256};
use tar::Archive;

/// The engine of language models.
pub const LLAMA_SERVER: &str = "llama-server";

/// The file that names the build that is used.
const CURRENT: &str = "current";
/// What a build is laid out in before it has its name.
const STAGED: &str = ".new";
/// The most files of one build.
const MOST_FILES: usize = 4096;
/// The most bytes of one build; the largest builds for graphics cards have two gigabytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// How deep in an archive the engine may lie.
const DEPTH: usize = 4;

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
    /// Whether models are served with it.
    pub current: bool,
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
    #[error("the build has more than {MOST_FILES} files or {MOST_BYTES} bytes")]
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
                builds.push(Build { current: current.as_deref() == Some(&name), name });
            }
        }
        builds.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(builds)
    }

    /// Installs a build from an archive (`.tar.gz`) or an unpacked folder, and uses it from the next
    /// start of a model on. Its name is what it says of itself, unless one is given.
    ///
    /// # Errors
    /// [`EngineError`]; the build that was used before still is.
    pub fn install(
        &self,
        from: &Path,
        sha256: Option<&str>,
        name: Option<&str>,
    ) -> Result<String, EngineError> {
        fs::create_private_dir(&self.folder)?;
        let lock = self.folder.join(".lock");
        let _one_at_a_time = fs::try_lock(&lock)?.ok_or(EngineError::Busy)?;
        let staged = self.folder.join(STAGED);
        // What an installation has left that was interrupted.
        fs::remove_dir(&staged)?;
        let installed = self.stage(from, sha256, name, &staged);
        fs::remove_dir(&staged)?;
        installed
    }

    /// Removes a build; the one that is used only when there is no other.
    ///
    /// # Errors
    /// [`EngineError::Unknown`], or when it cannot be deleted.
    pub fn remove(&self, name: &str) -> Result<(), EngineError> {
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
        copy(&source, &build)?;
        let said = run(&build.join(self.executable))?;
        let own = || build_name(&said).ok_or(EngineError::Nameless);
        let name = name.map_or_else(own, |name| Ok(name.to_owned()))?;
        if !is_name(&name) {
            return Err(EngineError::BadName(name));
        }
        let target = self.folder.join(&name);
        fs::remove_dir(&target)?;
        fs::rename(&build, &target)?;
        self.point(&name)?;
        Ok(name)
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

/// Compares a file with what it should hold.
fn verify(path: &Path, expected: &str) -> Result<(), EngineError> {
    let mut file = File::open(path).map_err(|source| failed("read", path, source))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1024 * 1024];
    loop {
        let read = file.read(&mut buffer).map_err(|source| failed("read", path, source))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    let found: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    Err(EngineError::Altered { path: path.to_owned(), found })
}

/// Unpacks plain files, folders, and links to a neighbour.
fn unpack(archive: &Path, into: &Path) -> Result<(), EngineError> {
    let unreadable = |source| failed("unpack", archive, source);
    let file = File::open(archive).map_err(unreadable)?;
    let mut archive = Archive::new(GzDecoder::new(io::BufReader::new(file)));
    let (mut files, mut bytes) = (0_usize, 0_u64);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = entry.path().map_err(unreadable)?.into_owned();
        let kind = entry.header().entry_type();
        let is_neighbour = |target: &Path| {
            let mut parts = target.components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        };
        let link = entry.link_name().map_err(unreadable)?.map(std::borrow::Cow::into_owned);
        if kind.is_pax_global_extensions() {
            continue;
        }
        let is_link = kind.is_symlink() && link.as_deref().is_some_and(is_neighbour);
        let is_plain = kind.is_file() || kind.is_dir() || is_link;
        if !is_plain {
            return Err(EngineError::NotPlain(path.display().to_string()));
        }
        files += 1;
        bytes = bytes.saturating_add(entry.size());
        if files > MOST_FILES || bytes > MOST_BYTES {
            return Err(EngineError::TooLarge);
        }
        if !entry.unpack_in(into).map_err(unreadable)? {
            return Err(EngineError::NotPlain(path.display().to_string()));
        }
    }
    Ok(())
}

/// Finds the folder that holds the executable.
fn find(folder: &Path, executable: &str, depth: usize) -> Option<PathBuf> {
    let here = std::fs::symlink_metadata(folder.join(executable));
    if here.is_ok_and(|metadata| metadata.is_file()) {
        return Some(folder.to_owned());
    }
    let below = depth.checked_sub(1)?;
    let entries = std::fs::read_dir(folder).ok()?;
    let folders =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.take(MOST_FILES).find_map(|entry| find(&entry.path(), executable, below))
}

/// Copies the files of a folder, and its links to a neighbour.
fn copy(from: &Path, to: &Path) -> Result<(), EngineError> {
    std::fs::create_dir_all(to).map_err(|source| failed("create", to, source))?;
    let (mut files, mut bytes) = (0_usize, 0_u64);
    for entry in std::fs::read_dir(from).map_err(|source| failed("read", from, source))? {
        let entry = entry.map_err(|source| failed("read", from, source))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let metadata = std::fs::symlink_metadata(&path);
        let metadata = metadata.map_err(|source| failed("read", &path, source))?;
        files += 1;
        bytes = bytes.saturating_add(metadata.len());
        if files > MOST_FILES || bytes > MOST_BYTES {
            return Err(EngineError::TooLarge);
        }
        let copied = if metadata.is_file() {
            std::fs::copy(&path, &target).map(|_| ())
        } else if metadata.is_symlink() {
            link(&path, &target)
        } else {
            Ok(())
        };
        copied.map_err(|source| failed("copy", &path, source))?;
    }
    Ok(())
}

/// Copies what a link leads to under the link's name, when it is a neighbour.
fn link(path: &Path, target: &Path) -> io::Result<()> {
    let leads_to = std::fs::canonicalize(path)?;
    let folder = path.parent().map(std::fs::canonicalize).transpose()?;
    if leads_to.is_file() && leads_to.parent() == folder.as_deref() {
        std::fs::copy(&leads_to, target)?;
    }
    Ok(())
}

/// Runs the engine for its version; returns what it said.
fn run(executable: &Path) -> Result<String, EngineError> {
    let ran = Command::new(executable).arg("--version").stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| EngineError::DoesNotRun(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&ran.stdout) + &text(&ran.stderr);
    if ran.status.success() {
        return Ok(said);
    }
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(EngineError::DoesNotRun(format!("{} {last}", ran.status).trim().to_owned()))
}

/// Reads the build's name from `version: 10068 (0123abc)`. One that was made without the history of its
/// source says 1, which is the name of no build.
fn build_name(said: &str) -> Option<String> {
    let rest = said.lines().find_map(|line| line.trim().strip_prefix("version: "))?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (number.len() >= 4).then(|| format!("b{number}"))
}

fn is_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && !name.starts_with('.') && name != CURRENT && name.chars().all(usual)
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> EngineError {
    EngineError::Io { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
