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
use uuid::Uuid;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{ms, parse, signed, time},
        error::SqlError,
        read,
        sql::{self, Columns, Row},
        write,
    },
    domain::figures::{NUMBERS, Sum},
    tables::locks,
};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Usage of models that were never deployed on its device counts under this id. A device reports whatever ids it likes,
/// so only ids that the backend has sent to it become rows.
const NO_MODEL: ModelId = ModelId::from_uuid(Uuid::nil());
/// The number of hours that one transaction merges into days.
const BATCH: i64 = 200;

/// The columns of a sum, in the order of [`Sum`].
const COLUMNS: [&str; NUMBERS] = [
    "inferences",
    "uncounted",
    "prompt_tokens",
    "completion_tokens",
    "audio_ms",
    "images",
    "duration_ms",
    "first_token_0",
    "first_token_1",
    "first_token_2",
    "first_token_3",
    "first_token_4",
    "first_token_5",
    "first_token_6",
    "first_token_7",
    "first_token_8",
    "first_token_9",
    "token_rate_0",
    "token_rate_1",
    "token_rate_2",
    "token_rate_3",
    "token_rate_4",
    "token_rate_5",
    "token_rate_6",
    "token_rate_7",
    "token_rate_8",
    "token_rate_9",
];

/// Returns the names of the columns of a sum as a literal.
macro_rules! columns {
    () => {
        "inferences, uncounted, prompt_tokens, completion_tokens, audio_ms, images, duration_ms, \
         first_token_0, first_token_1, first_token_2, first_token_3, first_token_4, \
         first_token_5, first_token_6, first_token_7, first_token_8, first_token_9, token_rate_0, \
         token_rate_1, token_rate_2, token_rate_3, token_rate_4, token_rate_5, token_rate_6, \
         token_rate_7, token_rate_8, token_rate_9"
    };
}

/// Returns the sums of these columns as a literal.
macro_rules! sums {
    () => {
        "CAST(SUM(u.inferences) AS BIGINT) AS inferences, \
         CAST(SUM(u.uncounted) AS BIGINT) AS uncounted, \
         CAST(SUM(u.prompt_tokens) AS BIGINT) AS prompt_tokens, \
         CAST(SUM(u.completion_tokens) AS BIGINT) AS completion_tokens, \
         CAST(SUM(u.audio_ms) AS BIGINT) AS audio_ms, CAST(SUM(u.images) AS BIGINT) AS images, \
         CAST(SUM(u.duration_ms) AS BIGINT) AS duration_ms, \
         CAST(SUM(u.first_token_0) AS BIGINT) AS first_token_0, \
         CAST(SUM(u.first_token_1) AS BIGINT) AS first_token_1, \
         CAST(SUM(u.first_token_2) AS BIGINT) AS first_token_2, \
         CAST(SUM(u.first_token_3) AS BIGINT) AS first_token_3, \
         CAST(SUM(u.first_token_4) AS BIGINT) AS first_token_4, \
         CAST(SUM(u.first_token_5) AS BIGINT) AS first_token_5, \
         CAST(SUM(u.first_token_6) AS BIGINT) AS first_token_6, \
         CAST(SUM(u.first_token_7) AS BIGINT) AS first_token_7, \
         CAST(SUM(u.first_token_8) AS BIGINT) AS first_token_8, \
         CAST(SUM(u.first_token_9) AS BIGINT) AS first_token_9, \
         CAST(SUM(u.token_rate_0) AS BIGINT) AS token_rate_0, \
         CAST(SUM(u.token_rate_1) AS BIGINT) AS token_rate_1, \
         CAST(SUM(u.token_rate_2) AS BIGINT) AS token_rate_2, \
         CAST(SUM(u.token_rate_3) AS BIGINT) AS token_rate_3, \
         CAST(SUM(u.token_rate_4) AS BIGINT) AS token_rate_4, \
         CAST(SUM(u.token_rate_5) AS BIGINT) AS token_rate_5, \
         CAST(SUM(u.token_rate_6) AS BIGINT) AS token_rate_6, \
         CAST(SUM(u.token_rate_7) AS BIGINT) AS token_rate_7, \
         CAST(SUM(u.token_rate_8) AS BIGINT) AS token_rate_8, \
         CAST(SUM(u.token_rate_9) AS BIGINT) AS token_rate_9"
    };
}

// Below the literals, which its statements use.
mod groups;

pub use groups::{UsagePeriod, UsageScope};

