//! The HTTP transport: a hello, then one long poll after another.
//!
//! An answer without commands is a success. A broken connection is tried again with growing waits,
//! up to a minute, and with chance in them, so that a thousand devices do not come back at once.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between tries")]

use std::time::Duration;

use link_agent_core::event::Event;
use link_client::{agent::AgentClient, http::HttpError};
use link_protocol::limits::POLL_WAIT;

use crate::run::Inbox;

/// The longest wait before the next try.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long to wait after the backend has said that it does not know the device.
const TURNED_AWAY_WAIT: Duration = Duration::from_secs(30);

/// Why a connection ended.
enum Ended {
    /// It may work again soon.
    Broken,
    /// The backend refused the device.
    Refused(HttpError),
}

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

fn refused(error: HttpError) -> Ended {
    match error.status {
        401 | 403 | 404 => Ended::Refused(error),
        // Anything else, such as a newer poll of this device, passes.
        _ => {
            tracing::warn!("the command channel was closed: {error}");
            Ended::Broken
        }
    }
}

fn back_off(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(6);
    jittered(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// A fifth more or less.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(rand::random_range(0.8..1.2))
}
