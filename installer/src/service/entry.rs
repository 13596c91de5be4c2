//! The entry of launchd or of the task scheduler: a file of ours, and what the manager knows of it.
//!
//! The receipt lists the file before it is written, so an uninstallation also removes an interrupted one.

#![expect(clippy::disallowed_methods, reason = "IO shell: looks at files of the service")]

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{fs, user_manager};

use super::{error::ServiceError, launchd, tasks};
use crate::{
    decide::service::{
        Facts, Manager, START, Unit, UnitFile, UnitFound, UnitState, UnitStep,
        launchd::LaunchAgent,
        task::{self, LogonTask},
        unit_step,
    },
    layout::Layout,
    receipt::{InstalledUnit, Receipt},
    unpacked::hash_of,
    versions::{self, ChangeError, Versions},
};

/// The two managers that this module drives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Entry {
    LaunchAgent,
    Task,
}

/// The step for the entry, and the facts behind that decision.
struct Survey {
    step: UnitStep,
    path: PathBuf,
    unit: Unit,
    wanted: String,
    written: Vec<String>,
}

impl Entry {
    const fn manager(self) -> Manager {
        match self {
            Self::LaunchAgent => Manager::Launchd,
            Self::Task => Manager::TaskScheduler,
        }
    }

    pub(super) fn answers(self) -> bool {
        match self {
            Self::LaunchAgent => launchd::answers(),
            Self::Task => tasks::answers(),
        }
    }

    /// Returns whether the manager keeps the guard running. A disabled entry does not.
    pub(super) fn is_active(self, layout: &Layout) -> bool {
        match self {
            Self::LaunchAgent => launchd::is_active(),
            // The scheduler does not tell whether the guard still runs. Its lock does.
            Self::Task => {
                tasks::is_enabled() && matches!(fs::try_lock(&layout.guard_lock()), Ok(None))
            }
        }
    }

    pub(super) fn look(self, layout: &Layout, unit: Unit) -> Result<UnitFound, ServiceError> {
        let receipt = Receipt::read(&layout.receipt()).unwrap_or_default();
        let step = self.survey(layout, &receipt, unit)?.step;
        Ok(UnitFound { enabled: self.is_enabled(), stale: false, step })
    }

    pub(super) fn place(self, layout: &Layout, unit: Unit) -> Result<UnitStep, ServiceError> {
        let versions = Versions::lock_within(layout, versions::PATIENCE)?;
        let receipt =
            Receipt::load(&layout.receipt()).map_err(ChangeError::from)?.unwrap_or_default();
        let Survey { step, path, unit, wanted, mut written } =
            self.survey(layout, &receipt, unit)?;
        match step {
            UnitStep::Write => {
                let hash = hash_of(wanted.as_bytes()).to_string();
                if !written.contains(&hash) {
                    written.push(hash);
                }
                let environment = unit.environment;
                versions.change_receipt(|receipt| {
                    receipt.unit = Some(InstalledUnit { path: path.clone(), written, environment });
                    receipt.add_folders(path.parent().unwrap_or(&path));
                })?;
                let before = std::fs::read(&path).ok();
                self.write(&path, &wanted).map_err(self.failed("write"))?;
                if let Err(refused) = self.register(&path) {
                    // The manager goes on with what it had. A file that it does not know would count as its entry, and
                    // nothing would start the agent.
                    put_back(&path, before).map_err(self.failed("remove"))?;
                    return Err(self.failed("register")(refused));
                }
            }
            UnitStep::Leave | UnitStep::Keep { .. } if !self.is_enabled() => {
                self.register(&path).map_err(self.failed("enable"))?;
            }
            UnitStep::Leave | UnitStep::Keep { .. } | UnitStep::Masked | UnitStep::NotOurs => {}
        }
        Ok(step)
    }

    pub(super) fn start(self, layout: &Layout) -> Result<(), ServiceError> {
        match self {
            Self::LaunchAgent => self
                .path(layout)
                .and_then(|path| launchd::start(&path).map_err(self.failed("start"))),
            Self::Task => tasks::start().map_err(self.failed("start")),
        }
    }

    pub(super) fn stop(self) -> Result<(), ServiceError> {
        let stopped = match self {
            Self::LaunchAgent => launchd::stop(),
            Self::Task => tasks::disable(),
        };
        stopped.map_err(self.failed("stop"))
    }

    pub(super) fn observe(self, layout: &Layout, user: &str) -> Facts {
        let stands = self.path(layout).is_ok_and(|path| path.is_file());
        let unit = match (stands, self.answers()) {
            (false, _) => UnitState::Absent,
            (true, false) => UnitState::Unknown,
            (true, true) if !self.is_known() => UnitState::Absent,
            (true, true) => UnitState::Loaded,
        };
        Facts {
            manager: self.manager(),
            unit,
            enabled: self.is_enabled(),
            lingers: false,
            systemd_is_init: false,
            logout_kills: true,
            has_cron: false,
            start: START,
            user: user.to_owned(),
        }
    }

