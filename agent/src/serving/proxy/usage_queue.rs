//! Carries usage from a frontend to the serving pipeline of its model.
//!
//! The queue is bounded, and serving never waits for it. Usage that does not fit is counted, so
//! that the loss can be reported.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use link_protocol::{limits, report::TelemetryReport};
use tokio::sync::mpsc;

/// The sending end, for the proxy.
#[derive(Clone, Debug)]
pub(super) struct UsageSender {
    queue: mpsc::Sender<TelemetryReport>,
    lost: Arc<AtomicU64>,
}

/// The receiving end, for the pipeline.
#[derive(Debug)]
pub(super) struct UsageReceiver {
    queue: mpsc::Receiver<TelemetryReport>,
    lost: Arc<AtomicU64>,
}

/// Creates both ends for one pipeline.
pub(super) fn usage_queue() -> (UsageSender, UsageReceiver) {
    let (sender, receiver) = mpsc::channel(limits::USAGE_QUEUE);
    let lost = Arc::<AtomicU64>::default();
    (UsageSender { queue: sender, lost: lost.clone() }, UsageReceiver { queue: receiver, lost })
}

impl UsageSender {
    /// Sends the usage of one inference.
    pub(super) fn send(&self, report: TelemetryReport) {
        if self.queue.try_send(report).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl UsageReceiver {
    /// Waits for the next report, and returns it with the number of reports lost since the previous
    /// one. Returns `None` once the last sender is dropped.
    pub(super) async fn next(&mut self) -> Option<(TelemetryReport, u64)> {
        let report = self.queue.recv().await?;
        Some((report, self.lost.swap(0, Ordering::Relaxed)))
    }

    /// Returns a queued report without waiting.
    #[cfg(test)]
    pub(super) fn at_hand(&mut self) -> Option<TelemetryReport> {
        self.queue.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use link_protocol::report::Provenance;

    use super::*;

    #[tokio::test]
    async fn what_does_not_fit_is_counted_and_told_once() {
        let (sender, mut receiver) = usage_queue();
        (0..limits::USAGE_QUEUE + 5).for_each(|_| sender.send(report()));
        assert_eq!(receiver.next().await.unwrap().1, 5);
        assert_eq!(receiver.next().await.unwrap().1, 0);
    }

    fn report() -> TelemetryReport {
        TelemetryReport {
            inference_id: "inf_00000000000000000000000000000001".parse().unwrap(),
            model_id: "mdl_00000000000000000000000000000001".parse().unwrap(),
            prompt_tokens: None,
            completion_tokens: None,
            provenance: Provenance::Absent,
            audio_ms: None,
            images: None,
            duration_ms: 1,
            time_to_first_token_ms: None,
        }
    }
}
