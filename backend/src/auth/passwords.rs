//! Passwords: Argon2id on the blocking pool, a few hashes at a time, with equal work for every login.
//!
//! Logins from unknown hosts wait in a bounded queue of their own, so that they do not delay known users.

use std::sync::Arc;

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use link_protocol::secret::Secret;
use tokio::sync::Semaphore;

use crate::{
    domain::{account, refusal::Refusal},
    failure::Failure,
};

/// Concurrent hashes of each queue.
const AT_ONCE: usize = 2;
/// Logins that a queue holds, those being hashed included.
const WAITING: usize = 64;

/// The queue in which a login waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Queue {
    Strangers,
    /// Logins from a host where the user has logged in before, and callers who presented another valid proof.
    Familiar,
}

/// A queue.
#[derive(Debug)]
struct Line {
    waiting: Arc<Semaphore>,
    permits: Arc<Semaphore>,
}

/// Hashes and verifies passwords.
pub struct Passwords {
    strangers: Line,
    familiar: Line,
    argon2: Argon2<'static>,
    /// The hash of a password that nobody has: an unknown user costs the same time as a known one.
    nobody: String,
}

impl Passwords {
    /// Sets the memory of each hash.
    ///
    /// # Errors
    /// [`Failure::Broken`] when the cost is out of Argon2's bounds.
    pub fn new(memory_kib: u32) -> Result<Self, Failure> {
        let params = Params::new(memory_kib, Params::DEFAULT_T_COST, Params::DEFAULT_P_COST, None)
            .map_err(Failure::broken("set the cost of password hashes"))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let nobody = hash(&argon2, crate::host::random::secret("").expose())?;
        Ok(Self { strangers: Line::new(), familiar: Line::new(), argon2, nobody })
    }

    /// Returns the hash to store for `password`.
    ///
    /// # Errors
    /// [`Refusal::TooManyLogins`], [`Failure::Broken`].
    pub async fn hash(&self, password: Secret) -> Result<String, Failure> {
        let argon2 = self.argon2.clone();
        self.compute(Queue::Familiar, move || hash(&argon2, password.expose())).await?
    }

    /// Tells whether `password` matches `hash`. Without a hash the answer is no, after the same work.
    ///
    /// # Errors
    /// [`Refusal::TooManyLogins`] when the queue is full, [`Failure::Broken`].
    pub async fn verify(
        &self,
        queue: Queue,
        password: Secret,
        stored: Option<String>,
    ) -> Result<bool, Failure> {
        let argon2 = self.argon2.clone();
        let stored = stored.filter(|stored| stored != account::NO_PASSWORD);
        let known = stored.is_some();
        let stored = stored.unwrap_or_else(|| self.nobody.clone());
        let matches = self
            .compute(queue, move || {
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
        queue: Queue,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let line = match queue {
            Queue::Strangers => &self.strangers,
            Queue::Familiar => &self.familiar,
        };
        let place = Arc::clone(&line.waiting).try_acquire_owned();
        let place = place.map_err(|_full| Refusal::TooManyLogins)?;
        let permit = Arc::clone(&line.permits)
            .acquire_owned()
            .await
            .map_err(Failure::broken("wait for a password hash"))?;
        let computed = tokio::task::spawn_blocking(move || {
            let result = work();
            drop((permit, place));
            result
        });
        computed.await.map_err(Failure::broken("compute a password hash"))
    }
}

impl Line {
    fn new() -> Self {
        let places = |number| Arc::new(Semaphore::new(number));
        Self { waiting: places(WAITING), permits: places(AT_ONCE) }
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> Result<String, Failure> {
    argon2
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(Failure::broken("hash a password"))
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn a_queue_of_strangers_has_an_end_and_holds_up_nobody_who_is_known() {
        let passwords = Passwords::new(64).unwrap();
        let all = Arc::clone(&passwords.strangers.permits).acquire_many_owned(2).await.unwrap();
        let guess = |queue| passwords.verify(queue, Secret::new("guess"), None);
        let mut waiting: Vec<_> = (0..WAITING).map(|_| Box::pin(guess(Queue::Strangers))).collect();
        for wait in &mut waiting {
            assert!(futures_util::poll!(wait).is_pending());
        }
        let refused = guess(Queue::Strangers).await.unwrap_err();
        assert!(matches!(refused, Failure::Refused(Refusal::TooManyLogins)), "{refused:?}");
        assert!(!guess(Queue::Familiar).await.unwrap());
        drop(all);
        assert!(join_all(waiting).await.into_iter().all(|right| !right.unwrap()));
        assert!(!guess(Queue::Strangers).await.unwrap());
    }
}
