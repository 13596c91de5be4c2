//! The source of a pull: a folder on a web server or on this machine. Every file has a size limit and is hashed while
//! it arrives.

#![expect(clippy::disallowed_types, reason = "IO shell: reads a mirror and writes what it answers")]

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use link_protocol::command::Sha256Hex;
use reqwest::{StatusCode, Url, redirect};
use sha2::{Digest as _, Sha256};

/// How long a server may pause within an answer.
const STALL: Duration = Duration::from_secs(30);
/// The maximum number of redirects.
const HOPS: usize = 5;

/// A folder with a release.
#[derive(Debug)]
pub enum Place {
    /// The address of the folder, without a trailing slash.
    Web {
        address: String,
        client: reqwest::Client,
    },
    Local(PathBuf),
}

/// A file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("releases come over https:// or from a folder, not from `{0}`")]
    Address(String),
    #[error("cannot set up TLS")]
    Client(#[source] reqwest::Error),
    #[error("{address} cannot be reached")]
    Unreachable {
        address: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("{address} answered {status}")]
    Status { address: String, status: StatusCode },
    #[error("{0} is longer than it may be, or than was announced")]
    TooLong(String),
    #[error("{0} does not have its checksum")]
    Altered(String),
    #[error("failed to read or write `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl Place {
    /// Parses a URL or the path of a folder. Plain http is accepted for this machine only.
    ///
    /// # Errors
    /// [`FetchError::Address`] for any other URL.
    pub fn parse(text: &str) -> Result<Self, FetchError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(Self::Local(text.into()));
        };
        if scheme == "file" {
            return Ok(Self::Local(rest.into()));
        }
        let refused = || FetchError::Address(text.to_owned());
        let url = Url::parse(text).map_err(|_| refused())?;
        if url.scheme() != "https" && !(url.scheme() == "http" && is_own(&url)) {
            return Err(refused());
        }
        // Another part of this process may have installed the provider already.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let policy = redirect::Policy::custom(|attempt| {
            let from = attempt.previous().first().map(Url::scheme);
            let (scheme, count) = (attempt.url().scheme(), attempt.previous().len());
            let is_safe = from == Some(scheme) && (scheme == "https" || is_own(attempt.url()));
            if is_safe && count <= HOPS { attempt.follow() } else { attempt.stop() }
        });
        let client = reqwest::Client::builder()
            .https_only(url.scheme() == "https")
            .connect_timeout(STALL)
            .read_timeout(STALL)
            .redirect(policy)
            .build()
            .map_err(FetchError::Client)?;
        Ok(Self::Web { address: text.trim_end_matches('/').to_owned(), client })
    }

    /// Reads a document of at most `limit` bytes. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// [`FetchError`].
    pub(super) async fn document(
        &self,
        name: &str,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, FetchError> {
        match self {
            Self::Local(folder) => {
                let path = folder.join(name);
                let Some(file) = open_plain(&path)? else { return Ok(None) };
                let mut document = Vec::new();
                let read = file.take(limit as u64 + 1).read_to_end(&mut document);
                read.map_err(|source| FetchError::File { path: path.clone(), source })?;
                match document.len() > limit {
                    true => Err(FetchError::TooLong(path.display().to_string())),
                    false => Ok(Some(document)),
                }
            }
            Self::Web { address, client } => {
                let address = format!("{address}/{name}");
                let Some(mut response) = get(client, &address).await? else { return Ok(None) };
                let mut document = Vec::new();
                while let Some(chunk) = chunk(&mut response, &address).await? {
                    document.extend_from_slice(&chunk);
                    if document.len() > limit {
                        return Err(FetchError::TooLong(address));
                    }
                }
                Ok(Some(document))
            }
        }
    }

    /// Downloads the file `name` to `path`. Returns false if it does not exist.
    ///
    /// # Errors
    /// [`FetchError`], also if the file is not the announced one.
    pub(super) async fn file(
        &self,
        name: &str,
        path: &Path,
        size_bytes: u64,
        sha256: &Sha256Hex,
    ) -> Result<bool, FetchError> {
        let failed = |source| FetchError::File { path: path.to_owned(), source };
        let mut target = Target {
            file: File::create(path).map_err(failed)?,
            hash: Sha256::new(),
            rest: size_bytes,
        };
        let from = match self {
            Self::Local(folder) => {
                let from = folder.join(name);
                let Some(mut file) = open_plain(&from)? else { return Ok(false) };
                let mut buffer = vec![0; 1024 * 1024];
                loop {
                    let read = file.read(&mut buffer);
                    let read =
                        read.map_err(|source| FetchError::File { path: from.clone(), source })?;
                    if read == 0 {
                        break;
                    }
                    target.write(&buffer[..read], &from.display().to_string(), path)?;
                }
                from.display().to_string()
            }
            Self::Web { address, client } => {
                let address = format!("{address}/{name}");
                let Some(mut response) = get(client, &address).await? else { return Ok(false) };
                while let Some(chunk) = chunk(&mut response, &address).await? {
                    target.write(&chunk, &address, path)?;
                }
                address
            }
        };
        if target.rest > 0 || Sha256Hex::from_digest(&target.hash.finalize()) != *sha256 {
            return Err(FetchError::Altered(from));
        }
        target.file.sync_all().map_err(failed)?;
        Ok(true)
    }
}

/// A file that is being downloaded.
struct Target {
    file: File,
    hash: Sha256,
    /// The remaining bytes.
    rest: u64,
}

impl Target {
    fn write(&mut self, bytes: &[u8], from: &str, path: &Path) -> Result<(), FetchError> {
        let too_long = || FetchError::TooLong(from.to_owned());
        self.rest = self.rest.checked_sub(bytes.len() as u64).ok_or_else(too_long)?;
        self.hash.update(bytes);
        let failed = |source| FetchError::File { path: path.to_owned(), source };
        self.file.write_all(bytes).map_err(failed)
    }
}

async fn get(
    client: &reqwest::Client,
    address: &str,
) -> Result<Option<reqwest::Response>, FetchError> {
    let sent = client.get(address).send().await;
    let unreachable = |source| FetchError::Unreachable { address: address.to_owned(), source };
    let response = sent.map_err(unreachable)?;
    match response.status() {
        StatusCode::OK => Ok(Some(response)),
        StatusCode::NOT_FOUND => Ok(None),
        status => Err(FetchError::Status { address: address.to_owned(), status }),
    }
}

async fn chunk(
    response: &mut reqwest::Response,
    address: &str,
) -> Result<Option<bytes::Bytes>, FetchError> {
    let unreachable = |source| FetchError::Unreachable { address: address.to_owned(), source };
    response.chunk().await.map_err(unreachable)
}

/// Tells whether a URL points to this machine.
fn is_own(url: &Url) -> bool {
    matches!(url.host_str(), Some("127.0.0.1" | "localhost"))
}

/// Opens a regular file: not a link, a pipe or a device.
fn open_plain(path: &Path) -> Result<Option<File>, FetchError> {
    let failed = |source| FetchError::File { path: path.to_owned(), source };
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => File::open(path).map(Some).map_err(failed),
        Ok(_) => Err(failed(io::Error::other("it is not a regular file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}
