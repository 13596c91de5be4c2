//! Pulls releases: downloads all files into a new folder, verifies them, and then serves them in one step.
//!
//! The manifest, the engine index and the model catalogue must be signed by a trusted key: a release key of this
//! program, or a key that the caller has named.

use std::{collections::BTreeMap, path::Path};

use link_platform::fs::{self, FileError};
use link_protocol::{
    catalogue::{CATALOGUE_FILE, Catalogue},
    command::Sha256Hex,
    engine_index::{EngineIndex, INDEX_FILE},
    file_name::FileName,
    limits,
    release::{
        self, KEYS_FILE, MANIFEST_FILE, Manifest, RefusedRelease, is_downgrade, manifest_of,
    },
    signed_document::{Issue, RefusedDocument},
    signing::{InvalidKey, Signed, VerifyingKey},
};
use sha2::{Digest as _, Sha256};

use super::{FetchError, List, Listed, Place, Releases};

const BUILT_IN: Option<&str> = option_env!("LINK_RELEASE_KEYS");
/// The temporary folder of a running pull.
const STAGED: &str = ".new";
/// The list of checksums by which `install.sh` verifies an archive.
const SUMS: &str = "SHA256SUMS";
/// The maximum number of archives in a release.
const ARCHIVES: usize = 64;
const STATEMENT: usize = 1024 * 1024;

/// The trusted keys.
#[derive(Clone, Debug)]
pub struct Keys(Vec<VerifyingKey>);

/// The result of a pull.
#[derive(Clone, Debug)]
pub struct Pulled {
    /// The version of the release, if the source has one.
    pub version: Option<String>,
    pub archives: usize,
    /// The number of engines, if the source has an index.
    pub engines: Option<usize>,
    /// The number of models in the catalogue, if the source has one.
    pub models: Option<usize>,
    pub bytes: u64,
}

