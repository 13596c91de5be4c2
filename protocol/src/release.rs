//! What a release says of itself, and when that is believed.
//!
//! Three statements, each signed as one text and verified before it is parsed: the contents of one
//! archive, the manifest of the whole release, and new release keys. Their kind is part of what is
//! signed, so that none can be taken for another. Contents never expire: an archive that was kept
//! for years installs. A manifest does, and that warns; what is installed goes on running.

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

/// The version of the statements; a reader refuses another one.
pub const SCHEMA: u32 = 1;
/// The signed [`Contents`], in each archive.
pub const CONTENTS_FILE: &str = "contents.json";
/// The signed [`Manifest`], beside the archives.
pub const MANIFEST_FILE: &str = "manifest.json";
/// The name of the signed [`Manifest`] of one version, beside the archives: the newest release is
/// not the only one that a folder may hold.
#[must_use]
pub fn manifest_of(version: &Version) -> String {
    format!("link-{version}.{MANIFEST_FILE}")
}

/// The signed [`KeySet`]s as a list, in each archive and beside it, when there are any.
pub const KEYS_FILE: &str = "keys.json";

/// How well tried a release is.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Alpha,
    Beta,
    #[default]
    Stable,
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

/// What an archive installs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Package {
    /// A device and a backend: the only archive of a release from before the two were separate.
    #[default]
    Everything,
    /// The agent of a device with its guard, and the command.
    Device,
    /// The backend, and the command that installs and removes it.
    Backend,
    /// A package of a later version, which this reader does not install.
    #[serde(other)]
    Later,
}

/// What a release key signs.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Statement {
    Contents(Contents),
    Manifest(Manifest),
    Keys(KeySet),
}

/// What is inside one archive.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Contents {
    pub schema: u32,
    pub version: Version,
    pub channel: Channel,
    /// The system that the programs are for, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    pub released_at: Timestamp,
    /// Never falls from one release to a later one.
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

/// What belongs to a release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Manifest {
    pub schema: u32,
    pub version: Version,
    pub channel: Channel,
    pub released_at: Timestamp,
    pub expires_at: Timestamp,
    /// That of the contents of each archive.
    pub counter: u64,
    pub archives: Vec<Archive>,
}

/// An archive of a release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Archive {
    pub target: String,
    /// A manifest without this member lists one archive of everything.
    #[serde(default, skip_serializing_if = "Package::is_everything")]
    pub package: Package,
    pub name: FileName,
    pub size_bytes: u64,
    pub sha256: Sha256Hex,
}

/// New release keys, introduced by one that is trusted already.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeySet {
    pub schema: u32,
    /// Rises with each set.
    pub counter: u64,
    pub keys: Vec<VerifyingKey>,
}

/// A file that was found where an archive was unpacked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundFile {
    pub name: String,
    pub size_bytes: u64,
    pub sha256: Sha256Hex,
}

/// How much a manifest's date is worth.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Freshness {
    Fresh,
    /// It has expired: worth a warning, for [`limits::RELEASE_GRACE`].
    Stale,
    /// The grace is over too: nothing is installed from it unless a person asks for it.
    Expired,
}

/// A release is not what was signed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RefusedRelease {
    /// The signature does not hold.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// What was signed is another statement, or one of a later schema, or names an unsafe path.
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
    /// Verifies that `signed` is the contents of an archive, by one of the `trusted` keys.
    ///
    /// # Errors
    /// [`RefusedRelease`] when it is not, or lists a file twice.
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

    /// Checks that these are the contents of `version` for the system `target`, and that `found` is
    /// all of them.
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

    /// Like [`Contents::check`], by the names and the sizes alone: what is not listed, or is longer
    /// than what was signed, is refused before it is read.
    ///
    /// # Errors
    /// Those of [`Contents::check`].
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
    /// Verifies that `signed` is the manifest of a release, by one of the `trusted` keys.
    ///
    /// # Errors
    /// [`RefusedRelease`] when it is not, or lists an archive twice.
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

    /// Returns how much the date is worth at `now`.
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

/// Returns the `trusted` keys and those that `chain` introduces, each set signed by a key that was
/// trusted before it. A set of a signer whom this reader does not know introduces nothing.
///
/// # Errors
/// [`RefusedRelease`] when a known key's set was altered, or the counters do not rise.
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

/// Returns whether a release with the counter `offered` would put an older one in the place of the
/// installed one. The same version is a repair.
#[must_use]
pub fn is_downgrade(installed: (&str, u64), offered: (&str, u64)) -> bool {
    installed.0 != offered.0 && offered.1 < installed.1
}

/// Names that differ in case alone are one file on some systems.
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
