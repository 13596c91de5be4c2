//! Writes, starts and removes the unit of the backend. The receipt lists the unit before it is written.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks at files of the service")]

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use link_platform::{
    fs,
    paths::Roots,
    process::{self, Answer, Call},
};

use super::error::ServiceError;
use crate::{
    decide::{
        plan::backend::BackendService,
        service::{
            BackendUnit, SERVICE_USER, Scope, UnitFile, UnitFound, UnitStep, manager_answers,
            unit_step,
        },
    },
    layout::Layout,
    receipt::{InstalledUnit, Receipt},
    unpacked::hash_of,
    versions::{self, ChangeError, Versions},
};

const NAME: &str = "link-backend.service";
/// The folder for the administrator's units.
const SYSTEM_UNITS: &str = "/etc/systemd/system";
/// Timeout for a start. The backend may first migrate large tables.
const PATIENCE: Duration = Duration::from_secs(310);

impl Scope {
    /// Returns whether the service manager answers.
    #[must_use]
    pub fn answers(self) -> bool {
        // `degraded` is an answer too, although the exit code is a failure.
        self.systemctl(&["is-system-running"]).is_ok_and(|answer| manager_answers(&answer.stdout))
    }

    /// Returns the path of the unit.
    ///
    /// # Errors
    /// [`ServiceError::NoHome`].
    pub fn unit_path(self) -> Result<PathBuf, ServiceError> {
        match self {
            Self::System => Ok(PathBuf::from(SYSTEM_UNITS).join(NAME)),
            Self::User => {
                let (_, config) =
                    Roots::of_user().map_err(|_no_home| ServiceError::NoHome("a unit"))?;
                Ok(config.join("systemd").join("user").join(NAME))
            }
        }
    }

    fn systemctl(self, words: &[&str]) -> io::Result<Answer> {
        let scope: &[&str] = match self {
            Self::System => &[],
            Self::User => &["--user"],
        };
        run("systemctl", &[scope, words].concat())
    }

    fn ask(self, action: &'static str, words: &[&str]) -> Result<(), ServiceError> {
        done(action, self.systemctl(words))
    }
}

/// Compares the existing service with `unit`.
///
/// # Errors
/// [`ServiceError`].
pub fn look(layout: &Layout, unit: &BackendUnit) -> Result<BackendService, ServiceError> {
    let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
    let (step, ..) = survey(&receipt, unit)?;
    let scope = unit.scope;
    let asked = scope.systemctl(&["show", "--property=NeedDaemonReload", "--value", NAME]);
    let stale = asked.is_ok_and(|answer| answer.stdout == "yes");
    let enabled = scope.systemctl(&["is-enabled", "--quiet", NAME]);
    let enabled = enabled.is_ok_and(|answer| answer.success);
    let unit = UnitFound { step, enabled, stale };
    Ok(BackendService { scope, unit, has_user: has_user(), active: is_active(scope) })
}

/// Writes and enables the unit, unless somebody has changed it. Creates the user of a system
/// service.
///
/// # Errors
/// [`ServiceError`].
pub fn place(layout: &Layout, unit: &BackendUnit) -> Result<UnitStep, ServiceError> {
    let versions = Versions::lock_within(layout, versions::PATIENCE)?;
    let receipt = Receipt::load(&layout.receipt()).map_err(ChangeError::from)?.unwrap_or_default();
    let (step, path, wanted, mut written) = survey(&receipt, unit)?;
    if matches!(step, UnitStep::Masked | UnitStep::NotOurs) {
        return Ok(step);
    }
    if unit.scope == Scope::System {
        make_user()?;
    }
    if step == UnitStep::Write {
        let hash = hash_of(wanted.as_bytes()).to_string();
        if !written.contains(&hash) {
            written.push(hash);
        }
        versions.change_receipt(|receipt| {
            let environment = Vec::new();
            receipt.unit = Some(InstalledUnit { path: path.clone(), written, environment });
            receipt.add_folders(path.parent().unwrap_or(&path));
        })?;
        let folder = path.parent().unwrap_or(&path);
        std::fs::create_dir_all(folder).map_err(failed("write"))?;
        fs::write_atomic(&path, wanted.as_bytes())
            .map_err(|error| ServiceError::Receipt(error.into()))?;
    }
    unit.scope.ask("reload", &["daemon-reload"])?;
    unit.scope.ask("enable", &["enable", NAME])?;
    Ok(step)
}

