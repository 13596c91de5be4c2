//! The signed statements of a release, and the conditions under which they are trusted.
//!
//! There are three statements: the contents of one archive, the manifest of the whole release, and new release keys.
//! Each is signed as one text and verified before it is parsed. The signed text contains the kind, so no statement can
//! be confused with another. Contents never expire: an archive that was kept for years can still be installed. A
//! manifest expires, which causes a warning; installed programs continue to run.

use std::{collections::HashSet, fmt};

use jiff::Timestamp;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    command::Sha256Hex,
    file_name::FileName,
    limits,
    signing::{Signed, SigningKey, Untrusted, VerifyingKey},
};

/// The schema version of the statements. A reader refuses any other version.
pub const SCHEMA: u32 = 1;
/// The file name of the signed [`Contents`], in each archive.
pub const CONTENTS_FILE: &str = "contents.json";
/// The file name of the signed [`Manifest`], beside the archives.
pub const MANIFEST_FILE: &str = "manifest.json";
/// Returns the file name of the signed [`Manifest`] of one version, beside the archives. A folder may contain several
/// releases.
#[must_use]
pub fn manifest_of(version: &Version) -> String {
    format!("link-{version}.{MANIFEST_FILE}")
}

/// The file name of the list of signed [`KeySet`]s, in each archive and beside it. Absent if there are none.
pub const KEYS_FILE: &str = "keys.json";

/// The channel of a release: how well it is tested.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Alpha,
    Beta,
    #[default]
    Stable,
}

impl Channel {
    /// Returns the channel with this name. A channel of a later version has no label here, so it counts as stable.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let mut labelled = [Self::Alpha, Self::Beta].into_iter();
        labelled.find(|channel| channel.to_string() == name).unwrap_or_default()
    }

    /// Returns whether this is the channel of production builds, whose label is hidden.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        *self == Self::Stable
    }

    /// Returns `version` with the label of the channel beside it, such as `1.0.19 · Alpha` (specification, section 9).
    #[must_use]
    pub fn beside(self, version: &Version) -> String {
        match self {
            Self::Alpha => format!("{version} · Alpha"),
            Self::Beta => format!("{version} · Beta"),
            Self::Stable => version.to_string(),
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alpha => "alpha",
            Self::Beta => "beta",
            Self::Stable => "stable",
        })
    }
}

/// The programs in an archive.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Package {
    /// The agent and the backend. Older releases have only this archive.
    #[default]
    Everything,
    /// The agent of a device, its guard, and the command `link`.
    Device,
    /// The backend, and the command that installs and removes it.
    Backend,
    /// A package of a later version, which this reader does not install.
    #[serde(other)]
    Later,
}

/// A statement that a release key signs.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Statement {
    Contents(Contents),
    Manifest(Manifest),
    Keys(KeySet),
}

/// The contents of one archive.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Contents {
    pub schema: u32,
    pub version: Version,
    pub channel: Channel,
    /// The system of the programs, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    pub released_at: Timestamp,
    /// The counter of the release. A later release never has a smaller counter.
    pub counter: u64,
    pub files: Vec<ReleasedFile>,
}

/// A file of an archive.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ReleasedFile {
    pub path: FileName,
    pub size_bytes: u64,
    pub sha256: Sha256Hex,
}

/// The manifest of a release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Manifest {
    pub schema: u32,
    pub version: Version,
    pub channel: Channel,
    pub released_at: Timestamp,
    pub expires_at: Timestamp,
    /// The counter of the release, which is also in the contents of each archive.
    pub counter: u64,
    pub archives: Vec<Archive>,
}

/// An archive of a release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Archive {
    pub target: String,
    /// If the member is absent, the archive contains everything.
    #[serde(default, skip_serializing_if = "Package::is_everything")]
    pub package: Package,
    pub name: FileName,
    pub size_bytes: u64,
    pub sha256: Sha256Hex,
}

/// New release keys, signed with a key that is already trusted.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeySet {
    pub schema: u32,
    /// Increases with each set.
    pub counter: u64,
    pub keys: Vec<VerifyingKey>,
}

