//! The slots of the zenoh transport, each with its device.

use link_protocol::{counter::Epoch, id::DeviceId};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{parse, signed, small, unsigned},
        read,
        sql::{self, row},
        write,
    },
    domain::{
        device::DeviceRecord,
        slot::{self, Bounds, SlotTurn, Slots},
    },
    tables::locks,
};

row! {
    /// A slot with its current password.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    struct SlotRow {
        slot: i64,
        turn: i64,
    }
}

impl Store {
    /// Counts the slots.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn slots(&self) -> Result<Slots, StoreError> {
        let (free, taken, used): (i64, i64, i64) = read!(self, |db| {
            sql::query_as(
                "SELECT (SELECT COUNT(*) FROM zenoh_slots WHERE NOT used), \
                 (SELECT COUNT(*) FROM zenoh_slots JOIN devices \
                  ON devices.device_id = zenoh_slots.device_id \
                  AND devices.epoch = zenoh_slots.epoch), \
                 (SELECT COUNT(*) FROM zenoh_slots WHERE used)",
            )
            .fetch_optional(db)
            .await?
            .ok_or(StoreError::NotFound)?
        });
        Ok(Slots { free: small(free), taken: small(taken), spent: small(used - taken) })
    }

    /// Prepares the slots for the routers: frees the slots of removed devices, each with a new password, and
    /// adds missing slots.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open_slots(&self, bounds: Bounds) -> Result<Vec<SlotTurn>, StoreError> {
        let rows: Vec<SlotRow> = write!(self, [locks::table("zenoh_slots")], |db| {
            free_spent(db).await?;
            let (total, taken): (i64, i64) =
                sql::query_as("SELECT COUNT(*), COUNT(device_id) FROM zenoh_slots")
                    .fetch_optional(db)
                    .await?
                    .ok_or(StoreError::NotFound)?;
            for slot in small(total)..slot::wanted(small(taken), bounds) {
                sql::query("INSERT INTO zenoh_slots (slot, turn, used) VALUES ($1, 0, FALSE)")
                    .bind(i64::from(slot))
                    .execute(db)
                    .await?;
            }
            sql::query_as("SELECT slot, turn FROM zenoh_slots ORDER BY slot").fetch_all(db).await?
        });
        Ok(rows.into_iter().map(SlotTurn::from).collect())
    }

    /// Returns the slot of a device. Assigns a free slot to a device without one. Returns `None` if no slot is free.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn take_slot(&self, device: &DeviceRecord) -> Result<Option<SlotTurn>, StoreError> {
        let row: Option<SlotRow> = write!(self, [locks::table("zenoh_slots")], |db| {
            let (id, epoch) = (device.id.to_string(), signed(device.epoch.0));
            // Another person may know the password from an earlier epoch.
            sql::query(
                "UPDATE zenoh_slots SET device_id = NULL WHERE device_id = $1 AND epoch <> $2",
            )
            .bind(&id)
            .bind(epoch)
            .execute(db)
            .await?;
            let has: Option<SlotRow> =
                sql::query_as("SELECT slot, turn FROM zenoh_slots WHERE device_id = $1")
                    .bind(&id)
                    .fetch_optional(db)
                    .await?;
            if has.is_some() {
                has
            } else {
                sql::query_as(
                    "UPDATE zenoh_slots SET used = TRUE, device_id = $1, epoch = $2 \
                     WHERE slot = (SELECT MIN(slot) FROM zenoh_slots WHERE NOT used) \
                     RETURNING slot, turn",
                )
                .bind(&id)
                .bind(epoch)
                .fetch_optional(db)
                .await?
            }
        });
        Ok(row.map(SlotTurn::from))
    }

    /// Finds the device of a slot, if the device is still in the epoch in which it got the slot.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn device_in_slot(&self, slot: u32) -> Result<Option<DeviceRecord>, StoreError> {
        let id: Option<(String, i64)> = read!(self, |db| {
            sql::query_as("SELECT device_id, epoch FROM zenoh_slots WHERE slot = $1 AND device_id IS NOT NULL")
                .bind(i64::from(slot))
                .fetch_optional(db)
                .await?
        });
        let Some((id, epoch)) = id else { return Ok(None) };
        let device = self.device(parse::<DeviceId>(&id)?).await?;
        Ok(device.filter(|device| device.epoch == Epoch(unsigned(epoch))))
    }
}

async fn free_spent(db: &mut Connection) -> Result<(), StoreError> {
    sql::query(
        "UPDATE zenoh_slots SET used = FALSE, device_id = NULL, epoch = NULL, turn = turn + 1 \
         WHERE used AND slot NOT IN (SELECT slot FROM zenoh_slots JOIN devices \
         ON devices.device_id = zenoh_slots.device_id AND devices.epoch = zenoh_slots.epoch)",
    )
    .execute(db)
    .await?;
    Ok(())
}

impl From<SlotRow> for SlotTurn {
    fn from(row: SlotRow) -> Self {
        Self { slot: small(row.slot), turn: unsigned(row.turn) }
    }
}
