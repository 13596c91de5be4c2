//! How deliveries are taken: verified, told apart from repeats, written down, and let overtake what
//! they make needless.

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

/// Why a delivery had no effect at all.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    #[error("it is for another device")]
    Device,
    #[error("it is of another registration")]
    Epoch,
    #[error("too many commands wait; it will be delivered again")]
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
                // A later one must not be stored before the one that found no room: its sequence
                // number would stand for both.
                return;
            }
        }
    }

    /// Takes one delivery; an error says why it had no effect at all.
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
                self.overtake(&command, turn);
            }
            Err(invalid) => {
                let command = envelope.command_id.to_string();
                let note = Note::Invalid { command, fault: envelope.fault() };
                turn.effects.push(Effect::Log(note));
                let status = match invalid {
                    InvalidCommand::Malformed => CommandResult::Failed,
                    InvalidCommand::Mismatched => CommandResult::Rejected,
                };
                turn.report_command(envelope.command_id, status, invalid.to_string());
            }
        }
        Ok(())
    }

    /// A wish to stop ends a start or a download of the same model that is still under way; it
    /// does not wait behind it.
    fn overtake(&mut self, command: &Command, turn: &mut Turn) {
        let reason = "a newer command ended it";
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
