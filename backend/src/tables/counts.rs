//! The totals for the metrics.

use jiff::{SignedDuration, Timestamp};
use link_protocol::limits;

use crate::{
    database::{Store, StoreError, column::ms, read, sql},
    host::metrics::Counts,
};

impl Store {
    /// Counts the devices and the open commands.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn counts(&self, now: Timestamp) -> Result<Counts, StoreError> {
        let recent = SignedDuration::try_from(limits::OFFLINE_AFTER).unwrap_or_default();
        let since = now.checked_sub(recent).unwrap_or(Timestamp::MIN);
        let row: (i64, i64, i64, i64) = read!(self, |db| {
            sql::query_as(
                "SELECT (SELECT CAST(COALESCE(SUM(devices), 0) AS BIGINT) FROM accounts), \
                 (SELECT COUNT(*) FROM devices WHERE greeted_epoch = epoch AND last_seen_ms > $1 \
                 AND status IN ('online', 'updating')), \
                 (SELECT COUNT(*) FROM commands \
                 WHERE state <> 'acknowledged' AND state <> 'expired' AND state = 'queued'), \
                 (SELECT COUNT(*) FROM commands \
                 WHERE state <> 'acknowledged' AND state <> 'expired' AND state = 'delivered')",
            )
            .bind(ms(since))
            .maybe_slow()
            .fetch_optional(db)
            .await?
            .ok_or(StoreError::NotFound)?
        });
        let number = |count: i64| u64::try_from(count).unwrap_or(0);
        let (devices, online, queued, delivered) = row;
        Ok(Counts {
            devices: number(devices),
            online: number(online),
            queued: number(queued),
            delivered: number(delivered),
        })
    }
}
