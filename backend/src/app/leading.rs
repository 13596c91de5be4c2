//! Work that one backend does for all on its database: it holds a lease, extends it while it works,
//! and another backend takes over at most 15 s after it went away. A backend with a database of its
//! own leads without a lease.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::{app::App, failure::Failure, host::random};

const NAME: &str = "sweep";
/// How long a lease lasts after the holder extended it.
const LEASE: SignedDuration = SignedDuration::from_secs(12);
/// How often the holder extends it, and how often others try to take it.
const AGAIN: SignedDuration = SignedDuration::from_secs(3);

/// What this backend knows of the lease.
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
    /// Tells whether the database has to be asked. A clock that was set back asks too.
    fn is_stale(self, now: Timestamp) -> bool {
        self.asked_at.is_none_or(|asked| now < asked || now.duration_since(asked) >= AGAIN)
    }
}

impl App {
    /// Tells whether this backend does the work that one does for all.
    ///
    /// # Errors
    /// [`Failure::Store`]; it does not lead then.
    pub(super) async fn leads(&self) -> Result<bool, Failure> {
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

    /// Lets another backend take over at once.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn stop_leading(&self) -> Result<(), Failure> {
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
