//! The configuration file of a backend: its keys, what each takes, and what holds without it.
//!
//! The JSON Schema, the environment's names and the list of known keys come from these types, so a
//! further key is a further field. No value is a secret: those stand in files of their own.

use std::{net::SocketAddr, path::PathBuf};

use jiff::SignedDuration;
use link_protocol::{allowlist::Origin, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    config::{
        client_address::ClientAddress,
        content::ContentSection,
        operations::OperationsSection,
        owner_proof::OwnerProof,
        quota::QuotaSection,
        read::{SECONDS_LIMIT, address, count, filter, seconds, some_address, web_address},
        sharing::SharingSection,
        zenoh::ZenohConfig,
    },
    domain::{retention::Retention, slot::Bounds},
};

/// The configuration of link-backend.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Configuration of link-backend", inline)]
pub struct ConfigFile {
    /// The folder that holds everything; a relative path starts at the folder of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// The address to listen on; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// The address that people and devices reach this backend at.
    #[serde(deserialize_with = "web_address", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^https?://"))]
    pub public_url: Option<String>,
    /// The address of the workspace, when this backend does not serve it itself.
    #[serde(deserialize_with = "web_address", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^https?://"))]
    pub workspace_url: Option<String>,
    /// Origins whose pages may call the deployed models of every account, besides those that an
    /// account allows for itself. Without any: the origin of `workspace_url`, else of `public_url`,
    /// and the loopback names of a backend that only its own machine reaches.
    #[schemars(with = "Vec<String>")]
    pub allowed_origins: Vec<Origin>,
    /// Devices that an account may have.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub device_limit: u32,
    /// Where the address of a client is taken from, which logins are limited by and the audit log
    /// tells: the connection, or what a proxy in front adds to `X-Forwarded-For`.
    pub client_address: ClientAddress,
    /// How the owner of this backend proves to be its owner.
    pub owner_proof: OwnerProof,
    /// A file that the bound address is written to, once requests are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_file: Option<PathBuf>,
    pub log: LogSection,
    pub metrics: MetricsSection,
    pub database: DatabaseSection,
    pub content: ContentSection,
    pub zenoh: ZenohSection,
    pub quota: QuotaSection,
    pub operations: OperationsSection,
    pub retention: RetentionSection,
    pub sharing: SharingSection,
    pub shutdown: ShutdownSection,
}

/// What is logged, and how.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct LogSection {
    /// What to log, such as `info` or `link_backend=debug`.
    #[serde(deserialize_with = "filter")]
    pub filter: String,
    /// How a record looks.
    pub format: LogFormat,
}

/// How a log record looks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object on a line.
    Json,
}

/// Numbers for Prometheus.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct MetricsSection {
    /// The address that answers `/metrics`, such as 127.0.0.1:9464; without it nothing does. It
    /// asks for no password: let it be one that only your monitoring reaches.
    #[serde(deserialize_with = "some_address", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
}

/// Where accounts, devices and commands are stored.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct DatabaseSection {
    /// A private file that holds the address of a database, `postgres://user:password@host/name`;
    /// without it the database is a file in the data folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_file: Option<PathBuf>,
}

/// The zenoh transport; without an endpoint or a router there is none.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct ZenohSection {
    /// Endpoints of the built-in router, such as `tls/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Endpoints that devices are told, where they are not the ones that are listened on.
    pub endpoints: Vec<String>,
    /// Routers that run beside, in the place of the built-in one.
    pub routers: Vec<String>,
    /// The folder for the users and rules of routers that run beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<PathBuf>,
    /// The certificate chain of the router in PEM; without it the router has an authority of its
    /// own, which devices are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_file: Option<PathBuf>,
    /// The private key of that certificate in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// The certificate authority of routers that run beside, in PEM; without it public ones are meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority_file: Option<PathBuf>,
    /// Free slots that the router opens with at least.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub reserve: u32,
    /// Slots that the router opens with at most: devices that one router can have.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub most: u32,
}

