//! Chooses the service that starts the agent, and reports about it. `link_installer::service` does the changes.

use link_installer::{
    decide::plan::device::ServiceFound,
    layout::Layout,
    service::{
        self, Availability, Tier, UNMASK, Unit, UnitChange, UnitStep, Wish,
        systemd::{self, Linger, ServiceError},
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
    systemd::has_unit(layout) && systemd::answers()
}

/// Reads the owner's choice from `LINK_SERVICE`.
///
/// # Errors
/// If `LINK_SERVICE` has an unknown value.
pub(crate) fn wish(context: &Context) -> Result<Wish, CliError> {
    match context.environment.service.as_deref() {
        None | Some("auto") => Ok(Wish::Best),
        Some("systemd") => Ok(Wish::Systemd),
        Some("none") => Ok(Wish::Detached),
        Some(other) => Err(CliError::usage(format!("LINK_SERVICE is `{other}`"))
            .hint("use `auto`, `systemd` or `none`")),
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
        let is_there = systemd::made(layout).is_some();
        let found = if is_there { ServiceFound::Unwanted } else { ServiceFound::Detached };
        return (found, Ok(None));
    }
    if tier(context, layout, wish) == Tier::Detached {
        let silent = "no unit was created: the user's systemd does not answer";
        let said = (wish == Wish::Systemd).then(|| silent.to_owned());
        return (ServiceFound::Detached, Ok(said));
    }
    match systemd::look(layout, unit(context, layout)) {
        Ok(unit) => {
            let lingers = |user: &String| user_manager::linger_file(user).exists();
            let waits_for_login = user_manager::user_name().filter(|user| !lingers(user));
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
    match systemd::place(layout, unit(context, layout)) {
        Ok(UnitStep::Write) => {
            context.output.say("created the unit `link.service` of the user's systemd");
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
/// If systemd fails.
pub(crate) fn remove(context: &Context, layout: &Layout) -> Result<(), CliError> {
    if systemd::withdraw(layout).map_err(explain)? {
        context.output.say("removed the unit `link.service`");
    }
    Ok(())
}

/// Explains why a unit is left unchanged.
fn kept(step: &UnitStep) -> Option<String> {
    match step {
        UnitStep::Leave | UnitStep::Write => None,
        UnitStep::Keep { difference } => Some(format!(
            "the unit `link.service` was edited, so it is kept (- the file, + what Link would write):\n{difference}"
        )),
        UnitStep::Masked => Some(format!(
            "the unit `link.service` is masked and stays masked; to unmask it, {UNMASK}"
        )),
        UnitStep::NotOurs => Some(
            "the unit `link.service` belongs to another installation, so it is kept".to_owned(),
        ),
    }
}

/// Finds out whether the agent survives a logout and a reboot.
pub(crate) fn availability(context: &Context) -> Availability {
    let user = user_manager::user_name().unwrap_or_default();
    let layout = Layout::new(context.roots.clone());
    service::availability(&systemd::observe(&layout, &user))
}

/// Returns the same as one line of text.
pub(crate) fn in_words(availability: &Availability) -> String {
    let tier = match availability.tier {
        Tier::SystemdUser => "unit of the user's systemd",
        Tier::Detached => "background process",
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
/// If systemd fails.
pub(crate) fn start() -> Result<(), CliError> {
    systemd::start().map_err(explain)
}

/// Stops the unit.
///
/// # Errors
/// If systemd fails.
pub(crate) fn stop() -> Result<(), CliError> {
    systemd::stop().map_err(explain)
}

fn tier(context: &Context, layout: &Layout, wish: Wish) -> Tier {
    // An installation in its own folder keeps its unit without a further request.
    let own_folder = context.environment.has_own_home && systemd::made(layout).is_none();
    service::choose(wish, own_folder, systemd::answers())
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
        ServiceError::Unwritable | ServiceError::NoHome | ServiceError::Manager { .. } => {
            "see `systemctl --user status link`".to_owned()
        }
    };
    CliError::new(ExitCode::NotRunning, ErrorCode::Service, chain(&error)).hint(hint)
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
