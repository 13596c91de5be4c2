//! The steps after the file steps of a device: service, registration, agent, and PATH.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use crate::decide::service::{Manager, UnitChange, UnitFound};

/// The state of a device, except its files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeviceFound {
    pub manager: Manager,
    /// The backend address to store for later commands. None if it is already stored.
    pub backend_url: Option<String>,
    pub service: ServiceFound,
    /// Whether the device is unregistered and the caller gave a registration key.
    pub can_register: bool,
    pub agent: AgentFound,
    pub start_files: StartFiles,
}

/// What starts the guard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ServiceFound {
    /// No unit starts the guard, and none is requested.
    Detached,
    /// A unit starts the guard, but none is requested.
    Unwanted,
    /// A unit starts the guard, or will start it after the installation.
    Unit {
        unit: UnitFound,
        /// The user for whom systemd should run services without a login. None if it already does.
        waits_for_login: Option<String>,
    },
}

/// Whether the agent runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AgentFound {
    Stopped,
    Runs,
    /// The agent was started without its unit, so the unit reports that the agent does not run.
    RunsWithoutItsUnit,
}

/// The edits of the shells' start files.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StartFiles {
    /// The folder to put on PATH.
    pub bin: PathBuf,
    /// Start files that must be edited.
    pub edits: Vec<PathBuf>,
    /// The profile of PowerShell that must be edited.
    pub profile: Option<PathBuf>,
    /// Start files that hold our block although no receipt lists them.
    pub unlisted: Vec<PathBuf>,
}

/// One step after the file steps.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DeviceStep {
    KeepBackend(String),
    RemoveUnit(Manager),
    PlaceUnit(Manager, UnitChange),
    /// Ask the system to keep the services of a user running without a login.
    Linger(String),
    Register,
    StartAgent,
    RestartAgent,
    EditPath {
        bin: PathBuf,
        files: Vec<PathBuf>,
    },
    /// Have a profile of PowerShell load the completions.
    LoadCompletions(PathBuf),
    /// Add start files that hold our block to the receipt.
    ListPath(Vec<PathBuf>),
}

/// Decides the steps after the file steps of a device. `files_change` says whether a program or another file of the
/// installation changes.
#[must_use]
pub fn device(found: &DeviceFound, files_change: bool) -> Vec<DeviceStep> {
    let mut steps: Vec<_> =
        found.backend_url.iter().cloned().map(DeviceStep::KeepBackend).collect();
    let service_changes = match &found.service {
        ServiceFound::Detached => false,
        ServiceFound::Unwanted => {
            steps.push(DeviceStep::RemoveUnit(found.manager));
            true
        }
        ServiceFound::Unit { unit, waits_for_login } => {
            let place = |change| DeviceStep::PlaceUnit(found.manager, change);
            steps.extend(unit.change().map(place));
            let asks = waits_for_login.iter().filter(|_| unit.is_ours());
            steps.extend(asks.cloned().map(DeviceStep::Linger));
            unit.change() == Some(UnitChange::Write)
        }
    };
    if found.can_register {
        steps.push(DeviceStep::Register);
    }
    // Restart an agent of another build, or one that another unit has started.
    match (found.agent, files_change || service_changes) {
        (AgentFound::Stopped, _) => steps.push(DeviceStep::StartAgent),
        (AgentFound::Runs, false) => {}
        (AgentFound::Runs, true) | (AgentFound::RunsWithoutItsUnit, _) => {
            steps.push(DeviceStep::RestartAgent);
        }
    }
    let StartFiles { bin, edits, profile, unlisted } = &found.start_files;
    if !edits.is_empty() {
        steps.push(DeviceStep::EditPath { bin: bin.clone(), files: edits.clone() });
    }
    steps.extend(profile.iter().cloned().map(DeviceStep::LoadCompletions));
    // The edit of a start file also lists the others.
    if edits.is_empty() && !unlisted.is_empty() {
        steps.push(DeviceStep::ListPath(unlisted.clone()));
    }
    steps
}

impl fmt::Display for DeviceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepBackend(url) => write!(f, "keep the address of the backend, {url}"),
            Self::RemoveUnit(manager) => {
                write!(f, "stop and remove {} `{}`", manager.kind(), manager.entry())
            }
            Self::PlaceUnit(manager @ Manager::Systemd, UnitChange::Write) => write!(
                f,
                "make and enable {} `{}` of the user's systemd",
                manager.kind(),
                manager.entry()
            ),
            Self::PlaceUnit(manager, UnitChange::Write) => {
                write!(f, "make and enable {} `{}`", manager.kind(), manager.entry())
            }
            Self::PlaceUnit(manager, UnitChange::Enable) => {
                write!(f, "enable {} `{}`", manager.kind(), manager.entry())
            }
            Self::PlaceUnit(manager, UnitChange::Reload) => {
                let (name, kind, entry) = (manager.name(), manager.kind(), manager.entry());
                write!(f, "have {name} read {kind} `{entry}` again")
            }
            Self::Linger(user) => {
                write!(f, "ask systemd to run the services of {user} without a login")
            }
            Self::Register => f.write_str("register this device with the key in the environment"),
            Self::StartAgent => f.write_str("start the agent"),
            Self::RestartAgent => f.write_str("stop the agent, and start it again"),
            Self::EditPath { bin, files } => {
                write!(f, "put {} on PATH in {}", bin.display(), listed(files))
            }
            Self::LoadCompletions(profile) => {
                write!(f, "load the completions of PowerShell in {}", profile.display())
            }
            Self::ListPath(files) => {
                write!(f, "list in the receipt what puts the command on PATH: {}", listed(files))
            }
        }
    }
}

fn listed(files: &[PathBuf]) -> String {
    let names: Vec<_> = files.iter().map(|file| Path::display(file).to_string()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
