//! The agent's configuration, schema 2.1 (specification, section 2.3).
//!
//! [`read`] takes the text of a file and returns all its faults at once, each with its key and the
//! expected value. A file of another schema version is refused before the rest is read. The types hold
//! the defaults, so an empty configuration is complete. `link-agent-core`, which knows the components,
//! checks the names in a configuration.

mod containment;
mod duplicate;
mod fault;
mod generic;
mod handler;
mod pipeline;
mod reader;
mod template;
mod transport;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::reader::{Address, Node, Object, Text};
pub use self::{
    containment::ContainmentConfig,
    fault::{Fault, Faults},
    generic::{GenericConfig, Scalar},
    handler::{
        Level, LogTarget, LoggingConfig, LoggingHandler, ReportTargets, ReportingConfig,
        ReportingHandler, Timeout,
    },
    pipeline::PipelineConfig,
    template::{InvalidTemplate, Placeholder, Template, Values},
    transport::{RootCa, TransportConfig},
};
use crate::{id::DeviceId, registration::TransportType};

pub use crate::identity::SCHEMA_VERSION;

/// The largest configuration file that is read, in bytes.
pub const SIZE_LIMIT: u64 = 1024 * 1024;

/// The whole configuration of an agent.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(title = "Configuration of the Link agent", deny_unknown_fields)]
pub struct AgentConfig {
    /// The schema of this file: `2.1`.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: String,
    /// The identity of this device; optional if `link register` registers the device.
    #[serde(default)]
    pub identity: IdentityConfig,
    /// The transport to the backend. Default: HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportConfig>,
    /// The API on the loopback interface.
    #[serde(default)]
    pub local_api: LocalApiConfig,
    /// Settings of components and plugins, by name.
    #[serde(default)]
    pub components: BTreeMap<String, GenericConfig>,
    /// What the engines of a plugin may do, by the name of the plugin. Engines of other plugins may do what every engine
    /// needs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub containment: BTreeMap<String, ContainmentConfig>,
    /// The agent's own pipelines. The pipelines of models come from their deployments.
    #[serde(default = "pipeline::defaults")]
    pub pipelines: Vec<PipelineConfig>,
    #[serde(default)]
    pub logging: LoggingConfig,
    #[serde(default)]
    pub reporting: ReportingConfig,
}

/// The identity of this device: the first source that the agent reads (specification, section 4.4).
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct IdentityConfig {
    /// The URL of the backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^https?://"))]
    pub backend_url: Option<String>,
    /// The id of an existing device, which a registration key re-activates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub device_id: Option<DeviceId>,
    /// The name with which the device registers. Default: the host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A file with a registration key. The file is deleted once the key is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_key_file: Option<String>,
    /// A file with a fleet key, for images of many devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet_key_file: Option<String>,
}

/// The API on the loopback interface (specification, section 4.2).
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct LocalApiConfig {
    /// The port on 127.0.0.1. Default: 20505, or another one if that is taken.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            identity: IdentityConfig::default(),
            transport: None,
            local_api: LocalApiConfig::default(),
            components: BTreeMap::new(),
            containment: BTreeMap::new(),
            pipelines: pipeline::defaults(),
            logging: LoggingConfig::default(),
            reporting: ReportingConfig::default(),
        }
    }
}

/// Reads a configuration. A faulty value is replaced by its default, so that the rest can be checked too. Only a
/// configuration without faults may be used.
#[must_use]
pub fn read(text: &str) -> (AgentConfig, Faults) {
    let mut faults = Faults::default();
    let config = match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            duplicate::find(text, &mut faults);
            read_value(&value, &mut faults)
        }
        Err(error) => {
            faults.push(Fault {
                key: format!("line {}, column {}", error.line(), error.column()),
                expected: "JSON".to_owned(),
                found: "something else".to_owned(),
            });
            AgentConfig::default()
        }
    };
    (config, faults)
}

fn read_value(value: &Value, faults: &mut Faults) -> AgentConfig {
    let mut config = AgentConfig::default();
    let Some(mut object) = Object::open(&Node::root(value), faults) else { return config };
    let version: Option<Text> = object.required("schema_version", faults);
    match version {
        Some(version) if version.0 == SCHEMA_VERSION => {}
        Some(version) => {
            // This version cannot judge the keys of another version.
            faults.push(Fault {
                key: "schema_version".to_owned(),
                expected: format!("`{SCHEMA_VERSION}`; the file is left as it is"),
                found: format!("`{}`", version.0.chars().take(20).collect::<String>()),
            });
            return config;
        }
        None => return config,
    }
    if let Some(node) = object.child("identity") {
        config.identity = IdentityConfig::read(&node, faults);
    }
    if let Some(node) = object.child("transport") {
        config.transport = TransportConfig::read(&node, faults);
    }
    if let Some(node) = object.child("local_api") {
        config.local_api = LocalApiConfig::read(&node, faults);
    }
    if let Some(node) = object.child("components") {
        config.components = generic::read_all(&node, faults);
    }
    if let Some(node) = object.child("containment") {
        config.containment = containment::read_all(&node, faults);
    }
    if let Some(node) = object.child("pipelines") {
        config.pipelines = node.list(faults, PipelineConfig::read);
    }
    if let Some(node) = object.child("logging") {
        config.logging = LoggingConfig::read(&node, faults);
    }
    let transport = config.transport.as_ref().map(|transport| transport.r#type);
    config.reporting = match object.child("reporting") {
        Some(node) => ReportingConfig::read(&node, faults),
        // Reports use the same transport as commands.
        None if transport == Some(TransportType::Zenoh) => ReportingConfig::over_zenoh(),
        None => ReportingConfig::default(),
    };
    object.close(faults);
    config
}

impl IdentityConfig {
    fn read(node: &Node<'_>, faults: &mut Faults) -> Self {
        let Some(mut object) = Object::open(node, faults) else { return Self::default() };
        let text = |text: Option<Text>| text.map(|text| text.0);
        let config = Self {
            backend_url: object.optional("backend_url", faults).map(|url: Address| url.0),
            device_id: object.optional("device_id", faults),
            name: text(object.optional("name", faults)),
            registration_key_file: text(object.optional("registration_key_file", faults)),
            fleet_key_file: text(object.optional("fleet_key_file", faults)),
        };
        if config.registration_key_file.is_some() && config.fleet_key_file.is_some() {
            faults.push(Fault {
                key: object.key("fleet_key_file"),
                expected: "only one of the two key files".to_owned(),
                found: "both".to_owned(),
            });
        }
        let keyed = config.registration_key_file.is_some() || config.fleet_key_file.is_some();
        if keyed && config.backend_url.is_none() {
            faults.push(Fault {
                key: object.key("backend_url"),
                expected: "the address of the backend that the key is for".to_owned(),
                found: "nothing".to_owned(),
            });
        }
        object.close(faults);
        config
    }
}

impl LocalApiConfig {
    fn read(node: &Node<'_>, faults: &mut Faults) -> Self {
        let Some(mut object) = Object::open(node, faults) else { return Self::default() };
        let port: Option<crate::port::Port> = object.optional("port", faults);
        object.close(faults);
        Self { port: port.map(crate::port::Port::get) }
    }
}

/// Returns the JSON Schema of [`AgentConfig`].
///
/// # Panics
/// Never: a schema has only text keys.
#[must_use]
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(AgentConfig).to_value();
    // The order must not depend on the features of other crates in the build.
    schema.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema has only text keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
