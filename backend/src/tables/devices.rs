//! Devices.

mod list;
mod sorted;

pub use list::DeviceFilter;

use link_protocol::{
    counter::Epoch,
    id::{DeviceId, KeyId},
    key::EnrolmentKey,
    registration::RegisterRequest,
    signing::VerifyingKey,
};

use crate::{
    database::{
        Connection, Store, StoreError,
        column::{
            from_hex, from_json, from_word, hex, json, ms, optional_time, parse, signed, time,
            unsigned, word,
        },
        read,
        sql::{self, row},
        write,
    },
    domain::{audit::AuditRecord, change::Subject, device::DeviceRecord, registration::Known},
    tables::{audit, device_counts, keys, locks},
};

row! {
    struct DeviceRow {
        device_id: String,
        account_id: String,
        name: String,
        token_digest: String,
        epoch: i64,
        public_key: String,
        registered_with: String,
        tags: String,
        agent_version: String,
        last_update: Option<String>,
        platform: String,
        status: String,
        greeted_epoch: Option<i64>,
        last_seen_ms: Option<i64>,
        registered_ms: i64,
    }
}

impl Store {
    /// Finds a device.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn device(&self, id: DeviceId) -> Result<Option<DeviceRecord>, StoreError> {
        let row: Option<DeviceRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM devices WHERE device_id = $1")
                .bind(id.to_string())
                .fetch_optional(pool)
                .await?
        });
        row.map(DeviceRecord::try_from).transpose()
    }

    /// Finds the device whose token has the digest `digest`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn device_by_token(
        &self,
        digest: &[u8; 32],
    ) -> Result<Option<DeviceRecord>, StoreError> {
        let row: Option<DeviceRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM devices WHERE token_digest = $1")
                .bind(hex(digest))
                .fetch_optional(pool)
                .await?
        });
        row.map(DeviceRecord::try_from).transpose()
    }

    /// Removes a device of the account of `entry` and all records of the device.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the account has no such device.
    pub async fn remove_device(&self, id: DeviceId, entry: &AuditRecord) -> Result<(), StoreError> {
        write!(self, [locks::account(entry.account), locks::device(id)], |db| {
            device_counts::decrement(db, entry.account).await?;
            let removed =
                sql::query("DELETE FROM devices WHERE device_id = $1 AND account_id = $2")
                    .bind(id.to_string())
                    .bind(entry.account.to_string())
                    .execute(&mut *db)
                    .await?;
            if removed.rows_affected() == 0 {
                return Err(StoreError::NotFound);
            }
            db.changed(entry.account, Subject::Device(id));
            audit::insert(db, entry).await?;
        });
        Ok(())
    }

    /// Removes a device of the account of `entry` and all records of the device, if its current epoch is `epoch`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the account has no such device, or the device has registered again.
    pub async fn remove_registration(
        &self,
        id: DeviceId,
        epoch: Epoch,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        write!(self, [locks::account(entry.account), locks::device(id)], |db| {
            device_counts::decrement(db, entry.account).await?;
            let removed = sql::query(
                "DELETE FROM devices WHERE device_id = $1 AND account_id = $2 AND epoch = $3",
            )
            .bind(id.to_string())
            .bind(entry.account.to_string())
            .bind(signed(epoch.0))
            .execute(&mut *db)
            .await?;
            if removed.rows_affected() == 0 {
                return Err(StoreError::NotFound);
            }
            db.changed(entry.account, Subject::Device(id));
            audit::insert(db, entry).await?;
        });
        Ok(())
    }
}

pub(crate) async fn find(
    db: &mut Connection,
    id: DeviceId,
) -> Result<Option<DeviceRecord>, StoreError> {
    let row: Option<DeviceRow> = sql::query_as("SELECT * FROM devices WHERE device_id = $1")
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    row.map(DeviceRecord::try_from).transpose()
}

