//! Personal access tokens of the logged-in user.

use link_protocol::{
    agent_api::PREFIX,
    backend_api::token::{CreateToken, TokenCreated, TokenInfo},
    id::TokenId,
};

use crate::{
    backend::{BackendClient, CallError},
    http::Call,
};

impl BackendClient {
    /// Creates a token. Only this answer contains its secret.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn create_token(&self, request: &CreateToken) -> Result<TokenCreated, CallError> {
        self.call(|| Call::post(format!("{PREFIX}/tokens")).json(request)).await
    }

    /// Returns every token of the logged-in user.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn personal_tokens(&self) -> Result<Vec<TokenInfo>, CallError> {
        self.all(&format!("{PREFIX}/tokens")).await
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// [`CallError`] with the whole cause.
    pub async fn revoke_token(&self, token: TokenId) -> Result<(), CallError> {
        self.call_for_status(|| Call::delete(format!("{PREFIX}/tokens/{token}"))).await
    }
}
