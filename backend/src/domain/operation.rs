//! Operations: one request for many devices. An operation has one item for each device; this is the state machine of an
//! item.
//!
//! ```text
//! pending ──accepted──▶ sent ──verdict──▶ succeeded, failed
//!    │  ▲      └─ nothing to wait for ▶ succeeded
//!    │  └─ refused for now          failed ──retry──▶ pending
//!    └─ refused ▶ failed, skipped;  cancelled ▶ cancelled
//! ```
//!
//! Invariants: only a pending item is sent to its device, so a device gets a request once, or once more for each retry;
//! only a failed item is retried; no other ended item changes; the attempt count never decreases.

pub mod request;
pub mod verdict;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::{
        audit::{Actor, ActorKind},
        operation::{
            ItemFault, ItemState, Operation, OperationCounts, OperationDevice, OperationState, Work,
        },
    },
    id::{AccountId, CommandId, DeploymentId, DeviceId, OperationId, TokenId, UserId},
};

use crate::domain::{attempts::Peer, operation::verdict::Verdict, refusal::Refusal};

/// The wait before the next attempt for an item whose device has a full queue.
const QUEUE_WAIT: Duration = Duration::from_secs(30);
/// The number of attempts after which such an item fails.
const MOST_ATTEMPTS: u32 = 20;
/// The maximum length of the detail of an item, in characters.
const LONGEST_DETAIL: usize = 500;

/// The person who started an operation or retried it last. Requests to the devices carry this person's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Requester {
    pub user: UserId,
    pub token: Option<TokenId>,
    pub peer: Peer,
}

/// An operation, without its items.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OperationRecord {
    pub id: OperationId,
    pub account: AccountId,
    pub work: Work,
    pub select: Option<String>,
    pub requester: Requester,
    pub created_at: Timestamp,
    /// The time at which the last item ended.
    pub ended_at: Option<Timestamp>,
}

/// The request for one device of an operation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    pub operation: OperationId,
    pub device: DeviceId,
    /// The name of the device at the time of its selection.
    pub name: String,
    /// The new name of the device, if the operation renames it.
    pub new_name: Option<String>,
    pub state: ItemState,
    /// The number of attempts to send the request.
    pub attempts: u32,
    /// The time of the next attempt for a pending item.
    pub due_at: Timestamp,
    pub command: Option<CommandId>,
    pub deployment: Option<DeploymentId>,
    pub code: Option<String>,
    pub detail: Option<String>,
    pub changed_at: Timestamp,
}

/// The outcome of an accepted request for one device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Accepted {
    Command(CommandId),
    Deployment(DeploymentId, CommandId),
    /// The request is complete and nothing is sent to the device.
    Done,
}

/// An event of an item.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The request was accepted.
    Accepted(Accepted),
    /// The request, with this `work`, was refused.
    Refused { work: &'a Work, refusal: &'a Refusal },
    /// The outcome of the command or the deployment is known.
    Told(Verdict),
    /// The operation was cancelled.
    Cancelled,
    /// The operation was retried.
    Retried,
}

impl OperationRecord {
    /// Returns the operation in the form that members see.
    #[must_use]
    pub fn info(self, counts: OperationCounts) -> Operation {
        let (kind, id) = match self.requester.token {
            Some(token) => (ActorKind::Token, token.to_string()),
            None => (ActorKind::User, self.requester.user.to_string()),
        };
        Operation {
            operation_id: self.id,
            work: self.work,
            select: self.select,
            state: state(&counts),
            devices: counts.total(),
            counts,
            requested_by: Actor { kind, id: Some(id) },
            created_at: self.created_at,
            ended_at: self.ended_at,
        }
    }
}

/// Returns the state of an operation whose items have the counts `counts`.
#[must_use]
pub const fn state(counts: &OperationCounts) -> OperationState {
    if counts.open() > 0 {
        OperationState::Running
    } else if counts.cancelled > 0 {
        OperationState::Cancelled
    } else if counts.failed > 0 {
        OperationState::Failed
    } else {
        OperationState::Succeeded
    }
}

