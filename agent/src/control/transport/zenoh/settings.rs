//! The router's address and the device's credentials for it: from the configuration, otherwise from
//! the backend.

use std::sync::Arc;

use anyhow::Context as _;
use link_client::{agent::AgentClient, http::Failure};
use link_platform::fs;
use link_protocol::{
    config::{RootCa, TransportConfig},
    identity::Identity,
    secret::Secret,
    signing::SigningKey,
    zenoh::ZenohAccess,
};

/// The size limit of a certificate file, in bytes.
const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

/// The settings of a session.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(super) client: AgentClient,
    pub(super) key: Arc<SigningKey>,
    pub(super) fallback: bool,
    endpoints: Vec<String>,
    user: Option<(String, Secret)>,
    root_ca: Option<String>,
}

impl Settings {
    /// Reads the files that `config` names.
    pub(crate) fn read(
        config: &TransportConfig,
        client: AgentClient,
        identity: &Identity,
    ) -> anyhow::Result<Self> {
        let root_ca = match &config.tls_root_ca {
            None | Some(RootCa::Auto) => None,
            Some(RootCa::File(path)) => Some(fs::read_limited(path.as_ref(), SIZE_LIMIT)?),
        };
        Ok(Self {
            client,
            key: Arc::new(identity.signing_key().context("the device's own key")?),
            fallback: config.fallback,
            endpoints: config.endpoints.clone(),
            user: config.username.clone().zip(config.password.clone()),
            root_ca,
        })
    }

    /// Requests the settings that the configuration lacks from the backend.
    pub(super) async fn access(&self) -> Result<ZenohAccess, Failure> {
        let offered = match &self.user {
            Some((username, password)) if !self.endpoints.is_empty() => ZenohAccess {
                endpoints: Vec::new(),
                username: username.clone(),
                password: password.clone(),
                root_ca: None,
            },
            Some(_) | None => self.client.zenoh_access().await?,
        };
        let endpoints =
            if self.endpoints.is_empty() { offered.endpoints } else { self.endpoints.clone() };
        let (username, password) =
            self.user.clone().unwrap_or((offered.username, offered.password));
        let root_ca = self.root_ca.clone().or(offered.root_ca);
        Ok(ZenohAccess { endpoints, username, password, root_ca })
    }
}
