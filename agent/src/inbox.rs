//! The loop's bounded inbox, and the view of the core that it returns.
//!
//! Only the loop touches the core; everything else sends events and queries through the inbox.

use std::time::Duration;

use link_agent_core::{event::Event, record::PipelineRecord, run::Run};
use link_protocol::{
    agent_api::Hello,
    local_api::{DeploymentProgress, TransportState},
    report::{LifecycleStatus, ModelState},
};
use tokio::sync::{mpsc, oneshot};

/// The capacity of the inbox; senders wait while it is full.
const INBOX: usize = 256;

/// How long the local API waits for the loop.
const VIEW: Duration = Duration::from_secs(2);

/// An input of the loop.
#[derive(Debug)]
pub(crate) enum Input {
    Event(Event),
    Hello(oneshot::Sender<Hello>),
    View(oneshot::Sender<View>),
}

/// A handle that sends inputs to the loop.
#[derive(Clone, Debug)]
pub(crate) struct Inbox(mpsc::Sender<Input>);

/// The part of the core's state that the local API shows.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) status: LifecycleStatus,
    pub(crate) transport: TransportState,
    pub(crate) pipelines: Vec<PipelineView>,
    pub(crate) deployments: Vec<DeploymentProgress>,
}

/// One pipeline of a [`View`].
#[derive(Clone, Debug)]
pub(crate) struct PipelineView {
    pub(crate) record: PipelineRecord,
    pub(crate) state: ModelState,
    pub(crate) engine_run: Option<Run>,
    pub(crate) detail: Option<String>,
}

impl Inbox {
    /// Creates an inbox and its receiving end, for the loop.
    pub(crate) fn open() -> (Self, mpsc::Receiver<Input>) {
        let (sender, inputs) = mpsc::channel(INBOX);
        (Self(sender), inputs)
    }

    /// Sends an event; waits while the inbox is full, so a flood slows its own source.
    pub(crate) async fn event(&self, event: Event) {
        // The loop only ends when the agent stops, and then no event matters.
        let _stopping = self.0.send(Input::Event(event)).await;
    }

    /// Sends an event from a thread without a runtime.
    pub(crate) fn event_blocking(&self, event: Event) {
        let _stopping = self.0.blocking_send(Input::Event(event));
    }

    /// Requests the device's hello. Returns `None` if the agent is stopping.
    pub(crate) async fn hello(&self) -> Option<Hello> {
        let (answer, question) = oneshot::channel();
        self.0.send(Input::Hello(answer)).await.ok()?;
        question.await.ok()
    }

    /// Requests the current state. Returns `None` if the agent is stopping or blocked.
    pub(crate) async fn view(&self) -> Option<View> {
        let (answer, question) = oneshot::channel();
        let ask = async {
            self.0.send(Input::View(answer)).await.ok()?;
            question.await.ok()
        };
        tokio::time::timeout(VIEW, ask).await.ok()?
    }
}
