//! Downloads the archive of a plugin by the name of the plugin.
//!
//! Beside the archives of a publisher, `ID.signature.json` is the signature of the newest archive. It says which version
//! that is, and so how the archive is called. Nothing is downloaded before the signature is verified.

use std::path::{Path, PathBuf};

use link_client::transfer::TransferError;
use link_platform::fs;
use link_protocol::{
    limits::SIGNED_DOCUMENT_LIMIT,
    plugin_archive::{PluginArchive, SIGNATURE_SUFFIX, archive_name},
    release::{Archive, KEYS_FILE, Package},
    signed_document::Issue,
    signing::Signed,
};
use tokio::sync::watch;

use super::archive::{ArchiveError, beside};
use crate::{
    owner_keys::OwnerKeys,
    signers::Signers,
    source::{Source, SourceError},
    trust::Trust,
};

/// A plugin that is looked up by its id.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub id: &'a str,
    pub trust: &'a Trust,
    pub owner_keys: &'a OwnerKeys,
    /// The places where publishers' archives may be, in the order in which they are tried.
    pub sources: &'a [Source],
}

/// The archive of a plugin could not be downloaded.
#[derive(Debug, thiserror::Error)]
pub enum NamedError {
    #[error("it is not known where plugins come from")]
    NoSource,
    #[error("no source has the plugin `{id}`: {}", .looked_for.join(", "))]
    Nowhere { id: String, looked_for: Vec<String> },
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the archive could not be downloaded: {0}")]
    Download(TransferError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// A signature that a source has, and the keys beside it.
struct Found {
    source: Source,
    signature: Vec<u8>,
    chain: Option<Vec<u8>>,
    statement: PluginArchive,
}

impl Named<'_> {
    /// Downloads the newest archive with its signature into the folder `into`, and returns the path of the archive.
    ///
    /// # Errors
    /// [`NamedError`]. The first source that has the plugin decides.
    pub async fn download(&self, into: &Path) -> Result<PathBuf, NamedError> {
        let Found { source, signature, chain, statement } = self.find().await?;
        let PluginArchive { plugin, version, size_bytes, sha256 } = statement;
        let name = archive_name(&plugin, &version);
        let path = into.join(&name);
        let name = name.parse().map_err(|error| ArchiveError::Contents {
            archive: path.clone(),
            reason: format!("{error}"),
        })?;
        let (target, package) = (String::new(), Package::default());
        let archive = Archive { target, package, name, size_bytes, sha256 };
        let (progress, _seen) = watch::channel(0);
        source.fetch(&archive, &path, &progress).await.map_err(NamedError::Download)?;
        let files =
            [(Some(signature), beside(&path, SIGNATURE_SUFFIX)), (chain, into.join(KEYS_FILE))];
        for (content, path) in files {
            if let Some(content) = content {
                fs::write_private(&path, &content).map_err(ArchiveError::from)?;
            }
        }
        Ok(path)
    }

    async fn find(&self) -> Result<Found, NamedError> {
        if self.sources.is_empty() {
            return Err(NamedError::NoSource);
        }
        let file = format!("{}{SIGNATURE_SUFFIX}", self.id);
        let mut looked_for = Vec::new();
        for source in self.sources {
            let place = PathBuf::from(source.address(&file));
            let Some(signature) = source.document(&file, SIGNED_DOCUMENT_LIMIT).await? else {
                looked_for.push(place.display().to_string());
                continue;
            };
            let chain = source.document(KEYS_FILE, SIGNED_DOCUMENT_LIMIT).await?;
            let statement = self.statement(&place, &signature, chain.as_deref())?;
            return Ok(Found { source: source.clone(), signature, chain, statement });
        }
        Err(NamedError::Nowhere { id: self.id.to_owned(), looked_for })
    }

    /// Verifies the signature at `place`.
    fn statement(
        &self,
        place: &Path,
        signature: &[u8],
        chain: Option<&[u8]>,
    ) -> Result<PluginArchive, ArchiveError> {
        let chain: Vec<Signed> = match chain {
            Some(text) => serde_json::from_slice(text)
                .map_err(|_malformed| ArchiveError::Chain(place.to_owned(), None))?,
            None => Vec::new(),
        };
        let signers = Signers::new(self.trust, &chain, &self.owner_keys.list()?)
            .map_err(|refused| ArchiveError::Chain(place.to_owned(), Some(refused)))?;
        let issue = Issue::<PluginArchive>::read(signature, &signers.keys(), None);
        let issue =
            issue.map_err(|source| ArchiveError::Refused { archive: place.to_owned(), source })?;
        if issue.document.plugin != self.id {
            let signed = archive_name(&issue.document.plugin, &issue.document.version);
            return Err(ArchiveError::Name { archive: place.to_owned(), signed });
        }
        Ok(issue.document)
    }
}
