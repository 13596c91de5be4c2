//! Registration keys and fleet keys, stored by their SHA-256 digests.

use jiff::Timestamp;
use link_protocol::id::{AccountId, KeyId, UserId};

use crate::{
    database::{
        Connection, Page, Store, StoreError,
        column::{from_json, from_word, hex, json, ms, optional_time, parse, small, time, word},
        read,
        sql::{self, row},
        write,
    },
    domain::{
        audit::AuditRecord,
        change::Subject,
        key::{Heir, KeyRecord},
    },
    tables::{audit, locks, paging::begin},
};

row! {
    struct KeyRow {
        key_id: String,
        account_id: String,
        kind: String,
        name: String,
        created_ms: i64,
        expires_ms: Option<i64>,
        max_devices: Option<i64>,
        devices: i64,
        tags: String,
        revoked: bool,
        created_by: Option<String>,
    }
}

impl Store {
    /// Lists the keys of an account, or only those of one member, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn keys(
        &self,
        account: AccountId,
        creator: Option<UserId>,
        page: &Page,
    ) -> Result<Vec<KeyRecord>, StoreError> {
        let rows: Vec<KeyRow> = read!(self, |pool| {
            sql::query_as(
                "SELECT * FROM enrolment_keys WHERE account_id = $1 \
                 AND key_id < $2 AND ($4 IS NULL OR created_by = $4) \
                 ORDER BY key_id DESC LIMIT $3",
            )
            .bind(account.to_string())
            .bind(begin(page.after.as_ref()))
            .bind(i64::from(page.limit))
            .bind(creator.map(|user| user.to_string()))
            .fetch_all(pool)
            .await?
        });
        rows.into_iter().map(KeyRecord::try_from).collect()
    }

    /// Finds a key of an account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn key(
        &self,
        account: AccountId,
        key: KeyId,
    ) -> Result<Option<KeyRecord>, StoreError> {
        let row: Option<KeyRow> = read!(self, |pool| {
            sql::query_as("SELECT * FROM enrolment_keys WHERE key_id = $1 AND account_id = $2")
                .bind(key.to_string())
                .bind(account.to_string())
                .fetch_optional(pool)
                .await?
        });
        row.map(KeyRecord::try_from).transpose()
    }

    /// Finds the account of the key with `digest`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn account_of_key(&self, digest: &[u8; 32]) -> Result<Option<AccountId>, StoreError> {
        Ok(read!(self, |db| find(db, digest).await?).map(|key| key.account))
    }

    /// Revokes a key of an account.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the account has no such key.
    pub async fn revoke_key(
        &self,
        account: AccountId,
        key: KeyId,
        entry: &AuditRecord,
    ) -> Result<(), StoreError> {
        let changed = write!(self, [locks::account(account)], |db| {
            let changed = revoke(db, account, key).await?;
            audit::insert_if(db, changed, entry).await?;
            changed
        });
        if changed { Ok(()) } else { Err(StoreError::NotFound) }
    }
}

pub(crate) async fn find(
    db: &mut Connection,
    digest: &[u8; 32],
) -> Result<Option<KeyRecord>, StoreError> {
    let row: Option<KeyRow> = sql::query_as("SELECT * FROM enrolment_keys WHERE digest = $1")
        .bind(hex(digest))
        .fetch_optional(db)
        .await?;
    row.map(KeyRecord::try_from).transpose()
}

pub(crate) async fn count_device(
    db: &mut Connection,
    account: AccountId,
    key: KeyId,
) -> Result<(), StoreError> {
    db.changed(account, Subject::Key(key));
    sql::query("UPDATE enrolment_keys SET devices = devices + 1 WHERE key_id = $1")
        .bind(key.to_string())
        .execute(db)
        .await?;
    Ok(())
}

/// Counts the keys of an account that can still register a device at `now`.
pub(crate) async fn count_usable(
    db: &mut Connection,
    account: AccountId,
    now: Timestamp,
) -> Result<u32, StoreError> {
    let usable: i64 = sql::query_scalar(
        "SELECT COUNT(*) FROM enrolment_keys WHERE account_id = $1 AND NOT revoked \
         AND (expires_ms IS NULL OR expires_ms > $2) \
         AND NOT (kind = 'registration' AND devices > 0) \
         AND (max_devices IS NULL OR devices < max_devices)",
    )
    .bind(account.to_string())
    .bind(ms(now))
    .fetch_one(db)
    .await?;
    Ok(small(usable))
}

pub(crate) async fn insert(
    db: &mut Connection,
    key: &KeyRecord,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    db.changed(key.account, Subject::Key(key.id));
    sql::query(
        "INSERT INTO enrolment_keys (key_id, account_id, digest, kind, name, created_ms, \
         expires_ms, max_devices, devices, tags, revoked, created_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(key.id.to_string())
    .bind(key.account.to_string())
    .bind(hex(digest))
    .bind(word(&key.kind)?)
    .bind(&key.name)
    .bind(ms(key.created_at))
    .bind(key.expires_at.map(ms))
    .bind(key.max_devices.map(i64::from))
    .bind(i64::from(key.devices))
    .bind(json(&key.tags)?)
    .bind(key.revoked)
    .bind(key.created_by.map(|user| user.to_string()))
    .execute(db)
    .await?;
    Ok(())
}

/// Passes the keys of `user` that are not revoked to `heir`, and returns the changed keys.
pub(crate) async fn leave(
    db: &mut Connection,
    account: AccountId,
    user: UserId,
    heir: Heir,
) -> Result<Vec<KeyRecord>, StoreError> {
    let rows: Vec<KeyRow> = sql::query_as(
        "SELECT * FROM enrolment_keys WHERE account_id = $1 AND created_by = $2 \
         AND NOT revoked ORDER BY key_id",
    )
    .bind(account.to_string())
    .bind(user.to_string())
    .fetch_all(&mut *db)
    .await?;
    let keys: Result<Vec<KeyRecord>, StoreError> =
        rows.into_iter().map(KeyRecord::try_from).collect();
    let mut keys = keys?;
    for key in &mut keys {
        key.leave(heir);
        db.changed(account, Subject::Key(key.id));
        sql::query("UPDATE enrolment_keys SET revoked = $2, created_by = $3 WHERE key_id = $1")
            .bind(key.id.to_string())
            .bind(key.revoked)
            .bind(key.created_by.map(|user| user.to_string()))
            .execute(&mut *db)
            .await?;
    }
    Ok(keys)
}

/// Revokes a key. Returns whether the account has the key.
pub(crate) async fn revoke(
    db: &mut Connection,
    account: AccountId,
    key: KeyId,
) -> Result<bool, StoreError> {
    db.changed(account, Subject::Key(key));
    let revoked = sql::query(
        "UPDATE enrolment_keys SET revoked = TRUE WHERE key_id = $1 AND account_id = $2",
    )
    .bind(key.to_string())
    .bind(account.to_string())
    .execute(db)
    .await?;
    Ok(revoked.rows_affected() > 0)
}

impl TryFrom<KeyRow> for KeyRecord {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: parse(&row.key_id)?,
            account: parse(&row.account_id)?,
            kind: from_word(&row.kind)?,
            name: row.name,
            created_at: time(row.created_ms)?,
            expires_at: optional_time(row.expires_ms)?,
            max_devices: row.max_devices.map(small),
            devices: small(row.devices),
            tags: from_json(&row.tags)?,
            revoked: row.revoked,
            created_by: row.created_by.as_deref().map(parse).transpose()?,
        })
    }
}
