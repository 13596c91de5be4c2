//! The registration keys and fleet keys of an account.

use link_protocol::{
    backend_api::key::{CreateKey, KeyCreated, KeyInfo},
    id::{KeyId, UserId},
    key::EnrolmentKey,
};

use crate::{
    app::App,
    auth::access::Identity,
    database::{Page, Store, StoreError, write},
    domain::{
        audit::{Action, AuditRecord},
        key::KeyRecord,
        quota::Quota,
        refusal::Refusal,
    },
    failure::AppError,
    host::random,
    tables::{audit, keys, locks},
};

/// Stores a new key if the quota of its account allows one more.
///
/// # Errors
/// [`Refusal::QuotaReached`] and [`AppError::Store`].
pub async fn store_key(
    store: &Store,
    record: &KeyRecord,
    key: &EnrolmentKey,
    quota: &Quota,
    entry: &AuditRecord,
) -> Result<(), AppError> {
    write!(store, [locks::account(record.account)], |db| {
        quota.check_keys(keys::count_usable(db, record.account, record.created_at).await?)?;
        keys::insert(db, record, &key.digest()).await?;
        audit::insert(db, entry).await?;
    });
    Ok(())
}

impl App {
    /// Creates a key. Its secret is shown only in this answer.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the values of the request contradict each other,
    /// [`Refusal::QuotaReached`].
    pub async fn create_key(
        &self,
        caller: Identity,
        wish: CreateKey,
    ) -> Result<KeyCreated, AppError> {
        let id = KeyId::from_uuid(random::uuid());
        let key = EnrolmentKey::from_secret(wish.kind, random::bits());
        let record = KeyRecord::create(id, (caller.account, caller.user), wish, self.now())?;
        let entry = self.entry(&caller, Action::CreateKey, id).with(&record.name);
        store_key(&self.store, &record, &key, &self.config.quota, &entry).await?;
        Ok(KeyCreated { key, info: record.info() })
    }

    /// Lists the keys of the caller's account, or only those for which one member is responsible.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn keys(
        &self,
        caller: Identity,
        creator: Option<UserId>,
        page: &Page,
    ) -> Result<Vec<KeyInfo>, AppError> {
        let keys = self.store.keys(caller.account, creator, page).await?;
        Ok(keys.iter().map(KeyRecord::info).collect())
    }

    /// Revokes a key. Devices that were registered with it stay.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn revoke_key(&self, caller: Identity, key: KeyId) -> Result<(), AppError> {
        let entry = self.entry(&caller, Action::RevokeKey, key);
        match self.store.revoke_key(caller.account, key, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("key").into()),
            other => Ok(other?),
        }
    }
}
