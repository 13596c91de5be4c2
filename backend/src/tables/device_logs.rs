//! The log records of a device, which are read newest first.
//!
//! `tables/reports.rs` inserts them and numbers them in ascending order for each device.

use link_protocol::{backend_api::device_log::DeviceLog, id::DeviceId, report::Severity};

use crate::{
    database::{
        Page, Store, StoreError,
        column::{from_word, signed, time, unsigned, word},
        read,
        sql::{self, row},
    },
    domain::device_log::LogFilter,
};

row! {
    struct LogRow {
        number: i64,
        message: String,
        severity: String,
        category: String,
        received_ms: i64,
    }
}

impl Store {
    /// Finds a log record of a device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn device_log(
        &self,
        device: DeviceId,
        number: u64,
    ) -> Result<Option<DeviceLog>, StoreError> {
        let row: Option<LogRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT number, message, severity, category, received_ms FROM logs \
                 WHERE device_id = $1 AND number = $2",
            )
            .bind(device.to_string())
            .bind(signed(number))
            .fetch_optional(pool)
            .await?
        });
        row.map(DeviceLog::try_from).transpose()
    }

    /// Lists log records of a device, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn device_logs(
        &self,
        device: DeviceId,
        filter: LogFilter,
        page: &Page,
    ) -> Result<Vec<DeviceLog>, StoreError> {
        let after = page.after.as_deref().and_then(|after| after.parse::<i64>().ok());
        let least = filter.severity.unwrap_or(Severity::Info);
        let mut words = Vec::with_capacity(Severity::ALL.len());
        for severity in Severity::ALL {
            words.push(if severity < least { None } else { Some(word(&severity)?) });
        }
        let model = filter.model.map(|model| format!("%{model}%"));
        let rows: Vec<LogRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT number, message, severity, category, received_ms FROM logs \
                 WHERE device_id = $1 AND number < $2 \
                 AND severity IN ($4, $5, $6, $7) AND ($8 IS NULL OR message LIKE $8) \
                 ORDER BY number DESC LIMIT $3",
            )
            .bind(device.to_string())
            .bind(after.unwrap_or(i64::MAX))
            .bind(i64::from(page.limit))
            .bind(&words[0])
            .bind(&words[1])
            .bind(&words[2])
            .bind(&words[3])
            .bind(&model)
            .maybe_slow()
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(DeviceLog::try_from).collect()
    }
}

impl TryFrom<LogRow> for DeviceLog {
    type Error = StoreError;

    fn try_from(row: LogRow) -> Result<Self, StoreError> {
        Ok(Self {
            number: unsigned(row.number),
            received_at: time(row.received_ms)?,
            severity: from_word(&row.severity)?,
            category: row.category,
            message: row.message,
        })
    }
}
