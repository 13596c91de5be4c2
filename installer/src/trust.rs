//! The release keys that this build trusts, and the verification of an unpacked release.
//!
//! The keys are compiled in from `LINK_RELEASE_KEYS`: public keys in base64url, separated by commas. The caller of a
//! development build may add more. A build with trusted keys installs only releases that one of them signed. A build
//! without trusted keys cannot verify releases, and says so. Only [`Trust::verify`] creates a [`Release`] from a
//! folder, and it writes nothing. [`crate::intact`] creates one from files that were verified and installed before.

use std::path::{Path, PathBuf};

use link_platform::facts;
use link_protocol::{
    command::Sha256Hex,
    exit_code::ExitCode,
    release::{self, CONTENTS_FILE, Contents, KEYS_FILE, RefusedRelease},
    signing::{InvalidKey, Signed, VerifyingKey},
};
use semver::Version;

use crate::{
    layout::PLUGINS,
    receipt::InstalledRelease,
    unpacked::{Unpacked, UnpackedError},
};

const BUILT_IN: Option<&str> = option_env!("LINK_RELEASE_KEYS");

/// The trusted release keys.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trust {
    keys: Vec<VerifyingKey>,
}

/// An unpacked release that may be installed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Release {
    pub(crate) from: PathBuf,
    pub(crate) version: Version,
    /// The programs, each with its expected hash.
    pub(crate) programs: Vec<(&'static str, Sha256Hex)>,
    pub(crate) signed: Option<InstalledRelease>,
    /// The hash of the archive from which the release was unpacked, if known.
    pub(crate) archive: Option<Sha256Hex>,
}

/// An unpacked folder is not a release that may be installed.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A key that this build should trust is malformed.
    #[error("this build cannot tell whom to trust")]
    Keys(#[source] InvalidKey),
    #[error("the release is not signed, and this build installs signed ones only")]
    Unsigned,
    #[error("the release cannot be trusted")]
    Refused(#[source] RefusedRelease),
    #[error(transparent)]
    Unpacked(#[from] UnpackedError),
}

impl VerifyError {
    /// Returns the exit code of a command that fails with this error.
    #[must_use]
    pub const fn exit_code(&self) -> ExitCode {
        match self {
            Self::Refused(RefusedRelease::Target { .. }) => ExitCode::UnsupportedPlatform,
            Self::Keys(_)
            | Self::Unsigned
            | Self::Unpacked(
                UnpackedError::Malformed(_)
                | UnpackedError::NotPlain(_)
                | UnpackedError::TooLong(_),
            )
            | Self::Refused(_) => ExitCode::SignatureInvalid,
            Self::Unpacked(UnpackedError::Read { .. }) => ExitCode::CannotWrite,
        }
    }
}

impl Release {
    /// Returns whether a trusted key has signed the release. If not, nothing was verified.
    #[must_use]
    pub const fn is_signed(&self) -> bool {
        self.signed.is_some()
    }

    /// Adds the hash of the archive from which the release was unpacked.
    #[must_use]
    pub fn out_of(self, archive: Option<Sha256Hex>) -> Self {
        Self { archive, ..self }
    }
}

impl Trust {
    /// Returns the keys that this build trusts. A development build also trusts the keys in `development`.
    ///
    /// # Errors
    /// [`VerifyError::Keys`] if a key is malformed.
    pub fn of_this_build(development: Option<&str>) -> Result<Self, VerifyError> {
        let development = development.filter(|_| cfg!(debug_assertions));
        Self::new([BUILT_IN, development].into_iter().flatten())
    }

    pub(crate) fn new<'a>(lists: impl IntoIterator<Item = &'a str>) -> Result<Self, VerifyError> {
        let texts = lists.into_iter().flat_map(|list| list.split(',')).map(str::trim);
        let keys = texts.filter(|text| !text.is_empty()).map(str::parse);
        Ok(Self { keys: keys.collect::<Result<_, _>>().map_err(VerifyError::Keys)? })
    }

    /// Returns the trusted keys, and the keys that `chain` introduces with their signatures.
    pub(crate) fn with(&self, chain: &[Signed]) -> Result<Vec<VerifyingKey>, RefusedRelease> {
        release::introduce(&self.keys, chain)
    }

    /// Verifies that the folder `from` is an unpacked archive of the release `version` with these `programs`, and that
    /// it contains no unsigned file.
    ///
    /// # Errors
    /// [`VerifyError`]. Without a trusted key, only if a program cannot be read.
    pub fn verify(
        &self,
        from: &Path,
        version: &Version,
        programs: &[&'static str],
    ) -> Result<Release, VerifyError> {
        let (unpacked, from) = (Unpacked::look(from)?, from.to_owned());
        let version = version.clone();
        if self.keys.is_empty() {
            let files =
                files_of(programs, |name| unpacked.sizes().iter().any(|(found, _)| *found == name));
            let programs = files.map(|name| Ok((name, unpacked.hash(name)?.sha256)));
            let programs = programs.collect::<Result<_, UnpackedError>>()?;
            return Ok(Release { from, version, programs, signed: None, archive: None });
        }
        let chain: Vec<Signed> = unpacked.statement(KEYS_FILE)?.unwrap_or_default();
        let trusted = self.with(&chain).map_err(VerifyError::Refused)?;
        let signed: Signed = unpacked.statement(CONTENTS_FILE)?.ok_or(VerifyError::Unsigned)?;
        let contents = Contents::open(&signed, &trusted).map_err(VerifyError::Refused)?;
        let target = facts::target().unwrap_or("one without releases");
        let (text, sizes) = (version.to_string(), unpacked.sizes());
        contents.check_sizes(&text, target, &sizes).map_err(VerifyError::Refused)?;
        let found = sizes.iter().map(|(name, _)| unpacked.hash(name));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        contents.check(&text, target, &found).map_err(VerifyError::Refused)?;
        let file = |name: &str| contents.files.iter().find(|file| file.path.as_str() == name);
        let listed = |name: &'static str| {
            let missing = || VerifyError::Refused(RefusedRelease::Missing(name.to_owned()));
            Ok((name, file(name).ok_or_else(missing)?.sha256.clone()))
        };
        let files = files_of(programs, |name| file(name).is_some());
        let programs = files.map(listed).collect::<Result<_, VerifyError>>()?;
        let (channel, counter) = (contents.channel, contents.counter);
        let signed = Some(InstalledRelease { channel, counter, kid: signed.kid });
        Ok(Release { from, version, programs, signed, archive: None })
    }
}

/// Returns the files of a release that are installed: its programs, and the plugins if it holds them. Releases before
/// 1.3.0 hold none.
pub(crate) fn files_of(
    programs: &[&'static str],
    holds: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &'static str> {
    programs.iter().copied().chain(holds(PLUGINS).then_some(PLUGINS))
}

#[cfg(test)]
mod tests;
