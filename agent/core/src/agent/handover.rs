//! Whether the backend has given this device to another account.
//!
//! Only a handover is believed that a pinned key has signed, for this device, to an epoch that has
//! not begun: one that is forged, of another device or comes again has no effect. What it leads to is
//! done by the shell, and done again from the start if it is interrupted, because the identity is the
//! last that changes.

use link_protocol::{
    error_chain::chain,
    handover::{Handover, NotAHandover},
    signing::Signed,
};

use super::Agent;
use crate::effect::{Effect, Note, Turn};

/// Why a handover had no effect.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("a handover was not trusted")]
    Untrusted(#[from] NotAHandover),
    #[error("a handover is for another device")]
    Device,
    #[error("a handover is to an epoch that has begun already")]
    Epoch,
}

impl Agent {
    /// Has the shell begin the next epoch when the backend has said so; tells whether it did.
    pub(super) fn take_handover(&self, signed: &Signed, turn: &mut Turn) -> bool {
        match self.next_epoch(signed) {
            Ok(to_epoch) => {
                turn.effects.push(Effect::HandOver { to_epoch });
                true
            }
            Err(refused) => {
                let reason = chain(&refused);
                turn.effects.push(Effect::Log(match refused {
                    NotTaken::Untrusted(_) => Note::Untrusted { reason },
                    NotTaken::Device | NotTaken::Epoch => Note::Refused { reason },
                }));
                false
            }
        }
    }

    fn next_epoch(&self, signed: &Signed) -> Result<u64, NotTaken> {
        let handover = Handover::open(signed, &self.pinned)?;
        if handover.device_id != self.identity.device_id {
            return Err(NotTaken::Device);
        }
        if handover.to_epoch <= self.identity.epoch {
            return Err(NotTaken::Epoch);
        }
        Ok(handover.to_epoch)
    }
}
