//! The HTTP transport: a hello, then consecutive long polls.
//!
//! An answer without commands is a success. After a broken connection, retries wait up to a minute,
//! with random variation, so that a thousand devices do not reconnect at once. A longer wait that
//! the backend asks for is respected, up to a minute.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between retries")]

use std::time::Duration;

use link_agent_core::event::Event;
use link_client::agent::AgentClient;
use link_protocol::limits::POLL_WAIT;

use super::{Ended, TURNED_AWAY_WAIT, asked_for, back_off, jittered};
use crate::inbox::Inbox;

/// The wait after a poll whose deliveries were all ignored.
const WITHOUT_EFFECT_WAIT: Duration = Duration::from_secs(1);

/// Connects and reconnects until the pipeline is stopped.
pub(crate) async fn run(client: AgentClient, inbox: Inbox) {
    let mut failures = 0;
    loop {
        let wait = match connect(&client, &inbox, &mut failures).await {
            Ended::Broken { retry_after } => {
                inbox.event(Event::Disconnected).await;
                failures += 1;
                back_off(failures, retry_after)
            }
            Ended::Refused(error) => {
                tracing::error!("the backend refused this device: {error}");
                inbox.event(Event::TurnedAway { reason: error.reason }).await;
                jittered(TURNED_AWAY_WAIT).max(asked_for(error.retry_after))
            }
        };
        tokio::time::sleep(wait).await;
    }
}

async fn connect(client: &AgentClient, inbox: &Inbox, failures: &mut u32) -> Ended {
    let Some(hello) = inbox.hello().await else { return Ended::BROKEN };
    match client.hello(&hello).await {
        Ok(welcome) => {
            tracing::info!("the command channel is ready");
            inbox.event(Event::Welcomed(welcome)).await;
        }
        Err(failure) => return failure.into(),
    }
    // The end of the journal before the last poll, if that delivered commands.
    let mut before = None;
    loop {
        // The core answers only after it has stored the previous commands.
        let Some(hello) = inbox.hello().await else { return Ended::BROKEN };
        if before == Some(hello.last_seq) {
            // A command that the core ignores is delivered again by every poll. This wait prevents
            // a busy loop.
            tokio::time::sleep(WITHOUT_EFFECT_WAIT).await;
        }
        match client.poll(hello.last_seq, POLL_WAIT).await {
            Ok(poll) => {
                *failures = 0;
                let (server_time, commands) = (poll.server_time, poll.commands);
                before = (!commands.is_empty()).then_some(hello.last_seq);
                inbox.event(Event::Polled { server_time, commands }).await;
            }
            Err(failure) => return failure.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use axum::{
        Json, Router,
        http::{StatusCode, header},
        routing::{get, post},
    };
    use link_protocol::{
        agent_api::{Hello, Poll, Welcome},
        counter::{Epoch, Seq},
        id::DeviceId,
        secret::Secret,
        signing::Signed,
    };
    use tokio::{
        sync::mpsc::{UnboundedReceiver, unbounded_channel},
        time::Instant,
    };

    use super::*;
    use crate::inbox::Input;

    #[tokio::test]
    async fn a_delivery_that_cannot_be_taken_does_not_make_the_agent_poll_without_a_pause() {
        let polls = Arc::new(AtomicU32::new(0));
        let device: DeviceId = "dev_00000000000000000000000000000001".parse().unwrap();
        let client = AgentClient::new(&backend(&polls).await, device, Secret::new("t")).unwrap();
        let (inbox, mut asked) = Inbox::open();
        let core = async {
            while let Some(input) = asked.recv().await {
                if let Input::Hello(answer) = input {
                    answer.send(hello()).unwrap();
                }
            }
        };
        let both = async { tokio::join!(run(client, inbox), core) };
        let _elapsed = tokio::time::timeout(Duration::from_secs(3), both).await;
        let polls = polls.load(Ordering::SeqCst);
        assert!((1..=4).contains(&polls), "{polls} polls in 3 s");
    }

    #[tokio::test]
    async fn the_command_channel_comes_back_no_sooner_than_the_backend_asks() {
        for status in [503, 429] {
            let (address, mut hellos) = busy_backend(status).await;
            let device = "dev_00000000000000000000000000000001".parse().unwrap();
            let client = AgentClient::new(&address, device, Secret::new("t")).unwrap();
            let (inbox, mut asked) = Inbox::open();
            let core = async {
                while let Some(input) = asked.recv().await {
                    if let Input::Hello(answer) = input {
                        answer.send(hello()).unwrap();
                    }
                }
            };
            let two_hellos = async {
                let first = hellos.recv().await.unwrap();
                hellos.recv().await.unwrap() - first
            };
            let gap = tokio::select! {
                () = run(client, inbox) => unreachable!("the transport runs until it is dropped"),
                () = core => unreachable!("the inbox stays open"),
                gap = two_hellos => gap,
            };
            assert!(gap >= Duration::from_secs(3), "{status}: asked again after {gap:?}");
        }
    }

    /// Answers every hello with `status`, asks for a wait of three seconds, and reports the time of
    /// each hello.
    async fn busy_backend(status: u16) -> (String, UnboundedReceiver<Instant>) {
        let (asked_at, hellos) = unbounded_channel();
        let refuse = move || {
            // When the test is over, nothing receives this.
            let _over = asked_at.send(Instant::now());
            async move { (StatusCode::from_u16(status).unwrap(), [(header::RETRY_AFTER, "3")]) }
        };
        (listening(Router::new().fallback(refuse)).await, hellos)
    }

    /// Answers every poll at once with an unsigned delivery.
    async fn backend(polls: &Arc<AtomicU32>) -> String {
        let server_time = jiff::Timestamp::UNIX_EPOCH;
        let greet = move || async move {
            Json(Welcome { server_time, epoch: Epoch(1), commands: vec![], handover: None })
        };
        let polls = Arc::clone(polls);
        let answer = move || {
            polls.fetch_add(1, Ordering::SeqCst);
            let text = || "forged".to_owned();
            let forged = Signed { kid: text(), signature: text(), envelope: text() };
            async move { Json(Poll { server_time, commands: vec![forged] }) }
        };
        let router = Router::new()
            .route("/api/v1/agent/{device}/hello", post(greet))
            .route("/api/v1/agent/{device}/commands", get(answer));
        listening(router).await
    }

    async fn listening(router: Router) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        link_client::install_crypto();
        format!("http://{address}")
    }

    fn hello() -> Hello {
        Hello {
            epoch: Epoch(1),
            boot_id: "1".to_owned(),
            agent_version: semver::Version::new(1, 3, 0),
            last_seq: Seq(0),
            inflight: vec![],
            serving: vec![],
        }
    }
}
