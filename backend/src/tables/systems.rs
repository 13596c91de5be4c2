//! The latest system sample of each device. A stored sample is also added to the load of the device over time.

use jiff::Timestamp;
use link_protocol::{
    id::DeviceId,
    system::{SystemReport, SystemSample},
};

use crate::{
    database::{
        Store, StoreError,
        column::{from_json, json, ms, time},
        read,
        sql::{self, row},
        write,
    },
    domain::{
        change::Subject,
        load::{Level, Step},
    },
    tables::loads,
};

row! {
    struct SampleRow {
        report: String,
        reported_ms: i64,
    }
}

impl Store {
    /// Stores a sample of a device in place of the previous one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn keep_system(
        &self,
        device: DeviceId,
        report: &SystemReport,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        write!(self, [], |db| {
            db.changed(None, Subject::System(device));
            sql::query(
                "INSERT INTO system_samples (device_id, report, reported_ms) VALUES ($1, $2, $3) \
                 ON CONFLICT (device_id) DO UPDATE SET report = excluded.report, \
                 reported_ms = excluded.reported_ms",
            )
            .bind(device.to_string())
            .bind(json(report)?)
            .bind(ms(now))
            .execute(&mut *db)
            .await?;
            let step = Step::of(report, now);
            loads::append(db, &device.to_string(), Level::TenSeconds, &[step]).await?;
        });
        Ok(())
    }

    /// Finds the latest sample of a device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn system(&self, device: DeviceId) -> Result<Option<SystemSample>, StoreError> {
        let row: Option<SampleRow> = read!(self, |pool| {
            sql::query_as("SELECT report, reported_ms FROM system_samples WHERE device_id = $1")
                .bind(device.to_string())
                .fetch_optional(pool)
                .await?
        });
        row.map(|row| sample(&row.report, row.reported_ms)).transpose()
    }
}

/// Reads a sample from its columns.
pub(crate) fn sample(report: &str, reported_ms: i64) -> Result<SystemSample, StoreError> {
    Ok(SystemSample { reported_at: time(reported_ms)?, report: from_json(report)? })
}
