//! What time alone does.

use std::collections::BTreeSet;

use link_protocol::{
    deployment::DeploymentState,
    id::{CommandId, DeviceId},
};

use crate::{
    app::{App, deploying},
    database::{lock::Lock, read, write},
    domain::{command::State, deployment, retention::since},
    failure::Failure,
    host::{metrics, random},
    tables::{Outdated, commands, deployments, locks},
};

/// Transactions of one turn for each kind of record; what is left waits for the next turn.
const BATCHES: u32 = 50;

/// What a sweep changed.
#[derive(Debug, Default)]
struct Swept {
    /// The commands that expired.
    expired: Vec<CommandId>,
    /// The devices that have something new to do.
    busy: Vec<DeviceId>,
}

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
        let Swept { expired, busy } = self.sweep_queue().await?;
        metrics::commands_expired(expired.len() as u64);
        for command in expired {
            tracing::info!(%command, "a command expired");
            self.ring_command(command);
        }
        for device in busy {
            self.ring_device(device);
        }
        self.save_presence_when_due().await
    }

    async fn sweep_queue(&self) -> Result<Swept, Failure> {
        let now = self.now();
        let before = deployment::overdue_before(now);
        let devices: BTreeSet<DeviceId> = read!(self.store, |db| {
            let overdue = commands::overdue(db, now).await?;
            let stuck = deployments::stuck(db, before).await?;
            let overdue = overdue.into_iter().map(|record| record.device);
            overdue.chain(stuck.into_iter().map(|record| record.device)).collect()
        });
        if devices.is_empty() {
            return Ok(Swept::default());
        }
        let held: Vec<Lock> = devices.iter().copied().map(locks::device).collect();
        let swept = write!(self.store, held, |db| {
            let mut swept = Swept::default();
            for mut record in commands::overdue(db, now).await? {
                if !devices.contains(&record.device) {
                    continue;
                }
                if record.sweep(now) {
                    commands::update(db, &record).await?;
                    swept.expired.push(record.id);
                }
            }
            for mut record in deployments::stuck(db, before).await? {
                if !devices.contains(&record.device) {
                    continue;
                }
                let command = commands::find(db, record.device, record.command).await?;
                let command = command.map(|command| command.state);
                // The statement finds candidates; the domain decides.
                if !record.is_stuck(command, now) {
                    continue;
                }
                let has_it = command == Some(State::Acknowledged);
                if has_it {
                    swept.busy.push(record.device);
                    let cancel = CommandId::from_uuid(random::uuid());
                    let asked = deploying::make_way(db, &mut record, "", cancel, now).await;
                    // A full queue is no reason to keep the deployment alive.
                    if let Err(failure) = asked
                        && !matches!(failure, Failure::Refused(_))
                    {
                        return Err(failure);
                    }
                }
                let reason = if has_it { deployment::NOT_BEGUN } else { deployment::NOT_RECEIVED };
                if record.end(DeploymentState::Failed, Some(reason), now) {
                    deployments::update(db, &record).await?;
                }
            }
            swept
        });
        Ok(swept)
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
        self.purge_incomplete().await
    }
}
