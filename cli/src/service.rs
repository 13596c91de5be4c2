//! How this installation is started: the words around `link_installer::service`.

use link_installer::{
    layout::Layout,
    service::{
        self, Availability, Tier, UNMASK, Unit, UnitStep, Wish,
        systemd::{self, Linger, ServiceError},
    },
};
use link_platform::session;

use link_protocol::exit_code::ExitCode;

use crate::{
    context::Context,
    error::{CliError, chain},
};

/// Tells whether the agent of this installation is started and stopped through its unit.
pub(crate) fn uses_unit(layout: &Layout) -> bool {
    systemd::has_unit(layout) && systemd::answers()
}

/// Reads what the owner asks for.
///
/// # Errors
/// When `LINK_SERVICE` is no word that it may be.
pub(crate) fn wish(context: &Context) -> Result<Wish, CliError> {
    match context.environment.service.as_deref() {
        None | Some("auto") => Ok(Wish::Best),
        Some("systemd") => Ok(Wish::Systemd),
        Some("none") => Ok(Wish::Detached),
        Some(other) => Err(CliError::usage(format!("LINK_SERVICE is `{other}`"))
            .hint("it can be `auto`, `systemd` or `none`")),
    }
}

/// Makes the best service that this machine has and the owner wants, and says what it is. Takes an
/// earlier one away when the owner wants none. Returns whether the unit is another than before.
///
/// # Errors
/// When the receipt cannot be written, or when the unit cannot be taken away.
pub(crate) fn set_up(context: &Context, layout: &Layout, wish: Wish) -> Result<bool, CliError> {
    if wish == Wish::Detached {
        let removed = systemd::withdraw(layout).map_err(explain)?;
        if removed {
            context.output.say("removed the unit `link.service`");
        }
        return Ok(removed);
    }
    if tier(context, layout, wish) == Tier::Detached {
        if wish == Wish::Systemd {
            context.output.say("no unit was made: the user's systemd does not answer here");
        }
        return Ok(false);
    }
    let unit = unit(context, layout);
    let step = match systemd::place(layout, unit) {
        Ok(step) => step,
        Err(error) => {
            // The agent can run without it, which `link status` tells.
            context.output.error(&explain(error));
            return Ok(false);
        }
    };
    match &step {
        UnitStep::Leave => {}
        UnitStep::Write => context.output.say("made the unit `link.service` of the user's systemd"),
        UnitStep::Keep { difference } => context.output.say(&format!(
            "the unit `link.service` was changed and is kept (- is there, + is ours):\n{difference}"
        )),
        UnitStep::Masked => {
            context.output.say(&format!(
                "the unit `link.service` is masked and stays so; to undo that, {UNMASK}"
            ));
            return Ok(false);
        }
        UnitStep::NotOurs => {
            context.output.say("the unit `link.service` is of another installation and is kept");
            return Ok(false);
        }
    }
    linger(context, layout)?;
    Ok(step == UnitStep::Write)
}

/// Says what [`set_up`] would do, if anything.
pub(crate) fn would_set_up(context: &Context, layout: &Layout, wish: Wish) -> Option<String> {
    if wish == Wish::Detached {
        let made = systemd::made(layout);
        return made.map(|_| "stop and remove the unit `link.service`".to_owned());
    }
    if tier(context, layout, wish) == Tier::Detached {
        return None;
    }
    match systemd::would_place(layout, unit(context, layout)).ok()? {
        UnitStep::Write => Some(
            "make and enable the unit `link.service` of the user's systemd, and ask it to run \
             without a login"
                .to_owned(),
        ),
        UnitStep::Leave | UnitStep::Keep { .. } | UnitStep::Masked | UnitStep::NotOurs => None,
    }
}

/// Says what will survive a logout and a reboot.
pub(crate) fn availability(context: &Context) -> Availability {
    let user = session::user_name().unwrap_or_default();
    let layout = Layout::new(context.roots.clone());
    service::availability(&systemd::observe(&layout, &user))
}

/// The same in a line.
pub(crate) fn in_words(availability: &Availability) -> String {
    let tier = match availability.tier {
        Tier::SystemdUser => "unit of the user's systemd",
        Tier::Detached => "no service",
    };
    let survives = match (availability.survives_logout, availability.survives_reboot) {
        (true, true) => "survives logout and reboot",
        (true, false) => "survives logout, not a reboot",
        (false, true) => "comes back after a reboot, ends at logout",
        (false, false) => "survives neither logout nor reboot",
    };
    format!("{tier}; {survives}: {}", availability.why)
}

/// Starts the unit.
///
/// # Errors
/// When systemd cannot.
pub(crate) fn start() -> Result<(), CliError> {
    systemd::start().map_err(explain)
}

/// Stops the unit.
///
/// # Errors
/// When systemd cannot.
pub(crate) fn stop() -> Result<(), CliError> {
    systemd::stop().map_err(explain)
}

fn tier(context: &Context, layout: &Layout, wish: Wish) -> Tier {
    // Asked for once, a unit is not to be asked for again.
    let own_folder = context.environment.has_own_home && systemd::made(layout).is_none();
    service::choose(wish, own_folder, systemd::answers())
}

fn unit(context: &Context, layout: &Layout) -> Unit {
    let given = context.environment.for_service.iter();
    let environment = given.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Unit { program: layout.guard(), environment }
}

fn linger(context: &Context, layout: &Layout) -> Result<(), CliError> {
    let Some(user) = session::user_name() else {
        return Ok(());
    };
    match systemd::ask_to_linger(layout, &user).map_err(explain)? {
        Linger::Before => {}
        Linger::Enabled => context.output.say("asked systemd to run it without a login"),
        Linger::Refused => context.output.say(&format!(
            "systemd does not let this user run it without a login; the owner of this machine can: {}",
            service::linger_by_owner(&user)
        )),
    }
    Ok(())
}

fn explain(error: ServiceError) -> CliError {
    let hint = match error {
        ServiceError::Receipt(error) => return error.into(),
        ServiceError::Masked => format!("to undo that, {UNMASK}"),
        ServiceError::Unwritable | ServiceError::NoHome | ServiceError::Manager { .. } => {
            "look at `systemctl --user status link`".to_owned()
        }
    };
    CliError::new(ExitCode::NotRunning, "service", chain(&error)).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_survives_is_one_line() {
        let availability = Availability {
            tier: Tier::SystemdUser,
            survives_logout: true,
            survives_reboot: false,
            why: "because".to_owned(),
        };
        let line = "unit of the user's systemd; survives logout, not a reboot: because";
        assert_eq!(in_words(&availability), line);
    }
}
