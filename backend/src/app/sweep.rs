//! Work that depends on time alone: expires commands, fails deployments, and deletes records at the end of their
//! retention.
//!
//! Both the sweep and the purge search with a read-only connection, and take the write lock only for the records that
//! they found. Each transaction changes a bounded number of rows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use link_protocol::{
    deployment::DeploymentState,
    id::{AccountId, CommandId, DeviceId},
};

use crate::{
    app::{App, deploying},
    database::{Connection, lock::Lock, read, write},
    domain::{
        attempts::Peer,
        audit::{Action, system},
        command::State,
        deployment::{self, DeploymentRecord},
        load::Level,
        retention::since,
    },
    failure::AppError,
    host::{metrics, random},
    tables::{Outdated, audit, commands, deployments, locks},
};

/// The number of commands and deployments that one transaction of the sweep changes.
const SWEPT: u32 = 200;
/// The number of deployments that one transaction deletes.
const FORGOTTEN: u32 = 200;
/// The maximum number of transactions per turn for each kind of record. The next turn continues.
const BATCHES: u32 = 50;

/// The changes of a sweep.
#[derive(Debug, Default)]
struct Swept {
    /// The commands that expired.
    expired: Vec<CommandId>,
    /// The devices that have new commands.
    busy: Vec<DeviceId>,
    /// Whether more may be due.
    is_full: bool,
}

