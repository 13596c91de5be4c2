//! The section `sharing` of the configuration file: the accounts that may share models.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::domain::sharing::{self, AccountRef, Sharing};

/// The accounts that may share models with every account.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct SharingSection {
    /// Accounts that may share models, each by name or id. Default: the only account of the backend; none once a second
    /// account exists.
    #[serde(deserialize_with = "accounts", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub accounts: Option<Vec<AccountRef>>,
}

impl SharingSection {
    /// Returns the accounts that may share.
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        self.accounts.clone().map_or(Sharing::OnlyAccount, Sharing::Named)
    }
}

fn accounts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<AccountRef>>, D::Error> {
    let accounts = Vec::<AccountRef>::deserialize(deserializer)?;
    let most = sharing::MOST;
    if accounts.len() <= most {
        return Ok(Some(accounts));
    }
    let found = accounts.len();
    Err(de::Error::custom(format!("expected {most} accounts at most, found {found}")))
}
