//! Opens built-in routers, or a session at external routers.
//!
//! Access is denied unless a rule allows it: a slot may use `link/v1/dev/{slot}/**` only. zenoh requires a file of users,
//! which is deleted once the router is open.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use link_platform::{fs, router_socket::RouterSocket};
use link_protocol::zenoh::{BACKEND_USER, BUFFER, Endpoint, MAX_MESSAGE, PREFIX};
use serde_json::{Value, json};
use zenoh::{Config, Session};

use super::certificates::Certificates;
use crate::{
    app::{User, ZenohOffer},
    config::zenoh::ZenohConfig,
};

/// The settings for opening a session.
#[derive(Debug)]
pub(super) struct Router {
    config: ZenohConfig,
    /// The endpoints of the gate.
    listen: Vec<Endpoint>,
    folder: PathBuf,
    /// `None` if no endpoint uses TLS.
    certificates: Option<Certificates>,
    /// The authority of external routers, in PEM.
    authority: Option<String>,
    /// The password of this process at external routers.
    password: String,
}

impl Router {
    /// Reads the files that the router needs, and creates missing ones.
    pub(super) fn prepare(config: ZenohConfig, data: &Path) -> anyhow::Result<Self> {
        let beside = !config.routers.is_empty();
        ensure!(
            beside || !config.listen.is_empty(),
            "the zenoh transport needs an endpoint to listen on, or routers to join"
        );
        ensure!(
            !beside || config.files.is_some(),
            "routers that run beside need a folder for the files of their users and rules"
        );
        let listen = read(&config.listen)?;
        let told = [read(&config.endpoints)?, read(&config.routers)?].concat();
        for endpoint in listen.iter().chain(&told).filter(|one| one.is_open_to_others()) {
            tracing::warn!(
                "{endpoint} is zenoh without TLS: whoever is on the way reads what devices and this \
                 backend say there, and can take over a session; name `tls/` endpoints instead"
            );
        }
        let folder = data.join("zenoh");
        fs::create_private_dir(&folder)?;
        let certificates = if beside || !listen.iter().any(Endpoint::is_tls) {
            None
        } else if let Some((chain, key)) = &config.certificate {
            Some(Certificates::read(chain, key)?)
        } else {
            let names = listen.iter().chain(&told).map(|one| one.host().to_owned());
            Some(Certificates::open(&folder, names.collect())?)
        };
        let authority = match &config.authority {
            Some(path) => Some(
                std::fs::read_to_string(path)
                    .with_context(|| format!("failed to read `{}`", path.display()))?,
            ),
            None => None,
        };
        let password = crate::host::random::secret("").expose().to_owned();
        Ok(Self { config, listen, folder, certificates, authority, password })
    }

    /// Tells whether the routers are external.
    pub(super) fn is_beside(&self) -> bool {
        !self.config.routers.is_empty()
    }

