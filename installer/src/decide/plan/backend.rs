//! The steps after the file steps of a backend: configuration, service, and removal of old versions.

use std::{fmt, path::PathBuf};

use crate::decide::service::{SERVICE_USER, Scope, UnitChange, UnitFound, UnitStep};

/// The state of a backend, except its files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BackendFound {
    /// The path of the configuration, if the file is missing.
    pub missing_config: Option<PathBuf>,
    /// The service that starts the backend. None if a person starts it.
    pub service: Option<BackendService>,
    /// Folders of versions that can be deleted once this version runs.
    pub outdated: Vec<String>,
}

/// The service of a backend.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BackendService {
    pub scope: Scope,
    pub unit: UnitFound,
    /// Whether the user of the system service exists.
    pub has_user: bool,
    pub active: bool,
}

/// One step after the file steps.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BackendStep {
    Configure(PathBuf),
    OpenToService,
    MakeUser,
    PlaceUnit(UnitChange),
    Start,
    Restart,
    /// Delete these versions.
    Prune(Vec<String>),
}

/// Decides the steps after the file steps of a backend. `files_change` says whether a program or another file of the
/// installation changes.
#[must_use]
pub fn backend(found: &BackendFound, files_change: bool) -> Vec<BackendStep> {
    let mut steps: Vec<_> =
        found.missing_config.iter().cloned().map(BackendStep::Configure).collect();
    if let Some(service) = &found.service {
        steps.extend(serve(service, files_change));
    }
    if !found.outdated.is_empty() {
        steps.push(BackendStep::Prune(found.outdated.clone()));
    }
    steps
}

fn serve(service: &BackendService, files_change: bool) -> Vec<BackendStep> {
    let mut steps = Vec::new();
    if service.scope == Scope::System {
        // Always runs, because an owner or a copy may have changed the permissions since the last installation.
        steps.push(BackendStep::OpenToService);
    }
    if !service.unit.is_ours() {
        return steps;
    }
    if service.scope == Scope::System && !service.has_user {
        steps.push(BackendStep::MakeUser);
    }
    let change = service.unit.change();
    steps.extend(change.map(BackendStep::PlaceUnit));
    let is_edited = matches!(service.unit.step, UnitStep::Keep { .. });
    match (service.active, files_change || is_edited || change == Some(UnitChange::Write)) {
        (false, _) => steps.push(BackendStep::Start),
        (true, true) => steps.push(BackendStep::Restart),
        (true, false) => {}
    }
    steps
}

impl fmt::Display for BackendStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configure(path) => write!(f, "write {}", path.display()),
            Self::OpenToService => {
                f.write_str("let the user of the service read the programs and the configuration")
            }
            Self::MakeUser => write!(f, "make the user `{SERVICE_USER}`, as whom the service runs"),
            Self::PlaceUnit(UnitChange::Write) => {
                f.write_str("write and enable the unit `link-backend.service`")
            }
            Self::PlaceUnit(UnitChange::Enable) => {
                f.write_str("enable the unit `link-backend.service`")
            }
            Self::PlaceUnit(UnitChange::Reload) => {
                f.write_str("have systemd read the unit `link-backend.service` again")
            }
            Self::Start => f.write_str("start the backend, and wait until it is ready"),
            Self::Restart => f.write_str("start the backend again, and wait until it is ready"),
            Self::Prune(versions) => {
                write!(f, "delete the versions before: {}", versions.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_of_a_machine_gets_its_user_and_is_started() {
        let found = BackendFound {
            missing_config: Some("/etc/link-backend/backend.toml".into()),
            service: Some(service(Scope::System, UnitStep::Write)),
            outdated: vec!["1.2.0".into()],
        };
        let said: Vec<_> = backend(&found, true).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "write /etc/link-backend/backend.toml",
                "let the user of the service read the programs and the configuration",
                "make the user `link-backend`, as whom the service runs",
                "write and enable the unit `link-backend.service`",
                "start the backend, and wait until it is ready",
                "delete the versions before: 1.2.0",
            ]
        );
    }

    #[test]
    fn a_backend_that_runs_as_it_should_is_left_alone() {
        let running = BackendService { active: true, ..service(Scope::User, UnitStep::Leave) };
        let found = |service| BackendFound { service, ..nothing() };
        assert_eq!(backend(&found(Some(running.clone())), false), []);
        assert_eq!(backend(&found(None), true), []);
        assert_eq!(backend(&found(Some(running.clone())), true), [BackendStep::Restart]);
        let stopped = BackendService { active: false, ..running };
        assert_eq!(backend(&found(Some(stopped)), false), [BackendStep::Start]);
    }

    #[test]
    fn a_masked_unit_is_not_started() {
        let found =
            BackendFound { service: Some(service(Scope::User, UnitStep::Masked)), ..nothing() };
        assert_eq!(backend(&found, true), []);
    }

    fn nothing() -> BackendFound {
        BackendFound { missing_config: None, service: None, outdated: Vec::new() }
    }

    fn service(scope: Scope, step: UnitStep) -> BackendService {
        let unit = UnitFound { step, enabled: true, stale: false };
        BackendService { scope, unit, has_user: false, active: false }
    }
}
