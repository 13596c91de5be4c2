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
        claim::Claim,
        command::CommandRecord,
        wish::{self, Placed},
    },
    failure::Failure,
    tables::{commands, idempotency},
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
    claim: Option<&Claim>,
) -> Result<Option<String>, Failure> {
    let Some(claim) = claim else {
        return Ok(None);
    };
    Ok(claim.made(idempotency::find(db, claim).await?)?)
}
