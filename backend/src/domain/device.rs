//! Devices: their records, whether a device is online, and how many devices an account may have.

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    backend_api::device::Device,
    counter::Epoch,
    id::{AccountId, DeviceId, KeyId},
    limits,
    registration::Platform,
    report::{LifecycleReport, LifecycleStatus},
    signing::VerifyingKey,
    system::SystemSample,
    update::UpdateOutcome,
};

use crate::domain::refusal::Refusal;

/// A registered device.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeviceRecord {
    pub id: DeviceId,
    pub account: AccountId,
    pub name: String,
    /// SHA-256 of its token.
    pub token_digest: [u8; 32],
    /// Incremented at each registration and each transfer.
    pub epoch: Epoch,
    pub public_key: VerifyingKey,
    pub registered_with: KeyId,
    pub tags: Vec<String>,
    pub agent_version: semver::Version,
    /// The outcome of the last update that the device reported.
    pub last_update: Option<UpdateOutcome>,
    pub platform: Platform,
    /// The status that the device reported last.
    pub status: LifecycleStatus,
    /// The epoch of the last hello that was answered, or the epoch that a transfer has ended. `None` after a
    /// registration.
    pub greeted_epoch: Option<Epoch>,
    pub last_seen_at: Option<Timestamp>,
    pub registered_at: Timestamp,
}

impl DeviceRecord {
    /// Tells whether commands can be sent to the device: its hello was answered, it polls, and it is neither starting nor leaving.
    #[must_use]
    pub fn is_online(&self, polls_right_now: bool, now: Timestamp) -> bool {
        let recent = SignedDuration::try_from(limits::OFFLINE_AFTER).unwrap_or_default();
        let seen = self.last_seen_at.is_some_and(|seen| now.duration_since(seen) < recent);
        let staying = match self.status {
            LifecycleStatus::Online | LifecycleStatus::Updating => true,
            // A device reports this before its command channel is ready (specification, section 3.4).
            LifecycleStatus::Starting => false,
            LifecycleStatus::Stopping | LifecycleStatus::Deregistered => false,
        };
        self.greeted_epoch == Some(self.epoch) && staying && (polls_right_now || seen)
    }

    /// Tells whether the device was transferred and has not joined the new epoch yet. Its reports then belong to the
    /// previous account.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.greeted_epoch.is_some_and(|greeted| greeted < self.epoch)
    }

    /// Records that a hello was answered in `epoch`. Does nothing if a transfer has ended that epoch meanwhile.
    pub fn greet(&mut self, epoch: Epoch, agent_version: semver::Version, now: Timestamp) {
        if epoch != self.epoch {
            return;
        }
        self.greeted_epoch = Some(epoch);
        self.last_seen_at = Some(now);
        self.agent_version = agent_version;
        match self.status {
            // A hello shows that the command channel is ready, even after the device had reported that it was stopping.
            LifecycleStatus::Starting
            | LifecycleStatus::Stopping
            | LifecycleStatus::Deregistered => {
                self.status = LifecycleStatus::Online;
            }
            LifecycleStatus::Online | LifecycleStatus::Updating => {}
        }
    }

    /// Applies a lifecycle report. Reports arrive in order. A report without an update outcome keeps the previous one.
    pub fn report(&mut self, report: LifecycleReport) {
        self.status = report.status;
        self.agent_version = report.agent_version;
        if report.update.is_some() {
            self.last_update = report.update.map(UpdateOutcome::bounded);
        }
    }

    /// Returns the device as its owner sees it, with its latest sample.
    #[must_use]
    pub fn info(
        &self,
        system: Option<SystemSample>,
        polls_right_now: bool,
        now: Timestamp,
    ) -> Device {
        Device {
            device_id: self.id,
            owner: Some(self.account),
            name: self.name.clone(),
            online: self.is_online(polls_right_now, now),
            status: self.status,
            agent_version: self.agent_version.clone(),
            last_update: self.last_update.clone(),
            tags: self.tags.clone(),
            platform: self.platform.clone(),
            key_id: Some(self.registered_with),
            registered_at: self.registered_at,
            last_seen_at: self.last_seen_at,
            system,
        }
    }
}

/// Checks that an account with `devices` devices may have one more.
///
/// # Errors
/// [`Refusal::DeviceLimitReached`] if the limit is reached.
pub const fn check_limit(devices: u32, limit: u32) -> Result<(), Refusal> {
    if devices < limit { Ok(()) } else { Err(Refusal::DeviceLimitReached(limit)) }
}
