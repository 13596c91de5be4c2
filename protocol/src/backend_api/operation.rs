//! Operations: one wish for many devices, which the backend works off by itself.
//!
//! An operation has one item for each of its devices. Its state follows from the states of its items.

use std::fmt;

use jiff::Timestamp;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    backend_api::audit::Actor,
    command::{Alias, ProxyFeatures},
    id::{CommandId, DeploymentId, DeviceId, ModelId, OperationId},
    port::Port,
};

/// What an operation does on each of its devices, as the request for one device does.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// Deploys or redeploys a model. A device that does not receive it within five minutes has failed.
    Deploy {
        model_id: ModelId,
        /// Absent: the port of the deployment before, or 8080 for the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<Port>,
        /// Absent: the alias of the deployment before, or an alias made from the model's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alias: Option<Alias>,
        /// Whether to serve the model as soon as it is there.
        #[serde(default)]
        serve: bool,
        /// What the serving proxy does for the model; everything by default.
        #[serde(default)]
        proxy: ProxyFeatures,
    },
    /// Corrects the allowlist of a model that is served. A device that is offline has failed; a device
    /// without the model is skipped.
    Repair {
        model_id: ModelId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<Port>,
    },
    /// Serves a model that is deployed. A device that is offline has failed.
    Serve {
        model_id: ModelId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<Port>,
    },
    /// Stops serving a model, on a device that is offline when it is back. A device without the model is
    /// skipped.
    Stop { model_id: ModelId },
    /// Deletes a model from the devices, on a device that is offline when it is back. A device without the
    /// model is skipped.
    Remove { model_id: ModelId },
    /// Replaces the agent by another version, on a device that is offline when it is back.
    Update {
        #[schema(value_type = String, example = "1.4.0")]
        version: Version,
    },
    /// Adds tags.
    Tag { tags: Vec<String> },
    /// Removes tags.
    Untag { tags: Vec<String> },
    /// Gives each device a name made from a pattern with `{n}` (its number in the operation), `{name}`
    /// (its name before) or `{hostname}`.
    Rename { pattern: String },
}

/// `POST /operations`: what is done, and on which devices: those of a selection or those that are named.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateOperation {
    pub work: Work,
    /// Selects devices as `select` of the list of devices does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Names devices, in place of a selection. A device of another account is not selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<DeviceId>>,
    /// Answers with the devices that are selected, and does nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// What an operation would do.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OperationPlan {
    pub work: Work,
    /// How many devices are selected.
    pub devices: u32,
    /// The first 200 of them.
    pub first: Vec<PlannedDevice>,
}

/// A device that is selected.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PlannedDevice {
    pub device_id: DeviceId,
    pub name: String,
    pub online: bool,
    /// The name that it would get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_name: Option<String>,
}

/// Where an operation is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationState {
    /// A device is to be told, or has not said what became of it.
    Running,
    /// Every device has succeeded or was skipped.
    Succeeded,
    /// It has ended, and a device has failed.
    Failed,
    /// It was cancelled before every device was told, and has ended.
    Cancelled,
}

/// Where an operation is on one device.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// The device is to be told.
    Pending,
    /// The device is told, now or when it is back.
    Sent,
    Succeeded,
    /// See `code` and `detail`; a retry tells the device again.
    Failed,
    /// There was nothing to do on the device; see `code` and `detail`.
    Skipped,
    /// The operation was cancelled before the device was told.
    Cancelled,
}

/// How many devices are in each state.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OperationCounts {
    pub pending: u32,
    pub sent: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub skipped: u32,
    pub cancelled: u32,
}

/// An operation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Operation {
    pub operation_id: OperationId,
    pub work: Work,
    /// The selection that it was made with.
    pub select: Option<String>,
    pub state: OperationState,
    /// How many devices it has.
    pub devices: u32,
    pub counts: OperationCounts,
    /// Who made it, or retried it last.
    pub requested_by: Actor,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
}

