//! Where Link keeps its files. One scratch home can hold all of them.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

/// The folders of one installation. Nothing is created by asking.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Roots {
    /// Program versions and engines: `versions/<v>`, `current`, `engines/`.
    pub data: PathBuf,
    /// Identity, journal, session files, models.
    pub state: PathBuf,
    /// Hand-edited configuration and the credentials of `link login`.
    pub config: PathBuf,
    /// Where the `link` command stands.
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
    /// [`NoHome`] when none is given and the user has none.
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

    /// Returns the user's home and the user's folder of configurations of all programs.
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

    /// The file that says who this device is.
    #[must_use]
    pub fn identity(&self) -> PathBuf {
        self.state.join("identity.json")
    }

    /// What the running agent keeps for this user's programs alone.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.state.join("run")
    }

    /// What a request for an action of the agent must know; only this user can read it.
    #[must_use]
    pub fn control_token(&self) -> PathBuf {
        self.run().join("control.token")
    }

    /// What a program must know that reads everything the agent shows and asks for no action.
    #[must_use]
    pub fn reader_token(&self) -> PathBuf {
        self.run().join("reader.token")
    }

    /// Where the running agent listens for this user's programs.
    #[must_use]
    pub fn control_socket(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    /// Which port the local API of the running agent has.
    #[must_use]
    pub fn local_api(&self) -> PathBuf {
        self.run().join("local-api.json")
    }

    /// The lock that a running agent holds.
    #[must_use]
    pub fn agent_lock(&self) -> PathBuf {
        self.state.join("agent.lock")
    }

    /// The process id of the running agent, as text.
    #[must_use]
    pub fn agent_pid(&self) -> PathBuf {
        self.state.join("agent.pid")
    }

    /// What the agent's journal keeps.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }

    /// The session files, by which an agent that was ended takes up what it did.
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
