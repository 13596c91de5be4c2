//! An embedded zenoh router with credential slots, and sessions that join it.
//!
//! Users and rules are fixed while a router runs, so every slot is made before it opens. A slot may
//! use `link/v1/dev/{slot}/**` and nothing else; what no rule allows is denied. TLS on loopback,
//! no scouting, keys and certificates in memory; the one file that zenoh insists on, the
//! dictionary of users, is gone once the router is open.

use std::{
    io::Write as _,
    net::{Ipv4Addr, TcpListener},
};

use anyhow::{Context as _, anyhow};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use uuid::Uuid;
use zenoh::{Config, Session};

/// The largest message that a session takes, in bytes: a body as large as HTTP takes, its key and
/// its proof.
pub(crate) const MAX_MESSAGE: usize = link_protocol::limits::JSON_BODY_LIMIT + 4096;

/// The user of a backend that is not the process of the router.
pub(crate) const BACKEND_USER: &str = "backend";

/// What the users of a router may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Access {
    /// Default deny, and one rule for each slot.
    Slots,
    /// Everything: the control that shows what the rules stop.
    Unrestricted,
}

/// A user name, its password and a key space.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub name: String,
    pub password: String,
}

/// A running router; its session is that of a backend in the same process.
pub(crate) struct Router {
    pub session: Session,
    pub port: u16,
    authority: String,
}

impl Slot {
    /// Makes the slot `name` with a random password.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), password: Uuid::new_v4().simple().to_string() }
    }

    /// Returns the key `tail` of this slot.
    pub(crate) fn key(&self, tail: &str) -> String {
        format!("link/v1/dev/{}/{tail}", self.name)
    }
}

impl Router {
    /// Opens a router on a free port of the loopback interface.
    pub(crate) async fn open(slots: &[Slot], access: Access) -> anyhow::Result<Self> {
        let port = free_port()?;
        let certificates = Certificates::generate().context("failed to make certificates")?;
        let mut users = tempfile::NamedTempFile::new().context("failed to make a file of users")?;
        for slot in slots {
            writeln!(users, "{}:{}", slot.name, slot.password).context("failed to write users")?;
        }
        let mut config = quiet_config()?;
        set(&mut config, "mode", "router")?;
        set(&mut config, "listen/endpoints", [format!("tls/127.0.0.1:{port}")])?;
        set(&mut config, "transport/auth/usrpwd/dictionary_file", json!(users.path()))?;
        let tls = "transport/link/tls/listen";
        let certificate = STANDARD.encode(&certificates.server);
        set(&mut config, &format!("{tls}_certificate_base64"), certificate)?;
        let key = STANDARD.encode(&certificates.key);
        set(&mut config, &format!("{tls}_private_key_base64"), key)?;
        if access == Access::Slots {
            set(&mut config, "access_control", rules(slots))?;
        }
        let session =
            zenoh::open(config).await.map_err(zenoh_error("failed to open the router"))?;
        Ok(Self { session, port, authority: STANDARD.encode(&certificates.authority) })
    }

    /// Opens a client session of `slot` through `port`: the router's own or a relay's.
    pub(crate) async fn join(&self, slot: &Slot, port: u16) -> anyhow::Result<Session> {
        let mut config = quiet_config()?;
        set(&mut config, "mode", "client")?;
        set(&mut config, "connect/endpoints", [format!("tls/127.0.0.1:{port}")])?;
        set(&mut config, "connect/timeout_ms", 3000)?;
        set(&mut config, "transport/auth/usrpwd/user", slot.name.as_str())?;
        set(&mut config, "transport/auth/usrpwd/password", slot.password.as_str())?;
        let authority = self.authority.as_str();
        set(&mut config, "transport/link/tls/root_ca_certificate_base64", authority)?;
        zenoh::open(config).await.map_err(zenoh_error("failed to join the router"))
    }
}

/// Turns zenoh's error, which is a boxed one, into ours.
pub(crate) fn zenoh_error(what: &'static str) -> impl FnOnce(zenoh::Error) -> anyhow::Error {
    move |error| anyhow!("{error}").context(what)
}

fn quiet_config() -> anyhow::Result<Config> {
    let mut config = Config::default();
    set(&mut config, "scouting/multicast/enabled", false)?;
    set(&mut config, "scouting/gossip/enabled", false)?;
    set(&mut config, "transport/link/rx/max_message_size", MAX_MESSAGE)?;
    Ok(config)
}

fn set(config: &mut Config, key: &str, value: impl Into<Value>) -> anyhow::Result<()> {
    config
        .insert_json5(key, &value.into().to_string())
        .map_err(|error| anyhow!("{error}").context(format!("failed to set `{key}`")))
}

fn rules(slots: &[Slot]) -> Value {
    let (mut rules, mut subjects, mut policies) = (vec![], vec![], vec![]);
    for Slot { name, .. } in slots {
        let device = ["put", "query", "reply", "declare_queryable", "liveliness_token"];
        let backend = ["declare_subscriber", "declare_liveliness_subscriber", "liveliness_query"];
        let (keys, messages) = if name == BACKEND_USER {
            ("link/v1/dev/**".to_owned(), [&device[..], &backend[..]].concat())
        } else {
            (format!("link/v1/dev/{name}/**"), device.to_vec())
        };
        rules.push(json!({
            "id": name, "permission": "allow", "flows": ["ingress", "egress"],
            "messages": messages, "key_exprs": [keys],
        }));
        subjects.push(json!({ "id": name, "usernames": [name] }));
        policies.push(json!({ "rules": [name], "subjects": [name] }));
    }
    json!({
        "enabled": true, "default_permission": "deny",
        "rules": rules, "subjects": subjects, "policies": policies,
    })
}

/// What a router shows and what its clients trust, as PEM.
struct Certificates {
    authority: String,
    server: String,
    key: String,
}

impl Certificates {
    fn generate() -> Result<Self, rcgen::Error> {
        use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};

        let mut authority = CertificateParams::new(Vec::<String>::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority_key = KeyPair::generate()?;
        let authority_pem = authority.self_signed(&authority_key)?.pem();
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate()?;
        let server =
            CertificateParams::new(vec!["127.0.0.1".to_owned()])?.signed_by(&key, &issuer)?;
        Ok(Self { authority: authority_pem, server: server.pem(), key: key.serialize_pem() })
    }
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("failed to find a port")?;
    Ok(listener.local_addr().context("failed to read the port")?.port())
}
