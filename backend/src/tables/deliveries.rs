//! Deliveries: what a device takes of the commands that wait for it.

use jiff::Timestamp;
use link_protocol::{agent_api::Inflight, id::DeviceId};

use crate::{
    database::{Connection, Store, StoreError, write},
    domain::{
        command::{self, CommandRecord, State},
        outcome,
    },
    tables::{
        commands::{GREETED, WAITING, list, update},
        deployments,
    },
};

/// What a poll takes.
#[derive(Clone, Debug)]
pub struct Taken {
    /// What is delivered, in order.
    pub commands: Vec<CommandRecord>,
    /// How many commands the end of the device's journal acknowledged.
    pub acknowledged: u64,
    /// When the next delivery is planned, when none is due.
    pub next_due: Option<Timestamp>,
}

impl Store {
    /// Counts what the device has in its journal up to `after` as acknowledged, and takes what a
    /// poll answers with, each delivery counted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn take_commands(
        &self,
        device: DeviceId,
        after: u64,
        now: Timestamp,
    ) -> Result<Taken, StoreError> {
        let taken = write!(self, |db| {
            let mut waiting = list(db, WAITING, device).await?;
            let mut acknowledged = 0;
            for record in &mut waiting {
                let before = record.state;
                if record.journaled(after, now) {
                    acknowledged +=
                        u64::from(before != record.state && record.state == State::Acknowledged);
                    update(db, record).await?;
                }
            }
            let next_due = command::next_due(&waiting, now);
            Taken { commands: deliver_due(db, waiting, now).await?, acknowledged, next_due }
        });
        Ok(taken)
    }

    /// Compares what is unfinished with what the device says it has, and takes what it lacks.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn greet_commands(
        &self,
        device: DeviceId,
        inflight: &[Inflight],
        last_seq: u64,
        now: Timestamp,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        let taken = write!(self, |db| {
            let mut unfinished = list(db, GREETED, device).await?;
            for record in &mut unfinished {
                let before = record.clone();
                record.hello(inflight, last_seq, now);
                update(db, record).await?;
                let gave_up = before.result.is_none().then_some(record.result.as_ref()).flatten();
                if let Some(outcome) = gave_up {
                    let status = outcome.report.status;
                    let consequence = outcome::of(&record.command, status);
                    deployments::follow(db, device, &consequence, &outcome.report, now).await?;
                }
            }
            deliver_due(db, unfinished, now).await?
        });
        Ok(taken)
    }
}

async fn deliver_due(
    db: &mut Connection,
    mut records: Vec<CommandRecord>,
    now: Timestamp,
) -> Result<Vec<CommandRecord>, StoreError> {
    let mut taken = Vec::new();
    for place in command::due(&records, now) {
        records[place].deliver(now);
        update(db, &records[place]).await?;
        taken.push(records[place].clone());
    }
    Ok(taken)
}
