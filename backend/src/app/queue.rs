//! The only durable queue: places commands, delivers them to their devices, and stores receipts and results. Each step
//! is one transaction.

use jiff::Timestamp;
use link_protocol::{
    agent_api::Inflight,
    command::Command,
    counter::Seq,
    envelope::ReceiptKind,
    id::{CommandId, DeviceId},
    report::CommandReport,
};

use crate::{
    app::{
        following::follow,
        placing::{made_before, place, remember},
    },
    database::{Connection, Store, StoreError, write},
    domain::{
        audit::AuditRecord,
        claim::Once,
        command::{self, CommandRecord, Reported, State},
        operation::Accepted,
        refusal::Refusal,
    },
    failure::AppError,
    tables::{
        audit,
        commands::{self, GREETED, WAITING},
        locks,
    },
};

/// The result of a poll.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The commands to deliver, in order.
    pub(super) commands: Vec<CommandRecord>,
    /// The number of commands that were acknowledged because they are in the device's journal.
    pub(super) acknowledged: u64,
    /// The time of the next planned delivery, if none is due now.
    pub(super) next_due: Option<Timestamp>,
}

/// Stores a wish as the command `id`, at the time of `entry`, which is stored in the audit log. If the same request is
/// waiting already, returns its command instead.
///
/// # Errors
/// [`Refusal::NotFound`] if the device is not of the account of `entry` any more, [`Refusal::QueueFull`],
/// [`Refusal::IdempotencyConflict`], [`Refusal::ItemTaken`] and [`AppError::Store`].
pub async fn place_command(
    store: &Store,
    id: CommandId,
    device: DeviceId,
    wish: &Command,
    idempotency_key: &str,
    once: Once<'_>,
    entry: &AuditRecord,
) -> Result<CommandRecord, AppError> {
    let now = entry.at;
    let record = write!(store, [locks::device(device)], |db| {
        if let Some(made) = made_before(db, once).await? {
            let found = commands::find_made(db, device, &made).await?;
            found.ok_or(Refusal::NotFound("command"))?
        } else {
            let owned = (device, Some(entry.account));
            let record = place(db, id, owned, wish, idempotency_key, now).await?;
            remember(db, once, Accepted::Command(record.id), now).await?;
            audit::insert(db, entry).await?;
            record
        }
    });
    Ok(record)
}

/// Applies a receipt. Returns whether the receipt acknowledged the command.
///
/// # Errors
/// [`Refusal::CommandExpired`], [`Refusal::NotFound`] and [`AppError::Store`].
pub async fn take_receipt(
    store: &Store,
    device: DeviceId,
    id: CommandId,
    kind: ReceiptKind,
    now: Timestamp,
) -> Result<bool, AppError> {
    let is_new = write!(store, [locks::device(device)], |db| {
        let found = commands::find(db, device, id).await?;
        let mut record = found.ok_or(Refusal::NotFound("command"))?;
        let before = record.state;
        record.receipt(kind, now).map_err(|_too_late| Refusal::CommandExpired)?;
        commands::update(db, &record).await?;
        before != record.state && record.state == State::Acknowledged
    });
    Ok(is_new)
}

/// Stores the result of a command and applies its consequences.
///
/// # Errors
/// [`Refusal::CommandExpired`], [`Refusal::NotFound`] and [`AppError::Store`].
pub(super) async fn take_result(
    store: &Store,
    device: DeviceId,
    report: &CommandReport,
    now: Timestamp,
) -> Result<(), AppError> {
    write!(store, [locks::device(device)], |db| {
        let found = commands::find(db, device, report.command_id).await?;
        let mut record = found.ok_or(Refusal::NotFound("command"))?;
        let reported =
            record.report(report.clone(), now).map_err(|_too_late| Refusal::CommandExpired)?;
        commands::update(db, &record).await?;
        if reported == Reported::First {
            follow(db, device, &record, report, now).await?;
        }
    });
    Ok(())
}

/// Acknowledges the commands that the device has in its journal up to `after`, then takes the commands for a poll and
/// counts their deliveries.
///
/// # Errors
/// [`StoreError`].
pub(super) async fn take_due(
    store: &Store,
    device: DeviceId,
    after: Seq,
    now: Timestamp,
) -> Result<Taken, StoreError> {
    let taken = write!(store, [locks::device(device)], |db| {
        let mut waiting = commands::list(db, WAITING, device).await?;
        let mut acknowledged = 0;
        for record in &mut waiting {
            let before = record.state;
            if record.journaled(after, now) {
                acknowledged +=
                    u64::from(before != record.state && record.state == State::Acknowledged);
                commands::update(db, record).await?;
            }
        }
        let next_due = command::next_due(&waiting, now);
        Taken { commands: deliver_due(db, waiting, now).await?, acknowledged, next_due }
    });
    Ok(taken)
}

/// Compares the unfinished commands with the hello of the device, and takes the commands that the device lacks.
///
/// # Errors
/// [`StoreError`].
pub(super) async fn greet(
    store: &Store,
    device: DeviceId,
    inflight: &[Inflight],
    last_seq: Seq,
    now: Timestamp,
) -> Result<Vec<CommandRecord>, StoreError> {
    let taken = write!(store, [locks::device(device)], |db| {
        let mut unfinished = commands::list(db, GREETED, device).await?;
        for record in &mut unfinished {
            let was_open = record.result.is_none();
            record.hello(inflight, last_seq, now);
            commands::update(db, record).await?;
            if let Some(outcome) = record.result.as_ref().filter(|_| was_open) {
                follow(db, device, record, &outcome.report, now).await?;
            }
        }
        deliver_due(db, unfinished, now).await?
    });
    Ok(taken)
}

async fn deliver_due(
    db: &mut Connection,
    mut records: Vec<CommandRecord>,
    now: Timestamp,
) -> Result<Vec<CommandRecord>, StoreError> {
    let mut taken = Vec::new();
    for place in command::due(&records, now) {
        records[place].deliver(now);
        commands::update(db, &records[place]).await?;
        taken.push(records[place].clone());
    }
    Ok(taken)
}
