//! The options of the zenoh transport.

use std::path::PathBuf;

use clap::Args;
use link_backend::zenoh::ZenohConfig;

/// The zenoh transport; without an endpoint or a router there is none.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Zenoh")]
pub(crate) struct Zenoh {
    /// Endpoint of the built-in router, such as `tls/0.0.0.0:7447`. May be given several times.
    #[arg(
        long = "zenoh-listen",
        env = "LINK_BACKEND_ZENOH_LISTEN",
        value_delimiter = ',',
        value_name = "ENDPOINT"
    )]
    zenoh_listen: Vec<String>,
    /// Endpoint that devices are told, where it is not the one that is listened on.
    #[arg(
        long = "zenoh-endpoint",
        env = "LINK_BACKEND_ZENOH_ENDPOINT",
        value_delimiter = ',',
        value_name = "ENDPOINT"
    )]
    zenoh_endpoints: Vec<String>,
    /// Router that runs beside, in the place of the built-in one.
    #[arg(
        long = "zenoh-router",
        env = "LINK_BACKEND_ZENOH_ROUTER",
        value_delimiter = ',',
        value_name = "ENDPOINT",
        conflicts_with = "zenoh_listen",
        requires = "zenoh_files"
    )]
    zenoh_routers: Vec<String>,
    /// Folder for the users and rules of routers that run beside.
    #[arg(long = "zenoh-files", env = "LINK_BACKEND_ZENOH_FILES", value_name = "DIR")]
    zenoh_files: Option<PathBuf>,
    /// Certificate chain of the router in PEM; without it the router has an authority of its own.
    #[arg(
        long = "zenoh-certificate",
        env = "LINK_BACKEND_ZENOH_CERTIFICATE",
        value_name = "FILE",
        requires = "zenoh_key"
    )]
    zenoh_certificate: Option<PathBuf>,
    /// Private key of that certificate in PEM.
    #[arg(
        long = "zenoh-key",
        env = "LINK_BACKEND_ZENOH_KEY",
        value_name = "FILE",
        requires = "zenoh_certificate"
    )]
    zenoh_key: Option<PathBuf>,
    /// Free slots that the router opens with at least.
    #[arg(
        long = "zenoh-reserve",
        env = "LINK_BACKEND_ZENOH_RESERVE",
        value_name = "N",
        default_value_t = ZenohConfig::default().bounds.reserve
    )]
    zenoh_reserve: u32,
}

impl Zenoh {
    /// Returns what the transport is started with, when it is asked for.
    pub(crate) fn config(self) -> Option<ZenohConfig> {
        if self.zenoh_listen.is_empty() && self.zenoh_routers.is_empty() {
            return None;
        }
        let mut config = ZenohConfig {
            listen: self.zenoh_listen,
            endpoints: self.zenoh_endpoints,
            routers: self.zenoh_routers,
            files: self.zenoh_files,
            certificate: self.zenoh_certificate.zip(self.zenoh_key),
            ..ZenohConfig::default()
        };
        config.bounds.reserve = self.zenoh_reserve.min(config.bounds.most);
        Some(config)
    }
}
