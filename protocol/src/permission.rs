//! The permissions that operations of the backend require.
//!
//! The backend decides which role has which permission. A personal access token has some
//! permissions as its scopes. The names are part of the API.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

/// The text is not the name of a permission.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not a scope; scopes: {list}", list = names())]
pub struct UnknownPermission(String);

macro_rules! permissions {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)+) => {
        /// A permission that an operation requires.
        #[derive(
            Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
        )]
        pub enum Permission { $($(#[$doc])* #[serde(rename = $text)] $name,)+ }

        impl Permission {
            /// Every permission, for tables and tests.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the permission's name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

permissions! {
    /// Read one's own user and account.
    ReadAccount = "account:read";
    /// Actions that require a login of a person: tokens, other accounts, further logins.
    ActInPerson = "login";
    /// Read the members and invitations of the account.
    ReadMembers = "members:read";
    /// Invite, remove and change the roles of members.
    WriteMembers = "members:write";
    /// Read keys without their secrets.
    ReadKeys = "keys:read";
    /// Create and revoke keys.
    WriteKeys = "keys:write";
    /// Read devices and their load.
    ReadDevices = "devices:read";
    /// Tag devices and update their agents.
    OperateDevices = "devices:operate";
    /// Remove devices, and transfer them to other accounts.
    WriteDevices = "devices:write";
    /// Read models.
    ReadModels = "models:read";
    /// Add, change, upload and delete models.
    WriteModels = "models:write";
    /// Read deployments.
    ReadDeployments = "deployments:read";
    /// Deploy models to devices, cancel deployments, and remove models from devices.
    WriteDeployments = "deployments:write";
    /// Repair, start and stop the serving of models.
    OperateServing = "serving:operate";
    /// Read commands and their results.
    ReadCommands = "commands:read";
    /// Read token usage.
    ReadUsage = "usage:read";
    /// Read settings.
    ReadSettings = "settings:read";
    /// Change settings.
    WriteSettings = "settings:write";
    /// Read the audit log.
    ReadAudit = "audit:read";
}

impl Permission {
    /// Returns whether a personal access token can have this permission as a scope.
    #[must_use]
    pub fn can_be_scope(self) -> bool {
        self != Self::ActInPerson
    }
}

impl PartialSchema for Permission {
    // A derived schema would not use the names from the macro.
    fn schema() -> RefOr<Schema> {
        let names = Self::ALL.iter().map(|permission| permission.as_str());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(names))
            .description(Some("A permission that an operation requires."))
            .into()
    }
}

impl ToSchema for Permission {}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, UnknownPermission> {
        let known = Self::ALL.iter().find(|permission| permission.as_str() == text);
        known.copied().ok_or_else(|| UnknownPermission(text.chars().take(64).collect()))
    }
}

fn names() -> String {
    let names: Vec<&str> = Permission::ALL.iter().map(|permission| permission.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_another_is_refused() {
        for permission in Permission::ALL {
            assert_eq!(permission.as_str().parse(), Ok(*permission));
        }
        let schema = serde_json::to_value(Permission::schema()).unwrap();
        assert_eq!(schema["enum"], serde_json::to_value(Permission::ALL).unwrap());
        let error = "devices:own".parse::<Permission>().unwrap_err().to_string();
        assert!(error.starts_with("`devices:own` is not a scope; scopes: account:read, "));
    }
}