impl App {
    /// Expires commands, fails overdue deployments, and stores the times of the devices' last messages.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn sweep(&self) -> Result<(), AppError> {
        let swept = self.sweep_once().await;
        self.note_fault_of(&swept);
        self.try_database().await;
        swept
    }

    fn note_fault_of(&self, outcome: &Result<(), AppError>) {
        if let Err(AppError::Store(error)) = outcome
            && let Some(fault) = error.fault()
        {
            self.health.note(fault);
        }
    }

    async fn sweep_once(&self) -> Result<(), AppError> {
        if !self.leads().await? {
            return self.save_presence_when_due().await;
        }
        for _ in 0..BATCHES {
            let swept = self.sweep_queue().await?;
            metrics::commands_expired(swept.expired.len() as u64);
            for command in swept.expired {
                tracing::info!(%command, "a command expired");
                self.ring_command(command);
            }
            for device in swept.busy {
                self.ring_device(device);
            }
            if !swept.is_full {
                break;
            }
        }
        self.save_presence_when_due().await
    }

    async fn sweep_queue(&self) -> Result<Swept, AppError> {
        let now = self.now();
        let before = deployment::overdue_before(now);
        let (most, devices): (usize, BTreeSet<DeviceId>) = read!(self.store, |db| {
            let overdue = commands::overdue(db, now, SWEPT).await?;
            let stuck = deployments::stuck(db, before, SWEPT).await?;
            let most = overdue.len().max(stuck.len());
            let overdue = overdue.into_iter().map(|record| record.device);
            (most, overdue.chain(stuck.into_iter().map(|record| record.device)).collect())
        });
        if devices.is_empty() {
            return Ok(Swept::default());
        }
        let held: Vec<Lock> = devices.iter().copied().map(locks::device).collect();
        let swept = write!(self.store, held, |db| {
            let mut swept = Swept { is_full: most >= SWEPT as usize, ..Swept::default() };
            let mut overdue = commands::overdue(db, now, SWEPT).await?;
            overdue.retain(|record| devices.contains(&record.device));
            for mut record in overdue {
                if record.sweep(now) {
                    commands::update(db, &record).await?;
                    swept.expired.push(record.id);
                }
            }
            let mut stuck = deployments::stuck(db, before, SWEPT).await?;
            stuck.retain(|record| devices.contains(&record.device));
            for record in stuck {
                swept.busy.extend(fail_stuck(db, record, now).await?);
            }
            swept
        });
        Ok(swept)
    }

    /// Deletes records whose retention is over, up to the limit of one turn.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn purge(&self) -> Result<(), AppError> {
        let purged = self.purge_once().await;
        self.note_fault_of(&purged);
        purged
    }

    async fn purge_once(&self) -> Result<(), AppError> {
        if self.leads().await? {
            self.purge_records().await?;
        }
        self.purge_incomplete().await
    }

    async fn purge_records(&self) -> Result<(), AppError> {
        let now = self.now();
        self.store.purge_expired(now).await?;
        let kept = self.config.retention;
        for (what, before) in [
            (Outdated::Audit, since(now, kept.audit)),
            (Outdated::RefreshTokens, now),
            (Outdated::Sessions, now),
            (Outdated::Idempotency, since(now, kept.idempotency)),
            (Outdated::Logs, since(now, kept.logs)),
            (Outdated::Commands, since(now, kept.commands)),
            (Outdated::Samples, since(now, kept.samples)),
            (Outdated::Usage, since(now, kept.usage)),
            (
                Outdated::Loads,
                since(now, SignedDuration::from_secs(Level::QuarterHour.kept_seconds())),
            ),
        ] {
            for _ in 0..BATCHES {
                if !self.store.forget(what, before).await? {
                    break;
                }
            }
        }
        for _ in 0..BATCHES {
            if !self.forget_deployments(since(now, kept.deployments)).await? {
                break;
            }
        }
        for _ in 0..BATCHES {
            if !self.store.forget_operations(since(now, kept.operations)).await? {
                break;
            }
        }
        for level in [Level::Minute, Level::TenSeconds] {
            for _ in 0..BATCHES {
                if !self.store.fold_loads(level, now).await? {
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

    /// Deletes some of the deployments that ended before `before` and were replaced, with an entry in the audit log of
    /// each account. Returns whether there may be more.
    async fn forget_deployments(&self, before: Timestamp) -> Result<bool, AppError> {
        let found = read!(self.store, |db| deployments::outdated(db, before, 1).await?);
        if found.is_empty() {
            return Ok(false);
        }
        let entry = |account: AccountId, count: u32| {
            let action = Action::PurgeDeployments;
            let entry = self.entry_of(account, system(), Peer::default(), action, account);
            entry.with(&format!("{count}, ended before {before:.0}"))
        };
        let deleted = write!(self.store, [], |db| {
            let outdated = deployments::outdated(db, before, FORGOTTEN).await?;
            let mut accounts: BTreeMap<AccountId, u32> = BTreeMap::new();
            for (id, account) in &outdated {
                deployments::delete(db, *id).await?;
                *accounts.entry(*account).or_default() += 1;
            }
            for (account, count) in accounts {
                audit::insert(db, &entry(account, count)).await?;
            }
            outdated.len()
        });
        Ok(deleted >= FORGOTTEN as usize)
    }
}

/// Fails a deployment without a live command. Returns its device if the device gets a command to end it.
async fn fail_stuck(
    db: &mut Connection,
    mut record: DeploymentRecord,
    now: Timestamp,
) -> Result<Option<DeviceId>, AppError> {
    let command = commands::find(db, record.device, record.command).await?;
    let command = command.map(|command| command.state);
    // The statement finds candidates, and the domain decides.
    if !record.is_stuck(command, now) {
        return Ok(None);
    }
    let has_it = command == Some(State::Acknowledged);
    if has_it {
        let cancel = CommandId::from_uuid(random::uuid());
        let asked = deploying::make_way(db, &mut record, "", cancel, now).await;
        // The deployment fails even if the queue is full.
        if let Err(failure) = asked
            && !matches!(failure, AppError::Refused(_))
        {
            return Err(failure);
        }
    }
    let reason = if has_it { deployment::NOT_BEGUN } else { deployment::NOT_RECEIVED };
    if record.end(DeploymentState::Failed, Some(reason), now) {
        deploying::store_ended(db, record.clone()).await?;
    }
    Ok(has_it.then_some(record.device))
}
