//! What is sent to devices: for each that is present a task looks for what is due, sends it and
//! takes the receipt.
//!
//! A liveliness token is a hint: a device is attended to when its token appears or it says
//! something, and given up a while after the token went. No silence fails a command: what has no
//! receipt is delivered again.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::anyhow;
use link_protocol::{
    agent_api::Poll,
    envelope::Receipt,
    signing::Signed,
    zenoh::{PRESENCE, Proof, Slot, Verb},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use zenoh::{
    Session,
    bytes::Encoding,
    pubsub::Subscriber,
    qos::CongestionControl,
    query::{ConsolidationMode, QueryTarget},
    sample::SampleKind,
};

use crate::{
    app::{App, Due},
    domain::device::DeviceRecord,
};

/// How long a device may take for a receipt.
const RECEIPT: Duration = Duration::from_secs(10);
/// How long a device whose token went is attended to: it may come back at once.
const PATIENCE: Duration = Duration::from_secs(30);
/// No command is on its way when none was for this long.
const QUIET: Duration = Duration::from_secs(5);

/// What is declared on a session; dropping it takes it back.
pub(super) struct Declared(#[expect(dead_code, reason = "held, not read")] Subscriber<()>);

/// Sends what is due.
pub(super) struct Downlink {
    app: Arc<App>,
    session: Session,
    present: Mutex<HashMap<u32, Present>>,
    stop: CancellationToken,
    started: Instant,
    /// When a command was sent last, in milliseconds after `started`.
    sent_ms: AtomicU64,
}

/// A device that is attended to.
#[derive(Debug)]
struct Present {
    /// Whether its token is there.
    token: watch::Sender<bool>,
    /// What is sent before anything else is looked for.
    first: Arc<Mutex<Vec<Signed>>>,
}

/// Attends to every device whose token is or comes on `session`.
pub(super) async fn declare(
    session: &Session,
    downlink: &Arc<Downlink>,
) -> anyhow::Result<Declared> {
    let (downlink, runtime) = (Arc::clone(downlink), tokio::runtime::Handle::current());
    let subscriber = session
        .liveliness()
        .declare_subscriber(PRESENCE)
        // Devices that came before this backend did have their tokens already.
        .history(true)
        .callback(move |sample| {
            // zenoh calls this on a thread of its own, and `attend` starts a task.
            let _entered = runtime.enter();
            let slot = Slot::of_key(sample.key_expr().as_str()).and_then(|(slot, _)| slot.number());
            match (slot, sample.kind()) {
                (Some(slot), SampleKind::Put) => downlink.attend(slot),
                (Some(slot), SampleKind::Delete) => downlink.token_went(slot),
                (None, _) => {}
            }
        })
        .await
        .map_err(|error| anyhow!("{error}").context("failed to listen to who is present"))?;
    Ok(Declared(subscriber))
}

impl Downlink {
    pub(super) fn new(app: Arc<App>, session: Session) -> Self {
        Self {
            app,
            session,
            present: Mutex::default(),
            stop: CancellationToken::new(),
            started: Instant::now(),
            sent_ms: AtomicU64::new(0),
        }
    }

    /// Attends to the device in `slot`, if it is registered, from now on.
    pub(super) fn attend(self: &Arc<Self>, slot: u32) {
        let mut present = self.present();
        if let Some(here) = present.get(&slot) {
            here.token.send_replace(true);
            return;
        }
        let (token, up) = watch::channel(true);
        let first = Arc::<Mutex<Vec<Signed>>>::default();
        present.insert(slot, Present { token, first: Arc::clone(&first) });
        let downlink = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                () = downlink.stop.cancelled() => {}
                () = downlink.serve(slot, up, &first) => {}
            }
            // A token that comes back at this moment goes with the entry. Nothing is lost: the next
            // message of the device, a beat at the latest, attends to it anew.
            downlink.present().remove(&slot);
        });
    }

    /// Sends `commands`, which the hello of the device was answered with, before anything else.
    pub(super) fn send_first(&self, slot: u32, commands: Vec<Signed>) {
        if let Some(here) = self.present().get(&slot) {
            *here.first.lock().unwrap_or_else(PoisonError::into_inner) = commands;
            here.token.send_replace(true);
        }
    }

    /// Tells whether no command is on its way.
    pub(super) fn is_quiet(&self) -> bool {
        let sent = Duration::from_millis(self.sent_ms.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(sent) > QUIET
    }

    /// Ends every task.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    fn token_went(&self, slot: u32) {
        if let Some(here) = self.present().get(&slot) {
            here.token.send_replace(false);
        }
    }

    fn present(&self) -> MutexGuard<'_, HashMap<u32, Present>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(&self, slot: u32, mut up: watch::Receiver<bool>, first: &Mutex<Vec<Signed>>) {
        let name = Slot::numbered(slot);
        let Ok(Some(device)) = self.app.device_in_slot(&name).await else { return };
        // Before the first look, so that a command that is placed after it rings.
        let mut watching = self.app.attend(&device);
        loop {
            let greeted =
                std::mem::take(&mut *first.lock().unwrap_or_else(PoisonError::into_inner));
            for command in greeted {
                if !self.deliver(&name, &device, command).await {
                    break;
                }
            }
            let due = match watching.due().await {
                Ok(Due::Now(commands)) => commands,
                Ok(Due::Never) => return,
                Ok(Due::Later(wait)) => {
                    let is_up = *up.borrow_and_update();
                    tokio::select! {
                        () = watching.rung() => {}
                        () = tokio::time::sleep(wait) => {}
                        // Each round waits anew: only a device that is gone, and for which
                        // nothing falls due meanwhile, is given up.
                        () = tokio::time::sleep(PATIENCE), if !is_up => return,
                        _ = up.changed() => {}
                    }
                    continue;
                }
                Err(error) => {
                    tracing::warn!(device = %device.id, "commands were not looked for: {error}");
                    tokio::time::sleep(QUIET).await;
                    continue;
                }
            };
            for command in due {
                // Whoever does not answer one would not answer the next: what is left stays due.
                if !self.deliver(&name, &device, command).await {
                    break;
                }
            }
        }
    }

    /// Sends one command and takes its receipt; false when the device does not answer now.
    async fn deliver(&self, slot: &Slot, device: &DeviceRecord, command: Signed) -> bool {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.sent_ms.store(elapsed, Ordering::Relaxed);
        let receipt = match self.ask(slot, device, command).await {
            Ok(Some(receipt)) => receipt,
            Ok(None) => return false,
            Err(error) => {
                tracing::debug!(device = %device.id, "no receipt: {error:#}");
                return false;
            }
        };
        let id = receipt.command_id;
        if let Err(error) = self.app.receipt(device, id, receipt).await {
            tracing::debug!(device = %device.id, command = %id, "a receipt had no effect: {error}");
        }
        true
    }

    async fn ask(
        &self,
        slot: &Slot,
        device: &DeviceRecord,
        command: Signed,
    ) -> anyhow::Result<Option<Receipt>> {
        let poll = Poll { server_time: self.app.time(), commands: vec![command] };
        let replies = self
            .session
            .get(slot.commands())
            .payload(serde_json::to_vec(&poll)?)
            .encoding(Encoding::APPLICATION_JSON)
            .target(QueryTarget::BestMatching)
            .consolidation(ConsolidationMode::None)
            // A device that does not read must not hold up the router.
            .congestion_control(CongestionControl::Drop)
            .timeout(RECEIPT)
            .await
            .map_err(|error| anyhow!("{error}"))?;
        // A second session of the same slot may answer too; the first that proves itself counts.
        while let Ok(reply) = replies.recv_async().await {
            let Ok(sample) = reply.into_result() else { continue };
            let body = sample.payload().to_bytes();
            let proof = sample.attachment().and_then(|proof| proof.try_to_string().ok());
            let proof = proof.and_then(|proof| Proof::parse(&proof));
            let proven = proof.is_some_and(|proof| {
                let key = sample.key_expr().as_str();
                proof.verb == Verb::Receipt && proof.verify(&device.public_key, key, &body).is_ok()
            });
            if proven {
                return Ok(Some(serde_json::from_slice(&body)?));
            }
        }
        Ok(None)
    }
}
