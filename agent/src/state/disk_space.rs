//! Patience with a disk that takes no more: it may be emptied meanwhile, and what serves goes on.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for disk space")]

use std::time::Duration;

/// How long to wait before a write is tried again.
const WRITE_AGAIN: Duration = Duration::from_secs(2);

/// Waits between the tries of one write, and tells the first failure. It ends when the write works,
/// or with whoever is told to stop.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    told: bool,
}

impl Patience {
    /// Waits after `error`.
    pub(crate) async fn after(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.told, true) {
            tracing::error!("{error:#}; trying again until it works");
        }
        tokio::time::sleep(WRITE_AGAIN).await;
    }
}
