//! How a wish becomes a command among those that wait: a sequence number and a row in the transaction
//! of the caller.

use jiff::Timestamp;
use link_protocol::{
    command::Command,
    id::{CommandId, DeviceId},
};

use crate::{
    database::Connection,
    domain::{
        claim::{Claim, Once},
        command::CommandRecord,
        operation::{Accepted, Event},
        refusal::Refusal,
        wish::{self, Placed},
    },
    failure::Failure,
    tables::{commands, idempotency, operations},
};

/// Stores a wish as the command `id`, or returns the command that is the same wish.
///
/// # Errors
/// [`crate::domain::refusal::Refusal::QueueFull`] and [`Failure::Store`].
pub(super) async fn place(
    db: &mut Connection,
    id: CommandId,
    device: DeviceId,
    wish: &Command,
    idempotency_key: &str,
    now: Timestamp,
) -> Result<CommandRecord, Failure> {
    let open = commands::open(db, device).await?;
    let Placed { changed, same } = wish::place(open, id, device, wish, idempotency_key, now)?;
    for record in &changed {
        commands::update(db, record).await?;
    }
    if let Some(same) = same {
        return Ok(same);
    }
    let seq = commands::next_seq(db, device).await?;
    let record = CommandRecord::new(id, device, seq, wish.clone(), idempotency_key.to_owned(), now);
    commands::insert(db, &record).await?;
    Ok(record)
}

/// Returns the id of what the same request made before.
///
/// # Errors
/// [`crate::domain::refusal::Refusal::IdempotencyConflict`] and [`Failure::Store`].
pub(super) async fn made_before(
    db: &mut Connection,
    once: Once<'_>,
) -> Result<Option<String>, Failure> {
    let Some(claim) = once.claim() else {
        return Ok(None);
    };
    Ok(claim.made(idempotency::find(db, claim).await?)?)
}

/// Notes the id of what a request that named itself made.
///
/// # Errors
/// [`Failure::Store`].
pub(super) async fn remember_id(
    db: &mut Connection,
    claim: Option<&Claim>,
    id: &str,
    now: Timestamp,
) -> Result<(), Failure> {
    Ok(idempotency::remember(db, claim, id, now).await?)
}

/// Notes what was made, so that it is made once.
///
/// # Errors
/// [`Refusal::ItemTaken`] when the item of an operation is not pending any more, and
/// [`Failure::Store`].
pub(super) async fn remember(
    db: &mut Connection,
    once: Once<'_>,
    made: Accepted,
    now: Timestamp,
) -> Result<(), Failure> {
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
