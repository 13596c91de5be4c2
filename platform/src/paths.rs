//! The folders where Link keeps its files. One scratch home can hold all of them.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

/// The folders of one installation. This type creates no folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Roots {
    /// Program versions and engines: `versions/<v>`, `current`, `engines/`.
    pub data: PathBuf,
    /// Identity, journal, session files, models.
    pub state: PathBuf,
    /// Hand-edited configuration and the credentials of `link login`.
    pub config: PathBuf,
    /// Folder of the `link` command.
    pub bin: PathBuf,
}

/// The user has no home folder.
#[derive(Debug, thiserror::Error)]
#[error("this user has no home folder; set LINK_HOME to a folder for Link's files")]
pub struct NoHome;

impl Roots {
    /// Returns the folders below `home` (the value of `LINK_HOME`), or the user's usual ones.
    ///
    /// # Errors
    /// [`NoHome`] if no home is given and the user has none.
    pub fn find(home: Option<&Path>) -> Result<Self, NoHome> {
        if let Some(home) = home {
            return Ok(Self::below(home));
        }
        let base = etcetera::choose_base_strategy().map_err(|_| NoHome)?;
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Ok(Self {
            data: base.data_dir().join("link"),
            state: state.join("link"),
            config: base.config_dir().join("link"),
            bin: base.home_dir().join(".local").join("bin"),
        })
    }

    /// Returns the user's home, and the folder where all programs of the user keep their configuration.
    ///
    /// # Errors
    /// [`NoHome`] when the user has none.
    pub fn of_user() -> Result<(PathBuf, PathBuf), NoHome> {
        let base = etcetera::choose_base_strategy().map_err(|_| NoHome)?;
        Ok((base.home_dir().to_owned(), base.config_dir()))
    }

    /// Returns the folders of an installation that lives below one folder.
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

    /// Folder of the running agent that only programs of this user can read.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.state.join("run")
    }

    /// File with the token that a request for an action must present. Only this user can read it.
    #[must_use]
    pub fn control_token(&self) -> PathBuf {
        self.run().join("control.token")
    }

    /// File with the token for programs that only read the state of the agent.
    #[must_use]
    pub fn reader_token(&self) -> PathBuf {
        self.run().join("reader.token")
    }

    /// Socket of the running agent for programs of this user.
    #[must_use]
    pub fn control_socket(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    /// File with the port of the local API of the running agent.
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

    /// The agent's hand-edited configuration.
    #[must_use]
    pub fn agent_config(&self) -> PathBuf {
        self.config.join("agent.json")
    }

    /// Logs of the agent and of the engines.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Where model files are kept.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.state.join("models")
    }

    /// Where engines are installed: a folder for each engine, one below it for each build.
    #[must_use]
    pub fn engines(&self) -> PathBuf {
        self.data.join("engines")
    }
}
