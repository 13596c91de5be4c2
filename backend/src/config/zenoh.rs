//! The configuration of the zenoh transport.

use std::path::PathBuf;

use crate::domain::slot::Bounds;

/// The configuration of the zenoh transport.
#[derive(Clone, Debug)]
pub struct ZenohConfig {
    /// Endpoints that the gate of this process listens on, such as `tls/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Endpoints that devices use. If empty, the endpoints of `listen`.
    pub endpoints: Vec<String>,
    /// External routers. This process connects to them as the user `backend` and does not listen itself.
    pub routers: Vec<String>,
    /// The folder for the users and rules of external routers.
    pub files: Option<PathBuf>,
    /// The certificate chain and the private key of the router, in PEM. Without them the router uses its own authority,
    /// and devices get the authority's certificate from the backend.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The certificate authority of external routers, in PEM. Without it, the public authorities are trusted.
    pub authority: Option<PathBuf>,
    pub bounds: Bounds,
    /// The maximum number of slots of one built-in router.
    pub slots_per_router: u32,
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
            slots_per_router: 128,
        }
    }
}
