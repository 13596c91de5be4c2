//! The first account, logins, and the tokens of logins.

use jiff::Timestamp;
use link_protocol::{
    account_name::AccountName,
    backend_api::{
        account::{LoginRequest, Me, RefreshRequest, SetupRequest, TokenResponse},
        member::Role,
    },
    id::{AccountId, UserId},
    limits, personal_token,
    secret::Secret,
};

use crate::{
    app::{App, lock, warrants::warranted},
    auth::{
        access::{Identity, Login, Means},
        passwords::Queue,
        refresh::RefreshTokens,
        setup_token::SetupToken,
    },
    database::{Store, StoreError, write},
    domain::{
        account::{self, Email, UserRecord},
        attempts::Peer,
        audit::{self, Action, AuditRecord},
        network::Network,
        refresh::{Redemption, RefreshRecord},
        refusal::Refusal,
        session::{self, Program, Warrant},
        token::Scopes,
    },
    failure::AppError,
    host::random,
    tables::{accounts, locks},
};

/// Creates an account with `user` as its owner. Its name is `name`, or is derived from the user's e-mail address.
///
/// # Errors
/// [`StoreError::Conflict`] if the e-mail address is taken, [`Refusal::Invalid`] if the name is taken.
pub async fn create_account(
    store: &Store,
    user: &UserRecord,
    name: Option<&AccountName>,
    now: Timestamp,
) -> Result<(), AppError> {
    write!(store, [locks::table("accounts")], |db| {
        let name = match name {
            Some(name) => {
                account::check_name(name, accounts::is_taken(db, name).await?)?;
                name.clone()
            }
            None => accounts::free_name(db, user.email.as_str()).await?,
        };
        accounts::insert(db, user, &name, now).await?;
    });
    Ok(())
}

impl App {
    /// Creates the first account and logs its user in.
    ///
    /// # Errors
    /// [`Refusal::AlreadySetUp`], [`Refusal::SetupTokenInvalid`], [`Refusal::Invalid`] for an invalid address or
    /// password.
    pub async fn set_up(
        &self,
        peer: Peer,
        program: Program,
        request: SetupRequest,
    ) -> Result<TokenResponse, AppError> {
        let (user, entry) = self.create_first(peer, request).await?;
        self.log_in_user(&user, user.account, &Warrant::Consumed, program, entry).await
    }

    /// Creates the first account and returns its owner, with the entry of the owner's first login.
    pub(super) async fn create_first(
        &self,
        peer: Peer,
        request: SetupRequest,
    ) -> Result<(UserRecord, AuditRecord), AppError> {
        let right = lock(&self.setup_token).as_ref().map(|token| token.is(&request.setup_token));
        match right {
            None => return Err(Refusal::AlreadySetUp.into()),
            Some(false) => return Err(Refusal::SetupTokenInvalid.into()),
            Some(true) => {}
        }
        let user = self.new_user(&request.email, request.password, Queue::Familiar(None)).await?;
        if !self.store.create_first_account(&user, self.now()).await? {
            return Err(Refusal::AlreadySetUp.into());
        }
        lock(&self.setup_token).take();
        SetupToken::remove(&self.config.data)
            .map_err(AppError::broken("remove the setup token"))?;
        let entry = self.entry_of_user(user.account, user.id, peer, Action::LogIn);
        Ok((user, entry))
    }

    /// Creates a further account. Only the command line calls this, so only a user of this machine can.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for an invalid address or password, or for a taken address or name.
    pub async fn add_account(
        &self,
        email: &str,
        name: Option<AccountName>,
        password: Secret,
    ) -> Result<Me, AppError> {
        let user = self.new_user(email, password, Queue::Familiar(None)).await?;
        match create_account(&self.store, &user, name.as_ref(), self.now()).await {
            Ok(()) => self.describe_user(&user, user.account, Role::Owner).await,
            Err(AppError::Store(StoreError::Conflict)) => {
                Err(Refusal::invalid("email: another user has it").into())
            }
            Err(error) => Err(error),
        }
    }

    /// Logs a user in.
    ///
    /// # Errors
    /// [`Refusal::InvalidCredentials`], [`Refusal::TooManyAttempts`].
    pub async fn log_in(
        &self,
        peer: Peer,
        program: Program,
        request: LoginRequest,
    ) -> Result<TokenResponse, AppError> {
        let (user, entry) = self.check_login(peer, request).await?;
        let warrant = Warrant::Password(user.password_hash.clone());
        self.log_in_user(&user, user.account, &warrant, program, entry).await
    }

    /// Checks an e-mail address and a password, and returns the user with the entry of the login.
    pub(super) async fn check_login(
        &self,
        peer: Peer,
        request: LoginRequest,
    ) -> Result<(UserRecord, AuditRecord), AppError> {
        let email = Email::parse(&request.email);
        let queue = self.admit_login(peer, email.as_ref().ok()).await?;
        let user = match email {
            Ok(email) => self.store.user_by_email(&email).await?,
            Err(_) => None,
        };
        let stored = user.as_ref().map(|user| user.password_hash.clone());
        let right = self.passwords.verify(queue, request.password, stored).await?;
        match user {
            Some(user) if right => {
                let entry = self.entry_of_user(user.account, user.id, peer, Action::LogIn);
                Ok((user, entry))
            }
            Some(user) => {
                let entry = self.entry_of_user(user.account, user.id, peer, Action::LogIn);
                self.note_refused(entry).await;
                Err(Refusal::InvalidCredentials.into())
            }
            None => Err(Refusal::InvalidCredentials.into()),
        }
    }

