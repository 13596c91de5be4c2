//! Whose releases this build installs, and whether an unpacked folder is such a release.
//!
//! The keys are built in: `LINK_RELEASE_KEYS` at compile time, public keys in base64url separated by
//! commas. A development build takes more from its caller. A build that trusts any key installs
//! nothing that none of them signed; one that trusts none cannot check and says so. Only
//! [`Trust::verify`] makes a [`Release`] of a folder, and it writes nothing; [`crate::intact`] makes one of
//! what was verified and installed before.

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
    receipt::InstalledRelease,
    unpacked::{Unpacked, UnpackedError},
};

const BUILT_IN: Option<&str> = option_env!("LINK_RELEASE_KEYS");

/// The keys whose releases are installed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trust {
    keys: Vec<VerifyingKey>,
}

/// An unpacked release that may be installed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Release {
    pub(crate) from: PathBuf,
    pub(crate) version: Version,
    /// The programs and the hashes that they must have.
    pub(crate) programs: Vec<(&'static str, Sha256Hex)>,
    pub(crate) signed: Option<InstalledRelease>,
    /// The hash of the archive that it was unpacked from, where that is known.
    pub(crate) archive: Option<Sha256Hex>,
}

/// An unpacked folder may not be installed.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A key that this build should trust is none.
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
    /// Returns the exit code of a command that ends with it.
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
    /// Tells whether a trusted key has signed it; otherwise nothing was checked.
    #[must_use]
    pub const fn is_signed(&self) -> bool {
        self.signed.is_some()
    }

    /// Remembers the hash of the archive that it was unpacked from.
    #[must_use]
    pub fn out_of(self, archive: Option<Sha256Hex>) -> Self {
        Self { archive, ..self }
    }
}

impl Trust {
    /// Returns what this build trusts; a development build trusts the keys in `development` too.
    ///
    /// # Errors
    /// [`VerifyError::Keys`] when one of them is no key.
    pub fn of_this_build(development: Option<&str>) -> Result<Self, VerifyError> {
        let development = development.filter(|_| cfg!(debug_assertions));
        Self::new([BUILT_IN, development].into_iter().flatten())
    }

    pub(crate) fn new<'a>(lists: impl IntoIterator<Item = &'a str>) -> Result<Self, VerifyError> {
        let texts = lists.into_iter().flat_map(|list| list.split(',')).map(str::trim);
        let keys = texts.filter(|text| !text.is_empty()).map(str::parse);
        Ok(Self { keys: keys.collect::<Result<_, _>>().map_err(VerifyError::Keys)? })
    }

    /// Returns the keys that are trusted, and those that they introduce.
    pub(crate) fn with(&self, chain: &[Signed]) -> Result<Vec<VerifyingKey>, RefusedRelease> {
        release::introduce(&self.keys, chain)
    }

    /// Verifies that the folder `from` is an archive of the release `version` with these `programs`, and
    /// that it holds no file that was not signed.
    ///
    /// # Errors
    /// [`VerifyError`]; without any trusted key only when a program cannot be read.
    pub fn verify(
        &self,
        from: &Path,
        version: &Version,
        programs: &[&'static str],
    ) -> Result<Release, VerifyError> {
        let (unpacked, from) = (Unpacked::look(from)?, from.to_owned());
        let version = version.clone();
        if self.keys.is_empty() {
            let programs = programs.iter().map(|&name| Ok((name, unpacked.hash(name)?.sha256)));
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
        let listed = |name: &&'static str| {
            let file = contents.files.iter().find(|file| file.path.as_str() == *name);
            let missing = || VerifyError::Refused(RefusedRelease::Missing((*name).to_owned()));
            Ok((*name, file.ok_or_else(missing)?.sha256.clone()))
        };
        let programs = programs.iter().map(listed).collect::<Result<_, VerifyError>>()?;
        let (channel, counter) = (contents.channel, contents.counter);
        let signed = Some(InstalledRelease { channel, counter, kid: signed.kid });
        Ok(Release { from, version, programs, signed, archive: None })
    }
}

#[cfg(test)]
mod tests;
