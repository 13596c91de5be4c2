//! Chooses the service that starts the agent, and reports about it. `link_installer::service` does the changes.

use link_installer::{
    decide::plan::device::ServiceFound,
    layout::Layout,
    service::{
        self, Availability, Facts, Manager, ServiceError, Tier, UNMASK, Unit, UnitChange, UnitStep,
        Wish,
        systemd::{self, Linger},
    },
};
use link_platform::user_manager;

use link_protocol::exit_code::ExitCode;

use crate::{
    context::Context,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// Returns whether a unit starts and stops the agent of this installation.
pub(crate) fn uses_unit(layout: &Layout) -> bool {
    let manager = service::manager();
    manager.has_unit(layout) && manager.answers()
}

/// Reads the owner's choice from `LINK_SERVICE`.
///
/// # Errors
/// If `LINK_SERVICE` has an unknown value.
pub(crate) fn wish(context: &Context) -> Result<Wish, CliError> {
    match context.environment.service.as_deref() {
        None | Some("auto") => Ok(Wish::Best),
        Some(word) if Manager::named(word) == Some(service::manager()) => Ok(Wish::Managed),
        Some("none") => Ok(Wish::Detached),
        Some(other) => Err(CliError::usage(format!("LINK_SERVICE is `{other}`"))
            .hint(format!("use `auto`, `{}` or `none`", service::manager().word()))),
    }
}

/// Chooses what starts the agent: the best way that the machine offers and the owner wants. Also returns a note if the
/// choice differs from what the owner may expect.
pub(crate) fn look(
    context: &Context,
    layout: &Layout,
    wish: Wish,
) -> (ServiceFound, Result<Option<String>, CliError>) {
    if wish == Wish::Detached {
        let is_there = service::manager().made(layout).is_some();
        let found = if is_there { ServiceFound::Unwanted } else { ServiceFound::Detached };
        return (found, Ok(None));
    }
    if tier(context, layout, wish) == Tier::Detached {
        let said = (wish == Wish::Managed).then(|| match service::manager() {
            Manager::Systemd => {
                "no unit was created: the user's systemd does not answer".to_owned()
            }
            manager @ (Manager::Launchd | Manager::TaskScheduler) => {
                format!("no service was created: {} does not answer", manager.name())
            }
        });
        return (ServiceFound::Detached, Ok(said));
    }
    match service::manager().look(layout, unit(context, layout)) {
        Ok(unit) => {
            let lingers = |user: &String| user_manager::linger_file(user).exists();
            let has_linger = service::manager() == Manager::Systemd;
            let user = user_manager::user_name().filter(|_| has_linger);
            let waits_for_login = user.filter(|user| !lingers(user));
            let said = kept(&unit.step);
            (ServiceFound::Unit { unit, waits_for_login }, Ok(said))
        }
        // The agent can also run without the unit, and `link status` reports that state.
        Err(error) => (ServiceFound::Detached, Err(explain(error))),
    }
}

/// Changes the unit, and returns whether it is ours. A failure is only reported: the agent can also run without the
/// unit, and `link status` shows that.
pub(crate) fn place(context: &Context, layout: &Layout, change: UnitChange) -> bool {
    let manager = service::manager();
    match manager.place(layout, unit(context, layout)) {
        Ok(UnitStep::Write) => {
            context.output.say(&match manager {
                Manager::Systemd => {
                    "created the unit `link.service` of the user's systemd".to_owned()
                }
                Manager::Launchd | Manager::TaskScheduler => {
                    format!("created {} `{}`", manager.kind(), manager.entry())
                }
            });
            true
        }
        Ok(step) => {
            // The unit was edited between the decision and the change.
            let said = kept(&step).filter(|_| change == UnitChange::Write);
            said.iter().for_each(|said| context.output.say(said));
            matches!(step, UnitStep::Leave | UnitStep::Keep { .. })
        }
        Err(error) => {
            context.output.error(&explain(error));
            false
        }
    }
}

/// Removes the unit.
///
/// # Errors
/// If the service manager fails.
pub(crate) fn remove(context: &Context, layout: &Layout) -> Result<(), CliError> {
    let manager = service::manager();
    if manager.withdraw(layout).map_err(explain)? {
        context.output.say(&format!("removed {} `{}`", manager.kind(), manager.entry()));
    }
    Ok(())
}

/// Explains why a unit is left unchanged.
fn kept(step: &UnitStep) -> Option<String> {
    let manager = service::manager();
    let unit = format!("{} `{}`", manager.kind(), manager.entry());
    match step {
        UnitStep::Leave | UnitStep::Write => None,
        UnitStep::Keep { difference } => Some(format!(
            "{unit} was edited, so it is kept (- the file, + what Link would write):\n{difference}"
        )),
        UnitStep::Masked => {
            Some(format!("{unit} is masked and stays masked; to unmask it, {UNMASK}"))
        }
        UnitStep::NotOurs => Some(format!("{unit} belongs to another installation, so it is kept")),
    }
}

/// Finds out whether the agent survives a logout and a reboot. `start` is the command that starts what Link runs here.
pub(crate) fn availability(context: &Context, start: &'static str) -> Availability {
    let user = user_manager::user_name().unwrap_or_default();
    let layout = Layout::new(context.roots.clone());
    let seen = service::manager().observe(&layout, &user);
    service::availability(&Facts { start, ..seen })
}

/// Returns the same as one line of text.
pub(crate) fn in_words(availability: &Availability) -> String {
    let tier = match availability.tier {
        Tier::SystemdUser => "unit of the user's systemd",
        Tier::LaunchAgent => "launch agent of this user",
        Tier::LogonTask => "scheduled task of this user",
        Tier::Detached => "background process",
    };
    let survives = match (availability.survives_logout, availability.survives_reboot) {
        (true, true) => "survives logout and reboot",
        (true, false) => "survives logout, not a reboot",
        // What starts at boot needs no login, so a logout does not end it.
        (false, _) => "survives neither logout nor reboot",
    };
    format!("{tier}; {survives}: {}", availability.why)
}

/// Returns whether the service manager runs the agent or is about to.
pub(crate) fn is_active(layout: &Layout) -> bool {
    service::manager().is_active(layout)
}

/// Starts the unit.
///
/// # Errors
/// If the service manager fails.
pub(crate) fn start(layout: &Layout) -> Result<(), CliError> {
    service::manager().start(layout).map_err(explain)
}

/// Stops the unit.
///
/// # Errors
/// If the service manager fails.
pub(crate) fn stop() -> Result<(), CliError> {
    service::manager().stop().map_err(explain)
}

fn tier(context: &Context, layout: &Layout, wish: Wish) -> Tier {
    // An installation in its own folder keeps its unit without a further request.
    let manager = service::manager();
    let own_folder = context.environment.has_own_home && manager.made(layout).is_none();
    service::choose(wish, own_folder, manager.answers().then_some(manager))
}

fn unit(context: &Context, layout: &Layout) -> Unit {
    let given = context.environment.for_service.iter();
    let environment = given.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Unit { program: layout.guard(), environment }
}

/// Asks systemd to run this user's services without a login, and reports the result.
///
/// # Errors
/// If the receipt cannot be written.
pub(crate) fn linger(context: &Context, layout: &Layout) -> Result<(), CliError> {
    let Some(user) = user_manager::user_name() else {
        return Ok(());
    };
    match systemd::ask_to_linger(layout, &user).map_err(explain)? {
        Linger::Before => {}
        Linger::Enabled => context.output.say("asked systemd to run the service without a login"),
        Linger::Refused => context.output.say(&format!(
            "systemd does not let this user run a service without a login; an administrator can allow it: {}",
            service::linger_by_owner(&user)
        )),
    }
    Ok(())
}

fn explain(error: ServiceError) -> CliError {
    let hint = match error {
        ServiceError::Receipt(error) => return error.into(),
        ServiceError::Masked => format!("to unmask it, {UNMASK}"),
        ServiceError::Unwritable(_) => unwritable(service::manager()).to_owned(),
        ServiceError::NoHome(_) | ServiceError::Manager { .. } => {
            let manager = service::manager();
            format!("see `{}`{}", manager.inspection(), refused(manager))
        }
    };
    CliError::new(ExitCode::NotRunning, ErrorCode::Service, chain(&error)).hint(hint)
}

/// What else helps where the manager refuses.
const fn refused(manager: Manager) -> &'static str {
    match manager {
        Manager::Launchd => {
            ", and whether System Settings, Login Items lets Link run; to install without a service, \
             set LINK_SERVICE=none"
        }
        Manager::Systemd | Manager::TaskScheduler => {
            "; to install without a service, set LINK_SERVICE=none"
        }
    }
}

/// What to do where the manager cannot start the agent of this installation.
const fn unwritable(manager: Manager) -> &'static str {
    match manager {
        Manager::Systemd | Manager::Launchd => {
            "run `link start` after each login; a service needs folders with plainer names"
        }
        Manager::TaskScheduler => {
            "run `link start` after each logon; to get a scheduled task, install again with shorter folder \
             names and without LINK_HOME"
        }
    }
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
