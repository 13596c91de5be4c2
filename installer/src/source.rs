//! The source of releases: a folder on a web server, or on this machine.

#![expect(clippy::disallowed_types, reason = "IO shell: reads a local release folder")]

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use link_client::{
    download,
    transfer::{self, Transfer, TransferError},
};
use link_protocol::{
    exit_code::ExitCode,
    release::{Archive, KEYS_FILE, MANIFEST_FILE, Manifest, RefusedRelease, manifest_of},
    signing::Signed,
};
use semver::Version;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use url::Url;

use crate::{
    trust::{Trust, VerifyError},
    unpacked::{hash, open_plain},
};

/// The size limit of a manifest or a list of keys, in bytes.
const DOCUMENT_LIMIT: usize = 1024 * 1024;
/// Timeout for the download of a small document.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder with releases.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Source {
    /// The address of the folder, without a slash at its end.
    Web(String),
    Local(PathBuf),
}

/// A release could not be found or verified.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("releases come over https:// or file:// only, not from `{0}`")]
    Address(String),
    #[error(
        "`{0}` does not name a folder: write its whole path, such as file:///srv/releases, or \
         file:///C:/releases on Windows"
    )]
    NoFolder(String),
    #[error("{address}: {reason}")]
    Unreachable { address: String, reason: String },
    #[error("there is no release to install at {0}")]
    Nothing(String),
    #[error("{0} is not of the form that a release has")]
    Malformed(String),
    #[error(
        "{0} is a web page and not a release; does this network ask you to log in first? then open \
         any page in a browser and try again"
    )]
    Page(String),
    #[error("the manifest cannot be trusted")]
    Untrusted(#[source] RefusedRelease),
    #[error(transparent)]
    Keys(#[from] VerifyError),
}

impl SourceError {
    /// Returns the exit code of a command that fails with this error.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Untrusted(_) => ExitCode::SignatureInvalid,
            Self::Keys(error) => error.exit_code(),
            Self::Nothing(_) => ExitCode::Failed,
            Self::Address(_)
            | Self::NoFolder(_)
            | Self::Unreachable { .. }
            | Self::Malformed(_)
            | Self::Page(_) => ExitCode::DownloadFailed,
        }
    }
}

impl Source {
    /// Parses an address. Plain http is accepted only for this machine.
    ///
    /// # Errors
    /// [`SourceError::NoFolder`] for a `file://` address without a whole path, and
    /// [`SourceError::Address`] for any other address.
    pub fn parse(whole: &str) -> Result<Self, SourceError> {
        let address = whole.trim_end_matches('/');
        let is_local = |rest: &str| {
            let host = rest.split(['/', ':']).next().unwrap_or_default();
            matches!(host, "127.0.0.1" | "localhost")
        };
        match whole.split_once("://") {
            Some(("file", _)) => folder_of(whole).map(Self::Local),
            Some(("https", _)) => Ok(Self::Web(address.to_owned())),
            Some(("http", rest)) if is_local(rest) => Ok(Self::Web(address.to_owned())),
            _ => Err(SourceError::Address(address.to_owned())),
        }
    }

    /// Reads and verifies the manifest of `version`, or that of the newest release.
    ///
    /// # Errors
    /// [`SourceError`].
    pub async fn manifest(
        &self,
        trust: &Trust,
        version: Option<&Version>,
    ) -> Result<Manifest, SourceError> {
        let keys: Vec<Signed> = self.json(KEYS_FILE).await?.unwrap_or_default();
        let named = match version {
            Some(version) => self.json(&manifest_of(version)).await?,
            None => None,
        };
        let signed: Option<Signed> = match named {
            Some(signed) => Some(signed),
            None => self.json(MANIFEST_FILE).await?,
        };
        let signed = signed.ok_or_else(|| SourceError::Nothing(self.address(MANIFEST_FILE)))?;
        let trusted = trust.with(&keys).map_err(SourceError::Untrusted)?;
        Manifest::open(&signed, &trusted).map_err(SourceError::Untrusted)
    }

    /// Fetches an archive to `path` and verifies its checksum. Resumes an interrupted download.
    ///
    /// # Errors
    /// [`TransferError`] if the archive cannot be fetched or its checksum differs.
    pub(crate) async fn fetch(
        &self,
        archive: &Archive,
        path: &Path,
        progress: &watch::Sender<u64>,
    ) -> Result<(), TransferError> {
        let name = archive.name.as_str();
        let Self::Local(folder) = self else {
            let source = transfer::Source { url: self.address(name), bearer: None };
            let (size_bytes, sha256) = (archive.size_bytes, &archive.sha256);
            return Transfer { source, size_bytes, sha256, path, progress }.run().await;
        };
        let copied = open_plain(&folder.join(name)).and_then(|file| {
            // Read one byte more than announced, so that the checksum of a longer file differs.
            let mut bytes = file.take(archive.size_bytes.saturating_add(1));
            io::copy(&mut bytes, &mut File::create(path)?)
        });
        let failed = |error: io::Error| TransferError::Failed(error.to_string());
        copied.map_err(failed)?;
        let (found, _) = hash(path).map_err(failed)?;
        if found != archive.sha256 {
            return Err(TransferError::Altered("it does not have its checksum".to_owned()));
        }
        Ok(())
    }

