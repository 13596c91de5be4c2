//! The identity file: the registration of this device. `link register` writes it, the agent reads
//! it.
//!
//! The file contains two secrets, so only its owner can read it. A file of another schema version
//! is rejected before the rest is read (specification, section 2.3).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::{
    counter::Epoch,
    id::DeviceId,
    registration::TransportSettings,
    secret::Secret,
    signing::{SigningKey, VerifyingKey},
};

/// The schema version of the state files that this code writes and reads.
pub const SCHEMA_VERSION: &str = "2.1";

/// A registered device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Identity {
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: String,
    pub backend_url: String,
    pub device_id: DeviceId,
    /// The token in the device's requests to the backend.
    pub device_token: Secret,
    /// The epoch of this registration. Commands of another epoch have no effect.
    pub epoch: Epoch,
    pub transport: TransportSettings,
    /// The backend's keys, which sign commands.
    pub backend_keys: Vec<VerifyingKey>,
    /// The 32 bytes of the device's own key, in base64url without padding.
    pub private_key_seed: Secret,
}

/// The text is not an identity file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidIdentity {
    /// It was written by another version of Link.
    #[error("its schema version is `{0}`, and only `{SCHEMA_VERSION}` is read")]
    SchemaVersion(String),
    /// The text is not JSON, or a member is missing or wrong. The message contains no value from
    /// the text.
    #[error("it is damaged at line {line}, column {column}")]
    Damaged { line: usize, column: usize },
    /// The device's own key is invalid.
    #[error("its `private_key_seed` is not a key")]
    Key,
}

impl Identity {
    /// Reads an identity file.
    ///
    /// # Errors
    /// [`InvalidIdentity`]. Its message contains nothing from the file except the schema version.
    pub fn parse(text: &str) -> Result<Self, InvalidIdentity> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: String,
        }
        let damaged = |error: serde_json::Error| InvalidIdentity::Damaged {
            line: error.line(),
            column: error.column(),
        };
        let version: Version = serde_json::from_str(text).map_err(damaged)?;
        if version.schema_version != SCHEMA_VERSION {
            let shown = version.schema_version.chars().take(20).collect();
            return Err(InvalidIdentity::SchemaVersion(shown));
        }
        let identity: Self = serde_json::from_str(text).map_err(damaged)?;
        identity.signing_key().map(|_| identity)
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("an identity has only string keys");
        text.push('\n');
        text
    }

    /// Returns the device's own key pair.
    ///
    /// # Errors
    /// [`InvalidIdentity::Key`] when the seed does not have 32 bytes.
    pub fn signing_key(&self) -> Result<SigningKey, InvalidIdentity> {
        let seed = decode_seed(&self.private_key_seed).ok_or(InvalidIdentity::Key)?;
        Ok(SigningKey::from_seed(&seed))
    }
}

/// Encodes `seed` for [`Identity::private_key_seed`].
#[must_use]
pub fn encode_seed(seed: &[u8; 32]) -> Secret {
    Secret::new(URL_SAFE_NO_PAD.encode(seed))
}

/// Decodes a seed that [`encode_seed`] encoded.
#[must_use]
pub fn decode_seed(text: &Secret) -> Option<[u8; 32]> {
    URL_SAFE_NO_PAD.decode(text.expose()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registration::TransportType;

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let identity = identity();
        assert_eq!(Identity::parse(&identity.to_text()), Ok(identity.clone()));
        let public = SigningKey::from_seed(&[3; 32]).verifying().clone();
        assert_eq!(identity.signing_key().map(|key| key.verifying().clone()), Ok(public));
    }

    #[test]
    fn another_schema_version_is_rejected_before_the_rest_is_read() {
        let text = r#"{"schema_version": "2.0", "device": 1}"#;
        assert_eq!(Identity::parse(text), Err(InvalidIdentity::SchemaVersion("2.0".into())));
    }

    #[test]
    fn a_damaged_file_is_rejected_without_showing_what_it_holds() {
        let whole = identity().to_text();
        for end in 0..whole.trim_end().len() {
            let error = Identity::parse(&whole[..end]).unwrap_err();
            assert!(matches!(error, InvalidIdentity::Damaged { .. }), "{error}");
            assert!(!error.to_string().contains("canary"));
        }
        let seedless = Identity { private_key_seed: Secret::new("AAAA"), ..identity() };
        assert_eq!(Identity::parse(&seedless.to_text()), Err(InvalidIdentity::Key));
    }

    fn identity() -> Identity {
        Identity {
            schema_version: SCHEMA_VERSION.into(),
            backend_url: "https://link.example".into(),
            device_id: "dev_00000000000000000000000000000001".parse().unwrap(),
            device_token: Secret::new("canary"),
            epoch: Epoch(1),
            transport: TransportSettings { r#type: TransportType::Http },
            backend_keys: vec![SigningKey::from_seed(&[2; 32]).verifying().clone()],
            private_key_seed: encode_seed(&[3; 32]),
        }
    }
}
