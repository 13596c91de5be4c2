//! The document of `link up`: the addresses, and what this run has done.

use std::path::Path;

use link_protocol::id::DeviceId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Component;

/// The backend, the account, the device and the agent that are ready.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::command) struct Ready<'a> {
    pub(super) backend: Backend<'a>,
    pub(super) account: Account<'a>,
    pub(super) device: ThisDevice,
    pub(super) agent: Agent,
    /// Whether a build of the inference engine is installed.
    pub(super) engine_installed: bool,
}

/// The backend of this user.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Backend<'a> {
    /// The address, which only this machine can reach.
    pub(super) url: &'a str,
    /// Whether this command has started the backend.
    pub(super) started: bool,
    /// The folder of the data.
    pub(super) data: &'a Path,
}

/// The account of this user at the backend.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Account<'a> {
    pub(super) email: &'a str,
    /// Whether this command has created the login.
    pub(super) created: bool,
}

/// This machine as a device.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ThisDevice {
    #[schemars(with = "Component<DeviceId>")]
    pub(super) device_id: DeviceId,
    /// Whether this command has registered the device.
    pub(super) registered: bool,
}

/// The agent of the device.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Agent {
    /// Whether this command has started the agent.
    pub(super) started: bool,
    /// The port of the local API. Null if the agent does not say it.
    pub(super) local_api_port: Option<u16>,
}
