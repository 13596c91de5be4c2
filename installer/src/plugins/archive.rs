//! The signed archive of a plugin: `ID-VERSION.tar.gz`, and the statement of its publisher beside it.
//!
//! The statement is verified before the archive is unpacked, and the archive is unpacked in memory from the bytes that
//! were verified. What comes out is one plugin within the bounds of every plugin, and the plugin that was signed.

#[cfg(test)]
mod tests;

use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, GzBuilder, read::GzDecoder};
use jiff::Timestamp;
use link_platform::fs::{self, FileError};
use link_protocol::{
    file_name::FileName,
    limits::{PLUGIN_ARCHIVE_SIZE, PLUGIN_FILES, PLUGIN_SIZE},
    plugin::{Manifest, PROJECT_FILE, SIZE_LIMIT},
    plugin_archive::{PluginArchive, SIGNATURE_LIMIT, SIGNATURE_SUFFIX, archive_name},
    release::{KEYS_FILE, RefusedRelease},
    signed_document::{Issue, RefusedDocument},
    signing::{Signed, SigningKey},
};
use semver::Version;

use super::{
    PluginError,
    files::{FilesError, plain_files},
    read,
    tarball::{self, Bounds, PackedFile, RefusedArchive},
};
use crate::{
    owner_keys::{KeyError, OwnerKeys},
    signers::Signers,
    trust::Trust,
    unpacked::{hash_of, open_plain},
};

/// The bounds of a plugin's archive.
const BOUNDS: Bounds = Bounds { files: PLUGIN_FILES, bytes: PLUGIN_SIZE };

/// An archive that a trusted key signed, unpacked in memory.
#[derive(Debug)]
pub struct VerifiedArchive {
    pub manifest: Manifest,
    /// The signer: the id of a key that the owner added, or `release` for all release keys.
    pub signed_by: String,
    /// The serial number of the archive among those of its signer.
    pub(super) serial: u64,
    pub(super) files: Vec<PackedFile>,
}

/// An archive that was made.
#[derive(Debug)]
pub struct MadeArchive {
    pub statement: PluginArchive,
    pub archive: PathBuf,
    pub signature: PathBuf,
    /// The signature of the newest archive of the plugin.
    pub newest: PathBuf,
}

/// An archive cannot be installed as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("`{}` is not signed: `{}` is missing", .archive.display(), .signature.display())]
    Unsigned { archive: PathBuf, signature: PathBuf },
    #[error("the signature of `{}` is refused", .archive.display())]
    Refused {
        archive: PathBuf,
        #[source]
        source: RefusedDocument,
    },
    #[error("the keys in `{}` cannot be trusted", .0.display())]
    Chain(PathBuf, #[source] Option<RefusedRelease>),
    #[error("`{}` is not the file that was signed", .0.display())]
    Altered(PathBuf),
    #[error("`{}` was signed as `{signed}`", .archive.display())]
    Name { archive: PathBuf, signed: String },
    #[error("the archive was signed as {signed} and holds {found}")]
    OtherPlugin { signed: String, found: String },
    #[error("`{}` has more than {PLUGIN_ARCHIVE_SIZE} bytes", .0.display())]
    TooLong(PathBuf),
    #[error("`{}` is not a plugin archive: {reason}", .archive.display())]
    Contents { archive: PathBuf, reason: String },
    #[error("failed to {doing} `{}`", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    File(#[from] FileError),
}

impl VerifiedArchive {
    /// Verifies the archive at `path`, and unpacks it in memory. A release key must have signed it, or a key that the
    /// owner of this account has added for plugins.
    ///
    /// # Errors
    /// [`ArchiveError`] with the first fault. Nothing is unpacked before the signature and the checksum fit.
    pub fn open(path: &Path, trust: &Trust, owner_keys: &OwnerKeys) -> Result<Self, ArchiveError> {
        let bytes = read_archive(path)?;
        let signature = beside(path, SIGNATURE_SUFFIX);
        let text = match fs::read_plain(&signature, SIGNATURE_LIMIT) {
            Err(error) if error.is_not_found() => {
                return Err(ArchiveError::Unsigned { archive: path.to_owned(), signature });
            }
            text => text?,
        };
        let signers = signers(path, trust, owner_keys)?;
        let issue = Issue::<PluginArchive>::read(text.as_bytes(), &signers.keys(), None);
        let Issue { serial, document: signed, .. } =
            issue.map_err(|source| ArchiveError::Refused { archive: path.to_owned(), source })?;
        if signed.size_bytes != bytes.len() as u64 || signed.sha256 != hash_of(&bytes) {
            return Err(ArchiveError::Altered(path.to_owned()));
        }
        let name = archive_name(&signed.plugin, &signed.version);
        if path.file_name().is_none_or(|found| found != name.as_str()) {
            return Err(ArchiveError::Name { archive: path.to_owned(), signed: name });
        }
        let (manifest, files) = unpack(path, &bytes)?;
        let of = |id: &str, version: &Version| format!("`{id}` {version}");
        let found = of(&manifest.id, &manifest.version);
        let signed = of(&signed.plugin, &signed.version);
        if found != signed {
            return Err(ArchiveError::OtherPlugin { signed, found });
        }
        let signed_by = signers.claimed_by(text.as_bytes());
        Ok(Self { manifest, signed_by, serial, files })
    }
}

