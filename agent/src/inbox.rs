//! The way to the loop: its bounded inbox, and the view of the core that it answers with.
//!
//! The core belongs to the loop alone; everything else hands in events here and asks here.

use std::time::Duration;

use link_agent_core::{event::Event, record::PipelineRecord, run::Run};
use link_protocol::{
    agent_api::Hello,
    local_api::{DeploymentProgress, TransportState},
    report::{LifecycleStatus, ModelState},
};
use tokio::sync::{mpsc, oneshot};

/// Events that may wait for the loop; senders wait when it is full.
const INBOX: usize = 256;

/// How long the local API waits for the loop.
const VIEW: Duration = Duration::from_secs(2);

/// What the loop is asked.
#[derive(Debug)]
pub(crate) enum Input {
    Event(Event),
    Hello(oneshot::Sender<Hello>),
    View(oneshot::Sender<View>),
}

/// Where everything else reaches the loop.
#[derive(Clone, Debug)]
pub(crate) struct Inbox(mpsc::Sender<Input>);

/// What the local API shows of the core.
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
    /// Opens an inbox; the loop takes what comes from the other end.
    pub(crate) fn open() -> (Self, mpsc::Receiver<Input>) {
        let (sender, inputs) = mpsc::channel(INBOX);
        (Self(sender), inputs)
    }

    /// Hands in an event; waits while the inbox is full, so a flood slows its source down.
    pub(crate) async fn event(&self, event: Event) {
        // The loop has ended only when the agent stops, and then no event matters.
        let _stopping = self.0.send(Input::Event(event)).await;
    }

    /// Hands in an event from a thread without a runtime.
    pub(crate) fn event_blocking(&self, event: Event) {
        let _stopping = self.0.blocking_send(Input::Event(event));
    }

    /// Asks what this device has and runs; nothing when the agent stops.
    pub(crate) async fn hello(&self) -> Option<Hello> {
        let (answer, question) = oneshot::channel();
        self.0.send(Input::Hello(answer)).await.ok()?;
        question.await.ok()
    }

    /// Asks for the state at this moment; nothing when the agent stops or is held up.
    pub(crate) async fn view(&self) -> Option<View> {
        let (answer, question) = oneshot::channel();
        let ask = async {
            self.0.send(Input::View(answer)).await.ok()?;
            question.await.ok()
        };
        tokio::time::timeout(VIEW, ask).await.ok()?
    }
}
