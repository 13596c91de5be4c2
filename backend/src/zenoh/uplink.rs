//! Messages from devices: the proof is checked, then the same handlers answer as over HTTP.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::anyhow;
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{Method, Request, StatusCode, header},
};
use link_protocol::{
    agent_api::{self, Hello, Poll},
    limits,
    problem::{self, Code, Problem},
    zenoh::{Proof, Slot, UPLINKS, Verb},
};
use tower::ServiceExt as _;
use zenoh::{
    Session, Wait as _,
    bytes::Encoding,
    query::{Query, Queryable},
};

use super::downlink::Downlink;
use crate::{api, app::App, domain::device::DeviceRecord, failure::AppError};

/// The declarations of a session. Dropping the value undeclares them.
pub(super) struct Declared(#[expect(dead_code, reason = "held, not read")] Queryable<()>);

/// Concurrent messages of one device that are answered. The same number again is refused with a reason, and further ones get
/// no answer, so that a flood from one device delays no other.
const AT_ONCE: u32 = 8;

/// The messages of each slot that are being answered or refused.
type Load = Arc<Mutex<HashMap<String, OfSlot>>>;

/// What is counted for a slot while it has messages.
#[derive(Default)]
struct OfSlot {
    messages: u32,
    /// Held while a reply is sent. On a full link each reply waits in turn until the router gives the device up, and the
    /// router's only thread may have to wait behind them: with one reply at a time, it waits for one.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// A message that counts in the [`Load`].
struct Admitted {
    load: Load,
    slot: String,
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Whether the message is answered; otherwise it is refused.
    is_answered: bool,
}

/// The state that answers messages.
struct Answering {
    app: Arc<App>,
    service: Router,
    downlink: Arc<Downlink>,
}

/// Answers all devices on `session` from now on.
pub(super) async fn declare(
    app: &Arc<App>,
    service: &Router,
    session: &Session,
    downlink: &Arc<Downlink>,
) -> anyhow::Result<Declared> {
    let answering = Arc::new(Answering {
        app: Arc::clone(app),
        service: service.clone(),
        downlink: Arc::clone(downlink),
    });
    let (load, runtime) = (Load::default(), tokio::runtime::Handle::current());
    let queryable = session
        .declare_queryable(UPLINKS)
        .callback(move |query| {
            let Some(admitted) = Slot::of_key(query.key_expr().as_str())
                .and_then(|(slot, _)| Admitted::enter(&load, slot.name()))
            else {
                // Ending the query without a reply tells the device at once that there is no answer.
                return;
            };
            let answering = Arc::clone(&answering);
            runtime.spawn(async move {
                let answer = if admitted.is_answered {
                    answering.answer(&query).await
                } else {
                    Err(Problem::new(Code::Overloaded, "too many messages at once"))
                };
                // The reply blocks while the device's link is full, so it runs on a thread of its own. Only the next
                // reply to the device waits for it.
                let turn = Arc::clone(&admitted.turn).lock_owned().await;
                tokio::task::spawn_blocking(move || {
                    reply(query, answer);
                    drop((turn, admitted));
                });
            });
        })
        .await
        .map_err(|error| anyhow!("{error}").context("failed to listen to devices"))?;
    Ok(Declared(queryable))
}

impl Admitted {
    fn enter(load: &Load, slot: &str) -> Option<Self> {
        let mut counts = load.lock().unwrap_or_else(PoisonError::into_inner);
        let of_slot = counts.entry(slot.to_owned()).or_default();
        if of_slot.messages >= 2 * AT_ONCE {
            return None;
        }
        of_slot.messages += 1;
        let is_answered = of_slot.messages <= AT_ONCE;
        let turn = Arc::clone(&of_slot.turn);
        Some(Self { load: Arc::clone(load), slot: slot.to_owned(), turn, is_answered })
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut counts = self.load.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_slot) = counts.get_mut(&self.slot) {
            of_slot.messages -= 1;
            if of_slot.messages == 0 {
                counts.remove(&self.slot);
            }
        }
    }
}

impl Answering {
    async fn answer(&self, query: &Query) -> Result<Bytes, Problem> {
        let key = query.key_expr().as_str();
        let (slot, tail) = Slot::of_key(key).ok_or_else(unknown)?;
        let tail = tail.strip_prefix("up/").ok_or_else(unknown)?;
        let body = query.payload().map(|body| Bytes::from(body.to_bytes().into_owned()));
        let body = body.unwrap_or_default();
        let (device, verb) = self.sender(&slot, key, query, &body).await?;
        let number = slot.number().ok_or_else(unknown)?;
        match (verb, tail) {
            (Verb::Post, "hello") => self.hello(number, device, &body).await,
            // The message proves that the device is present, so commands can be sent to it.
            (Verb::Get, "commands") => {
                self.downlink.attend(number);
                let poll = Poll { server_time: self.app.heard(&device), commands: vec![] };
                Ok(json(&poll))
            }
            (Verb::Post, _) => self.pass(Method::POST, device, tail, body).await,
            (Verb::Put, _) => self.pass(Method::PUT, device, tail, body).await,
            (Verb::Get | Verb::Receipt, _) => Err(unknown()),
        }
    }

    /// Finds the device of the slot and checks that the message is from it.
    async fn sender(
        &self,
        slot: &Slot,
        key: &str,
        query: &Query,
        body: &[u8],
    ) -> Result<(DeviceRecord, Verb), Problem> {
        let unproven = || Problem::new(Code::Unauthorized, "the message proves no device");
        let proof = query.attachment().and_then(|proof| proof.try_to_string().ok());
        let proof = proof.and_then(|proof| Proof::parse(&proof)).ok_or_else(unproven)?;
        let device = self.app.device_in_slot(slot).await?.ok_or_else(unproven)?;
        proof.verify(&device.public_key, key, body).map_err(|_forged| unproven())?;
        Ok((device, proof.verb))
    }

    /// Answers a hello. Commands that the device lacks are sent afterwards, one at a time.
    async fn hello(&self, slot: u32, device: DeviceRecord, body: &[u8]) -> Result<Bytes, Problem> {
        let hello: Hello = serde_json::from_slice(body)
            .map_err(|error| Problem::new(Code::InvalidRequest, error.to_string()))?;
        let mut welcome = self.app.hello(&device, hello).await?;
        // These commands count as delivered once. Redeliveries come with the next query.
        let commands = std::mem::take(&mut welcome.commands);
        self.downlink.attend(slot);
        self.downlink.send_first(slot, commands);
        Ok(json(&welcome))
    }

    async fn pass(
        &self,
        method: Method,
        device: DeviceRecord,
        tail: &str,
        body: Bytes,
    ) -> Result<Bytes, Problem> {
        let path = match tail {
            "logs" => format!("{}/{tail}", agent_api::PREFIX),
            _ => format!("{}/agent/{}/{tail}", agent_api::PREFIX, device.id),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json")
            .extension(api::Proven(device))
            .body(Body::from(body))
            .map_err(|_invalid| unknown())?;
        let response = match self.service.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status();
        let body = to_bytes(response.into_body(), limits::JSON_BODY_LIMIT).await;
        let body = body.map_err(|_broken| broken())?;
        if status.is_success() {
            return Ok(body);
        }
        let problem = serde_json::from_slice(&body).map_err(|_no_problem| match status {
            StatusCode::NOT_FOUND => unknown(),
            _ => broken(),
        });
        Err(problem.unwrap_or_else(|problem| problem))
    }
}

impl From<AppError> for Problem {
    fn from(failure: AppError) -> Self {
        *api::rejection(failure)
    }
}

/// Sends the answer and ends the query, which is a message of its own.
fn reply(query: Query, answer: Result<Bytes, Problem>) {
    let sent = match answer {
        Ok(body) => {
            query.reply(query.key_expr(), body.to_vec()).encoding(Encoding::APPLICATION_JSON).wait()
        }
        Err(problem) => {
            query.reply_err(json(&problem).to_vec()).encoding(problem::CONTENT_TYPE).wait()
        }
    };
    if let Err(error) = sent {
        tracing::debug!("a device was not answered: {error}");
    }
}

fn json(value: &impl serde::Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec(value).unwrap_or_default())
}

fn unknown() -> Problem {
    Problem::new(Code::NotFound, "there is no such operation")
}

fn broken() -> Problem {
    Problem::new(Code::Internal, "the request could not be completed")
}
