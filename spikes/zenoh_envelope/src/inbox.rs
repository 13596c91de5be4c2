//! What a device decides about a delivery: a core without IO.
//!
//! The map stands in for the journal on disk. Nothing is taken in that is not signed by a pinned
//! key, for this device, of this epoch and of its typed contract; everything is taken in once.

use std::collections::BTreeMap;

use jiff::Timestamp;
use link_protocol::{
    envelope::{Receipt, ReceiptKind},
    id::{CommandId, DeviceId},
    report::CommandReport,
    signing::{Signed, Untrusted, VerifyingKey},
};

/// The commands that a device has, and whose commands it takes.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    pub device: DeviceId,
    pub epoch: u64,
    pub pinned: Vec<VerifyingKey>,
    pub last_seq: u64,
    /// The signed text of the last delivery whose signature held.
    pub last_text: String,
    commands: BTreeMap<CommandId, Option<CommandReport>>,
}

/// A delivery was refused; nothing of it was kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the delivery is not a signed envelope")]
    NotSigned,
    #[error(transparent)]
    Untrusted(Untrusted),
    #[error("the envelope is for another device")]
    OtherDevice,
    #[error("the envelope is of another epoch")]
    OtherEpoch,
    #[error("Invalid command payload")]
    InvalidCommand,
}

impl Inbox {
    /// Makes the empty inbox of `device`.
    pub(crate) fn new(device: DeviceId, epoch: u64, pinned: Vec<VerifyingKey>) -> Self {
        let (last_seq, last_text, commands) = <(u64, String, BTreeMap<_, _>)>::default();
        Self { device, epoch, pinned, last_seq, last_text, commands }
    }

    /// Takes one delivery in and returns the receipt for it.
    ///
    /// # Errors
    /// [`Refusal`] when it has no effect and earns no receipt.
    pub(crate) fn receive(&mut self, body: &[u8], now: Timestamp) -> Result<Receipt, Refusal> {
        let signed: Signed = serde_json::from_slice(body).map_err(|_| Refusal::NotSigned)?;
        let envelope = signed.open(&self.pinned).map_err(Refusal::Untrusted)?;
        if envelope.device_id != self.device {
            return Err(Refusal::OtherDevice);
        }
        if envelope.epoch != self.epoch {
            return Err(Refusal::OtherEpoch);
        }
        envelope.command().map_err(|_| Refusal::InvalidCommand)?;
        self.last_text = signed.envelope;
        let (receipt, result) = match self.commands.get(&envelope.command_id) {
            Some(Some(report)) => (ReceiptKind::Done, Some(report.clone())),
            Some(None) => (ReceiptKind::Duplicate, None),
            None if envelope.expires_at <= now => (ReceiptKind::Expired, None),
            None => {
                self.commands.insert(envelope.command_id, None);
                self.last_seq = self.last_seq.max(envelope.seq);
                (ReceiptKind::Stored, None)
            }
        };
        let (command_id, attempt) = (envelope.command_id, envelope.attempt);
        Ok(Receipt { command_id, attempt, receipt, result })
    }

    /// Records how a command ended.
    pub(crate) fn finish(&mut self, report: CommandReport) {
        self.commands.insert(report.command_id, Some(report));
    }

    /// Returns the commands that are not done.
    pub(crate) fn unfinished(&self) -> Vec<CommandId> {
        let open = self.commands.iter().filter(|(_, result)| result.is_none());
        open.map(|(command, _)| *command).collect()
    }
}
