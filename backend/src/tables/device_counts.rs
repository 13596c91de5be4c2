//! How many devices each account has: a counter that changes in the transaction that adds or removes a device.
//!
//! An increment holds the row of the account until the end of the transaction, so a limit that is compared with
//! its result is exact however many devices register at once.

use link_protocol::id::AccountId;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{hex, parse, small},
        read, sql, write,
    },
    tables::locks,
};

/// Counts one more device in the account of the key with `digest`; returns how many devices the account had
/// before, and nothing when there is no such key.
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

/// Counts one device less.
pub(crate) async fn decrement(db: &mut Connection, account: AccountId) -> Result<(), StoreError> {
    sql::query("UPDATE accounts SET devices = devices - 1 WHERE account_id = $1")
        .bind(account.to_string())
        .execute(db)
        .await?;
    Ok(())
}

impl Store {
    /// Counts the devices of every account whose counter is wrong: a version of Link that has no counter may have
    /// used the database.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn recount_devices(&self) -> Result<(), StoreError> {
        let wrong: Vec<String> = read!(self, |db| {
            sql::query_scalar(
                "SELECT a.account_id FROM accounts a WHERE a.devices <> \
                 (SELECT COUNT(*) FROM devices d WHERE d.account_id = a.account_id)",
            )
            .at_length()
            .fetch_all(db)
            .await?
        });
        for account in wrong {
            tracing::warn!(%account, "the number of devices of the account was wrong; it is counted again");
            write!(self, [locks::account(parse(&account)?)], |db| {
                // The row is held before its devices are counted.
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
