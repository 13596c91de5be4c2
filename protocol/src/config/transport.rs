//! The transport of the control plane.

use std::convert::Infallible;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    fault::{Fault, Faults},
    reader::{Leaf, Node, Object, Text},
};
use crate::{registration::TransportType, secret::Secret};

/// The transport of the control plane and of the pipelines.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct TransportConfig {
    #[schemars(with = "String", extend("enum" = ["http", "zenoh"]))]
    pub r#type: TransportType,
    /// The zenoh routers, such as `tls/link.example:7447`. Default: the routers that the backend
    /// names. The scheme `tls/` uses TLS, `tcp/` does not.
    #[serde(default)]
    pub endpoints: Vec<String>,
    /// Whether a device on zenoh uses HTTP while no router is reachable.
    #[serde(default)]
    pub fallback: bool,
    /// The root certificates that the agent trusts: `auto` for the bundled store, or the path of a
    /// PEM file, which adds to that store. Default: the store of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub tls_root_ca: Option<RootCa>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub password: Option<Secret>,
}

/// The root certificates that the agent trusts.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum RootCa {
    /// The store that is bundled with the agent.
    Auto,
    /// A PEM file.
    File(String),
}

impl From<String> for RootCa {
    fn from(text: String) -> Self {
        if text == "auto" { Self::Auto } else { Self::File(text) }
    }
}

impl From<RootCa> for String {
    fn from(root: RootCa) -> Self {
        match root {
            RootCa::Auto => "auto".to_owned(),
            RootCa::File(path) => path,
        }
    }
}

impl std::str::FromStr for RootCa {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.to_owned().into())
    }
}

/// The endpoint of a router: a scheme, a host and a port.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Endpoint(String);

impl TryFrom<String> for Endpoint {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let address = text.strip_prefix("tls/").or_else(|| text.strip_prefix("tcp/"));
        let (host, port) = address.and_then(|one| one.rsplit_once(':')).unwrap_or_default();
        let fits = !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
        if fits { Ok(Self(text)) } else { Err(Self::EXPECTED) }
    }
}

impl Leaf for Endpoint {
    const EXPECTED: &'static str = "an endpoint such as `tls/link.example:7447`";
}

impl Leaf for RootCa {
    const EXPECTED: &'static str = "`auto` or the path of a PEM file";
}

impl TransportConfig {
    pub(super) fn read(node: &Node<'_>, faults: &mut Faults) -> Option<Self> {
        let mut object = Object::open(node, faults)?;
        let r#type = object.required("type", faults);
        let endpoints = object.child("endpoints").map(|node| {
            node.list(faults, |node, faults| node.leaf(faults).map(|one: Endpoint| one.0))
        });
        let fallback = object.optional("fallback", faults).unwrap_or(false);
        let tls_root_ca = object.optional("tls_root_ca", faults);
        let username = object.optional("username", faults).map(|text: Text| text.0);
        let password: Option<Secret> = object.optional("password", faults);
        if username.is_some() != password.is_some() {
            let (there, missing) = if password.is_none() {
                ("username", "password")
            } else {
                ("password", "username")
            };
            faults.push(Fault {
                key: object.key(missing),
                expected: format!("a text, because `{there}` is given"),
                found: "nothing".to_owned(),
            });
        }
        object.close(faults);
        let endpoints = endpoints.unwrap_or_default();
        Some(Self { r#type: r#type?, endpoints, fallback, tls_root_ca, username, password })
    }
}
