//! The agent's stream of states.

use std::{fmt, time::Duration};

use link_protocol::local_api::{Healthz, KEEP_ALIVE, STATE_EVENT};

use crate::{
    event_stream::{Event, EventStream},
    exchange::Answer,
    http::{Cause, Failure},
};

/// The largest event, in bytes.
const EVENT_LIMIT: usize = 1024 * 1024;

/// An agent that sends nothing for this long counts as unreachable.
const SILENCE: Duration = KEEP_ALIVE.saturating_mul(3);

/// The states of an agent, as they arrive.
pub struct States {
    answer: Answer,
    events: EventStream,
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").field("of", &self.answer.name()).finish_non_exhaustive()
    }
}

impl States {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, events: EventStream::default() }
    }

    /// Waits for the next state. Returns `None` when the agent has ended the stream.
    ///
    /// # Errors
    /// [`Failure`] when the stream broke, was silent for too long, or was unreadable.
    pub async fn next(&mut self) -> Result<Option<Healthz>, Failure> {
        loop {
            while let Some(Event { kind, data }) = self.events.take() {
                if kind == STATE_EVENT {
                    let state = serde_json::from_str(&data);
                    return state.map(Some).map_err(|error| self.unreadable(&error.to_string()));
                }
            }
            let chunk = tokio::time::timeout(SILENCE, self.answer.chunk()).await;
            match chunk.map_err(|_| self.broken(Cause::Timeout))?? {
                Some(bytes) => self.events.add(&bytes),
                None => return Ok(None),
            }
            if self.events.waiting() > EVENT_LIMIT {
                return Err(self.unreadable("an event without an end"));
            }
        }
    }

    fn unreadable(&self, why: &str) -> Failure {
        self.broken(Cause::Unreadable(why.to_owned()))
    }

    fn broken(&self, cause: Cause) -> Failure {
        Failure::Unavailable { url: self.answer.name().to_owned(), cause }
    }
}
