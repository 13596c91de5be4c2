//! The number of devices of each account: a counter that changes in the transaction that adds or removes a device.
//!
//! An increment locks the row of the account until the end of the transaction. So a limit that is compared with the
//! counter is exact, even if many devices register concurrently.

use link_protocol::id::AccountId;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{hex, parse, small},
        read, sql, write,
    },
    tables::locks,
};

/// Increments the counter of the account of the key with `digest`. Returns the previous number of devices, or `None` if
/// there is no such key.
pub(crate) async fn increment(
    db: &mut Connection,
    digest: &[u8; 32],
) -> Result<Option<u32>, StoreError> {
    let devices: Option<i64> = sql::query_scalar(
        "UPDATE accounts SET devices = devices + 1 WHERE account_id = \
         (SELECT account_id FROM enrolment_keys WHERE digest = $1) RETURNING devices",
    )
    .bind(hex(digest))
    .fetch_optional(db)
    .await?;
    Ok(devices.map(|devices| small(devices - 1)))
}

/// Decrements the counter.
pub(crate) async fn decrement(db: &mut Connection, account: AccountId) -> Result<(), StoreError> {
    sql::query("UPDATE accounts SET devices = devices - 1 WHERE account_id = $1")
        .bind(account.to_string())
        .execute(db)
        .await?;
    Ok(())
}

impl Store {
    /// Corrects the counter of every account whose counter is wrong, because a version of Link without counters may
    /// have used the database.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn recount_devices(&self) -> Result<(), StoreError> {
        let wrong: Vec<String> = read!(self, |db| {
            sql::query_scalar(
                "SELECT a.account_id FROM accounts a WHERE a.devices <> \
                 (SELECT COUNT(*) FROM devices d WHERE d.account_id = a.account_id)",
            )
            .maybe_slow()
            .fetch_all(db)
            .await?
        });
        for account in wrong {
            tracing::warn!(%account, "the number of devices of the account was wrong; it is counted again");
            write!(self, [locks::account(parse(&account)?)], |db| {
                // Lock the row before counting its devices.
                for statement in [
                    "UPDATE accounts SET devices = 0 WHERE account_id = $1",
                    "UPDATE accounts SET devices = (SELECT COUNT(*) FROM devices d \
                     WHERE d.account_id = accounts.account_id) WHERE account_id = $1",
                ] {
                    sql::query(statement).bind(&account).execute(&mut *db).await?;
                }
            });
        }
        Ok(())
    }
}
