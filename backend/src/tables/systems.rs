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
        summary::{NEARLY_FULL_PERCENT, disk_percent},
    },
    tables::loads,
};

/// The number of samples that one transaction fills.
const FILLED_AT_ONCE: i64 = 500;

row! {
    struct ReportRow {
        device_id: String,
        report: String,
    }
}

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
            let disk = disk_percent(report);
            let before: Option<Option<i64>> =
                sql::query_scalar("SELECT disk_percent FROM system_samples WHERE device_id = $1")
                    .bind(device.to_string())
                    .fetch_optional(&mut *db)
                    .await?;
            let was_full = before.flatten().is_some_and(|before| before >= NEARLY_FULL_PERCENT);
            if was_full != (disk >= NEARLY_FULL_PERCENT) {
                db.changed(None, Subject::Disk(device));
            }
            sql::query(
                "INSERT INTO system_samples (device_id, report, reported_ms, disk_percent) \
                 VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (device_id) DO UPDATE SET report = excluded.report, \
                 reported_ms = excluded.reported_ms, disk_percent = excluded.disk_percent",
            )
            .bind(device.to_string())
            .bind(json(report)?)
            .bind(ms(now))
            .bind(disk)
            .execute(&mut *db)
            .await?;
            let step = Step::of(report, now);
            loads::append(db, &device.to_string(), Level::TenSeconds, &[step]).await?;
        });
        Ok(())
    }

    /// Fills the used shares of disks of samples that an earlier version has stored. A sample that cannot be read counts as one
    /// without a disk: it must not keep the backend from starting.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn fill_disk_percents(&self) -> Result<(), StoreError> {
        loop {
            let filled = write!(self, [], |db| {
                let rows: Vec<ReportRow> = sql::query_as(
                    "SELECT device_id, report FROM system_samples WHERE disk_percent IS NULL LIMIT $1",
                )
                .bind(FILLED_AT_ONCE)
                .fetch_all(&mut *db)
                .await?;
                for row in &rows {
                    sql::query("UPDATE system_samples SET disk_percent = $2 WHERE device_id = $1")
                        .bind(&row.device_id)
                        .bind(from_json(&row.report).map_or(-1, |report| disk_percent(&report)))
                        .execute(&mut *db)
                        .await?;
                }
                rows.len()
            });
            if filled == 0 {
                return Ok(());
            }
        }
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
