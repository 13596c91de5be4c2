//! Transfer of a device to another account.

use link_protocol::id::{AccountId, DeviceId};

use crate::{
    database::{Connection, StoreError, sql},
    domain::{change::Subject, device::DeviceRecord, transfer::Known},
    tables::{device_counts, devices, keys},
};

/// Increments the device counter of the key's account and reads the records on which a transfer depends.
pub(crate) async fn known(
    db: &mut Connection,
    id: DeviceId,
    key: &[u8; 32],
) -> Result<Known, StoreError> {
    let devices = device_counts::increment(db, key).await?.unwrap_or(0);
    let key = keys::find(db, key).await?;
    let device = devices::find(db, id).await?;
    Ok(Known { device, key, devices })
}

/// Removes a device and inserts it into another account, so that a transfer deletes the same records as a removal. Only
/// the sequence numbers of its commands continue: a device in the previous epoch still knows the earlier numbers, and
/// must not mistake a new command for an old one.
pub(crate) async fn replace(
    db: &mut Connection,
    from: AccountId,
    device: &DeviceRecord,
) -> Result<(), StoreError> {
    let id = device.id.to_string();
    device_counts::decrement(db, from).await?;
    db.changed(from, Subject::Device(device.id));
    let last_seq: i64 = sql::query_scalar("SELECT last_seq FROM devices WHERE device_id = $1")
        .bind(&id)
        .fetch_one(&mut *db)
        .await?;
    sql::query("DELETE FROM devices WHERE device_id = $1").bind(&id).execute(&mut *db).await?;
    devices::insert(db, device).await?;
    sql::query("UPDATE devices SET last_seq = $2 WHERE device_id = $1")
        .bind(&id)
        .bind(last_seq)
        .execute(db)
        .await?;
    Ok(())
}
