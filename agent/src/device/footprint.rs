//! Keeps the agent's memory small while it is idle: returns unused pages of the program and of the
//! heap.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for quiet times")]

use std::time::Duration;

use link_platform::memory;

/// The time after which startup counts as finished.
const STARTED: Duration = Duration::from_secs(10);
/// The interval between returns of memory after that. Each takes a third of a millisecond. The
/// measurements of the machine, which briefly use other parts of the program, have the same
/// interval.
const AGAIN: Duration = Duration::from_secs(60);

/// Gives the memory from startup back to the system, then every minute the memory freed since.
pub(crate) async fn keep_small() {
    tokio::time::sleep(STARTED).await;
    loop {
        let bytes = memory::give_back_program();
        tracing::trace!(bytes, "returned unused pages of the program");
        if tokio::task::spawn_blocking(memory::give_back_heap).await.is_err() {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}
