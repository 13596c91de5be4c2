//! The configuration of the zenoh transport.

use std::path::PathBuf;

use crate::domain::slot::Bounds;

/// The configuration of the zenoh transport.
#[derive(Clone, Debug)]
pub struct ZenohConfig {
    /// Endpoints that the router of this process listens on, such as `tls/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Endpoints that devices use; if empty, those of `listen`.
    pub endpoints: Vec<String>,
    /// External routers. This process joins them as the user `backend` and does not listen itself.
    pub routers: Vec<String>,
    /// The folder for the users and rules of external routers.
    pub files: Option<PathBuf>,
    /// The certificate chain and the private key of the router, in PEM. Without them the router uses an authority of its own,
    /// which devices learn from the backend.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The certificate authority of external routers, in PEM; without it, the public authorities count.
    pub authority: Option<PathBuf>,
    pub bounds: Bounds,
}

impl Default for ZenohConfig {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            endpoints: Vec::new(),
            routers: Vec::new(),
            files: None,
            certificate: None,
            authority: None,
            bounds: Bounds { reserve: 64, most: 10_000 },
        }
    }
}
