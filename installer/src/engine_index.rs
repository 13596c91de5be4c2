//! The trusted index of engines. It is read from a release source, verified, and refused if it is older than the last
//! known one.
//!
//! Either a release key or a key that the owner of this account has added signs the index. All release keys share one
//! remembered serial number, and each key of the owner has its own, so that two publishers cannot block each other.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use link_platform::fs::{self, FileError};
use link_protocol::{
    engine_index::{EngineBuild, EngineIndex, INDEX_FILE},
    limits::SIGNED_DOCUMENT_LIMIT,
    release::KEYS_FILE,
    signed_document::{Issue, RefusedDocument},
    signing::{Signed, VerifyingKey},
};
use serde::{Deserialize, Serialize};

use crate::{
    owner_keys::{KeyError, OwnerKeys},
    signers::Signers,
    source::{Source, SourceError},
    trust::Trust,
};

/// The file of remembered serial numbers, in the folder of all engines.
const KNOWN_FILE: &str = "known.json";
/// The size limit of that file, in bytes.
const KNOWN_LIMIT: u64 = 1024 * 1024;

/// The keys that may sign an index, and its possible sources.
#[derive(Clone, Copy, Debug)]
pub struct Indexes<'a> {
    /// The folder of all engines.
    pub engines: &'a Path,
    pub trust: &'a Trust,
    pub owner_keys: &'a OwnerKeys,
    /// The sources, in the order in which they are tried.
    pub sources: &'a [Source],
}

/// A trusted index.
#[derive(Debug)]
pub struct FoundIndex {
    pub builds: Vec<EngineBuild>,
    pub source: Source,
}

/// The remembered state of indexes.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Known {
    /// The serial number of the newest index of each signer.
    #[serde(default)]
    serials: BTreeMap<String, u64>,
    /// The output of each build that does not run here, by the SHA-256 of its archive.
    #[serde(default)]
    pub(crate) unfit: BTreeMap<String, String>,
}

/// No source has a trusted index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("it is not known where engines come from")]
    NoSource,
    #[error("no index of engines can be used: {}", .0.join("; "))]
    None(Vec<String>),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    File(#[from] FileError),
}

/// The index of one source is not trusted.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("{0} has none")]
    Missing(String),
    #[error("nobody is trusted to sign one")]
    Nobody,
    #[error("{0}: {1}")]
    Document(String, RefusedDocument),
    #[error("{0}: the keys beside it cannot be trusted")]
    Chain(String),
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl Indexes<'_> {
    /// Reads the first trusted index, and stores its serial number.
    ///
    /// # Errors
    /// [`IndexError`], with the fault of each source.
    pub async fn find(&self) -> Result<FoundIndex, IndexError> {
        if self.sources.is_empty() {
            return Err(IndexError::NoSource);
        }
        let owner_keys = self.owner_keys.list()?;
        let mut reasons: Vec<String> = Vec::new();
        for source in self.sources {
            match self.read(source, &owner_keys).await {
                Ok((signer, issue)) => {
                    Known::change(self.engines, |known| {
                        known.serials.insert(signer, issue.serial);
                    })?;
                    let (builds, source) = (issue.document.builds, source.clone());
                    return Ok(FoundIndex { builds, source });
                }
                Err(refused) => reasons.push(refused.to_string()),
            }
        }
        reasons.dedup();
        Err(IndexError::None(reasons))
    }

    async fn read(
        &self,
        source: &Source,
        owner_keys: &[VerifyingKey],
    ) -> Result<(String, Issue<EngineIndex>), Refused> {
        let address = source.address(INDEX_FILE);
        let file = source.document(INDEX_FILE, SIGNED_DOCUMENT_LIMIT).await?;
        let file = file.ok_or_else(|| Refused::Missing(address.clone()))?;
        let chain: Vec<Signed> = source.json(KEYS_FILE).await?.unwrap_or_default();
        let signers = Signers::new(self.trust, &chain, owner_keys)
            .map_err(|_refused| Refused::Chain(address.clone()))?;
        let (signer, trusted) = (signers.claimed_by(&file), signers.keys());
        if trusted.is_empty() {
            return Err(Refused::Nobody);
        }
        let known = Known::read(self.engines).serials.get(&signer).copied();
        let issue = Issue::read(&file, &trusted, known);
        Ok((signer, issue.map_err(|refused| Refused::Document(address, refused))?))
    }
}

