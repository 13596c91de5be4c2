//! A response body that passes through unchanged while a scanner reads a copy.
//!
//! Usage is sent when the body ends: complete, with an error, or because the client has
//! disconnected.

#![expect(clippy::disallowed_methods, reason = "IO shell: measures how long an inference takes")]

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use link_agent_core::usage::{Framing, Scanner};
use link_protocol::{
    id::{InferenceId, ModelId},
    plugin::Unit,
    report::TelemetryReport,
};

use super::usage_queue::UsageSender;

/// Measures one inference.
#[derive(Debug)]
pub(super) struct Meter {
    scanner: Option<Scanner>,
    model_id: ModelId,
    usage: UsageSender,
    /// The length of the uploaded audio, if known.
    uploaded: Option<Duration>,
    started: Instant,
    first_byte: Option<Instant>,
    first_token: Option<Instant>,
}

impl Meter {
    /// Starts measuring; `started` is the arrival time of the request.
    pub(super) fn new(
        framing: Framing,
        unit: Unit,
        model_id: ModelId,
        usage: UsageSender,
        started: Instant,
    ) -> Self {
        let scanner = Some(Scanner::new(framing, unit));
        let (uploaded, first_byte, first_token) = (None, None, None);
        Self { scanner, model_id, usage, uploaded, started, first_byte, first_token }
    }

    /// Counts the length of the uploaded audio where the engine does not report it.
    pub(super) fn uploaded(mut self, uploaded: Option<Duration>) -> Self {
        self.uploaded = uploaded;
        self
    }

    fn look(&mut self, bytes: &[u8]) {
        if let Some(scanner) = &mut self.scanner {
            scanner.push(bytes);
            self.first_byte = self.first_byte.or_else(|| Some(Instant::now()));
            if self.first_token.is_none() && scanner.has_content() {
                self.first_token = Some(Instant::now());
            }
        }
    }

    fn send(&mut self) {
        let Some(scanner) = self.scanner.take() else { return };
        let usage = scanner.finish().or_uploaded(self.uploaded);
        let since = |until: Instant| until.duration_since(self.started);
        // A whole answer arrives with its last token; the engine reports how long that took.
        let whole = self.first_byte.zip(usage.generation);
        let first_token = whole.map(|(answer, took)| since(answer).saturating_sub(took));
        let report = TelemetryReport {
            inference_id: InferenceId::from_uuid(uuid::Uuid::now_v7()),
            model_id: self.model_id,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            provenance: usage.provenance,
            audio_ms: usage.audio_ms,
            images: usage.images,
            duration_ms: millis(since(Instant::now())),
            time_to_first_token_ms: self.first_token.map(since).or(first_token).map(millis),
        };
        self.usage.send(report);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.send();
    }
}

/// The engine's body, metered.
pub(super) struct Tee {
    pub(super) inner: Incoming,
    pub(super) meter: Option<Meter>,
}

impl Body for Tee {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(context);
        if let Some(meter) = &mut self.meter {
            match &frame {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some(bytes) = frame.data_ref() {
                        meter.look(bytes);
                    }
                }
                Poll::Ready(None | Some(Err(_))) => self.meter = None,
                Poll::Pending => {}
            }
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
