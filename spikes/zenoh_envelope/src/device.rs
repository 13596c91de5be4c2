//! A device on the router: one queryable for commands, one liveliness token, and queries of its own.

use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use link_protocol::{
    agent_api::{Hello, Inflight, Welcome},
    report::CommandReport,
    signing::SigningKey,
};
use serde::Serialize;
use zenoh::{
    Session, bytes::Encoding, liveliness::LivelinessToken, query::ConsolidationMode, query::Query,
};

use crate::{
    inbox::Inbox,
    proof::prove,
    router::{Router, Slot, zenoh_error},
};

/// How a device treats the commands that reach it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Behaviour {
    /// Takes each in and answers with its receipt.
    Healthy,
    /// Forgets each without an answer, as a handler that panicked.
    Dropping,
    /// Holds each without an answer, as a program that hangs.
    Hanging,
}

/// A session that plays one device.
pub(crate) struct Device {
    pub session: Session,
    pub slot: Slot,
    key: Arc<SigningKey>,
    inbox: Arc<Mutex<Inbox>>,
    behaviour: Arc<Mutex<Behaviour>>,
    asked: Arc<AtomicUsize>,
    _alive: LivelinessToken,
}

impl Device {
    /// Joins the router through `port`, serves commands for `inbox` and says hello.
    ///
    /// The answer to the hello also shows that the router knows the queryable: a command that is
    /// sent before it does ends without a reply.
    pub(crate) async fn join(
        router: &Router,
        slot: &Slot,
        port: u16,
        inbox: Inbox,
        complete: bool,
    ) -> anyhow::Result<Self> {
        let session = router.join(slot, port).await?;
        let (inbox, behaviour) =
            (Arc::new(Mutex::new(inbox)), Arc::new(Mutex::new(Behaviour::Healthy)));
        let queries = session
            .declare_queryable(slot.key("cmd"))
            .complete(complete)
            .await
            .map_err(zenoh_error("failed to declare the queryable for commands"))?;
        let alive = session
            .liveliness()
            .declare_token(slot.key("alive"))
            .await
            .map_err(zenoh_error("failed to declare the liveliness token"))?;
        let (served, manner) = (Arc::clone(&inbox), Arc::clone(&behaviour));
        let key = Arc::new(key(slot));
        let (signing, asked) = (Arc::clone(&key), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut held = vec![];
            while let Ok(query) = queries.recv_async().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let behaviour = *manner.lock().expect("no holder panics");
                match behaviour {
                    Behaviour::Healthy => answer(&query, &served, &signing).await,
                    Behaviour::Dropping => drop(query),
                    Behaviour::Hanging => held.push(query),
                }
            }
        });
        let slot = slot.clone();
        let device = Self { session, slot, key, inbox, behaviour, asked, _alive: alive };
        device.hello().await?;
        Ok(device)
    }

    /// Returns the inbox, locked.
    pub(crate) fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().expect("no holder panics")
    }

    /// Changes how commands are treated from now on.
    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.behaviour.lock().expect("no holder panics") = behaviour;
    }

    /// Returns how many queries have reached this device.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Says hello, as over HTTP, and returns what the backend answers.
    pub(crate) async fn hello(&self) -> anyhow::Result<Welcome> {
        let inbox = self.inbox().clone();
        let inflight = inbox.unfinished().into_iter().map(|command_id| Inflight {
            command_id,
            attempt: 1,
            running: false,
        });
        let hello = Hello {
            epoch: inbox.epoch,
            boot_id: "boot".to_owned(),
            agent_version: semver::Version::new(1, 3, 0),
            last_seq: inbox.last_seq,
            inflight: inflight.collect(),
            serving: vec![],
        };
        let body = self.ask(&self.slot.key("hello"), &hello).await?;
        serde_json::from_slice(&body).context("the answer to the hello is no welcome")
    }

    /// Reports how a command ended and waits until the backend has it.
    pub(crate) async fn report(&self, report: &CommandReport) -> anyhow::Result<()> {
        let key = self.slot.key(&format!("commands/{}/status", report.command_id));
        let body = self.ask(&key, report).await?;
        anyhow::ensure!(body.is_empty(), "the acknowledgement of a report is empty");
        Ok(())
    }

    /// Sends `body` as a query on `key` and returns the reply's bytes.
    pub(crate) async fn ask(&self, key: &str, body: &impl Serialize) -> anyhow::Result<Vec<u8>> {
        let body = serde_json::to_vec(body).context("failed to write the body")?;
        let proof = prove(&self.key, key, &body);
        let replies = self
            .session
            .get(key)
            .payload(body)
            .attachment(proof)
            .encoding(Encoding::APPLICATION_JSON)
            .consolidation(ConsolidationMode::None)
            .timeout(Duration::from_secs(2))
            .await
            .map_err(zenoh_error("failed to send the query"))?;
        let Ok(reply) = replies.recv_async().await else { bail!("no answer from the backend") };
        match reply.into_result() {
            Ok(sample) => Ok(sample.payload().to_bytes().into_owned()),
            Err(error) => {
                bail!("refused: {}", String::from_utf8_lossy(&error.payload().to_bytes()))
            }
        }
    }
}

/// Returns the key pair that the device of `slot` registered.
pub(crate) fn key(slot: &Slot) -> SigningKey {
    let mut seed = [0; 32];
    for (byte, letter) in seed.iter_mut().zip(slot.name.bytes()) {
        *byte = letter;
    }
    SigningKey::from_seed(&seed)
}

async fn answer(query: &Query, inbox: &Mutex<Inbox>, signing: &SigningKey) {
    let body = query.payload().map(|payload| payload.to_bytes().into_owned()).unwrap_or_default();
    let receipt = inbox.lock().expect("no holder panics").receive(&body, Timestamp::now());
    let sent = match receipt {
        Ok(receipt) => {
            let body = serde_json::to_vec(&receipt).expect("a receipt has only string keys");
            let key = query.key_expr().clone();
            let proof = prove(signing, &key, &body);
            query.reply(key, body).attachment(proof).encoding(Encoding::APPLICATION_JSON).await
        }
        Err(refusal) => query.reply_err(refusal.to_string()).encoding(Encoding::TEXT_PLAIN).await,
    };
    if let Err(error) = sent {
        eprintln!("the answer to a command was not sent: {error}");
    }
}
