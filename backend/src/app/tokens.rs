//! The caller's personal access tokens.

use link_protocol::{
    backend_api::token::{CreateToken, TokenCreated, TokenInfo},
    id::TokenId,
    personal_token::PersonalToken,
};

use crate::{
    app::App,
    auth::access::{Identity, Means},
    database::{Page, StoreError, write},
    domain::{attempts::Peer, audit::Action, refusal::Refusal, token::TokenRecord},
    failure::AppError,
    host::random,
    tables::{audit, locks, tokens},
};

impl App {
    /// Creates a token for the caller's account. Its secret is shown only in this answer.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::QuotaReached`].
    pub async fn create_token(
        &self,
        caller: Identity,
        wish: CreateToken,
    ) -> Result<TokenCreated, AppError> {
        let id = TokenId::from_uuid(random::uuid());
        let record = TokenRecord::create(id, caller.account, caller.user, wish, self.now())?;
        let token = PersonalToken::from_secret(random::bits());
        let quota = &self.config.quota;
        let entry = self.entry(&caller, Action::CreateToken, id).with(&record.name);
        write!(self.store, [locks::account(record.account)], |db| {
            let (own, of_all) = tokens::count(db, record.account, record.user).await?;
            quota.check_tokens(own, of_all)?;
            tokens::insert(db, &record, &token.digest()).await?;
            audit::insert(db, &entry).await?;
        });
        Ok(TokenCreated { token, info: record.info() })
    }

    /// Lists the caller's tokens for the account.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn tokens(&self, caller: Identity, page: &Page) -> Result<Vec<TokenInfo>, AppError> {
        let tokens = self.store.tokens(caller.account, caller.user, page).await?;
        Ok(tokens.iter().map(TokenRecord::info).collect())
    }

    /// Revokes a token of the caller at once.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn revoke_token(&self, caller: Identity, token: TokenId) -> Result<(), AppError> {
        let entry = self.entry(&caller, Action::RevokeToken, token);
        match self.store.remove_token(caller.account, caller.user, token, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("token").into()),
            other => Ok(other?),
        }
    }

    /// Returns the identity of a personal access token.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`], [`Refusal::TokenExpired`].
    pub(super) async fn identify_token(
        &self,
        text: &str,
        peer: Peer,
    ) -> Result<Identity, AppError> {
        let token = PersonalToken::parse(text).map_err(|_mistyped| Refusal::Unauthorized)?;
        let found = self.store.token_by_digest(&token.digest()).await?;
        let (record, role) = found.ok_or(Refusal::Unauthorized)?;
        let now = self.now();
        let scopes = record.usable(now)?;
        self.store.token_used(&record, now).await?;
        let means = Means::Token(record.id);
        Ok(Identity { user: record.user, account: record.account, role, scopes, means, peer })
    }
}