pub(crate) async fn update(db: &mut Connection, device: &DeviceRecord) -> Result<(), StoreError> {
    db.changed(device.account, Subject::Device(device.id));
    sql::query(
        "UPDATE devices SET name = $2, token_digest = $3, epoch = $4, public_key = $5, \
         registered_with = $6, tags = $7, agent_version = $8, platform = $9, status = $10, \
         greeted_epoch = $11, last_seen_ms = $12, registered_ms = $13, last_update = $14 \
         WHERE device_id = $1",
    )
    .bind(device.id.to_string())
    .bind(&device.name)
    .bind(hex(&device.token_digest))
    .bind(signed(device.epoch.0))
    .bind(json(&device.public_key)?)
    .bind(device.registered_with.to_string())
    .bind(json(&device.tags)?)
    .bind(device.agent_version.to_string())
    .bind(json(&device.platform)?)
    .bind(word(&device.status)?)
    .bind(device.greeted_epoch.map(|epoch| signed(epoch.0)))
    .bind(device.last_seen_at.map(ms))
    .bind(ms(device.registered_at))
    .bind(device.last_update.as_ref().map(json).transpose()?)
    .execute(db)
    .await?;
    Ok(())
}

pub(crate) async fn insert(db: &mut Connection, device: &DeviceRecord) -> Result<(), StoreError> {
    db.changed(device.account, Subject::Device(device.id));
    sql::query(
        "INSERT INTO devices (device_id, account_id, name, token_digest, epoch, public_key, \
         registered_with, tags, agent_version, platform, status, greeted_epoch, last_seen_ms, \
         registered_ms, last_update, last_seq) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0)",
    )
    .bind(device.id.to_string())
    .bind(device.account.to_string())
    .bind(&device.name)
    .bind(hex(&device.token_digest))
    .bind(signed(device.epoch.0))
    .bind(json(&device.public_key)?)
    .bind(device.registered_with.to_string())
    .bind(json(&device.tags)?)
    .bind(device.agent_version.to_string())
    .bind(json(&device.platform)?)
    .bind(word(&device.status)?)
    .bind(device.greeted_epoch.map(|epoch| signed(epoch.0)))
    .bind(device.last_seen_at.map(ms))
    .bind(ms(device.registered_at))
    .bind(device.last_update.as_ref().map(json).transpose()?)
    .execute(db)
    .await?;
    Ok(())
}

/// Increments the device counter of the key's account and reads the records on which a registration depends. The
/// increment serializes the registrations of one account.
pub(crate) async fn known(
    db: &mut Connection,
    key: &EnrolmentKey,
    request: &RegisterRequest,
) -> Result<Known, StoreError> {
    let digest = key.digest();
    let devices = device_counts::increment(db, &digest).await?.unwrap_or(0);
    let Some(key) = keys::find(db, &digest).await? else {
        return Ok(Known { key: None, device: None, twin: None, devices });
    };
    let device = match request.device_id {
        Some(id) => find(db, id).await?,
        None => None,
    };
    let twin = twin(db, key.id, &request.public_key).await?;
    Ok(Known { key: Some(key), device, twin, devices })
}

async fn twin(
    db: &mut Connection,
    key: KeyId,
    public_key: &VerifyingKey,
) -> Result<Option<DeviceRecord>, StoreError> {
    let row: Option<DeviceRow> = sql::query_as(
        "SELECT * FROM devices WHERE registered_with = $1 AND public_key = $2 LIMIT 1",
    )
    .bind(key.to_string())
    .bind(json(public_key)?)
    .fetch_optional(db)
    .await?;
    row.map(DeviceRecord::try_from).transpose()
}

impl TryFrom<DeviceRow> for DeviceRecord {
    type Error = StoreError;

    fn try_from(row: DeviceRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: parse(&row.device_id)?,
            account: parse(&row.account_id)?,
            name: row.name,
            token_digest: from_hex(&row.token_digest)?,
            epoch: Epoch(unsigned(row.epoch)),
            public_key: from_json(&row.public_key)?,
            registered_with: parse(&row.registered_with)?,
            tags: from_json(&row.tags)?,
            agent_version: parse(&row.agent_version)?,
            last_update: row.last_update.as_deref().map(from_json).transpose()?,
            platform: from_json(&row.platform)?,
            status: from_word(&row.status)?,
            greeted_epoch: row.greeted_epoch.map(|epoch| Epoch(unsigned(epoch))),
            last_seen_at: optional_time(row.last_seen_ms)?,
            registered_at: time(row.registered_ms)?,
        })
    }
}