impl Known {
    /// Reads the remembered state. An unreadable file counts as an empty one.
    pub(crate) fn read(engines: &Path) -> Self {
        let text = fs::read_limited(&path(engines), KNOWN_LIMIT).ok();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Changes the remembered state.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn change(engines: &Path, change: impl FnOnce(&mut Self)) -> Result<(), FileError> {
        let mut known = Self::read(engines);
        let before = known.clone();
        change(&mut known);
        if known == before {
            return Ok(());
        }
        fs::create_private_dir(engines)?;
        fs::write_atomic(&path(engines), &known.to_text())
    }

    fn to_text(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("the names are strings")
    }
}

fn path(engines: &Path) -> PathBuf {
    engines.join(KNOWN_FILE)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use link_protocol::signing::SigningKey;

    use super::*;

    #[tokio::test]
    async fn release_keys_and_keys_of_the_owner_sign_an_index_and_nobody_else_does() {
        let bench = Bench::new();
        let (release, owner, backend) = (key(1), key(2), key(3));
        let trust = Trust::new([release.verifying().public_key.as_str()]).unwrap();
        bench.publish(&release, 5);
        assert!(bench.find(&trust).await.is_ok());
        for stranger in [&owner, &backend] {
            bench.publish(stranger, 6);
            let refused = bench.find(&trust).await.unwrap_err().to_string();
            assert!(refused.contains("a key that this installation does not trust"), "{refused}");
        }
        bench.trust(&owner);
        bench.publish(&owner, 1);
        assert!(bench.find(&trust).await.is_ok(), "its serial numbers are its own");
        bench.publish(&backend, 7);
        assert!(bench.find(&trust).await.is_err());
        let nobody = Trust::new([]).unwrap();
        bench.publish(&release, 8);
        assert!(bench.find(&nobody).await.is_err());
    }

    #[tokio::test]
    async fn an_index_older_than_the_one_that_is_known_is_refused() {
        let bench = Bench::new();
        let trust = Trust::new([key(1).verifying().public_key.as_str()]).unwrap();
        for (serial, believed) in
            [(5, true), (5, true), (7, true), (6, false), (5, false), (8, true)]
        {
            bench.publish(&key(1), serial);
            let found = bench.find(&trust).await;
            assert_eq!(found.is_ok(), believed, "{serial}: {found:?}");
        }
        bench.publish(&key(1), 2);
        let refused = bench.find(&trust).await.unwrap_err().to_string();
        assert!(
            refused.contains("it is older than the one that is known: number 2, after 8"),
            "{refused}"
        );
    }

    #[tokio::test]
    async fn a_source_without_an_index_and_no_source_say_so() {
        let bench = Bench::new();
        let trust = Trust::new([]).unwrap();
        let refused = bench.find(&trust).await.unwrap_err().to_string();
        assert!(refused.ends_with("engines.json has none"), "{refused}");
        fs::write_atomic(&bench.dir.path().join("release").join(INDEX_FILE), b"{}").unwrap();
        let refused = bench.find(&trust).await.unwrap_err().to_string();
        assert!(refused.contains("nobody is trusted to sign one"), "{refused}");
        let none = Indexes { sources: &[], ..bench.indexes(&trust, &[]) };
        assert!(matches!(none.find().await, Err(IndexError::NoSource)));
    }

    struct Bench {
        dir: tempfile::TempDir,
        engines: PathBuf,
        owner_keys: OwnerKeys,
    }

    impl Bench {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::create_private_dir(&dir.path().join("release")).unwrap();
            let engines = dir.path().join("engines");
            let owner_keys = OwnerKeys::of_engines(dir.path());
            Self { dir, engines, owner_keys }
        }

        fn indexes<'a>(&'a self, trust: &'a Trust, sources: &'a [Source]) -> Indexes<'a> {
            Indexes { engines: &self.engines, trust, owner_keys: &self.owner_keys, sources }
        }

        async fn find(&self, trust: &Trust) -> Result<FoundIndex, IndexError> {
            let sources = [Source::Local(self.dir.path().join("release"))];
            self.indexes(trust, &sources).find().await
        }

        fn publish(&self, key: &SigningKey, serial: u64) {
            let index = EngineIndex { builds: Vec::new() };
            let signed = Issue::new(serial, Timestamp::UNIX_EPOCH, index).seal(key).unwrap();
            let path = self.dir.path().join("release").join(INDEX_FILE);
            fs::write_atomic(&path, &serde_json::to_vec(&signed).unwrap()).unwrap();
        }

        fn trust(&self, key: &SigningKey) {
            let file = self.dir.path().join("key.pub");
            fs::write_atomic(&file, key.verifying().public_key.as_bytes()).unwrap();
            self.owner_keys.add(&file).unwrap();
        }
    }

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }
}
