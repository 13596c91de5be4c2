//! Updates of the agent: the progress of an update, and the outcome of the last one.

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{limits, release::Channel, shown};

/// The outcome of an update (specification, section 3.4: the rollback of a version that ends within
/// the trial window).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UpdateOutcome {
    #[serde(deserialize_with = "crate::bounded::version")]
    #[schema(value_type = String)]
    pub from: Version,
    #[serde(deserialize_with = "crate::bounded::version")]
    #[schema(value_type = String)]
    pub to: Version,
    pub outcome: UpdateEnd,
    /// Why the new version was rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl UpdateOutcome {
    /// Returns the outcome with a reason that is safe to store and show, even if the device is
    /// malicious.
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
    /// The new version was healthy at the end of the trial window.
    Committed,
    /// The previous version runs again.
    RolledBack,
}

impl UpdateEnd {
    /// Every end.
    pub const ALL: [Self; 2] = [Self::Committed, Self::RolledBack];

    /// Returns the name of the end, as in documents and selectors.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::RolledBack => "rolled_back",
        }
    }
}

/// The progress of an update, or the end of the last requested update, on the local API.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct UpdateProgress {
    /// The version of the release, once it is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub to: Option<Version>,
    pub phase: UpdatePhase,
    /// Whether the release manifest has expired, so that a newer release may exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    pub bytes_done: u64,
    pub bytes_total: u64,
    /// Why no version was installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The exit code of `link update` for that reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
}

/// The phases of an update, in order, and its possible ends before it replaces the agent.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UpdatePhase {
    #[default]
    Finding,
    Downloading,
    /// The release is unpacked, its signature and files are verified, and it is checked on this
    /// machine.
    Checking,
    /// The pipelines shut down, and the new version takes over.
    Replacing,
    /// The requested version runs already.
    UpToDate,
    /// There is no version to install, or it must not be installed.
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
