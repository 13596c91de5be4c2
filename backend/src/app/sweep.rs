//! Work that is due by time alone: commands expire, deployments fail, and records are deleted once their
//! retention is over.
//!
//! Both look with a connection that only reads, and take a turn as the writer only for what they found. Each
//! transaction has a bounded number of rows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
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
        retention::since,
    },
    failure::Failure,
    host::{metrics, random},
    tables::{Outdated, audit, commands, deployments, locks},
};

/// Commands and deployments that one transaction of the sweep changes.
const SWEPT: u32 = 200;
/// Deployments that one transaction deletes.
const FORGOTTEN: u32 = 200;
/// Transactions of one turn for each kind of record; what is left waits for the next turn.
const BATCHES: u32 = 50;

/// What a sweep changed.
#[derive(Debug, Default)]
struct Swept {
    /// The commands that expired.
    expired: Vec<CommandId>,
    /// The devices that have something new to do.
    busy: Vec<DeviceId>,
    /// Whether more may be due.
    is_full: bool,
}

impl App {
    /// Expires commands and fails overdue deployments; stores when devices were last heard.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn sweep(&self) -> Result<(), Failure> {
        let swept = self.sweep_once().await;
        self.note_fault_of(&swept);
        self.try_database().await;
        swept
    }

    fn note_fault_of(&self, outcome: &Result<(), Failure>) {
        if let Err(Failure::Store(error)) = outcome
            && let Some(fault) = error.fault()
        {
            self.health.note(fault);
        }
    }

    async fn sweep_once(&self) -> Result<(), Failure> {
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

    async fn sweep_queue(&self) -> Result<Swept, Failure> {
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

    /// Deletes records whose retention is over, as many as one turn allows.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn purge(&self) -> Result<(), Failure> {
        let purged = self.purge_once().await;
        self.note_fault_of(&purged);
        purged
    }

    async fn purge_once(&self) -> Result<(), Failure> {
        if self.leads().await? {
            self.purge_records().await?;
        }
        self.purge_incomplete().await
    }

    async fn purge_records(&self) -> Result<(), Failure> {
        let now = self.now();
        self.store.purge_expired(now).await?;
        let kept = self.config.retention;
        for (what, before) in [
            (Outdated::Audit, since(now, kept.audit)),
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
            if !self.forget_deployments(since(now, kept.deployments)).await? {
                break;
            }
        }
        for _ in 0..BATCHES {
            if !self.store.forget_operations(since(now, kept.operations)).await? {
                break;
            }
        }
        for _ in 0..BATCHES {
            if !self.store.fold_usage(since(now, kept.usage_hours)).await? {
                break;
            }
        }
        Ok(())
    }

    /// Deletes some of the deployments that are history since before `before`, with an entry in the audit log of
    /// each account; returns whether there may be more.
    async fn forget_deployments(&self, before: Timestamp) -> Result<bool, Failure> {
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

/// Fails a deployment that no command moves any more; returns its device when the device is told to end it.
async fn fail_stuck(
    db: &mut Connection,
    mut record: DeploymentRecord,
    now: Timestamp,
) -> Result<Option<DeviceId>, Failure> {
    let command = commands::find(db, record.device, record.command).await?;
    let command = command.map(|command| command.state);
    // The statement finds candidates; the domain decides.
    if !record.is_stuck(command, now) {
        return Ok(None);
    }
    let has_it = command == Some(State::Acknowledged);
    if has_it {
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
    Ok(has_it.then_some(record.device))
}
