//! The transports of the control plane. Each is a source of events; what it needs of the core it
//! asks for through the inbox.

#![expect(clippy::disallowed_methods, reason = "IO shell: chance between tries")]

pub(crate) mod http;
pub(crate) mod zenoh;

use std::time::Duration;

use link_client::{
    agent::AgentClient,
    http::{Http, HttpError},
};
use link_protocol::{envelope::Receipt, id::DeviceId};

use self::zenoh::Link;

/// The longest wait before the next try.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long to wait after the backend has said that it does not know the device.
const TURNED_AWAY_WAIT: Duration = Duration::from_secs(30);

/// One way to the backend.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Http(Http),
    Zenoh(Link),
}

/// The ways by which this agent reaches the backend.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    client: AgentClient,
    /// The session with the router, when zenoh is the transport.
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

    /// A configuration that asks for zenoh without the transport was refused.
    pub(crate) fn zenoh(&self) -> Way {
        self.link.clone().map_or_else(|| self.http(), Way::Zenoh)
    }

    /// Answers a delivery on the command channel; false when that may be done again.
    pub(crate) async fn receipt(&self, receipt: &Receipt) -> Result<bool, HttpError> {
        match &self.link {
            Some(link) => link.receipt(receipt).await,
            None => self.client.receipt(receipt).await,
        }
    }
}

/// Why a connection ended.
enum Ended {
    /// It may work again soon.
    Broken,
    /// The backend refused the device.
    Refused(HttpError),
}

fn refused(error: HttpError) -> Ended {
    match error.status {
        401 | 403 | 404 => Ended::Refused(error),
        // Anything else, such as a newer poll of this device, passes.
        _ => {
            tracing::warn!("the command channel was closed: {error}");
            Ended::Broken
        }
    }
}

fn back_off(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(6);
    jittered(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// A fifth more or less.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(rand::random_range(0.8..1.2))
}
