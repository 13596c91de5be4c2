//! What a backend is started with.

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

/// How much memory one password hash takes, in KiB.
const PASSWORD_MEMORY_KIB: u32 = 19 * 1024;

/// The settings of a backend.
#[derive(Clone)]
pub struct Config {
    /// The folder that holds everything: the database, model files, the setup token.
    pub data: PathBuf,
    /// The database's address, when it is not a file in the data folder.
    pub database_url: Option<Secret>,
    /// Where model files are kept.
    pub content: Home,
    /// The address people and devices reach the backend at; shown in the OpenAPI document.
    pub public_url: Option<String>,
    /// The address of the workspace, when the backend does not serve it itself.
    pub workspace_url: Option<String>,
    /// The defaults of every account's allowlist, in the place of the backend's own origins.
    pub allowed_origins: Vec<Origin>,
    /// Who may share models with every account.
    pub sharing: Sharing,
    pub device_limit: u32,
    /// What else one account may have.
    pub quota: Quota,
    /// What uploads leave free on the disk of the data folder, in bytes.
    pub disk_reserve: u64,
    /// A proxy in front of the backend ends `X-Forwarded-For` with the address of its peer.
    pub behind_proxy: bool,
    /// How the owner proves to be the owner.
    pub owner_proof: OwnerProof,
    pub password_memory_kib: u32,
    /// Rows of token usage that are kept for each device.
    pub telemetry_kept: u32,
    /// Log records that are kept for each device.
    pub logs_kept: u32,
    /// How long what nobody needs any more is kept.
    pub retention: Retention,
    /// Devices that operations tell in a second.
    pub operation_rate: u32,
    pub clock: Arc<dyn Clock>,
}

impl Config {
    /// Returns the usual settings for a backend in the folder `data`.
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
