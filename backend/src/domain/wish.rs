//! Decides which waiting commands a new command replaces.
//!
//! Of the commands for one model, the latest wins: a repair replaces a repair, serve and stop replace each other, and
//! an uninstall replaces all of them. Likewise, a new update of the agent replaces an older one. The same command twice
//! is stored once.

use jiff::Timestamp;
use link_protocol::{
    command::Command,
    id::{CommandId, DeviceId},
};

use crate::domain::{command::CommandRecord, refusal::Refusal};

/// The effect of a new command on the waiting commands of its device.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The commands that expired or were superseded.
    pub changed: Vec<CommandRecord>,
    /// The waiting command that is the same request. If `None`, the new command is stored.
    pub same: Option<CommandRecord>,
}

/// The decision about a new command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Placement {
    /// The same command is waiting already.
    Same(CommandId),
    /// The new command is sent and supersedes these commands.
    Send { superseded: Vec<CommandId> },
}

/// Adds `wish` with the id `id` to the `open` commands of its device, which are ordered by `seq`.
///
/// # Errors
/// [`Refusal::QueueFull`] if the queue of the device is full.
/// [`Refusal::QueueFull`].
pub fn place(
    mut open: Vec<CommandRecord>,
    id: CommandId,
    device: DeviceId,
    wish: &Command,
    idempotency_key: &str,
    now: Timestamp,
) -> Result<Placed, Refusal> {
    let mut changed = Vec::new();
    for record in &mut open {
        if record.sweep(now) {
            changed.push(record.clone());
        }
    }
    let superseded = match placement(&open, wish, idempotency_key) {
        Placement::Same(same) => {
            return Ok(Placed { changed, same: open.into_iter().find(|record| record.id == same) });
        }
        Placement::Send { superseded } => superseded,
    };
    for record in open.iter_mut().filter(|record| superseded.contains(&record.id)) {
        record.supersede(Some(id), now);
        changed.push(record.clone());
    }
    let waiting = open.iter().filter(|record| record.is_open()).count();
    if waiting >= wish.lane().queue_limit() {
        return Err(Refusal::QueueFull(device));
    }
    Ok(Placed { changed, same: None })
}

