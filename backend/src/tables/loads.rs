//! The load of devices over time. Reports append to the row of ten-second steps, and old rows are merged into rows of
//! longer steps, so a device has a bounded number of rows.

use jiff::Timestamp;
use link_protocol::id::DeviceId;

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{broken, signed},
        read,
        sql::{self, row},
        write,
    },
    domain::load::{self, Level, Step},
    tables::locks,
};

/// The number of rows that one transaction merges.
const BATCH: i64 = 200;

row! {
    struct LoadRow {
        device_id: String,
        begin_s: i64,
        steps: String,
    }
}

impl Store {
    /// Returns the steps of a device from `from` on, in seconds since 1970. They may be in any order. One statement reads
    /// all levels, because between two statements a step may be merged into the next level.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn loads(&self, device: DeviceId, from: i64) -> Result<Vec<Step>, StoreError> {
        let rows: Vec<LoadRow> = read!(self, |db| {
            let mut query = sql::query_as(
                "SELECT device_id, begin_s, steps FROM device_loads WHERE device_id = $1 \
                 AND step_s = $2 AND begin_s > $3 \
                 UNION ALL SELECT device_id, begin_s, steps FROM device_loads \
                 WHERE device_id = $1 AND step_s = $4 AND begin_s > $5 \
                 UNION ALL SELECT device_id, begin_s, steps FROM device_loads \
                 WHERE device_id = $1 AND step_s = $6 AND begin_s > $7",
            )
            .bind(device.to_string());
            for level in [Level::QuarterHour, Level::Minute, Level::TenSeconds] {
                query = query.bind(level.seconds()).bind(from - level.row_seconds());
            }
            query.fetch_all(db).await?
        });
        let mut steps = Vec::new();
        for row in rows {
            steps.extend(row.decoded()?);
        }
        Ok(steps)
    }

    /// Merges some rows of a level that are old enough into the next level. Returns whether there may be more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn fold_loads(&self, level: Level, now: Timestamp) -> Result<bool, StoreError> {
        let Some(next) = level.next() else { return Ok(false) };
        let before = now.as_second() - level.kept_seconds() - level.row_seconds();
        let folded = write!(self, [locks::table("device_loads")], |db| {
            let rows: Vec<LoadRow> = sql::query_as(
                "SELECT device_id, begin_s, steps FROM device_loads WHERE step_s = $1 \
                 AND begin_s <= $2 ORDER BY begin_s LIMIT $3",
            )
            .bind(level.seconds())
            .bind(before)
            .bind(BATCH)
            .fetch_all(&mut *db)
            .await?;
            for row in &rows {
                let steps = load::merged(&row.decoded()?, next.seconds());
                append(db, &row.device_id, next, &steps).await?;
                sql::query(
                    "DELETE FROM device_loads WHERE device_id = $1 AND step_s = $2 AND begin_s = $3",
                )
                .bind(&row.device_id)
                .bind(level.seconds())
                .bind(row.begin_s)
                .execute(&mut *db)
                .await?;
            }
            signed(rows.len() as u64)
        });
        Ok(folded == BATCH)
    }
}

/// Appends steps of one span to a row. Steps that are not newer than the steps of the row are dropped, so that a
/// device that sends a lot, or a clock that is set back, cannot make the row longer than its span.
pub(crate) async fn append(
    db: &mut Connection,
    device: &str,
    level: Level,
    steps: &[Step],
) -> Result<(), StoreError> {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Ok(()) };
    let row = load::beginning(first.begin(), level.row_seconds());
    sql::query(
        "INSERT INTO device_loads (device_id, step_s, begin_s, last_s, steps) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (device_id, step_s, begin_s) DO UPDATE SET \
         steps = device_loads.steps || excluded.steps, last_s = excluded.last_s \
         WHERE device_loads.last_s < excluded.last_s",
    )
    .bind(device)
    .bind(level.seconds())
    .bind(row)
    .bind(last.begin())
    .bind(load::encode(row, steps))
    .execute(db)
    .await?;
    Ok(())
}

impl LoadRow {
    fn decoded(&self) -> Result<Vec<Step>, StoreError> {
        load::decode(self.begin_s, &self.steps).map_err(broken)
    }
}
