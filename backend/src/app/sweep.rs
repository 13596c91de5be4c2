//! What time alone does.

use jiff::{SignedDuration, Timestamp};
use link_protocol::id::CommandId;

use crate::{app::App, chance, failure::Failure, numbers};

/// How long an idempotency key stands for its request.
const IDEMPOTENCY_KEPT: SignedDuration = SignedDuration::from_hours(24);

impl App {
    /// Expires commands and fails overdue deployments; stores who was heard.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn sweep(&self) -> Result<(), Failure> {
        let new_id = || CommandId::from_uuid(chance::uuid());
        let (expired, busy) = self.store.sweep(self.now(), new_id).await?;
        numbers::commands_expired(expired.len() as u64);
        for command in expired {
            tracing::info!(%command, "a command expired");
            self.results.ring(command);
        }
        for device in busy {
            self.polls.ring(device);
        }
        self.save_presence_when_due().await
    }

    /// Deletes what has outlived its use.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn purge(&self) -> Result<(), Failure> {
        let now = self.now();
        let kept_since = now.checked_sub(IDEMPOTENCY_KEPT).unwrap_or(Timestamp::MIN);
        self.purge_audit().await?;
        self.store.purge_expired(now).await?;
        Ok(self.store.purge(now, kept_since).await?)
    }
}
