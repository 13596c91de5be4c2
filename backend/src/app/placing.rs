//! Adds a command to the queue of its device: a sequence number and a row, in the transaction of the caller.

use jiff::Timestamp;
use link_protocol::{
    command::Command,
    id::{AccountId, CommandId, DeviceId},
};

use crate::{
    database::Connection,
    domain::{
        claim::{Claim, Once},
        command::CommandRecord,
        operation::{Accepted, Event},
        ownership,
        refusal::Refusal,
        wish::{self, Placed},
    },
    failure::AppError,
    tables::{commands, devices, idempotency, operations},
};

/// Stores `wish` as the command `id`, or returns the waiting command that is the same request. With an owner, the device
/// must still belong to that account: the caller read so before this transaction, and a transfer may have come between.
///
/// # Errors
/// [`Refusal::NotFound`], [`Refusal::QueueFull`] and [`AppError::Store`].
pub(super) async fn place(
    db: &mut Connection,
    id: CommandId,
    (device, owner): (DeviceId, Option<AccountId>),
    wish: &Command,
    idempotency_key: &str,
    now: Timestamp,
) -> Result<CommandRecord, AppError> {
    let open = commands::open(db, device).await?;
    let Placed { changed, same } = wish::place(open, id, device, wish, idempotency_key, now)?;
    for record in &changed {
        commands::update(db, record).await?;
    }
    if let Some(same) = same {
        if let Some(owner) = owner {
            ownership::own_device(devices::find(db, device).await?, owner)?;
        }
        return Ok(same);
    }
    let (seq, account) = commands::next_seq(db, device).await?;
    if owner.is_some_and(|owner| owner != account) {
        return Err(Refusal::NotFound("device").into());
    }
    let record = CommandRecord::new(id, device, seq, wish.clone(), idempotency_key.to_owned(), now);
    commands::insert(db, account, &record).await?;
    Ok(record)
}

/// Returns the id that an earlier request with the same idempotency key created.
///
/// # Errors
/// [`crate::domain::refusal::Refusal::IdempotencyConflict`] and [`AppError::Store`].
pub(super) async fn made_before(
    db: &mut Connection,
    once: Once<'_>,
) -> Result<Option<String>, AppError> {
    let Some(claim) = once.claim() else {
        return Ok(None);
    };
    Ok(claim.made(idempotency::find(db, claim).await?)?)
}

/// Stores the id that a request with an idempotency key created.
///
/// # Errors
/// [`AppError::Store`].
pub(super) async fn remember_id(
    db: &mut Connection,
    claim: Option<&Claim>,
    id: &str,
    now: Timestamp,
) -> Result<(), AppError> {
    Ok(idempotency::remember(db, claim, id, now).await?)
}

/// Stores the outcome of a request, so that a repetition of the request does nothing.
///
/// # Errors
/// [`Refusal::ItemTaken`] if the operation item is not pending any more, and [`AppError::Store`].
pub(super) async fn remember(
    db: &mut Connection,
    once: Once<'_>,
    made: Accepted,
    now: Timestamp,
) -> Result<(), AppError> {
    match once {
        Once::Never => {}
        Once::Key(claim) => {
            let reference = match made {
                Accepted::Command(id) => id.to_string(),
                Accepted::Deployment(id, _) => id.to_string(),
                Accepted::Done => String::new(),
            };
            remember_id(db, Some(claim), &reference, now).await?;
        }
        Once::Item(item) => {
            let next = item.handle(Event::Accepted(made), now).ok_or(Refusal::ItemTaken)?;
            if !operations::change_item(db, item.state, &next).await? {
                return Err(Refusal::ItemTaken.into());
            }
        }
    }
    Ok(())
}
