//! The outcome for one device of an operation, judged by its command or its deployment.
//!
//! Every sent item ends: a command expires, and an item whose device stays silent fails after a time.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::{
        command::OutcomeStatus,
        operation::{ItemFault, Work},
    },
    deployment::DeploymentState,
    limits,
    report::{ModelReport, ModelState},
};

use crate::domain::{
    command::{CommandRecord, State},
    deployment::DeploymentRecord,
    operation::Item,
};

/// The outcome of an item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    Succeeded(String),
    Failed(ItemFault, String),
}

/// The records that decide the outcome of an item.
#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    Command(Option<&'a CommandRecord>),
    /// The deployment and the device's last report about the model.
    Deployment(Option<(&'a DeploymentRecord, Option<&'a ModelReport>)>),
}

/// Returns the send time before which an item without an answer has failed at `now`.
#[must_use]
pub fn silent_before(now: Timestamp) -> Timestamp {
    before(now, limits::OPERATION_PATIENCE)
}

/// Returns the outcome of a sent item, or `None` while it is unknown.
#[must_use]
pub fn of(item: &Item, work: &Work, evidence: Evidence<'_>, now: Timestamp) -> Option<Verdict> {
    let verdict = match evidence {
        Evidence::Command(None) | Evidence::Deployment(None) => {
            let said = "the device left the account, or the model was deleted";
            Some(Verdict::Failed(ItemFault::Gone, said.to_owned()))
        }
        Evidence::Command(Some(command)) => of_command(command),
        Evidence::Deployment(Some((deployment, serving))) => {
            let serves = matches!(work, Work::Deploy { serve: true, .. });
            of_deployment(deployment, serving.filter(|_| serves), serves, now)
        }
    };
    let silent = || {
        let said = "the device has said nothing of it for seven days".to_owned();
        (item.changed_at < silent_before(now)).then_some(Verdict::Failed(ItemFault::Expired, said))
    };
    verdict.or_else(silent)
}

fn of_command(command: &CommandRecord) -> Option<Verdict> {
    let info = command.info();
    let Some(result) = info.result else {
        let said = "the device did not take the command in time".to_owned();
        return (command.state == State::Expired)
            .then_some(Verdict::Failed(ItemFault::Expired, said));
    };
    let fault = match result.status {
        OutcomeStatus::Succeeded => return Some(Verdict::Succeeded(result.output)),
        OutcomeStatus::Failed => ItemFault::CommandFailed,
        OutcomeStatus::Rejected => ItemFault::CommandRejected,
        OutcomeStatus::Cancelled => ItemFault::CommandCancelled,
        OutcomeStatus::Superseded => ItemFault::Superseded,
    };
    Some(Verdict::Failed(fault, result.output))
}

fn of_deployment(
    deployment: &DeploymentRecord,
    serving: Option<&ModelReport>,
    serves: bool,
    now: Timestamp,
) -> Option<Verdict> {
    let reason = || deployment.reason.clone().unwrap_or_default();
    let port = || format!("port {}", deployment.port);
    match deployment.state {
        DeploymentState::Queued | DeploymentState::Downloading | DeploymentState::Configuring => {
            None
        }
        DeploymentState::Failed => Some(Verdict::Failed(ItemFault::DeploymentFailed, reason())),
        DeploymentState::Cancelled => {
            Some(Verdict::Failed(ItemFault::DeploymentCancelled, reason()))
        }
        DeploymentState::Completed if !serves => Some(Verdict::Succeeded(port())),
        DeploymentState::Completed => match serving {
            Some(report) if report.is_serving => Some(Verdict::Succeeded(port())),
            Some(ModelReport { state: ModelState::NotServing, detail: Some(why), .. }) => {
                Some(Verdict::Failed(ItemFault::NotServing, why.clone()))
            }
            Some(_) | None => {
                let late = before(now, limits::OPERATION_SERVING_PATIENCE);
                let said = "it is deployed, and was not served within ten minutes".to_owned();
                (deployment.updated_at < late)
                    .then_some(Verdict::Failed(ItemFault::NotServing, said))
            }
        },
    }
}

fn before(now: Timestamp, time: std::time::Duration) -> Timestamp {
    let time = SignedDuration::try_from(time).unwrap_or_default();
    now.checked_sub(time).unwrap_or(Timestamp::MIN)
}
