//! The times of the devices' last messages, and whether a hello changes anything. The hello of an unchanged device
//! needs no transaction.

use jiff::Timestamp;
use link_protocol::id::{AccountId, DeviceId};

use crate::database::{
    Store, StoreError,
    column::{ms, parse},
    read, sql, write,
};

impl Store {
    /// Stores the times of the devices' last messages in one transaction. Earlier times are ignored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn devices_seen(&self, seen: &[(DeviceId, Timestamp)]) -> Result<(), StoreError> {
        // Every backend locks the rows in the same order, so no two of them wait for each other.
        let mut seen = seen.to_vec();
        seen.sort_unstable();
        write!(self, [], |db| {
            for (device, at) in &seen {
                sql::query(
                    "UPDATE devices SET last_seen_ms = $2 WHERE device_id = $1 \
                     AND (last_seen_ms IS NULL OR last_seen_ms < $2)",
                )
                .bind(device.to_string())
                .bind(ms(*at))
                .execute(db)
                .await?;
            }
        });
        Ok(())
    }

    /// Lists the devices of an account whose last stored message is later than `after`, and not later than `until`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn devices_last_seen(
        &self,
        account: AccountId,
        after: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<DeviceId>, StoreError> {
        let ids: Vec<String> = read!(self, |db| {
            sql::query_scalar(
                "SELECT device_id FROM devices WHERE account_id = $1 \
                 AND last_seen_ms > $2 AND last_seen_ms <= $3",
            )
            .bind(account.to_string())
            .bind(ms(after))
            .bind(ms(until))
            .maybe_slow()
            .fetch_all(db)
            .await?
        });
        ids.iter().map(|id| parse(id)).collect()
    }

    /// Finds the account of a device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn account_of_device(
        &self,
        device: DeviceId,
    ) -> Result<Option<AccountId>, StoreError> {
        let account: Option<String> = read!(self, |db| {
            sql::query_scalar("SELECT account_id FROM devices WHERE device_id = $1")
                .bind(device.to_string())
                .fetch_optional(db)
                .await?
        });
        account.as_deref().map(parse).transpose()
    }

    /// Tells whether a device has commands that can still change.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_unfinished_commands(&self, device: DeviceId) -> Result<bool, StoreError> {
        let count: i64 = read!(self, |db| {
            sql::query_scalar(
                "SELECT COUNT(*) FROM (SELECT 1 FROM commands \
                 WHERE device_id = $1 AND unfinished LIMIT 1) AS found",
            )
            .bind(device.to_string())
            .fetch_one(db)
            .await?
        });
        Ok(count > 0)
    }

    /// Tells whether a device has reported the state of any model.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_serving_states(&self, device: DeviceId) -> Result<bool, StoreError> {
        let count: i64 = read!(self, |db| {
            sql::query_scalar("SELECT COUNT(*) FROM model_states WHERE device_id = $1")
                .bind(device.to_string())
                .fetch_one(db)
                .await?
        });
        Ok(count > 0)
    }
}
