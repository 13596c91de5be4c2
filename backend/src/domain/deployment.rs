//! Deployments: which change of state is legal, and when an allowlist is stale.
//!
//! The table of states is `link_protocol::deployment`. Late reports are ignored, so reports may arrive in any order.
//! Completed, failed and cancelled are final.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    allowlist::Allowlist,
    command::{Alias, ProxyFeatures},
    deployment::DeploymentState,
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    limits,
    local_api::Progress,
    plugin::Settings,
    port::Port,
    report::{CommandResult, ProgressEvent, ProgressReport},
};

use crate::domain::command::State;

/// The reason of a failure: the command never arrived (specification, section 3.1).
pub const NOT_RECEIVED: &str = "the device did not receive it within 5 minutes";
/// The reason of a failure: the device has the command and did not start the deployment.
pub const NOT_BEGUN: &str = "the device did not begin it within 5 minutes";
/// The reason of a cancellation: a newer deployment replaced this one.
pub const REPLACED: &str = "a newer deployment of the model took its place";

/// The port of the first deployment of a model if the request names no port.
pub const DEFAULT_PORT: u16 = 8080;

/// A deployment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeploymentRecord {
    pub id: DeploymentId,
    pub model: ModelId,
    pub device: DeviceId,
    pub command: CommandId,
    pub alias: Alias,
    pub port: Port,
    pub state: DeploymentState,
    pub reason: Option<String>,
    pub progress: Progress,
    /// The allowlist that the device has, as far as the backend knows.
    pub allowlist: Allowlist,
    pub proxy: ProxyFeatures,
    pub settings: Settings,
    /// Whether the model was removed from the device after the deployment.
    pub removed: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Returns the creation time before which a deployment that is still queued is overdue at `now` (specification, section
/// 3.1).
#[must_use]
pub fn overdue_before(now: Timestamp) -> Timestamp {
    let longest = SignedDuration::try_from(limits::QUEUED_DEPLOYMENT_EXPIRY).unwrap_or_default();
    now.checked_sub(longest).unwrap_or(Timestamp::MIN)
}

impl DeploymentRecord {
    /// Applies a progress report. Returns whether anything changed.
    pub fn progress(&mut self, report: &ProgressReport, now: Timestamp) -> bool {
        let next = match report.event {
            ProgressEvent::Downloading => DeploymentState::Downloading,
            ProgressEvent::Configuring => DeploymentState::Configuring,
            ProgressEvent::Completed => DeploymentState::Completed,
        };
        let stays = next == self.state && !self.state.is_final();
        if !stays && !self.state.may_become(next) {
            return false;
        }
        self.state = next;
        self.progress.bytes_done = self.progress.bytes_done.max(report.bytes_done);
        self.progress.bytes_total = self.progress.bytes_total.max(report.bytes_total);
        if next == DeploymentState::Completed {
            self.progress.bytes_done = self.progress.bytes_total;
        }
        self.updated_at = now;
        true
    }

    /// Applies the result of the deployment's command. Returns whether anything changed.
    pub fn result(&mut self, status: CommandResult, output: &str, now: Timestamp) -> bool {
        match status {
            CommandResult::Succeeded => self.end(DeploymentState::Completed, None, now),
            CommandResult::Failed | CommandResult::Rejected => {
                self.end(DeploymentState::Failed, Some(output), now)
            }
            CommandResult::Cancelled => self.end(DeploymentState::Cancelled, Some(output), now),
        }
    }

    /// Ends an unfinished deployment. Returns whether it was unfinished.
    pub fn end(&mut self, state: DeploymentState, reason: Option<&str>, now: Timestamp) -> bool {
        let legal = state.is_final() && self.state.may_become(state);
        if legal {
            self.state = state;
            self.reason = reason.map(str::to_owned);
            self.updated_at = now;
            if state == DeploymentState::Completed {
                self.progress.bytes_done = self.progress.bytes_total;
            }
        }
        legal
    }

    /// Tells whether the deployment is stuck: it has been queued for too long, or its `command` ended without a result.
    #[must_use]
    pub fn is_stuck(&self, command: Option<State>, now: Timestamp) -> bool {
        let is_over = match command {
            Some(State::Expired | State::Superseded) => true,
            Some(State::Queued | State::Delivered | State::Acknowledged) | None => false,
        };
        self.is_overdue(now) || (is_over && !self.state.is_final())
    }

    fn is_overdue(&self, now: Timestamp) -> bool {
        self.state == DeploymentState::Queued && self.created_at < overdue_before(now)
    }

    /// Tells whether the model is on the device by this deployment.
    #[must_use]
    pub fn is_deployed(&self) -> bool {
        self.state == DeploymentState::Completed && !self.removed
    }

    /// Tells whether the deployment occupies its alias: its model is on the device or on the way there.
    #[must_use]
    pub fn holds_alias(&self) -> bool {
        !self.is_gone()
    }

    /// If the deployment has failed or was cancelled, replaces its alias, port, allowlist, proxy and settings by those in
    /// force: of the deployment among `all` by which the model is on the device. `all` is ordered, newest first.
    #[must_use]
    pub fn as_in_force(self, all: &[Self]) -> Self {
        let is_there = |record: &&Self| record.model == self.model && record.is_deployed();
        match all.iter().find(is_there) {
            Some(there) if self.has_no_effect() => Self {
                alias: there.alias.clone(),
                port: there.port,
                allowlist: there.allowlist.clone(),
                proxy: there.proxy,
                settings: there.settings.clone(),
                ..self
            },
            Some(_) | None => self,
        }
    }

    /// Tells whether the deployment has left its device as it was before.
    #[must_use]
    pub const fn has_no_effect(&self) -> bool {
        matches!(self.state, DeploymentState::Failed | DeploymentState::Cancelled)
    }

    /// Tells whether the allowlist of the device lacks an origin of `current`. The allowlist of a removed model is never
    /// stale, nor is that of a model that is not on its device.
    ///
    /// `reported` is the digest of the allowlist that the device reported last; `None` if it does not have the model. If
    /// the digest matches neither allowlist, the device was reset to an older state.
    #[must_use]
    pub fn is_stale(&self, current: &Allowlist, reported: Option<&str>) -> bool {
        let lacks =
            |origin: &link_protocol::allowlist::Origin| !self.allowlist.allows(origin.as_str());
        let foreign = reported.is_some_and(|digest| {
            self.state.is_final() && digest != self.allowlist.digest() && digest != current.digest()
        });
        // A deployment without effect leaves what was there before, if anything was.
        let is_there = !self.is_gone() || (self.has_no_effect() && reported.is_some());
        is_there && !self.removed && (foreign || current.origins().iter().any(lacks))
    }

    const fn is_gone(&self) -> bool {
        self.removed || self.has_no_effect()
    }
}

/// Returns the unfinished deployment of `model` among `all`.
#[must_use]
pub fn unfinished(all: Vec<DeploymentRecord>, model: ModelId) -> Option<DeploymentRecord> {
    all.into_iter().find(|record| record.model == model && !record.state.is_final())
}

/// Returns the deployment among `all` that a report about `model` without an id means: the unfinished one, or the newest.
/// `all` is ordered, newest first.
#[must_use]
pub fn reported(all: Vec<DeploymentRecord>, model: ModelId) -> Option<DeploymentRecord> {
    let own: Vec<_> = all.into_iter().filter(|record| record.model == model).collect();
    let place = own.iter().position(|record| !record.state.is_final()).unwrap_or_default();
    own.into_iter().nth(place)
}

/// Returns the deployments among `all` that put `model` on its device, and those of it that have ended otherwise, marked as
/// removed. If the model is not on the device, nothing was removed: a deployment that has failed since stays.
#[must_use]
pub fn removed(
    all: Vec<DeploymentRecord>,
    model: ModelId,
    now: Timestamp,
) -> Vec<DeploymentRecord> {
    let own: Vec<_> = all.into_iter().filter(|record| record.model == model).collect();
    if !own.iter().any(DeploymentRecord::is_deployed) {
        return Vec::new();
    }
    own.into_iter()
        .filter(|record| record.state.is_final() && !record.removed)
        .map(|record| DeploymentRecord { removed: true, updated_at: now, ..record })
        .collect()
}

/// Returns the deployment among `all` by which the model of `ended` is on its device, if `ended` is the newest of the model.
/// `all` is ordered, newest first.
#[must_use]
pub fn effective_behind<'a>(
    all: &'a [DeploymentRecord],
    ended: &DeploymentRecord,
) -> Option<&'a DeploymentRecord> {
    let mut own = all.iter().filter(|record| record.model == ended.model);
    let is_newest = own.next().is_some_and(|newest| newest.id == ended.id);
    own.find(|record| is_newest && record.is_deployed())
}

#[cfg(test)]
mod tests;
