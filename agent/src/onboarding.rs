//! Just-in-time onboarding: a device with a key in its configuration registers itself
//! (specification, section 4.4).

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock")]

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use jiff::Timestamp;
use link_agent_core::backoff::Backoff;
use link_client::{
    enrolment::{Enrolment, NotEnrolled},
    http::{Failure, Http, HttpError},
    retry,
};
use link_platform::{fs, paths::Roots};
use link_protocol::{
    config::IdentityConfig,
    id::DeviceId,
    identity::Identity,
    key::{EnrolmentKey, KeyKind},
    problem::Code,
};
use tokio::time::Instant;

/// The registration attempts of one run of the agent.
#[derive(Debug)]
pub(crate) struct Onboarding {
    backoff: Backoff,
    next: Instant,
    /// The key that the backend refused; it is not sent again.
    refused: Option<EnrolmentKey>,
}

impl Onboarding {
    pub(crate) fn new() -> Self {
        Self { backoff: Backoff::new(), next: Instant::now(), refused: None }
    }

    /// Registers this device as `device_id`, or as a new device, if an attempt is due. A failure is
    /// logged and retried later; a refused key is only retried once the file holds a different key.
    pub(crate) async fn try_now(
        &mut self,
        config: &IdentityConfig,
        device_id: Option<DeviceId>,
        roots: &Roots,
    ) -> Option<Identity> {
        if Instant::now() < self.next {
            return None;
        }
        match self.enrol(config, device_id, roots).await {
            Ok(identity) => identity,
            Err(error) => {
                let asked = error.downcast_ref().and_then(NotEnrolled::retry_after);
                let wait = retry::no_sooner(self.backoff.ended(Duration::ZERO), asked);
                self.next = Instant::now() + wait;
                tracing::warn!(category = "security", "this device is not registered: {error:#}");
                None
            }
        }
    }

    async fn enrol(
        &mut self,
        config: &IdentityConfig,
        device_id: Option<DeviceId>,
        roots: &Roots,
    ) -> anyhow::Result<Option<Identity>> {
        let (path, key) = key_of(config)?;
        if self.refused.as_ref() == Some(&key) {
            return Ok(None);
        }
        let url = config.backend_url.as_deref().context("the configuration names no backend")?;
        let enrolment = Enrolment {
            roots,
            key: &key,
            device_id,
            name: config.name.as_deref(),
            before: None,
            agent_version: env!("CARGO_PKG_VERSION").parse()?,
            now: Timestamp::now(),
        };
        match enrolment.enrol(&Http::new(url)?).await {
            Ok(identity) => {
                tracing::info!(category = "security", "registered as {}", identity.device_id);
                if key.kind() == KeyKind::Registration {
                    fs::remove_file(&path)?;
                }
                Ok(Some(identity))
            }
            Err(NotEnrolled::Backend(Failure::Refused(error))) if condemns_the_key(&error) => {
                self.refused = Some(key);
                anyhow::bail!("{error}; put another key into `{}`", path.display());
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns whether a refusal concerns the key itself. Other refusals may be transient, for example
/// the login page of a captive network.
fn condemns_the_key(error: &HttpError) -> bool {
    let code = error.problem.as_ref().and_then(|problem| problem.known_code());
    matches!(
        code,
        Some(
            Code::KeyUnknown
                | Code::KeyExpired
                | Code::KeyRevoked
                | Code::KeyUsedUp
                | Code::KeyMistyped
                | Code::ProofRequired
        )
    )
}

/// Reads the configured key, and returns it with the path of its file.
fn key_of(config: &IdentityConfig) -> anyhow::Result<(PathBuf, EnrolmentKey)> {
    let named = match (&config.registration_key_file, &config.fleet_key_file) {
        (Some(path), _) => Some((path, KeyKind::Registration)),
        (None, Some(path)) => Some((path, KeyKind::Fleet)),
        (None, None) => None,
    };
    let (path, kind) = named.context("the configuration names no key")?;
    let path = Path::new(path);
    let text = fs::read_to_string(path)?;
    // The error message must not contain the key.
    let key = EnrolmentKey::parse(text.trim())
        .map_err(|error| anyhow::anyhow!("`{}`: {error}", path.display()))?;
    anyhow::ensure!(key.kind() == kind, "`{}` holds a key of another kind", path.display());
    Ok((path.to_owned(), key))
}
