//! The backend's half: seals envelopes, delivers them, and answers the devices' queries.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use jiff::Timestamp;
use link_protocol::{
    agent_api::{Hello, Welcome},
    command::Command,
    envelope::{ENVELOPE_VERSION, Envelope, Receipt},
    id::{CommandId, DeviceId},
    problem::{self, Code, Problem},
    report::CommandReport,
    signing::{Signed, SigningKey},
};
use uuid::Uuid;
use zenoh::{
    Session,
    bytes::Encoding,
    query::{ConsolidationMode, Query, QueryTarget},
};

use crate::{
    device, proof,
    router::{Slot, zenoh_error},
};

/// What a delivery brought back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    Receipt(Receipt),
    /// The device said no; the text is for the log.
    Refused(String),
    /// The query ended without a reply.
    Silence,
    /// zenoh ended the query at its timeout.
    TimedOut,
}

/// An answer and when it came.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub answer: Answer,
    /// From the call to the answer.
    pub answered: Duration,
    /// From the call to the end of the query.
    pub ended: Duration,
    /// All replies, the answer included.
    pub replies: usize,
    pub bytes: usize,
}

/// How a delivery asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub timeout: Duration,
    pub consolidation: ConsolidationMode,
}

impl Default for Asking {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(5), consolidation: ConsolidationMode::None }
    }
}

/// What devices told the backend.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub hellos: Vec<(String, Hello)>,
    pub reports: Vec<(String, CommandReport)>,
    /// Answered to the next hello.
    pub pending: Vec<Signed>,
}

/// A backend: a session and the key it signs with.
pub(crate) struct Backend {
    pub session: Session,
    pub key: SigningKey,
    pub heard: Arc<Mutex<Heard>>,
}

impl Backend {
    /// Makes a backend on `session`; it delivers, and hears nothing until [`Self::listen`].
    pub(crate) fn new(session: Session, seed: &[u8; 32]) -> Self {
        let key = SigningKey::from_seed(seed);
        Self { session, key, heard: Arc::default() }
    }

    /// Answers hellos and results from now on.
    pub(crate) async fn listen(&self) -> anyhow::Result<()> {
        for pattern in ["link/v1/dev/*/hello", "link/v1/dev/*/commands/*/status"] {
            let queries = self
                .session
                .declare_queryable(pattern)
                .await
                .map_err(zenoh_error("failed to declare the backend's queryable"))?;
            let heard = Arc::clone(&self.heard);
            tokio::spawn(async move {
                while let Ok(query) = queries.recv_async().await {
                    if let Err(error) = hear(&query, &heard).await {
                        eprintln!("a device was not answered: {error:#}");
                    }
                }
            });
        }
        Ok(())
    }

    /// Seals `envelope` and delivers it to `slot`.
    pub(crate) async fn deliver(
        &self,
        slot: &Slot,
        envelope: &Envelope,
        asking: Asking,
    ) -> anyhow::Result<Delivery> {
        send(&self.session, slot, &self.key.seal(envelope), asking).await
    }
}

