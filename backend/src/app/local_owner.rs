//! The owner of a backend that one person runs on one machine. The owner logs in with the proof, a
//! file that only this user can read, or with a one-time code that the backend issues for the
//! proof.
//!
//! The source address of a request proves nothing, because every program on the machine connects
//! from loopback.

use std::net::SocketAddr;

use link_platform::fs::FileError;
use link_protocol::{
    backend_api::{
        account::TokenResponse,
        local_owner::{OneTimeCode, OwnerCode, OwnerLogin, OwnerPassword, RedeemCode},
    },
    id::{AccountId, UserId},
    secret::Secret,
};

use crate::{
    app::{App, lock},
    auth::{owner_file, passwords::Queue, setup_token::SetupToken},
    config::owner_proof::OwnerProof,
    domain::{
        account::{self, Email, NO_PASSWORD, UserRecord},
        attempts::Peer,
        audit::Action,
        local_owner::{self, LocalOwner},
        refusal::Refusal,
        session::{Program, Warrant},
    },
    failure::AppError,
    host::random,
};

/// The e-mail address of an owner who gave none.
const NAMELESS: &str = "owner@localhost";

impl App {
    /// Makes the owner's proof and writes it to the owner file, if one is configured. `address` is
    /// the address of the backend.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn offer_to_owner(&self, address: SocketAddr) -> Result<(), FileError> {
        if !self.is_owned_by_file() {
            return Ok(());
        }
        let proof = random::secret("lop_");
        *lock(&self.local_owner) = Some(LocalOwner::new(random::digest(proof.expose())));
        owner_file::write(self.data(), proof, address)
    }

    /// Tells whether the backend has an owner with a proof in a file.
    #[must_use]
    pub fn is_owned_by_file(&self) -> bool {
        self.config.owner_proof == OwnerProof::File
    }

    /// Logs the owner in. The first login creates the account, whose owner has no password.
    ///
    /// # Errors
    /// [`Refusal::NoOwnerFile`], [`Refusal::OwnerProofInvalid`].
    pub async fn log_in_owner(
        &self,
        peer: Peer,
        program: Program,
        request: OwnerLogin,
    ) -> Result<TokenResponse, AppError> {
        self.check_owner(&request.proof)?;
        let owner = match self.store.first_owner().await? {
            Some(owner) => owner,
            None => self.make_owner(request.email.as_deref()).await?,
        };
        self.begin_login(peer, program, &owner, Action::LogInAsOwner).await
    }

    /// Makes a one-time code for the owner's browser.
    ///
    /// # Errors
    /// [`Refusal::NoOwnerFile`], [`Refusal::OwnerProofInvalid`].
    pub fn make_owner_code(&self, request: &OwnerCode) -> Result<OneTimeCode, AppError> {
        self.check_owner(&request.proof)?;
        let code = random::secret("loc_");
        let digest = random::digest(code.expose());
        if let Some(owner) = lock(&self.local_owner).as_mut() {
            owner.add_code(digest, self.now());
        }
        Ok(OneTimeCode { code, expires_in: local_owner::CODE_LIFETIME.as_secs() })
    }

    /// Logs the owner in with a one-time code and consumes the code.
    ///
    /// # Errors
    /// [`Refusal::NoOwnerFile`], [`Refusal::OneTimeCodeInvalid`].
    pub async fn redeem_owner_code(
        &self,
        peer: Peer,
        program: Program,
        request: RedeemCode,
    ) -> Result<TokenResponse, AppError> {
        let owner = self.take_owner_code(&request).await?;
        self.begin_login(peer, program, &owner, Action::LogInByCode).await
    }

    /// Consumes a one-time code and returns the owner.
    pub(super) async fn take_owner_code(
        &self,
        request: &RedeemCode,
    ) -> Result<UserRecord, AppError> {
        let digest = random::digest(request.code.expose());
        lock(&self.local_owner)
            .as_mut()
            .ok_or(Refusal::NoOwnerFile)?
            .take_code(&digest, self.now())?;
        Ok(self.store.first_owner().await?.ok_or(Refusal::OneTimeCodeInvalid)?)
    }

    /// Sets a password for the owner and ends every login of the owner.
    ///
    /// # Errors
    /// [`Refusal::NoOwnerFile`], [`Refusal::OwnerProofInvalid`], or [`Refusal::Invalid`] for an
    /// invalid password.
    pub async fn set_owner_password(
        &self,
        peer: Peer,
        request: OwnerPassword,
    ) -> Result<(), AppError> {
        self.check_owner(&request.proof)?;
        account::check_password(request.password.expose())?;
        let owner = self.store.first_owner().await?.ok_or(Refusal::NotFound("account"))?;
        let hash = self.passwords.hash(Queue::Familiar(None), request.password).await?;
        let entry = self.entry_of_user(owner.account, owner.id, peer, Action::SetPassword);
        Ok(self.store.set_password(owner.id, &hash, &entry).await?)
    }

    fn check_owner(&self, proof: &Secret) -> Result<(), Refusal> {
        let digest = random::digest(proof.expose());
        lock(&self.local_owner).as_ref().ok_or(Refusal::NoOwnerFile)?.check(&digest)
    }

    async fn make_owner(&self, email: Option<&str>) -> Result<UserRecord, AppError> {
        let owner = UserRecord {
            id: UserId::from_uuid(random::uuid()),
            account: AccountId::from_uuid(random::uuid()),
            email: Email::parse(email.unwrap_or(NAMELESS))?,
            password_hash: NO_PASSWORD.to_owned(),
        };
        let is_first = self.store.create_first_account(&owner, self.now()).await?;
        lock(&self.setup_token).take();
        SetupToken::remove(self.data()).map_err(AppError::broken("remove the setup token"))?;
        if is_first {
            return Ok(owner);
        }
        // A concurrent request of the owner has created the account.
        Ok(self.store.first_owner().await?.ok_or(Refusal::AlreadySetUp)?)
    }

    async fn begin_login(
        &self,
        peer: Peer,
        program: Program,
        owner: &UserRecord,
        action: Action,
    ) -> Result<TokenResponse, AppError> {
        let entry = self.entry_of_user(owner.account, owner.id, peer, action);
        self.log_in_user(owner, owner.account, &Warrant::Consumed, program, entry).await
    }
}
