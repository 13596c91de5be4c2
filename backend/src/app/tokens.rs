//! Personal access tokens of the caller.

use link_protocol::{
    backend_api::token::{CreateToken, TokenCreated, TokenInfo},
    id::TokenId,
    limits,
    personal_token::PersonalToken,
};

use crate::{
    app::App,
    auth::access::{Identity, Means},
    database::{Page, StoreError},
    domain::{attempts::Peer, audit::Action, refusal::Refusal, token::TokenRecord},
    failure::Failure,
    host::random,
};

impl App {
    /// Creates a token for the caller's account; the answer is the only place where it is shown.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::QuotaReached`].
    pub async fn create_token(
        &self,
        caller: Identity,
        wish: CreateToken,
    ) -> Result<TokenCreated, Failure> {
        let id = TokenId::from_uuid(random::uuid());
        let record = TokenRecord::create(id, caller.account, caller.user, wish, self.now())?;
        let token = PersonalToken::from_secret(random::bits());
        let (most, of_all) = (limits::PERSONAL_TOKENS, self.config.quota.tokens);
        let entry = self.entry(&caller, Action::CreateToken, id).with(&record.name);
        if !self.store.add_token(&record, &token.digest(), (most, of_all), &entry).await? {
            let said =
                format!("a member may have {most} tokens, an account {of_all} of all members");
            return Err(Refusal::QuotaReached(said).into());
        }
        Ok(TokenCreated { token, info: record.info() })
    }

    /// Lists the caller's tokens for the account.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn tokens(&self, caller: Identity, page: &Page) -> Result<Vec<TokenInfo>, Failure> {
        let tokens = self.store.tokens(caller.account, caller.user, page).await?;
        Ok(tokens.iter().map(TokenRecord::info).collect())
    }

    /// Revokes a token of the caller; it is good for nothing from now on.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn revoke_token(&self, caller: Identity, token: TokenId) -> Result<(), Failure> {
        let entry = self.entry(&caller, Action::RevokeToken, token);
        match self.store.remove_token(caller.account, caller.user, token, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("token").into()),
            other => Ok(other?),
        }
    }

    /// Tells who a personal access token stands for.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`], [`Refusal::TokenExpired`].
    pub(super) async fn identify_token(&self, text: &str, peer: Peer) -> Result<Identity, Failure> {
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