/// A file in the folder of an unpacked archive.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundFile {
    pub name: String,
    pub size_bytes: u64,
    pub sha256: Sha256Hex,
}

/// The freshness of a manifest, judged by its date.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Freshness {
    Fresh,
    /// Expired for less than [`limits::RELEASE_GRACE`]: only a warning.
    Stale,
    /// Expired for longer than that: nothing is installed from the manifest unless a person insists.
    Expired,
}

/// A release differs from its signed statements.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RefusedRelease {
    /// The signature is invalid.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// The signed text is another statement, has a later schema, or contains an unsafe path.
    #[error("the signed text is not what it should be")]
    NotTheStatement,
    #[error("the release is {signed}, not {expected}")]
    Version { signed: Version, expected: String },
    #[error("the release is for {signed}, and this system is {expected}")]
    Target { signed: String, expected: String },
    #[error("`{0}` is listed twice")]
    Duplicate(FileName),
    #[error("`{0}` is missing")]
    Missing(String),
    #[error("`{0}` is not part of the release")]
    Extra(String),
    #[error("`{0}` is not the file that was signed")]
    Altered(FileName),
}

impl Package {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_everything(&self) -> bool {
        *self == Self::Everything
    }
}

impl SigningKey {
    /// Serialises and signs `statement`.
    #[must_use]
    pub fn seal_release(&self, statement: &Statement) -> Signed {
        self.seal_text(serde_json::to_string(statement).expect("a statement has only string keys"))
    }
}

impl Contents {
    /// Verifies that one of the `trusted` keys signed `signed`, and reads it as the contents of an archive.
    ///
    /// # Errors
    /// [`RefusedRelease`] if the signature or the kind is wrong, or a file is listed twice.
    pub fn open(signed: &Signed, trusted: &[VerifyingKey]) -> Result<Self, RefusedRelease> {
        let contents = match Statement::open(signed, trusted)? {
            Statement::Contents(contents) if contents.schema == SCHEMA => contents,
            Statement::Contents(_) | Statement::Manifest(_) | Statement::Keys(_) => {
                return Err(RefusedRelease::NotTheStatement);
            }
        };
        find_duplicate(contents.files.iter().map(|file| &file.path))?;
        Ok(contents)
    }

    /// Checks that these are the contents of `version` for the system `target`, and that `found` matches them exactly.
    ///
    /// # Errors
    /// [`RefusedRelease`] with the first difference.
    pub fn check(
        &self,
        version: &str,
        target: &str,
        found: &[FoundFile],
    ) -> Result<(), RefusedRelease> {
        let sizes: Vec<_> =
            found.iter().map(|file| (file.name.as_str(), file.size_bytes)).collect();
        self.check_sizes(version, target, &sizes)?;
        for file in &self.files {
            let is_altered =
                |found: &FoundFile| found.name == file.path.as_str() && found.sha256 != file.sha256;
            if found.iter().any(is_altered) {
                return Err(RefusedRelease::Altered(file.path.clone()));
            }
        }
        Ok(())
    }

    /// Like [`Contents::check`], but compares only names and sizes. A file that is not listed, or is too long, is
    /// refused before it is read.
    ///
    /// # Errors
    /// Like [`Contents::check`].
    pub fn check_sizes(
        &self,
        version: &str,
        target: &str,
        found: &[(&str, u64)],
    ) -> Result<(), RefusedRelease> {
        if self.version.to_string() != version {
            let (signed, expected) = (self.version.clone(), version.to_owned());
            return Err(RefusedRelease::Version { signed, expected });
        }
        if self.target != target {
            let (signed, expected) = (self.target.clone(), target.to_owned());
            return Err(RefusedRelease::Target { signed, expected });
        }
        for file in &self.files {
            let name = file.path.as_str();
            let (_, size_bytes) = found
                .iter()
                .find(|(found, _)| *found == name)
                .ok_or_else(|| RefusedRelease::Missing(name.to_owned()))?;
            if *size_bytes != file.size_bytes {
                return Err(RefusedRelease::Altered(file.path.clone()));
            }
        }
        let listed: HashSet<_> = self.files.iter().map(|file| file.path.as_str()).collect();
        match found.iter().find(|(name, _)| !listed.contains(name)) {
            Some((extra, _)) => Err(RefusedRelease::Extra((*extra).to_owned())),
            None => Ok(()),
        }
    }
}

