//! Keeps the agent's memory small while it is idle: returns unused pages of the program and of the
//! heap.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for quiet times")]

use std::time::Duration;

use link_platform::memory;

/// When startup is over.
const STARTED: Duration = Duration::from_secs(10);
/// The interval afterwards. Returning memory takes a third of a millisecond. The device measures
/// the machine equally often, which briefly uses other parts of the program.
const AGAIN: Duration = Duration::from_secs(60);

/// Returns the memory that startup used, then every minute what was used and freed since.
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
