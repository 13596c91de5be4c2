//! The folders in which Link keeps its files. A single home folder can contain all of them.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

/// The name of the file with the secret of an engine, in the folder of its run below [`Roots::run`].
pub const ENGINE_KEY: &str = "key";

/// The variables besides `LINK_HOME` that name folders of an installation. On Windows, programs read none of them.
pub const VARIABLES: &[&str] = if cfg!(windows) {
    &[]
} else {
    &["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_BIN_HOME"]
};

/// The folders of one installation. This type creates no folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Roots {
    /// Program versions and engines: `versions/<v>`, `current`, `engines/`.
    pub data: PathBuf,
    /// Identity, journal, session files and models.
    pub state: PathBuf,
    /// Configuration that people edit, and the credentials of `link login`.
    pub config: PathBuf,
    /// The folder of the `link` command.
    pub bin: PathBuf,
}

/// The user has no home folder.
#[derive(Debug, thiserror::Error)]
#[error("this user has no home folder; set LINK_HOME to a folder for Link's files")]
pub struct NoHome;

/// Returns the folder in which the user keeps programs, if another one than usual is set. As with the other folders of the
/// XDG base directories, a relative path does not count.
#[expect(
    clippy::disallowed_methods,
    reason = "IO shell: reads a variable as etcetera reads those of the other folders"
)]
fn own_bin() -> Option<PathBuf> {
    let name = VARIABLES.iter().find(|name| **name == "XDG_BIN_HOME")?;
    std::env::var_os(name).map(PathBuf::from).filter(|bin| bin.is_absolute())
}

impl Roots {
    /// Returns the folders below `home` (the value of `LINK_HOME`). Without `home`, returns the user's default folders.
    ///
    /// # Errors
    /// [`NoHome`] if `home` is not given and the user has no home folder.
    pub fn find(home: Option<&Path>) -> Result<Self, NoHome> {
        if let Some(home) = home {
            // Engines start in a folder of their own, where a relative path would lead elsewhere.
            let absolute = std::path::absolute(home);
            return Ok(Self::below(absolute.as_deref().unwrap_or(home)));
        }
        let base = etcetera::choose_base_strategy().map_err(|_| NoHome)?;
        let bin = own_bin().unwrap_or_else(|| base.home_dir().join(".local").join("bin"));
        if cfg!(windows) {
            // The other folder of programs is copied to each machine on which the user logs in, with gigabytes of models
            // and with the identity of this device.
            let local = base.cache_dir().join("link");
            return Ok(Self { data: local.clone(), state: local.clone(), config: local, bin });
        }
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Ok(Self {
            data: base.data_dir().join("link"),
            state: state.join("link"),
            config: base.config_dir().join("link"),
            bin,
        })
    }

    /// Returns the user's home folder, and the folder in which the user's programs keep their configuration.
    ///
    /// # Errors
    /// [`NoHome`] if the user has no home folder.
    pub fn of_user() -> Result<(PathBuf, PathBuf), NoHome> {
        let base = etcetera::choose_base_strategy().map_err(|_| NoHome)?;
        Ok((base.home_dir().to_owned(), base.config_dir()))
    }

    /// Returns the folders of an installation that is inside one folder.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self {
            data: home.join("data"),
            state: home.join("state"),
            config: home.join("config"),
            bin: home.join("bin"),
        }
    }

    /// The file with the identity of this device.
    #[must_use]
    pub fn identity(&self) -> PathBuf {
        self.state.join("identity.json")
    }

    /// The folder of files that the running agent creates. Only this user can read it.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.state.join("run")
    }

    /// The file with the token that a request must present to change something. Only this user can read it.
    #[must_use]
    pub fn control_token(&self) -> PathBuf {
        self.run().join("control.token")
    }

    /// The file with the token for programs that only read the state of the agent.
    #[must_use]
    pub fn reader_token(&self) -> PathBuf {
        self.run().join("reader.token")
    }

    /// The socket of the running agent for programs of this user.
    #[must_use]
    pub fn control_socket(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    /// The file with the port of the running agent's local API.
    #[must_use]
    pub fn local_api(&self) -> PathBuf {
        self.run().join("local-api.json")
    }

    /// The lock that the running agent holds.
    #[must_use]
    pub fn agent_lock(&self) -> PathBuf {
        self.state.join("agent.lock")
    }

    /// The process id of the running agent, as text.
    #[must_use]
    pub fn agent_pid(&self) -> PathBuf {
        self.state.join("agent.pid")
    }

    /// The agent's journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }

    /// The session files, from which a restarted agent resumes.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.state.join("configs")
    }

    /// The agent's configuration, which people edit.
    #[must_use]
    pub fn agent_config(&self) -> PathBuf {
        self.config.join("agent.json")
    }

    /// The folder with the logs of the agent and of the engines.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// The folder of model files.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.state.join("models")
    }

    /// The folder of engines: it contains one folder for each engine, with one folder for each build.
    #[must_use]
    pub fn engines(&self) -> PathBuf {
        self.data.join("engines")
    }

    /// The folder of the plugins that a person installed: it contains one folder for each plugin.
    #[must_use]
    pub fn plugins(&self) -> PathBuf {
        self.data.join("plugins")
    }
}
