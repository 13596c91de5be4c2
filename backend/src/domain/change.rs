//! A change of stored records, as one part of the backend tells another, and one backend the others: only what changed.
//! Who needs the new state reads it.

use std::sync::Arc;

use link_protocol::{
    backend_api::event::EventKind,
    id::{AccountId, CommandId, DeploymentId, DeviceId, KeyId, ModelId, OperationId, UserId},
};
use serde::{Deserialize, Serialize};

/// A changed record.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Subject {
    Device(DeviceId),
    System(DeviceId),
    Deployment(DeploymentId, DeviceId),
    Command(CommandId, DeviceId),
    Model(ModelId),
    Key(KeyId),
    Member(UserId),
    Operation(OperationId),
    Log(DeviceId, u64),
    Summary,
    /// The state of a model on a device, which is part of the newest deployment of the two.
    Serving(DeviceId, ModelId),
    /// The usage of models on a device, which is part of the summary.
    Usage(DeviceId),
    /// Whether the disk of a device is nearly full, which is part of the summary.
    Disk(DeviceId),
    /// The allowlist of the account, on which all its deployments depend.
    Allowlist,
}

/// A change, and the account that sees it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Change {
    /// The account, unless the writer does not know it. A model without an account may be visible to every account.
    pub account: Option<AccountId>,
    pub subject: Subject,
}

/// What a listener to changes hears.
#[derive(Clone, Debug)]
pub enum News {
    /// The changes of one transaction.
    Changed(Arc<[Change]>),
    /// Changes may have been lost.
    Lost,
}

impl Subject {
    /// Returns the kind of the events about the subject, if there are any.
    #[must_use]
    pub const fn kind(self) -> Option<EventKind> {
        Some(match self {
            Self::Device(_) => EventKind::Device,
            Self::System(_) => EventKind::System,
            Self::Deployment(..) => EventKind::Deployment,
            Self::Command(..) => EventKind::Command,
            Self::Model(_) => EventKind::Model,
            Self::Key(_) => EventKind::Key,
            Self::Member(_) => EventKind::Member,
            Self::Operation(_) => EventKind::Operation,
            Self::Log(..) => EventKind::Log,
            Self::Summary => EventKind::Summary,
            Self::Serving(..) | Self::Usage(_) | Self::Disk(_) | Self::Allowlist => return None,
        })
    }

    /// Returns the device that the subject belongs to, if it belongs to one.
    #[must_use]
    pub const fn device(self) -> Option<DeviceId> {
        match self {
            Self::Device(device)
            | Self::System(device)
            | Self::Deployment(_, device)
            | Self::Command(_, device)
            | Self::Log(device, _)
            | Self::Serving(device, _)
            | Self::Usage(device)
            | Self::Disk(device) => Some(device),
            Self::Model(_)
            | Self::Key(_)
            | Self::Member(_)
            | Self::Operation(_)
            | Self::Summary
            | Self::Allowlist => None,
        }
    }

    /// Returns the id in the events about the subject.
    #[must_use]
    pub fn id(self) -> Option<String> {
        Some(match self {
            Self::Device(id) | Self::System(id) => id.to_string(),
            Self::Deployment(id, _) => id.to_string(),
            Self::Command(id, _) => id.to_string(),
            Self::Model(id) => id.to_string(),
            Self::Key(id) => id.to_string(),
            Self::Member(id) => id.to_string(),
            Self::Operation(id) => id.to_string(),
            Self::Log(_, number) => number.to_string(),
            Self::Summary
            | Self::Serving(..)
            | Self::Usage(_)
            | Self::Disk(_)
            | Self::Allowlist => return None,
        })
    }

    /// Tells whether a change of the subject can change the summary of its account.
    #[must_use]
    pub const fn counts(self) -> bool {
        match self {
            Self::System(_) | Self::Log(..) | Self::Member(_) | Self::Summary => false,
            Self::Device(_)
            | Self::Deployment(..)
            | Self::Command(..)
            | Self::Model(_)
            | Self::Key(_)
            | Self::Operation(_)
            | Self::Serving(..)
            | Self::Usage(_)
            | Self::Disk(_)
            | Self::Allowlist => true,
        }
    }
}
