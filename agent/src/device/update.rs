//! Stages the next version on its own thread; the outcome is an event.

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
    versions,
};
use link_platform::{
    process::{self, Call},
    program,
};
use link_protocol::{
    error_chain::chain,
    update::{UpdatePhase, UpdateProgress, UpdateRequest},
};
use semver::Version;
use tokio::sync::watch;

use crate::{control::pipeline::Pipeline, inbox::Inbox};

/// The timeout for writing completions and manual pages.
const REFRESH: Duration = Duration::from_secs(30);

/// The updates of this agent. A clone is another handle to the same state.
#[derive(Clone, Debug)]
pub(crate) struct Updates {
    layout: Layout,
    /// Additional keys that a development build trusts.
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

    /// Starts staging the next version. If `is_connected`, this version can reach the backend, so
    /// the next version must reach it too.
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
            let staged = updates.stage_next(&wanted, is_connected).await;
            inbox.event(Event::UpdateStaged(staged)).await;
        })?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    /// Aborts the update in progress, because it is no longer wanted.
    pub(crate) fn stop(&self) {
        drop(self.thread.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Clears the outcome of the last update because another is requested.
    pub(crate) fn forget_last(&self) {
        self.progress.send_replace(UpdateProgress::default());
    }

    /// Returns the progress of the last requested update.
    pub(crate) fn progress(&self) -> UpdateProgress {
        self.progress.borrow().clone()
    }

    async fn stage_next(&self, wanted: &Wanted, is_connected: bool) -> Staged {
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

    /// Makes the `link` command of the kept version write its completions and manual pages.
    pub(crate) fn refresh_files(&self) {
        let program = versions::program(&self.layout, program::LINK);
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
