//! Passwords: Argon2id on the blocking thread pool, a few hashes at a time, with the same work for every login.
//!
//! Logins from unknown hosts wait in a separate bounded queue, so that they do not delay known users.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use link_protocol::{id::AccountId, secret::Secret};
use tokio::sync::Semaphore;

use crate::{
    domain::{account, refusal::Refusal},
    failure::AppError,
};

/// The maximum number of concurrent hashes in each queue.
const AT_ONCE: usize = 2;
/// The maximum number of logins in a queue, including those being hashed.
const WAITING: usize = 64;
/// The maximum number of logins of one account in the queue for familiar ones: an account may have many members.
const OF_ACCOUNT: usize = 8;

/// The queue for a login.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Queue {
    Strangers,
    /// For logins from a host where the user has logged in before, with the account of the user, and for callers who presented
    /// another valid proof.
    Familiar(Option<AccountId>),
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
    /// How many logins of each account wait in the queue for familiar ones.
    accounts: Arc<Mutex<HashMap<AccountId, usize>>>,
    argon2: Argon2<'static>,
    /// The hash of an unknown password. It is used for unknown users, so that their logins take the same time.
    nobody: String,
}

impl Passwords {
    /// Sets the memory of one hash.
    ///
    /// # Errors
    /// [`AppError::Broken`] if the memory is outside of Argon2's limits.
    pub fn new(memory_kib: u32) -> Result<Self, AppError> {
        let params = Params::new(memory_kib, Params::DEFAULT_T_COST, Params::DEFAULT_P_COST, None)
            .map_err(AppError::broken("set the cost of password hashes"))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let nobody = hash(&argon2, crate::host::random::secret("").expose())?;
        let (strangers, familiar, accounts) = (Line::new(), Line::new(), Arc::default());
        Ok(Self { strangers, familiar, accounts, argon2, nobody })
    }

    /// Returns the hash to store for `password`.
    ///
    /// # Errors
    /// [`Refusal::TooManyLogins`], [`AppError::Broken`].
    pub async fn hash(&self, queue: Queue, password: Secret) -> Result<String, AppError> {
        let argon2 = self.argon2.clone();
        self.compute(queue, move || hash(&argon2, password.expose())).await?
    }

    /// Tells whether `password` matches `hash`. Without a hash the result is false, after the same work.
    ///
    /// # Errors
    /// [`Refusal::TooManyLogins`] if the queue is full, [`AppError::Broken`].
    pub async fn verify(
        &self,
        queue: Queue,
        password: Secret,
        stored: Option<String>,
    ) -> Result<bool, AppError> {
        let argon2 = self.argon2.clone();
        let stored = stored.filter(|stored| stored != account::NO_PASSWORD);
        let known = stored.is_some();
        let stored = stored.unwrap_or_else(|| self.nobody.clone());
        let matches = self
            .compute(queue, move || {
                let parsed = PasswordHash::new(&stored)
                    .map_err(AppError::broken("read a stored password hash"))?;
                Ok::<_, AppError>(
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
    ) -> Result<T, AppError> {
        let line = match queue {
            Queue::Strangers => &self.strangers,
            Queue::Familiar(_) => &self.familiar,
        };
        let share = match queue {
            Queue::Familiar(Some(account)) => Some(Share::take(&self.accounts, account)?),
            Queue::Familiar(None) | Queue::Strangers => None,
        };
        let place = Arc::clone(&line.waiting).try_acquire_owned();
        let place = place.map_err(|_full| Refusal::TooManyLogins)?;
        let permit = Arc::clone(&line.permits)
            .acquire_owned()
            .await
            .map_err(AppError::broken("wait for a password hash"))?;
        let computed = tokio::task::spawn_blocking(move || {
            let result = work();
            drop((permit, place, share));
            result
        });
        computed.await.map_err(AppError::broken("compute a password hash"))
    }
}

/// The place of a login among those of its account.
struct Share {
    accounts: Arc<Mutex<HashMap<AccountId, usize>>>,
    account: AccountId,
}

impl Share {
    fn take(
        accounts: &Arc<Mutex<HashMap<AccountId, usize>>>,
        account: AccountId,
    ) -> Result<Self, Refusal> {
        let mut counts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = counts.entry(account).or_default();
        if *waiting >= OF_ACCOUNT {
            return Err(Refusal::TooManyLogins);
        }
        *waiting += 1;
        drop(counts);
        Ok(Self { accounts: Arc::clone(accounts), account })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = counts.get_mut(&self.account) {
            *waiting -= 1;
            if *waiting == 0 {
                counts.remove(&self.account);
            }
        }
    }
}

impl Line {
    fn new() -> Self {
        let places = |number| Arc::new(Semaphore::new(number));
        Self { waiting: places(WAITING), permits: places(AT_ONCE) }
    }
}

fn hash(argon2: &Argon2<'_>, password: &str) -> Result<String, AppError> {
    argon2
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(AppError::broken("hash a password"))
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
        assert!(matches!(refused, AppError::Refused(Refusal::TooManyLogins)), "{refused:?}");
        assert!(!guess(Queue::Familiar(None)).await.unwrap());
        drop(all);
        assert!(join_all(waiting).await.into_iter().all(|right| !right.unwrap()));
        assert!(!guess(Queue::Strangers).await.unwrap());
    }

    #[tokio::test]
    async fn the_members_of_one_account_hold_up_nobody_of_another() {
        let passwords = Passwords::new(64).unwrap();
        let all = Arc::clone(&passwords.familiar.permits).acquire_many_owned(2).await.unwrap();
        let [eve, ada] = [1, 2].map(|number| AccountId::from_uuid(uuid::Uuid::from_u128(number)));
        let guess =
            |account| passwords.verify(Queue::Familiar(Some(account)), Secret::new("guess"), None);
        let mut waiting: Vec<_> = (0..OF_ACCOUNT).map(|_| Box::pin(guess(eve))).collect();
        for wait in &mut waiting {
            assert!(futures_util::poll!(wait).is_pending());
        }
        let refused = guess(eve).await.unwrap_err();
        assert!(matches!(refused, AppError::Refused(Refusal::TooManyLogins)), "{refused:?}");
        let mut other = Box::pin(guess(ada));
        assert!(futures_util::poll!(&mut other).is_pending(), "it has a place");
        drop((all, waiting));
        assert!(!other.await.unwrap());
        assert!(!guess(eve).await.unwrap(), "places that were given up are free again");
        assert!(passwords.accounts.lock().unwrap().is_empty());
    }
}
