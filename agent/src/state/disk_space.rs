//! Retries writes to a full disk: space may be freed later, and serving continues meanwhile.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for disk space")]

use std::time::Duration;

/// The wait before a write is retried.
const WRITE_AGAIN: Duration = Duration::from_secs(2);

/// Waits between the attempts of one write, and logs the first failure. The number of retries is
/// unlimited, so the caller must also watch for a stop.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    is_logged: bool,
}

impl Patience {
    /// Waits after `error`.
    pub(crate) async fn after(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.is_logged, true) {
            tracing::error!("{error:#}; retrying until it succeeds");
        }
        tokio::time::sleep(WRITE_AGAIN).await;
    }
}