/// A pull failed. The backend still serves the previous files.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error("another command pulls releases")]
    Busy,
    #[error("nobody is trusted to sign releases; name a file with a public key: --trust FILE")]
    Nobody,
    #[error("a trusted key is malformed")]
    Keys(#[from] InvalidKey),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("`{0}` is not there")]
    Missing(String),
    #[error("`{0}` is not of the form that it should have")]
    Malformed(&'static str),
    #[error("the release cannot be trusted")]
    Release(#[from] RefusedRelease),
    #[error("the engine index cannot be trusted")]
    Index(#[source] RefusedDocument),
    #[error("the model catalogue cannot be trusted")]
    Catalogue(#[source] RefusedDocument),
    #[error("release {offered} is older than {served}, which is served; --allow-older takes it")]
    Older { offered: String, served: String },
    #[error("{what} {offered} is older than {served}, which is served; --allow-older takes it")]
    OlderDocument { what: &'static str, offered: u64, served: u64 },
    #[error("a release does not have {0} archives, or one of this size or name")]
    Bounds(usize),
    #[error(transparent)]
    File(#[from] FileError),
}

impl Keys {
    /// Returns the keys of this build, the keys in `more`, and in a development build those in `development`.
    ///
    /// # Errors
    /// If a text is not a key.
    pub fn new(development: Option<&str>, more: &[String]) -> Result<Self, InvalidKey> {
        let development = development.filter(|_| cfg!(debug_assertions));
        let lists = [BUILT_IN, development].into_iter().flatten();
        let texts = lists.chain(more.iter().map(String::as_str));
        let texts = texts.flat_map(|list| list.split([',', '\n'])).map(str::trim);
        let keys = texts.filter(|text| !text.is_empty()).map(str::parse);
        keys.collect::<Result<_, _>>().map(Self)
    }
}

/// Downloads the newest release, the engine index and the model catalogue of `place`, as far as they exist, and serves
/// them.
///
/// # Errors
/// [`PullError`]; the backend still serves the previous files.
pub async fn pull(
    releases: &Releases,
    place: &Place,
    keys: &Keys,
    allow_older: bool,
) -> Result<Pulled, PullError> {
    if keys.0.is_empty() {
        return Err(PullError::Nobody);
    }
    fs::create_private_dir(&releases.folder)?;
    let _one_at_a_time = fs::try_lock(&releases.folder.join(".lock"))?.ok_or(PullError::Busy)?;
    let staged = releases.folder.join(STAGED);
    // An interrupted pull has left this folder behind.
    fs::remove_dir(&staged)?;
    fs::create_private_dir(&staged)?;
    let set = Set { releases, place, allow_older, staged: &staged };
    let pulled = set.fill(keys).await;
    fs::remove_dir(&staged)?;
    pulled
}

/// A folder that is being filled.
struct Set<'a> {
    releases: &'a Releases,
    place: &'a Place,
    allow_older: bool,
    staged: &'a Path,
}

impl Set<'_> {
    async fn fill(&self, keys: &Keys) -> Result<Pulled, PullError> {
        let mut list = self.without_files();
        let chain = self.place.document(KEYS_FILE, STATEMENT).await?;
        let introduced: Vec<Signed> = match &chain {
            Some(text) => parse(text, KEYS_FILE)?,
            None => Vec::new(),
        };
        let trusted = release::introduce(&keys.0, &introduced)?;
        let text = self.place.document(MANIFEST_FILE, STATEMENT).await?;
        let archives = match &text {
            Some(text) => self.release(text, &trusted, &mut list).await?,
            None => 0,
        };
        let index = self.engines(&trusted, &mut list).await?;
        let catalogue = self.catalogue(&trusted, &mut list).await?;
        if text.is_none() && index.is_none() && catalogue.is_none() {
            return Err(PullError::Missing(MANIFEST_FILE.to_owned()));
        }
        if let Some(chain) = chain {
            self.write(KEYS_FILE, &chain, &mut list)?;
        }
        let line = |(name, file): (&String, &Listed)| format!("{}  {name}\n", file.sha256);
        let sums: String = list.files.iter().map(line).collect();
        self.write(SUMS, sums.as_bytes(), &mut list)?;
        list.serial = index.map(|(serial, _)| serial).or(list.serial);
        list.catalogue_serial = catalogue.map(|(serial, _)| serial).or(list.catalogue_serial);
        let bytes = list.files.values().map(|file| file.size_bytes).sum();
        let stamp = Sha256Hex::from_digest(&Sha256::digest(
            serde_json::to_vec(&list.files).unwrap_or_default(),
        ));
        let name = format!("set-{}", &stamp.as_str()[..16]);
        if self.releases.current().is_some_and(|(folder, _)| folder.ends_with(&name)) {
            // The backend serves the same files already.
        } else {
            fs::remove_dir(&self.releases.folder.join(&name))?;
            self.releases.publish(self.staged, &name, &list)?;
        }
        let engines = index.map(|(_, engines)| engines);
        let models = catalogue.map(|(_, models)| models);
        let version = text.map(|_| list.version);
        Ok(Pulled { version, archives, engines, models, bytes })
    }

    /// Returns the served versions and serial numbers without the files. Even if the source lacks a document now, a
    /// later pull then refuses an older one.
    fn without_files(&self) -> List {
        let served = self.releases.current().map(|(_, list)| list);
        List { files: BTreeMap::new(), ..served.unwrap_or_default() }
    }

    /// Downloads the archives of a release and writes its manifest.
    async fn release(
        &self,
        text: &[u8],
        trusted: &[VerifyingKey],
        list: &mut List,
    ) -> Result<usize, PullError> {
        let manifest = Manifest::open(&parse(text, MANIFEST_FILE)?, trusted)?;
        self.refuse_older(&manifest)?;
        let archives = self.archives(&manifest, list).await?;
        self.write(&manifest_of(&manifest.version), text, list)?;
        self.write(MANIFEST_FILE, text, list)?;
        list.counter = manifest.counter;
        list.version = manifest.version.to_string();
        Ok(archives)
    }

    fn refuse_older(&self, manifest: &Manifest) -> Result<(), PullError> {
        let Some((_, served)) = self.releases.current() else { return Ok(()) };
        let offered = manifest.version.to_string();
        let is_older =
            is_downgrade((&served.version, served.counter), (&offered, manifest.counter));
        if is_older && !self.allow_older {
            return Err(PullError::Older { offered, served: served.version });
        }
        Ok(())
    }

    async fn archives(&self, manifest: &Manifest, list: &mut List) -> Result<usize, PullError> {
        let count = manifest.archives.len();
        if count > ARCHIVES {
            return Err(PullError::Bounds(count));
        }
        for archive in &manifest.archives {
            let is_archive = archive.name.as_str().ends_with(".tar.gz");
            if !is_archive || archive.size_bytes > limits::RELEASE_SIZE_LIMIT {
                return Err(PullError::Bounds(count));
            }
            let (size, sha256) = (archive.size_bytes, &archive.sha256);
            if !self.archive(&archive.name, size, sha256, list).await? {
                return Err(PullError::Missing(archive.name.as_str().to_owned()));
            }
        }
        Ok(count)
    }

    /// Downloads the engine index and the engines next to it. Returns the serial number and the number of engines.
    async fn engines(
        &self,
        trusted: &[VerifyingKey],
        list: &mut List,
    ) -> Result<Option<(u64, usize)>, PullError> {
        let text = self.place.document(INDEX_FILE, limits::SIGNED_DOCUMENT_LIMIT).await?;
        let Some(text) = text else { return Ok(None) };
        let served = self.releases.current().and_then(|(_, list)| list.serial);
        let known = served.filter(|_| !self.allow_older);
        let issue = Issue::<EngineIndex>::read(&text, trusted, known);
        let issue = issue.map_err(|refused| refusal("engine index", refused, PullError::Index))?;
        let mut fetched = 0;
        for build in &issue.document.builds {
            let there = self.archive(&build.file, build.size_bytes, &build.sha256, list).await?;
            match (there, &build.url) {
                (true, _) => fetched += 1,
                // Devices download this engine from the URL in the index.
                (false, Some(_)) => fs::remove_file(&self.staged.join(build.file.as_str()))?,
                (false, None) => return Err(PullError::Missing(build.file.as_str().to_owned())),
            }
        }
        self.write(INDEX_FILE, &text, list)?;
        Ok(Some((issue.serial, fetched)))
    }

    /// Downloads the model catalogue. Returns the serial number and the number of models. Devices download model files
    /// from the URLs in the catalogue.
    async fn catalogue(
        &self,
        trusted: &[VerifyingKey],
        list: &mut List,
    ) -> Result<Option<(u64, usize)>, PullError> {
        let text = self.place.document(CATALOGUE_FILE, limits::SIGNED_DOCUMENT_LIMIT).await?;
        let Some(text) = text else { return Ok(None) };
        let served = self.releases.current().and_then(|(_, list)| list.catalogue_serial);
        let known = served.filter(|_| !self.allow_older);
        let issue = Issue::<Catalogue>::read(&text, trusted, known);
        let issue =
            issue.map_err(|refused| refusal("model catalogue", refused, PullError::Catalogue))?;
        self.write(CATALOGUE_FILE, &text, list)?;
        Ok(Some((issue.serial, issue.document.models.len())))
    }

    async fn archive(
        &self,
        name: &FileName,
        size_bytes: u64,
        sha256: &Sha256Hex,
        list: &mut List,
    ) -> Result<bool, PullError> {
        let name = name.as_str();
        if list.files.contains_key(name) {
            return Err(PullError::Bounds(list.files.len()));
        }
        let path = self.staged.join(name);
        let there = self.place.file(name, &path, size_bytes, sha256).await?;
        if there {
            list.files.insert(name.to_owned(), Listed { size_bytes, sha256: sha256.clone() });
        }
        Ok(there)
    }

    fn write(&self, name: &str, text: &[u8], list: &mut List) -> Result<(), PullError> {
        fs::write_atomic(&self.staged.join(name), text)?;
        let sha256 = Sha256Hex::from_digest(&Sha256::digest(text));
        list.files.insert(name.to_owned(), Listed { size_bytes: text.len() as u64, sha256 });
        Ok(())
    }
}

/// Returns the error for a refused document.
fn refusal(
    what: &'static str,
    refused: RefusedDocument,
    untrusted: fn(RefusedDocument) -> PullError,
) -> PullError {
    match refused {
        RefusedDocument::Older { known, offered } => {
            PullError::OlderDocument { what, offered, served: known }
        }
        RefusedDocument::Unsigned
        | RefusedDocument::Untrusted(_)
        | RefusedDocument::NotTheDocument
        | RefusedDocument::Faulty(_) => untrusted(refused),
    }
}

fn parse<T: serde::de::DeserializeOwned>(text: &[u8], name: &'static str) -> Result<T, PullError> {
    serde_json::from_slice(text).map_err(|_| PullError::Malformed(name))
}

#[cfg(test)]
mod tests;
