//! The trusted root certificates: the system's, unless the configuration of this process names
//! others.

use std::sync::OnceLock;

use link_platform::fs::{self, FileError};
use link_protocol::config::RootCa;
use reqwest::Certificate;

/// The largest certificate file, in bytes.
const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

static ROOTS: OnceLock<Vec<Certificate>> = OnceLock::new();

/// The certificates are unusable.
#[derive(Debug, thiserror::Error)]
pub enum NoRoots {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file contains no certificates.
    #[error("`{0}` holds no certificates in PEM")]
    NoPem(String),
}

/// Sets the root certificates that this process trusts. `auto` selects the bundled store of this
/// program instead of the system's store. The certificates of a file are added to the bundled
/// store, so that a private backend and a public mirror are both reachable. Only the first call has
/// an effect.
///
/// # Errors
/// [`NoRoots`] if the certificates are unusable. Nothing has changed then.
pub fn trust(root: &RootCa) -> Result<(), NoRoots> {
    let mut roots = bundled();
    if let RootCa::File(path) = root {
        let text = fs::read_limited(path.as_ref(), SIZE_LIMIT)?;
        let given = Certificate::from_pem_bundle(text.as_bytes()).unwrap_or_default();
        if given.is_empty() {
            return Err(NoRoots::NoPem(path.clone()));
        }
        roots.extend(given);
    }
    let _first_counts = ROOTS.set(roots);
    Ok(())
}

/// Returns the configured root certificates, if any.
pub(crate) fn trusted() -> Option<Vec<Certificate>> {
    ROOTS.get().cloned()
}

fn bundled() -> Vec<Certificate> {
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
    roots.filter_map(|root| Certificate::from_der(root).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Holds: S2.3-5b
    #[test]
    fn auto_is_the_bundled_store_and_a_file_must_hold_certificates() {
        assert!(bundled().len() > 100, "{}", bundled().len());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        let file = RootCa::from(path.display().to_string());
        assert!(matches!(trust(&file), Err(NoRoots::File(_))));
        fs::write_atomic(&path, b"no certificate").unwrap();
        assert!(matches!(trust(&file), Err(NoRoots::NoPem(_))));
        assert!(trusted().is_none());
        trust(&RootCa::from("auto".to_owned())).unwrap();
        assert_eq!(trusted().map(|roots| roots.len()), Some(bundled().len()));
    }
}
