//! Lists of devices, newest first, each with its latest sample. They are read from an index in the order of the list.

use link_protocol::{id::AccountId, system::SystemSample};

use crate::{
    database::{
        Store, StoreError,
        column::json,
        error::SqlError,
        read,
        sql::{self, Columns, Row},
    },
    domain::device::DeviceRecord,
    tables::{
        devices::DeviceRow,
        paging::{Look, begin, end},
        systems,
    },
};

/// A filter for a list of devices. It only skips rows that cannot match; the domain makes the decision.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceFilter<'a> {
    /// A tag that every device has.
    pub tag: Option<&'a str>,
    /// Only devices that may be online.
    pub online: bool,
    /// A part of the name, the beginning of the id, or a tag.
    pub q: Option<&'a str>,
}

/// The condition of devices that a [`DeviceFilter`] lets through, which is bound from `$5` to `$9`.
macro_rules! filtered {
    () => {
        concat!(
            "($5 = '' OR replace(d.tags, $5, '') <> d.tags) \
             AND (NOT $6 OR (d.greeted_epoch = d.epoch \
             AND d.status IN ('online', 'updating'))) AND ($7 = '' OR ",
            $crate::tables::search::named!("d.name", "d.device_id", "$7", "$8"),
            " OR replace(d.tags, $9, '') <> d.tags)"
        )
    };
}
pub(super) use filtered;

pub(super) struct ListedRow {
    device: DeviceRow,
    sample: Option<String>,
    sampled_ms: Option<i64>,
}

impl Row for ListedRow {
    fn read(columns: Columns<'_>) -> Result<Self, SqlError> {
        Ok(Self {
            device: DeviceRow::read(columns)?,
            sample: columns.get("sample")?,
            sampled_ms: columns.get("sampled_ms")?,
        })
    }
}

impl Store {
    /// Lists devices of an account, newest first, each with its latest sample.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn devices(
        &self,
        account: AccountId,
        filter: DeviceFilter<'_>,
        look: Look<'_>,
    ) -> Result<Vec<(DeviceRecord, Option<SystemSample>)>, StoreError> {
        // The tags of a device are stored as a JSON array, so a tag is searched with its quotes.
        let tag = filter.tag.map(|tag| json(&tag)).transpose()?;
        let q = filter.q.unwrap_or_default();
        let rows: Vec<ListedRow> = read!(self, |db| {
            sql::query_as(concat!(
                "SELECT d.*, s.report AS sample, s.reported_ms AS sampled_ms FROM devices d \
                 LEFT JOIN system_samples s ON s.device_id = d.device_id \
                 WHERE d.account_id = $1 AND d.device_id < $2 AND d.device_id >= $3 AND ",
                filtered!(),
                " ORDER BY d.device_id DESC LIMIT $4",
            ))
            .bind(account.to_string())
            .bind(begin(look.after))
            .bind(end(look.until))
            .bind(i64::from(look.limit))
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

    /// Finds the last of the next `window` devices of an account. Returns `None` if the list ends before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn devices_end(
        &self,
        account: AccountId,
        after: Option<&String>,
        window: u32,
    ) -> Result<Option<String>, StoreError> {
        Ok(read!(self, |db| {
            sql::query_scalar(
                "SELECT device_id FROM devices WHERE account_id = $1 AND device_id < $2 \
                 ORDER BY device_id DESC LIMIT 1 OFFSET $3",
            )
            .bind(account.to_string())
            .bind(begin(after))
            .bind(i64::from(window) - 1)
            .fetch_optional(db)
            .await?
        }))
    }
}

/// Reads a device and its sample.
pub(super) fn listed(row: ListedRow) -> Result<(DeviceRecord, Option<SystemSample>), StoreError> {
    let sample = row.sample.zip(row.sampled_ms);
    let sample = sample.map(|(report, at)| systems::sample(&report, at)).transpose()?;
    Ok((row.device.try_into()?, sample))
}
