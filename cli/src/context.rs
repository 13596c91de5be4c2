//! The environment of the process, which is read only once: variables, folders, clock.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: the one place that reads the environment and the clock and makes ids"
)]

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use link_installer::{layout::Layout, service};
use link_platform::{
    facts, fs,
    paths::{self, Roots},
};
use link_protocol::{config, exit_code::ExitCode, limits, secret::Secret};

use crate::{
    args::Global,
    called::{self, Surroundings},
    error::CliError,
    error_code::ErrorCode,
    output::{Output, View},
};

const LOCAL_PORT: &str = "LINK_LOCAL_PORT";

/// Variables that decide how a program reaches the network. Programs read the proxies in both forms.
const NETWORK: &[&str] = &[
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The context of every command.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) output: Output,
    pub(crate) roots: Roots,
    pub(crate) environment: Environment,
    pub(crate) surroundings: Surroundings,
}

/// The environment variables that the command reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) backend_url: Option<String>,
    pub(crate) registration_key: Option<Secret>,
    /// Files that contain a key, as an alternative to the variable with the key.
    pub(crate) registration_key_file: Option<String>,
    pub(crate) fleet_key_file: Option<String>,
    pub(crate) fleet_key: Option<Secret>,
    pub(crate) access_token: Option<Secret>,
    pub(crate) local_port: Option<String>,
    /// Whether `LINK_HOME` is set. Then no file outside that folder is changed unless requested.
    pub(crate) has_own_home: bool,
    /// `LINK_SERVICE`.
    pub(crate) service: Option<String>,
    /// `LINK_MODIFY_PATH`.
    pub(crate) wants_path: bool,
    /// `LINK_NO_MODIFY_PATH`.
    pub(crate) leaves_path: bool,
    pub(crate) shell: Option<PathBuf>,
    pub(crate) zsh_folder: Option<PathBuf>,
    /// `LINK_POWERSHELL_PROFILE`: the profile that shall load the completions.
    pub(crate) power_shell_profile: Option<PathBuf>,
    /// Variables to pass to a service, so that it finds the same folders, the same port and the way to the network.
    pub(crate) for_service: Vec<(&'static str, String)>,
    /// The variables that decide how this process reaches the network.
    pub(crate) network: Vec<(&'static str, String)>,
    /// Whether a browser can open a window.
    pub(crate) has_display: bool,
    /// Additional release keys that a development build trusts.
    pub(crate) development_release_keys: Option<String>,
}

impl Context {
    /// Reads the environment.
    ///
    /// # Errors
    /// If no folder for Link's files can be found.
    pub(crate) fn read(global: Global) -> Result<Self, CliError> {
        let text = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let secret = |name| text(name).map(|value| Secret::new(value.trim()));
        let home = std::env::var_os("LINK_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = home.map(std::path::absolute).transpose().map_err(|error| {
            CliError::new(
                ExitCode::CannotWrite,
                ErrorCode::File,
                format!("cannot use LINK_HOME: {error}"),
            )
        })?;
        let own = home.as_deref().and_then(|home| Some(("LINK_HOME", home.to_str()?.to_owned())));
        let for_service = [LOCAL_PORT].iter().chain(paths::VARIABLES).chain(NETWORK);
        let shared = for_service.copied().filter_map(|name| Some((name, text(name)?)));
        // Other users may read the unit file, so a proxy URL with a password is left out.
        let shared = shared.filter(|(_, value)| !value.contains('@'));
        let is_set = |name| text(name).is_some_and(|value| value != "0");
        let roots = Roots::find(home.as_deref()).map_err(|error| {
            CliError::new(ExitCode::CannotWrite, ErrorCode::NoHome, error.to_string())
        })?;
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&folders).collect();
        let surroundings = Surroundings { folders, bin: roots.bin.clone(), home: home.clone() };
        called::remember(surroundings.clone());
        Ok(Self {
            output: Output::new(global),
            roots,
            environment: Environment {
                backend_url: text("LINK_BACKEND_URL"),
                registration_key: secret("LINK_REGISTRATION_KEY"),
                registration_key_file: text("LINK_REGISTRATION_KEY_FILE"),
                fleet_key_file: text("LINK_FLEET_KEY_FILE"),
                fleet_key: secret("LINK_FLEET_KEY"),
                access_token: secret("LINK_ACCESS_TOKEN"),
                local_port: text(LOCAL_PORT),
                has_own_home: home.is_some(),
                service: text("LINK_SERVICE"),
                wants_path: is_set("LINK_MODIFY_PATH"),
                leaves_path: is_set("LINK_NO_MODIFY_PATH"),
                shell: text("SHELL").map(PathBuf::from),
                zsh_folder: text("ZDOTDIR").map(PathBuf::from),
                power_shell_profile: text("LINK_POWERSHELL_PROFILE")
                    .and_then(|profile| std::path::absolute(profile).ok()),
                for_service: own.into_iter().chain(shared).collect(),
                network: NETWORK.iter().filter_map(|name| Some((*name, text(name)?))).collect(),
                has_display: facts::os() != "linux"
                    || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]
                        .iter()
                        .any(|name| text(name).is_some()),
                development_release_keys: text("LINK_DEV_RELEASE_KEYS"),
            },
            surroundings,
        })
    }

    /// Returns the same context, without the backend, the login and the keys of the environment.
    #[must_use]
    pub(crate) fn without_backend(&self) -> Self {
        let mut context = self.clone();
        let environment = &mut context.environment;
        (environment.backend_url, environment.access_token) = (None, None);
        (environment.registration_key, environment.fleet_key) = (None, None);
        (environment.registration_key_file, environment.fleet_key_file) = (None, None);
        context
    }

    /// Returns the form in which tables show their values.
    pub(crate) fn view(&self) -> View {
        self.output.view(now())
    }

    /// Refuses to write to a `folder` of another user: root would create files in a person's home
    /// that the person cannot change. The folder in LINK_HOME is exempt.
    ///
    /// # Errors
    /// If this user does not own the folder.
    pub(crate) fn ensure_own(&self, folder: Option<&Path>) -> Result<(), CliError> {
        match folder.filter(|folder| !self.environment.has_own_home && !fs::is_own(folder)) {
            None => Ok(()),
            Some(folder) => {
                let message =
                    format!("{} belongs to another user; nothing was changed", folder.display());
                Err(CliError::new(ExitCode::CannotWrite, ErrorCode::OtherHome, message).hint(
                    "run the command without sudo. Use `sudo -H` to install for root, \
                     `sudo -iu USER` for another user, LINK_HOME=FOLDER for another folder",
                ))
            }
        }
    }

    /// Returns the port of the agent's local API: from the environment, from the agent's unit, or
    /// the default.
    ///
    /// # Errors
    /// If LINK_LOCAL_PORT is not a port.
    pub(crate) fn local_port(&self) -> Result<u16, CliError> {
        let of_unit = || service::variable(&Layout::new(self.roots.clone()), LOCAL_PORT);
        let given = self.environment.local_port.clone().or_else(of_unit);
        given.map_or_else(
            || Ok(self.configured_port()),
            |text| {
                text.trim().parse().map_err(|_| {
                    CliError::usage(format!("{LOCAL_PORT} is `{text}`, which is not a port"))
                })
            },
        )
    }
}

impl Context {
    /// Returns the port in the agent's configuration, or the default port. Faults of the
    /// configuration are reported at the agent's start.
    fn configured_port(&self) -> u16 {
        let text = fs::read_limited(&self.roots.agent_config(), config::SIZE_LIMIT);
        let config = text.map(|text| config::read(&text).0).unwrap_or_default();
        config.local_api.port.unwrap_or(limits::LOCAL_API_PORT)
    }
}

/// Returns the variables of `environment` that decide how a program reaches the network.
pub(crate) fn network_of(environment: &[(String, String)]) -> Vec<(&'static str, String)> {
    let value = |name: &str| {
        let found = environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).filter(|value| !value.trim().is_empty())
    };
    NETWORK.iter().filter_map(|name| Some((*name, value(name)?))).collect()
}

/// Returns the current time.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Creates the idempotency key of one request and its retries.
pub(crate) fn idempotency_key() -> String {
    uuid::Uuid::now_v7().to_string()
}