impl Manifest {
    /// Verifies that one of the `trusted` keys signed `signed`, and reads it as the manifest of a release.
    ///
    /// # Errors
    /// [`RefusedRelease`] if the signature or the kind is wrong, or an archive is listed twice.
    pub fn open(signed: &Signed, trusted: &[VerifyingKey]) -> Result<Self, RefusedRelease> {
        let manifest = match Statement::open(signed, trusted)? {
            Statement::Manifest(manifest) if manifest.schema == SCHEMA => manifest,
            Statement::Contents(_) | Statement::Manifest(_) | Statement::Keys(_) => {
                return Err(RefusedRelease::NotTheStatement);
            }
        };
        find_duplicate(manifest.archives.iter().map(|archive| &archive.name))?;
        Ok(manifest)
    }

    /// Returns the archive that installs `package` on the system `target`: the archive of that package,
    /// else the archive of everything.
    #[must_use]
    pub fn archive(&self, target: &str, package: Package) -> Option<&Archive> {
        let of = |package| {
            let is_it = |archive: &&Archive| archive.target == target && archive.package == package;
            self.archives.iter().find(is_it)
        };
        of(package).or_else(|| of(Package::Everything))
    }

    /// Returns the freshness of the manifest at `now`.
    #[must_use]
    pub fn freshness(&self, now: Timestamp) -> Freshness {
        if now < self.expires_at {
            return Freshness::Fresh;
        }
        let age = now.duration_since(self.expires_at).unsigned_abs();
        if age < limits::RELEASE_GRACE { Freshness::Stale } else { Freshness::Expired }
    }
}

impl Statement {
    fn open(signed: &Signed, trusted: &[VerifyingKey]) -> Result<Self, RefusedRelease> {
        let text = signed.verify(trusted)?;
        serde_json::from_str(text).map_err(|_| RefusedRelease::NotTheStatement)
    }
}

/// Returns the `trusted` keys and those that `chain` introduces. Each set must be signed with a key that was trusted
/// before it. A set by an unknown signer is skipped.
///
/// # Errors
/// [`RefusedRelease`] if a known key's set was altered, or the counters do not increase.
pub fn introduce(
    trusted: &[VerifyingKey],
    chain: &[Signed],
) -> Result<Vec<VerifyingKey>, RefusedRelease> {
    let mut keys = trusted.to_vec();
    let mut last = None;
    for signed in chain {
        let set = match Statement::open(signed, &keys) {
            Ok(Statement::Keys(set)) if set.schema == SCHEMA && Some(set.counter) > last => set,
            Ok(Statement::Contents(_) | Statement::Manifest(_) | Statement::Keys(_)) => {
                return Err(RefusedRelease::NotTheStatement);
            }
            Err(RefusedRelease::Untrusted(Untrusted::UnknownKey)) => continue,
            Err(error) => return Err(error),
        };
        last = Some(set.counter);
        keys.extend(set.keys);
    }
    Ok(keys)
}

/// Returns whether `offered` is an older release than `installed`; each is a version and its counter. The same version
/// is a repair, not a downgrade.
#[must_use]
pub fn is_downgrade(installed: (&str, u64), offered: (&str, u64)) -> bool {
    installed.0 != offered.0 && offered.1 < installed.1
}

/// Rejects duplicate names. Case is ignored, because on some systems names that differ only in case are the same file.
fn find_duplicate<'a>(names: impl Iterator<Item = &'a FileName>) -> Result<(), RefusedRelease> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name.as_str().to_lowercase()) {
            return Err(RefusedRelease::Duplicate(name.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