    /// Returns the endpoints at which devices reach the router.
    pub(super) fn endpoints(&self) -> &[String] {
        let Self { config, .. } = self;
        [&config.endpoints, &config.routers, &config.listen]
            .into_iter()
            .find(|endpoints| !endpoints.is_empty())
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the connection settings for devices. The passwords of slots derive from `seed`.
    pub(super) fn offer(&self, seed: [u8; 32]) -> ZenohOffer {
        let own = self.certificates.as_ref().and_then(|one| one.authority.clone());
        let root_ca = if self.is_beside() { self.authority.clone() } else { own };
        ZenohOffer { endpoints: self.endpoints().to_vec(), root_ca, seed }
    }

    /// Returns the endpoints of this process and their certificates.
    pub(super) fn listening(&self) -> (&[Endpoint], Option<&Certificates>) {
        (&self.listen, self.certificates.as_ref())
    }

    /// Opens a session at external routers, for `users`.
    pub(super) async fn open_beside(&self, users: &[User]) -> anyhow::Result<Session> {
        let files = self.config.files.as_ref().context("routers beside have a folder for files")?;
        self.write_files(files, users)?;
        self.join(files).await
    }

    /// Creates the socket path of the built-in router.
    pub(super) fn socket(&self) -> anyhow::Result<RouterSocket> {
        let folder = self.folder.display();
        RouterSocket::new(&self.folder)
            .with_context(|| format!("failed to make a socket in `{folder}`"))
    }

    /// Opens the built-in router for `users` at `socket`, to which the gate forwards devices.
    pub(super) async fn open(
        &self,
        users: &[User],
        socket: &RouterSocket,
    ) -> anyhow::Result<Session> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)
            .context("failed to make the file of users")?;
        std::io::Write::write_all(&mut file, dictionary(users, None).as_bytes())
            .context("failed to write the file of users")?;
        let mut config = configured(routing(users, file.path()))?;
        set(&mut config, "listen/endpoints", json!([socket.endpoint()]))?;
        set(&mut config, "listen/exit_on_failure", true)?;
        // Without scouting there is nothing to wait for.
        set(&mut config, "scouting/delay", 0)?;
        zenoh::open(config)
            .await
            .map_err(|error| anyhow!("{error}").context("failed to open the router of zenoh"))
    }

    async fn join(&self, files: &Path) -> anyhow::Result<Session> {
        let mut config = configured(quiet())?;
        set(&mut config, "mode", "client")?;
        set(&mut config, "connect/endpoints", json!(self.config.routers))?;
        set(&mut config, "connect/timeout_ms", 10_000)?;
        set(&mut config, "connect/exit_on_failure", true)?;
        set(&mut config, "transport/auth/usrpwd/user", BACKEND_USER)?;
        set(&mut config, "transport/auth/usrpwd/password", self.password_at(files)?)?;
        if let Some(authority) = &self.authority {
            let authority = STANDARD.encode(authority);
            set(&mut config, "transport/link/tls/root_ca_certificate_base64", authority)?;
        }
        zenoh::open(config).await.map_err(|error| {
            let routers = &self.config.routers;
            anyhow!("{error}").context(format!(
                "failed to join {routers:?}: do they run with the files in `{}`?",
                files.display()
            ))
        })
    }

    /// Returns the password in the files of external routers, with which they admit this process.
    fn password_at(&self, files: &Path) -> anyhow::Result<String> {
        let path = files.join(USERS);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("failed to read `{}`", path.display()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(BACKEND_USER)?.strip_prefix(':'));
        Ok(line.unwrap_or(&self.password).to_owned())
    }

    /// Writes the users and the configuration of external routers, if they have changed.
    fn write_files(&self, files: &Path, users: &[User]) -> anyhow::Result<()> {
        fs::create_private_dir(files)?;
        let dictionary_file = std::path::absolute(files.join(USERS))
            .with_context(|| format!("failed to find the folder `{}`", files.display()))?;
        let password = self.password_at(files).unwrap_or_else(|_missing| self.password.clone());
        let mut settings = routing(users, &dictionary_file);
        // The status of a router names all its sessions.
        settings.push(("adminspace/permissions", json!({ "read": false, "write": false })));
        let settings = serde_json::to_string_pretty(&nested(settings))?;
        let mut changed = false;
        for (name, text) in [(USERS, dictionary(users, Some(&password))), (SETTINGS, settings)] {
            let path = files.join(name);
            if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
                continue;
            }
            changed = true;
            fs::write_private(&path, text.as_bytes())?;
        }
        if changed {
            tracing::warn!(
                "the users of the zenoh routers changed: restart the routers with `{}`",
                files.join(SETTINGS).display()
            );
        }
        Ok(())
    }
}

const USERS: &str = "users.txt";
const SETTINGS: &str = "zenohd.json5";

/// Parses endpoints before anything is opened.
fn read(endpoints: &[String]) -> anyhow::Result<Vec<Endpoint>> {
    endpoints.iter().map(|text| Ok(text.parse::<Endpoint>()?)).collect()
}

fn dictionary(users: &[User], backend: Option<&str>) -> String {
    let mut text = String::new();
    for user in users {
        text.push_str(&format!("{}:{}\n", user.slot, user.password.expose()));
    }
    if let Some(password) = backend {
        text.push_str(&format!("{BACKEND_USER}:{password}\n"));
    }
    text
}

/// Devices that zenoh admits concurrently. The gate forwards fewer.
const JOINING: usize = 64;
/// The deadline of an admission, in milliseconds.
const ACCEPT_MS: u32 = 4_000;

