//! The user's systemd: writes, enables, starts, stops and removes the unit.
//!
//! The crate `service-manager` writes, enables, starts and disables units. This module adds the missing parts: checking
//! whether the manager answers, reloading a changed unit, stopping it before its removal, resetting a failure, and
//! running services without a login.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks at files of the service")]

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{
    paths::Roots,
    process::{self, Answer, Call},
    user_manager,
};
use link_protocol::command::Sha256Hex;
use service_manager::{
    RestartPolicy, ServiceInstallCtx, ServiceLabel, ServiceManager as _, ServiceStartCtx,
    ServiceStopCtx, ServiceUninstallCtx, SystemdServiceManager,
};
use sha2::{Digest as _, Sha256};

use super::{PATIENCE, error::ServiceError};
use crate::{
    decide::service::{
        Facts, Manager, START, Unit, UnitFile, UnitFound, UnitState, UnitStep, manager_answers,
        starts, unit_state, unit_step,
    },
    layout::Layout,
    receipt::{InstalledUnit, Receipt},
    versions::{self, ChangeError, Versions},
};

mod linger;

use linger::stop_lingering;
pub use linger::{Linger, ask_to_linger};

/// The unit's name.
const NAME: &str = "link.service";

/// Returns whether the user's systemd answers.
#[must_use]
pub(super) fn answers() -> bool {
    // `degraded` is an answer too, although the exit code is a failure.
    systemctl(&["is-system-running"]).is_ok_and(|answer| manager_answers(&answer.stdout))
}

/// Returns the unit that starts the guard of this installation.
pub(super) fn unit_of_our_guard(layout: &Layout) -> Option<InstalledUnit> {
    let path = unit_path()?;
    let text = std::fs::read_to_string(&path).ok()?;
    let unit = InstalledUnit { path, written: Vec::new(), environment: Vec::new() };
    starts(&text, &layout.guard()).then_some(unit)
}

/// Returns whether systemd runs the unit or is about to.
#[must_use]
pub(super) fn is_active() -> bool {
    let answer = systemctl(&["show", "--property=ActiveState", "--value", NAME]);
    answer.is_ok_and(|answer| {
        matches!(&*answer.stdout, "active" | "activating" | "reloading" | "deactivating")
    })
}

/// The step for the unit, and the facts behind that decision.
struct Survey {
    step: UnitStep,
    path: PathBuf,
    /// The wanted unit, including its previous variables.
    unit: Unit,
    wanted: String,
    written: Vec<String>,
}

/// Compares the existing unit with `unit`.
///
/// # Errors
/// [`ServiceError`].
pub(super) fn look(layout: &Layout, unit: Unit) -> Result<UnitFound, ServiceError> {
    let survey = survey(&Receipt::read(&layout.receipt()).unwrap_or_default(), unit)?;
    let asked = systemctl(&["show", "--property=NeedDaemonReload", "--value", NAME]);
    let stale = asked.is_ok_and(|answer| answer.stdout == "yes");
    Ok(UnitFound { enabled: is_enabled(&survey.path), stale, step: survey.step })
}

/// Writes and enables the unit, unless somebody has changed it. Keeps the previous variables that
/// `unit` does not set.
///
/// # Errors
/// [`ServiceError`].
pub(super) fn place(layout: &Layout, unit: Unit) -> Result<UnitStep, ServiceError> {
    let versions = Versions::lock_within(layout, versions::PATIENCE)?;
    let receipt = Receipt::load(&layout.receipt()).map_err(ChangeError::from)?.unwrap_or_default();
    let Survey { step, path, unit, wanted, mut written } = survey(&receipt, unit)?;
    match &step {
        UnitStep::Write => {
            // Update the receipt first: a unit that it does not list would never be removed.
            if !written.contains(&sha256(&wanted)) {
                written.push(sha256(&wanted));
            }
            let environment = unit.environment.clone();
            versions.change_receipt(|receipt| {
                receipt.unit = Some(InstalledUnit { path: path.clone(), written, environment });
                receipt.add_folders(path.parent().unwrap_or(&path));
            })?;
            let written = SystemdServiceManager::user().install(context(&unit, wanted));
            written.map_err(failed("enable"))?;
        }
        UnitStep::Leave | UnitStep::Keep { .. } if !is_enabled(&path) => {
            done("enable", systemctl(&["enable", NAME]))?;
        }
        UnitStep::Leave | UnitStep::Keep { .. } | UnitStep::Masked | UnitStep::NotOurs => {}
    }
    if !matches!(step, UnitStep::Masked | UnitStep::NotOurs) {
        done("reload", systemctl(&["daemon-reload"]))?;
    }
    Ok(step)
}

