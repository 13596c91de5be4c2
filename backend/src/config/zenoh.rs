//! What the zenoh transport is started with.

use std::path::PathBuf;

use crate::domain::slot::Bounds;

/// What the zenoh transport is started with.
#[derive(Clone, Debug)]
pub struct ZenohConfig {
    /// Endpoints that the router of this process listens on, such as `tls/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Endpoints that devices are told; those of `listen` when it is empty.
    pub endpoints: Vec<String>,
    /// Routers that run beside: this process joins them as the user `backend` and listens to nothing.
    pub routers: Vec<String>,
    /// Where the users and rules of such routers are written.
    pub files: Option<PathBuf>,
    /// The certificate chain and the private key that the router shows, in PEM. Without them it
    /// shows one of an authority of its own, which devices are told.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The certificate authority of routers that run beside, in PEM; without it public ones are
    /// meant.
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
