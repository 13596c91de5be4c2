//! The control plane over zenoh: the bodies of the HTTP API as messages on zenoh keys, each with a proof.
//!
//! A device has a *slot*: a user of the router that may only use the keys below [`PREFIX`]`/{slot}`. The part of an
//! HTTP path after `/api/v1/agent/{device_id}/` follows `up/` in a key; the backend knows which device has the slot. A
//! command is a query of the backend, and its reply is the receipt. The router is not trusted: the backend signs every
//! command, and the device signs every message that it sends.

mod endpoint;
mod session_id;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::{
    endpoint::{Endpoint, InvalidEndpoint},
    session_id::SessionId,
};
use crate::{
    limits,
    secret::Secret,
    signing::{SigningKey, Untrusted, VerifyingKey},
};

/// The prefix of every key of a device. The slot follows it.
pub const PREFIX: &str = "link/v1/dev";

/// The key expression of all messages that devices send.
pub const UPLINKS: &str = "link/v1/dev/*/up/**";

/// The key expression of the liveliness tokens of all devices.
pub const PRESENCE: &str = "link/v1/dev/*/live";

/// The backend's user at a router that is a separate process.
pub const BACKEND_USER: &str = "backend";

/// The largest message, in bytes: the largest body of the HTTP API, its key and its proof.
pub const MAX_MESSAGE: usize = limits::JSON_BODY_LIMIT + 4096;

/// The size of a session's buffer on both sides, in bytes. Nearly every message fits; larger messages are sent in
/// pieces. A router has several buffers for each device.
pub const BUFFER: u16 = 16 * 1024;

/// A user of a router, which may only use the keys `link/v1/dev/{name}/**`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Slot(String);

/// The endpoints of the router and the device's login there: the answer to `POST`
/// [`zenoh_path`](crate::agent_api::zenoh_path).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ZenohAccess {
    /// Endpoints of the router, such as `tls/link.example:7447`. The scheme decides on TLS.
    pub endpoints: Vec<String>,
    /// The device's user name, which is also the name of its slot.
    pub username: String,
    pub password: Secret,
    /// The certificate authority of the router in PEM. Absent: the public authorities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_ca: Option<String>,
}

/// The method of a message, as in HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verb {
    Get,
    Post,
    Put,
    /// The answer to a delivery.
    Receipt,
}

/// The attachment of a device's message: the verb, and a signature over verb, key and body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    pub verb: Verb,
    /// The Ed25519 signature, in base64url without padding.
    pub signature: String,
}

impl Slot {
    /// Returns the slot with this number.
    #[must_use]
    pub fn numbered(number: u32) -> Self {
        Self(format!("s{number}"))
    }

    /// Returns the slot of the router's user `name`. `None` if the name cannot be part of a key.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(plain);
        (fits && name != BACKEND_USER).then(|| Self(name.to_owned()))
    }

    /// Returns the name of the slot and of its user.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the number of the slot, if it is one of the backend's own slots.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.0.strip_prefix('s')?.parse().ok()
    }

    /// Returns the key expression of all keys that the slot's device may use.
    #[must_use]
    pub fn space(&self) -> String {
        format!("{PREFIX}/{}/**", self.0)
    }

    /// Returns the key on which the slot's device receives commands.
    #[must_use]
    pub fn commands(&self) -> String {
        format!("{PREFIX}/{}/cmd", self.0)
    }

    /// Returns the key of the device's liveliness token.
    #[must_use]
    pub fn presence(&self) -> String {
        format!("{PREFIX}/{}/live", self.0)
    }

    /// Returns the key to which the device sends messages for `tail`, such as `hello`.
    #[must_use]
    pub fn uplink(&self, tail: &str) -> String {
        format!("{PREFIX}/{}/up/{tail}", self.0)
    }

    /// Splits a key of a device into its slot and the rest.
    #[must_use]
    pub fn of_key(key: &str) -> Option<(Self, &str)> {
        let (name, tail) = key.strip_prefix(PREFIX)?.strip_prefix('/')?.split_once('/')?;
        Some((Self::named(name)?, tail))
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Verb {
    const ALL: [Self; 4] = [Self::Get, Self::Post, Self::Put, Self::Receipt];

    /// Returns the verb's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Receipt => "RECEIPT",
        }
    }
}

