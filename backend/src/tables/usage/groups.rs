//! Sums of usage by group and span, for the groups with the most inferences.

use link_protocol::{
    backend_api::usage::UsageGroupBy,
    id::{AccountId, DeviceId, ModelId},
};

use crate::{
    database::{
        Store, StoreError,
        column::signed,
        error::SqlError,
        read,
        sql::{self, Columns, Row},
    },
    domain::figures::{GROUPS, SUMS, Sum, Sums},
    tables::usage::sum,
};

/// Returns the statement for the sums of groups as a literal. `$5` has the keys that are groups of their own, or is
/// empty if every key is a group.
macro_rules! grouped {
    ($key:literal, $from:literal) => {
        concat!(
            "SELECT u.label, u.begin_ms, ",
            sums!(),
            " FROM (SELECT ",
            $key,
            " AS label, t.begin_ms - t.begin_ms % $2 AS begin_ms, ",
            columns!(),
            " FROM ",
            $from,
            " WHERE t.account_id = $1 AND t.span_ms <= $2 AND t.begin_ms >= $3 \
             AND t.begin_ms < $4 AND ($7 IS NULL OR t.device_id = $7) \
             AND ($8 IS NULL OR t.model_id = $8)) u GROUP BY u.label, u.begin_ms LIMIT $6"
        )
    };
}

/// Returns the statement for the keys with the most inferences as a literal.
macro_rules! leading {
    ($key:literal) => {
        concat!(
            "SELECT t.",
            $key,
            " FROM usage_totals t WHERE t.account_id = $1 AND t.span_ms <= $2 \
             AND t.begin_ms >= $3 AND t.begin_ms < $4 AND ($6 IS NULL OR t.device_id = $6) \
             AND ($7 IS NULL OR t.model_id = $7) GROUP BY t.",
            $key,
            " ORDER BY SUM(t.inferences) DESC, t.",
            $key,
            " LIMIT $5"
        )
    };
}

/// A period of usage, in milliseconds, from the beginning of a span of `width` to the end of another.
#[derive(Clone, Copy, Debug)]
pub struct UsagePeriod {
    pub from: i64,
    pub to: i64,
    pub width: i64,
}

/// The usage that counts: on one device, of one model, or all.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageScope {
    pub device: Option<DeviceId>,
    pub model: Option<ModelId>,
}

struct SumRow {
    label: Option<String>,
    begin_ms: i64,
    sum: Sum,
}

impl Row for SumRow {
    fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
        let (label, begin_ms) = (columns.get("label")?, columns.get("begin_ms")?);
        Ok(Self { label, begin_ms, sum: sum(columns)? })
    }
}

impl Store {
    /// Sums usage of an account by group and span. Only the groups with the most inferences have sums of their own; the
    /// key of all others is empty. The key of a device's tags is their JSON array. Returns `None` if there are too many
    /// sums.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn usage_sums(
        &self,
        account: AccountId,
        by: UsageGroupBy,
        period: UsagePeriod,
        scope: UsageScope,
    ) -> Result<Option<Sums>, StoreError> {
        let UsagePeriod { from, to, width } = period;
        let device = scope.device.map(|id| id.to_string());
        let model = scope.model.map(|id| id.to_string());
        let leading = match by {
            UsageGroupBy::Model => Some(leading!("model_id")),
            UsageGroupBy::Device => Some(leading!("device_id")),
            UsageGroupBy::Tag | UsageGroupBy::None => None,
        };
        let grouped = match by {
            UsageGroupBy::Model => grouped!(
                "CASE WHEN replace($5, t.model_id, '') <> $5 THEN t.model_id ELSE '' END",
                "usage_totals t"
            ),
            UsageGroupBy::Device => grouped!(
                "CASE WHEN replace($5, t.device_id, '') <> $5 THEN t.device_id ELSE '' END",
                "usage_totals t"
            ),
            UsageGroupBy::Tag => grouped!(
                "CASE WHEN $5 = '' THEN d.tags ELSE '' END",
                "usage_totals t LEFT JOIN devices d ON d.device_id = t.device_id \
                 AND d.account_id = t.account_id"
            ),
            UsageGroupBy::None => {
                grouped!("CASE WHEN $5 = '' THEN '' ELSE $5 END", "usage_totals t")
            }
        };
        let rows: Vec<SumRow> = read!(self, |db| {
            let keys: Vec<String> = match leading {
                Some(text) => {
                    sql::query_scalar(text)
                        .bind(account.to_string())
                        .bind(width)
                        .bind(from)
                        .bind(to)
                        .bind(signed(GROUPS as u64))
                        .bind(device.clone())
                        .bind(model.clone())
                        .maybe_slow()
                        .fetch_all(&mut *db)
                        .await?
                }
                None => Vec::new(),
            };
            sql::query_as(grouped)
                .bind(account.to_string())
                .bind(width)
                .bind(from)
                .bind(to)
                .bind(keys.join(" "))
                .bind(signed(SUMS as u64 + 1))
                .bind(device)
                .bind(model)
                .maybe_slow()
                .fetch_all(db)
                .await?
        });
        if rows.len() > SUMS {
            return Ok(None);
        }
        let mut sums = Sums::new();
        for row in rows {
            sums.entry(row.label).or_default().entry(row.begin_ms).or_default().add(&row.sum);
        }
        Ok(Some(sums))
    }
}
