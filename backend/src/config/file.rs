//! The configuration file of a backend: its keys, their values and their defaults.
//!
//! The JSON Schema, the names of environment variables and the list of known keys are derived from these types, so a
//! new key is one new field. No value is a secret: secrets are in separate files.

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
    /// The folder for all data. A relative path starts at the folder of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// The address to listen on. Port 0 means any free port.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// The address at which people and devices reach this backend.
    #[serde(deserialize_with = "web_address", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^https?://"))]
    pub public_url: Option<String>,
    /// The address of the workspace, if this backend does not serve it.
    #[serde(deserialize_with = "web_address", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^https?://"))]
    pub workspace_url: Option<String>,
    /// Origins whose pages may call the deployed models of every account, in addition to the origins of the account.
    /// Default: the origin of `workspace_url`, otherwise of `public_url`, and the loopback names of a backend that only its
    /// own machine reaches.
    #[schemars(with = "Vec<String>")]
    pub allowed_origins: Vec<Origin>,
    /// The maximum number of devices of an account.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub device_limit: u32,
    /// The source of a client's address, which limits logins and appears in the audit log: the connection, or the entry
    /// that a proxy in front adds to `X-Forwarded-For`.
    pub client_address: ClientAddress,
    /// How the owner of this backend proves their identity.
    pub owner_proof: OwnerProof,
    /// A file to which the bound address is written once the backend answers requests.
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

/// The log: its filter and its format.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct LogSection {
    /// A filter, such as `info` or `link_backend=debug`.
    #[serde(deserialize_with = "filter")]
    pub filter: String,
    /// The format of a record.
    pub format: LogFormat,
}

/// The format of a log record.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object on each line.
    Json,
}

/// Metrics for Prometheus.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct MetricsSection {
    /// The address that answers `/metrics`, such as 127.0.0.1:9464. Default: none. It requires no password, so use an
    /// address that only your monitoring reaches.
    #[serde(deserialize_with = "some_address", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
}

/// The database of accounts, devices and commands.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct DatabaseSection {
    /// A private file with the address of a database, `postgres://user:password@host/name`. Default: the database is a file
    /// in the data folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_file: Option<PathBuf>,
}

/// The zenoh transport. It is off without an endpoint or a router.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct ZenohSection {
    /// Endpoints of the built-in router, such as `tls/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Endpoints that devices use, if they differ from the ones that the router listens on.
    pub endpoints: Vec<String>,
    /// External routers, instead of the built-in one.
    pub routers: Vec<String>,
    /// The folder for the users and rules of external routers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<PathBuf>,
    /// The certificate chain of the router in PEM. Default: the router has an authority of its own, which devices learn from
    /// the backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_file: Option<PathBuf>,
    /// The private key of the certificate in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// The certificate authority of external routers, in PEM. Default: the public authorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority_file: Option<PathBuf>,
    /// The minimum number of free slots after a change of the slots.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub reserve: u32,
    /// The maximum number of slots, and so of devices over zenoh.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub most: u32,
    /// The maximum number of slots of one built-in router. Further slots get further routers of this process.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub slots_per_router: u32,
}

/// The retention of data from devices.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct RetentionSection {
    /// The maximum number of rows of token usage for each device.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub telemetry_rows: u32,
    /// The maximum number of log records for each device.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub log_rows: u32,
    /// Days for which entries of the audit log are kept.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub audit_days: u32,
    /// Days for which log records are kept.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub log_days: u32,
    /// Days for which ended commands are kept.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub command_days: u32,
    /// Days for which ended deployments are kept, except the current one of each model and device.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub deployment_days: u32,
    /// Days for which ended operations are kept.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub operation_days: u32,
    /// Days for which token usage is kept by the hour. After that it is kept by the day.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub usage_hours_days: u32,
    /// Days for which token usage is kept.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub usage_days: u32,
    /// Days for which the latest sample of a silent device is kept.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub sample_days: u32,
    /// Days for which an idempotency key is remembered.
    #[serde(deserialize_with = "count")]
    #[schemars(range(min = 1))]
    pub idempotency_days: u32,
}

/// The shutdown of the backend.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct ShutdownSection {
    /// Seconds in which `/readyz` fails while the backend still takes requests, so that a load balancer notices.
    #[serde(deserialize_with = "seconds")]
    #[schemars(range(max = SECONDS_LIMIT))]
    pub notice_s: u32,
    /// Seconds for which running requests are drained after that.
    #[serde(deserialize_with = "seconds")]
    #[schemars(range(max = SECONDS_LIMIT))]
    pub deadline_s: u32,
}

/// The default number of rows of token usage for each device.
pub(crate) const TELEMETRY_KEPT: u32 = 10_000;
/// The default number of log records for each device.
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
        let ZenohConfig { bounds: Bounds { reserve, most }, slots_per_router, .. } =
            ZenohConfig::default();
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
            slots_per_router,
        }
    }
}

impl ZenohSection {
    /// Returns the configuration of the transport, if it is enabled.
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
            slots_per_router: self.slots_per_router,
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
    /// Returns how long records are kept.
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

/// Returns the JSON Schema of the file, formatted and in a stable order.
///
/// # Panics
/// Never, because a schema has only text keys.
#[must_use]
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(ConfigFile).to_value();
    schema.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema has only text keys");
    text.push('\n');
    text
}
