//! What a new wish does to those that wait for the same model on the same device.
//!
//! Within one model the latest wish wins: a repair takes the place of another repair, serve and
//! stop of each other, and an uninstall of all of them; so it does of the updates of the agent.
//! The same wish twice is one command.

use link_protocol::{command::Command, id::CommandId};

use crate::domain::command::CommandRecord;

/// What to do with a new wish.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Placement {
    /// It waits already.
    Same(CommandId),
    /// It is sent, and the commands listed are superseded.
    Send { superseded: Vec<CommandId> },
}

/// Places `wish` among the `open` commands of its device, which are in the order of `seq`.
#[must_use]
pub fn place(open: &[CommandRecord], wish: &Command, idempotency_key: &str) -> Placement {
    let model = wish.model();
    let rivals: Vec<&CommandRecord> =
        open.iter().filter(|record| record.is_open() && record.command.model() == model).collect();
    let same = match wish {
        // Nothing that runs in between changes what a repair does.
        Command::RepairServing(_) | Command::CancelDeploy(_) | Command::UpdateAgent(_) => {
            rivals.iter().rfind(|record| record.idempotency_key == idempotency_key)
        }
        // Serve, stop, serve is not serve, stop: only the newest can be the same wish.
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
    use jiff::Timestamp;
    use link_protocol::{
        allowlist::Allowlist,
        command::{RepairServing, StartServing, StopServing, UninstallModel, UpdateAgent},
        id::{DeviceId, ModelId, PipelineId},
    };
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_same_repair_is_one_command_and_another_takes_its_place() {
        let open = [record(1, repair(1), "a"), record(2, serve(1), "serve")];
        assert_eq!(place(&open, &repair(1), "a"), Placement::Same(id(1)));
        assert_eq!(
            place(&open, &repair(1), "b"),
            Placement::Send { superseded: vec![id(1)] },
            "another port or allowlist"
        );
        assert_eq!(place(&open, &repair(2), "a"), Placement::Send { superseded: vec![] });
    }

    #[test]
    fn an_acknowledged_repair_is_not_the_same_wish_any_more() {
        let mut first = record(1, repair(1), "a");
        first.receipt(link_protocol::envelope::ReceiptKind::Stored, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(place(&[first], &repair(1), "a"), Placement::Send { superseded: vec![] });
    }

    #[test]
    fn of_serve_and_stop_the_latest_wins() {
        let open = [record(1, serve(1), "serve"), record(2, stop(1), "stop")];
        assert_eq!(
            place(&open, &serve(1), "serve"),
            Placement::Send { superseded: vec![id(1), id(2)] }
        );
        assert_eq!(place(&open, &stop(1), "stop"), Placement::Same(id(2)));
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
            place(&open, &uninstall, "uninstall"),
            Placement::Send { superseded: vec![id(1), id(2)] }
        );
    }

    #[test]
    fn of_the_updates_of_the_agent_the_latest_wins() {
        let open = [record(1, serve(1), "serve"), record(2, update(4), "update:1.4.0")];
        assert_eq!(place(&open, &update(4), "update:1.4.0"), Placement::Same(id(2)));
        assert_eq!(
            place(&open, &update(5), "update:1.5.0"),
            Placement::Send { superseded: vec![id(2)] }
        );
    }

    fn record(number: u64, command: Command, key: &str) -> CommandRecord {
        let device = DeviceId::from_uuid(Uuid::from_u128(9));
        let now = Timestamp::UNIX_EPOCH;
        CommandRecord::new(id(u128::from(number)), device, number, command, key.to_owned(), now)
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