fn survey(receipt: &Receipt, unit: Unit) -> Result<Survey, ServiceError> {
    let path = unit_path().ok_or(ServiceError::NoHome("a unit"))?;
    let recorded = receipt.unit.as_ref().filter(|unit| unit.path == path);
    let unit = unit.keeping(recorded.map_or(&[], |recorded| &recorded.environment));
    let written = recorded.map(|recorded| recorded.written.clone()).unwrap_or_default();
    let wanted = unit.text().ok_or(ServiceError::Unwritable("a unit"))?;
    let bytes = std::fs::read(&path).ok();
    let text = bytes.as_deref().map(String::from_utf8_lossy);
    let hash = text.as_deref().map(sha256).unwrap_or_default();
    let found = match &text {
        _ if is_mask(&path) => UnitFile::Mask,
        None => UnitFile::Nothing,
        Some(text) => UnitFile::Text { text, hash: &hash },
    };
    let step = unit_step(found, &written, &wanted);
    Ok(Survey { step, path, unit, wanted, written })
}

/// Removes the unit of an earlier run, and undoes its other requests to systemd. Returns whether there was a unit.
///
/// # Errors
/// [`ServiceError`]. The receipt still lists what could not be removed.
pub(super) fn withdraw(layout: &Layout) -> Result<bool, ServiceError> {
    let receipt = Receipt::load(&layout.receipt()).map_err(ChangeError::from)?.unwrap_or_default();
    // A damaged receipt was rebuilt without its unit.
    let Some(unit) = receipt.unit.or_else(|| unit_of_our_guard(layout)) else {
        return Ok(false);
    };
    // Without the lock, because the guard may need it before it can end.
    if let Some((_, source)) = remove_unit(&unit.path).pop() {
        return Err(failed("remove")(source));
    }
    let lingers = receipt.linger.filter(|user| stop_lingering(user).is_some());
    Versions::lock_within(layout, versions::PATIENCE)?.change_receipt(|receipt| {
        receipt.unit = None;
        receipt.linger = lingers;
    })?;
    Ok(true)
}

/// Starts the unit. Returns once the guard has reported that the agent is started.
///
/// # Errors
/// If systemd cannot start the unit.
pub(super) fn start() -> Result<(), ServiceError> {
    // Systemd does not start a unit that has failed too often until the failure is reset.
    let _had_not_failed = systemctl(&["reset-failed", NAME]);
    let started = SystemdServiceManager::user().start(ServiceStartCtx { label: label() });
    started.map_err(|source| match load_state() {
        UnitState::Masked => ServiceError::Masked,
        UnitState::Absent
        | UnitState::Unknown
        | UnitState::Loaded
        | UnitState::Empty
        | UnitState::Refused(_) => failed("start")(source),
    })
}

/// Stops the unit.
///
/// # Errors
/// If systemd cannot stop the unit.
pub(super) fn stop() -> Result<(), ServiceError> {
    let stopped = SystemdServiceManager::user().stop(ServiceStopCtx { label: label() });
    stopped.map_err(failed("stop"))
}

/// Collects the facts that decide whether the agent survives a logout and a reboot.
#[must_use]
pub(super) fn observe(layout: &Layout, user: &str) -> Facts {
    let unit = Manager::Systemd.made(layout);
    let systemd_is_init = user_manager::systemd_is_init();
    Facts {
        manager: Manager::Systemd,
        unit: unit.as_ref().map_or(UnitState::Absent, |unit| observe_unit(&unit.path)),
        enabled: unit.is_some_and(|unit| is_enabled(&unit.path)),
        lingers: user_manager::linger_file(user).exists(),
        systemd_is_init,
        logout_kills: logout_kills().unwrap_or(systemd_is_init),
        has_cron: is_on_path("crontab"),
        start: START,
        user: user.to_owned(),
    }
}

