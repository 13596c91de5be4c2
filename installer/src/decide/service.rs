//! How Link is started automatically: by a systemd unit, a launch agent or a scheduled task of the user, or not at all.
//!
//! Pure decisions: which way is available, the text of the entry, what to do with an existing entry, and whether the
//! agent survives a logout and a reboot. The shell is [`crate::service`]. "Unit" stands for the entry of any manager.

use serde::Serialize;

mod backend_unit;
pub mod launchd;
mod manager;
pub mod task;
mod unit;
mod xml;

pub(crate) use backend_unit::SERVICE_USER;
pub use backend_unit::{BackendUnit, Scope};
pub use manager::Manager;
pub use unit::{Unit, difference, starts};

/// The owner's choice in `LINK_SERVICE`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wish {
    /// The best way that this machine offers.
    Best,
    /// The system's service manager, even if `LINK_HOME` puts everything else into one folder.
    Managed,
    /// No service.
    Detached,
}

/// How the guard is started.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// A unit of the user's systemd starts and restarts the guard.
    SystemdUser,
    /// Launchd starts and restarts the guard while the user is logged in.
    LaunchAgent,
    /// The task scheduler starts and restarts the guard while the user is logged on.
    LogonTask,
    /// `link start` starts the guard as a background process.
    Detached,
}

/// Chooses the tier. `own_folder` says that `LINK_HOME` is set. Such an installation changes nothing outside that
/// folder unless a service is requested. `answering` is the service manager, if it answers.
#[must_use]
pub const fn choose(wish: Wish, own_folder: bool, answering: Option<Manager>) -> Tier {
    match (wish, own_folder, answering) {
        (Wish::Managed, _, Some(manager)) | (Wish::Best, false, Some(manager)) => manager.tier(),
        (Wish::Detached, _, _) | (_, _, None) | (Wish::Best, true, Some(_)) => Tier::Detached,
    }
}

/// Returns whether systemd answers, given the output of `systemctl --user is-system-running`: every known state is an
/// answer.
#[must_use]
pub fn manager_answers(state: &str) -> bool {
    matches!(state, "initializing" | "starting" | "running" | "degraded" | "maintenance")
}

/// The file at the path of the unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnitFile<'a> {
    Nothing,
    /// A link to `/dev/null`, which forbids systemd to start the unit.
    Mask,
    Text {
        text: &'a str,
        hash: &'a str,
    },
}

/// What to do with the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnitStep {
    /// The unit exists and is up to date: leave it.
    Leave,
    /// The unit is missing, empty, or an earlier text of ours: write it.
    Write,
    /// Somebody has changed the unit: keep it.
    Keep { difference: String },
    /// The owner has masked the unit: keep the mask.
    Masked,
    /// The unit belongs to somebody else.
    NotOurs,
}

/// Decides what to do with the unit that was `found`. `written` holds the hashes of the texts that this installation
/// has written there.
#[must_use]
pub fn unit_step(found: UnitFile<'_>, written: &[String], wanted: &str) -> UnitStep {
    let (text, hash) = match found {
        UnitFile::Nothing => return UnitStep::Write,
        UnitFile::Mask => return UnitStep::Masked,
        UnitFile::Text { text, hash } => (text, hash),
    };
    if written.is_empty() {
        // The receipt was lost. A unit with exactly our text is still ours.
        return if text == wanted { UnitStep::Write } else { UnitStep::NotOurs };
    }
    if text == wanted {
        return UnitStep::Leave;
    }
    // An empty unit results from an interrupted write, not from an edit. Systemd would treat the unit as masked.
    if text.trim().is_empty() || written.iter().any(|ours| ours == hash) {
        return UnitStep::Write;
    }
    UnitStep::Keep { difference: difference(text, wanted) }
}

/// The state of the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnitFound {
    pub step: UnitStep,
    /// Whether the service manager starts the unit automatically.
    pub enabled: bool,
    /// Whether the file differs from the one that the service manager has loaded.
    pub stale: bool,
}

/// A change to the unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnitChange {
    /// Write, enable and load the unit.
    Write,
    /// Enable the unit.
    Enable,
    /// Reload the unit in the service manager.
    Reload,
}

impl UnitFound {
    /// Decides the change. None for a unit that is masked or belongs to somebody else.
    #[must_use]
    pub const fn change(&self) -> Option<UnitChange> {
        match (&self.step, self.enabled, self.stale) {
            (UnitStep::Write, _, _) => Some(UnitChange::Write),
            (UnitStep::Leave | UnitStep::Keep { .. }, false, _) => Some(UnitChange::Enable),
            (UnitStep::Leave | UnitStep::Keep { .. }, true, true) => Some(UnitChange::Reload),
            (UnitStep::Leave | UnitStep::Keep { .. }, true, false)
            | (UnitStep::Masked | UnitStep::NotOurs, _, _) => None,
        }
    }

    /// Returns whether the unit starts our program, now or after its change.
    #[must_use]
    pub const fn is_ours(&self) -> bool {
        match self.step {
            UnitStep::Write | UnitStep::Leave | UnitStep::Keep { .. } => true,
            UnitStep::Masked | UnitStep::NotOurs => false,
        }
    }
}

/// The state of the unit in the service manager.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnitState {
    /// This installation has no unit.
    Absent,
    /// The user's service manager does not answer.
    Unknown,
    /// The service manager has loaded the unit.
    Loaded,
    /// The owner has masked the unit.
    Masked,
    /// The file of the unit is empty.
    Empty,
    /// The service manager did not load the unit. Holds its name for this state.
    Refused(String),
}

