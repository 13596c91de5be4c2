//! Registration and fleet keys.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::key::{CreateKey, KeyCreated, KeyInfo},
    id::{KeyId, UserId},
};

use crate::{
    backend::{BackendClient, CallError},
    http::Call,
};

impl BackendClient {
    /// Creates a key. Only this answer contains its secret.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn create_key(&self, request: &CreateKey) -> Result<KeyCreated, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/keys")).json(request)).await
    }

    /// Returns every key of the account.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn keys(&self) -> Result<Vec<KeyInfo>, CallError> {
        self.all(&format!("{PREFIX}/keys")).await
    }

    /// Returns the keys for which a member is responsible.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn keys_of(&self, member: UserId) -> Result<Vec<KeyInfo>, CallError> {
        self.all(&format!("{PREFIX}/keys?created_by={member}")).await
    }

    /// Revokes a key: no device can register with it afterwards.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn revoke_key(&self, key: KeyId) -> Result<(), CallError> {
        self.call_for_status(|| Call::delete(format!("{PREFIX}/keys/{key}"))).await
    }
}