/// Reads the state from the file, because the manager may have loaded an older version.
fn observe_unit(path: &Path) -> UnitState {
    match std::fs::read(path) {
        _ if is_mask(path) => UnitState::Masked,
        Err(_) => UnitState::Absent,
        Ok(text) if text.trim_ascii().is_empty() => UnitState::Empty,
        Ok(_) => load_state(),
    }
}

fn load_state() -> UnitState {
    let asked = systemctl(&["show", "--property=LoadState", "--value", NAME]);
    let answer = asked.ok().filter(|answer| answer.success);
    unit_state(answer.as_ref().map_or("", |answer| &answer.stdout))
}

/// Stops, disables and removes the unit that `receipt` lists, and undoes other requests to systemd.
#[must_use]
pub(super) fn remove(receipt: &Receipt) -> Vec<(PathBuf, io::Error)> {
    let mut left = receipt.unit.as_ref().map(|unit| remove_unit(&unit.path)).unwrap_or_default();
    left.extend(receipt.linger.as_deref().and_then(stop_lingering));
    left
}

/// Removes a unit. A mask belongs to the user and stays.
fn remove_unit(path: &Path) -> Vec<(PathBuf, io::Error)> {
    let mut left = Vec::new();
    let mut ours = vec![enabling_link(path)];
    if path.is_file() || is_active() {
        let _did_not_run = stop();
    }
    if !is_mask(path) {
        // Without a service manager, the unit and its link are only files.
        let _no_manager =
            SystemdServiceManager::user().uninstall(ServiceUninstallCtx { label: label() });
        ours.push(path.to_owned());
    }
    for file in ours {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => left.push((file, error)),
            Ok(()) | Err(_) => {}
        }
    }
    let wants = enabling_link(path);
    // Stays if it contains the link of another unit.
    let _holds_more = wants.parent().map(std::fs::remove_dir);
    for words in [["daemon-reload"].as_slice(), &["reset-failed", NAME]] {
        let _no_manager = systemctl(words);
    }
    left
}

fn context(unit: &Unit, contents: String) -> ServiceInstallCtx {
    ServiceInstallCtx {
        label: label(),
        program: unit.program.clone(),
        args: Vec::new(),
        contents: Some(contents),
        username: None,
        working_directory: None,
        environment: None,
        autostart: true,
        restart_policy: RestartPolicy::Never,
    }
}

fn label() -> ServiceLabel {
    ServiceLabel { qualifier: None, organization: None, application: "link".to_owned() }
}

fn unit_path() -> Option<PathBuf> {
    let (_, config) = Roots::of_user().ok()?;
    Some(config.join("systemd").join("user").join(NAME))
}

fn enabling_link(unit: &Path) -> PathBuf {
    unit.with_file_name("default.target.wants").join(NAME)
}

/// Returns whether `path` is a unit or the mask of a unit.
pub(super) fn stands(path: &Path) -> bool {
    path.is_file() || is_mask(path)
}

fn is_mask(path: &Path) -> bool {
    std::fs::read_link(path).is_ok_and(|target| target == Path::new("/dev/null"))
}

fn is_enabled(unit: &Path) -> bool {
    std::fs::symlink_metadata(enabling_link(unit)).is_ok()
}

/// Returns whether systemd kills the processes of a login at logout. None if unknown.
fn logout_kills() -> Option<bool> {
    let asked = run("loginctl", &["show-session", "--property=KillUserProcesses", "--value"]);
    match &*asked.ok()?.stdout {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn done(action: &'static str, asked: io::Result<Answer>) -> Result<(), ServiceError> {
    let refused = |answer: Answer| match answer.success {
        true => Ok(()),
        false => Err(io::Error::other(answer.stderr)),
    };
    asked.and_then(refused).map_err(failed(action))
}

fn failed(action: &'static str) -> impl FnOnce(io::Error) -> ServiceError {
    ServiceError::of(Manager::Systemd, action)
}

fn systemctl(words: &[&str]) -> io::Result<Answer> {
    run("systemctl", &[&["--user"], words].concat())
}

fn run(program: &str, words: &[&str]) -> io::Result<Answer> {
    let args = words.iter().map(Into::into).collect();
    process::call(&Call { program: program.into(), args, env: None, limit: PATIENCE })
}

fn sha256(text: &str) -> String {
    Sha256Hex::from_digest(&Sha256::digest(text.as_bytes())).to_string()
}