    /// Counts a login and returns the queue for hashing its password. A user who has logged in from the same host
    /// before is not delayed by the attempts of others.
    pub(super) async fn admit_login(
        &self,
        peer: Peer,
        email: Option<&Email>,
    ) -> Result<Queue, AppError> {
        let now = self.now();
        let who = email.map_or("", Email::as_str);
        if let Some(host) = peer.host()
            && let Some((user, account)) = self.store.user_familiar_with(who, host).await?
        {
            lock(&self.logins).count_familiar(user, host, now)?;
            return Ok(Queue::Familiar(Some(account)));
        }
        self.count_stranger(peer, who)?;
        Ok(Queue::Strangers)
    }

    /// Counts a stranger's attempt against `who`: an e-mail address or an invitation.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`].
    pub(super) fn count_stranger(&self, peer: Peer, who: &str) -> Result<(), Refusal> {
        lock(&self.logins).count_stranger(peer, who, self.now())
    }

    /// Exchanges a refresh token for a new pair of tokens.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] if the token is unknown, has expired or was used before. A second use also ends the
    /// login.
    pub async fn refresh(
        &self,
        peer: Peer,
        request: RefreshRequest,
    ) -> Result<TokenResponse, AppError> {
        let digest = random::digest(request.refresh_token.expose());
        let successor = self.refresh.successor(request.refresh_token.expose());
        let now = self.now();
        let redeemed = self
            .store
            .redeem(&digest, random::digest(successor.expose()), refresh_expiry(now), now)
            .await?;
        let token = match redeemed {
            Some((Redemption::Rotate | Redemption::Repeat, token)) => Some(token),
            Some((Redemption::Reused, token)) => {
                tracing::warn!(user = %token.user, "a refresh token was used twice; its login has ended");
                let (account, actor) = (token.account, audit::system());
                let action = Action::ReuseRefreshToken;
                let entry = self.entry_of(account, actor, peer, action, token.user);
                self.keep_entry(&entry).await;
                None
            }
            Some((Redemption::Expired, _)) | None => None,
        };
        self.issue(&token.ok_or(Refusal::Unauthorized)?, successor)
    }

    /// Ends the login of a refresh token.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn log_out(&self, request: RefreshRequest) -> Result<(), AppError> {
        let digest = random::digest(request.refresh_token.expose());
        Ok(self.store.close_login(&digest).await?)
    }

    /// Returns the user of an access token or a personal access token, with the user's current role in the token's
    /// account.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`], also if the login has ended or the user has left the account;
    /// [`Refusal::TokenExpired`].
    pub async fn identify(&self, token: &str, peer: Peer) -> Result<Identity, AppError> {
        if token.starts_with(personal_token::PREFIX) {
            return self.identify_token(token, peer).await;
        }
        let Login { user, account, session } = self.access.verify(token, self.now())?;
        let role = self.store.role_of_login(user, account, &session.to_string()).await?;
        let (role, means) = (role.ok_or(Refusal::Unauthorized)?, Means::Login(session));
        Ok(Identity { user, account, role, scopes: Scopes::ALL, means, peer })
    }

    /// Returns the user, the account and the role of the caller.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] if the user was deleted.
    pub async fn me(&self, caller: Identity) -> Result<Me, AppError> {
        let user = self.store.user(caller.user).await?.ok_or(Refusal::Unauthorized)?;
        self.describe_user(&user, caller.account, caller.role).await
    }

    pub(super) async fn describe_user(
        &self,
        user: &UserRecord,
        account: AccountId,
        role: Role,
    ) -> Result<Me, AppError> {
        Ok(Me {
            user_id: user.id,
            account_id: account,
            account_name: Some(self.store.account_name(account).await?),
            email: user.email.as_str().to_owned(),
            role,
        })
    }

    pub(super) async fn new_user(
        &self,
        email: &str,
        password: Secret,
        queue: Queue,
    ) -> Result<UserRecord, AppError> {
        let email = Email::parse(email)?;
        account::check_password(password.expose())?;
        Ok(UserRecord {
            id: UserId::from_uuid(random::uuid()),
            account: AccountId::from_uuid(random::uuid()),
            email,
            password_hash: self.passwords.hash(queue, password).await?,
        })
    }

    /// Starts a login of `user`, a member of `account`, in that account.
    pub(super) async fn log_in_user(
        &self,
        user: &UserRecord,
        account: AccountId,
        warrant: &Warrant,
        program: Program,
        entry: AuditRecord,
    ) -> Result<TokenResponse, AppError> {
        let token = RefreshTokens::first();
        let session = self.new_session(user, account, &entry, program);
        let record = RefreshRecord {
            digest: random::digest(token.expose()),
            family: session.id.uuid().to_string(),
            user: user.id,
            account,
            expires_at: session.ends_at,
            used: false,
            used_at: None,
        };
        let host = host_of(&entry);
        let opened = self.store.open_login(&session, warrant, &record, host, &entry).await;
        opened.map_err(warranted)?;
        self.issue(&record, token)
    }

    fn issue(
        &self,
        session: &RefreshRecord,
        refresh_token: Secret,
    ) -> Result<TokenResponse, AppError> {
        let family = session.family.parse().map_err(AppError::broken("read a login"))?;
        let login = Login { user: session.user, account: session.account, session: family };
        Ok(TokenResponse {
            access_token: self.access.issue(login, self.now())?,
            token_type: "Bearer".to_owned(),
            expires_in: limits::ACCESS_TOKEN_LIFETIME.as_secs(),
            refresh_token,
        })
    }
}

/// Returns the host from which a login comes, if it is known.
pub(super) fn host_of(entry: &AuditRecord) -> Option<Network> {
    let address = entry.address.as_deref().and_then(|address| address.parse().ok());
    address.map(Network::host)
}

fn refresh_expiry(now: Timestamp) -> Timestamp {
    session::after(now, limits::REFRESH_TOKEN_LIFETIME)
}
