//! Deletes records whose retention is over, a bounded number of rows in each transaction.

use crate::{
    database::{
        Store, StoreError,
        column::{ms, parse, signed},
        sql, write,
    },
    domain::{change::Subject, summary::NEARLY_FULL_PERCENT},
};
use jiff::Timestamp;

/// The number of rows that one transaction deletes.
const BATCH: i64 = 500;

/// The kinds of records that are deleted by age.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outdated {
    /// Refresh tokens. Their age counts from their expiry.
    RefreshTokens,
    /// Sessions. Their age counts from their end.
    Sessions,
    Idempotency,
    Logs,
    /// Ended commands, unless an unfinished deployment depends on them.
    Commands,
    Samples,
    /// The longest steps of the load of devices.
    Loads,
    Usage,
    Audit,
}

impl Outdated {
    const fn statement(self) -> &'static str {
        match self {
            Self::RefreshTokens => {
                "DELETE FROM refresh_tokens WHERE digest IN \
                 (SELECT digest FROM refresh_tokens WHERE expires_ms < $1 LIMIT $2)"
            }
            Self::Sessions => {
                "DELETE FROM sessions WHERE session_id IN \
                 (SELECT session_id FROM sessions WHERE ends_ms < $1 LIMIT $2)"
            }
            Self::Idempotency => {
                "DELETE FROM idempotency WHERE (account_id, idempotency_key) IN (SELECT \
                 account_id, idempotency_key FROM idempotency WHERE created_ms < $1 LIMIT $2)"
            }
            Self::Logs => {
                "DELETE FROM logs WHERE (device_id, number) IN \
                 (SELECT device_id, number FROM logs WHERE received_ms < $1 LIMIT $2)"
            }
            Self::Commands => {
                "DELETE FROM commands WHERE command_id IN (SELECT c.command_id FROM commands c \
                 WHERE c.issued_ms < $1 AND (c.state IN ('expired', 'superseded') \
                 OR c.result IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM deployments p WHERE \
                 p.device_id = c.device_id AND p.command_id = c.command_id \
                 AND p.state IN ('queued', 'downloading', 'configuring')) LIMIT $2)"
            }
            Self::Samples => {
                "DELETE FROM system_samples WHERE device_id IN \
                 (SELECT device_id FROM system_samples WHERE reported_ms < $1 LIMIT $2) \
                 RETURNING device_id, disk_percent"
            }
            Self::Loads => {
                "DELETE FROM device_loads WHERE (device_id, step_s, begin_s) IN (SELECT \
                 device_id, step_s, begin_s FROM device_loads \
                 WHERE step_s = 900 AND begin_s < $1 / 1000 - 86400 LIMIT $2)"
            }
            Self::Usage => {
                "DELETE FROM usage_totals WHERE \
                 (account_id, begin_ms, device_id, model_id, span_ms) IN (SELECT account_id, \
                 begin_ms, device_id, model_id, span_ms FROM usage_totals \
                 WHERE (span_ms = 3600000 AND begin_ms < $1 - 3600000) \
                 OR (span_ms = 86400000 AND begin_ms < $1 - 86400000) LIMIT $2)"
            }
            Self::Audit => {
                "DELETE FROM audit WHERE entry_id IN \
                 (SELECT entry_id FROM audit WHERE at_ms < $1 LIMIT $2)"
            }
        }
    }
}

impl Store {
    /// Deletes some of the records that are older than `before`. Returns whether there may be more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget(&self, what: Outdated, before: Timestamp) -> Result<bool, StoreError> {
        if what == Outdated::Samples {
            return self.forget_samples(before).await;
        }
        let deleted = write!(self, [], |db| {
            sql::query(what.statement())
                .bind(ms(before))
                .bind(BATCH)
                .maybe_slow()
                .execute(db)
                .await?
        });
        Ok(signed(deleted.rows_affected()) == BATCH)
    }

    /// Deletes samples, and says of each full disk among them that the summary counts it no more.
    async fn forget_samples(&self, before: Timestamp) -> Result<bool, StoreError> {
        let deleted = write!(self, [], |db| {
            let deleted: Vec<(String, Option<i64>)> = sql::query_as(Outdated::Samples.statement())
                .bind(ms(before))
                .bind(BATCH)
                .maybe_slow()
                .fetch_all(&mut *db)
                .await?;
            for (device, percent) in &deleted {
                if percent.is_some_and(|percent| percent >= NEARLY_FULL_PERCENT) {
                    db.changed(None, Subject::Disk(parse(device)?));
                }
            }
            deleted.len()
        });
        Ok(i64::try_from(deleted).is_ok_and(|deleted| deleted == BATCH))
    }

    /// Checks whether the database answers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn check(&self) -> Result<(), StoreError> {
        self.has_account().await.map(|_| ())
    }
}
