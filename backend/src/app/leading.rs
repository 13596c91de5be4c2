//! Elects the backend that does the work of all backends on one database. This leader holds a lease
//! and extends it while it works; another backend takes over at most 15 s after the leader stops. A
//! backend with its own database leads without a lease.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::{app::App, failure::AppError, host::random};

const NAME: &str = "sweep";
/// How long a lease is valid after its holder extended it.
const LEASE: SignedDuration = SignedDuration::from_secs(12);
/// How often the holder extends the lease, and how often others try to take it.
const AGAIN: SignedDuration = SignedDuration::from_secs(3);

/// What this backend knows about the lease.
#[derive(Debug)]
pub(super) struct Leading {
    holder: String,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    asked_at: Option<Timestamp>,
    leads: bool,
}

impl Default for Leading {
    fn default() -> Self {
        Self { holder: random::uuid().simple().to_string(), state: Mutex::default() }
    }
}

impl State {
    /// Tells whether the lease must be read again. Also true if the clock was set back.
    fn is_stale(self, now: Timestamp) -> bool {
        self.asked_at.is_none_or(|asked| now < asked || now.duration_since(asked) >= AGAIN)
    }
}

impl App {
    /// Tells whether this backend is the leader.
    ///
    /// # Errors
    /// [`AppError::Store`]; this backend is then not the leader.
    pub(super) async fn leads(&self) -> Result<bool, AppError> {
        if !self.store.is_shared() {
            return Ok(true);
        }
        let now = self.now();
        let known = self.leading.known();
        if !known.is_stale(now) {
            return Ok(known.leads);
        }
        self.leading.note(State { asked_at: Some(now), leads: false });
        let until = now + LEASE;
        let leads = self.store.take_lease(NAME, &self.leading.holder, until, now).await?;
        if leads != known.leads {
            tracing::info!(leads, "the work that one backend does for all changed hands");
        }
        self.leading.note(State { asked_at: Some(now), leads });
        Ok(leads)
    }

    /// Releases the lease, so that another backend takes over at once.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn stop_leading(&self) -> Result<(), AppError> {
        if self.leading.known().leads {
            self.store.return_lease(NAME, &self.leading.holder).await?;
        }
        Ok(())
    }
}

impl Leading {
    fn known(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}
