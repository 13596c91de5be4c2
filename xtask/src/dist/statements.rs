//! The signed statements of a release: the contents of each archive, and the manifest beside them.
//!
//! The statements do not depend on the time or place of the build. The date is an argument.

use anyhow::Context as _;
use jiff::Timestamp;
use link_installer::layout::Product;
use link_protocol::{
    command::Sha256Hex,
    file_name::FileName,
    limits,
    release::{Archive, Channel, Contents, Manifest, ReleasedFile, SCHEMA, Statement},
    signing::Signed,
};
use sha2::{Digest as _, Sha256};

use crate::{dist::File, release_key::ReleaseKey};

/// The data of the statements and their signer.
pub(super) struct Statements {
    pub(super) key: ReleaseKey,
    pub(super) version: semver::Version,
    pub(super) channel: Channel,
    pub(super) counter: u64,
    pub(super) released_at: Timestamp,
}

impl Statements {
    /// Returns the signed list of the contents of an archive of `files`.
    pub(super) fn contents(&self, target: &str, files: &[File]) -> anyhow::Result<Vec<u8>> {
        let mut files = files
            .iter()
            .map(|file| {
                let (path, size_bytes, sha256) = describe(file)?;
                Ok(ReleasedFile { path, size_bytes, sha256 })
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        files.sort_by(|left, right| left.path.cmp(&right.path));
        self.seal(Statement::Contents(Contents {
            schema: SCHEMA,
            version: self.version.clone(),
            channel: self.channel,
            target: target.to_owned(),
            released_at: self.released_at,
            counter: self.counter,
            files,
        }))
    }

    /// Returns the signed manifest of a release with these `archives`, each with the name of its system.
    pub(super) fn manifest<'a>(
        &self,
        archives: impl Iterator<Item = ((&'a str, Product), &'a File)>,
    ) -> anyhow::Result<Vec<u8>> {
        let listed = archives.map(|((target, product), archive)| {
            let (name, size_bytes, sha256) = describe(archive)?;
            let (target, package) = (target.to_owned(), product.package());
            Ok(Archive { target, package, name, size_bytes, sha256 })
        });
        let archives = listed.collect::<anyhow::Result<_>>()?;
        self.seal(Statement::Manifest(Manifest {
            schema: SCHEMA,
            version: self.version.clone(),
            channel: self.channel,
            released_at: self.released_at,
            expires_at: self.released_at + limits::RELEASE_LIFETIME,
            counter: self.counter,
            archives,
        }))
    }

    /// Returns the text of the key's introductions. None if there are none.
    pub(super) fn keys(&self) -> anyhow::Result<Option<Vec<u8>>> {
        let introductions = &self.key.introductions;
        (!introductions.is_empty()).then(|| to_text(introductions)).transpose()
    }

    fn seal(&self, statement: Statement) -> anyhow::Result<Vec<u8>> {
        let signed: Signed = self.key.key.seal_release(&statement);
        to_text(&signed)
    }
}

/// Returns the default counter of a version. It grows with the version.
pub(super) fn counter_of(version: &semver::Version) -> u64 {
    version.major * 1_000_000 + version.minor * 1000 + version.patch
}

fn describe(file: &File) -> anyhow::Result<(FileName, u64, Sha256Hex)> {
    let name = file.name.parse().with_context(|| format!("`{}` is not a safe name", file.name))?;
    let sha256 = Sha256Hex::from_digest(&Sha256::digest(&file.contents));
    Ok((name, file.contents.len() as u64, sha256))
}

fn to_text(value: &impl serde::Serialize) -> anyhow::Result<Vec<u8>> {
    serde_json::to_vec(value).context("failed to write JSON")
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        release::{FoundFile, Package},
        signing::SigningKey,
    };

    use super::*;

    #[test]
    fn what_is_said_is_what_a_reader_verifies_and_is_the_same_each_time() {
        let statements = statements();
        let trusted = [statements.key.key.verifying().clone()];
        let file = File::executable("link", b"cli".to_vec());
        let contents = statements.contents("any", std::slice::from_ref(&file)).unwrap();
        assert_eq!(contents, statements.contents("any", std::slice::from_ref(&file)).unwrap());
        let signed = serde_json::from_slice(&contents).unwrap();
        let contents = Contents::open(&signed, &trusted).unwrap();
        let (_, size_bytes, sha256) = describe(&file).unwrap();
        let found = FoundFile { name: "link".into(), size_bytes, sha256 };
        assert_eq!(contents.check("1.3.0", "any", std::slice::from_ref(&found)), Ok(()));

        let backend = File::data("backend", b"server".to_vec());
        let archives = [(Product::Agent, &file), (Product::Backend, &backend)];
        let archives = archives.map(|(product, file)| (("any", product), file));
        let text = statements.manifest(archives.into_iter()).unwrap();
        let signed = serde_json::from_slice(&text).unwrap();
        let manifest = Manifest::open(&signed, &trusted).unwrap();
        assert_eq!((manifest.counter, manifest.archives.len()), (1_003_000, 2));
        let size = |package| manifest.archive("any", package).unwrap().size_bytes;
        assert_eq!([size(Package::Device), size(Package::Backend)], [3, 6]);
        assert_eq!(manifest.archives[0].package, Package::Device, "older readers take the first");
    }

    fn statements() -> Statements {
        let key = SigningKey::from_seed(&[1; 32]);
        let version = semver::Version::new(1, 3, 0);
        Statements {
            key: ReleaseKey { key, introductions: Vec::new() },
            channel: Channel::Beta,
            counter: counter_of(&version),
            version,
            released_at: Timestamp::UNIX_EPOCH,
        }
    }
}
