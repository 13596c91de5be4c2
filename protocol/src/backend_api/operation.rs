//! Operations: one request for many devices, which the backend carries out device by device.
//!
//! An operation has one item for each of its devices. Its state follows from the states of its items.

use std::fmt;

use jiff::Timestamp;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    backend_api::{audit::Actor, deployment::ProxyWish},
    command::Alias,
    id::{CommandId, DeploymentId, DeviceId, ModelId, OperationId},
    plugin::Settings,
    port::Port,
};

/// The work of an operation on each of its devices: the same as a request for one device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// Deploys or redeploys a model. A device that does not receive the deployment within five minutes fails.
    Deploy {
        model_id: ModelId,
        /// Absent: the port of the previous deployment, or 8080 for the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<Port>,
        /// Absent: the alias of the previous deployment, or an alias derived from the model's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alias: Option<Alias>,
        /// Whether to serve the model as soon as it is deployed.
        #[serde(default)]
        serve: bool,
        /// Changes of the features of the serving proxy.
        #[serde(default, skip_serializing_if = "ProxyWish::is_empty")]
        proxy: ProxyWish,
        /// Values for settings of the model's plugin. Absent: the settings of the previous deployment, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Settings>,
    },
    /// Updates the allowlist of a served model. An offline device fails; a device without the model is skipped.
    Repair {
        model_id: ModelId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<Port>,
    },
    /// Serves a deployed model. An offline device fails.
    Serve {
        model_id: ModelId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<Port>,
    },
    /// Stops serving a model. An offline device does so when it is back online; a device without the model is skipped.
    Stop { model_id: ModelId },
    /// Deletes a model from the devices. An offline device does so when it is back online; a device without the model
    /// is skipped.
    Remove { model_id: ModelId },
    /// Replaces the agent with another version. An offline device does so when it is back online.
    Update {
        #[schema(value_type = String, example = "1.4.0")]
        version: Version,
    },
    /// Adds tags.
    Tag { tags: Vec<String> },
    /// Removes tags.
    Untag { tags: Vec<String> },
    /// Renames each device after a pattern with `{n}` (its number in the operation), `{name}` (its current name) or
    /// `{hostname}`.
    Rename { pattern: String },
}

/// `POST /operations`: the work, and the devices: a selection or a list of ids.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateOperation {
    pub work: Work,
    /// Selects devices, in the syntax of `select` in the list of devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// The ids of the devices, instead of a selection. Devices of other accounts are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<DeviceId>>,
    /// Whether to answer with the selected devices, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// The answer to a dry run: the work, and the selected devices.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OperationPlan {
    pub work: Work,
    /// The number of selected devices.
    pub devices: u32,
    /// The first 200 selected devices.
    pub first: Vec<PlannedDevice>,
}

/// A selected device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct PlannedDevice {
    pub device_id: DeviceId,
    pub name: String,
    pub online: bool,
    /// The new name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_name: Option<String>,
}

/// The state of an operation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationState {
    /// At least one device is `pending` or `sent`.
    Running,
    /// Every device has succeeded or was skipped.
    Succeeded,
    /// The operation has ended, and at least one device failed.
    Failed,
    /// The operation was cancelled before it was sent to every device, and has ended.
    Cancelled,
}

/// The state of an operation on one device.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// The backend has not sent the operation to the device.
    Pending,
    /// The device has received the operation, or receives it when it is back online.
    Sent,
    Succeeded,
    /// The device failed; see `code` and `detail`. A retry sends the operation again.
    Failed,
    /// There was nothing to do on the device; see `code` and `detail`.
    Skipped,
    /// The operation was cancelled before it was sent to the device.
    Cancelled,
}

/// The number of devices in each state.
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
    /// The selection of the request, if any.
    pub select: Option<String>,
    pub state: OperationState,
    /// The number of devices.
    pub devices: u32,
    pub counts: OperationCounts,
    /// The actor who created the operation or last retried it.
    pub requested_by: Actor,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
}

/// The result of an operation on one device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct OperationDevice {
    pub device_id: DeviceId,
    /// The name of the device at the time of the selection.
    pub name: String,
    pub state: ItemState,
    /// The number of attempts to send the operation to the device.
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<CommandId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment_id: Option<DeploymentId>,
    /// The code of the failure or the skip: the code of a problem, or an [`ItemFault`] such as `command-failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// An explanation of the state, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The filter and the page of the devices of an operation.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OperationDevicesQuery {
    /// Only the devices in this state.
    pub state: Option<ItemState>,
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)+) => {
        /// The reason why a device failed after it had received its command.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum ItemFault { $($(#[$doc])* $name,)+ }

        impl ItemFault {
            /// Every fault, for tables and tests.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the code on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

faults! {
    /// The device carried out the command and failed.
    CommandFailed = "command-failed";
    /// The device rejected the command.
    CommandRejected = "command-rejected";
    /// The command was cancelled.
    CommandCancelled = "command-cancelled";
    /// A newer command superseded this command.
    Superseded = "superseded";
    /// The device did not accept the command, or report its result, in time.
    Expired = "expired";
    /// The deployment failed.
    DeploymentFailed = "deployment-failed";
    /// The deployment was cancelled.
    DeploymentCancelled = "deployment-cancelled";
    /// The model is deployed but not served.
    NotServing = "not-serving";
    /// The device left the account, or the model was deleted.
    Gone = "gone";
}

impl Work {
    /// Returns the kind on the wire.
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

    /// Returns the model that the work concerns, if any.
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
    /// Returns the number of all devices.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.open() + self.ended()
    }

    /// Returns the number of devices that are waiting for their command or have not reported its result.
    #[must_use]
    pub const fn open(&self) -> u32 {
        self.pending + self.sent
    }

    /// Returns the number of devices in a final state.
    #[must_use]
    pub const fn ended(&self) -> u32 {
        self.succeeded + self.failed + self.skipped + self.cancelled
    }

    /// Returns a mutable reference to the number of devices in `state`.
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

    /// Returns the name on the wire.
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
    /// Returns the name on the wire.
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
