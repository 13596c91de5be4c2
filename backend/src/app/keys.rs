//! Registration and fleet keys of an account.

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
    failure::Failure,
    host::random,
    tables::{audit, keys, locks},
};

/// Stores a new key of an account whose quota allows one more.
///
/// # Errors
/// [`Refusal::QuotaReached`] and [`Failure::Store`].
pub async fn store_key(
    store: &Store,
    record: &KeyRecord,
    key: &EnrolmentKey,
    quota: &Quota,
    entry: &AuditRecord,
) -> Result<(), Failure> {
    write!(store, [locks::account(record.account)], |db| {
        quota.check_keys(keys::count_usable(db, record.account, record.created_at).await?)?;
        keys::insert(db, record, &key.digest()).await?;
        audit::insert(db, entry).await?;
    });
    Ok(())
}

impl App {
    /// Creates a key; the answer is the only place where it is shown.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] when the wish contradicts itself, [`Refusal::QuotaReached`].
    pub async fn create_key(
        &self,
        caller: Identity,
        wish: CreateKey,
    ) -> Result<KeyCreated, Failure> {
        let id = KeyId::from_uuid(random::uuid());
        let key = EnrolmentKey::from_secret(wish.kind, random::bits());
        let record = KeyRecord::create(id, (caller.account, caller.user), wish, self.now())?;
        let entry = self.entry(&caller, Action::CreateKey, id).with(&record.name);
        store_key(&self.store, &record, &key, &self.config.quota, &entry).await?;
        Ok(KeyCreated { key, info: record.info() })
    }

    /// Lists the keys of the caller's account, or those that one member answers for.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn keys(
        &self,
        caller: Identity,
        creator: Option<UserId>,
        page: &Page,
    ) -> Result<Vec<KeyInfo>, Failure> {
        let keys = self.store.keys(caller.account, creator, page).await?;
        Ok(keys.iter().map(KeyRecord::info).collect())
    }

    /// Revokes a key; devices that it registered stay.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn revoke_key(&self, caller: Identity, key: KeyId) -> Result<(), Failure> {
        let entry = self.entry(&caller, Action::RevokeKey, key);
        match self.store.revoke_key(caller.account, key, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("key").into()),
            other => Ok(other?),
        }
    }
}
