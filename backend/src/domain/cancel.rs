//! Cancels an unfinished deployment: at once if its command was never delivered, otherwise with a command to the
//! device.

use jiff::Timestamp;
use link_protocol::{
    command::{CancelDeploy, Command},
    deployment::DeploymentState,
};

use crate::domain::{command::CommandRecord, deployment::DeploymentRecord};

/// Cancels `deployment`, whose command is `command`, or returns the command that asks the device to cancel it.
#[must_use]
pub fn cancel(
    deployment: &mut DeploymentRecord,
    command: Option<&mut CommandRecord>,
    reason: &str,
    now: Timestamp,
) -> Option<Command> {
    let unsent = command.filter(|command| command.is_open() && command.attempt == 0);
    let Some(command) = unsent else {
        return Some(Command::CancelDeploy(CancelDeploy {
            deployment_id: deployment.id,
            model_id: deployment.model,
        }));
    };
    command.supersede(None, now);
    deployment.end(DeploymentState::Cancelled, Some(reason), now);
    None
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        allowlist::Allowlist,
        command::ProxyFeatures,
        counter::Seq,
        id::{CommandId, DeploymentId, DeviceId, ModelId},
        local_api::Progress,
        port::Port,
    };
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_command_that_was_never_sent_ends_with_its_deployment() {
        let (mut deployment, mut command) = under_way();
        assert_eq!(cancel(&mut deployment, Some(&mut command), "why", now()), None);
        assert_eq!(deployment.state, DeploymentState::Cancelled);
        assert_eq!(deployment.reason.as_deref(), Some("why"));
        assert!(!command.is_open());
    }

    #[test]
    fn a_device_that_may_have_the_command_is_asked() {
        let (mut deployment, mut command) = under_way();
        command.deliver(now());
        let before = (deployment.clone(), command.clone());
        let asked = cancel(&mut deployment, Some(&mut command), "why", now());
        assert!(matches!(asked, Some(Command::CancelDeploy(_))), "{asked:?}");
        assert_eq!((deployment, command), before);
    }

    fn under_way() -> (DeploymentRecord, CommandRecord) {
        let (id, model) = (Uuid::from_u128(1), ModelId::from_uuid(Uuid::from_u128(2)));
        let (deployment, device) = (DeploymentId::from_uuid(id), DeviceId::from_uuid(id));
        let command = CommandId::from_uuid(id);
        let wish =
            Command::CancelDeploy(CancelDeploy { deployment_id: deployment, model_id: model });
        let record = DeploymentRecord {
            id: deployment,
            model,
            device,
            command,
            alias: "tiny".parse().unwrap(),
            port: Port::try_from(8080_u16).unwrap(),
            state: DeploymentState::Queued,
            reason: None,
            progress: Progress { bytes_done: 0, bytes_total: 1 },
            allowlist: Allowlist::new([]),
            proxy: ProxyFeatures::default(),
            settings: link_protocol::plugin::Settings::default(),
            removed: false,
            created_at: now(),
            updated_at: now(),
        };
        (record, CommandRecord::new(command, device, Seq(1), wish, "key".to_owned(), now()))
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}
