//! The usage of models, summed by device, model and hour. Old hours are merged into days.
//!
//! The transaction that stores a report also adds it to the sums. So a repeated report counts only once, as long as the
//! first one is stored.

use jiff::Timestamp;
use link_protocol::{
    backend_api::usage::{Usage, UsageBucket},
    id::{AccountId, DeviceId, ModelId},
    report::TelemetryReport,
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{ms, parse, signed, time, unsigned},
        read,
        sql::{self, row},
        write,
    },
    tables::locks,
};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The maximum that one report adds to a sum, so that no sum overflows its column.
const MOST: i64 = 1_000_000_000;
/// The number of hours that one transaction merges into days.
const BATCH: i64 = 200;

/// Adds to a row, or inserts the row.
const ADD: &str = "INSERT INTO usage_totals (account_id, device_id, model_id, span_ms, begin_ms, \
     inferences, uncounted, prompt_tokens, completion_tokens, audio_ms, images, duration_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
     ON CONFLICT (account_id, begin_ms, device_id, model_id, span_ms) DO UPDATE SET \
     inferences = usage_totals.inferences + excluded.inferences, \
     uncounted = usage_totals.uncounted + excluded.uncounted, \
     prompt_tokens = usage_totals.prompt_tokens + excluded.prompt_tokens, \
     completion_tokens = usage_totals.completion_tokens + excluded.completion_tokens, \
     audio_ms = usage_totals.audio_ms + excluded.audio_ms, \
     images = usage_totals.images + excluded.images, \
     duration_ms = usage_totals.duration_ms + excluded.duration_ms";

/// A filter for usage.
#[derive(Clone, Copy, Debug)]
pub struct UsageFilter {
    pub bucket: UsageBucket,
    pub device: Option<DeviceId>,
    pub model: Option<ModelId>,
    /// The range contains the span of `from`, the span of `to`, and all spans between. A span that starts exactly at
    /// `to` is not in the range.
    pub from: Timestamp,
    pub to: Timestamp,
    /// The last item of the previous page.
    pub after: Option<(Timestamp, DeviceId, ModelId)>,
    pub limit: u32,
}

row! {
    struct TotalRow {
        account_id: String,
        device_id: String,
        model_id: String,
        span_ms: i64,
        begin_ms: i64,
        inferences: i64,
        uncounted: i64,
        prompt_tokens: i64,
        completion_tokens: i64,
        audio_ms: i64,
        images: i64,
        duration_ms: i64,
    }
}

impl Store {
    /// Lists usage of an account's devices, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn usage(
        &self,
        account: AccountId,
        filter: &UsageFilter,
    ) -> Result<Vec<Usage>, StoreError> {
        let width = match filter.bucket {
            UsageBucket::Hour => HOUR_MS,
            UsageBucket::Day => DAY_MS,
        };
        let to = ms(filter.to);
        let after = filter.after;
        let rows: Vec<TotalRow> = read!(self, |db| {
            sql::query_as(
                "SELECT u.account_id, u.device_id, u.model_id, $2 AS span_ms, u.begin_ms, \
                 CAST(SUM(u.inferences) AS BIGINT) AS inferences, \
                 CAST(SUM(u.uncounted) AS BIGINT) AS uncounted, \
                 CAST(SUM(u.prompt_tokens) AS BIGINT) AS prompt_tokens, \
                 CAST(SUM(u.completion_tokens) AS BIGINT) AS completion_tokens, \
                 CAST(SUM(u.audio_ms) AS BIGINT) AS audio_ms, \
                 CAST(SUM(u.images) AS BIGINT) AS images, \
                 CAST(SUM(u.duration_ms) AS BIGINT) AS duration_ms FROM \
                 (SELECT account_id, device_id, model_id, begin_ms - begin_ms % $2 AS begin_ms, \
                 inferences, uncounted, prompt_tokens, completion_tokens, audio_ms, images, \
                 duration_ms FROM usage_totals WHERE account_id = $1 AND span_ms <= $2 AND begin_ms >= $3 \
                 AND begin_ms < $4 AND ($5 IS NULL OR device_id = $5) \
                 AND ($6 IS NULL OR model_id = $6)) u \
                 WHERE ($7 IS NULL OR (u.begin_ms, u.device_id, u.model_id) < ($7, $8, $9)) \
                 GROUP BY u.account_id, u.begin_ms, u.device_id, u.model_id \
                 ORDER BY u.begin_ms DESC, u.device_id DESC, u.model_id DESC LIMIT $10",
            )
            .bind(account.to_string())
            .bind(width)
            .bind(beginning(ms(filter.from), width))
            .bind(beginning(to.saturating_add(width - 1), width))
            .bind(filter.device.map(|id| id.to_string()))
            .bind(filter.model.map(|id| id.to_string()))
            .bind(after.map(|(begin, ..)| ms(begin)))
            .bind(after.map(|(_, device, _)| device.to_string()))
            .bind(after.map(|(.., model)| model.to_string()))
            .bind(i64::from(filter.limit))
            .maybe_slow()
            .fetch_all(db)
            .await?
        });
        rows.into_iter().map(|row| row.usage(filter.bucket)).collect()
    }

    /// Merges some of the hours that ended before `before` into days. Returns whether there may be more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn fold_usage(&self, before: Timestamp) -> Result<bool, StoreError> {
        let before = beginning(ms(before), DAY_MS);
        let folded = write!(self, [locks::table("usage_totals")], |db| {
            let rows: Vec<TotalRow> = sql::query_as(
                "SELECT * FROM usage_totals WHERE span_ms = $1 AND begin_ms < $2 \
                 ORDER BY begin_ms LIMIT $3",
            )
            .bind(HOUR_MS)
            .bind(before)
            .bind(BATCH)
            .fetch_all(&mut *db)
            .await?;
            for row in &rows {
                row.add(db, DAY_MS).await?;
                sql::query(
                    "DELETE FROM usage_totals WHERE account_id = $1 AND begin_ms = $2 \
                     AND device_id = $3 AND model_id = $4 AND span_ms = $5",
                )
                .bind(&row.account_id)
                .bind(row.begin_ms)
                .bind(&row.device_id)
                .bind(&row.model_id)
                .bind(row.span_ms)
                .execute(&mut *db)
                .await?;
            }
            signed(rows.len() as u64)
        });
        Ok(folded == BATCH)
    }
}

