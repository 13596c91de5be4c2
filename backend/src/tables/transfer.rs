//! Transfer of a device to another account.

use link_protocol::id::{AccountId, DeviceId};

use crate::{
    database::{Connection, StoreError, sql},
    domain::{device::DeviceRecord, transfer::Known},
    tables::{device_counts, devices, keys},
};

/// Reads what a transfer is decided by, after the device is counted in the account of the key.
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

/// Removes a device and puts it back as another account's, so that whatever hangs on a device ends with a transfer as it does
/// with a removal. Only the numbers of its commands go on: a device that does not know yet that it was transferred has
/// the ones of before, and takes no new one for them.
pub(crate) async fn replace(
    db: &mut Connection,
    from: AccountId,
    device: &DeviceRecord,
) -> Result<(), StoreError> {
    let id = device.id.to_string();
    device_counts::decrement(db, from).await?;
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
