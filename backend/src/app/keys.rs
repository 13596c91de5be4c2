//! Registration and fleet keys of an account.

use link_protocol::{
    backend_api::key::{CreateKey, KeyCreated, KeyInfo},
    id::{KeyId, UserId},
    key::EnrolmentKey,
};

use crate::{
    app::App,
    auth::access::Identity,
    database::{Page, StoreError},
    domain::{audit::Action, key::KeyRecord, quota::Quota, refusal::Refusal},
    failure::Failure,
    host::random,
};

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
        let most = self.config.quota.keys;
        if !self.store.add_key(&record, &key.digest(), most, &entry).await? {
            return Err(Quota::reached(most, "keys that can register a device").into());
        }
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