/// Settings of zenoh, by path.
type Settings = Vec<(&'static str, Value)>;

/// The settings of routers and sessions.
fn quiet() -> Settings {
    vec![
        ("scouting/multicast/enabled", json!(false)),
        ("scouting/gossip/enabled", json!(false)),
        ("transport/link/rx/max_message_size", json!(MAX_MESSAGE)),
        ("transport/link/rx/buffer_size", json!(BUFFER)),
        ("transport/link/tx/batch_size", json!(BUFFER)),
        // A client that does not read its data is disconnected, because others are blocked until then.
        ("transport/link/tx/queue/congestion_control/block/wait_before_close", json!(250_000)),
        // A device on a busy machine misses a short lease. HTTP has the same timeout.
        ("transport/link/tx/lease", json!(30_000)),
    ]
}

/// The settings of a router, built-in or external, without its endpoints and certificates.
fn routing(users: &[User], dictionary_file: &Path) -> Settings {
    let mut settings = quiet();
    settings.extend([
        ("mode", json!("router")),
        ("transport/auth/usrpwd/dictionary_file", json!(dictionary_file)),
        // All slots can be in use at once; zenoh refuses sessions beyond this limit silently.
        ("transport/unicast/max_sessions", json!(users.len() + JOINING + 16)),
        // Admitting a device takes time proportional to the number of users, on one thread: too many at once would all
        // time out. Devices over the limit retry.
        ("transport/unicast/accept_pending", json!(JOINING)),
        ("transport/unicast/accept_timeout", json!(ACCEPT_MS)),
        // All messages have the same priority, so one queue for each device is enough.
        ("transport/unicast/qos/enabled", json!(false)),
        ("access_control", rules(users)),
    ]);
    settings
}

fn configured(settings: Settings) -> anyhow::Result<Config> {
    let mut config = Config::default();
    for (key, value) in settings {
        set(&mut config, key, value)?;
    }
    Ok(config)
}

/// Returns the settings in the form of a configuration file.
fn nested(settings: Settings) -> Value {
    let mut file = json!({});
    for (key, value) in settings {
        let place = key.split('/').fold(&mut file, |object, name| &mut object[name]);
        *place = value;
    }
    file
}

fn set(config: &mut Config, key: &str, value: impl Into<Value>) -> anyhow::Result<()> {
    config
        .insert_json5(key, &value.into().to_string())
        .map_err(|error| anyhow!("{error}").context(format!("failed to set `{key}` of zenoh")))
}

/// Returns the access rules: a device may publish, answer and declare liveliness on its own keys, and receives nothing else.
fn rules(users: &[User]) -> Value {
    let says = ["query", "reply"];
    let declares = ["declare_queryable", "liveliness_token"];
    let backend = ["declare_subscriber", "declare_liveliness_subscriber", "liveliness_query"];
    let (mut rules, mut subjects, mut policies) = (vec![], vec![], vec![]);
    let mut allow = |name: &str, allowed: &[(Vec<String>, Vec<&str>)]| {
        let ids: Vec<_> = (0..allowed.len()).map(|number| format!("{name}-{number}")).collect();
        for (id, (keys, messages)) in ids.iter().zip(allowed) {
            rules.push(json!({
                "id": id, "permission": "allow", "flows": ["ingress", "egress"],
                "messages": messages, "key_exprs": keys,
            }));
        }
        subjects.push(json!({ "id": name, "usernames": [name] }));
        policies.push(json!({ "rules": ids, "subjects": [name] }));
    };
    for User { slot, .. } in users {
        // A device may declare two exact keys. A wildcard would permit any number of declarations.
        let own = vec![slot.commands(), slot.presence()];
        allow(slot.name(), &[(vec![slot.space()], says.to_vec()), (own, declares.to_vec())]);
    }
    let all = [&says[..], &declares[..], &backend[..]].concat();
    allow(BACKEND_USER, &[(vec![format!("{PREFIX}/**")], all)]);
    json!({
        "enabled": true, "default_permission": "deny",
        "rules": rules, "subjects": subjects, "policies": policies,
    })
}

#[cfg(test)]
mod tests {
    use link_protocol::{secret::Secret, zenoh::Slot};

    use super::*;

    #[test]
    fn endpoints_are_checked_before_anything_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        for endpoint in ["", "quic/127.0.0.1:1", "tcp/host", "tls/0.0.0.0:7447#iface=eth0"] {
            let listen = vec!["tcp/127.0.0.1:7447".to_owned(), endpoint.to_owned()];
            let config = ZenohConfig { listen, ..ZenohConfig::default() };
            let error = Router::prepare(config, folder.path()).unwrap_err().to_string();
            assert!(error.contains("is not an endpoint such as"), "{error}");
        }
    }

    #[test]
    fn a_router_beside_is_set_up_as_the_built_in_one() {
        let user = User { slot: Slot::numbered(3), password: Secret::new("p") };
        let settings = || routing(std::slice::from_ref(&user), Path::new("/routers/users.txt"));
        let file = nested(settings());
        assert_eq!(file["transport"]["link"]["tx"]["lease"], 30_000);
        assert_eq!(file["transport"]["auth"]["usrpwd"]["dictionary_file"], "/routers/users.txt");
        let read = Config::from_json5(&file.to_string()).unwrap();
        let set = configured(settings()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&set).unwrap());
    }

    #[test]
    fn a_user_has_the_keys_of_its_slot_and_no_others() {
        let user = User { slot: Slot::numbered(3), password: Secret::new("p") };
        let rules = rules(std::slice::from_ref(&user));
        assert_eq!(rules["default_permission"], "deny");
        assert_eq!(rules["rules"][0]["key_exprs"], json!(["link/v1/dev/s3/**"]));
        assert_eq!(rules["rules"][0]["messages"], json!(["query", "reply"]));
        let keys = json!(["link/v1/dev/s3/cmd", "link/v1/dev/s3/live"]);
        assert_eq!(rules["rules"][1]["key_exprs"], keys);
        assert_eq!(rules["rules"][1]["messages"], json!(["declare_queryable", "liveliness_token"]));
        assert_eq!(rules["policies"][0], json!({"rules": ["s3-0", "s3-1"], "subjects": ["s3"]}));
        assert_eq!(dictionary(&[user], Some("q")), "s3:p\nbackend:q\n");
    }
}
