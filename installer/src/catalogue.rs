//! The trusted catalogue of models. It is read from the release source or the backend, verified, and refused if it is
//! older than the last known one. A copy on disk serves when no source is reachable.
//!
//! A release key signs the catalogue. The catalogue of a backend may also be signed by that backend's own keys, because
//! it contains data and no program. A refused catalogue ends the search, because somebody has tampered with it.

use std::{collections::BTreeMap, path::PathBuf};

use link_platform::fs::{self, FileError};
use link_protocol::{
    catalogue::{CATALOGUE_FILE, Catalogue},
    exit_code::ExitCode,
    release::{KEYS_FILE, RefusedRelease},
    signed_document::{Issue, RefusedDocument},
    signing::{Signed, VerifyingKey},
};
use serde::{Deserialize, Serialize};

use crate::{
    layout::Layout,
    receipt::Receipt,
    signers::Signers,
    source::{Source, SourceError},
    trust::Trust,
};

/// The path at which a backend serves published files.
const AT_THE_BACKEND: &str = "releases";
/// The size limit of a catalogue, in bytes.
const LIMIT: usize = 4 * 1024 * 1024;
/// The size limit of the state file, in bytes.
const KNOWN_LIMIT: u64 = 8 * 1024 * 1024;

/// A possible source of a catalogue, and the keys that may sign it in addition to the release keys.
#[derive(Clone, Debug)]
pub struct Shelf {
    pub source: Source,
    pub keys: Vec<VerifyingKey>,
}

/// The sources to try, and the file in which the result is stored.
#[derive(Debug)]
pub struct Catalogues<'a> {
    pub trust: &'a Trust,
    pub shelves: &'a [Shelf],
    pub known: PathBuf,
}

/// There is no trusted catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("it is not known where a catalogue of models is")]
    NoSource,
    /// Every source was reached, and none publishes a catalogue.
    #[error("no catalogue of models is published at {}", .0.join(" or "))]
    Unpublished(Vec<String>),
    #[error("no catalogue of models can be read: {}", .0.join("; "))]
    None(Vec<String>),
    #[error("the catalogue at {0} is refused")]
    Refused(String, #[source] RefusedDocument),
    #[error("the keys beside the catalogue at {0} cannot be trusted")]
    Chain(String, #[source] RefusedRelease),
    #[error(transparent)]
    File(#[from] FileError),
}

impl CatalogueError {
    /// Returns the exit code of a command that fails with this error.
    #[must_use]
    pub const fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoSource | Self::Unpublished(_) => ExitCode::Failed,
            Self::None(_) => ExitCode::DownloadFailed,
            Self::Refused(..) | Self::Chain(..) => ExitCode::SignatureInvalid,
            Self::File(_) => ExitCode::CannotWrite,
        }
    }

    /// Returns the next step, as text for a person.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoSource => {
                "name a backend with `link login --backend URL`, or add a model by its file or address"
            }
            Self::Unpublished(_) => {
                "add a model by its file or address; a backend publishes a catalogue with `link-backend releases pull`"
            }
            Self::None(_) => "try again later, or add a model by its file or address",
            Self::Refused(_, RefusedDocument::Older { .. }) => {
                "it was not used; ask its publisher for the newer one"
            }
            Self::Refused(..) | Self::Chain(..) => {
                "it was not used; tell its publisher, and add a model by its file or address"
            }
            Self::File(_) => "free disk space, or correct the permissions of the folder",
        }
    }
}

/// The state file: the serial numbers and the last trusted catalogue.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
struct Known {
    /// The serial number of the newest catalogue of each signer.
    #[serde(default)]
    serials: BTreeMap<String, u64>,
    /// The text of the last trusted catalogue.
    #[serde(default)]
    file: String,
}

/// The result of reading one source.
enum Read {
    /// A catalogue that a trusted key signed.
    Issue { signer: String, issue: Issue<Catalogue>, file: String },
    /// No catalogue exists at this address.
    NotThere(String),
    /// The source could not be read, for this reason.
    Unread(String),
}

impl Known {
    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("the names are strings")
    }
}

