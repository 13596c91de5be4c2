//! Reports: one handler delivers those that must not be lost and reports the outcome to the outbox;
//! every other handler gets a copy. Receipts use the command channel. No caller waits.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use link_agent_core::{
    event::Event,
    record::{OutboxEntry, Report},
};
use link_client::http::Failure;
use link_protocol::{
    config::{ReportingConfig, ReportingHandler},
    envelope::Receipt,
    limits,
    report::TelemetryReport,
    system::SystemReport,
};
use tokio::sync::mpsc;

use crate::{
    control::{
        handler::{self, Handler, Item, Sink, Target, Undelivered, with_retries},
        pipeline::Pipeline,
        queue::Queue,
        transport::Ways,
    },
    inbox::Inbox,
};

/// Usage reports sent concurrently. Together with a measurement they are as many as the connections that the backend
/// reserves for one device.
const USAGE_SENDERS: usize = 3;

/// The capacity of the receipt queue.
const RECEIPTS: usize = 1024;

/// Accepts reports for sending.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    receipts: mpsc::Sender<Receipt>,
    reports: mpsc::Sender<OutboxEntry>,
    /// Usage, which waits while the backend is away, for the delivering handler.
    usage: Queue<Item>,
    /// Measurements, which may be lost, for the delivering handler.
    samples: Queue<Item>,
    copies: Vec<Queue<Item>>,
    copied: Arc<AtomicU64>,
}

/// The threads of the handlers; dropping them stops them.
#[derive(Debug)]
pub(crate) struct Handlers {
    _delivering: Pipeline,
    _copying: Vec<Handler>,
}

impl Reporter {
    /// Starts the handlers of `config`.
    pub(crate) fn start(
        config: &ReportingConfig,
        ways: Ways,
        inbox: Inbox,
    ) -> anyhow::Result<(Self, Handlers)> {
        let mut sinks: Vec<Sink> =
            config.handlers.iter().map(|handler| sink(handler, &ways)).collect();
        let delivers = |sink: &Sink| !matches!(sink, Sink::Console);
        // The configuration check refuses a configuration without such a handler.
        let first = sinks.iter().position(delivers).map(|place| sinks.remove(place));
        let delivering = first.unwrap_or(Sink::Console);
        let (receipts, receipts_in) = mpsc::channel(RECEIPTS);
        // The outbox sends one report at a time.
        let (reports, reports_in) = mpsc::channel(1);
        let (usage, samples) = (Queue::new(limits::USAGE_QUEUE), Handler::queue());
        let (usages, measurements) = (usage.clone(), samples.clone());
        let thread = Pipeline::spawn("reports", move |_stop| async move {
            let [one, second, third] = [delivering.clone(), delivering.clone(), delivering];
            tokio::join!(
                send_receipts(&ways, receipts_in),
                send_reports(&one, reports_in, inbox),
                handler::drain("usage", second, usages, USAGE_SENDERS, Undelivered::Kept),
                handler::drain("measurements", third, measurements, 1, Undelivered::Lost),
            );
        })?;
        let mut copying = Vec::new();
        let mut copies = Vec::new();
        for sink in sinks {
            let queue = Handler::queue();
            copies.push(queue.clone());
            copying.push(Handler::start("copies", sink, queue)?);
        }
        let handlers = Handlers { _delivering: thread, _copying: copying };
        let copied = Arc::default();
        Ok((Self { receipts, reports, usage, samples, copies, copied }, handlers))
    }

    /// Sends a receipt. If it is lost, the backend delivers the command again.
    pub(crate) fn receipt(&self, receipt: Receipt) {
        if self.receipts.try_send(receipt).is_err() {
            tracing::warn!(
                "too many receipts are waiting; the backend will deliver the command again"
            );
        }
    }

    /// Sends the outbox's next report; the outcome comes back as an event.
    pub(crate) fn report(&self, entry: OutboxEntry) {
        let id = entry.id;
        // A retried report was copied before. Ids only grow.
        if self.copied.fetch_max(id + 1, Ordering::Relaxed) <= id {
            self.copy(&Item::Report(entry.report.clone()));
        }
        if self.reports.try_send(entry).is_err() {
            tracing::error!(id, "a second report arrived before the first was sent");
        }
    }

    /// Sends the usage of one inference, and counts `lost` usages that did not fit.
    pub(crate) fn usage(&self, usage: TelemetryReport, lost: u64) {
        self.usage.count_lost(lost);
        self.hand_in(&self.usage, Item::Telemetry(usage));
    }

    /// Sends a measurement of this machine.
    pub(crate) fn system(&self, report: SystemReport) {
        self.hand_in(&self.samples, Item::System(report));
    }

