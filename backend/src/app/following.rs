//! The consequences of a command's result, in the transaction that stores the result.

use jiff::Timestamp;
use link_protocol::{id::DeviceId, report::CommandReport};

use crate::{
    database::{Connection, StoreError},
    domain::{
        command::CommandRecord,
        outcome::{self, Consequence},
    },
    tables::deployments,
};

/// Applies the consequences of `report`, the result of `command`.
pub(super) async fn follow(
    db: &mut Connection,
    device: DeviceId,
    command: &CommandRecord,
    report: &CommandReport,
    now: Timestamp,
) -> Result<(), StoreError> {
    let consequence = outcome::of(&command.command, report.status);
    let concerned = match &consequence {
        Consequence::Nothing => Vec::new(),
        Consequence::Ends(_) | Consequence::Carries { .. } | Consequence::Removed(_) => {
            deployments::of_device(db, device).await?
        }
    };
    for record in outcome::changed(&consequence, concerned, device, report, now) {
        deployments::update(db, &record).await?;
    }
    Ok(())
}
