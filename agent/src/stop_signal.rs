//! The signals that stop the agent: interrupt and termination.

use anyhow::Context as _;
use tokio::{signal, sync::mpsc};

/// The receiver of the request to stop, which arrives once.
#[derive(Debug)]
pub(crate) struct StopSignal {
    stop: mpsc::Receiver<()>,
}

impl StopSignal {
    /// Starts listening. Must be called within a runtime.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let (sender, stop) = mpsc::channel(1);
        let mut terminate = link_platform::signal::Termination::listen()
            .context("cannot listen for the termination signal")?;
        tokio::spawn(async move {
            tokio::select! {
                _interrupted = signal::ctrl_c() => {}
                () = terminate.received() => {}
            }
            let _stopping = sender.send(()).await;
        });
        Ok(Self { stop })
    }

    /// Waits for the request.
    pub(crate) async fn received(&mut self) {
        let _signalled = self.stop.recv().await;
    }
}