/// Returns the possible sources: the release source, then this backend, which may sign its own catalogue.
#[must_use]
pub fn shelves(layout: &Layout, backend: Option<(&str, Vec<VerifyingKey>)>) -> Vec<Shelf> {
    let releases = Receipt::read(&layout.receipt()).and_then(|receipt| receipt.source);
    let releases = releases.and_then(|source| Source::parse(&source).ok());
    let releases = releases.map(|source| Shelf { source, keys: Vec::new() });
    // Plain http is enough: the signature protects the contents.
    let backend = backend.map(|(url, keys)| {
        let url = url.trim_end_matches('/');
        Shelf { source: Source::Web(format!("{url}/{AT_THE_BACKEND}")), keys }
    });
    releases.into_iter().chain(backend).collect()
}

impl Catalogues<'_> {
    /// Reads the first available catalogue, and stores it.
    ///
    /// # Errors
    /// [`CatalogueError`].
    pub async fn find(&self) -> Result<Catalogue, CatalogueError> {
        let mut known = self.read_known();
        let (mut empty, mut reasons) = (Vec::new(), Vec::new());
        for shelf in self.shelves {
            match self.read(shelf, &known).await? {
                Read::Issue { signer, issue, file } => {
                    known.serials.insert(signer, issue.serial);
                    known.file = file;
                    self.remember(&known)?;
                    return Ok(issue.document);
                }
                Read::NotThere(address) => empty.push(address),
                Read::Unread(reason) => reasons.push(reason),
            }
        }
        let keys = self.shelves.iter().flat_map(|shelf| shelf.keys.iter().cloned());
        let keys: Vec<_> = self.trust.with(&[]).into_iter().flatten().chain(keys).collect();
        // The catalogue was verified before it was stored. It is verified again, because this user can change the file.
        match Issue::<Catalogue>::read(known.file.as_bytes(), &keys, None) {
            Ok(issue) => Ok(issue.document),
            Err(_) if self.shelves.is_empty() => Err(CatalogueError::NoSource),
            Err(_) if reasons.is_empty() => Err(CatalogueError::Unpublished(empty)),
            Err(_) => Err(CatalogueError::None(reasons)),
        }
    }

    /// Reads the catalogue of one source.
    async fn read(&self, shelf: &Shelf, known: &Known) -> Result<Read, CatalogueError> {
        let address = shelf.source.address(CATALOGUE_FILE);
        let unread = |error: SourceError| Ok(Read::Unread(error.to_string()));
        let file = match shelf.source.document(CATALOGUE_FILE, LIMIT).await {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Read::NotThere(address)),
            Err(error) => return unread(error),
        };
        let chain: Vec<Signed> = match shelf.source.json(KEYS_FILE).await {
            Ok(chain) => chain.unwrap_or_default(),
            Err(error) => return unread(error),
        };
        let signers = Signers::new(self.trust, &chain, &shelf.keys)
            .map_err(|refused| CatalogueError::Chain(address.clone(), refused))?;
        let signer = signers.claimed_by(&file);
        let issue = Issue::read(&file, &signers.keys(), known.serials.get(&signer).copied())
            .map_err(|refused| CatalogueError::Refused(address, refused))?;
        Ok(Read::Issue { signer, issue, file: String::from_utf8_lossy(&file).into_owned() })
    }

    fn read_known(&self) -> Known {
        let text = fs::read_limited(&self.known, KNOWN_LIMIT).ok();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn remember(&self, known: &Known) -> Result<(), FileError> {
        if *known == self.read_known() {
            return Ok(());
        }
        if let Some(folder) = self.known.parent() {
            fs::create_private_dir(folder)?;
        }
        fs::write_atomic(&self.known, &known.to_json())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes what a hostile mirror would")]

    use link_protocol::signing::SigningKey;

    use super::*;

    #[tokio::test]
    async fn a_catalogue_is_believed_from_a_release_key_and_from_the_backend_it_comes_from() {
        let bench = Bench::new();
        let (release, backend) = (key(1), key(2));
        bench.publish(&release, 5, "a");
        assert_eq!(bench.find(&[]).await.unwrap().models[0].name, "a");
        bench.publish(&backend, 1, "b");
        let refused = bench.find(&[]).await.unwrap_err();
        assert_eq!(refused.exit_code(), ExitCode::SignatureInvalid);
        let keys = [backend.verifying().clone()];
        assert_eq!(bench.find(&keys).await.unwrap().models[0].name, "b", "its numbers are its own");
        bench.publish(&release, 4, "old");
        let older = bench.find(&keys).await.unwrap_err();
        assert!(matches!(
            older,
            CatalogueError::Refused(_, RefusedDocument::Older { known: 5, offered: 4 })
        ));
        assert!(older.hint().contains("the newer one"));
    }

    #[tokio::test]
    async fn a_catalogue_with_anything_changed_is_refused_and_the_one_before_serves_when_there_is_none()
     {
        let bench = Bench::new();
        bench.publish(&key(1), 5, "a");
        assert!(bench.find(&[]).await.is_ok());
        let path = bench.folder.path().join(CATALOGUE_FILE);
        let good = std::fs::read_to_string(&path).unwrap();
        for (from, to) in [
            ("https://models", "https://m0dels"),
            ("Apache-2.0", "Apache-2.1"),
            ("1000", "2000"),
            ("0000000000", "1111111111"),
            ("a.gguf", "b.gguf"),
            (r#"\"serial\":5"#, r#"\"serial\":6"#),
            (r#"\"memory_bytes\":2"#, r#"\"memory_bytes\":1"#),
        ] {
            assert!(good.contains(from), "{from}: {good}");
            std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
            let refused = bench.find(&[]).await.unwrap_err();
            assert!(matches!(refused, CatalogueError::Refused(..)), "{refused:?}");
        }
        std::fs::write(&path, r#"{"models":[]}"#).unwrap();
        let unsigned = bench.find(&[]).await.unwrap_err();
        assert!(matches!(unsigned, CatalogueError::Refused(_, RefusedDocument::Unsigned)));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bench.find(&[]).await.unwrap().models[0].name, "a");
    }

    #[tokio::test]
    async fn a_shelf_without_a_catalogue_is_told_from_one_that_cannot_be_read() {
        let bench = Bench::new();
        let none = bench.find(&[]).await.unwrap_err();
        let address = bench.folder.path().join(CATALOGUE_FILE).display().to_string();
        assert!(matches!(&none, CatalogueError::Unpublished(at) if *at == [address]), "{none:?}");
        assert!(none.hint().contains("releases pull"));
        std::fs::create_dir(bench.folder.path().join(CATALOGUE_FILE)).unwrap();
        assert!(matches!(bench.find(&[]).await, Err(CatalogueError::None(_))));
    }

    struct Bench {
        folder: tempfile::TempDir,
        state: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() }
        }

        fn publish(&self, key: &SigningKey, serial: u64, name: &str) {
            let document = serde_json::from_value(serde_json::json!({ "models": [{
                "name": name, "summary": "small", "licence": "Apache-2.0", "file_name": "a.gguf",
                "url": "https://models.example/a.gguf", "sha256": "0".repeat(64), "size_bytes": 1000,
                "facts": { "architecture": "llama", "parameters": 1, "memory_bytes": 2 },
            }]}));
            let issued_at = "2026-10-01T00:00:00Z".parse().unwrap();
            let issue = Issue::<Catalogue>::new(serial, issued_at, document.unwrap());
            let file = serde_json::to_vec(&issue.seal(key).unwrap()).unwrap();
            std::fs::write(self.folder.path().join(CATALOGUE_FILE), file).unwrap();
        }

        async fn find(&self, keys: &[VerifyingKey]) -> Result<Catalogue, CatalogueError> {
            let trust = Trust::new([key(1).verifying().public_key.as_str()]).unwrap();
            let source = Source::Local(self.folder.path().to_owned());
            let shelves = [Shelf { source, keys: keys.to_vec() }];
            let known = self.state.path().join("state/catalogue.json");
            Catalogues { trust: &trust, shelves: &shelves, known }.find().await
        }
    }

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }
}
