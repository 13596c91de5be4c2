//! The device flow: issues codes to a machine, takes the decision of a person, and issues tokens to the machine.

use jiff::Timestamp;
use link_protocol::backend_api::{
    account::TokenResponse,
    device_flow::{
        DecideDevice, DeviceCodeRequest, DeviceCodeResponse, DeviceTokenRequest, InquireDevice,
        PendingDevice,
    },
};

use crate::{
    app::{
        App, lock,
        warrants::{warrant_of, warranted},
    },
    auth::access::Identity,
    database::{Store, StoreError, write},
    domain::{
        attempts::{Peer, WINDOW},
        audit::Action,
        device_flow::{self, Decision, Pending, Poll, UserCode},
        name,
        refusal::Refusal,
        session::{Program, Warrant},
    },
    failure::AppError,
    host::random,
    tables::{accounts, device_codes, locks, sessions},
};

/// The maximum number of attempts to make a user code that is not taken.
const TRIES: usize = 3;

impl App {
    /// Starts a login that waits for a person. `base` is the address at which people reach this backend.
    ///
    /// # Errors
    /// [`Refusal::TooManyAttempts`] if the network requests too many codes.
    pub async fn begin_device_login(
        &self,
        peer: Peer,
        base: &str,
        DeviceCodeRequest { client_name, .. }: DeviceCodeRequest,
    ) -> Result<DeviceCodeResponse, AppError> {
        let now = self.now();
        let client_name = name::checked("client_name", &client_name)?;
        lock(&self.codes).count(peer, now)?;
        let device_code = random::secret("ldc_");
        let digest = random::digest(device_code.expose());
        let mut pending = None;
        for _ in 0..TRIES {
            let code = UserCode::from_random(&random::bits());
            let new = Pending::new(digest, code, client_name.clone(), peer.to_string(), now);
            match add_code(&self.store, &new).await {
                Ok(()) => {
                    pending = Some(new);
                    break;
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let retry_after_s = WINDOW.as_secs();
        let pending = pending.ok_or(Refusal::TooManyAttempts { retry_after_s })?;
        let user_code = pending.user_code.shown();
        let verification_uri = format!("{}/device", base.trim_end_matches('/'));
        Ok(DeviceCodeResponse {
            device_code,
            verification_uri_complete: format!("{verification_uri}#{user_code}"),
            user_code,
            verification_uri,
            expires_in: u64::from(device_flow::LIFETIME_S),
            interval: u64::from(device_flow::INTERVAL_S),
        })
    }

    /// Answers the poll of a machine that waits for its person.
    ///
    /// # Errors
    /// [`Refusal::AuthorizationPending`], [`Refusal::SlowDown`], [`Refusal::AccessDenied`],
    /// [`Refusal::DeviceCodeExpired`].
    pub async fn poll_device_login(
        &self,
        peer: Peer,
        program: Program,
        request: DeviceTokenRequest,
    ) -> Result<TokenResponse, AppError> {
        let digest = random::digest(request.device_code.expose());
        let poll = poll_code(&self.store, &digest, self.now()).await?;
        let (user, account, warrant) = match poll {
            Some((Poll::Pending, _)) => return Err(Refusal::AuthorizationPending.into()),
            Some((Poll::TooFast, _)) => return Err(Refusal::SlowDown.into()),
            Some((Poll::Denied, _)) => return Err(Refusal::AccessDenied.into()),
            Some((Poll::Expired, _)) | None => return Err(Refusal::DeviceCodeExpired.into()),
            Some((Poll::Granted { user, account }, warrant)) => (user, account, warrant),
        };
        let memberships = self.store.memberships(user).await?;
        let user = self.store.user(user).await?.ok_or(Refusal::AccessDenied)?;
        if !memberships.iter().any(|member| member.account == account) {
            return Err(Refusal::AccessDenied.into());
        }
        let entry = self.entry_of_user(account, user.id, peer, Action::LogInByDevice);
        self.log_in_user(&user, account, &warrant, program, entry).await
    }

    /// Describes the login that waits under a user code to the caller.
    ///
    /// # Errors
    /// [`Refusal::UserCodeUnknown`], [`Refusal::TooManyAttempts`].
    pub async fn inquire_device_login(
        &self,
        caller: Identity,
        InquireDevice { user_code }: InquireDevice,
    ) -> Result<PendingDevice, AppError> {
        let code = self.guess(caller, &user_code)?;
        let found = self.store.device_code(&code).await?;
        Ok(found.ok_or(Refusal::UserCodeUnknown)?.info(self.now())?)
    }

    /// Approves or denies the login that waits under a user code. If approved, the machine is logged in as the caller.
    ///
    /// # Errors
    /// [`Refusal::UserCodeUnknown`], [`Refusal::TooManyAttempts`].
    pub async fn decide_device_login(
        &self,
        caller: Identity,
        DecideDevice { user_code, allow }: DecideDevice,
    ) -> Result<(), AppError> {
        let code = self.guess(caller, &user_code)?;
        let (user, account) = (caller.user, caller.account);
        let decision = if allow { Decision::Granted { user, account } } else { Decision::Denied };
        let now = self.now();
        let warrant = warrant_of(Some(&caller));
        write!(self.store, [locks::table("device_codes"), locks::user(user)], |db| {
            // The approval outlives the request, so the session has to last at least until here.
            sessions::check(db, user, &warrant).await.map_err(warranted)?;
            let found = device_codes::find_by_user_code(db, &code).await?;
            let mut pending = found.ok_or(Refusal::UserCodeUnknown)?;
            pending.decide(decision, now)?;
            device_codes::update(db, &pending).await?;
        });
        tracing::info!(%user, allow, "a login by the device flow was decided");
        Ok(())
    }

    /// Parses a user code, and counts the guess: a person has few guesses per minute.
    fn guess(&self, caller: Identity, user_code: &str) -> Result<UserCode, Refusal> {
        lock(&self.guesses).count(caller.user, self.now())?;
        UserCode::parse(user_code)
    }
}

/// Stores a pending login. When too many are pending, one of them is deleted.
///
/// # Errors
/// [`StoreError::Conflict`] if the user code is taken.
async fn add_code(store: &Store, new: &Pending) -> Result<(), StoreError> {
    write!(store, [locks::table("device_codes")], |db| {
        device_codes::delete_expired(db, new.created_at).await?;
        if device_codes::count(db).await? >= device_flow::MOST_PENDING {
            let waiting = device_codes::list(db).await?;
            if let Some(gone) = device_flow::gives_way(&waiting) {
                device_codes::delete(db, &gone.digest).await?;
            }
        }
        device_codes::insert(db, new).await?;
    });
    Ok(())
}

/// Answers a poll with the device code of `digest`, and deletes the code if its wait has ended. Returns the answer with
/// what entitles the machine to a login, or `None` if there is no such code.
async fn poll_code(
    store: &Store,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<Option<(Poll, Warrant)>, StoreError> {
    let polled = write!(store, [locks::table("device_codes")], |db| {
        match device_codes::find(db, digest).await? {
            Some(mut pending) => {
                let poll = pending.poll(now);
                match poll {
                    Poll::Pending | Poll::TooFast => device_codes::update(db, &pending).await?,
                    Poll::Expired | Poll::Denied | Poll::Granted { .. } => {
                        device_codes::delete(db, digest).await?;
                    }
                }
                let warrant = match poll {
                    // A password that changes from now on takes the login back.
                    Poll::Granted { user, .. } => {
                        let hash = accounts::password_hash(db, user).await?;
                        Warrant::Password(hash.ok_or(StoreError::NotFound)?)
                    }
                    Poll::Pending | Poll::TooFast | Poll::Denied | Poll::Expired => {
                        Warrant::Consumed
                    }
                };
                Some((poll, warrant))
            }
            None => None,
        }
    });
    Ok(polled)
}
