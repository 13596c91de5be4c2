//! The agent's stream of states, read as it comes.

use std::{fmt, time::Duration};

use link_protocol::local_api::{Healthz, KEEP_ALIVE, STATE_EVENT};

use super::exchange::Answer;
use crate::http::{Cause, Failure};

/// The largest event that is read, in bytes.
const EVENT_LIMIT: usize = 1024 * 1024;

/// An agent from which nothing came for so long is gone.
const SILENCE: Duration = KEEP_ALIVE.saturating_mul(3);

/// The states of an agent, each when it comes.
pub struct States {
    answer: Answer,
    lines: Lines,
    event: Event,
}

/// What is known of the event that is being read.
#[derive(Debug, Default)]
struct Event {
    kind: String,
    data: String,
}

/// Bytes that are not a whole line yet.
#[derive(Debug, Default)]
struct Lines(Vec<u8>);

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").field("of", &self.answer.name()).finish_non_exhaustive()
    }
}

impl States {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, lines: Lines::default(), event: Event::default() }
    }

    /// Waits for the next state; nothing when the agent has ended the stream.
    ///
    /// # Errors
    /// [`Failure`] when the stream broke, nothing came for too long, or it could not be read.
    pub async fn next(&mut self) -> Result<Option<Healthz>, Failure> {
        loop {
            while let Some(line) = self.lines.take() {
                if let Some(data) = self.event.read(&line) {
                    let state = serde_json::from_str(&data);
                    return state.map(Some).map_err(|error| self.unreadable(&error.to_string()));
                }
            }
            let chunk = tokio::time::timeout(SILENCE, self.answer.chunk()).await;
            match chunk.map_err(|_| self.broken(Cause::Timeout))?? {
                Some(bytes) => self.lines.add(&bytes),
                None => return Ok(None),
            }
            if self.lines.0.len() + self.event.data.len() > EVENT_LIMIT {
                return Err(self.unreadable("an event that has no end"));
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

impl Event {
    /// Takes one line; returns the data of the event that it ends, if that tells a state.
    fn read(&mut self, line: &str) -> Option<String> {
        if line.is_empty() {
            let Self { kind, data } = std::mem::take(self);
            return (kind == STATE_EVENT && !data.is_empty()).then_some(data);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.kind),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // A comment, or a field that a later version has added.
            _ => {}
        }
        None
    }
}

impl Lines {
    fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn take(&mut self) -> Option<String> {
        let end = self.0.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.0.drain(..=end).collect();
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_their_bytes_arrive() {
        let text = ": alive\n\nevent: other\ndata: 0\n\nid: 7\nevent: state\r\ndata: {\"ü\":\n\
                    data:1}\r\n\r\nevent: state\ndata: 2\n\nevent: state\ndata: cut";
        for size in [1, 2, 3, 7, text.len()] {
            assert_eq!(read(text.as_bytes(), size), ["{\"ü\":\n1}", "2"], "{size}");
        }
    }

    fn read(bytes: &[u8], size: usize) -> Vec<String> {
        let (mut lines, mut event) = (Lines::default(), Event::default());
        let mut read = Vec::new();
        for chunk in bytes.chunks(size) {
            lines.add(chunk);
            while let Some(line) = lines.take() {
                read.extend(event.read(&line));
            }
        }
        read
    }
}