/// Starts or restarts the service. Returns once the service has reported that it is ready.
///
/// # Errors
/// [`ServiceError::Manager`].
pub fn restart(scope: Scope) -> Result<(), ServiceError> {
    scope.ask("start", &["restart", NAME])
}

/// Stops the service. It stays enabled, so its service manager starts it at the next boot.
///
/// # Errors
/// [`ServiceError::Manager`].
pub fn stop(scope: Scope) -> Result<(), ServiceError> {
    scope.ask("stop", &["stop", NAME])
}

/// Returns whether the service runs.
#[must_use]
pub fn is_active(scope: Scope) -> bool {
    scope.systemctl(&["is-active", "--quiet", NAME]).is_ok_and(|answer| answer.success)
}

/// Stops, disables and removes the unit that the receipt lists. Returns the paths that could not be removed.
#[must_use]
pub fn remove(receipt: &Receipt, scope: Scope) -> Vec<(PathBuf, io::Error)> {
    let Some(unit) = &receipt.unit else { return Vec::new() };
    // Without a service manager, the unit is only a file.
    let _no_manager = scope.systemctl(&["disable", "--now", NAME]);
    let left = match std::fs::remove_file(&unit.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => vec![(unit.path.clone(), error)],
        Ok(()) | Err(_) => Vec::new(),
    };
    for words in [["daemon-reload"].as_slice(), &["reset-failed", NAME]] {
        let _no_manager = scope.systemctl(words);
    }
    left
}

/// Lets the user of the service run the programs and read the configuration. The permissions of the secrets beside the
/// configuration do not change.
///
/// # Errors
/// [`ServiceError::Manager`].
pub fn open_to_service(layout: &Layout, config: &Path) -> Result<(), ServiceError> {
    let roots = layout.roots();
    let words = |words: &[&str], paths: &[&Path]| {
        let words = words.iter().map(Into::into);
        words.chain(paths.iter().map(|path| path.as_os_str().to_owned())).collect()
    };
    for args in [words(&["-R", "a+rX"], &[&roots.data]), words(&["a+rX"], &[&roots.config, config])]
    {
        let call = Call { program: "chmod".into(), args, env: None, limit: PATIENCE };
        done("open the folders for", process::call(&call))?;
    }
    Ok(())
}

/// Deletes the user of the service, and its data.
pub fn remove_user() {
    // The user may not exist.
    let _there_was_none = run("userdel", &[SERVICE_USER]);
}

type Survey = (UnitStep, PathBuf, String, Vec<String>);

fn survey(receipt: &Receipt, unit: &BackendUnit) -> Result<Survey, ServiceError> {
    let path = unit.scope.unit_path()?;
    let recorded = receipt.unit.as_ref().filter(|recorded| recorded.path == path);
    let written = recorded.map(|recorded| recorded.written.clone()).unwrap_or_default();
    let wanted = unit.text().ok_or(ServiceError::Unwritable("a unit"))?;
    let is_mask = std::fs::read_link(&path).is_ok_and(|target| target.as_os_str() == "/dev/null");
    let text = std::fs::read_to_string(&path).ok();
    let hash = text.as_ref().map(|text| hash_of(text.as_bytes()).to_string()).unwrap_or_default();
    let found = match &text {
        _ if is_mask => UnitFile::Mask,
        None => UnitFile::Nothing,
        Some(text) => UnitFile::Text { text, hash: &hash },
    };
    Ok((unit_step(found, &written, &wanted), path, wanted, written))
}

fn has_user() -> bool {
    run("id", &["-u", SERVICE_USER]).is_ok_and(|answer| answer.success)
}

/// Creates the user of the system service, unless the user exists.
///
/// # Errors
/// [`ServiceError::Manager`].
pub fn make_user() -> Result<(), ServiceError> {
    if has_user() {
        return Ok(());
    }
    let words = ["--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SERVICE_USER];
    done("make the user of", run("useradd", &words))
}

fn done(action: &'static str, asked: io::Result<Answer>) -> Result<(), ServiceError> {
    let refused = |answer: Answer| match answer.success {
        true => Ok(()),
        false => Err(io::Error::other(answer.stderr)),
    };
    asked.and_then(refused).map_err(failed(action))
}

fn failed(action: &'static str) -> impl FnOnce(io::Error) -> ServiceError {
    ServiceError::on("systemd", NAME, action)
}

fn run(program: &str, words: &[&str]) -> io::Result<Answer> {
    let args = words.iter().map(Into::into).collect();
    process::call(&Call { program: program.into(), args, env: None, limit: PATIENCE })
}