/// How much is kept of what devices tell.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct RetentionSection {
    /// Rows of token usage that are kept for each device.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub telemetry_rows: u32,
    /// Log records that are kept for each device.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub log_rows: u32,
    /// Days that the audit log goes back.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub audit_days: u32,
    /// Days for which log records are kept.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub log_days: u32,
    /// Days for which commands are kept that came to their end.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub command_days: u32,
    /// Days for which deployments are kept that ended and are not the current one of their model on their device.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub deployment_days: u32,
    /// Days for which operations are kept that have ended.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub operation_days: u32,
    /// Days for which token usage is known by the hour; by the day from then on.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub usage_hours_days: u32,
    /// Days for which token usage is known at all.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub usage_days: u32,
    /// Days for which the latest sample of a device is kept that sends none any more.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub sample_days: u32,
    /// Days for which an idempotency key stands for its request.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub idempotency_days: u32,
}

/// How the backend ends.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct ShutdownSection {
    /// Seconds in which it is not ready but still takes requests, so that a load balancer notices.
    #[serde(deserialize_with = "seconds")]
    #[schemars(range(max = SECONDS_LIMIT))]
    pub notice_s: u32,
    /// Seconds that requests may still run then.
    #[serde(deserialize_with = "seconds")]
    #[schemars(range(max = SECONDS_LIMIT))]
    pub deadline_s: u32,
}

/// Rows of token usage that are kept for each device, unless the file says otherwise.
pub(crate) const TELEMETRY_KEPT: u32 = 10_000;
/// Log records that are kept for each device, unless the file says otherwise.
pub(crate) const LOGS_KEPT: u32 = 2_000;
impl Default for ConfigFile {
    fn default() -> Self {
        Self {
            data: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 8000)),
            public_url: None,
            workspace_url: None,
            allowed_origins: Vec::new(),
            device_limit: limits::DEVICE_LIMIT,
            client_address: ClientAddress::default(),
            owner_proof: OwnerProof::default(),
            address_file: None,
            log: LogSection::default(),
            metrics: MetricsSection::default(),
            database: DatabaseSection::default(),
            content: ContentSection::default(),
            zenoh: ZenohSection::default(),
            quota: QuotaSection::default(),
            operations: OperationsSection::default(),
            retention: RetentionSection::default(),
            sharing: SharingSection::default(),
            shutdown: ShutdownSection::default(),
        }
    }
}

impl Default for LogSection {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Text }
    }
}

impl Default for ZenohSection {
    fn default() -> Self {
        let Bounds { reserve, most } = ZenohConfig::default().bounds;
        Self {
            listen: Vec::new(),
            endpoints: Vec::new(),
            routers: Vec::new(),
            files: None,
            certificate_file: None,
            key_file: None,
            authority_file: None,
            reserve,
            most,
        }
    }
}

impl ZenohSection {
    /// Returns what the transport is started with, when it is asked for.
    #[must_use]
    pub fn config(&self) -> Option<ZenohConfig> {
        if self.listen.is_empty() && self.routers.is_empty() {
            return None;
        }
        Some(ZenohConfig {
            listen: self.listen.clone(),
            endpoints: self.endpoints.clone(),
            routers: self.routers.clone(),
            files: self.files.clone(),
            certificate: self.certificate_file.clone().zip(self.key_file.clone()),
            authority: self.authority_file.clone(),
            bounds: Bounds { reserve: self.reserve.min(self.most), most: self.most },
        })
    }
}

impl Default for RetentionSection {
    fn default() -> Self {
        Self {
            telemetry_rows: TELEMETRY_KEPT,
            log_rows: LOGS_KEPT,
            audit_days: 365,
            log_days: 30,
            command_days: 90,
            deployment_days: 90,
            operation_days: 30,
            usage_hours_days: 35,
            usage_days: 800,
            sample_days: 30,
            idempotency_days: 1,
        }
    }
}

impl RetentionSection {
    /// Returns how long what nobody needs any more is kept.
    #[must_use]
    pub fn kept(&self) -> Retention {
        let days = |days: u32| SignedDuration::from_hours(24 * i64::from(days));
        Retention {
            usage_hours: days(self.usage_hours_days),
            usage: days(self.usage_days),
            logs: days(self.log_days),
            commands: days(self.command_days),
            deployments: days(self.deployment_days),
            audit: days(self.audit_days),
            operations: days(self.operation_days),
            idempotency: days(self.idempotency_days),
            samples: days(self.sample_days),
        }
    }
}

impl Default for ShutdownSection {
    fn default() -> Self {
        Self { notice_s: 0, deadline_s: 10 }
    }
}

/// Returns the JSON Schema of the file, pretty and in a stable order.
///
/// # Panics
/// Never: a schema has only text keys.
#[must_use]
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(ConfigFile).to_value();
    schema.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema has only text keys");
    text.push('\n');
    text
}
