//! The agent's end of the line to its guard: it tells that it is alive, and hears what was decided.

use std::{sync::Arc, time::Duration};

use link_platform::line::Line;
use link_protocol::guard_line::{BEAT, FromAgent, FromGuard};
use tokio::sync::{Notify, mpsc, oneshot, watch};

/// How long the guard may take to be told.
const PATIENCE: Duration = Duration::from_secs(2);

/// The line; an agent that was started by hand has none, and everything here does nothing.
#[derive(Debug)]
pub(crate) struct GuardLine {
    local_port: watch::Sender<Option<u16>>,
    settled: Arc<Notify>,
    replacing: mpsc::Sender<oneshot::Sender<()>>,
}

impl GuardLine {
    /// Starts to tell, when there is a guard. Must be called within a runtime.
    pub(crate) fn start() -> Self {
        let (local_port, port) = watch::channel(None);
        let (replacing, told) = mpsc::channel(1);
        let settled = Arc::new(Notify::new());
        if let Some(line) = Line::of_parent() {
            tokio::spawn(run(line, port, told, settled.clone()));
        }
        Self { local_port, settled, replacing }
    }

    /// Tells where the local API listens, or that it does not any more.
    pub(crate) fn set_local_port(&self, port: Option<u16>) {
        self.local_port.send_replace(port);
    }

    /// Returns once the guard has kept the version on trial.
    pub(crate) async fn settled(&self) {
        self.settled.notified().await;
    }

    /// Tells that another version takes over this process now.
    pub(crate) async fn tell_replacing(&self) {
        let (told, heard) = oneshot::channel();
        let tell = async {
            let _no_guard = self.replacing.send(told).await;
            let _no_guard = heard.await;
        };
        let _no_guard = tokio::time::timeout(PATIENCE, tell).await;
    }
}

async fn run(
    mut line: Line,
    port: watch::Receiver<Option<u16>>,
    mut replacing: mpsc::Receiver<oneshot::Sender<()>>,
    settled: Arc<Notify>,
) {
    let Ok(version) = env!("CARGO_PKG_VERSION").parse::<semver::Version>() else { return };
    let mut beat = tokio::time::interval(BEAT);
    loop {
        tokio::select! {
            _ = beat.tick() => {
                let local_port = *port.borrow();
                tell(&mut line, &FromAgent::Alive { version: version.clone(), local_port }).await;
            }
            told = replacing.recv() => {
                let Some(told) = told else { return };
                tell(&mut line, &FromAgent::Replacing).await;
                let _agent_waits = told.send(());
            }
            heard = line.next() => match heard {
                Some(text) => {
                    if let Ok(FromGuard::Committed) = serde_json::from_str(&text) {
                        settled.notify_one();
                    }
                }
                None => return,
            }
        }
    }
}

async fn tell(line: &mut Line, what: &FromAgent) {
    if let Ok(text) = serde_json::to_string(what) {
        line.tell(&text).await;
    }
}
