//! Updates of the agent: how far one is, and what became of the last one.

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{limits, release::Channel, shown};

/// What became of an update (specification, section 3.4: the rollback of a version that ends
/// within the window).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UpdateOutcome {
    #[schema(value_type = String)]
    pub from: Version,
    #[schema(value_type = String)]
    pub to: Version,
    pub outcome: UpdateEnd,
    /// Why the new version does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl UpdateOutcome {
    /// Returns it with a reason that is fit to be kept and shown, whoever wrote it.
    #[must_use]
    pub fn bounded(self) -> Self {
        let bounded = |reason: String| {
            shown::one_line(&reason).chars().take(limits::UPDATE_REASON_LENGTH).collect()
        };
        Self { reason: self.reason.map(bounded), ..self }
    }
}

/// How an update ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateEnd {
    /// The new version was healthy at the end of the window.
    Committed,
    /// The version before runs again.
    RolledBack,
}

/// How far an update is, or how the last one that was asked for ended, on the local API.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UpdateProgress {
    /// Known once the release was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub to: Option<Version>,
    pub phase: UpdatePhase,
    /// The manifest of the releases has expired: what it names may not be the newest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    pub bytes_done: u64,
    pub bytes_total: u64,
    /// Why nothing was installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The number in the table of exit codes that `link update` ends with for that reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
}

/// The phases of an update, in their order, and how it may end before it replaces anything.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UpdatePhase {
    #[default]
    Finding,
    Downloading,
    /// Unpacked, its signature and files verified, checked on this machine.
    Checking,
    /// The pipelines are shut down and the new version takes over.
    Replacing,
    /// The wanted version runs already.
    UpToDate,
    /// There is nothing to install, or it must not be.
    Declined,
    Failed,
}

/// `POST /update` of the local API: asks the agent to update itself.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct UpdateRequest {
    /// The version to install; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Install a version that was rolled back before.
    #[serde(default)]
    pub again: bool,
    /// How well tried it must be at least; as well as what is installed when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
}