/// Packs the plugin in `folder` into `out`, signed with `key`.
///
/// # Errors
/// [`ArchiveError`] if the folder is not a usable plugin, or a file cannot be written.
pub fn pack(
    folder: &Path,
    out: &Path,
    key: &SigningKey,
    serial: u64,
    now: Timestamp,
) -> Result<MadeArchive, ArchiveError> {
    let manifest = read(folder)?;
    let mut files = Vec::new();
    for path in plain_files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Err(error) = name.parse::<FileName>() {
            let reason = format!("`{name}`: {error}");
            return Err(ArchiveError::Contents { archive: folder.to_owned(), reason });
        }
        let contents = std::fs::read(&path).map_err(|source| failed("read", &path, source))?;
        let is_program = fs::is_executable(&path);
        files.push(PackedFile { folder: manifest.id.clone(), name, contents, is_program });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let archive = out.join(archive_name(&manifest.id, &manifest.version));
    let bytes = tarball::write(&files).and_then(|tar| {
        let mut packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        packed.write_all(&tar)?;
        packed.finish()
    });
    let bytes = bytes.map_err(|source| failed("pack", folder, source))?;
    // The folder could have changed since it was read.
    let (packed, _files) = unpack(&archive, &bytes)?;
    let statement = PluginArchive {
        plugin: packed.id,
        version: packed.version,
        size_bytes: bytes.len() as u64,
        sha256: hash_of(&bytes),
    };
    let signed = Issue::new(serial, now, statement.clone()).seal(key);
    let signed =
        signed.map_err(|source| ArchiveError::Refused { archive: archive.clone(), source })?;
    let signature = beside(&archive, SIGNATURE_SUFFIX);
    fs::write_atomic(&archive, &bytes)?;
    fs::write_atomic(&signature, &to_json(&signed))?;
    let newest = out.join(format!("{}{SIGNATURE_SUFFIX}", statement.plugin));
    if !names_a_newer_one(&newest, key, serial) {
        fs::write_atomic(&newest, &to_json(&signed))?;
    }
    Ok(MadeArchive { statement, archive, signature, newest })
}

/// Returns whether the signature at `path` is of an archive of `key` that is newer than number `serial`.
fn names_a_newer_one(path: &Path, key: &SigningKey, serial: u64) -> bool {
    let text = fs::read_plain(path, SIGNATURE_LIMIT).unwrap_or_default();
    let known = Issue::<PluginArchive>::read(text.as_bytes(), &[key.verifying().clone()], None);
    known.is_ok_and(|known| known.serial > serial)
}

/// Reads an archive into memory, so that the bytes that are verified are the bytes that are unpacked.
fn read_archive(path: &Path) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = Vec::new();
    open_plain(path)
        .and_then(|file| file.take(PLUGIN_ARCHIVE_SIZE + 1).read_to_end(&mut bytes))
        .map_err(|source| failed("read", path, source))?;
    if bytes.len() as u64 > PLUGIN_ARCHIVE_SIZE {
        return Err(ArchiveError::TooLong(path.to_owned()));
    }
    Ok(bytes)
}

/// Returns the keys that may have signed the archive, with those that the chain beside it introduces.
fn signers(path: &Path, trust: &Trust, owner_keys: &OwnerKeys) -> Result<Signers, ArchiveError> {
    let beside = path.with_file_name(KEYS_FILE);
    let chain: Vec<Signed> = match fs::read_plain(&beside, SIGNATURE_LIMIT) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|_malformed| ArchiveError::Chain(beside.clone(), None))?,
        Err(error) if error.is_not_found() => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    Signers::new(trust, &chain, &owner_keys.list()?)
        .map_err(|refused| ArchiveError::Chain(beside, Some(refused)))
}

/// Reads the one plugin in the archive.
fn unpack(path: &Path, bytes: &[u8]) -> Result<(Manifest, Vec<PackedFile>), ArchiveError> {
    let refused = |reason: String| ArchiveError::Contents { archive: path.to_owned(), reason };
    let files = tarball::read(GzDecoder::new(bytes), BOUNDS).map_err(|error| match error {
        RefusedArchive::Unreadable(source) => failed("unpack", path, source),
        RefusedArchive::NotPlain(_) | RefusedArchive::Twice(_) | RefusedArchive::TooLarge(_) => {
            refused(error.to_string())
        }
    })?;
    let text = |name: &str| {
        let file = files.iter().find(|file| file.name == name);
        let file = file.filter(|file| file.contents.len() as u64 <= SIZE_LIMIT);
        let text = file.and_then(|file| String::from_utf8(file.contents.clone()).ok());
        text.ok_or_else(|| refused(format!("it holds no text file `{name}`")))
    };
    let manifest = Manifest::read(&text(PROJECT_FILE)?, |adapter| {
        text(adapter).map_err(|_missing| PluginError::NoProject(path.join(adapter)))
    })?;
    if let Some(file) = files.iter().find(|file| file.folder != manifest.id) {
        let reason =
            format!("`{}/{}` is not in the folder `{}`", file.folder, file.name, manifest.id);
        return Err(refused(reason));
    }
    Ok((manifest, files))
}

fn to_json(signed: &Signed) -> Vec<u8> {
    serde_json::to_vec(signed).expect("the members are strings")
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> ArchiveError {
    ArchiveError::Io { doing, path: path.to_owned(), source }
}
