//! Decides whether the backend has transferred this device to another account.
//!
//! A handover takes effect only if a pinned key signed it for this device and it names an epoch
//! that has not begun. A forged handover, a repeated one, or one for another device has no effect.
//! The shell carries out the handover; if it is interrupted it starts over, because the identity is
//! the last thing to change.

use link_protocol::{
    counter::Epoch,
    error_chain::chain,
    handover::{Handover, NotAHandover},
    signing::Signed,
};

use super::Agent;
use crate::effect::{Effect, Note, Turn};

/// The reason why a handover had no effect.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("the handover is not trusted")]
    Untrusted(#[from] NotAHandover),
    #[error("the handover is for another device")]
    Device,
    #[error("the handover names an epoch that has already begun")]
    Epoch,
}

impl Agent {
    /// Starts the next epoch if `signed` is a valid handover; returns whether it is.
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

    fn next_epoch(&self, signed: &Signed) -> Result<Epoch, NotTaken> {
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
