//! Sessions of people: logs browsers in, identifies them by their cookies, lists and ends sessions, changes passwords.

use jiff::Timestamp;
use link_protocol::{
    backend_api::session::{ChangePassword, OpenSession, SessionInfo, SessionOpened, Sessions},
    id::{AccountId, SessionId},
    limits,
    permission::Permission,
    secret::Secret,
};

use crate::{
    app::{
        App,
        accounts::host_of,
        warrants::{warrant_of, warranted},
    },
    auth::{
        access::{Identity, Means},
        passwords::Queue,
        session::SessionSecrets,
    },
    database::StoreError,
    domain::{
        account::{self, NO_PASSWORD, UserRecord},
        attempts::Peer,
        audit::{self, Action, AuditRecord},
        refusal::Refusal,
        session::{self, CookieRecord, Judgement, Program, SessionRecord, Warrant},
        site::Cookie,
        token::Scopes,
    },
    failure::AppError,
    host::random,
    tables::passwords::PasswordChange,
};

/// A browser that logs in.
#[derive(Clone, Debug)]
pub struct Visitor {
    pub peer: Peer,
    pub program: Program,
    /// The name of the cookie at the address that the browser calls.
    pub cookie: String,
    /// The person of the current session of the browser, if there is one.
    pub caller: Option<Identity>,
}

/// A new session of a browser.
#[derive(Debug)]
pub struct Opened {
    pub answer: SessionOpened,
    pub cookie: Secret,
}

impl App {
    /// Logs a person in with a browser. The browser's current session ends.
    ///
    /// # Errors
    /// As for the login of a program by the same means.
    pub async fn open_session(
        &self,
        visitor: Visitor,
        request: OpenSession,
    ) -> Result<Opened, AppError> {
        let (user, entry, warrant) = self.admit_browser(&visitor, request).await?;
        let account = entry.account;
        let (cookie, csrf) = (SessionSecrets::first(), SessionSecrets::of_pages());
        let presented = Cookie { name: &visitor.cookie, secret: cookie.expose() };
        let session = self.new_session(&user, account, &entry, visitor.program);
        let session = SessionRecord {
            ends_at: session::after(session.created_at, limits::SESSION_LIFETIME),
            cookie: Some(CookieRecord {
                digest: random::digest(&presented.bound()),
                previous: None,
                csrf: random::digest(csrf.expose()),
                rotated_at: session.created_at,
                is_confirmed: true,
            }),
            ..session
        };
        let replaced = visitor.caller.and_then(|caller| Some((caller.user, caller.session()?)));
        let host = host_of(&entry);
        let opened = self.store.open_session(&session, &warrant, replaced, host, &entry).await;
        opened.map_err(warranted)?;
        let id = session.id.uuid().to_string();
        let role = self.store.role_of_login(user.id, account, &id).await?;
        let role = role.ok_or(Refusal::Unauthorized)?;
        let me = self.describe_user(&user, account, role).await?;
        let answer = SessionOpened { session_id: session.id, csrf, me };
        Ok(Opened { answer, cookie })
    }

    /// Returns who logs in, with the entry of the login and what entitles the person to it.
    async fn admit_browser(
        &self,
        visitor: &Visitor,
        request: OpenSession,
    ) -> Result<(UserRecord, AuditRecord, Warrant), AppError> {
        let (peer, caller) = (visitor.peer, visitor.caller);
        let (user, entry) = match request {
            OpenSession::Password(login) => {
                let (user, entry) = self.check_login(peer, login).await?;
                let warrant = Warrant::Password(user.password_hash.clone());
                return Ok((user, entry, warrant));
            }
            OpenSession::Setup(setup) => self.create_first(peer, setup).await?,
            OpenSession::Code(code) => {
                let owner = self.take_owner_code(&code).await?;
                let entry = self.entry_of_user(owner.account, owner.id, peer, Action::LogInByCode);
                (owner, entry)
            }
            OpenSession::Invitation(accept) => {
                let (user, entry) = self.join_account(peer, caller, accept).await?;
                return Ok((user, entry, warrant_of(caller.as_ref())));
            }
            OpenSession::Account(enter) => {
                let caller = caller.ok_or(Refusal::Unauthorized)?;
                caller.check(Permission::ActInPerson)?;
                let (user, entry) = self.change_account(caller, enter).await?;
                return Ok((user, entry, warrant_of(Some(&caller))));
            }
        };
        Ok((user, entry, Warrant::Consumed))
    }

