//! Keeps what of the program and of its heap is in memory to what the agent uses while it waits.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for quiet times")]

use std::time::Duration;

use link_platform::memory;

/// When a start is over.
const STARTED: Duration = Duration::from_secs(10);
/// How often afterwards. It costs a third of a millisecond, and the device reports as often what the
/// machine does, which uses another part of the program for a moment.
const AGAIN: Duration = Duration::from_secs(60);

/// Gives back what the start has used, and every minute what was used and freed since.
pub(crate) async fn keep_small() {
    tokio::time::sleep(STARTED).await;
    loop {
        let bytes = memory::give_back_program();
        tracing::trace!(bytes, "the pages of the program were given back");
        if tokio::task::spawn_blocking(memory::give_back_heap).await.is_err() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}