/// Adds to a row, or inserts the row.
const ADD: &str = concat!(
    "INSERT INTO usage_totals (account_id, device_id, model_id, span_ms, begin_ms, ",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
     $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32) \
     ON CONFLICT (account_id, begin_ms, device_id, model_id, span_ms) DO UPDATE SET ",
    "inferences = usage_totals.inferences + excluded.inferences, \
     uncounted = usage_totals.uncounted + excluded.uncounted, \
     prompt_tokens = usage_totals.prompt_tokens + excluded.prompt_tokens, \
     completion_tokens = usage_totals.completion_tokens + excluded.completion_tokens, \
     audio_ms = usage_totals.audio_ms + excluded.audio_ms, \
     images = usage_totals.images + excluded.images, \
     duration_ms = usage_totals.duration_ms + excluded.duration_ms, \
     first_token_0 = usage_totals.first_token_0 + excluded.first_token_0, \
     first_token_1 = usage_totals.first_token_1 + excluded.first_token_1, \
     first_token_2 = usage_totals.first_token_2 + excluded.first_token_2, \
     first_token_3 = usage_totals.first_token_3 + excluded.first_token_3, \
     first_token_4 = usage_totals.first_token_4 + excluded.first_token_4, \
     first_token_5 = usage_totals.first_token_5 + excluded.first_token_5, \
     first_token_6 = usage_totals.first_token_6 + excluded.first_token_6, \
     first_token_7 = usage_totals.first_token_7 + excluded.first_token_7, \
     first_token_8 = usage_totals.first_token_8 + excluded.first_token_8, \
     first_token_9 = usage_totals.first_token_9 + excluded.first_token_9, \
     token_rate_0 = usage_totals.token_rate_0 + excluded.token_rate_0, \
     token_rate_1 = usage_totals.token_rate_1 + excluded.token_rate_1, \
     token_rate_2 = usage_totals.token_rate_2 + excluded.token_rate_2, \
     token_rate_3 = usage_totals.token_rate_3 + excluded.token_rate_3, \
     token_rate_4 = usage_totals.token_rate_4 + excluded.token_rate_4, \
     token_rate_5 = usage_totals.token_rate_5 + excluded.token_rate_5, \
     token_rate_6 = usage_totals.token_rate_6 + excluded.token_rate_6, \
     token_rate_7 = usage_totals.token_rate_7 + excluded.token_rate_7, \
     token_rate_8 = usage_totals.token_rate_8 + excluded.token_rate_8, \
     token_rate_9 = usage_totals.token_rate_9 + excluded.token_rate_9"
);

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

struct TotalRow {
    account_id: String,
    device_id: String,
    model_id: String,
    begin_ms: i64,
    sum: Sum,
}

impl Row for TotalRow {
    fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
        Ok(Self {
            account_id: columns.get("account_id")?,
            device_id: columns.get("device_id")?,
            model_id: columns.get("model_id")?,
            begin_ms: columns.get("begin_ms")?,
            sum: sum(columns)?,
        })
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
            sql::query_as(concat!(
                "SELECT u.account_id, u.device_id, u.model_id, u.begin_ms, ",
                sums!(),
                " FROM \
                 (SELECT account_id, device_id, model_id, begin_ms - begin_ms % $2 AS begin_ms, ",
                columns!(),
                " FROM usage_totals WHERE account_id = $1 AND span_ms <= $2 \
                 AND begin_ms >= $3 AND begin_ms < $4 AND ($5 IS NULL OR device_id = $5) \
                 AND ($6 IS NULL OR model_id = $6)) u \
                 WHERE ($7 IS NULL OR (u.begin_ms, u.device_id, u.model_id) < ($7, $8, $9)) \
                 GROUP BY u.account_id, u.begin_ms, u.device_id, u.model_id \
                 ORDER BY u.begin_ms DESC, u.device_id DESC, u.model_id DESC LIMIT $10"
            ))
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
                .bind(HOUR_MS)
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
    let row: Option<(String, i64)> = sql::query_as(
        "SELECT d.account_id, (SELECT COUNT(*) FROM (SELECT 1 FROM deployments p \
         WHERE p.device_id = d.device_id AND p.model_id = $2 LIMIT 1) AS deployed) \
         FROM devices d WHERE d.device_id = $1",
    )
    .bind(device.to_string())
    .bind(report.model_id.to_string())
    .fetch_optional(&mut *db)
    .await?;
    let (account_id, deployed) = row.ok_or(StoreError::NotFound)?;
    let model = if deployed > 0 { report.model_id } else { NO_MODEL };
    let row = TotalRow {
        account_id,
        device_id: device.to_string(),
        model_id: model.to_string(),
        begin_ms: ms(now),
        sum: Sum::of(report),
    };
    row.add(db, HOUR_MS).await
}

/// Returns the start of the span of the length `width` that contains `at`.
const fn beginning(at: i64, width: i64) -> i64 {
    at - at.rem_euclid(width)
}

impl TotalRow {
    /// Adds the usage to the row of the span with the length `width`.
    async fn add(&self, db: &mut Connection, width: i64) -> Result<(), StoreError> {
        let row = sql::query(ADD)
            .bind(&self.account_id)
            .bind(&self.device_id)
            .bind(&self.model_id)
            .bind(width)
            .bind(beginning(self.begin_ms, width));
        self.sum.0.iter().fold(row, |row, number| row.bind(*number)).execute(db).await?;
        Ok(())
    }

    fn usage(&self, bucket: UsageBucket) -> Result<Usage, StoreError> {
        let sum = self.sum.figures();
        Ok(Usage {
            device_id: parse(&self.device_id)?,
            device_name: None,
            model_id: parse(&self.model_id)?,
            model_name: None,
            begin: time(self.begin_ms)?,
            bucket,
            inferences: sum.inferences,
            uncounted: sum.uncounted,
            prompt_tokens: sum.prompt_tokens,
            completion_tokens: sum.completion_tokens,
            audio_ms: sum.audio_ms,
            images: sum.images,
            duration_ms: sum.duration_ms,
        })
    }
}

fn sum(columns: Columns<'_>) -> Result<Sum, SqlError> {
    let mut sum = Sum::default();
    for (number, name) in sum.0.iter_mut().zip(COLUMNS) {
        *number = columns.get(name)?;
    }
    Ok(sum)
}
