//! The process's surroundings, read once: environment, folders, clock, chance.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: the one place that reads the environment and the clock and makes ids"
)]

use std::path::PathBuf;

use jiff::Timestamp;
use link_platform::paths::Roots;
use link_protocol::{limits, secret::Secret};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::{args::Global, error::CliError, exit_code::ExitCode, output::Output};

/// What every command is given.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) output: Output,
    pub(crate) roots: Roots,
    pub(crate) environment: Environment,
}

/// The variables that the command reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) backend_url: Option<String>,
    pub(crate) registration_key: Option<Secret>,
    pub(crate) fleet_key: Option<Secret>,
    pub(crate) access_token: Option<Secret>,
    pub(crate) local_port: Option<String>,
    pub(crate) path: Option<std::ffi::OsString>,
}

impl Context {
    /// Reads the surroundings.
    ///
    /// # Errors
    /// When no folder for Link's files can be found.
    pub(crate) fn read(global: Global) -> Result<Self, CliError> {
        let text = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let secret = |name| text(name).map(|value| Secret::new(value.trim()));
        let home = std::env::var_os("LINK_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = home.map(std::path::absolute).transpose().map_err(|error| {
            CliError::new(ExitCode::CannotWrite, "file", format!("cannot use LINK_HOME: {error}"))
        })?;
        let roots = Roots::find(home.as_deref())
            .map_err(|error| CliError::new(ExitCode::CannotWrite, "no-home", error.to_string()))?;
        Ok(Self {
            output: Output::new(global),
            roots,
            environment: Environment {
                backend_url: text("LINK_BACKEND_URL"),
                registration_key: secret("LINK_REGISTRATION_KEY"),
                fleet_key: secret("LINK_FLEET_KEY"),
                access_token: secret("LINK_ACCESS_TOKEN"),
                local_port: text("LINK_LOCAL_PORT"),
                path: std::env::var_os("PATH"),
            },
        })
    }

    /// Returns the port of the agent's local API.
    ///
    /// # Errors
    /// When LINK_LOCAL_PORT is not a port.
    pub(crate) fn local_port(&self) -> Result<u16, CliError> {
        self.environment.local_port.as_deref().map_or(Ok(limits::LOCAL_API_PORT), |text| {
            text.trim().parse().map_err(|_| {
                CliError::usage(format!("LINK_LOCAL_PORT is `{text}`, which is not a port"))
            })
        })
    }
}

/// Returns the time.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Makes a key under which one wish is sent, however often.
pub(crate) fn idempotency_key() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Makes the seed of a key pair.
///
/// # Errors
/// When the system has no randomness.
pub(crate) fn random_seed() -> Result<[u8; 32], CliError> {
    let mut seed = [0; 32];
    SystemRandom::new().fill(&mut seed).map_err(|_| {
        CliError::new(ExitCode::Failed, "no-randomness", "the system gives no randomness")
    })?;
    Ok(seed)
}
