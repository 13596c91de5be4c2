//! What starts Link by itself: a systemd unit of the user, or nothing, said as it is.
//!
//! Pure decisions: which way is open, the text of the unit, what to do with a unit that is there,
//! and what will survive a logout and a reboot. The shell is [`crate::service`]. [`launchd`] and the
//! Windows [`task`] are texts without a caller yet: the support of macOS and Windows will use them.

use serde::Serialize;

mod backend_unit;
pub mod launchd;
pub mod task;
mod unit;
mod xml;

pub(crate) use backend_unit::SERVICE_USER;
pub use backend_unit::{BackendUnit, Scope};
pub use unit::{Unit, difference, starts};

/// What the owner asks for by `LINK_SERVICE`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wish {
    /// Whatever this machine has.
    Best,
    /// A unit, although everything else is in a folder of its own.
    Systemd,
    /// No service.
    Detached,
}

/// How the guard is started.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// A unit of the user's systemd starts it and starts it again.
    SystemdUser,
    /// `link start` starts it as a process in the background.
    Detached,
}

/// Chooses the tier. `own_folder` tells that `LINK_HOME` is set: such an installation touches
/// nothing outside of it unless it is asked to.
#[must_use]
pub const fn choose(wish: Wish, own_folder: bool, manager_answers: bool) -> Tier {
    match (wish, own_folder, manager_answers) {
        (Wish::Systemd, _, true) | (Wish::Best, false, true) => Tier::SystemdUser,
        (Wish::Detached, _, _) | (_, _, false) | (Wish::Best, true, _) => Tier::Detached,
    }
}

/// Reads what `systemctl --user is-system-running` printed: any state means that it answers.
#[must_use]
pub fn manager_answers(state: &str) -> bool {
    matches!(state, "initializing" | "starting" | "running" | "degraded" | "maintenance")
}

/// What stands where the unit belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found<'a> {
    Nothing,
    /// A link to nowhere, by which its owner forbids systemd to start the unit.
    Mask,
    Text {
        text: &'a str,
        hash: &'a str,
    },
}

/// What to do with the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnitStep {
    /// It is there and as it should be.
    Leave,
    /// It is missing, emptied, or as we once wrote it.
    Write,
    /// Somebody changed it: it stays as it is.
    Keep { difference: String },
    /// Its owner masked it: it stays so.
    Masked,
    /// It is of somebody else.
    NotOurs,
}

/// Decides what to do with the unit that was `found`. `written` are the hashes of what this
/// installation wrote there.
#[must_use]
pub fn unit_step(found: Found<'_>, written: &[String], wanted: &str) -> UnitStep {
    let (text, hash) = match found {
        Found::Nothing => return UnitStep::Write,
        Found::Mask => return UnitStep::Masked,
        Found::Text { text, hash } => (text, hash),
    };
    if written.is_empty() {
        // A receipt that was lost does not make our own text another's.
        return if text == wanted { UnitStep::Write } else { UnitStep::NotOurs };
    }
    if text == wanted {
        return UnitStep::Leave;
    }
    // Nobody edits a unit by emptying it: it was cut off, and systemd would take it for masked.
    if text.trim().is_empty() || written.iter().any(|ours| ours == hash) {
        return UnitStep::Write;
    }
    UnitStep::Keep { difference: difference(text, wanted) }
}

/// What was found of the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnitFound {
    pub step: UnitStep,
    /// The service manager starts it by itself.
    pub enabled: bool,
    /// It is another than the service manager has read.
    pub stale: bool,
}

/// How the unit is changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnitChange {
    /// It is written, enabled and read.
    Write,
    /// It is enabled.
    Enable,
    /// The service manager reads it again.
    Reload,
}

impl UnitFound {
    /// Decides what has to be changed; nothing of a unit that is masked or of somebody else.
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

    /// Tells whether the unit starts, or will start, our program.
    #[must_use]
    pub const fn is_ours(&self) -> bool {
        match self.step {
            UnitStep::Write | UnitStep::Leave | UnitStep::Keep { .. } => true,
            UnitStep::Masked | UnitStep::NotOurs => false,
        }
    }
}

/// What has become of the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnitState {
    /// There is none of this installation.
    Absent,
    /// The user's service manager does not answer.
    Unknown,
    /// The service manager takes it as it is.
    Loaded,
    /// Its owner forbids that it is started.
    Masked,
    /// Nothing stands in it.
    Empty,
    /// The service manager does not take it, and calls that so.
    Refused(String),
}

/// Reads what `systemctl --user show --property=LoadState` printed.
#[must_use]
pub fn unit_state(load_state: &str) -> UnitState {
    match load_state {
        "" => UnitState::Unknown,
        "loaded" => UnitState::Loaded,
        "masked" => UnitState::Masked,
        other => UnitState::Refused(other.to_owned()),
    }
}

/// What is known of the way that Link is started.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Facts {
    pub unit: UnitState,
    /// It is started with the user's service manager.
    pub enabled: bool,
    /// The user's service manager runs without a login.
    pub lingers: bool,
    pub systemd_is_init: bool,
    /// The end of a login ends the processes that it started.
    pub logout_kills: bool,
    /// The user could have cron start something at boot.
    pub has_cron: bool,
    pub user: String,
}

/// What will and what will not survive.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Availability {
    pub tier: Tier,
    pub survives_logout: bool,
    pub survives_reboot: bool,
    pub why: String,
}

/// Says what will survive, and what the owner can do about the rest. Of a unit that does not load
/// nothing is claimed.
#[must_use]
pub fn availability(facts: &Facts) -> Availability {
    let why = match &facts.unit {
        UnitState::Absent => return detached(facts),
        UnitState::Loaded => return with_unit(facts),
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
            "systemd does not take the unit ({state}); look at `systemctl --user status link`"
        ),
    };
    let tier = Tier::SystemdUser;
    Availability { tier, survives_logout: false, survives_reboot: false, why }
}

/// How a mask is taken away: with it goes the file that stood for the unit.
pub const UNMASK: &str = "run `systemctl --user unmask link` and install again";

/// The command by which the owner of the machine lets the services of `user` run without a login.
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

fn detached(facts: &Facts) -> Availability {
    let mut why = match (facts.logout_kills, facts.systemd_is_init) {
        (true, _) => "logout ends it; after a login run `link start`",
        (false, true) => "after a reboot run `link start`",
        (false, false) => "there is no systemd here; after a reboot run `link start`",
    }
    .to_owned();
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