    /// Stops the entry and removes it with its file.
    pub(super) fn remove(self, path: &Path) -> Vec<(PathBuf, io::Error)> {
        let withdrawn = match self {
            Self::LaunchAgent => launchd::stop(),
            Self::Task => tasks::delete(),
        };
        let removed = match std::fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        let failed = withdrawn.and(removed).err();
        failed.map(|error| (path.to_owned(), error)).into_iter().collect()
    }

    /// Returns the entry that starts the guard of this installation, if no receipt lists one.
    pub(super) fn of_our_guard(self, layout: &Layout) -> Option<InstalledUnit> {
        let path = self.path(layout).ok()?;
        let text = self.read(&path)?;
        let guard = layout.guard();
        let is_ours = guard.to_str().is_some_and(|guard| text.contains(guard));
        is_ours.then(|| InstalledUnit { path, written: Vec::new(), environment: Vec::new() })
    }

    fn survey(
        self,
        layout: &Layout,
        receipt: &Receipt,
        unit: Unit,
    ) -> Result<Survey, ServiceError> {
        let path = self.path(layout)?;
        let recorded = receipt.unit.as_ref().filter(|unit| unit.path == path);
        let unit = unit.keeping(recorded.map_or(&[], |recorded| &recorded.environment));
        let written = recorded.map(|recorded| recorded.written.clone()).unwrap_or_default();
        let kind = self.manager().kind();
        let wanted = self.text(layout, &unit).ok_or(ServiceError::Unwritable(kind))?;
        let text = self.read(&path);
        let hash = text.as_deref().map(|text| hash_of(text.as_bytes()).to_string());
        let found = match (&text, &hash) {
            (Some(text), Some(hash)) => UnitFile::Text { text, hash },
            _ => UnitFile::Nothing,
        };
        let mut step = unit_step(found, &written, &wanted);
        // The text of a task has no variables, so those in the receipt tell whether they have changed.
        let has_other_variables =
            recorded.is_some_and(|unit_before| unit_before.environment != unit.environment);
        if step == UnitStep::Leave && (has_other_variables || !self.is_known()) {
            step = UnitStep::Write;
        }
        Ok(Survey { step, path, unit, wanted, written })
    }

    fn path(self, layout: &Layout) -> Result<PathBuf, ServiceError> {
        match self {
            Self::LaunchAgent => launchd::path().ok_or(ServiceError::NoHome("a launch agent")),
            Self::Task => Ok(tasks::path(layout)),
        }
    }

    fn text(self, layout: &Layout, unit: &Unit) -> Option<String> {
        let program = unit.program.clone();
        match self {
            Self::LaunchAgent => {
                let environment = unit.environment.clone();
                LaunchAgent { program, log: layout.agent_log(), environment }.text()
            }
            // A task cannot set variables. The guard gives the agent those of the receipt, but finds its folders without.
            Self::Task if unit.environment.iter().all(|(name, _)| task::is_carried(name)) => {
                LogonTask { program, user: user_manager::user_id()? }.text()
            }
            Self::Task => None,
        }
    }

    fn read(self, path: &Path) -> Option<String> {
        let bytes = std::fs::read(path).ok()?;
        match self {
            Self::LaunchAgent => String::from_utf8(bytes).ok(),
            Self::Task => tasks::read(&bytes),
        }
    }

    fn write(self, path: &Path, text: &str) -> io::Result<()> {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        match self {
            Self::LaunchAgent => fs::write_atomic(path, text.as_bytes()).map_err(io::Error::other),
            Self::Task => tasks::write(path, text),
        }
    }

    /// Tells the manager of the file, without a start.
    fn register(self, path: &Path) -> io::Result<()> {
        match self {
            // An agent that is loaded would keep its old text.
            Self::LaunchAgent => launchd::stop().and_then(|()| launchd::enable()),
            Self::Task => tasks::register(path),
        }
    }

    /// Returns whether the manager can start the entry of the file at `path`.
    pub(super) fn has(self, path: &Path) -> bool {
        path.is_file() && self.is_known()
    }

    /// Returns whether the manager knows the entry. Launchd learns of it from its folder.
    fn is_known(self) -> bool {
        match self {
            Self::LaunchAgent => true,
            Self::Task => tasks::is_registered(),
        }
    }

    fn is_enabled(self) -> bool {
        match self {
            Self::LaunchAgent => !launchd::is_disabled(),
            Self::Task => tasks::is_enabled(),
        }
    }

    fn failed(self, action: &'static str) -> impl FnOnce(io::Error) -> ServiceError {
        ServiceError::of(self.manager(), action)
    }
}

/// Restores the file at `path`, or removes it if there was none.
fn put_back(path: &Path, before: Option<Vec<u8>>) -> io::Result<()> {
    match before {
        Some(bytes) => fs::write_atomic(path, &bytes).map_err(io::Error::other),
        None => std::fs::remove_file(path),
    }
}
