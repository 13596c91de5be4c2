//! The router's certificate: a configured one, or one that the router's own authority issues. Devices remember the
//! authority, so it never changes.

use std::{io, path::Path};

use anyhow::Context as _;
use link_platform::fs;
use link_protocol::secret::Secret;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

const AUTHORITY_KEY: &str = "authority.key";

/// The router's certificate and the authority that its clients trust, as PEM.
#[derive(Debug)]
pub(super) struct Certificates {
    /// `None` if clients trust the certificate already.
    pub(super) authority: Option<String>,
    pub(super) chain: String,
    pub(super) key: Secret,
}

impl Certificates {
    /// Reads a configured certificate.
    pub(super) fn read(chain: &Path, key: &Path) -> anyhow::Result<Self> {
        let read = |path: &Path| {
            std::fs::read_to_string(path)
                .with_context(|| format!("failed to read `{}`", path.display()))
        };
        Ok(Self { authority: None, chain: read(chain)?, key: Secret::new(read(key)?) })
    }

    /// Issues a certificate for `names` by the authority in `folder`. The first call creates the authority.
    pub(super) fn open(folder: &Path, mut names: Vec<String>) -> anyhow::Result<Self> {
        names.extend(["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()]);
        names.sort_unstable();
        names.dedup();
        let authority_key = authority_key(&folder.join(AUTHORITY_KEY))?;
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "Link router authority");
        let authority = params.self_signed(&authority_key)?.pem();
        let issuer = Issuer::new(params, authority_key);
        let key = KeyPair::generate()?;
        let mut server = CertificateParams::new(names)?;
        server.distinguished_name = DistinguishedName::new();
        server.distinguished_name.push(DnType::CommonName, "Link router");
        let chain = server.signed_by(&key, &issuer)?.pem();
        Ok(Self { authority: Some(authority), chain, key: Secret::new(key.serialize_pem()) })
    }
}

fn authority_key(path: &Path) -> anyhow::Result<KeyPair> {
    let shown = path.display();
    match std::fs::read_to_string(path) {
        Ok(text) => KeyPair::from_pem(&text).with_context(|| format!("`{shown}` holds no key")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = KeyPair::generate()?;
            fs::write_private(path, key.serialize_pem().as_bytes())?;
            Ok(key)
        }
        Err(error) => Err(error).with_context(|| format!("failed to read `{shown}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_outlives_the_router() {
        let folder = tempfile::tempdir().unwrap();
        let first = Certificates::open(folder.path(), vec!["link.example".to_owned()]).unwrap();
        let kept = std::fs::read_to_string(folder.path().join(AUTHORITY_KEY)).unwrap();
        let second = Certificates::open(folder.path(), Vec::new()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join(AUTHORITY_KEY)).unwrap(), kept);
        assert_ne!(first.chain, second.chain);
        std::fs::write(folder.path().join(AUTHORITY_KEY), "no key").unwrap();
        assert!(Certificates::open(folder.path(), Vec::new()).is_err());
    }
}