    /// Returns the person of a cookie, and a new secret for the cookie if the secret was replaced. `csrf` is the secret of
    /// the page, if the request has one.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] if the session has ended, or if one of the secrets is not its own.
    pub async fn identify_session(
        &self,
        cookie: Cookie<'_>,
        csrf: Option<&str>,
        peer: Peer,
    ) -> Result<(Identity, Option<Secret>), AppError> {
        let digest = random::digest(&cookie.bound());
        let found = self.store.session_by_digest(&digest).await?;
        let (session, role) = found.ok_or(Refusal::Unauthorized)?;
        if let Some(csrf) = csrf {
            session.check_csrf(&random::digest(csrf))?;
        }
        let now = self.now();
        let successor = self.session_secrets.successor(cookie.secret);
        let mut judged = session.judge(&digest, now);
        if !matches!(judged, Judgement::Good | Judgement::Repeat) {
            let address = peer.0.map(|_| peer.to_string());
            let next = random::digest(&Cookie { secret: successor.expose(), ..cookie }.bound());
            let address = address.as_deref();
            judged = self.store.use_session(&session, &digest, &next, address, now).await?;
        }
        let renewed = match judged {
            Judgement::Good | Judgement::Note => None,
            Judgement::Rotate | Judgement::Repeat => Some(successor),
            Judgement::Reused => {
                tracing::warn!(user = %session.user, "an old cookie was used; its session has ended");
                let action = Action::ReuseRefreshToken;
                let actor = audit::system();
                let entry = self.entry_of(session.account, actor, peer, action, session.user);
                self.keep_entry(&entry).await;
                return Err(Refusal::Unauthorized.into());
            }
            Judgement::Over => return Err(Refusal::Unauthorized.into()),
        };
        let (user, account) = (session.user, session.account);
        let means = Means::Cookie(session.id.uuid());
        Ok((Identity { user, account, role, scopes: Scopes::ALL, means, peer }, renewed))
    }

    /// Lists the caller's sessions.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn sessions(&self, caller: Identity) -> Result<Sessions, AppError> {
        let now = self.now();
        let sessions = self.store.sessions(caller.user, now).await?;
        let lasting = sessions.into_iter().filter(|session| session.expires_at() > now);
        let items: Vec<SessionInfo> =
            lasting.map(|session| session.info(caller.session())).collect();
        Ok(Sessions { items })
    }

    /// Ends a session of the caller.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn end_session(&self, caller: Identity, session: SessionId) -> Result<(), AppError> {
        let entry = self.entry(&caller, Action::EndSession, session);
        match self.store.end_session(caller.user, session, &entry).await {
            Err(StoreError::NotFound) => Err(Refusal::NotFound("session").into()),
            other => Ok(other?),
        }
    }

    /// Ends the session of the caller.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if it has ended already.
    pub async fn end_current_session(&self, caller: Identity) -> Result<(), AppError> {
        let session = caller.session().ok_or(Refusal::NotFound("session"))?;
        self.end_session(caller, session).await
    }

    /// Ends all sessions of the caller except that of the request.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn end_other_sessions(&self, caller: Identity) -> Result<(), AppError> {
        let kept = caller.session().ok_or(Refusal::NotFound("session"))?;
        let entry = self.entry(&caller, Action::EndSession, caller.user).with("all others");
        Ok(self.store.end_other_sessions(caller.user, kept, &entry).await?)
    }

    /// Changes the caller's password and ends all other sessions of the caller. Attempts count as logins. Returns the new
    /// secret of the caller's cookie, whose name is `cookie`: a copy of the old one is worth nothing at once.
    ///
    /// # Errors
    /// [`Refusal::WrongPassword`], [`Refusal::TooManyAttempts`], [`Refusal::Invalid`].
    pub async fn change_password(
        &self,
        caller: Identity,
        request: ChangePassword,
        cookie: Option<&str>,
    ) -> Result<Option<Secret>, AppError> {
        let kept = caller.session().ok_or(Refusal::NotFound("session"))?;
        account::check_password(request.new_password.expose())?;
        let user = self.store.user(caller.user).await?.ok_or(Refusal::Unauthorized)?;
        if user.password_hash == NO_PASSWORD {
            let rule = "current_password: you have none yet; set one with `link account password`";
            return Err(Refusal::invalid(rule).into());
        }
        let queue = self.admit_login(caller.peer, Some(&user.email)).await?;
        let stored = Some(user.password_hash.clone());
        let entry = self.entry(&caller, Action::SetPassword, caller.user);
        if !self.passwords.verify(queue, request.current_password, stored).await? {
            self.note_refused(entry).await;
            return Err(Refusal::WrongPassword.into());
        }
        let hash = self
            .passwords
            .hash(Queue::Familiar(Some(caller.account)), request.new_password)
            .await?;
        let cookie = cookie.filter(|_| matches!(caller.means, Means::Cookie(_)));
        let renewed = cookie.map(|name| (name, SessionSecrets::first()));
        let digest = renewed.as_ref().map(|(name, secret)| {
            random::digest(&Cookie { name, secret: secret.expose() }.bound())
        });
        let change = PasswordChange { old: &user.password_hash, new: &hash, kept, digest };
        let changed = self.store.change_password(caller.user, &change, &entry).await;
        changed.map_err(warranted)?;
        Ok(renewed.map(|(_, secret)| secret))
    }

    /// Makes the session of a login that begins now. It lasts as long as a refresh token.
    pub(super) fn new_session(
        &self,
        user: &UserRecord,
        account: AccountId,
        entry: &AuditRecord,
        program: Program,
    ) -> SessionRecord {
        let now: Timestamp = self.now();
        SessionRecord {
            id: SessionId::from_uuid(random::uuid()),
            user: user.id,
            account,
            login: entry.action.clone(),
            agent: program.into_text(),
            address: entry.address.clone(),
            created_at: now,
            used_at: now,
            ends_at: session::after(now, limits::REFRESH_TOKEN_LIFETIME),
            cookie: None,
        }
    }
}
