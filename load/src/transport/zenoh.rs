//! A zenoh session for each link, opened as an agent opens it: the backend names the router and the
//! slot over HTTP; commands arrive on the session and are answered there.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for commands")]

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::Method;
use link_client::{
    http::Failure,
    zenoh::{Commands, Delivery, DeviceSession, Presence},
};
use link_protocol::{
    agent_api::{self, Hello, Poll, Welcome},
    counter::Seq,
    envelope::Receipt,
    id::CommandId,
    identity::Identity,
    limits,
    report::CommandReport,
    zenoh::{Verb, ZenohAccess},
};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::transport::{
    Answer, Link, Lost, Transport,
    http::{Http, broken, json},
};

/// The heartbeat interval, as in the agent.
const BEAT: Duration = Duration::from_secs(25);
/// How long a delivery waits for its receipt, as in the backend.
const UNANSWERED: Duration = Duration::from_secs(10);
/// The number of deliveries that may wait for their receipt.
const DELIVERIES: usize = 64;

/// The router whose address the backend provides.
#[derive(Clone, Debug)]
pub struct Zenoh {
    backend: Http,
}

/// A session with the router.
#[derive(Debug)]
pub struct ZenohLink {
    /// `None` only during drop.
    session: Option<DeviceSession>,
    commands: Commands,
    presence: Mutex<Option<Presence>>,
    unanswered: Mutex<VecDeque<Unanswered>>,
}

/// A delivery whose receipt is not sent yet.
#[derive(Debug)]
struct Unanswered {
    command: CommandId,
    delivery: Delivery,
    since: Instant,
}

impl Zenoh {
    /// Prepares sessions with the router of the backend at `backend`.
    #[must_use]
    pub const fn new(backend: Http) -> Self {
        Self { backend }
    }
}

impl Transport for Zenoh {
    type Link = ZenohLink;

    async fn connect(&self, identity: &Identity) -> Result<ZenohLink, Lost> {
        let device = identity.device_id;
        let link = self.backend.open(device, identity.device_token.clone()).await?;
        let path = agent_api::zenoh_path(device);
        let access: ZenohAccess =
            link.call(Method::POST, &path, Bytes::new(), limits::HANDLER_TIMEOUT).await?;
        let key = Arc::new(identity.signing_key().map_err(broken)?);
        let session = DeviceSession::join(&access, key).await.map_err(broken)?;
        let commands = session.commands().await.map_err(broken)?;
        Ok(ZenohLink {
            session: Some(session),
            commands,
            presence: Mutex::default(),
            unanswered: Mutex::default(),
        })
    }
}

impl ZenohLink {
    fn session(&self) -> Result<&DeviceSession, Lost> {
        self.session.as_ref().ok_or_else(|| broken("the session has ended"))
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        verb: Verb,
        tail: &str,
        body: Bytes,
    ) -> Result<T, Lost> {
        let answer = self.session()?.ask(verb, tail, body.to_vec(), limits::HANDLER_TIMEOUT).await;
        match answer {
            Ok(body) => serde_json::from_slice(&body).map_err(broken),
            Err(Failure::Refused(error)) => Err(Lost::Refused(error.status)),
            Err(error @ Failure::Unavailable { .. }) => Err(broken(error)),
        }
    }

    async fn tell(&self, tail: &str, body: Bytes) -> Result<Answer, Lost> {
        let session = self.session()?;
        match session.ask(Verb::Post, tail, body.to_vec(), limits::HANDLER_TIMEOUT).await {
            Ok(_) => Ok(Answer::Taken),
            Err(Failure::Refused(error)) => Ok(Answer::Refused(error.status)),
            Err(error @ Failure::Unavailable { .. }) => Err(broken(error)),
        }
    }

    fn unanswered(&self) -> MutexGuard<'_, VecDeque<Unanswered>> {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a delivery until its receipt is sent, and returns its commands.
    fn keep(&self, delivery: Delivery) -> Poll {
        let poll = delivery.poll.clone();
        let since = Instant::now();
        let mut unanswered = self.unanswered();
        unanswered.retain(|one| since.duration_since(one.since) < UNANSWERED);
        if let Some(command) = poll.commands.first().and_then(|signed| signed.claimed_command()) {
            unanswered.truncate(DELIVERIES - 1);
            unanswered.push_front(Unanswered { command, delivery, since });
        }
        poll
    }
}

impl Link for ZenohLink {
    async fn hello(&self, hello: &Hello) -> Result<Welcome, Lost> {
        let welcome = self.ask(Verb::Post, "hello", json(hello)?).await?;
        let presence = self.session()?.announce().await.map_err(broken)?;
        *self.presence.lock().unwrap_or_else(PoisonError::into_inner) = Some(presence);
        Ok(welcome)
    }

    /// Ignores the sequence number `after`: the backend pushes due commands, and knows the device's
    /// position from receipts and results.
    async fn poll(&self, _after: Seq, wait: Duration) -> Result<Poll, Lost> {
        let beat = BEAT.mul_f64(rand::random_range(0.8..1.2)).min(wait);
        match tokio::time::timeout(beat, self.commands.next()).await {
            Ok(Some(delivery)) => Ok(self.keep(delivery)),
            Ok(None) => Err(broken("the session has ended")),
            Err(_quiet) => self.ask(Verb::Get, "commands", Bytes::new()).await,
        }
    }

    async fn receipt(&self, receipt: &Receipt) -> Result<Answer, Lost> {
        let delivery = {
            let mut unanswered = self.unanswered();
            let place = unanswered.iter().position(|one| one.command == receipt.command_id);
            place.and_then(|place| unanswered.remove(place))
        };
        match delivery {
            Some(Unanswered { delivery, .. }) => {
                let sent = self.session()?.acknowledge(&delivery, receipt).await;
                sent.map(|()| Answer::Sent).map_err(broken)
            }
            // The command was delivered twice, or arrived with the answer to the hello.
            None => {
                let tail = format!("commands/{}/receipt", receipt.command_id);
                self.tell(&tail, json(receipt)?).await
            }
        }
    }

    async fn result(&self, report: &CommandReport) -> Result<Answer, Lost> {
        let tail = format!("commands/{}/status", report.command_id);
        self.tell(&tail, json(report)?).await
    }
}

impl Drop for ZenohLink {
    fn drop(&mut self) {
        // Closing a session waits for the router, and must not delay the other devices.
        if let (Some(session), Ok(runtime)) =
            (self.session.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(session.close());
        }
    }
}