    /// Returns the address of a file in the folder.
    pub(crate) fn address(&self, name: &str) -> String {
        match self {
            Self::Web(address) => format!("{address}/{name}"),
            Self::Local(folder) => folder.join(name).display().to_string(),
        }
    }

    /// Reads a small document of at most `limit` bytes. None if it does not exist.
    ///
    /// # Errors
    /// [`SourceError::Unreachable`] if the document cannot be fetched or is longer than `limit`.
    pub(crate) async fn document(
        &self,
        name: &str,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, SourceError> {
        let address = self.address(name);
        let document = match self {
            Self::Web(_) => download::document(&address, limit, PATIENCE).await,
            Self::Local(folder) => read_bounded(&folder.join(name), limit),
        };
        document.map_err(|reason| SourceError::Unreachable { address, reason })
    }

    /// Reads a small JSON document. None if it does not exist.
    ///
    /// # Errors
    /// [`SourceError`] if the document cannot be fetched or is malformed.
    pub(crate) async fn json<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, SourceError> {
        let address = self.address(name);
        let Some(document) = self.document(name, DOCUMENT_LIMIT).await? else { return Ok(None) };
        let malformed = |_| match document.trim_ascii_start().starts_with(b"<") {
            true => SourceError::Page(address.clone()),
            false => SourceError::Malformed(address.clone()),
        };
        serde_json::from_slice(&document).map(Some).map_err(malformed)
    }
}

/// Returns the folder that a `file://` address names, in the form of this system: on Windows,
/// `file:///C:/releases` is `C:\releases`.
///
/// # Errors
/// [`SourceError::NoFolder`] if the address has no whole path.
fn folder_of(address: &str) -> Result<PathBuf, SourceError> {
    // As in `install.sh`, these characters belong to the name.
    let escaped = address.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    Url::parse(&escaped)
        .ok()
        .and_then(|url| url.to_file_path().ok())
        .ok_or_else(|| SourceError::NoFolder(address.to_owned()))
}

/// Reads a small document from a local folder. None if it does not exist.
fn read_bounded(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, String> {
    let file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut document = Vec::new();
    let one_too_many = limit as u64 + 1;
    file.take(one_too_many).read_to_end(&mut document).map_err(|error| error.to_string())?;
    if document.len() > limit {
        return Err(format!("the file is longer than {limit} bytes"));
    }
    Ok(Some(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_does_not_end_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST_FILE);
        assert_eq!(read_bounded(&path, DOCUMENT_LIMIT), Ok(None));
        let file = File::create(&path).unwrap();
        file.set_len(DOCUMENT_LIMIT as u64).unwrap();
        assert_eq!(read_bounded(&path, DOCUMENT_LIMIT).unwrap().unwrap().len(), DOCUMENT_LIMIT);
        file.set_len(1 << 40).unwrap();
        assert!(
            read_bounded(&path, DOCUMENT_LIMIT).unwrap_err().contains("longer than 1048576 bytes")
        );
        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        assert!(read_bounded(&device, DOCUMENT_LIMIT).unwrap_err().contains("not a regular file"));
    }

    #[test]
    fn releases_come_neither_over_plain_http_nor_from_anything_else() {
        for good in ["https://a.example/stable/", "file:///srv/link", "http://127.0.0.1:8000/r"] {
            assert!(Source::parse(good).is_ok(), "{good}");
        }
        for bad in ["http://a.example", "http://localhost.example/", "ftp://a.example", "/srv", ""]
        {
            assert!(matches!(Source::parse(bad), Err(SourceError::Address(_))), "{bad}");
        }
        for bad in ["file://srv/link", "file://../link", "file://./link"] {
            assert!(matches!(Source::parse(bad), Err(SourceError::NoFolder(_))), "{bad}");
        }
        let web = Source::parse("https://a.example/stable/").unwrap();
        assert_eq!(web.address("x"), "https://a.example/stable/x");
    }

    #[test]
    fn the_address_of_a_folder_has_its_name_as_it_is() {
        for (address, folder) in [
            ("file:///srv/link/", "/srv/link"),
            ("file://localhost/srv/link", "/srv/link"),
            ("file:///srv/my releases", "/srv/my releases"),
            ("file:///srv/my%20releases", "/srv/my%20releases"),
            ("file:///srv/Größe", "/srv/Größe"),
            ("file:///srv/100%", "/srv/100%"),
            ("file:///", "/"),
            ("file:///srv/a#b?c", "/srv/a#b?c"),
        ] {
            assert_eq!(Source::parse(address).unwrap(), Source::Local(folder.into()), "{address}");
        }
    }
}
