//! How busy devices are: the latest sample of each.

use std::collections::HashMap;

use jiff::Timestamp;
use link_protocol::{
    id::{AccountId, DeviceId},
    system::{SystemReport, SystemSample},
};

use crate::database::{
    Page, Store, StoreError,
    column::{from_json, json, ms, parse, time},
    read,
    sql::{self, row},
    write,
};

row! {
    struct SampleRow {
        device_id: String,
        report: String,
        reported_ms: i64,
    }
}

impl Store {
    /// Stores a sample of a device in the place of the one before.
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
            sql::query(
                "INSERT INTO system_samples (device_id, report, reported_ms) VALUES ($1, $2, $3) \
                 ON CONFLICT (device_id) DO UPDATE SET report = excluded.report, \
                 reported_ms = excluded.reported_ms",
            )
            .bind(device.to_string())
            .bind(json(report)?)
            .bind(ms(now))
            .execute(db)
            .await?;
        });
        Ok(())
    }

    /// Finds the latest sample of a device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn system(&self, device: DeviceId) -> Result<Option<SystemSample>, StoreError> {
        let row: Option<SampleRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM system_samples WHERE device_id = $1")
                .bind(device.to_string())
                .fetch_optional(pool)
                .await?
        });
        row.map(SystemSample::try_from).transpose()
    }

    /// Finds the latest samples of the devices on a page of those of an account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn systems(
        &self,
        account: AccountId,
        page: &Page,
    ) -> Result<HashMap<DeviceId, SystemSample>, StoreError> {
        let rows: Vec<SampleRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT * FROM system_samples WHERE device_id IN (SELECT device_id FROM devices \
                 WHERE account_id = $1 AND ($2 IS NULL OR device_id < $2) \
                 ORDER BY device_id DESC LIMIT $3)",
            )
            .bind(account.to_string())
            .bind(&page.after)
            .bind(i64::from(page.limit))
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(|row| Ok((parse(&row.device_id)?, row.try_into()?))).collect()
    }
}

impl TryFrom<SampleRow> for SystemSample {
    type Error = StoreError;

    fn try_from(row: SampleRow) -> Result<Self, StoreError> {
        Ok(Self { reported_at: time(row.reported_ms)?, report: from_json(&row.report)? })
    }
}
