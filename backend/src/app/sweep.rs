//! What time alone does.

use link_protocol::id::CommandId;

use crate::{
    app::App, chance, domain::retention::since, failure::Failure, numbers, tables::Outdated,
};

/// Transactions of one turn for each kind of record; what is left waits for the next turn.
const BATCHES: u32 = 50;

impl App {
    /// Expires commands and fails overdue deployments; stores who was heard.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn sweep(&self) -> Result<(), Failure> {
        let swept = self.sweep_once().await;
        self.note_room(&swept);
        swept
    }

    async fn sweep_once(&self) -> Result<(), Failure> {
        let new_id = || CommandId::from_uuid(chance::uuid());
        let (expired, busy) = self.store.sweep(self.now(), new_id).await?;
        numbers::commands_expired(expired.len() as u64);
        for command in expired {
            tracing::info!(%command, "a command expired");
            self.ring_command(command);
        }
        for device in busy {
            self.ring_device(device);
        }
        self.save_presence_when_due().await
    }

    /// Deletes what has outlived its use, as much as one turn allows.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn purge(&self) -> Result<(), Failure> {
        let now = self.now();
        self.purge_audit().await?;
        self.store.purge_expired(now).await?;
        let kept = self.config.retention;
        for (what, before) in [
            (Outdated::RefreshTokens, now),
            (Outdated::Idempotency, since(now, kept.idempotency)),
            (Outdated::Logs, since(now, kept.logs)),
            (Outdated::Commands, since(now, kept.commands)),
            (Outdated::Samples, since(now, kept.samples)),
            (Outdated::Usage, since(now, kept.usage)),
        ] {
            for _ in 0..BATCHES {
                if !self.store.forget(what, before).await? {
                    break;
                }
            }
        }
        for _ in 0..BATCHES {
            if !self.store.fold_usage(since(now, kept.usage_hours)).await? {
                break;
            }
        }
        Ok(())
    }
}
