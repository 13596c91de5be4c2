//! The checks, each of which returns the figures it measured or the reason it does not hold.

pub(crate) mod commands;
pub(crate) mod isolation;
pub(crate) mod link_loss;
pub(crate) mod presence;

use std::time::Duration;

use anyhow::ensure;
use link_protocol::{
    command::Command,
    envelope::{Envelope, Receipt, ReceiptKind},
};

use crate::{
    backend::{self, Answer, Asking, Backend, Delivery},
    device::Device,
    inbox::Inbox,
    router::{Access, BACKEND_USER, Router, Slot},
    samples,
};

/// The epoch that every device here is registered in.
pub(crate) const EPOCH: u64 = 7;

const SEED: [u8; 32] = [3; 32];

/// One router, its backend and two devices.
pub(crate) struct World {
    pub router: Router,
    pub backend: Backend,
    pub spare: Slot,
    pub backend_slot: Slot,
    pub one: Device,
    pub two: Device,
}

impl World {
    /// Opens everything; `access` decides whether the rules are in force.
    pub(crate) async fn open(access: Access) -> anyhow::Result<Self> {
        let [zero, first, spare] = ["slot0", "slot1", "slot2"].map(Slot::new);
        let backend_slot = Slot::new(BACKEND_USER);
        let slots = [zero.clone(), first.clone(), spare.clone(), backend_slot.clone()];
        let router = Router::open(&slots, access).await?;
        let backend = Backend::new(router.session.clone(), &SEED);
        backend.listen().await?;
        let one = Device::join(&router, &zero, router.port, inbox(&backend), false).await?;
        let two = Device::join(&router, &first, router.port, inbox(&backend), false).await?;
        Ok(Self { router, backend, spare, backend_slot, one, two })
    }
}

/// Returns an empty inbox of a new device that pinned the backend's key.
pub(crate) fn inbox(backend: &Backend) -> Inbox {
    Inbox::new(samples::device(), EPOCH, vec![backend.key.verifying().clone()])
}

/// Returns the next envelope of `command` for `device`.
pub(crate) fn next(device: &Device, command: &Command) -> Envelope {
    let inbox = device.inbox();
    backend::envelope(inbox.device, EPOCH, inbox.last_seq + 1, command)
}

/// Delivers `envelope` to `device` and returns the receipt and the delivery.
pub(crate) async fn receipt(
    backend: &Backend,
    device: &Device,
    envelope: &Envelope,
) -> anyhow::Result<(Receipt, Delivery)> {
    let delivery = backend.deliver(&device.slot, envelope, Asking::default()).await?;
    match delivery.answer.clone() {
        Answer::Receipt(receipt) => {
            ensure!(receipt.command_id == envelope.command_id, "the receipt is of another command");
            ensure!(receipt.attempt == envelope.attempt, "the receipt is of another attempt");
            Ok((receipt, delivery))
        }
        other @ (Answer::Refused(_) | Answer::Silence | Answer::TimedOut) => {
            anyhow::bail!("no receipt: {other:?}")
        }
    }
}

/// Makes sure that `receipt` is of `kind`.
pub(crate) fn expect_kind(receipt: &Receipt, kind: ReceiptKind) -> anyhow::Result<()> {
    ensure!(receipt.receipt == kind, "expected {kind:?}, got {:?}", receipt.receipt);
    Ok(())
}

/// Writes a duration with the unit that fits it.
pub(crate) fn figure(duration: Duration) -> String {
    if duration >= Duration::from_secs(1) {
        format!("{:.2} s", duration.as_secs_f64())
    } else {
        format!("{:.2} ms", duration.as_secs_f64() * 1000.0)
    }
}
