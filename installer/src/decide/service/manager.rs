//! The service managers that can start the guard, and their words. Pure.

use serde::Serialize;

use super::Tier;

/// A service manager.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Manager {
    /// The user's systemd, on Linux.
    Systemd,
    /// The user's launchd, on macOS.
    Launchd,
    /// The task scheduler of Windows.
    TaskScheduler,
}

impl Manager {
    /// Returns the service manager of the operating system `os`, which has the names of `std::env::consts::OS`.
    #[must_use]
    pub fn of(os: &str) -> Self {
        match os {
            "macos" => Self::Launchd,
            "windows" => Self::TaskScheduler,
            _ => Self::Systemd,
        }
    }

    /// Returns the service manager with the name `word` in `LINK_SERVICE`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        [Self::Systemd, Self::Launchd, Self::TaskScheduler]
            .into_iter()
            .find(|manager| manager.word() == word)
    }

    /// Its name in `LINK_SERVICE`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
            Self::TaskScheduler => "task",
        }
    }

    /// Its name in a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
            Self::TaskScheduler => "the task scheduler",
        }
    }

    /// Returns the name of the manager's entry for Link.
    #[must_use]
    pub const fn entry(self) -> &'static str {
        match self {
            Self::Systemd => "link.service",
            Self::Launchd => super::launchd::LABEL,
            Self::TaskScheduler => super::task::NAME,
        }
    }

    /// Returns the manager's word for such an entry, with its article.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Systemd => "the unit",
            Self::Launchd => "the launch agent",
            Self::TaskScheduler => "the scheduled task",
        }
    }

    /// The tier of an agent that it starts.
    #[must_use]
    pub const fn tier(self) -> Tier {
        match self {
            Self::Systemd => Tier::SystemdUser,
            Self::Launchd => Tier::LaunchAgent,
            Self::TaskScheduler => Tier::LogonTask,
        }
    }

    /// The command that shows what it knows about Link.
    #[must_use]
    pub const fn inspection(self) -> &'static str {
        match self {
            Self::Systemd => "systemctl --user status link",
            Self::Launchd => "launchctl print gui/$(id -u)/dev.link.agent",
            Self::TaskScheduler => "schtasks /Query /V /FO LIST",
        }
    }
}
