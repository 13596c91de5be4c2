//! Registers this machine with a key: creates the device's own key pair, sends the request, and
//! writes the identity file.
//!
//! The key pair is on disk before the request is sent. If the answer is lost, the next registration
//! uses the same key pair.

use std::{path::PathBuf, time::Duration};

use jiff::Timestamp;
use link_platform::{
    facts,
    fs::{self, FileError},
    paths::Roots,
};
use link_protocol::{
    id::DeviceId,
    identity::{Identity, SCHEMA_VERSION, decode_seed, encode_seed},
    key::{EnrolmentKey, KeyKind},
    registration::{KeyProof, Platform, RegisterRequest, proof_statement},
    secret::Secret,
    signing::SigningKey,
};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::{
    agent,
    http::{Failure, Http},
};

/// The input of a registration.
#[derive(Debug)]
pub struct Enrolment<'a> {
    pub roots: &'a Roots,
    pub key: &'a EnrolmentKey,
    /// The existing device to re-activate on this machine. Absent for a new device.
    pub device_id: Option<DeviceId>,
    /// The name of the device. Absent for the host name.
    pub name: Option<&'a str>,
    /// The current registration of this machine, if the machine is to stay the same device.
    pub before: Option<&'a Identity>,
    pub agent_version: semver::Version,
    pub now: Timestamp,
}

/// The registration failed.
#[derive(Debug, thiserror::Error)]
pub enum NotEnrolled {
    /// The backend was unreachable, or refused the registration.
    #[error(transparent)]
    Backend(#[from] Failure),
    /// The key pair or the identity cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    #[error("the system provides no random numbers")]
    NoRandomness,
}

impl NotEnrolled {
    /// Returns how long the backend asked to wait.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Backend(failure) => failure.retry_after(),
            Self::File(_) | Self::NoRandomness => None,
        }
    }
}

impl Enrolment<'_> {
    /// Registers at `backend` and writes the identity file.
    ///
    /// # Errors
    /// [`NotEnrolled`]. A retry with the same input continues this registration.
    pub async fn enrol(&self, backend: &Http) -> Result<Identity, NotEnrolled> {
        fs::create_private_dir(&self.roots.state)?;
        let seed = self.seed()?;
        let request = self.request(&SigningKey::from_seed(&seed));
        let answer = agent::register(backend, &request).await?;
        let identity = Identity {
            schema_version: SCHEMA_VERSION.to_owned(),
            backend_url: backend.base().to_owned(),
            device_id: answer.device_id,
            device_token: answer.device_token,
            epoch: answer.epoch,
            transport: answer.transport,
            backend_keys: answer.backend_keys,
            private_key_seed: encode_seed(&seed),
        };
        fs::write_private(&self.roots.identity(), identity.to_text().as_bytes())?;
        fs::remove_file(&self.pending())?;
        Ok(identity)
    }

    fn request(&self, signing: &SigningKey) -> RegisterRequest {
        let hostname = facts::hostname();
        let before = self.before.map(|identity| identity.device_id);
        let device_id = self.device_id.or(before);
        // A known device keeps its key pair, so the key itself proves that the device agrees.
        let proof = device_id.filter(|id| before == Some(*id)).map(|id| {
            let statement = proof_statement(id, signing.verifying(), self.now);
            KeyProof { issued_at: self.now, signature: signing.sign(&statement) }
        });
        let of_kind = |kind| (self.key.kind() == kind).then(|| self.key.clone());
        RegisterRequest {
            registration_key: of_kind(KeyKind::Registration),
            fleet_key: of_kind(KeyKind::Fleet),
            device_id,
            name: self.name.unwrap_or(&hostname).to_owned(),
            keeps_name: self.name.is_none(),
            agent_version: self.agent_version.clone(),
            platform: Platform {
                os: facts::os().to_owned(),
                arch: facts::arch().to_owned(),
                hostname,
            },
            public_key: signing.verifying().clone(),
            proof,
        }
    }

    /// Returns the seed of the device's key pair: the current one, that of a registration whose
    /// answer was lost, or a new one.
    fn seed(&self) -> Result<[u8; 32], NotEnrolled> {
        let kept = match self.before {
            Some(identity) => Some(identity.private_key_seed.clone()),
            None => fs::read_to_string(&self.pending()).ok().map(|text| Secret::new(text.trim())),
        };
        if let Some(seed) = kept.and_then(|seed| decode_seed(&seed)) {
            return Ok(seed);
        }
        let mut seed = [0; 32];
        SystemRandom::new().fill(&mut seed).map_err(|_| NotEnrolled::NoRandomness)?;
        fs::write_private(&self.pending(), encode_seed(&seed).expose().as_bytes())?;
        Ok(seed)
    }

    fn pending(&self) -> PathBuf {
        self.roots.state.join("registration.pending")
    }
}
