//! Passwords: Argon2id on threads of its own, a few at a time, with equal work for every login.

use std::sync::Arc;

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use link_protocol::secret::Secret;
use tokio::sync::Semaphore;

use crate::failure::Failure;

/// Hashes that are computed at the same time.
const AT_ONCE: usize = 2;

/// Hashes and verifies passwords.
pub struct Passwords {
    permits: Arc<Semaphore>,
    argon2: Argon2<'static>,
    /// The hash of a password that nobody has, to spend the same time on unknown users.
    nobody: String,
}

impl Passwords {
    /// Makes hashes that need `memory_kib` of memory.
    ///
    /// # Errors
    /// [`Failure::Broken`] when the cost is out of Argon2's bounds.
    pub fn new(memory_kib: u32) -> Result<Self, Failure> {
        let params = Params::new(memory_kib, Params::DEFAULT_T_COST, Params::DEFAULT_P_COST, None)
            .map_err(Failure::broken("set the cost of password hashes"))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let nobody = hash(&argon2, crate::chance::secret("").expose())?;
        Ok(Self { permits: Arc::new(Semaphore::new(AT_ONCE)), argon2, nobody })
    }

    /// Returns the hash to store for `password`.
    ///
    /// # Errors
    /// [`Failure::Broken`].
    pub async fn hash(&self, password: Secret) -> Result<String, Failure> {
        let argon2 = self.argon2.clone();
        self.compute(move || hash(&argon2, password.expose())).await?
    }

    /// Tells whether `password` is the one that was hashed; without a hash it is not, after the
    /// same work.
    ///
    /// # Errors
    /// [`Failure::Broken`].
    pub async fn verify(&self, password: Secret, stored: Option<String>) -> Result<bool, Failure> {
        let argon2 = self.argon2.clone();
        let known = stored.is_some();
        let stored = stored.unwrap_or_else(|| self.nobody.clone());
        let matches = self
            .compute(move || {
                let parsed = PasswordHash::new(&stored)
                    .map_err(Failure::broken("read a stored password hash"))?;
                Ok::<_, Failure>(
                    argon2.verify_password(password.expose().as_bytes(), &parsed).is_ok(),
                )
            })
            .await??;
        Ok(known && matches)
    }

    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(Failure::broken("wait for a password hash"))?;
        let computed = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        computed.await.map_err(Failure::broken("compute a password hash"))
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> Result<String, Failure> {
    argon2
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(Failure::broken("hash a password"))
}