impl Proof {
    /// Signs `body`, which the device sends to `key`.
    #[must_use]
    pub fn sign(device: &SigningKey, verb: Verb, key: &str, body: &[u8]) -> Self {
        Self { verb, signature: device.sign(&statement(verb, key, body)) }
    }

    /// Verifies that `device` sent `body` to `key`.
    ///
    /// # Errors
    /// [`Untrusted::BadSignature`].
    pub fn verify(&self, device: &VerifyingKey, key: &str, body: &[u8]) -> Result<(), Untrusted> {
        device.verify(&statement(self.verb, key, body), &self.signature)
    }

    /// Returns the text of the attachment.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{} {}", self.verb.as_str(), self.signature)
    }

    /// Parses an attachment.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (verb, signature) = text.split_once(' ')?;
        let verb = Verb::ALL.into_iter().find(|known| known.as_str() == verb)?;
        Some(Self { verb, signature: signature.to_owned() })
    }
}

/// The verb and the key each end in a newline, which neither can contain, so no two messages have the same statement.
fn statement(verb: Verb, key: &str, body: &[u8]) -> Vec<u8> {
    [b"link zenoh v1\n", verb.as_str().as_bytes(), b"\n", key.as_bytes(), b"\n", body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let slot = Slot::numbered(17);
        assert_eq!(slot.number(), Some(17));
        assert_eq!(Slot::of_key(&slot.commands()), Some((slot.clone(), "cmd")));
        assert_eq!(Slot::of_key(&slot.presence()), Some((slot.clone(), "live")));
        let key = slot.uplink("commands/cmd_1/status");
        assert_eq!(key, "link/v1/dev/s17/up/commands/cmd_1/status");
        assert_eq!(Slot::of_key(&key), Some((slot, "up/commands/cmd_1/status")));
    }

    #[test]
    fn what_is_no_plain_name_is_no_slot() {
        for name in ["", "*", "a/b", "s1 ", "$*", "backend", &"s".repeat(65)] {
            assert_eq!(Slot::named(name), None, "{name:?}");
        }
        for key in ["link/v1/dev", "link/v1/dev/s1", "link/v1/dev/*/up/hello", "other/s1/cmd"] {
            assert_eq!(Slot::of_key(key), None, "{key:?}");
        }
    }

    #[test]
    fn a_proof_is_for_one_verb_key_and_body() {
        let device = SigningKey::from_seed(&[7; 32]);
        let proof = Proof::sign(&device, Verb::Post, "link/v1/dev/s1/up/hello", b"{}");
        let read = Proof::parse(&proof.to_text()).unwrap();
        assert_eq!(read, proof);
        let key = device.verifying();
        assert!(read.verify(key, "link/v1/dev/s1/up/hello", b"{}").is_ok());
        assert!(read.verify(key, "link/v1/dev/s2/up/hello", b"{}").is_err());
        assert!(read.verify(key, "link/v1/dev/s1/up/hello", b"{ }").is_err());
        let other = Proof { verb: Verb::Put, ..read.clone() };
        assert!(other.verify(key, "link/v1/dev/s1/up/hello", b"{}").is_err());
        let stranger = SigningKey::from_seed(&[8; 32]);
        assert!(read.verify(stranger.verifying(), "link/v1/dev/s1/up/hello", b"{}").is_err());
        for text in ["", "POST", "DELETE x", "post x"] {
            assert_eq!(Proof::parse(text), None, "{text:?}");
        }
    }
}
