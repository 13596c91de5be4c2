//! How a device is installed from this backend.

use serde::{Deserialize, Serialize};

use crate::release::Channel;

/// The installer of this backend. A page or a program puts a key in the place of `{key}` and, without `backend_url`,
/// the address under which it reached the backend in the place of `{backend}`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct InstallInfo {
    /// The address from which devices install and with which they register, if it is configured.
    pub backend_url: Option<String>,
    /// The published release. Without a release, the lines install nothing.
    pub release: Option<PublishedRelease>,
    /// The lines, one for each system.
    pub systems: Vec<InstallSystem>,
}

/// The release that this backend publishes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PublishedRelease {
    #[schema(value_type = String, example = "1.4.0")]
    pub version: semver::Version,
    #[schema(value_type = String, example = "stable")]
    pub channel: Channel,
}

/// The lines for one system.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct InstallSystem {
    /// `linux`, `macos` or `windows`.
    pub system: String,
    /// Whether the published release has an archive for this system. Without a release, absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<bool>,
    /// The program that reads the lines: `sh` or `powershell`.
    pub shell: String,
    /// The line for a registration key, which registers one device.
    pub registration_line: String,
    /// The line for a fleet key, which registers many devices.
    pub fleet_line: String,
}
