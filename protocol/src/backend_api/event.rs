//! The event stream of an account: which things changed, each with its newest document.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::DeviceId;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)+) => {
        /// The kind of a changed thing.
        #[derive(
            Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
            utoipa::ToSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum EventKind { $($(#[$doc])* $name,)+ }

        impl EventKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the kind's name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

kinds! {
    /// A device.
    Device = "device";
    /// The newest sample of a device.
    System = "system";
    /// A deployment.
    Deployment = "deployment";
    /// A command.
    Command = "command";
    /// A model.
    Model = "model";
    /// A registration key or a fleet key.
    Key = "key";
    /// A member of the account.
    Member = "member";
    /// An operation.
    Operation = "operation";
    /// A log record of a device.
    Log = "log";
    /// The summary of the account.
    Summary = "summary";
}

/// The text is not the name of a kind.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a kind of event; kinds: {list}", list = names())]
pub struct UnknownKind(String);

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EventKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let known = Self::ALL.iter().find(|kind| kind.as_str() == text);
        known.copied().ok_or_else(|| UnknownKind(text.chars().take(64).collect()))
    }
}

fn names() -> String {
    let names: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    names.join(", ")
}

/// What happened to a thing.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventChange {
    /// The thing is new, or differs from before.
    Changed,
    /// The account no longer has the thing.
    Removed,
}

/// The `data` of an event about a thing. The name of the event is the kind.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Event {
    pub kind: EventKind,
    /// The id of the thing: of the device for `system`, of the user for `member`, and the number of the record for
    /// `log`. A `summary` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The device that the thing belongs to, if it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<DeviceId>,
    pub change: EventChange,
    /// The document that a request for the thing returns at this moment. For `system` it has only the member
    /// `system`. A removed thing has none.
    #[schema(value_type = Option<Object>)]
    pub item: Option<Value>,
}

/// The `data` of `ready`, the first event of a stream.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct StreamReady {
    /// Whether the stream continues after the event that `Last-Event-ID` names. Otherwise the reader has to load anew
    /// what it shows.
    pub resumed: bool,
}

/// The reason why the backend ends a stream.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamEndReason {
    /// The login has ended, the token was revoked or has expired, or the caller is no longer a member.
    SessionEnded,
    /// The role of the caller changed.
    RoleChanged,
    /// The backend shuts down. Another one, or the next one, takes the stream.
    ShuttingDown,
}

/// The `data` of `end`, the last event of a stream.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct StreamEnd {
    pub reason: StreamEndReason,
}

/// The filter of an event stream.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// Only events of these kinds, separated by commas. By default, events of all kinds except `log` that the caller
    /// may read.
    #[param(example = "device,system,summary")]
    pub kinds: Option<String>,
    /// Only events about this device and what belongs to it. `log` needs it.
    pub device_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_is_the_one_in_a_document() {
        for kind in EventKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        let error = "devices".parse::<EventKind>().unwrap_err().to_string();
        assert!(error.starts_with("`devices` is not a kind of event; kinds: device, "), "{error}");
    }
}
