//! The states of a deployment and the table of legal transitions (specification, section 3.1).
//!
//! `completed`, `failed` and `cancelled` are final states.

use serde::{Deserialize, Serialize};

/// The state of a deployment.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeploymentState {
    /// Accepted by the backend; the device has not started.
    Queued,
    /// The device is downloading the model file.
    Downloading,
    /// The file is verified; the pipeline is being set up.
    Configuring,
    /// The model is on the device, ready to serve.
    Completed,
    /// The deployment failed; the record names the reason.
    Failed,
    /// A user cancelled the deployment.
    Cancelled,
}

impl DeploymentState {
    /// Returns the state's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Downloading => "downloading",
            Self::Configuring => "configuring",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl DeploymentState {
    /// Every state, for tables and tests.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Downloading,
        Self::Configuring,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns whether the state is final.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Queued | Self::Downloading | Self::Configuring => false,
        }
    }

    /// Returns whether a deployment may change from this state to `next`.
    ///
    /// A deployment may skip a state (an existing file is not downloaded), but never returns to an
    /// earlier one.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Queued => !matches!(next, Self::Queued),
            Self::Downloading => !matches!(next, Self::Queued | Self::Downloading),
            Self::Configuring => next.is_final(),
            Self::Completed | Self::Failed | Self::Cancelled => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out_of_a_final_state_and_nothing_goes_backwards() {
        for (from, state) in DeploymentState::ALL.into_iter().enumerate() {
            for (to, next) in DeploymentState::ALL.into_iter().enumerate() {
                let legal = state.may_become(next);
                assert_eq!(legal, !state.is_final() && to > from, "{state:?} to {next:?}");
            }
        }
    }
}
