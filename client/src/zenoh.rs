//! A device's session with a zenoh router: sends signed messages and receives commands.
//!
//! There is one session per slot. The session's owner must run on a multi-threaded runtime, because closing a zenoh
//! session requires one.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use link_protocol::{
    agent_api::Poll,
    envelope::Receipt,
    problem::{self, Problem},
    signing::SigningKey,
    zenoh::{
        BUFFER, Endpoint, InvalidEndpoint, MAX_MESSAGE, Proof, SessionId, Slot, Verb, ZenohAccess,
    },
};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};
use zenoh::{
    Config, Session,
    bytes::Encoding,
    handlers::FifoChannelHandler,
    liveliness::LivelinessToken,
    query::{ConsolidationMode, Query, Queryable},
};

use crate::{
    http::{Cause, Failure, HttpError},
    retry::{self, Verdict},
};

/// The timeout for joining a router. A wrong password causes a timeout, too.
const JOIN: Duration = Duration::from_secs(10);
/// The largest number of endpoints that are tried.
const ENDPOINTS: usize = 16;
/// The capacity of the queue of commands.
const COMMANDS: usize = 64;
/// The timeout for closing a session.
const CLOSE: Duration = Duration::from_secs(5);

/// The router did not admit the device, or the session is unusable.
#[derive(Debug, thiserror::Error)]
pub enum NoSession {
    /// The user name is not valid in a key expression.
    #[error("`{0}` is not the name of a slot")]
    NoSlot(String),
    /// The endpoint has parameters, which zenoh would interpret, including file paths.
    #[error(
        "an endpoint cannot be used; correct `endpoints` of the backend's zenoh or of this device"
    )]
    NoEndpoint(#[from] InvalidEndpoint),
    /// zenoh does not distinguish a wrong password from a wrong certificate or a missing router.
    #[error("no router at {endpoints} admitted this device: {cause}")]
    NotJoined { endpoints: String, cause: String },
    /// The declaration of a queryable or a liveliness token failed.
    #[error("the session with the router cannot be used: {0}")]
    Unusable(String),
}

/// A device that has joined a router.
#[derive(Debug)]
pub struct DeviceSession {
    session: Session,
    slot: Slot,
    key: Arc<SigningKey>,
}

/// The receiver of arriving commands.
#[derive(Debug)]
pub struct Commands {
    queries: Queryable<FifoChannelHandler<Query>>,
}

/// A delivery of commands that waits for its receipt. Dropping it sends no receipt.
#[derive(Debug)]
pub struct Delivery {
    query: Query,
    /// The delivered message.
    pub poll: Poll,
}

