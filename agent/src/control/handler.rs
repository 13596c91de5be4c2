//! Handlers: they send the agent's reports and log records (specification, sections 2.3, 6 and 8).
//!
//! Each handler has a bounded queue and its own thread, so callers never wait. A transient failure
//! is retried after 0.5 s and 1.5 s, or after the backend's `Retry-After`; a rejection is final. What must not be lost is
//! attempted again after growing waits, until the backend has answered (decision 0054).

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between retries")]

mod backend;
pub(crate) mod console;
mod losses;

use std::{future::Future, time::Instant};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use link_agent_core::{outbox, record::Report};
use link_client::{http::Failure, retry};
use link_protocol::{
    limits,
    report::{LogRecord, TelemetryReport},
    system::SystemReport,
};

pub(crate) use self::backend::Target;
use self::losses::Losses;
use crate::control::{pipeline::Pipeline, queue::Queue};

/// The capacity of one handler's queue.
const BOUND: usize = 1024;

/// Something to send.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Report(Report),
    Telemetry(TelemetryReport),
    System(SystemReport),
    Log(LogRecord),
}

/// The destination of a handler's items.
#[derive(Clone, Debug)]
pub(crate) enum Sink {
    Console,
    Backend(Box<Target>),
}

/// What happens to an item that no try of an attempt has delivered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Undelivered {
    Lost,
    /// It is attempted again, until the backend has answered.
    Kept,
}

/// A running handler; dropping it stops its thread.
#[derive(Debug)]
pub(crate) struct Handler {
    _thread: Pipeline,
}

impl Sink {
    /// Sends `item` once; a failure that is `Unavailable` may be retried.
    pub(crate) async fn send(&self, item: &Item) -> Result<(), Failure> {
        match self {
            Self::Console => {
                console::print(item);
                Ok(())
            }
            Self::Backend(target) => target.send(item).await,
        }
    }

    /// Sends `item`, with up to three attempts.
    pub(crate) async fn deliver(&self, item: &Item) -> Result<(), Failure> {
        with_retries(|| self.send(item)).await
    }
}

impl Handler {
    /// Starts the thread of a handler called `name`, which sends the items of `queue`.
    pub(crate) fn start(
        name: &'static str,
        sink: Sink,
        queue: Queue<Item>,
    ) -> anyhow::Result<Self> {
        let thread =
            Pipeline::spawn(name, move |_stop| drain(name, sink, queue, 1, Undelivered::Lost))?;
        Ok(Self { _thread: thread })
    }

    /// Creates the queue of a handler.
    pub(crate) fn queue() -> Queue<Item> {
        Queue::new(BOUND)
    }
}

/// Sends the items of `queue`, `at_once` concurrently, and logs losses.
pub(crate) async fn drain(
    name: &str,
    sink: Sink,
    queue: Queue<Item>,
    at_once: usize,
    undelivered: Undelivered,
) {
    let started = Instant::now();
    let mut losses = Losses::default();
    let mut under_way = FuturesUnordered::new();
    loop {
        let wait = losses.wait(queue.dropped(), started.elapsed());
        tokio::select! {
            Some(()) = under_way.next() => {}
            item = queue.pop(), if under_way.len() < at_once => {
                under_way.push(deliver(name, &sink, &queue, undelivered, item));
            }
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
        }
        if let Some(lost) = losses.due(queue.dropped(), started.elapsed()) {
            tracing::warn!(
                category = "reporting",
                "{name}: {lost} items were lost: the backend did not accept them, or the queue was \
                 full"
            );
        }
    }
}

async fn deliver(
    name: &str,
    sink: &Sink,
    queue: &Queue<Item>,
    undelivered: Undelivered,
    item: Item,
) {
    let mut failures = 0;
    loop {
        match (sink.deliver(&item).await, undelivered) {
            (Ok(()), _) => return,
            (Err(failure @ Failure::Unavailable { .. }), Undelivered::Kept) => {
                tracing::debug!("{name}: waiting: {failure}");
                let asked = failure.retry_after().unwrap_or_default().min(limits::RETRY_AFTER_CAP);
                tokio::time::sleep(outbox::wait_after(failures).max(asked)).await;
                failures += 1;
            }
            (Err(failure), _) => {
                queue.count_lost(1);
                tracing::debug!("{name}: lost: {failure}");
                return;
            }
        }
    }
}

/// Calls `send` up to three times, and retries no sooner than the backend asks.
pub(crate) async fn with_retries<F, Sending>(send: F) -> Result<(), Failure>
where
    F: Fn() -> Sending,
    Sending: Future<Output = Result<(), Failure>>,
{
    let mut failed = 0;
    loop {
        let failure = match send().await {
            Err(failure @ Failure::Unavailable { .. }) => failure,
            ended => return ended,
        };
        failed += 1;
        let Some(wait) = retry::delay_after(failed, failure.retry_after()) else {
            return Err(failure);
        };
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests;