/// Parses the output of `systemctl --user show --property=LoadState`.
#[must_use]
pub fn unit_state(load_state: &str) -> UnitState {
    match load_state {
        "" => UnitState::Unknown,
        "loaded" => UnitState::Loaded,
        "masked" => UnitState::Masked,
        other => UnitState::Refused(other.to_owned()),
    }
}

/// The command that starts the agent.
pub const START: &str = "link start";

/// Facts about how Link is started.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Facts {
    pub manager: Manager,
    pub unit: UnitState,
    /// The user's service manager starts the unit automatically.
    pub enabled: bool,
    /// The user's service manager runs without a login.
    pub lingers: bool,
    pub systemd_is_init: bool,
    /// A logout kills the processes of that login.
    pub logout_kills: bool,
    /// Cron is available to start a program at boot.
    pub has_cron: bool,
    /// The command that starts what Link runs for this user: [`START`], or `link up` if that is a backend too.
    pub start: &'static str,
    pub user: String,
}

/// Whether the agent survives a logout and a reboot, and why.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Availability {
    pub tier: Tier,
    pub survives_logout: bool,
    /// Whether the agent runs after a reboot although nobody has logged in.
    pub survives_reboot: bool,
    /// The reason, as text for a person.
    pub why: String,
}

/// Says whether the agent survives a logout and a reboot, and what the owner can do if not. A unit that is not loaded
/// survives neither.
#[must_use]
pub fn availability(facts: &Facts) -> Availability {
    let manager = facts.manager;
    let why = match &facts.unit {
        UnitState::Absent => return detached(facts),
        UnitState::Loaded => {
            return match manager {
                Manager::Systemd => with_unit(facts),
                Manager::Launchd | Manager::TaskScheduler => at_login(facts),
            };
        }
        UnitState::Unknown if manager != Manager::Systemd => {
            format!("{} does not answer here; log in at the screen of this machine", manager.name())
        }
        UnitState::Unknown => {
            "the user's systemd does not answer here; log in, or set XDG_RUNTIME_DIR".to_owned()
        }
        UnitState::Masked => {
            format!("the unit is masked, so systemd does not start it; to undo that, {UNMASK}")
        }
        UnitState::Empty => {
            "the unit is empty, so systemd does not start it; to repair it, install again"
                .to_owned()
        }
        UnitState::Refused(state) => format!(
            "{} does not take {} ({state}); look at `{}`",
            manager.name(),
            manager.kind(),
            manager.inspection()
        ),
    };
    let tier = manager.tier();
    Availability { tier, survives_logout: false, survives_reboot: false, why }
}

/// How to unmask the unit. This deletes the link that masks it.
pub const UNMASK: &str = "run `systemctl --user unmask link` and install again";

/// Returns the command with which an administrator keeps the services of `user` running without a login.
#[must_use]
pub fn linger_by_owner(user: &str) -> String {
    format!("sudo loginctl enable-linger {user}")
}

fn with_unit(facts: &Facts) -> Availability {
    let permanent = facts.lingers && facts.systemd_is_init;
    let why = if !facts.systemd_is_init {
        "systemd does not start this machine, so nothing starts the user's systemd at boot"
            .to_owned()
    } else if !facts.enabled {
        "the unit is not enabled; enable it: systemctl --user enable link".to_owned()
    } else if !facts.lingers {
        let command = linger_by_owner(&facts.user);
        format!("starts at login and ends at logout; to keep it running: {command}")
    } else {
        "systemd starts it at boot".to_owned()
    };
    Availability {
        tier: Tier::SystemdUser,
        survives_logout: permanent,
        survives_reboot: permanent && facts.enabled,
        why,
    }
}

/// Says what launchd and the task scheduler offer without an administrator: a start at each login, and an end at logout.
fn at_login(facts: &Facts) -> Availability {
    let Facts { manager, enabled, .. } = facts;
    let why = match (manager, enabled) {
        (Manager::TaskScheduler, false) => {
            "the scheduled task is disabled, as `link stop` leaves it, so the task scheduler does not start it at logon; \
             to enable it, run `link start`"
                .to_owned()
        }
        (Manager::Launchd | Manager::Systemd, false) => format!(
            "{} is disabled, so {} does not start it at login; to enable it, run `link start`",
            manager.kind(),
            manager.name()
        ),
        (Manager::TaskScheduler, true) => format!(
            "the task scheduler starts it when {} logs on, and it ends at logoff",
            facts.user
        ),
        (Manager::Launchd | Manager::Systemd, true) => {
            format!("{} starts it at login, and it ends at logout", manager.name())
        }
    };
    Availability { tier: manager.tier(), survives_logout: false, survives_reboot: false, why }
}

fn detached(facts: &Facts) -> Availability {
    if facts.manager != Manager::Systemd {
        let why = format!(
            "{} does not know it; after a login run `{}`, or install again",
            facts.manager.name(),
            facts.start
        );
        let tier = Tier::Detached;
        return Availability { tier, survives_logout: false, survives_reboot: false, why };
    }
    let start = facts.start;
    let mut why = match (facts.logout_kills, facts.systemd_is_init) {
        (true, _) => format!("logout ends it; after a login run `{start}`"),
        (false, true) => format!("after a reboot run `{start}`"),
        (false, false) => format!("there is no systemd here; after a reboot run `{start}`"),
    };
    if facts.systemd_is_init {
        why += ", or install again with LINK_SERVICE=systemd";
    } else if facts.has_cron {
        why += ", or let your crontab do so (`@reboot`)";
    }
    Availability {
        tier: Tier::Detached,
        survives_logout: !facts.logout_kills,
        survives_reboot: false,
        why,
    }
}

#[cfg(test)]
mod tests;
