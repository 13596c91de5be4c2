//! The steps after the files of a device: service, registration, agent, PATH.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use crate::decide::service::{UnitChange, UnitFound};

/// The state of a device, except its files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeviceFound {
    /// The address of the backend for later commands, if it is not stored yet.
    pub backend_url: Option<String>,
    pub service: ServiceFound,
    /// Whether the device is unregistered and a key for its registration was given.
    pub can_register: bool,
    pub agent: AgentFound,
    pub start_files: StartFiles,
}

/// What starts the guard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ServiceFound {
    /// No unit starts the guard, and none is wanted.
    Detached,
    /// A unit starts the guard, and none is wanted.
    Unwanted,
    /// A unit starts the guard, or will.
    Unit {
        unit: UnitFound,
        /// The user whose services stop at the logout.
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

/// The changes to the start files of the shells.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StartFiles {
    /// The folder that belongs on PATH.
    pub bin: PathBuf,
    /// Files that do not put the folder on PATH.
    pub edits: Vec<PathBuf>,
    /// Files that hold our block and stand in no receipt.
    pub unlisted: Vec<PathBuf>,
}

/// One step after the files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DeviceStep {
    KeepBackend(String),
    RemoveUnit,
    PlaceUnit(UnitChange),
    /// Ask the system to keep the services of a user running without a login.
    Linger(String),
    Register,
    StartAgent,
    RestartAgent,
    EditPath {
        bin: PathBuf,
        files: Vec<PathBuf>,
    },
    /// Add the start files that hold our block to the receipt.
    ListPath(Vec<PathBuf>),
}

/// Decides the steps after the files of a device. `files_change` says whether a program or another file of
/// the installation changes.
#[must_use]
pub fn device(found: &DeviceFound, files_change: bool) -> Vec<DeviceStep> {
    let mut steps: Vec<_> =
        found.backend_url.iter().cloned().map(DeviceStep::KeepBackend).collect();
    let service_changes = match &found.service {
        ServiceFound::Detached => false,
        ServiceFound::Unwanted => {
            steps.push(DeviceStep::RemoveUnit);
            true
        }
        ServiceFound::Unit { unit, waits_for_login } => {
            steps.extend(unit.change().map(DeviceStep::PlaceUnit));
            let asks = waits_for_login.iter().filter(|_| unit.is_ours());
            steps.extend(asks.cloned().map(DeviceStep::Linger));
            unit.change() == Some(UnitChange::Write)
        }
    };
    if found.can_register {
        steps.push(DeviceStep::Register);
    }
    // One of another build, or of another unit, is replaced by this one.
    match (found.agent, files_change || service_changes) {
        (AgentFound::Stopped, _) => steps.push(DeviceStep::StartAgent),
        (AgentFound::Runs, false) => {}
        (AgentFound::Runs, true) | (AgentFound::RunsWithoutItsUnit, _) => {
            steps.push(DeviceStep::RestartAgent);
        }
    }
    let StartFiles { bin, edits, unlisted } = &found.start_files;
    match (edits.is_empty(), unlisted.is_empty()) {
        (false, _) => steps.push(DeviceStep::EditPath { bin: bin.clone(), files: edits.clone() }),
        (true, false) => steps.push(DeviceStep::ListPath(unlisted.clone())),
        (true, true) => {}
    }
    steps
}

impl fmt::Display for DeviceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepBackend(url) => write!(f, "keep the address of the backend, {url}"),
            Self::RemoveUnit => f.write_str("stop and remove the unit `link.service`"),
            Self::PlaceUnit(UnitChange::Write) => {
                f.write_str("make and enable the unit `link.service` of the user's systemd")
            }
            Self::PlaceUnit(UnitChange::Enable) => f.write_str("enable the unit `link.service`"),
            Self::PlaceUnit(UnitChange::Reload) => {
                f.write_str("have systemd read the unit `link.service` again")
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
