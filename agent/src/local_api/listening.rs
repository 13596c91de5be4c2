//! The listeners of the local API: a port, a socket for programs of this user, and a file with the
//! port number for those programs.

use anyhow::Context as _;
use link_client::local;
use link_platform::{fs, paths::Roots, port_owner, private_socket};
use link_protocol::{limits, local_api::Listening as Written};
use semver::Version;
use tokio::{
    io::DuplexStream,
    net::TcpListener,
    sync::mpsc,
    time::{Duration, timeout},
};

/// The timeout of a health query by the guard.
const PATIENCE: Duration = Duration::from_secs(5);

/// The buffer size for an internal request or answer, in bytes.
const ON_THE_WAY: usize = 16 * 1024;

/// The requested port of the local API.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct WantedPort {
    port: u16,
    /// Whether any other port is acceptable if this one is taken.
    or_another: bool,
}

/// Another program uses the requested port. This error does not mean that the version is faulty.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct PortTaken(String);

/// A connection of this process to its own API.
#[derive(Clone, Debug)]
pub(crate) struct OwnDoor {
    pub(crate) port: u16,
    pub(super) door: mpsc::Sender<DuplexStream>,
}

impl WantedPort {
    /// A port that a person has chosen is required, also if it is the default one; the default port is only preferred.
    pub(crate) fn of(given: Option<u16>, configured: Option<u16>) -> Self {
        let chosen = given.or(configured);
        Self { port: chosen.unwrap_or(limits::LOCAL_API_PORT), or_another: chosen.is_none() }
    }

    /// Binds the port, or another one if that is acceptable.
    pub(super) async fn bind(self) -> anyhow::Result<TcpListener> {
        let wanted = TcpListener::bind(("127.0.0.1", self.port)).await;
        match wanted {
            Err(error) if self.or_another => {
                let listener = TcpListener::bind(("127.0.0.1", 0)).await;
                let listener = listener.context("the local API cannot bind a port")?;
                let port = listener.local_addr().context("the local API has no address")?.port();
                let taken = taken(self.port, &error);
                tracing::warn!("{taken} ({error}); the local API listens on port {port}");
                Ok(listener)
            }
            Err(error) if port_owner::is_taken(&error) => {
                Err(anyhow::Error::new(PortTaken(taken(self.port, &error))))
            }
            Err(error) => {
                let taken = taken(self.port, &error);
                Err(anyhow::Error::new(error).context(taken))
            }
            bound => Ok(bound?),
        }
    }
}

/// Listens on the socket. Without a socket, programs of this user connect to the port.
pub(super) fn bind_socket(roots: &Roots) -> Option<private_socket::Listener> {
    let path = roots.control_socket();
    private_socket::Listener::bind(&path)
        .inspect_err(|error| {
            tracing::warn!(
                "cannot create the socket `{}`: {error}; programs use the port of the local API",
                path.display()
            );
        })
        .ok()
}

/// Writes the address of the API to a file for programs of this user.
pub(super) fn write_down(roots: &Roots, port: u16) {
    let written = Written { port, pid: std::process::id() };
    let text = serde_json::to_vec(&written).expect("a port and a process have a text");
    if let Err(error) = fs::write_private(&roots.local_api(), &text) {
        tracing::warn!("{error}");
    }
}

/// Removes the files that announce the API.
pub(super) fn strike_out(roots: &Roots) {
    for path in [roots.local_api(), roots.control_socket()] {
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!("{error}");
        }
    }
}

impl OwnDoor {
    /// Queries `/healthz` like any client, but in memory, because other clients could exhaust the
    /// file descriptors. Returns the reported version, or `None` without an answer.
    pub(crate) async fn version(&self) -> Option<Version> {
        let (ours, theirs) = tokio::io::duplex(ON_THE_WAY);
        let ask = async {
            self.door.send(theirs).await.ok()?;
            local::healthz_over(ours).await.ok()
        };
        Some(timeout(PATIENCE, ask).await.ok()??.agent_version)
    }
}

fn taken(port: u16, error: &std::io::Error) -> String {
    if let Some(why) = port_owner::reserved(port, error) {
        return why;
    }
    match port_owner::find(port) {
        Some(owner) => format!(
            "the local API's port {port} is in use by {} (process {})",
            owner.program, owner.pid
        ),
        None => format!("cannot bind port {port} for the local API"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Holds: S4.2-3
    #[test]
    fn the_usual_port_is_tried_first_and_one_that_was_named_is_meant() {
        let usual = limits::LOCAL_API_PORT;
        assert_eq!(usual, 20505);
        let wanted = |port, or_another| WantedPort { port, or_another };
        assert_eq!(WantedPort::of(None, None), wanted(usual, true));
        assert_eq!(WantedPort::of(Some(usual), None), wanted(usual, false));
        assert_eq!(WantedPort::of(None, Some(usual)), wanted(usual, false));
        assert_eq!(WantedPort::of(None, Some(8080)), wanted(8080, false));
        assert_eq!(WantedPort::of(Some(1), Some(8080)), wanted(1, false));
    }

    #[tokio::test]
    async fn a_port_that_is_taken_gives_way_to_another_only_where_none_was_named() {
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = WantedPort { port, or_another: false }.bind().await.unwrap_err();
        assert!(error.is::<PortTaken>(), "{error:#}");
        let other = WantedPort { port, or_another: true }.bind().await.unwrap();
        assert_ne!(other.local_addr().unwrap().port(), port);
    }
}
