//! The transports of the control plane. Each transport sends events and queries to the core through
//! the inbox.

#![expect(clippy::disallowed_methods, reason = "IO shell: random waits between retries")]

pub(crate) mod http;
pub(crate) mod zenoh;

use std::time::Duration;

use link_client::{
    agent::AgentClient,
    http::{Failure, Http, HttpError},
    retry,
};
use link_protocol::{
    envelope::Receipt, id::DeviceId, local_api::ConnectionState, registration::TransportType,
};

use self::zenoh::Link;

/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The wait after the backend has answered that it does not know the device.
const TURNED_AWAY_WAIT: Duration = Duration::from_secs(30);

/// Returns the transport in use. `has_session` is about the session with the router, and None if the configuration asks for
/// HTTP. A device that is connected without a session has fallen back to HTTP.
pub(crate) fn in_use(has_session: Option<bool>, state: ConnectionState) -> TransportType {
    match has_session {
        None => TransportType::Http,
        Some(false) if state == ConnectionState::Connected => TransportType::Http,
        Some(_) => TransportType::Zenoh,
    }
}

/// One kind of connection to the backend.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Http(Http),
    Zenoh(Link),
}

/// The connections of this agent to the backend.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    client: AgentClient,
    /// The session with the router, if zenoh is the transport.
    link: Option<Link>,
}

impl Ways {
    pub(crate) const fn new(client: AgentClient, link: Option<Link>) -> Self {
        Self { client, link }
    }

    pub(crate) const fn device(&self) -> DeviceId {
        self.client.device()
    }

    pub(crate) fn http(&self) -> Way {
        Way::Http(self.client.http().clone())
    }

    /// Returns the connection over zenoh. If zenoh is not the transport, this is HTTP (decision 0011).
    pub(crate) fn zenoh(&self) -> Way {
        self.link.clone().map_or_else(|| self.http(), Way::Zenoh)
    }

    /// Answers a delivery on the command channel.
    pub(crate) async fn receipt(&self, receipt: &Receipt) -> Result<(), Failure> {
        match &self.link {
            Some(link) => link.receipt(receipt).await,
            None => self.client.receipt(receipt).await,
        }
    }
}

/// The reason why a connection ended.
enum Ended {
    /// A retry may succeed soon, but no sooner than the backend asked.
    Broken { retry_after: Option<Duration> },
    /// The backend refused the device.
    Refused(HttpError),
}

impl Ended {
    /// The connection broke before the backend could ask for a wait.
    const BROKEN: Self = Self::Broken { retry_after: None };
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        let retry_after = failure.retry_after();
        match failure {
            Failure::Unavailable { .. } => Self::Broken { retry_after },
            Failure::Refused(error) if matches!(error.status, 401 | 403 | 404) => {
                Self::Refused(error)
            }
            // Other refusals, such as a newer poll of this device, are transient.
            Failure::Refused(error) => {
                tracing::warn!("the command channel was closed: {error}");
                Self::Broken { retry_after }
            }
        }
    }
}

/// Returns the wait after this many consecutive `failures`, but at least `retry_after`.
fn back_off(failures: u32, retry_after: Option<Duration>) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(6);
    jittered(Duration::from_secs(seconds).min(LONGEST_WAIT)).max(asked_for(retry_after))
}

/// Returns the wait that the backend asked for, up to a minute, plus a random fifth at most, so
/// that devices that were turned away together do not return together.
fn asked_for(retry_after: Option<Duration>) -> Duration {
    retry::no_sooner(Duration::ZERO, retry_after).mul_f64(rand::random_range(1.0..1.2))
}

/// Varies a wait at random by up to a fifth.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(rand::random_range(0.8..1.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_without_a_session_is_over_http() {
        use ConnectionState::{Connected, Connecting, Refused};
        for state in [Connected, Connecting, Refused] {
            assert_eq!(in_use(None, state), TransportType::Http);
            assert_eq!(in_use(Some(true), state), TransportType::Zenoh);
        }
        assert_eq!(in_use(Some(false), Connected), TransportType::Http);
        assert_eq!(in_use(Some(false), Connecting), TransportType::Zenoh);
        assert_eq!(in_use(Some(false), Refused), TransportType::Zenoh);
    }

    #[test]
    fn no_server_can_keep_the_command_channel_away_for_more_than_a_minute_and_a_fifth() {
        for failures in [0, 1, 7, u32::MAX] {
            let wait = back_off(failures, Some(Duration::MAX));
            assert!((LONGEST_WAIT..=LONGEST_WAIT.mul_f64(1.2)).contains(&wait), "{wait:?}");
        }
        assert!(back_off(7, Some(Duration::ZERO)) >= LONGEST_WAIT.mul_f64(0.8));
    }
}