/// Delivers `signed` to `slot` and waits until the query has ended.
pub(crate) async fn send(
    session: &Session,
    slot: &Slot,
    signed: &Signed,
    asking: Asking,
) -> anyhow::Result<Delivery> {
    let body = serde_json::to_vec(signed).context("failed to write the body")?;
    let (bytes, started) = (body.len(), Instant::now());
    let arriving = session
        .get(slot.key("cmd"))
        .payload(body)
        .encoding(Encoding::APPLICATION_JSON)
        .target(QueryTarget::BestMatching)
        .consolidation(asking.consolidation)
        .timeout(asking.timeout)
        .await
        .map_err(zenoh_error("failed to send the query"))?;
    let (mut first, mut replies) = (None, 0);
    while let Ok(reply) = arriving.recv_async().await {
        replies += 1;
        let answer = match reply.into_result() {
            Ok(sample) => {
                let body = sample.payload().to_bytes();
                let device = device::key(slot);
                proof::verify(device.verifying(), sample.key_expr(), &body, sample.attachment())
                    .context("the receipt is not the device's")?;
                Answer::Receipt(serde_json::from_slice(&body).context("the reply is no receipt")?)
            }
            Err(error) => {
                let text = String::from_utf8_lossy(&error.payload().to_bytes()).into_owned();
                // Only the encoding tells a device's refusal from an error that zenoh made: that
                // one is `Timeout` in two encodings, from the session or from the router.
                if *error.encoding() == Encoding::TEXT_PLAIN {
                    Answer::Refused(text)
                } else {
                    anyhow::ensure!(text == "Timeout", "zenoh ended the query with `{text}`");
                    Answer::TimedOut
                }
            }
        };
        first.get_or_insert((answer, started.elapsed()));
    }
    let ended = started.elapsed();
    let (answer, answered) = first.unwrap_or((Answer::Silence, ended));
    Ok(Delivery { answer, answered, ended, replies, bytes })
}

/// Makes the envelope of `command` for the first delivery.
pub(crate) fn envelope(device: DeviceId, epoch: u64, seq: u64, command: &Command) -> Envelope {
    let kind = command.kind();
    let issued_at = Timestamp::now();
    let tagged = serde_json::to_value(command).expect("a command has only string keys");
    Envelope {
        v: ENVELOPE_VERSION,
        command_id: CommandId::from_uuid(Uuid::now_v7()),
        device_id: device,
        epoch,
        seq,
        r#type: tagged["type"].as_str().expect("a command has a type").to_owned(),
        lane: command.lane(),
        idempotency_key: format!("{}:{seq}", command.lane()),
        attempt: 1,
        issued_at,
        expires_at: issued_at + kind.expiry(),
        ttl_ms: u64::try_from(kind.expiry().as_millis()).expect("an expiry is days, not ages"),
        exec_deadline_s: kind.execution_deadline().as_secs(),
        payload: serde_json::value::to_raw_value(&tagged["payload"]).expect("JSON is JSON"),
    }
}

/// Answers one query of a device: with a body, or with the problem document that HTTP would carry.
async fn hear(query: &Query, heard: &Mutex<Heard>) -> anyhow::Result<()> {
    let sent = match reply(query, heard) {
        Ok(body) => {
            let key = query.key_expr().clone();
            query.reply(key, body).encoding(Encoding::APPLICATION_JSON).await
        }
        Err(code) => {
            let problem = Problem::new(code, "the message of this device was refused");
            let body = serde_json::to_vec(&problem).context("failed to write the problem")?;
            query.reply_err(body).encoding(Encoding::from(problem::CONTENT_TYPE)).await
        }
    };
    sent.map_err(zenoh_error("failed to reply"))
}

fn reply(query: &Query, heard: &Mutex<Heard>) -> Result<Vec<u8>, Code> {
    let key = query.key_expr().as_str();
    let name = key.split('/').nth(3).ok_or(Code::NotFound)?;
    let body = query.payload().map(|payload| payload.to_bytes().into_owned()).unwrap_or_default();
    let registered = device::key(&Slot { name: name.to_owned(), password: String::new() });
    proof::verify(registered.verifying(), key, &body, query.attachment())
        .map_err(|_| Code::Unauthorized)?;
    let mut heard = heard.lock().expect("no holder panics");
    if key.ends_with("/hello") {
        let hello: Hello = serde_json::from_slice(&body).map_err(|_| Code::InvalidRequest)?;
        let epoch = hello.epoch;
        heard.hellos.push((name.to_owned(), hello));
        let commands = std::mem::take(&mut heard.pending);
        let welcome = Welcome { server_time: Timestamp::now(), epoch, commands, handover: None };
        serde_json::to_vec(&welcome).map_err(|_| Code::Internal)
    } else {
        let report = serde_json::from_slice(&body).map_err(|_| Code::InvalidRequest)?;
        heard.reports.push((name.to_owned(), report));
        Ok(vec![])
    }
}