impl Item {
    /// Makes the item of a device, due at once.
    #[must_use]
    pub const fn new(
        operation: OperationId,
        device: DeviceId,
        name: String,
        new_name: Option<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            operation,
            device,
            name,
            new_name,
            state: ItemState::Pending,
            attempts: 0,
            due_at: now,
            command: None,
            deployment: None,
            code: None,
            detail: None,
            changed_at: now,
        }
    }

    /// Returns the item after `event`, or `None` if the event changes nothing.
    #[must_use]
    pub fn handle(&self, event: Event<'_>, now: Timestamp) -> Option<Self> {
        let next = match (event, self.state) {
            (Event::Accepted(accepted), ItemState::Pending) => self.accepted(accepted),
            (Event::Refused { work, refusal }, ItemState::Pending) => {
                self.refused(work, refusal, now)
            }
            (Event::Told(verdict), ItemState::Sent) => self.told(verdict),
            (Event::Cancelled, ItemState::Pending) => {
                Self { state: ItemState::Cancelled, ..self.clone() }
            }
            (Event::Retried, ItemState::Failed) => Self {
                state: ItemState::Pending,
                due_at: now,
                command: None,
                deployment: None,
                code: None,
                detail: None,
                ..self.clone()
            },
            (
                Event::Accepted(_) | Event::Refused { .. } | Event::Cancelled,
                ItemState::Sent
                | ItemState::Succeeded
                | ItemState::Failed
                | ItemState::Skipped
                | ItemState::Cancelled,
            )
            | (
                Event::Told(_),
                ItemState::Pending
                | ItemState::Succeeded
                | ItemState::Failed
                | ItemState::Skipped
                | ItemState::Cancelled,
            )
            | (
                Event::Retried,
                ItemState::Pending
                | ItemState::Sent
                | ItemState::Succeeded
                | ItemState::Skipped
                | ItemState::Cancelled,
            ) => return None,
        };
        Some(Self { changed_at: now, ..next })
    }

    /// Returns the item in the form that members see.
    #[must_use]
    pub fn info(self) -> OperationDevice {
        OperationDevice {
            device_id: self.device,
            name: self.name,
            state: self.state,
            attempts: self.attempts,
            command_id: self.command,
            deployment_id: self.deployment,
            code: self.code,
            detail: self.detail,
            updated_at: self.changed_at,
        }
    }

    fn accepted(&self, accepted: Accepted) -> Self {
        let (state, deployment, command) = match accepted {
            Accepted::Command(command) => (ItemState::Sent, None, Some(command)),
            Accepted::Deployment(deployment, command) => {
                (ItemState::Sent, Some(deployment), Some(command))
            }
            Accepted::Done => (ItemState::Succeeded, None, None),
        };
        let attempts = self.attempts.saturating_add(1);
        let (code, detail) = (None, None);
        Self { state, attempts, deployment, command, code, detail, ..self.clone() }
    }

    fn refused(&self, work: &Work, refusal: &Refusal, now: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        let wait = SignedDuration::try_from(QUEUE_WAIT).unwrap_or_default();
        let (state, due_at) = match answer(work, refusal, attempts) {
            Answer::Waits => (ItemState::Pending, now.checked_add(wait).unwrap_or(now)),
            Answer::Skips => (ItemState::Skipped, self.due_at),
            Answer::Fails => (ItemState::Failed, self.due_at),
        };
        let is_gone = matches!(refusal, Refusal::NotFound(_));
        let code = if is_gone { ItemFault::Gone.as_str() } else { refusal.code().as_str() };
        let (code, detail) = (Some(code.to_owned()), shown(&refusal.to_string()));
        Self { state, attempts, due_at, code, detail, ..self.clone() }
    }

    fn told(&self, verdict: Verdict) -> Self {
        let (state, code, detail) = match verdict {
            Verdict::Succeeded(detail) => (ItemState::Succeeded, None, detail),
            Verdict::Failed(fault, detail) => {
                (ItemState::Failed, Some(fault.as_str().to_owned()), detail)
            }
        };
        Self { state, code, detail: shown(&detail), ..self.clone() }
    }
}

/// The consequence of a refusal for an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Answer {
    /// The request is retried later.
    Waits,
    /// Nothing has to be done on the device.
    Skips,
    Fails,
}

fn answer(work: &Work, refusal: &Refusal, attempts: u32) -> Answer {
    if matches!(refusal, Refusal::QueueFull(_)) && attempts < MOST_ATTEMPTS {
        return Answer::Waits;
    }
    let is_done_without_the_model =
        matches!(work, Work::Repair { .. } | Work::Stop { .. } | Work::Remove { .. });
    let is_without_the_model = matches!(refusal, Refusal::NotDeployed { .. });
    let is_gone = *refusal == Refusal::NotFound("device");
    if is_gone || (is_done_without_the_model && is_without_the_model) {
        Answer::Skips
    } else {
        Answer::Fails
    }
}

fn shown(detail: &str) -> Option<String> {
    let detail: String = detail.chars().take(LONGEST_DETAIL).collect();
    (!detail.is_empty()).then_some(detail)
}

#[cfg(test)]
mod tests;
