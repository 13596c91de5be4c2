//! The steps after the file steps of a device, for each state of the device.

use super::*;
use crate::decide::service::UnitStep;

#[test]
fn a_first_installation_makes_the_service_registers_starts_and_edits_path() {
    let found = DeviceFound {
        manager: Manager::Systemd,
        backend_url: Some("https://link.example".into()),
        service: unit(UnitStep::Write, false, false),
        can_register: true,
        agent: AgentFound::Stopped,
        start_files: StartFiles {
            bin: "/home/ada/.local/bin".into(),
            edits: vec!["/home/ada/.profile".into(), "/home/ada/.bashrc".into()],
            profile: Some("/home/ada/profile.ps1".into()),
            unlisted: Vec::new(),
        },
    };
    let said: Vec<_> = device(&found, true).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "keep the address of the backend, https://link.example",
            "make and enable the unit `link.service` of the user's systemd",
            "ask systemd to run the services of ada without a login",
            "register this device with the key in the environment",
            "start the agent",
            "put /home/ada/.local/bin on PATH in /home/ada/.profile, /home/ada/.bashrc",
            "load the completions of PowerShell in /home/ada/profile.ps1",
        ]
    );
}

#[test]
fn where_all_is_well_nothing_is_done() {
    let found = DeviceFound { agent: AgentFound::Runs, ..nothing() };
    assert_eq!(device(&found, false), []);
    let (unit, waits_for_login) = (leave(true, false), None);
    let service = ServiceFound::Unit { unit, waits_for_login };
    assert_eq!(device(&DeviceFound { service, ..found }, false), []);
}

#[test]
fn the_agent_is_started_again_when_its_programs_or_its_unit_change_or_its_unit_did_not_start_it() {
    let runs = DeviceFound { agent: AgentFound::Runs, ..nothing() };
    assert_eq!(device(&runs, true), [DeviceStep::RestartAgent]);
    let service = unit(UnitStep::Write, true, true);
    let steps = device(&DeviceFound { service, ..runs.clone() }, false);
    assert_eq!(steps.last(), Some(&DeviceStep::RestartAgent));
    let service = ServiceFound::Unwanted;
    let steps = device(&DeviceFound { service, ..runs }, false);
    assert_eq!(steps, [DeviceStep::RemoveUnit(Manager::Systemd), DeviceStep::RestartAgent]);
    let astray = DeviceFound { agent: AgentFound::RunsWithoutItsUnit, ..nothing() };
    assert_eq!(device(&astray, false), [DeviceStep::RestartAgent]);
    assert_eq!(device(&nothing(), false), [DeviceStep::StartAgent]);
}

#[test]
fn a_unit_of_another_and_a_masked_one_are_left_alone_and_nobody_asks_to_linger_for_them() {
    for step in [UnitStep::Masked, UnitStep::NotOurs] {
        let found = DeviceFound {
            service: unit(step.clone(), false, true),
            agent: AgentFound::Runs,
            ..nothing()
        };
        assert_eq!(device(&found, false), [], "{step:?}");
    }
}

#[test]
fn an_edited_unit_is_read_again_when_systemd_has_read_another() {
    let edited = UnitStep::Keep { difference: String::new() };
    for (step, enabled, stale, change) in [
        (UnitStep::Leave, true, false, None),
        (UnitStep::Leave, true, true, Some(UnitChange::Reload)),
        (UnitStep::Leave, false, false, Some(UnitChange::Enable)),
        (edited.clone(), true, true, Some(UnitChange::Reload)),
        (edited, false, true, Some(UnitChange::Enable)),
        (UnitStep::Write, true, false, Some(UnitChange::Write)),
        (UnitStep::Masked, false, true, None),
    ] {
        let unit = UnitFound { step, enabled, stale };
        assert_eq!(unit.change(), change, "{unit:?}");
    }
}

#[test]
fn start_files_that_hold_our_block_are_listed_and_not_edited() {
    let unlisted = vec![PathBuf::from("/home/ada/.profile")];
    let start_files = StartFiles { unlisted: unlisted.clone(), ..StartFiles::default() };
    let found = DeviceFound { agent: AgentFound::Runs, start_files, ..nothing() };
    assert_eq!(device(&found, false), [DeviceStep::ListPath(unlisted)]);
}

fn nothing() -> DeviceFound {
    DeviceFound {
        manager: Manager::Systemd,
        backend_url: None,
        service: ServiceFound::Detached,
        can_register: false,
        agent: AgentFound::Stopped,
        start_files: StartFiles::default(),
    }
}

fn leave(enabled: bool, stale: bool) -> UnitFound {
    UnitFound { step: UnitStep::Leave, enabled, stale }
}

fn unit(step: UnitStep, enabled: bool, stale: bool) -> ServiceFound {
    let unit = UnitFound { step, enabled, stale };
    ServiceFound::Unit { unit, waits_for_login: Some("ada".into()) }
}