/// Announces the device as present until the value is dropped.
#[derive(Debug)]
pub struct Presence(#[expect(dead_code, reason = "held, not read")] LivelinessToken);

impl DeviceSession {
    /// Joins the router of `access` as the device with `key`.
    ///
    /// # Errors
    /// [`NoSession`] when no router admits the device within ten seconds.
    pub async fn join(access: &ZenohAccess, key: Arc<SigningKey>) -> Result<Self, NoSession> {
        let slot = Slot::named(&access.username)
            .ok_or_else(|| NoSession::NoSlot(access.username.chars().take(100).collect()))?;
        let reached = endpoints(access)?;
        let endpoints = reached.join(", ");
        let not_joined = |cause: String| NoSession::NotJoined { endpoints, cause };
        let config = match config(access, &slot, &reached) {
            Ok(config) => config,
            Err(cause) => return Err(not_joined(cause)),
        };
        // zenoh's own timeout starts later, after it has resolved the router's name.
        match tokio::time::timeout(JOIN + CLOSE, zenoh::open(config)).await {
            Ok(Ok(session)) => Ok(Self { session, slot, key }),
            Ok(Err(error)) => Err(not_joined(error.to_string())),
            Err(_late) => Err(not_joined("timed out".to_owned())),
        }
    }

    /// Receives commands from now on.
    ///
    /// # Errors
    /// [`NoSession::Unusable`] if the declaration fails.
    pub async fn commands(&self) -> Result<Commands, NoSession> {
        let declared = self.session.declare_queryable(self.slot.commands());
        let queries = declared
            .with(zenoh::handlers::FifoChannel::new(COMMANDS))
            .await
            .map_err(|error| NoSession::Unusable(error.to_string()))?;
        Ok(Commands { queries })
    }

    /// Announces that the device is present.
    ///
    /// # Errors
    /// [`NoSession::Unusable`] if the declaration fails.
    pub async fn announce(&self) -> Result<Presence, NoSession> {
        let declared = self.session.liveliness().declare_token(self.slot.presence()).await;
        declared.map(Presence).map_err(|error| NoSession::Unusable(error.to_string()))
    }

    /// Sends `body` to the slot's key for `tail`, and returns the body of the answer.
    ///
    /// # Errors
    /// [`Failure`], as over HTTP: a call without an answer may be retried, a refused call may not.
    pub async fn ask(
        &self,
        verb: Verb,
        tail: &str,
        body: Vec<u8>,
        patience: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let key = self.slot.uplink(tail);
        let unavailable = |cause| Failure::Unavailable { url: format!("zenoh:{key}"), cause };
        let proof = Proof::sign(&self.key, verb, &key, &body);
        let replies = self
            .session
            .get(&key)
            .payload(body)
            .attachment(proof.to_text())
            .encoding(Encoding::APPLICATION_JSON)
            .consolidation(ConsolidationMode::None)
            .timeout(patience)
            .await
            .map_err(|error| unavailable(Cause::Unreadable(error.to_string())))?;
        let Ok(reply) = replies.recv_async().await else {
            return Err(unavailable(Cause::Timeout));
        };
        match reply.into_result() {
            Ok(sample) => Ok(sample.payload().to_bytes().into_owned()),
            Err(error) => Err(refusal(&error.payload().to_bytes(), error.encoding(), unavailable)),
        }
    }

    /// Closes the session.
    pub async fn close(self) {
        match tokio::time::timeout(CLOSE, self.session.close()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!("the session did not close: {error}"),
            Err(_late) => tracing::debug!("the session did not close in time"),
        }
    }

    /// Acknowledges a delivery. The command is already in the journal.
    ///
    /// # Errors
    /// [`NoSession::Unusable`] if the receipt cannot be sent. The backend then delivers the command again.
    pub async fn acknowledge(
        &self,
        delivery: &Delivery,
        receipt: &Receipt,
    ) -> Result<(), NoSession> {
        let unusable = |cause: String| NoSession::Unusable(cause);
        let body = serde_json::to_vec(receipt).map_err(|error| unusable(error.to_string()))?;
        let key = delivery.query.key_expr();
        let proof = Proof::sign(&self.key, Verb::Receipt, key.as_str(), &body);
        delivery
            .query
            .reply(key, body)
            .attachment(proof.to_text())
            .encoding(Encoding::APPLICATION_JSON)
            .await
            .map_err(|error| unusable(error.to_string()))
    }
}

impl Commands {
    /// Waits for the next delivery. Returns `None` when the session has ended. An unreadable delivery is skipped: it
    /// gets no receipt and is delivered again.
    pub async fn next(&self) -> Option<Delivery> {
        loop {
            let query = self.queries.recv_async().await.ok()?;
            let body = query.payload().map(|body| body.to_bytes().into_owned()).unwrap_or_default();
            match serde_json::from_slice(&body) {
                Ok(poll) => return Some(Delivery { query, poll }),
                Err(error) => tracing::warn!("a delivery could not be read: {error}"),
            }
        }
    }
}

/// Returns the failure of an error reply. The encoding distinguishes a problem document of the backend
/// from an error of zenoh itself.
fn refusal(
    body: &[u8],
    encoding: &Encoding,
    unavailable: impl FnOnce(Cause) -> Failure,
) -> Failure {
    if *encoding != Encoding::from(problem::CONTENT_TYPE) {
        return unavailable(Cause::Timeout);
    }
    let problem = match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => Box::new(problem),
        Err(error) => return unavailable(Cause::Unreadable(error.to_string())),
    };
    let status = problem.status;
    match retry::judge(status) {
        Verdict::Refused => Failure::Refused(HttpError {
            status,
            reason: problem.detail.clone(),
            retryable: false,
            problem: Some(problem),
            retry_after: None,
        }),
        Verdict::Success | Verdict::Retryable => {
            unavailable(Cause::Status { status, problem: Some(problem), retry_after: None })
        }
    }
}

