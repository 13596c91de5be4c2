//! Finds the installed engine of this device, and downloads one if it is missing.
//!
//! A deployment downloads the engine before the model file. A start downloads the engine if it is still missing.
//! Downloads run one at a time; the next one finds the engine installed.

use std::{convert::Infallible, path::PathBuf, pin::pin, sync::Arc, time::Duration};

use link_agent_core::{event::Event, record::DownloadId, run::Run};
use link_installer::{
    engine::Wanted,
    engine_download::{self, Brought, Download, DownloadError, Progress},
    trust::Trust,
};
use link_platform::{fs, paths::Roots, program};
use link_protocol::{
    backend_api::model::LANGUAGE_MODEL,
    id::PipelineId,
    plugin::{Engine, Manifest},
};
use tokio::sync::{Mutex, watch};

use crate::{inbox::Inbox, serving::plugins::PluginFolder};

/// The interval at which a start is told that its engine is still being downloaded, well below the health timeout.
const STILL_COMING: Duration = Duration::from_secs(20);

/// The installed builds of the plugins' engines. Clones share the same state.
#[derive(Clone, Debug)]
pub(crate) struct EngineDownloads {
    plugins: PluginFolder,
    roots: Roots,
    backend_url: String,
    /// Additional keys that a development build trusts.
    development_keys: Option<String>,
    one_at_a_time: Arc<Mutex<()>>,
}

impl EngineDownloads {
    pub(crate) fn new(roots: &Roots, backend_url: &str, development_keys: Option<String>) -> Self {
        Self {
            plugins: PluginFolder::new(roots),
            roots: roots.clone(),
            backend_url: backend_url.to_owned(),
            development_keys,
            one_at_a_time: Arc::default(),
        }
    }

    /// Returns the plugin called `id`, if it is installed.
    pub(crate) fn plugin(&self, id: &str) -> Option<Arc<Manifest>> {
        self.plugins.manifest(id).ok()
    }

    /// Returns whether `plugin` is installed, and no usable engine for it.
    pub(crate) fn is_missing(&self, plugin: &str) -> bool {
        let manifest = self.plugins.manifest(plugin);
        manifest.is_ok_and(|manifest| self.executable(&manifest).is_err())
    }

    /// Finds the installed build of the engine of `plugin`.
    pub(crate) fn executable(&self, plugin: &Manifest) -> anyhow::Result<PathBuf> {
        let engine = &plugin.engine;
        let folder = self.roots.engines().join(&engine.name);
        let build = match fs::read_to_string(&folder.join("current")) {
            Err(error) if error.is_not_found() => anyhow::bail!(missing(plugin)),
            build => build?,
        };
        let path = folder.join(build.trim()).join(program::file_of(&engine.executable));
        anyhow::ensure!(path.is_file(), missing(plugin));
        Ok(path)
    }

    /// Downloads the engine for a deployment if it is missing, and reports the progress. If the download fails, the
    /// deployment continues: the model is deployed, and starting it reports the missing engine.
    pub(crate) async fn for_deployment(&self, plugin: &str, download: DownloadId, inbox: &Inbox) {
        if !self.is_missing(plugin) {
            return;
        }
        let tell = |progress: Progress| {
            let Progress { build, bytes_done, bytes_total } = progress;
            inbox.event(Event::EngineProgressed { download, build, bytes_done, bytes_total })
        };
        if let Err(error) = self.bring(plugin, tell).await {
            tracing::warn!("{error:#}");
        }
    }

    /// Deletes what a cancelled deployment has downloaded of the engine of `plugin`, unless another deployment or a start
    /// waits for an engine: it resumes the download.
    pub(crate) fn discard(&self, plugin: &str) {
        let Ok(_one_at_a_time) = self.one_at_a_time.try_lock() else { return };
        let Some(plugin) = self.plugin(plugin) else { return };
        if let Err(error) = engine_download::discard(&self.roots, &plugin.engine.name) {
            tracing::warn!("{error}");
        }
    }

    /// Downloads the engine for a waiting start, and sends [`Event::EngineComing`] every [`STILL_COMING`], also while another
    /// download runs first and while the build is verified.
    ///
    /// # Errors
    /// The reason why the engine is not available, and what to do.
    pub(crate) async fn for_start(
        &self,
        plugin: &str,
        pipeline_id: PipelineId,
        run: Run,
        inbox: &Inbox,
    ) -> anyhow::Result<()> {
        let mut ticks = tokio::time::interval(STILL_COMING);
        let coming = async {
            loop {
                ticks.tick().await;
                inbox.event(Event::EngineComing { pipeline_id, run }).await;
            }
        };
        let brought = tokio::select! {
            biased;
            never = coming => never,
            brought = self.bring(plugin, |_progress| std::future::ready(())) => brought,
        };
        // The time to become healthy begins now.
        inbox.event(Event::EngineComing { pipeline_id, run }).await;
        brought
    }

    async fn bring<Told: Future<Output = ()>>(
        &self,
        plugin: &str,
        tell: impl Fn(Progress) -> Told,
    ) -> anyhow::Result<()> {
        let plugin = &*self.plugins.manifest(plugin)?;
        let _one_at_a_time = self.one_at_a_time.lock().await;
        if self.executable(plugin).is_ok() {
            return Ok(());
        }
        let (sender, mut seen) = watch::channel(Progress::default());
        let mut download = pin!(self.download(&plugin.engine, &sender));
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
                // Report the progress since the last interval.
                let whole = sender.borrow().bytes_total;
                let bytes_done = whole;
                tell(Progress { build, bytes_done, bytes_total: whole }).await;
                Ok(())
            }
            Err(error) => {
                let error = anyhow::Error::new(error);
                anyhow::bail!("{}; none could be downloaded: {error:#}", missing(plugin))
            }
        }
    }

    async fn download(
        &self,
        engine: &Engine,
        progress: &watch::Sender<Progress>,
    ) -> Result<Brought, DownloadError> {
        let wanted = Wanted::of(engine);
        let trust = Trust::of_this_build(self.development_keys.as_deref())?;
        let sources = engine_download::sources(&self.roots, Some(&self.backend_url));
        let (roots, trust, wanted, sources) = (&self.roots, &trust, &wanted, &sources[..]);
        Download { roots, trust, wanted, sources, again: false }.run(progress).await
    }
}

/// Returns what to do about a missing engine of `plugin`.
fn missing(plugin: &Manifest) -> String {
    let Engine { name, default_build, .. } = &plugin.engine;
    let of = match plugin.id.as_str() {
        LANGUAGE_MODEL => String::new(),
        id => format!(" --plugin {id} --build {default_build}"),
    };
    format!(
        "this device has no inference engine: download build {default_build} of `{name}` and \
         install it here with `link engine install FILE{of}`"
    )
}
