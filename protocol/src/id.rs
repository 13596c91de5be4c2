//! Identifiers: a type prefix and a UUID as one string. New ids have UUIDs of version 7.
//!
//! Ids are parsed where data enters the program. A value of one of these types is always well
//! formed, so it is safe in a path or a log without further checks.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

/// An identifier did not have the form `<prefix>_<32 hexadecimal digits>`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected an id of the form `{prefix}` followed by 32 hexadecimal digits")]
pub struct InvalidId {
    prefix: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, utoipa::ToSchema)]
        #[schema(value_type = String)]
        pub struct $name(Uuid);

        impl $name {
            /// The type prefix of every id of this kind.
            pub const PREFIX: &'static str = $prefix;

            /// Creates the id with `uuid`.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Returns the UUID in the id.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, self.0.simple())
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse($prefix, text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    )+};
}

ids! {
    /// A device: one installed agent.
    DeviceId = "dev_";
    /// A model file and its description.
    ModelId = "mdl_";
    /// A command sent to a device.
    CommandId = "cmd_";
    /// One deployment of a model to a device.
    DeploymentId = "dep_";
    /// An account: the owner of devices and models.
    AccountId = "acc_";
    /// A person who belongs to an account.
    UserId = "usr_";
    /// A registration or fleet key.
    KeyId = "key_";
    /// An invitation to join an account.
    InvitationId = "inv_";
    /// A personal access token.
    TokenId = "tok_";
    /// A session: one login of a person, in a browser or with a program.
    SessionId = "ses_";
    /// An operation on many devices.
    OperationId = "op_";
    /// An entry of the audit log.
    AuditId = "aud_";
    /// One inference that a device served.
    InferenceId = "inf_";
    /// A serving pipeline: one for each model on each device.
    PipelineId = "pip_";
}

impl PipelineId {
    /// Returns the pipeline that serves `model` on a device: the same one for every deployment.
    #[must_use]
    pub const fn of(model: ModelId) -> Self {
        Self(model.0)
    }
}

fn parse(prefix: &'static str, text: &str) -> Result<Uuid, InvalidId> {
    let digits = text.strip_prefix(prefix).ok_or(InvalidId { prefix })?;
    let canonical = digits.len() == 32
        && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if !canonical {
        return Err(InvalidId { prefix });
    }
    Uuid::try_parse(digits).map_err(|_| InvalidId { prefix })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let id = DeviceId::from_uuid(Uuid::from_u128(7));
        assert_eq!(id.to_string(), "dev_00000000000000000000000000000007");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn another_spelling_of_an_id_is_refused() {
        for bad in [
            "",
            "dev_",
            "mdl_00000000000000000000000000000007",
            "dev_0000000000000000000000000000000A",
            "dev_00000000-0000-0000-0000-000000000007",
            "dev_000000000000000000000000000000071",
        ] {
            assert!(bad.parse::<DeviceId>().is_err(), "{bad}");
        }
    }
}
