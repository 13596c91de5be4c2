//! The zenoh transport: a session with the router that carries commands in and reports out.
//!
//! One thread owns the session. Everything else sends messages through a [`Link`]. Without a
//! session, a `Link` answers at once: it uses HTTP if the configuration allows that, otherwise it
//! reports a failure that may be retried. zenoh gives no reason when it refuses a device, so every
//! attempt begins with an HTTP call, whose answer has the reason.

mod settings;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use link_agent_core::event::Event;
use link_client::{
    agent::AgentClient,
    http::{Call, Cause, Failure},
    zenoh::{Commands, Delivery, DeviceSession},
};
use link_protocol::{
    agent_api::{self, Hello, Welcome},
    envelope::Receipt,
    error_chain::chain,
    id::CommandId,
    limits,
    zenoh::Verb,
};
use tokio::sync::{Mutex, mpsc, oneshot};

pub(crate) use self::settings::Settings;
use super::{Ended, TURNED_AWAY_WAIT, asked_for, back_off, http, jittered};
use crate::inbox::Inbox;

/// The capacity of the message queue.
const MESSAGES: usize = 64;
/// Messages sent concurrently.
const AT_ONCE: usize = 8;
/// The interval of the device's heartbeat while nothing else is sent.
const BEAT: Duration = Duration::from_secs(25);
/// Unanswered heartbeats after which the session is closed.
const MISSED: u32 = 2;
/// How long a delivery waits for its receipt; the backend waits no longer.
const UNANSWERED: Duration = Duration::from_secs(10);
/// How long a message may wait for a session, in addition to the timeout of its answer.
const HANDED_IN: Duration = Duration::from_secs(5);
/// Consecutive failures after which HTTP is used for a while.
const PATIENCE: u32 = 2;
/// How long HTTP is used before zenoh is retried.
const ON_HTTP: Duration = Duration::from_secs(60);

/// A handle that sends messages to the backend.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    messages: mpsc::Sender<Message>,
    connected: Arc<AtomicBool>,
    device: AgentClient,
    fallback: bool,
}

/// The receiving end, for the session.
pub(crate) type Messages = Arc<Mutex<mpsc::Receiver<Message>>>;

/// A message for the session to send.
#[derive(Debug)]
pub(crate) enum Message {
    Send { verb: Verb, tail: String, body: Vec<u8>, patience: Duration, answer: Answer },
    Receipt(Receipt, Answer),
}

type Answer = oneshot::Sender<Result<Vec<u8>, Failure>>;

/// A delivery whose receipt is not sent yet.
struct Unanswered {
    command: CommandId,
    delivery: Delivery,
    since: Instant,
}

impl Link {
    /// Creates a link for the device of `client`. If `fallback`, messages use HTTP while there is
    /// no session.
    pub(crate) fn new(client: &AgentClient, fallback: bool) -> (Self, Messages) {
        let (messages, taken) = mpsc::channel(MESSAGES);
        let (connected, device) = (Arc::default(), client.clone());
        (Self { messages, connected, device, fallback }, Arc::new(Mutex::new(taken)))
    }

    /// Sends `body` to a path below `/api/v1`.
    pub(crate) async fn send(
        &self,
        verb: Verb,
        path: &str,
        body: Vec<u8>,
        patience: Duration,
    ) -> Result<(), Failure> {
        if !self.is_connected() {
            return self.send_over_http(verb, path, body, patience).await;
        }
        let tail = tail(&self.device, path);
        let (answer, answered) = oneshot::channel();
        let message = Message::Send { verb, tail, body, patience, answer };
        self.hand_in(message, answered, patience).await
    }

    /// Answers a delivery.
    pub(crate) async fn receipt(&self, receipt: &Receipt) -> Result<(), Failure> {
        if !self.is_connected() {
            return if self.fallback {
                self.device.receipt(receipt).await
            } else {
                Err(broken("there is no session with the router"))
            };
        }
        let (answer, answered) = oneshot::channel();
        let message = Message::Receipt(receipt.clone(), answer);
        self.hand_in(message, answered, limits::HANDLER_TIMEOUT).await
    }

