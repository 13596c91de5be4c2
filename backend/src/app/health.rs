//! The faults of the database. A fault is recorded where a statement fails, and cleared once a write succeeds. A
//! damaged database stays recorded until the backend restarts with a restored one.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: spaces the writes that try a faulty database"
)]

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{app::App, database::Fault, host::metrics, tables::check::check_table};

/// How often a healthy database is tested with a write, so that an unused backend notices a fault too.
const TRY_EVERY: Duration = Duration::from_secs(30);
/// How often a faulty database is tested with a write.
const TRY_AGAIN: Duration = Duration::from_secs(1);
/// The timeout for the check of one table.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// The faults of the database.
#[derive(Debug, Default)]
pub struct Health(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The fault that prevents writes.
    unwritable: Option<Fault>,
    is_damaged: bool,
    tried_at: Option<Instant>,
}

impl Health {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records and counts a fault of the database.
    pub(crate) fn note(&self, fault: Fault) {
        metrics::database_fault(fault.name());
        let mut state = self.lock();
        match fault {
            Fault::Full | Fault::Unwritable => state.unwritable = Some(fault),
            Fault::Damaged => state.is_damaged = true,
        }
    }

    /// Tells whether a test write is due now, and records the attempt.
    fn begin_try(&self) -> bool {
        let mut state = self.lock();
        let every = if state.unwritable.is_some() { TRY_AGAIN } else { TRY_EVERY };
        let is_due = state.tried_at.is_none_or(|at| at.elapsed() >= every);
        if is_due {
            state.tried_at = Some(Instant::now());
        }
        is_due
    }

    /// Returns the current faults.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let state = self.lock();
        state.unwritable.into_iter().chain(state.is_damaged.then_some(Fault::Damaged)).collect()
    }
}

impl App {
    /// Returns the record of the database's faults.
    #[must_use]
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Tests the database with a write if one is due, to notice the start and the end of a fault.
    pub(super) async fn try_database(&self) {
        if !self.health.begin_try() {
            return;
        }
        match self.store.probe(self.now()).await {
            Ok(()) => self.health.lock().unwritable = None,
            Err(error) => {
                tracing::warn!(%error, "the database cannot be written");
                if let Some(fault) = error.fault() {
                    self.health.note(fault);
                }
            }
        }
    }

    /// Checks the next table of the database. Each table is checked once a day. A database server checks its own
    /// tables.
    pub async fn check_next_table(&self) {
        if self.config.database_url.is_some() {
            return;
        }
        let now = self.now();
        let is_due = super::lock(&self.checkup).is_due(now);
        if is_due {
            match self.store.tables().await {
                Ok(tables) => super::lock(&self.checkup).begin(tables, now),
                Err(error) => tracing::warn!(%error, "the tables to check cannot be listed"),
            }
        }
        let Some(table) = super::lock(&self.checkup).take_next() else { return };
        match check_table(&self.config.data, &table, CHECK_TIMEOUT).await {
            Ok(damages) => match damages.first() {
                None => tracing::debug!(table, "a table was checked"),
                Some(damage) => {
                    tracing::error!(
                        table,
                        damage,
                        more = damages.len() - 1,
                        "the database is damaged; run `link-backend doctor`"
                    );
                    self.health.note(Fault::Damaged);
                }
            },
            Err(error) => {
                tracing::warn!(table, %error, "a table could not be checked");
                if let Some(fault) = error.fault() {
                    self.health.note(fault);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_stays_and_a_fault_of_writing_is_replaced_by_the_next() {
        let health = Health::default();
        assert_eq!(health.faults(), []);
        health.note(Fault::Full);
        health.note(Fault::Unwritable);
        health.note(Fault::Damaged);
        assert_eq!(health.faults(), [Fault::Unwritable, Fault::Damaged]);
        health.lock().unwritable = None;
        assert_eq!(health.faults(), [Fault::Damaged]);
    }

    #[test]
    fn a_database_is_not_tried_twice_at_once() {
        let health = Health::default();
        assert!(health.begin_try());
        assert!(!health.begin_try());
    }
}
