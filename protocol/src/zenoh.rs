//! The control plane over zenoh: the bodies of the HTTP API on keys, with proofs beside them.
//!
//! A device has a *slot*: a user of the router that may use the keys below
//! [`PREFIX`]`/{slot}` and no others. What HTTP has after `/api/v1/agent/{device_id}/` stands here
//! after `up/`; the backend knows whose slot it is. Commands are queries of the backend whose reply
//! is the receipt. A router is not trusted: commands are signed by the backend, and everything that
//! a device sends is signed by the device's key.

mod endpoint;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::endpoint::{Endpoint, InvalidEndpoint};
use crate::{
    limits,
    secret::Secret,
    signing::{SigningKey, Untrusted, VerifyingKey},
};

/// What every key of a device begins with; its slot follows.
pub const PREFIX: &str = "link/v1/dev";

/// Everything that devices send.
pub const UPLINKS: &str = "link/v1/dev/*/up/**";

/// The liveliness tokens of all devices.
pub const PRESENCE: &str = "link/v1/dev/*/live";

/// The user that a backend is, at a router that is a process of its own.
pub const BACKEND_USER: &str = "backend";

/// The largest message, in bytes: a body as large as HTTP takes, its key and its proof.
pub const MAX_MESSAGE: usize = limits::JSON_BODY_LIMIT + 4096;

/// The size of a buffer of a session, in bytes, on both sides: nearly every message fits, and what
/// does not goes in pieces. A router has several for each device.
pub const BUFFER: u16 = 16 * 1024;

/// A user of a router: it may use `link/v1/dev/{name}/**` and nothing else.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Slot(String);

/// Where the router is and who the device is there: the answer to `POST`
/// [`zenoh_path`](crate::agent_api::zenoh_path).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ZenohAccess {
    /// Endpoints of the router, such as `tls/link.example:7447`; the scheme decides on TLS.
    pub endpoints: Vec<String>,
    /// The device's user, which is also the name of its slot.
    pub username: String,
    pub password: Secret,
    /// The certificate authority of the router in PEM; without it public ones are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_ca: Option<String>,
}

/// What a message does to the key it is sent to, as over HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verb {
    Get,
    Post,
    Put,
    /// The answer to a delivery.
    Receipt,
}

/// What stands beside a body of a device: the verb, and a signature over verb, key and body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    pub verb: Verb,
    /// Ed25519, in base64url without padding.
    pub signature: String,
}

impl Slot {
    /// Makes the slot with a number.
    #[must_use]
    pub fn numbered(number: u32) -> Self {
        Self(format!("s{number}"))
    }

    /// Takes the name that a router knows a device by; nothing when that can be no part of a key.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(plain);
        (fits && name != BACKEND_USER).then(|| Self(name.to_owned()))
    }

    /// Returns its name, which is the name of its user.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns its number, when it is one of the backend's own slots.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.0.strip_prefix('s')?.parse().ok()
    }

    /// Returns everything that its device may use.
    #[must_use]
    pub fn space(&self) -> String {
        format!("{PREFIX}/{}/**", self.0)
    }

    /// Returns the key on which its device takes commands.
    #[must_use]
    pub fn commands(&self) -> String {
        format!("{PREFIX}/{}/cmd", self.0)
    }

    /// Returns the key of its device's liveliness token.
    #[must_use]
    pub fn presence(&self) -> String {
        format!("{PREFIX}/{}/live", self.0)
    }

    /// Returns the key that its device sends `tail` to, such as `hello`.
    #[must_use]
    pub fn uplink(&self, tail: &str) -> String {
        format!("{PREFIX}/{}/up/{tail}", self.0)
    }

    /// Reads a key of a device: its slot, and what follows.
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

    /// Returns its word.
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
    /// Signs `body`, which is sent to `key`.
    #[must_use]
    pub fn sign(device: &SigningKey, verb: Verb, key: &str, body: &[u8]) -> Self {
        Self { verb, signature: device.sign(&statement(verb, key, body)) }
    }

    /// Returns whether `device` sent `body` to `key`.
    ///
    /// # Errors
    /// [`Untrusted::BadSignature`].
    pub fn verify(&self, device: &VerifyingKey, key: &str, body: &[u8]) -> Result<(), Untrusted> {
        device.verify(&statement(self.verb, key, body), &self.signature)
    }

    /// Writes it as an attachment.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{} {}", self.verb.as_str(), self.signature)
    }

    /// Reads an attachment.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (verb, signature) = text.split_once(' ')?;
        let verb = Verb::ALL.into_iter().find(|known| known.as_str() == verb)?;
        Some(Self { verb, signature: signature.to_owned() })
    }
}

/// The verb and the key end in a newline, which neither can hold: no two messages have one statement.
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
