//! The summary of an account: the counts that an overview shows.

use serde::{Deserialize, Serialize};

/// `GET /summary`: the counts of the caller's account.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Summary {
    pub devices: DeviceCounts,
    pub deployments: DeploymentCounts,
    pub models: ModelCounts,
    pub commands: CommandCounts,
    pub repairs: RepairCounts,
    pub keys: KeyCounts,
    pub operations: RunningOperations,
    /// The versions of the agents, the most frequent first.
    pub versions: Vec<VersionCount>,
    pub usage_today: UsageToday,
}

/// The devices of the account. Each is either online, offline or updating.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeviceCounts {
    pub total: u64,
    /// Devices that are online and not updating. A message of a device counts here within a few seconds.
    pub online: u64,
    pub offline: u64,
    /// Devices that are online and replace their agent.
    pub updating: u64,
    /// Devices whose last update was rolled back: those of the selection `update=rolled_back`.
    pub rolled_back: u64,
    /// Devices whose disk is used to 90 percent or more: those of the selection `disk>=90`.
    pub nearly_full: u64,
}

/// The current deployment of each model on each device.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DeploymentCounts {
    /// Current deployments whose model was not removed from the device.
    pub total: u64,
    /// Of these, deployments whose allowlist lacks an origin of the account.
    pub stale: u64,
    pub failed: u64,
    /// Deployments that are queued, downloading or configuring.
    pub in_progress: u64,
    /// Deployments whose model serves, by the last report of the device.
    pub serving: u64,
    /// Of these, deployments on devices that are offline: nobody can use their models now.
    pub serving_offline: u64,
    /// Completed deployments whose device has given up serving the model, and says why.
    pub unserved: u64,
}

/// The models that the account owns.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ModelCounts {
    pub total: u64,
    /// Models that wait for their file.
    pub incomplete: u64,
}

/// The commands to the devices of the account.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct CommandCounts {
    /// Commands that can still change.
    pub open: u64,
    /// Commands that a device reported as failed or rejected in the last 24 hours.
    pub failed_last_day: u64,
}

/// The repairs of the account.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct RepairCounts {
    /// Repairs that their devices have not acknowledged yet.
    pub sent: u64,
}

/// The keys of the account with which a device can still register.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct KeyCounts {
    pub total: u64,
    /// Of these, keys that expire within seven days.
    pub ending_within_week: u64,
}

/// The operations of the account.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct RunningOperations {
    pub running: u64,
}

/// The number of devices with one version of the agent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct VersionCount {
    #[schema(value_type = String, example = "1.3.0")]
    pub version: semver::Version,
    pub devices: u64,
}

/// The usage of the account since midnight UTC.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UsageToday {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Inferences, also those whose tokens are unknown.
    pub requests: u64,
}
