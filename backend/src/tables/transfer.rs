//! Transfer of a device to another account, in one transaction.

use link_protocol::id::DeviceId;

use crate::{
    database::{Connection, Store, StoreError, sql, write},
    domain::{
        audit::AuditRecord,
        device::DeviceRecord,
        transfer::{Known, Plan},
    },
    failure::Failure,
    tables::{audit, devices, keys},
};

impl Store {
    /// Transfers a device: `decide` sees what is known and plans, `entries` tells both accounts.
    ///
    /// The device is removed and comes back, so that whatever hangs on a device ends with a transfer
    /// as it does with a removal. Only the numbers of its commands go on: a device that does not know
    /// yet that it was transferred has the ones of before, and takes no new one for them.
    ///
    /// # Errors
    /// What `decide` refuses, and [`StoreError`].
    pub async fn transfer(
        &self,
        id: DeviceId,
        key: &[u8; 32],
        decide: impl Fn(Known) -> Result<Plan, Failure> + Send + Sync,
        entries: impl Fn(&Plan) -> [AuditRecord; 2] + Send + Sync,
    ) -> Result<DeviceRecord, Failure> {
        let device = write!(self, |db| {
            let known = known(db, id, key).await?;
            let plan = decide(known)?;
            replace(db, &plan.device).await?;
            keys::count_device(db, plan.device.registered_with).await?;
            if plan.key_is_spent {
                keys::revoke(db, plan.device.account, plan.device.registered_with).await?;
            }
            for entry in entries(&plan) {
                audit::insert(db, &entry).await?;
            }
            plan.device
        });
        Ok(device)
    }
}

async fn known(db: &mut Connection, id: DeviceId, key: &[u8; 32]) -> Result<Known, StoreError> {
    let device = devices::find(db, id).await?;
    let key = keys::find(db, key).await?;
    let devices = match &key {
        Some(key) => devices::count(db, key.account).await?,
        None => 0,
    };
    Ok(Known { device, key, devices })
}

async fn replace(db: &mut Connection, device: &DeviceRecord) -> Result<(), StoreError> {
    let id = device.id.to_string();
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