    /// Returns whether a session with the router is open.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    async fn hand_in(
        &self,
        message: Message,
        answered: oneshot::Receiver<Result<Vec<u8>, Failure>>,
        patience: Duration,
    ) -> Result<(), Failure> {
        let ended = || broken("the session ended");
        self.messages.try_send(message).map_err(|_full_or_closed| ended())?;
        // If the session ends now, the message waits for the next session, which may never start.
        let answered = tokio::time::timeout(patience + HANDED_IN, answered).await;
        let answered = answered.map_err(|_late| ended())?;
        answered.map_err(|_dropped| ended())?.map(drop)
    }

    async fn send_over_http(
        &self,
        verb: Verb,
        path: &str,
        body: Vec<u8>,
        patience: Duration,
    ) -> Result<(), Failure> {
        if !self.fallback {
            return Err(broken("there is no session with the router"));
        }
        let path = format!("{}{path}", agent_api::PREFIX);
        let call = if verb == Verb::Put { Call::put(path) } else { Call::post(path) };
        self.device.http().call_for_status(call.bytes(body).timeout(patience)).await
    }
}

fn broken(why: &str) -> Failure {
    Failure::Unavailable { url: "zenoh".to_owned(), cause: Cause::Broken(why.to_owned()) }
}

/// Returns the part of a message's key after `up/`: a path of the device itself, or the logs.
fn tail(device: &AgentClient, path: &str) -> String {
    let own = format!("/agent/{}/", device.device());
    path.strip_prefix(&own).unwrap_or_else(|| path.trim_start_matches('/')).to_owned()
}

/// Connects and reconnects until the pipeline is stopped.
pub(crate) async fn run(settings: Settings, link: Link, messages: Messages, inbox: Inbox) {
    let mut messages = messages.lock().await;
    let mut failures = 0;
    loop {
        let ended = connect(&settings, &link, &mut messages, &inbox, &mut failures).await;
        link.connected.store(false, Ordering::Relaxed);
        drop_all(&mut messages);
        let (wait, asked) = match ended {
            Ended::Broken { retry_after } => {
                inbox.event(Event::Disconnected).await;
                failures += 1;
                (back_off(failures, retry_after), asked_for(retry_after))
            }
            Ended::Refused(error) => {
                tracing::error!("the backend refused this device: {error}");
                inbox.event(Event::TurnedAway { reason: error.reason }).await;
                let asked = asked_for(error.retry_after);
                (jittered(TURNED_AWAY_WAIT).max(asked), asked)
            }
        };
        if settings.fallback && failures >= PATIENCE {
            // Otherwise HTTP would contact the backend during the wait that the backend asked for.
            tokio::time::sleep(asked).await;
            tracing::warn!("cannot reach the router by zenoh; using HTTP for a while");
            let on_http = http::run(settings.client.clone(), inbox.clone());
            // `on_http` only returns at the timeout.
            let _over = tokio::time::timeout(jittered(ON_HTTP), on_http).await;
        } else {
            tokio::time::sleep(wait).await;
        }
    }
}

/// Drops the remaining messages; their senders retry.
fn drop_all(messages: &mut mpsc::Receiver<Message>) {
    while let Ok(message) = messages.try_recv() {
        drop(message);
    }
}

async fn connect(
    settings: &Settings,
    link: &Link,
    messages: &mut mpsc::Receiver<Message>,
    inbox: &Inbox,
    failures: &mut u32,
) -> Ended {
    let access = match settings.access().await {
        Ok(access) => access,
        Err(failure) => return failure.into(),
    };
    let session = match DeviceSession::join(&access, Arc::clone(&settings.key)).await {
        Ok(session) => session,
        Err(error) => {
            tracing::warn!("{}", chain(&error));
            return Ended::BROKEN;
        }
    };
    let ended = match open(&session, link, inbox).await {
        Ok(commands) => {
            tracing::info!("the command channel is ready, over zenoh");
            *failures = 0;
            serve(&session, &commands, messages, inbox).await
        }
        Err(ended) => ended,
    };
    session.close().await;
    ended
}

/// Sends the hello as soon as commands can arrive, and declares presence after its answer.
async fn open(session: &DeviceSession, link: &Link, inbox: &Inbox) -> Result<Open, Ended> {
    let unusable = |error| {
        tracing::warn!("{error}");
        Ended::BROKEN
    };
    let commands = session.commands().await.map_err(unusable)?;
    let hello = inbox.hello().await.ok_or(Ended::BROKEN)?;
    let welcome = greet(session, &hello).await?;
    link.connected.store(true, Ordering::Relaxed);
    inbox.event(Event::Welcomed(welcome)).await;
    let presence = session.announce().await.map_err(unusable)?;
    Ok(Open { commands, _presence: presence })
}

/// An open command channel.
struct Open {
    commands: Commands,
    _presence: link_client::zenoh::Presence,
}

