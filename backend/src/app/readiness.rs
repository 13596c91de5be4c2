//! Readiness for requests, and the figures for the metrics.

#![expect(clippy::disallowed_methods, reason = "IO shell: measures how long the database takes")]

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use link_platform::disk;

use crate::{app::App, database::Fault, domain::clock_offset, host::metrics};

/// The timeout for an answer of the database.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// The free space that a database file needs, in bytes. Its log can grow to about half of this.
const ROOM_NEEDED: u64 = 8 * 1024 * 1024;

impl App {
    /// Returns the reasons why the backend is not ready for requests, or nothing if it is ready. Migrations are not
    /// checked, because an `App` exists only after them.
    pub async fn unready(&self) -> Vec<&'static str> {
        let mut reasons = Vec::new();
        if self.leaving.load(Ordering::Relaxed) || *self.draining.borrow() {
            reasons.push("the backend is stopping");
        }
        match tokio::time::timeout(ANSWER_TIMEOUT, self.store.check()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "the database does not answer");
                match error.fault() {
                    Some(fault) => self.health.note(fault),
                    None => reasons.push("the database does not answer"),
                }
            }
            Err(_elapsed) => reasons.push("the database has not answered for 3 s"),
        }
        if clock_offset::is_too_far(self.clock_offset()) {
            reasons.push(
                "the clock of this machine is more than 5 s from that of the database server",
            );
        }
        let mut faults = self.health.faults();
        if !faults.is_empty() {
            // The fault may be over.
            self.try_database().await;
            faults = self.health.faults();
        }
        if self.has_no_room() && !faults.contains(&Fault::Full) {
            faults.push(Fault::Full);
        }
        reasons.extend(faults.into_iter().map(Fault::detail));
        reasons
    }

    /// Tells whether the disk of the data folder is almost full. A database server watches its own disk.
    fn has_no_room(&self) -> bool {
        let is_file = self.config.database_url.is_none();
        let free = || disk::free_bytes(&self.config.data).ok().flatten();
        is_file && free().is_some_and(|free| free < ROOM_NEEDED)
    }

    /// Makes the backend unready. It still answers every request.
    pub fn withdraw(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Updates the metrics with the figures of the database and of this process.
    pub async fn survey(&self, memory_bytes: Option<u64>) {
        let begun = Instant::now();
        match tokio::time::timeout(ANSWER_TIMEOUT, self.store.counts(self.now())).await {
            Ok(Ok(counts)) => {
                metrics::database("count", begun.elapsed());
                metrics::counted(&counts);
            }
            Ok(Err(error)) => tracing::warn!(%error, "the database cannot be counted"),
            Err(_elapsed) => tracing::warn!("the database takes too long to count"),
        }
        let is_ready = self.unready().await.is_empty();
        metrics::process(self.polls.listeners(), is_ready, memory_bytes);
    }
}
