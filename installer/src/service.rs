//! Writes, enables, starts, stops and removes what starts Link: a unit of systemd, a launch agent of macOS or a scheduled
//! task of Windows. The decisions are in [`crate::decide::service`].

#![expect(clippy::disallowed_methods, reason = "IO shell: the environment of a development build")]

use std::{io, path::PathBuf, time::Duration};

use link_platform::facts;

pub mod backend;
mod entry;
mod error;
mod launchd;
pub mod systemd;
mod tasks;

use crate::decide::service::task;
pub use crate::decide::service::{
    Availability, BackendUnit, Facts, Manager, START, Scope, Tier, UNMASK, Unit, UnitChange,
    UnitFound, UnitStep, Wish, availability, choose, linger_by_owner,
};
use crate::{
    layout::Layout,
    receipt::{InstalledUnit, Receipt},
    versions::{self, Versions},
};
use entry::Entry;
pub use error::ServiceError;

/// Timeout for a service manager, longer than a start or a stop takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// Returns the service manager of this system. In development builds `LINK_DEV_SERVICE_MANAGER` names another one.
#[must_use]
pub fn manager() -> Manager {
    let told = std::env::var("LINK_DEV_SERVICE_MANAGER").ok().filter(|_| cfg!(debug_assertions));
    told.and_then(|word| Manager::named(&word)).unwrap_or_else(|| Manager::of(facts::os()))
}

/// Returns the environment variables that the unit of this installation sets for the guard, or the guard for the agent.
/// None if there is no unit.
#[must_use]
pub fn variables(layout: &Layout) -> Option<Vec<(String, String)>> {
    let manager = manager();
    // The guard carries the variables also where the scheduler has no task.
    let counts = |_: &InstalledUnit| manager == Manager::TaskScheduler || manager.has_unit(layout);
    Some(manager.made(layout).filter(counts)?.environment)
}

/// Returns one of the [`variables`].
#[must_use]
pub fn variable(layout: &Layout, name: &str) -> Option<String> {
    variables(layout)?.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

impl Manager {
    /// Returns whether it answers.
    #[must_use]
    pub fn answers(self) -> bool {
        match self.entry_of() {
            None => systemd::answers(),
            Some(entry) => entry.answers(),
        }
    }

    /// Returns the unit that this installation created, even if its file is gone. If the receipt lists none, a unit that
    /// starts our guard counts as ours.
    #[must_use]
    pub fn made(self, layout: &Layout) -> Option<InstalledUnit> {
        match Receipt::load(&layout.receipt()) {
            Ok(receipt) => receipt?.unit,
            Err(_) => self.unit_of_our_guard(layout),
        }
    }

    /// Returns whether this installation has a unit. A file of a task that the scheduler does not know is none.
    #[must_use]
    pub fn has_unit(self, layout: &Layout) -> bool {
        self.made(layout).is_some_and(|unit| match self.entry_of() {
            None => systemd::stands(&unit.path),
            Some(entry) => entry.has(&unit.path),
        })
    }

    /// Returns the variables that the guard gives to the agent because this manager cannot set them for the guard.
    #[must_use]
    pub fn carried(self, layout: &Layout) -> Vec<(String, String)> {
        let unit = (self == Self::TaskScheduler).then(|| self.made(layout)).flatten();
        let known = unit.map(|unit| unit.environment).unwrap_or_default();
        known.into_iter().filter(|(name, _)| task::is_carried(name)).collect()
    }

    /// Returns whether it runs the guard or is about to.
    #[must_use]
    pub fn is_active(self, layout: &Layout) -> bool {
        match self.entry_of() {
            None => systemd::is_active(),
            Some(entry) => entry.is_active(layout),
        }
    }

    /// Compares the existing unit with `unit`.
    ///
    /// # Errors
    /// [`ServiceError`].
    pub fn look(self, layout: &Layout, unit: Unit) -> Result<UnitFound, ServiceError> {
        match self.entry_of() {
            None => systemd::look(layout, unit),
            Some(entry) => entry.look(layout, unit),
        }
    }

    /// Writes and enables the unit, unless somebody has changed it. Keeps the previous variables that `unit` does not
    /// set.
    ///
    /// # Errors
    /// [`ServiceError`].
    pub fn place(self, layout: &Layout, unit: Unit) -> Result<UnitStep, ServiceError> {
        match self.entry_of() {
            None => systemd::place(layout, unit),
            Some(entry) => entry.place(layout, unit),
        }
    }

    /// Removes the unit of an earlier run. Returns whether there was one.
    ///
    /// # Errors
    /// [`ServiceError`]. The receipt still lists what could not be removed.
    pub fn withdraw(self, layout: &Layout) -> Result<bool, ServiceError> {
        let Some(entry) = self.entry_of() else { return systemd::withdraw(layout) };
        let Some(unit) = self.made(layout) else { return Ok(false) };
        // Without the lock, because the guard may need it before it can end.
        if let Some((_, source)) = entry.remove(&unit.path).pop() {
            return Err(ServiceError::of(self, "remove")(source));
        }
        let versions = Versions::lock_within(layout, versions::PATIENCE)?;
        versions.change_receipt(|receipt| receipt.unit = None)?;
        Ok(true)
    }

    /// Starts the guard.
    ///
    /// # Errors
    /// If the manager cannot start it.
    pub fn start(self, layout: &Layout) -> Result<(), ServiceError> {
        match self.entry_of() {
            None => systemd::start(),
            Some(entry) => entry.start(layout),
        }
    }

    /// Stops the guard, or only keeps the manager from restarting it: the caller asks a guard that still runs to end.
    ///
    /// # Errors
    /// If the manager cannot stop it.
    pub fn stop(self) -> Result<(), ServiceError> {
        match self.entry_of() {
            None => systemd::stop(),
            Some(entry) => entry.stop(),
        }
    }

    /// Collects the facts that decide whether the agent survives a logout and a reboot.
    #[must_use]
    pub fn observe(self, layout: &Layout, user: &str) -> Facts {
        match self.entry_of() {
            None => systemd::observe(layout, user),
            Some(entry) => entry.observe(layout, user),
        }
    }

    /// Stops and removes the unit that `receipt` lists, and undoes other requests to the manager.
    #[must_use]
    pub(crate) fn remove(self, receipt: &Receipt) -> Vec<(PathBuf, io::Error)> {
        match self.entry_of() {
            None => systemd::remove(receipt),
            Some(entry) => {
                receipt.unit.as_ref().map(|unit| entry.remove(&unit.path)).unwrap_or_default()
            }
        }
    }

    /// Returns the unit that starts the guard of this installation.
    pub(crate) fn unit_of_our_guard(self, layout: &Layout) -> Option<InstalledUnit> {
        match self.entry_of() {
            None => systemd::unit_of_our_guard(layout),
            Some(entry) => entry.of_our_guard(layout),
        }
    }

    const fn entry_of(self) -> Option<Entry> {
        match self {
            Self::Systemd => None,
            Self::Launchd => Some(Entry::LaunchAgent),
            Self::TaskScheduler => Some(Entry::Task),
        }
    }
}
