//! The orderly shutdown of the service.

#![expect(clippy::disallowed_methods, reason = "IO shell: signals and time")]

use std::{io, sync::Arc, time::Duration};

use link_backend::app::App;
use link_platform::notify::{self, Note};
use link_protocol::exit_code::ExitCode;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};

/// SIGTERM and Ctrl-C.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

/// The two phases of an orderly shutdown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// How long the backend still accepts requests after `/readyz` starts to fail.
    pub(crate) notice: Duration,
    /// How long running requests are drained afterwards.
    pub(crate) deadline: Duration,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

impl Stop {
    /// Waits for a signal, then drains the service. Returns after the last request or the deadline. A second signal ends the
    /// process at once.
    pub(crate) async fn run(
        self,
        signals: &mut Signals,
        app: &Arc<App>,
        drain: oneshot::Sender<()>,
    ) -> ExitCode {
        signals.next().await;
        tracing::info!("stopping");
        notify::tell(Note::Stopping);
        app.withdraw();
        tokio::select! {
            () = tokio::time::sleep(self.notice) => {}
            () = signals.next() => return ExitCode::Interrupted,
        }
        app.drain();
        // The receiver is gone if the service has ended already.
        drain.send(()).unwrap_or(());
        tokio::select! {
            () = tokio::time::sleep(self.deadline) => {
                tracing::warn!("requests were cut off");
                ExitCode::Success
            }
            () = signals.next() => ExitCode::Interrupted,
        }
    }
}
