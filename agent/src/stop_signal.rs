//! The signals that stop the agent: interrupt and termination.

use anyhow::Context as _;
use tokio::{
    signal,
    sync::mpsc::{self, error::TryRecvError},
};

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

    /// Waits for the request. After the request has arrived, returns at once.
    pub(crate) async fn received(&mut self) {
        let _signalled = self.stop.recv().await;
    }

    /// Returns whether the request has arrived.
    pub(crate) fn has_arrived(&mut self) -> bool {
        !matches!(self.stop.try_recv(), Err(TryRecvError::Empty))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use link_platform::process;

    use super::*;

    #[tokio::test]
    async fn a_request_that_nobody_waited_for_is_not_lost() {
        let mut stop = StopSignal::listen().unwrap();
        assert!(!stop.has_arrived());
        assert!(process::terminate(std::process::id()));
        let arrives = async {
            while !stop.has_arrived() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), arrives).await.unwrap();
        assert!(stop.has_arrived());
        stop.received().await;
    }
}
