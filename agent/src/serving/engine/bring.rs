//! Where the engine of this device is, and how one comes to a device that has none.
//!
//! A deployment brings it before the model file; a start brings it when it is missing nevertheless. One download runs at
//! a time, and who waited for it finds the engine there.

use std::{convert::Infallible, path::PathBuf, pin::pin, sync::Arc};

use link_agent_core::{event::Event, record::DownloadId, run::Run};
use link_installer::{
    engine::Wanted,
    engine_download::{self, Brought, Download, DownloadError, Progress},
    trust::Trust,
};
use link_platform::{fs, paths::Roots};
use link_plugin_language_model::{self as language_model, Manifest};
use link_protocol::id::PipelineId;
use tokio::sync::{Mutex, watch};

use crate::inbox::Inbox;

/// The builds of the engine on this device; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct EngineDownloads {
    manifest: Arc<Manifest>,
    roots: Roots,
    backend_url: String,
    /// Keys that a development build trusts beside its own.
    development_keys: Option<String>,
    one_at_a_time: Arc<Mutex<()>>,
}

impl EngineDownloads {
    pub(crate) fn new(roots: &Roots, backend_url: &str, development_keys: Option<String>) -> Self {
        Self {
            manifest: Arc::new(language_model::manifest()),
            roots: roots.clone(),
            backend_url: backend_url.to_owned(),
            development_keys,
            one_at_a_time: Arc::default(),
        }
    }

    /// Tells whether `plugin` has no engine here that could be started.
    pub(crate) fn is_missing(&self, plugin: &str) -> bool {
        plugin == self.manifest.id && self.executable().is_err()
    }

    /// Finds the installed build of the engine.
    pub(crate) fn executable(&self) -> anyhow::Result<PathBuf> {
        let engine = &self.manifest.engine;
        let folder = self.roots.engines().join(&engine.name);
        let build = match fs::read_to_string(&folder.join("current")) {
            Err(error) if error.is_not_found() => anyhow::bail!(self.missing()),
            build => build?,
        };
        let path = folder.join(build.trim()).join(&engine.executable);
        anyhow::ensure!(path.is_file(), self.missing());
        Ok(path)
    }

    /// Brings the engine for a deployment, where there is none, and tells how far it is. Without one the deployment goes
    /// on: the model is deployed, and its start says what is missing.
    pub(crate) async fn for_deployment(&self, plugin: &str, download: DownloadId, inbox: &Inbox) {
        if !self.is_missing(plugin) {
            return;
        }
        let tell = |progress: Progress| {
            let Progress { build, bytes_done, bytes_total } = progress;
            inbox.event(Event::EngineProgressed { download, build, bytes_done, bytes_total })
        };
        if let Err(error) = self.bring(tell).await {
            tracing::warn!("{error:#}");
        }
    }

    /// Brings the engine for a start that waits for it.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    pub(crate) async fn for_start(
        &self,
        pipeline_id: PipelineId,
        run: Run,
        inbox: &Inbox,
    ) -> anyhow::Result<()> {
        self.bring(|_progress| inbox.event(Event::EngineComing { pipeline_id, run })).await
    }

    async fn bring<Told: Future<Output = ()>>(
        &self,
        tell: impl Fn(Progress) -> Told,
    ) -> anyhow::Result<()> {
        let _one_at_a_time = self.one_at_a_time.lock().await;
        if self.executable().is_ok() {
            return Ok(());
        }
        let (sender, mut seen) = watch::channel(Progress::default());
        let mut download = pin!(self.download(&sender));
        let relay = async {
            while seen.changed().await.is_ok() {
                let progress = seen.borrow_and_update().clone();
                tell(progress).await;
            }
            std::future::pending::<Infallible>().await
        };
        let ended = tokio::select! {
            ended = &mut download => ended,
            never = relay => match never {},
        };
        match ended {
            Ok(Brought { build, why }) => {
                tracing::info!(build, "the engine is installed: {why}");
                // What the last look missed.
                let whole = sender.borrow().bytes_total;
                let bytes_done = whole;
                tell(Progress { build, bytes_done, bytes_total: whole }).await;
                Ok(())
            }
            Err(error) => {
                let error = anyhow::Error::new(error);
                anyhow::bail!("{}; none could be downloaded: {error:#}", self.missing())
            }
        }
    }

    async fn download(&self, progress: &watch::Sender<Progress>) -> Result<Brought, DownloadError> {
        let engine = &self.manifest.engine;
        let wanted = Wanted::new(&engine.name, &engine.default_build, &engine.accepted_builds);
        let trust = Trust::of_this_build(self.development_keys.as_deref())?;
        let sources = engine_download::sources(&self.roots, Some(&self.backend_url));
        let (roots, trust, wanted, sources) = (&self.roots, &trust, &wanted, &sources[..]);
        Download { roots, trust, wanted, sources, again: false }.run(progress).await
    }

    fn missing(&self) -> String {
        let engine = &self.manifest.engine;
        format!(
            "this device has no inference engine: download build {} of `{}` and install it here \
             with `link engine install FILE`",
            engine.default_build, engine.name,
        )
    }
}
