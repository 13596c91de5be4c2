//! What starts Link by itself: a systemd unit of the user, or nothing, said as it is.
//!
//! Pure decisions: which way is open, the text of the unit, what to do with a unit that is there,
//! and what will survive a logout and a reboot. The shell is [`systemd`].

use serde::Serialize;

pub mod systemd;
mod unit;

pub use unit::{Unit, difference};

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

/// What to do with the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum UnitStep {
    /// It is there and as it should be.
    Leave,
    /// It is missing, or as we once wrote it.
    Write,
    /// Somebody changed it: it stays as it is.
    Keep { difference: String },
    /// It is of somebody else.
    NotOurs,
}

/// Decides what to do with the unit that was `found`. `written` are the hashes of what this
/// installation wrote there, `hash` is that of what was found.
#[must_use]
pub fn unit_step(found: Option<&str>, hash: &str, written: &[String], wanted: &str) -> UnitStep {
    match found {
        None => UnitStep::Write,
        // A receipt that was lost does not make our own text another's.
        Some(text) if text == wanted && written.is_empty() => UnitStep::Write,
        Some(_) if written.is_empty() => UnitStep::NotOurs,
        Some(text) if text == wanted => UnitStep::Leave,
        Some(_) if written.iter().any(|ours| ours == hash) => UnitStep::Write,
        Some(text) => UnitStep::Keep { difference: difference(text, wanted) },
    }
}

/// What is known of the way that Link is started.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Facts {
    /// The unit is there and is of this installation.
    pub has_unit: bool,
    /// It is started with the user's service manager.
    pub enabled: bool,
    pub manager_answers: bool,
    /// The user's service manager runs without a login.
    pub lingers: bool,
    pub systemd_is_init: bool,
    /// The end of a login ends the processes that it started.
    pub logout_kills: bool,
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

/// Says what will survive, and what the owner can do about the rest.
#[must_use]
pub fn availability(facts: &Facts) -> Availability {
    if !facts.has_unit {
        return detached(facts);
    }
    let permanent = facts.lingers && facts.systemd_is_init;
    let why = if !facts.manager_answers {
        "the user's systemd does not answer here; log in, or set XDG_RUNTIME_DIR".to_owned()
    } else if !facts.systemd_is_init {
        "systemd does not start this machine, so nothing starts the user's systemd at boot"
            .to_owned()
    } else if !facts.enabled {
        "the unit is not enabled; enable it: systemctl --user enable link".to_owned()
    } else if !facts.lingers {
        format!("starts at login and ends at logout; to keep it running: {}", linger_command(facts))
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

/// The command by which the owner of the machine lets the services of `user` run without a login.
#[must_use]
pub fn linger_by_owner(user: &str) -> String {
    format!("sudo loginctl enable-linger {user}")
}

fn linger_command(facts: &Facts) -> String {
    linger_by_owner(&facts.user)
}

fn detached(facts: &Facts) -> Availability {
    let why = if facts.logout_kills {
        "a process in the background, which logout ends; start it with `link start`"
    } else {
        "a process in the background; start it with `link start` after a reboot"
    };
    Availability {
        tier: Tier::Detached,
        survives_logout: !facts.logout_kills,
        survives_reboot: false,
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests;
