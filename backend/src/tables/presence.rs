//! The times of the devices' last messages, and whether a hello changes anything. The hello of an unchanged device
//! needs no transaction.

use jiff::Timestamp;
use link_protocol::id::DeviceId;

use crate::{
    database::{Store, StoreError, column::ms, read, sql, write},
    tables::commands::unfinished,
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

    /// Tells whether a device has commands that can still change.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_unfinished_commands(&self, device: DeviceId) -> Result<bool, StoreError> {
        let count: i64 = read!(self, |db| {
            sql::query_scalar(concat!(
                "SELECT COUNT(*) FROM (SELECT 1 FROM commands WHERE device_id = $1 AND ",
                unfinished!(),
                " LIMIT 1) AS unfinished",
            ))
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
