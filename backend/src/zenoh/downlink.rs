//! Sends commands to devices. For each present device, a task finds the due commands, sends them and awaits the receipts.
//!
//! A liveliness token is a hint: the task of a device starts when its token appears or a message arrives, and ends some time
//! after the token has gone. Silence never fails a command: a command without a receipt is delivered again.

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

/// The deadline of a receipt.
const RECEIPT: Duration = Duration::from_secs(10);
/// How long a task outlives its device's token, because the device may reconnect at once.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long after the last send commands count as in flight.
const QUIET: Duration = Duration::from_secs(5);

/// The declarations of a session. Dropping the value undeclares them.
pub(super) struct Declared(#[expect(dead_code, reason = "held, not read")] Subscriber<()>);

/// Sends due commands.
pub(super) struct Downlink {
    app: Arc<App>,
    session: Session,
    present: Mutex<HashMap<u32, Present>>,
    stop: CancellationToken,
    started: Instant,
    /// The time of the last send, in milliseconds after `started`.
    sent_ms: AtomicU64,
}

/// A device with a running task.
#[derive(Debug)]
struct Present {
    /// Whether the device's token exists.
    token: watch::Sender<bool>,
    /// Commands to send before any due ones.
    first: Arc<Mutex<Vec<Signed>>>,
}

/// Starts a task for every device whose token exists or appears on `session`.
pub(super) async fn declare(
    session: &Session,
    downlink: &Arc<Downlink>,
) -> anyhow::Result<Declared> {
    let (downlink, runtime) = (Arc::clone(downlink), tokio::runtime::Handle::current());
    let subscriber = session
        .liveliness()
        .declare_subscriber(PRESENCE)
        // Devices that connected before this backend have their tokens already.
        .history(true)
        .callback(move |sample| {
            // zenoh calls this on a thread of its own, and `attend` spawns a task.
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

    /// Starts the task of the device in `slot`, if the device is registered.
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
            // A token that reappears at this moment is lost with the entry. That is harmless: the next message of the
            // device, at the latest a heartbeat, starts a new task.
            downlink.present().remove(&slot);
        });
    }

    /// Sends `commands`, the answer to the device's hello, before any due ones.
    pub(super) fn send_first(&self, slot: u32, commands: Vec<Signed>) {
        if let Some(here) = self.present().get(&slot) {
            *here.first.lock().unwrap_or_else(PoisonError::into_inner) = commands;
            here.token.send_replace(true);
        }
    }

    /// Tells whether no command is in flight.
    pub(super) fn is_quiet(&self) -> bool {
        let sent = Duration::from_millis(self.sent_ms.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(sent) > QUIET
    }

    /// Ends all tasks.
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
        // Listen before the first query, so that a command placed after the query rings the bell.
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
                        // Each round restarts the wait, so the task ends only if the device is gone and no command
                        // becomes due meanwhile.
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
                // A device that misses one receipt would miss the next: the remaining commands stay due.
                if !self.deliver(&name, &device, command).await {
                    break;
                }
            }
        }
    }

    /// Sends one command and awaits its receipt. Returns false if the device does not answer.
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
            // A device that does not read must not block the router.
            .congestion_control(CongestionControl::Drop)
            .timeout(RECEIPT)
            .await
            .map_err(|error| anyhow!("{error}"))?;
        // A second session of the same slot may answer too. The first answer with a valid proof counts.
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
