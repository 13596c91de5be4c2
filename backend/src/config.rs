//! The configuration of a backend.

pub mod client_address;
pub mod content;
pub mod fault;
pub mod file;
pub mod layers;
pub mod load;
pub mod operations;
pub mod owner_proof;
pub mod quota;
mod read;
pub mod sharing;
pub mod zenoh;

use std::{path::PathBuf, sync::Arc};

use link_protocol::{allowlist::Origin, limits, secret::Secret};

use crate::{
    config::owner_proof::OwnerProof,
    content::Home,
    domain::{quota::Quota, retention::Retention, sharing::Sharing},
    host::clock::{Clock, SystemClock},
};

/// The memory of one password hash, in KiB.
const PASSWORD_MEMORY_KIB: u32 = 19 * 1024;

/// The settings of a backend.
#[derive(Clone)]
pub struct Config {
    /// The data folder, with the database, model files and the setup token.
    pub data: PathBuf,
    /// The URL of the database, unless the database is a file in the data folder.
    pub database_url: Option<Secret>,
    /// The location of the model files.
    pub content: Home,
    /// The address at which people and devices reach the backend, shown in the OpenAPI document.
    pub public_url: Option<String>,
    /// The address of the workspace, if the backend does not serve it itself.
    pub workspace_url: Option<String>,
    /// The default allowlist of every account, instead of the backend's own origins.
    pub allowed_origins: Vec<Origin>,
    /// The accounts that may share models with every account.
    pub sharing: Sharing,
    pub device_limit: u32,
    /// The other quotas of an account.
    pub quota: Quota,
    /// The disk space that uploads leave free, in bytes.
    pub disk_reserve: u64,
    /// Whether a proxy in front of the backend appends the address of its peer to
    /// `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// How the owner proves their identity.
    pub owner_proof: OwnerProof,
    pub password_memory_kib: u32,
    /// The maximum number of token usage rows for each device.
    pub telemetry_kept: u32,
    /// The maximum number of log records for each device.
    pub logs_kept: u32,
    /// How long records are kept.
    pub retention: Retention,
    /// The number of devices per second to which operations send requests.
    pub operation_rate: u32,
    pub clock: Arc<dyn Clock>,
}

impl Config {
    /// Returns the default settings for a backend in the folder `data`.
    #[must_use]
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            database_url: None,
            content: Home::Folder,
            public_url: None,
            workspace_url: None,
            allowed_origins: Vec::new(),
            sharing: Sharing::default(),
            device_limit: limits::DEVICE_LIMIT,
            quota: quota::QuotaSection::default().quota(),
            disk_reserve: content::ContentSection::default().reserve_bytes(),
            behind_proxy: false,
            owner_proof: OwnerProof::default(),
            password_memory_kib: PASSWORD_MEMORY_KIB,
            telemetry_kept: file::TELEMETRY_KEPT,
            logs_kept: file::LOGS_KEPT,
            retention: file::RetentionSection::default().kept(),
            operation_rate: operations::OperationsSection::default().devices_per_second,
            clock: Arc::new(SystemClock),
        }
    }
}
