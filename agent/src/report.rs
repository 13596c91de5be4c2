//! Sends receipts, reports and token usage; each kind has a queue of its own, so that a slow one
//! holds up no other, and no caller ever waits.
//!
//! A failure that may be temporary is tried again after 0.5 s and 1.5 s; what is left then is the
//! outbox's business. Usage is dropped when its queue is full, and the drops are counted.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between tries")]

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use link_agent_core::{
    event::Event,
    record::{OutboxEntry, Report},
};
use link_client::{agent::AgentClient, http::HttpError};
use link_protocol::{envelope::Receipt, limits::RETRY_DELAYS, report::TelemetryReport};
use tokio::sync::mpsc;

use crate::{pipeline::Pipeline, run::Inbox};

/// Receipts and usage that may wait to be sent.
const QUEUE: usize = 1024;

/// Where reports are handed in.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    receipts: mpsc::Sender<Receipt>,
    reports: mpsc::Sender<OutboxEntry>,
    usage: mpsc::Sender<TelemetryReport>,
    dropped: Arc<AtomicU64>,
}

impl Reporter {
    /// Starts the thread that sends.
    pub(crate) fn start(client: AgentClient, inbox: Inbox) -> anyhow::Result<(Self, Pipeline)> {
        let (receipts, receipts_in) = mpsc::channel(QUEUE);
        // The outbox hands in one report at a time.
        let (reports, reports_in) = mpsc::channel(1);
        let (usage, usage_in) = mpsc::channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let pipeline = Pipeline::spawn("reports", move |_stop| async move {
            tokio::join!(
                send_receipts(&client, receipts_in),
                send_reports(&client, reports_in, inbox),
                send_usage(&client, usage_in),
            );
        })?;
        Ok((Self { receipts, reports, usage, dropped }, pipeline))
    }

    /// Hands in a receipt. One that is lost is asked for again.
    pub(crate) fn receipt(&self, receipt: Receipt) {
        if self.receipts.try_send(receipt).is_err() {
            tracing::warn!("too many receipts wait; the backend will deliver again");
        }
    }

    /// Hands in the outbox's next report; its fate comes back as an event.
    pub(crate) fn report(&self, entry: OutboxEntry) {
        let id = entry.id;
        if self.reports.try_send(entry).is_err() {
            tracing::error!(id, "a second report was handed in before the first was sent");
        }
    }

    /// Hands in the usage of one inference.
    pub(crate) fn usage(&self, usage: TelemetryReport) {
        if self.usage.try_send(usage).is_err() {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::warn!(dropped, "token usage was dropped: too much waits to be sent");
        }
    }
}

async fn send_receipts(client: &AgentClient, mut queue: mpsc::Receiver<Receipt>) {
    while let Some(receipt) = queue.recv().await {
        match with_retries(|| client.receipt(&receipt)).await {
            Ok(true) => {}
            Ok(false) => tracing::debug!(command = %receipt.command_id, "receipt not sent"),
            Err(error) => tracing::warn!(command = %receipt.command_id, "receipt refused: {error}"),
        }
    }
}

async fn send_reports(client: &AgentClient, mut queue: mpsc::Receiver<OutboxEntry>, inbox: Inbox) {
    while let Some(entry) = queue.recv().await {
        let id = entry.id;
        let event = match with_retries(|| send(client, &entry.report)).await {
            Ok(true) => Event::ReportSent { id },
            Ok(false) => Event::ReportDeferred { id },
            // A token that no longer counts says nothing about the report.
            Err(error) if error.status == 401 => Event::ReportDeferred { id },
            Err(error) => Event::ReportRefused { id, reason: error.to_string() },
        };
        if let Event::ReportRefused { reason, .. } = &event {
            tracing::warn!(id, "a report was refused and set aside: {reason}");
        }
        inbox.event(event).await;
    }
}

async fn send_usage(client: &AgentClient, mut queue: mpsc::Receiver<TelemetryReport>) {
    while let Some(usage) = queue.recv().await {
        if let Err(error) = with_retries(|| client.telemetry(&usage)).await {
            tracing::warn!("token usage was refused: {error}");
        }
    }
}

async fn send(client: &AgentClient, report: &Report) -> Result<bool, HttpError> {
    match report {
        Report::Lifecycle(report) => client.lifecycle(report).await,
        Report::Command(report) => client.command_status(report).await,
        Report::Model(report) => client.model_status(report).await,
        Report::Progress { model_id, progress } => client.progress(*model_id, progress).await,
    }
}

async fn with_retries<F, Sending>(send: F) -> Result<bool, HttpError>
where
    F: Fn() -> Sending,
    Sending: Future<Output = Result<bool, HttpError>>,
{
    for delay in RETRY_DELAYS {
        if send().await? {
            return Ok(true);
        }
        tokio::time::sleep(delay).await;
    }
    send().await
}
