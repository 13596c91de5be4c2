//! What starts the agent, and whether it lasts.

use link_installer::service::{Availability, Tier};

use super::{Area, Finding};

/// What was seen of the service.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) availability: Availability,
    /// Whether a unit of this installation exists although the agent runs without it.
    pub(crate) runs_beside_its_unit: bool,
    /// The command that makes the agent last, if there is one.
    pub(crate) command: Option<String>,
    /// The command that starts the agent and, if there is one, the backend of this user.
    pub(crate) start: &'static str,
}

pub(crate) fn findings(facts: &Service) -> Vec<Finding> {
    let Availability { tier, survives_logout, survives_reboot, why } = &facts.availability;
    if facts.runs_beside_its_unit {
        let found = "the agent runs, but its service did not start it and will not keep it running";
        return vec![Finding::warning(Area::Service, found, "run `link restart`")];
    }
    if *survives_logout && *survives_reboot {
        return vec![Finding::ok(Area::Service, format!("the agent always runs: {why}"))];
    }
    let until = match (survives_logout, survives_reboot) {
        (true, _) => "a reboot",
        (false, _) => "the logout or a reboot",
    };
    let found = format!("the agent runs until {until}: {why}");
    let by_hand = match tier {
        Tier::Detached => format!("run `{}` after that", facts.start),
        Tier::SystemdUser | Tier::LaunchAgent | Tier::LogonTask => {
            format!("log in again, or run `{}`", facts.start)
        }
    };
    let cure = facts.command.clone().unwrap_or(by_hand);
    vec![Finding::warning(Area::Service, found, cure)]
}
