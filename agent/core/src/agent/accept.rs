//! Accepts deliveries: verifies each one, recognizes repeats, stores new commands, and ends work
//! that a new command makes unnecessary.

use link_protocol::{
    command::Command,
    envelope::{InvalidCommand, Receipt, ReceiptKind},
    id::ModelId,
    report::CommandResult,
    signing::{Signed, Untrusted},
};

use super::Agent;
use crate::{
    deployment,
    effect::{Effect, Note, Turn},
};

/// The reason why a delivery was ignored.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    #[error("the command is for another device")]
    Device,
    #[error("the command belongs to another registration of this device")]
    Epoch,
    #[error("too many commands are waiting; the backend will deliver this one again")]
    NoRoom,
}

impl Agent {
    pub(super) fn accept_all(&mut self, commands: Vec<Signed>, turn: &mut Turn) {
        for signed in commands {
            let Err(refused) = self.accept(&signed, turn) else { continue };
            let full = matches!(refused, NotTaken::NoRoom);
            let reason = refused.to_string();
            turn.effects.push(Effect::Log(match refused {
                NotTaken::Untrusted(_) => Note::Untrusted { reason },
                NotTaken::Device | NotTaken::Epoch | NotTaken::NoRoom => Note::Refused { reason },
            }));
            if full {
                // Stop here: if a later command were stored first, its sequence number would also
                // acknowledge this command.
                return;
            }
        }
    }

    /// Accepts one delivery, or returns the reason why the delivery was ignored.
    fn accept(&mut self, signed: &Signed, turn: &mut Turn) -> Result<(), NotTaken> {
        let envelope = signed.open(&self.pinned)?;
        if envelope.device_id != self.identity.device_id {
            return Err(NotTaken::Device);
        }
        if envelope.epoch != self.identity.epoch {
            return Err(NotTaken::Epoch);
        }
        if let Some(receipt) = self.ledger.repeat(&envelope) {
            turn.effects.push(Effect::SendReceipt(receipt));
            return Ok(());
        }
        if envelope.ttl_ms == 0 || self.clock.has_passed(envelope.expires_at, turn.now) {
            turn.effects.push(Effect::SendReceipt(Receipt {
                command_id: envelope.command_id,
                attempt: envelope.attempt,
                receipt: ReceiptKind::Expired,
                result: None,
            }));
            return Ok(());
        }
        if !self.ledger.has_room(envelope.lane) {
            return Err(NotTaken::NoRoom);
        }
        let command = envelope.command();
        let receipt = self.ledger.store(&envelope, command.clone().ok(), &mut turn.changes);
        turn.effects.push(Effect::SendReceipt(receipt));
        match command {
            Ok(command) => {
                let note = Note::Accepted { command: envelope.command_id.to_string() };
                turn.effects.push(Effect::Log(note));
                // A command that was held back overtakes nothing newer.
                if self.ledger.replaced_by(envelope.command_id).is_none() {
                    self.overtake(&command, turn);
                }
            }
            Err(invalid) => {
                let command = envelope.command_id.to_string();
                let note = Note::Invalid { command, fault: envelope.fault() };
                turn.effects.push(Effect::Log(note));
                let status = match invalid {
                    InvalidCommand::Malformed => CommandResult::Failed,
                    InvalidCommand::Mismatched | InvalidCommand::UnsafeFileName => {
                        CommandResult::Rejected
                    }
                };
                turn.report_command(envelope.command_id, status, invalid.to_string());
            }
        }
        Ok(())
    }

    /// Ends a start or download of the same model that is still in progress, so that a command to
    /// stop or replace that model does not wait behind it.
    fn overtake(&mut self, command: &Command, turn: &mut Turn) {
        let reason = "ended by a newer command";
        match command {
            Command::StopServing(stop) => {
                self.pipelines.abort_start(stop.pipeline_id, reason, turn);
            }
            Command::UninstallModel(uninstall) => {
                self.pipelines.abort_start(uninstall.pipeline_id, reason, turn);
                self.stop_deployment(uninstall.model_id, reason, turn);
            }
            Command::DeployModel(deploy) | Command::UpdateModel(deploy) => {
                self.stop_deployment(deploy.model.model_id, reason, turn);
            }
            Command::CancelDeploy(_)
            | Command::StartServing(_)
            | Command::RepairServing(_)
            | Command::UpdatePipeline(_)
            | Command::UpdateAgent(_) => {}
        }
    }

    fn stop_deployment(&mut self, model: ModelId, reason: &str, turn: &mut Turn) {
        let wanted = deployment::deploys(model);
        self.deployments.stop(wanted, CommandResult::Cancelled, reason, turn);
    }
}
