//! Decides which accounts may share models with every account of the backend. The operator
//! configures them.
//!
//! Models that an account shares are available to the others only while the account may share.

use std::{fmt, str::FromStr};

use link_protocol::{account_name::AccountName, id::AccountId};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The maximum number of accounts in a configuration.
pub const MOST: usize = 100;

/// The accounts that may share, as configured.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Sharing {
    /// The only account of the backend, or no account once there are two.
    #[default]
    OnlyAccount,
    /// The listed accounts.
    Named(Vec<AccountRef>),
}

/// An account in the configuration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AccountRef {
    Id(AccountId),
    Name(AccountName),
}

/// A text is neither an account id nor an account name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected the name of an account, such as `ada`, or its id, which begins with `acc_`")]
pub struct InvalidAccountRef;

/// The accounts that may share now.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Publishers(Vec<AccountId>);

impl Publishers {
    /// Makes the set of `accounts`.
    #[must_use]
    pub const fn new(accounts: Vec<AccountId>) -> Self {
        Self(accounts)
    }

    /// Tells whether `account` may share.
    #[must_use]
    pub fn has(&self, account: AccountId) -> bool {
        self.0.contains(&account)
    }

    /// Returns the ids of the accounts as one text.
    #[must_use]
    pub fn ids(&self) -> String {
        self.0.iter().map(ToString::to_string).collect()
    }
}

impl FromStr for AccountRef {
    type Err = InvalidAccountRef;

    fn from_str(text: &str) -> Result<Self, InvalidAccountRef> {
        let id = text.parse().map(Self::Id);
        id.or_else(|_| text.parse().map(Self::Name)).map_err(|_| InvalidAccountRef)
    }
}

impl fmt::Display for AccountRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl Serialize for AccountRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AccountRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_named_by_its_name_or_its_id() {
        let id = "acc_01a20090ee9f711495256aa5d34edfec";
        assert_eq!(id.parse(), Ok(AccountRef::Id(id.parse().unwrap())));
        assert_eq!("ada".parse(), Ok(AccountRef::Name("ada".parse().unwrap())));
        for bad in ["", "acc_1", "ada@example.org", "a/b"] {
            assert_eq!(bad.parse::<AccountRef>(), Err(InvalidAccountRef), "{bad}");
        }
    }
}