/// Adds a stored report to the sums.
pub(crate) async fn count(
    db: &mut Connection,
    device: DeviceId,
    report: &TelemetryReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    let account: Option<String> =
        sql::query_scalar("SELECT account_id FROM devices WHERE device_id = $1")
            .bind(device.to_string())
            .fetch_optional(&mut *db)
            .await?;
    let counts = [report.prompt_tokens, report.completion_tokens, report.audio_ms, report.images];
    let known = counts.iter().any(Option::is_some);
    let row = TotalRow {
        account_id: account.ok_or(StoreError::NotFound)?,
        device_id: device.to_string(),
        model_id: report.model_id.to_string(),
        span_ms: HOUR_MS,
        begin_ms: ms(now),
        inferences: 1,
        uncounted: i64::from(!known),
        prompt_tokens: capped(report.prompt_tokens.unwrap_or(0)),
        completion_tokens: capped(report.completion_tokens.unwrap_or(0)),
        audio_ms: capped(report.audio_ms.unwrap_or(0)),
        images: capped(report.images.unwrap_or(0)),
        duration_ms: capped(report.duration_ms),
    };
    row.add(db, HOUR_MS).await
}

fn capped(number: u64) -> i64 {
    signed(number).min(MOST)
}

/// Returns the start of the span of the length `width` that contains `at`.
const fn beginning(at: i64, width: i64) -> i64 {
    at - at.rem_euclid(width)
}

impl TotalRow {
    /// Adds the usage to the row of the span with the length `width`.
    async fn add(&self, db: &mut Connection, width: i64) -> Result<(), StoreError> {
        sql::query(ADD)
            .bind(&self.account_id)
            .bind(&self.device_id)
            .bind(&self.model_id)
            .bind(width)
            .bind(beginning(self.begin_ms, width))
            .bind(self.inferences)
            .bind(self.uncounted)
            .bind(self.prompt_tokens)
            .bind(self.completion_tokens)
            .bind(self.audio_ms)
            .bind(self.images)
            .bind(self.duration_ms)
            .execute(db)
            .await?;
        Ok(())
    }

    fn usage(&self, bucket: UsageBucket) -> Result<Usage, StoreError> {
        Ok(Usage {
            device_id: parse(&self.device_id)?,
            model_id: parse(&self.model_id)?,
            begin: time(self.begin_ms)?,
            bucket,
            inferences: unsigned(self.inferences),
            uncounted: unsigned(self.uncounted),
            prompt_tokens: unsigned(self.prompt_tokens),
            completion_tokens: unsigned(self.completion_tokens),
            audio_ms: unsigned(self.audio_ms),
            images: unsigned(self.images),
            duration_ms: unsigned(self.duration_ms),
        })
    }
}
