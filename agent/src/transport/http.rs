//! The HTTP transport: a hello, then one long poll after another.
//!
//! An answer without commands is a success. A broken connection is tried again with growing waits,
//! up to a minute, and with chance in them, so that a thousand devices do not come back at once.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between tries")]

use link_agent_core::event::Event;
use link_client::agent::AgentClient;
use link_protocol::limits::POLL_WAIT;

use super::{Ended, TURNED_AWAY_WAIT, back_off, jittered, refused};
use crate::run::Inbox;

/// Connects again and again until the pipeline is stopped.
pub(crate) async fn run(client: AgentClient, inbox: Inbox) {
    let mut failures = 0;
    loop {
        let wait = match connect(&client, &inbox, &mut failures).await {
            Ended::Broken => {
                inbox.event(Event::Disconnected).await;
                failures += 1;
                back_off(failures)
            }
            Ended::Refused(error) => {
                tracing::error!("the backend refused this device: {error}");
                inbox.event(Event::TurnedAway { reason: error.reason }).await;
                jittered(TURNED_AWAY_WAIT)
            }
        };
        tokio::time::sleep(wait).await;
    }
}

async fn connect(client: &AgentClient, inbox: &Inbox, failures: &mut u32) -> Ended {
    let Some(hello) = inbox.hello().await else { return Ended::Broken };
    match client.hello(&hello).await {
        Ok(Some(welcome)) => {
            tracing::info!("the command channel is ready");
            inbox.event(Event::Welcomed(welcome)).await;
        }
        Ok(None) => return Ended::Broken,
        Err(error) => return refused(error),
    }
    loop {
        // The answer comes from the core after it has written down what arrived before.
        let Some(hello) = inbox.hello().await else { return Ended::Broken };
        match client.poll(hello.last_seq, POLL_WAIT).await {
            Ok(Some(poll)) => {
                *failures = 0;
                let (server_time, commands) = (poll.server_time, poll.commands);
                inbox.event(Event::Polled { server_time, commands }).await;
            }
            Ok(None) => return Ended::Broken,
            Err(error) => return refused(error),
        }
    }
}