/// Decides how `wish` relates to the `open` commands of its device, which are ordered by `seq`.
#[must_use]
pub fn placement(open: &[CommandRecord], wish: &Command, idempotency_key: &str) -> Placement {
    let model = wish.model();
    let rivals: Vec<&CommandRecord> =
        open.iter().filter(|record| record.is_open() && record.command.model() == model).collect();
    let same = match wish {
        // The effect of a repair does not depend on the commands in between.
        Command::RepairServing(_) | Command::CancelDeploy(_) | Command::UpdateAgent(_) => {
            rivals.iter().rfind(|record| record.idempotency_key == idempotency_key)
        }
        // Serve, stop, serve differs from serve, stop: only the newest command can be the same request.
        Command::DeployModel(_)
        | Command::UpdateModel(_)
        | Command::StartServing(_)
        | Command::StopServing(_)
        | Command::UpdatePipeline(_)
        | Command::UninstallModel(_) => {
            rivals.last().filter(|record| record.idempotency_key == idempotency_key)
        }
    };
    if let Some(record) = same {
        return Placement::Same(record.id);
    }
    let superseded = rivals
        .iter()
        .filter(|record| {
            wish.replaces(&record.command) || record.idempotency_key == idempotency_key
        })
        .map(|record| record.id)
        .collect();
    Placement::Send { superseded }
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        allowlist::Allowlist,
        command::{RepairServing, StartServing, StopServing, UninstallModel, UpdateAgent},
        counter::Seq,
        id::{ModelId, PipelineId},
    };
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_same_repair_is_one_command_and_another_takes_its_place() {
        let open = [record(1, repair(1), "a"), record(2, serve(1), "serve")];
        assert_eq!(placement(&open, &repair(1), "a"), Placement::Same(id(1)));
        assert_eq!(
            placement(&open, &repair(1), "b"),
            Placement::Send { superseded: vec![id(1)] },
            "another port or allowlist"
        );
        assert_eq!(placement(&open, &repair(2), "a"), Placement::Send { superseded: vec![] });
    }

    #[test]
    fn an_acknowledged_repair_is_not_the_same_wish_any_more() {
        let mut first = record(1, repair(1), "a");
        first.receipt(link_protocol::envelope::ReceiptKind::Stored, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(placement(&[first], &repair(1), "a"), Placement::Send { superseded: vec![] });
    }

    #[test]
    fn of_serve_and_stop_the_latest_wins() {
        let open = [record(1, serve(1), "serve"), record(2, stop(1), "stop")];
        assert_eq!(
            placement(&open, &serve(1), "serve"),
            Placement::Send { superseded: vec![id(1), id(2)] }
        );
        assert_eq!(placement(&open, &stop(1), "stop"), Placement::Same(id(2)));
    }

    #[test]
    fn an_uninstall_ends_what_waits_for_the_model() {
        let open =
            [record(1, serve(1), "serve"), record(2, repair(1), "a"), record(3, serve(2), "s")];
        let uninstall = Command::UninstallModel(UninstallModel {
            pipeline_id: PipelineId::of(model(1)),
            model_id: model(1),
        });
        assert_eq!(
            placement(&open, &uninstall, "uninstall"),
            Placement::Send { superseded: vec![id(1), id(2)] }
        );
    }

    #[test]
    fn of_the_updates_of_the_agent_the_latest_wins() {
        let open = [record(1, serve(1), "serve"), record(2, update(4), "update:1.4.0")];
        assert_eq!(placement(&open, &update(4), "update:1.4.0"), Placement::Same(id(2)));
        assert_eq!(
            placement(&open, &update(5), "update:1.5.0"),
            Placement::Send { superseded: vec![id(2)] }
        );
    }

    #[test]
    fn placing_a_wish_expires_and_supersedes_what_waits() {
        let late = Timestamp::UNIX_EPOCH;
        let now = late.checked_add(jiff::SignedDuration::from_hours(24 * 365)).unwrap();
        let device = DeviceId::from_uuid(Uuid::from_u128(9));
        let fresh = |number, command, key: &str| {
            CommandRecord::new(id(number), device, Seq(1), command, key.to_owned(), now)
        };
        let open = vec![record(1, serve(2), "serve"), fresh(2, repair(1), "a")];
        let placed = place(open.clone(), id(3), device, &repair(1), "b", now).unwrap();
        let changed: Vec<_> = placed.changed.iter().map(|record| record.id).collect();
        assert_eq!((changed, placed.same), (vec![id(1), id(2)], None));
        let placed = place(open, id(3), device, &repair(1), "a", now).unwrap();
        let changed: Vec<_> = placed.changed.iter().map(|record| record.id).collect();
        assert_eq!((changed, placed.same.map(|same| same.id)), (vec![id(1)], Some(id(2))));
    }

    #[test]
    fn a_full_queue_takes_no_wish() {
        let most = repair(0).lane().queue_limit();
        let open: Vec<_> = (1..=most as u64)
            .map(|number| record(number, repair(u128::from(number)), "a"))
            .collect();
        let (device, now) = (DeviceId::from_uuid(Uuid::from_u128(9)), Timestamp::UNIX_EPOCH);
        let refused = place(open, id(9999), device, &repair(0), "a", now).unwrap_err();
        assert_eq!(refused, Refusal::QueueFull(device));
    }

    fn record(number: u64, command: Command, key: &str) -> CommandRecord {
        let device = DeviceId::from_uuid(Uuid::from_u128(9));
        let now = Timestamp::UNIX_EPOCH;
        CommandRecord::new(
            id(u128::from(number)),
            device,
            Seq(number),
            command,
            key.to_owned(),
            now,
        )
    }

    fn repair(number: u128) -> Command {
        Command::RepairServing(RepairServing {
            pipeline_id: PipelineId::of(model(number)),
            model_id: model(number),
            allowlist: Allowlist::new([]),
            port: None,
        })
    }

    fn serve(number: u128) -> Command {
        let model_id = model(number);
        Command::StartServing(StartServing {
            pipeline_id: PipelineId::of(model_id),
            model_id,
            port: None,
        })
    }

    fn stop(number: u128) -> Command {
        let model_id = model(number);
        Command::StopServing(StopServing { pipeline_id: PipelineId::of(model_id), model_id })
    }

    fn update(minor: u64) -> Command {
        Command::UpdateAgent(UpdateAgent { version: semver::Version::new(1, minor, 0) })
    }

    fn model(number: u128) -> ModelId {
        ModelId::from_uuid(Uuid::from_u128(number))
    }

    fn id(number: u128) -> CommandId {
        CommandId::from_uuid(Uuid::from_u128(number))
    }
}