/// What became of an operation on one device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OperationDevice {
    pub device_id: DeviceId,
    /// Its name when it was selected.
    pub name: String,
    pub state: ItemState,
    /// How often it was tried to tell the device.
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<CommandId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment_id: Option<DeploymentId>,
    /// Why it failed or was skipped: the code of a problem, or one of [`ItemFault`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What became of it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// Which items of an operation.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OperationDevicesQuery {
    /// Only the devices in this state.
    pub state: Option<ItemState>,
    /// Items to answer with: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)+) => {
        /// Why a device failed that had been told.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum ItemFault { $($(#[$doc])* $name,)+ }

        impl ItemFault {
            /// Every fault, for tables and tests.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the code as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

faults! {
    /// The device tried and failed.
    CommandFailed = "command-failed";
    /// The device refused.
    CommandRejected = "command-rejected";
    /// The command was cancelled.
    CommandCancelled = "command-cancelled";
    /// A newer command took the place of this command.
    Superseded = "superseded";
    /// The device did not take the command, or said nothing of it, in time.
    Expired = "expired";
    /// The deployment failed.
    DeploymentFailed = "deployment-failed";
    /// The deployment was cancelled.
    DeploymentCancelled = "deployment-cancelled";
    /// The model is deployed and is not served.
    NotServing = "not-serving";
    /// The device left the account, or the model was deleted.
    Gone = "gone";
}

impl Work {
    /// Returns the kind as it stands on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Deploy { .. } => "deploy",
            Self::Repair { .. } => "repair",
            Self::Serve { .. } => "serve",
            Self::Stop { .. } => "stop",
            Self::Remove { .. } => "remove",
            Self::Update { .. } => "update",
            Self::Tag { .. } => "tag",
            Self::Untag { .. } => "untag",
            Self::Rename { .. } => "rename",
        }
    }

    /// Returns the model that it is about.
    #[must_use]
    pub const fn model(&self) -> Option<ModelId> {
        match self {
            Self::Deploy { model_id, .. }
            | Self::Repair { model_id, .. }
            | Self::Serve { model_id, .. }
            | Self::Stop { model_id }
            | Self::Remove { model_id } => Some(*model_id),
            Self::Update { .. } | Self::Tag { .. } | Self::Untag { .. } | Self::Rename { .. } => {
                None
            }
        }
    }
}

impl OperationCounts {
    /// Returns how many devices there are.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.open() + self.ended()
    }

    /// Returns how many devices are to be told or have not said what became of it.
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.pending + self.sent
    }

    /// Returns how many devices nothing changes for any more.
    #[must_use]
    pub const fn ended(&self) -> u32 {
        self.succeeded + self.failed + self.skipped + self.cancelled
    }

    /// Returns the number of one state.
    pub const fn of_mut(&mut self, state: ItemState) -> &mut u32 {
        match state {
            ItemState::Pending => &mut self.pending,
            ItemState::Sent => &mut self.sent,
            ItemState::Succeeded => &mut self.succeeded,
            ItemState::Failed => &mut self.failed,
            ItemState::Skipped => &mut self.skipped,
            ItemState::Cancelled => &mut self.cancelled,
        }
    }
}

impl ItemState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Sent, Self::Succeeded, Self::Failed, Self::Skipped, Self::Cancelled];

    /// Returns the name as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sent => "sent",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

impl OperationState {
    /// Returns the name as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for ItemState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for OperationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name_and_unknown_members_are_refused() {
        let model = format!("mdl_{:032x}", 1);
        for text in [
            format!(r#"{{"kind":"deploy","model_id":"{model}","serve":true}}"#),
            format!(r#"{{"kind":"repair","model_id":"{model}","port":8081}}"#),
            format!(r#"{{"kind":"serve","model_id":"{model}"}}"#),
            format!(r#"{{"kind":"stop","model_id":"{model}"}}"#),
            format!(r#"{{"kind":"remove","model_id":"{model}"}}"#),
            r#"{"kind":"update","version":"1.4.0"}"#.to_owned(),
            r#"{"kind":"tag","tags":["lab"]}"#.to_owned(),
            r#"{"kind":"untag","tags":["lab"]}"#.to_owned(),
            r#"{"kind":"rename","pattern":"lab-{n}"}"#.to_owned(),
        ] {
            let work: Work = serde_json::from_str(&text).unwrap();
            let back = serde_json::to_value(&work).unwrap();
            assert_eq!(back["kind"], work.kind());
            assert_eq!(serde_json::from_value::<Work>(back).unwrap(), work);
            let more = text.replacen('{', r#"{"more":1,"#, 1);
            assert!(serde_json::from_str::<Work>(&more).is_err(), "{more}");
        }
        assert!(serde_json::from_str::<Work>(r#"{"kind":"explode"}"#).is_err());
    }

    #[test]
    fn every_state_is_counted_once() {
        let mut counts = OperationCounts::default();
        for state in ItemState::ALL {
            *counts.of_mut(state) += 1;
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        assert_eq!((counts.total(), counts.open(), counts.ended()), (6, 2, 4));
    }
}
