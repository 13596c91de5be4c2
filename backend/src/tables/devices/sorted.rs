//! Lists of devices in another order than the newest first. No index has the orders of names and of the last contact: a statement
//! reads the devices of the account and keeps the first of them. So a page costs what the account has, and a device that reports
//! costs nothing more.

use link_protocol::{backend_api::device::DeviceSort, id::AccountId, system::SystemSample};

use crate::{
    database::{Store, StoreError, column::json, read, sql},
    domain::{device::DeviceRecord, list_order::Place},
    tables::devices::list::{DeviceFilter, ListedRow, filtered, listed},
};

/// The statement for an order: what it sorts by, the same of the place after which the page starts, how the page compares to
/// that place, and the direction. The samples are read for the devices of the page alone.
macro_rules! sorted {
    ($key:literal, $place:literal, $after:literal, $direction:literal) => {
        concat!(
            "SELECT d.*, s.report AS sample, s.reported_ms AS sampled_ms FROM \
             (SELECT * FROM devices d WHERE d.account_id = $1 AND ($2 = '' OR (",
            $key,
            ", d.device_id) ",
            $after,
            " (",
            $place,
            ", $2)) AND ",
            filtered!(),
            " ORDER BY ",
            $key,
            $direction,
            ", d.device_id",
            $direction,
            " LIMIT $4) d LEFT JOIN system_samples s ON s.device_id = d.device_id ORDER BY ",
            $key,
            $direction,
            ", d.device_id",
            $direction
        )
    };
}

const fn statement(sort: DeviceSort) -> &'static str {
    match sort {
        DeviceSort::Newest => sorted!("d.device_id", "$2", "<", " DESC"),
        // Read from the index of the account.
        DeviceSort::Oldest => concat!(
            "SELECT d.*, s.report AS sample, s.reported_ms AS sampled_ms FROM \
             (SELECT * FROM devices d WHERE d.account_id = $1 AND d.device_id > $2 AND ",
            filtered!(),
            " ORDER BY d.device_id LIMIT $4) d LEFT JOIN system_samples s \
             ON s.device_id = d.device_id ORDER BY d.device_id"
        ),
        DeviceSort::Name => sorted!("lower(d.name)", "lower($3)", ">", ""),
        DeviceSort::NameDescending => sorted!("lower(d.name)", "lower($3)", "<", " DESC"),
        DeviceSort::LastSeen => {
            sorted!("coalesce(d.last_seen_ms, 0)", "CAST($3 AS BIGINT)", ">", "")
        }
        DeviceSort::LastSeenDescending => {
            sorted!("coalesce(d.last_seen_ms, 0)", "CAST($3 AS BIGINT)", "<", " DESC")
        }
    }
}

impl Store {
    /// Lists devices of an account in an order, each with its latest sample.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sorted_devices(
        &self,
        account: AccountId,
        filter: DeviceFilter<'_>,
        sort: DeviceSort,
        after: Option<&Place<DeviceSort>>,
        limit: u32,
    ) -> Result<Vec<(DeviceRecord, Option<SystemSample>)>, StoreError> {
        let tag = filter.tag.map(|tag| json(&tag)).transpose()?;
        let q = filter.q.unwrap_or_default();
        let rows: Vec<ListedRow> = read!(self, |db| {
            sql::query_as(statement(sort))
                .bind(account.to_string())
                .bind(after.map(|place| place.id.to_string()).unwrap_or_default())
                // A key is a name or a number; without a place, it is not compared.
                .bind(after.map_or("0", |place| &place.key))
                .bind(i64::from(limit))
                .bind(tag.unwrap_or_default())
                .bind(filter.online)
                .bind(q)
                .bind(q.to_lowercase())
                .bind(json(&q)?)
                .maybe_slow()
                .fetch_all(db)
                .await?
        });
        rows.into_iter().map(listed).collect()
    }
}
