//! Whether requests should come here, and what an operator watches.

#![expect(clippy::disallowed_methods, reason = "IO shell: measures how long the database takes")]

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use link_platform::disk;

use crate::{app::App, database::Passing, domain::clock_offset, failure::Failure, host::metrics};

/// A database that takes longer does not answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// What the file of a database needs to go on, in bytes: its log grows to about half of this.
const ROOM_NEEDED: u64 = 8 * 1024 * 1024;

impl App {
    /// Returns why requests should not come here; nothing when they should. The tables are up to
    /// date once there is an `App`.
    pub async fn unready(&self) -> Vec<&'static str> {
        let mut reasons = Vec::new();
        if self.leaving.load(Ordering::Relaxed) || *self.draining.borrow() {
            reasons.push("the backend is stopping");
        }
        match tokio::time::timeout(ANSWER_TIMEOUT, self.store.check()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "the database does not answer");
                reasons.push("the database does not answer");
            }
            Err(_elapsed) => reasons.push("the database takes too long to answer"),
        }
        if clock_offset::is_too_far(self.clock_offset()) {
            reasons.push(
                "the clock of this machine is more than 5 s from that of the database server",
            );
        }
        if self.is_full.load(Ordering::Relaxed) || self.has_no_room() {
            reasons.push("the database has no room left; make room on its disk");
        }
        reasons
    }

    /// Notes what a statement that writes came to: whether the database has room.
    pub(super) fn note_room<T>(&self, outcome: &Result<T, Failure>) {
        let is_full = match outcome {
            Ok(_) => false,
            Err(Failure::Store(error)) => error.passing() == Some(Passing::Full),
            Err(Failure::Refused(_) | Failure::Content(_) | Failure::Broken(..)) => return,
        };
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    /// A file grows where the data folder is; a server says by itself that it is full.
    fn has_no_room(&self) -> bool {
        let is_file = self.config.database_url.is_none();
        let free = || disk::free_bytes(&self.config.data).ok().flatten();
        is_file && free().is_some_and(|free| free < ROOM_NEEDED)
    }

    /// Is not ready from now on, and answers everything as before.
    pub fn withdraw(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Notes how much there is of everything.
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