    /// Returns the number of usage reports and measurements lost because a queue was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.usage.dropped()
            + self.samples.dropped()
            + self.copies.iter().map(Queue::dropped).sum::<u64>()
    }

    fn hand_in(&self, queue: &Queue<Item>, item: Item) {
        self.copy(&item);
        queue.push(item);
    }

    fn copy(&self, item: &Item) {
        self.copies.iter().for_each(|queue| queue.push(item.clone()));
    }
}

fn sink(handler: &ReportingHandler, ways: &Ways) -> Sink {
    let (way, targets) = match handler {
        ReportingHandler::Console(_) => return Sink::Console,
        ReportingHandler::Http(targets) => (ways.http(), targets),
        ReportingHandler::Zenoh(targets) => (ways.zenoh(), targets),
    };
    Sink::Backend(Box::new(Target::of_reports(way, ways.device(), targets.clone())))
}

async fn send_receipts(ways: &Ways, mut queue: mpsc::Receiver<Receipt>) {
    while let Some(receipt) = queue.recv().await {
        match with_retries(|| ways.receipt(&receipt)).await {
            Ok(()) => {}
            Err(failure @ Failure::Unavailable { .. }) => {
                tracing::debug!(command = %receipt.command_id, "receipt not sent: {failure}");
            }
            Err(Failure::Refused(error)) => {
                tracing::warn!(command = %receipt.command_id, "receipt refused: {error}");
            }
        }
    }
}

async fn send_reports(sink: &Sink, mut queue: mpsc::Receiver<OutboxEntry>, inbox: Inbox) {
    while let Some(OutboxEntry { id, report, .. }) = queue.recv().await {
        let event = fate(id, sink.deliver(&Item::Report(report)).await);
        inbox.event(event).await;
    }
}

/// Maps a delivery to its event. A 401 rejects the device, not the report.
fn fate(id: u64, delivered: Result<(), Failure>) -> Event {
    match delivered {
        Ok(()) => Event::ReportSent { id },
        Err(failure @ Failure::Unavailable { .. }) => {
            Event::ReportDeferred { id, retry_after: failure.retry_after() }
        }
        Err(Failure::Refused(error)) if error.status == 401 => {
            tracing::warn!(
                id,
                "a report is waiting: the backend does not accept this device: {error}"
            );
            Event::ReportUnauthorized { id, reason: error.to_string() }
        }
        Err(Failure::Refused(error)) => {
            tracing::warn!(id, "a report was refused and set aside: {error}");
            Event::ReportRefused { id, reason: error.to_string() }
        }
    }
}

/// Sends the last report of this run, without retries, because the stop waits for it.
pub(crate) async fn say_farewell(config: &ReportingConfig, ways: &Ways, report: Report) {
    let delivering = config.handlers.iter().find_map(|handler| match sink(handler, ways) {
        Sink::Console => None,
        Sink::Backend(target) => Some(Sink::Backend(target)),
    });
    let Some(sink) = delivering else { return };
    match sink.send(&Item::Report(report)).await {
        Ok(()) => {}
        Err(failure) => tracing::debug!("the backend did not accept the last report: {failure}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use link_client::http::{Cause, HttpError};

    use super::*;

    // Holds: S7-5, S7-6
    #[test]
    fn no_4xx_is_tried_again_and_a_401_waits_for_the_next_hello() {
        for status in [400, 403, 404, 409, 410, 422, 429] {
            let event = fate(7, Err(refusal(status)));
            assert!(matches!(event, Event::ReportRefused { id: 7, .. }), "{status}: {event:?}");
        }
        let event = fate(7, Err(refusal(401)));
        assert!(matches!(event, Event::ReportUnauthorized { id: 7, .. }), "{event:?}");
        let event = fate(7, Err(busy(None)));
        assert!(matches!(event, Event::ReportDeferred { id: 7, retry_after: None }), "{event:?}");
        assert!(matches!(fate(7, Ok(())), Event::ReportSent { id: 7 }));
    }

    #[test]
    fn the_outbox_hears_how_long_the_backend_asks_to_wait() {
        let wait = Some(Duration::from_secs(30));
        let event = fate(7, Err(busy(wait)));
        assert!(
            matches!(event, Event::ReportDeferred { id: 7, retry_after } if retry_after == wait),
            "{event:?}"
        );
    }

    fn refusal(status: u16) -> Failure {
        let reason = "refused".to_owned();
        let refused =
            HttpError { status, reason, retryable: false, problem: None, retry_after: None };
        Failure::Refused(refused)
    }

    fn busy(retry_after: Option<Duration>) -> Failure {
        let cause = Cause::Status { status: 503, problem: None, retry_after };
        Failure::Unavailable { url: "http://backend".to_owned(), cause }
    }
}