async fn greet(session: &DeviceSession, hello: &Hello) -> Result<Welcome, Ended> {
    let body = serde_json::to_vec(hello).map_err(|_unwritable| Ended::BROKEN)?;
    let answer = session.ask(Verb::Post, "hello", body, limits::HANDLER_TIMEOUT).await;
    let answer = answer.map_err(Ended::from)?;
    serde_json::from_slice(&answer).map_err(|error| {
        tracing::warn!("the answer to the hello cannot be read: {error}");
        Ended::BROKEN
    })
}

async fn serve(
    session: &DeviceSession,
    open: &Open,
    messages: &mut mpsc::Receiver<Message>,
    inbox: &Inbox,
) -> Ended {
    let mut unanswered = VecDeque::new();
    let mut under_way = FuturesUnordered::new();
    let mut missed = 0;
    let mut beat = std::pin::pin!(tokio::time::sleep(jittered(BEAT)));
    let mut beating = std::pin::pin!(None);
    loop {
        let is_beating = beating.is_some();
        tokio::select! {
            delivery = open.commands.next() => {
                let Some(delivery) = delivery else { return Ended::BROKEN };
                take(delivery, &mut unanswered, inbox).await;
            }
            Some(message) = messages.recv(), if under_way.len() < AT_ONCE => {
                under_way.push(send(session, message, &mut unanswered));
            }
            Some(()) = under_way.next() => {}
            () = &mut beat, if !is_beating => {
                beating.set(Some(session.ask(Verb::Get, "commands", Vec::new(), UNANSWERED)));
            }
            answer = beaten(beating.as_mut()), if is_beating => {
                beating.set(None);
                match answer {
                    Ok(_) => missed = 0,
                    Err(refused @ Failure::Refused(_)) => return refused.into(),
                    Err(Failure::Unavailable { .. }) => missed += 1,
                }
                if missed >= MISSED {
                    tracing::warn!("the router stopped answering");
                    return Ended::BROKEN;
                }
                let next = if missed == 0 { jittered(BEAT) } else { Duration::from_secs(1) };
                beat.as_mut().reset(tokio::time::Instant::now() + next);
            }
        }
    }
}

async fn beaten<F: Future>(beating: std::pin::Pin<&mut Option<F>>) -> F::Output {
    match beating.as_pin_mut() {
        Some(beating) => beating.await,
        None => std::future::pending().await,
    }
}

/// Passes a delivery to the core; its receipt comes back as a message once the command is stored.
async fn take(delivery: Delivery, unanswered: &mut VecDeque<Unanswered>, inbox: &Inbox) {
    let now = Instant::now();
    unanswered.retain(|one| now.duration_since(one.since) < UNANSWERED);
    let (server_time, commands) = (delivery.poll.server_time, delivery.poll.commands.clone());
    // The unverified command id is only used to match this delivery with its receipt.
    let command = commands.first().and_then(|signed| signed.claimed_command());
    if let Some(command) = command {
        unanswered.push_back(Unanswered { command, delivery, since: now });
    }
    inbox.event(Event::Polled { server_time, commands }).await;
}

/// Sends one message and passes the answer to its sender.
fn send<'a>(
    session: &'a DeviceSession,
    message: Message,
    unanswered: &mut VecDeque<Unanswered>,
) -> impl Future<Output = ()> + use<'a> {
    let delivery = match &message {
        Message::Receipt(receipt, _) => {
            let place = unanswered.iter().position(|one| one.command == receipt.command_id);
            place.and_then(|place| unanswered.remove(place))
        }
        Message::Send { .. } => None,
    };
    async move {
        let (outcome, answer) = match message {
            Message::Send { verb, tail, body, patience, answer } => {
                (session.ask(verb, &tail, body, patience).await, answer)
            }
            Message::Receipt(receipt, answer) => {
                (acknowledge(session, &receipt, delivery).await, answer)
            }
        };
        // The sender may be gone because the agent is stopping.
        drop(answer.send(outcome));
    }
}

async fn acknowledge(
    session: &DeviceSession,
    receipt: &Receipt,
    unanswered: Option<Unanswered>,
) -> Result<Vec<u8>, Failure> {
    if let Some(Unanswered { delivery, .. }) = unanswered {
        match session.acknowledge(&delivery, receipt).await {
            Ok(()) => return Ok(Vec::new()),
            Err(error) => tracing::debug!("the receipt is sent separately: {error}"),
        }
    }
    // The delivery has timed out or came with the hello, so the receipt is sent separately.
    let tail = format!("commands/{}/receipt", receipt.command_id);
    let body = serde_json::to_vec(receipt).unwrap_or_default();
    session.ask(Verb::Post, &tail, body, limits::HANDLER_TIMEOUT).await
}
