//! The locks of transactions. Locks are taken in this order: tables, accounts, users, models,
//! devices.

use link_protocol::id::{AccountId, DeviceId, ModelId, UserId};

use crate::database::lock::{Lock, Name};

/// Returns the lock of a table whose records belong to no account.
pub(crate) fn table(name: &'static str) -> Lock {
    Lock::exclusive(0, "table", Name::Text(name))
}

/// Returns the lock of an account. It protects the members, keys, tokens, quotas and the number of
/// devices.
pub(crate) fn account(id: AccountId) -> Lock {
    Lock::exclusive(1, "account", Name::Id(id.uuid()))
}

/// Returns the lock of a user. It protects the user's accounts, password and logins.
pub(crate) fn user(id: UserId) -> Lock {
    Lock::exclusive(2, "user", Name::Id(id.uuid()))
}

/// Returns the lock of a model. It protects the name, the file and the existence of the model.
pub(crate) fn model(id: ModelId) -> Lock {
    Lock::exclusive(3, "model", Name::Id(id.uuid()))
}

/// Returns the shared lock of a model, which only prevents the deletion of the model.
pub(crate) fn model_kept(id: ModelId) -> Lock {
    Lock::shared(3, "model", Name::Id(id.uuid()))
}

/// Returns the lock of a device. It protects the registration, commands, deployments and reports.
pub(crate) fn device(id: DeviceId) -> Lock {
    Lock::exclusive(4, "device", Name::Id(id.uuid()))
}
