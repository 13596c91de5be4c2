//! What transactions decide about, one lock for each, and the order in which the locks are taken:
//! tables, accounts, users, models, devices.

use link_protocol::id::{AccountId, DeviceId, ModelId, UserId};

use crate::database::lock::Lock;

/// Returns the lock of records that belong to no account, by the name of their table.
pub(crate) fn table(name: &'static str) -> Lock {
    Lock::exclusive(0, "table", name.as_bytes())
}

/// Returns the lock of an account: its members, keys, tokens, quotas and number of devices.
pub(crate) fn account(id: AccountId) -> Lock {
    Lock::exclusive(1, "account", id.uuid().as_bytes())
}

/// Returns the lock of a user: the accounts, the password and the logins.
pub(crate) fn user(id: UserId) -> Lock {
    Lock::exclusive(2, "user", id.uuid().as_bytes())
}

/// Returns the lock of a model: its name, its file, and whether it exists.
pub(crate) fn model(id: ModelId) -> Lock {
    Lock::exclusive(3, "model", id.uuid().as_bytes())
}

/// Returns the lock under which a model exists until the transaction ends.
pub(crate) fn model_kept(id: ModelId) -> Lock {
    Lock::shared(3, "model", id.uuid().as_bytes())
}

/// Returns the lock of a device: its registration, commands, deployments and reports.
pub(crate) fn device(id: DeviceId) -> Lock {
    Lock::exclusive(4, "device", id.uuid().as_bytes())
}
