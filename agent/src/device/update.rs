//! Brings the next version here in a thread of its own; the outcome is an event.

use std::{
    ffi::OsString,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use link_agent_core::event::{Event, Staged};
use link_installer::{
    layout::Layout,
    stage::{Stage, StageError},
    trust::Trust,
    update::{Declined, Wanted},
};
use link_platform::process::{self, Call};
use link_protocol::{
    error_chain::chain,
    update::{UpdatePhase, UpdateProgress, UpdateRequest},
};
use semver::Version;
use tokio::sync::watch;

use crate::{control::pipeline::Pipeline, inbox::Inbox};

/// How long writing the completions and the manual pages may take.
const REFRESH: Duration = Duration::from_secs(30);

/// The updates of this agent; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Updates {
    layout: Layout,
    /// Keys that a development build trusts beside its own.
    development_keys: Option<String>,
    progress: Arc<watch::Sender<UpdateProgress>>,
    thread: Arc<Mutex<Option<Pipeline>>>,
}

impl Updates {
    pub(crate) fn new(layout: Layout, development_keys: Option<String>) -> Self {
        let progress = Arc::new(watch::Sender::default());
        Self { layout, development_keys, progress, thread: Arc::default() }
    }

    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Starts to bring the next version here. `is_connected` says that this version reaches the
    /// backend, which the next one then must, too.
    pub(crate) fn stage(
        &self,
        request: UpdateRequest,
        is_connected: bool,
        inbox: Inbox,
    ) -> anyhow::Result<()> {
        let updates = self.clone();
        let UpdateRequest { version, again, channel } = request;
        let wanted = Wanted { version, again, channel };
        let thread = Pipeline::spawn("update", move |_stop| async move {
            let staged = updates.bring(&wanted, is_connected).await;
            inbox.event(Event::UpdateStaged(staged)).await;
        })?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    /// Ends the update under way: what it was for is over.
    pub(crate) fn stop(&self) {
        drop(self.thread.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Forgets how the last update ended: another one is asked for.
    pub(crate) fn forget_last(&self) {
        self.progress.send_replace(UpdateProgress::default());
    }

    /// How far the last update is that was asked for.
    pub(crate) fn progress(&self) -> UpdateProgress {
        self.progress.borrow().clone()
    }

    async fn bring(&self, wanted: &Wanted, is_connected: bool) -> Staged {
        self.forget_last();
        match self.try_to_bring(wanted, is_connected).await {
            Ok(version) => {
                tracing::info!(%version, "the next version is here");
                Staged::Ready(version)
            }
            Err(StageError::Declined(Declined::UpToDate(version))) => {
                self.end(UpdatePhase::UpToDate, None);
                Staged::UpToDate(version)
            }
            Err(error) => {
                let reason = chain(&error);
                tracing::warn!("no update: {reason}");
                let code = error.exit_code().number();
                self.progress.send_modify(|progress| progress.exit_code = Some(code));
                if error.is_refusal() {
                    self.end(UpdatePhase::Declined, Some(reason.clone()));
                    Staged::Declined(reason)
                } else {
                    self.end(UpdatePhase::Failed, Some(reason.clone()));
                    Staged::Failed(reason)
                }
            }
        }
    }

    /// Lets the `link` command of the version that was kept write its completions and manual pages.
    pub(crate) fn refresh_files(&self) {
        let program = self.layout.command_target();
        let call = Call { program, args: vec!["refresh-files".into()], env: None, limit: REFRESH };
        tokio::task::spawn_blocking(move || match process::call(&call) {
            Ok(answer) if answer.success => {}
            Ok(answer) => tracing::warn!("completions and manual pages: {}", answer.stderr),
            Err(error) => tracing::warn!("completions and manual pages: {error}"),
        });
    }

    fn end(&self, phase: UpdatePhase, reason: Option<String>) {
        self.progress.send_modify(|progress| {
            progress.phase = phase;
            progress.reason = reason;
        });
    }

    async fn try_to_bring(
        &self,
        wanted: &Wanted,
        is_connected: bool,
    ) -> Result<Version, StageError> {
        let trust = Trust::of_this_build(self.development_keys.as_deref())?;
        let check: Vec<OsString> = if is_connected { vec!["--connected".into()] } else { vec![] };
        #[expect(clippy::disallowed_methods, reason = "IO shell: the date of the manifest")]
        let now = Timestamp::now();
        let stage = Stage { layout: &self.layout, trust: &trust, wanted, now, check: &check };
        stage.run(&self.progress).await
    }
}