/// Parses the endpoints from the backend or from this device's own configuration.
fn endpoints(access: &ZenohAccess) -> Result<Vec<String>, InvalidEndpoint> {
    let read = |text: &String| text.parse::<Endpoint>();
    let endpoints = access.endpoints.iter().take(ENDPOINTS).map(read);
    let endpoints = endpoints.collect::<Result<Vec<_>, _>>()?;
    for open in endpoints.iter().filter(|endpoint| endpoint.is_open_to_others()) {
        tracing::warn!(
            "the connection to {open} has no TLS: anybody on the path can read and drop the messages of \
             this device"
        );
    }
    Ok(endpoints.iter().map(Endpoint::to_string).collect())
}

/// Returns the identifier of a new session of `slot`. `None` for the slot of a router with slots of its own: zenoh then
/// chooses an identifier.
fn session_id(slot: &Slot) -> Option<SessionId> {
    let mut random = [0; 8];
    SystemRandom::new().fill(&mut random).ok()?;
    Some(SessionId::of_slot(slot.number()?, u64::from_le_bytes(random)))
}

fn config(access: &ZenohAccess, slot: &Slot, endpoints: &[String]) -> Result<Config, String> {
    let join = u64::try_from(JOIN.as_millis()).unwrap_or(u64::MAX);
    let mut settings: Vec<(&str, Value)> = vec![
        ("mode", "client".into()),
        ("connect/endpoints", json!(endpoints)),
        ("connect/timeout_ms", join.into()),
        ("connect/exit_on_failure", true.into()),
        ("scouting/multicast/enabled", false.into()),
        ("scouting/gossip/enabled", false.into()),
        ("transport/auth/usrpwd/user", access.username.as_str().into()),
        ("transport/auth/usrpwd/password", access.password.expose().into()),
        ("transport/link/rx/max_message_size", MAX_MESSAGE.into()),
        ("transport/link/rx/buffer_size", BUFFER.into()),
        ("transport/link/tx/batch_size", BUFFER.into()),
        // The router has the same lease.
        ("transport/link/tx/lease", 30_000.into()),
        ("transport/link/tx/threads", 1.into()),
    ];
    if let Some(authority) = &access.root_ca {
        let authority = STANDARD.encode(authority);
        settings.push(("transport/link/tls/root_ca_certificate_base64", authority.into()));
    }
    if let Some(id) = session_id(slot) {
        settings.push(("id", id.to_string().into()));
    }
    let mut config = Config::default();
    for (name, value) in settings {
        config
            .insert_json5(name, &value.to_string())
            .map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use link_protocol::{error_chain::chain, secret::Secret};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_a_backend_names_opens_no_file_and_takes_no_other_way() {
        for endpoint in [
            "tls/127.0.0.1:28022#root_ca_certificate_file=/tmp/a;connect_private_key=/tmp/k",
            "tls/127.0.0.1:28022?rel=0",
            "unixsock-stream//tmp/socket",
            "serial/dev/ttyS0#baudrate=1",
        ] {
            let access = ZenohAccess {
                endpoints: vec!["tcp/127.0.0.1:9".to_owned(), endpoint.to_owned()],
                username: "s1".to_owned(),
                password: Secret::new("p"),
                root_ca: None,
            };
            let key = Arc::new(SigningKey::from_seed(&[1; 32]));
            let refused = DeviceSession::join(&access, key).await.unwrap_err();
            assert!(matches!(refused, NoSession::NoEndpoint(_)), "{refused}");
            assert!(chain(&refused).contains("is not an endpoint such as"), "{refused}");
        }
    }
}
