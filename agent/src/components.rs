//! Runs the components: each configured pipeline joins a source and a sink of
//! `link_agent_core::components` on its own thread.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits between samples")]

use std::{
    collections::BTreeMap,
    future::Future,
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use link_agent_core::components::{COMMAND_HANDLER, COMMANDS, REPORTS, SYSTEM_MONITOR};
use link_client::agent::AgentClient;
use link_protocol::{
    config::{AgentConfig, PipelineConfig},
    id::ModelId,
    release::Channel,
    system::SystemReport,
};

use crate::{
    control::{
        pipeline::{Pipeline, Threads},
        report::Reporter,
        transport::{http, zenoh},
    },
    device::monitor::Monitor,
    inbox::{Inbox, View},
    serving::engine::Engines,
};

/// The default interval between measurements of the machine.
const SAMPLED_EVERY: Duration = Duration::from_secs(60);

/// The command channel over the configured transport.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    Http(AgentClient),
    Zenoh { settings: Box<zenoh::Settings>, link: zenoh::Link, messages: zenoh::Messages },
}

/// The shared parts that components are built from.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) control: Control,
    pub(crate) inbox: Inbox,
    pub(crate) reporter: Reporter,
    pub(crate) engines: Engines,
    pub(crate) models: PathBuf,
    /// The folder of all engines.
    pub(crate) builds: PathBuf,
    /// The channel of this agent's release.
    pub(crate) channel: Channel,
    pub(crate) sampled_every: Duration,
    pub(crate) latest: Latest,
}

/// The latest measurement of this machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latest(Arc<RwLock<Option<SystemReport>>>);

/// The running pipelines; dropping them stops them.
#[derive(Debug, Default)]
pub(crate) struct Running(Vec<(String, Pipeline)>);

/// The number of restarts of each pipeline, by its id.
pub(crate) type Restarts = BTreeMap<String, Arc<AtomicU64>>;

type Work = Pin<Box<dyn Future<Output = anyhow::Result<()>>>>;

/// A supported pair of a source and a sink.
struct Joint {
    source: &'static str,
    sink: &'static str,
    work: fn(Parts) -> Work,
}

/// All supported pairs.
const TABLE: &[Joint] = &[
    Joint { source: COMMANDS, sink: COMMAND_HANDLER, work: |parts| Box::pin(take_commands(parts)) },
    Joint { source: SYSTEM_MONITOR, sink: REPORTS, work: |parts| Box::pin(measure(parts)) },
];

impl Latest {
    /// Returns the latest measurement, if there is one.
    pub(crate) fn get(&self) -> Option<SystemReport> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, report: SystemReport) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }
}

impl Running {
    /// Starts every active pipeline of `config`.
    pub(crate) fn start(config: &AgentConfig, parts: &Parts) -> anyhow::Result<Self> {
        let mut running = Vec::new();
        for pipeline in config.pipelines.iter().filter(|pipeline| pipeline.active) {
            let work = work_of(pipeline)?;
            let parts = parts.clone();
            let threads = match &parts.control {
                Control::Zenoh { .. } if pipeline.source == COMMANDS => Threads::WithWorker,
                Control::Zenoh { .. } | Control::Http(_) => Threads::One,
            };
            let thread = Pipeline::supervise(&pipeline.id, threads, move || work(parts.clone()))?;
            running.push((pipeline.id.clone(), thread));
        }
        Ok(Self(running))
    }

    /// Returns the restart counters of all pipelines.
    pub(crate) fn restarts(&self) -> Restarts {
        self.0.iter().map(|(id, pipeline)| (id.clone(), pipeline.restarts())).collect()
    }
}

/// Returns the interval between measurements of the machine.
pub(crate) fn sampled_every(config: &AgentConfig) -> Duration {
    let settings = config.components.get(SYSTEM_MONITOR);
    let seconds = settings.and_then(|settings| settings.number("interval_s"));
    seconds.map_or(SAMPLED_EVERY, Duration::from_secs)
}

fn work_of(pipeline: &PipelineConfig) -> anyhow::Result<fn(Parts) -> Work> {
    let fits = |joint: &&Joint| joint.source == pipeline.source && joint.sink == pipeline.sink;
    let found = TABLE.iter().find(fits).map(|joint| joint.work);
    found.ok_or_else(|| {
        anyhow::anyhow!("no pipeline joins `{}` to `{}`", pipeline.source, pipeline.sink)
    })
}

async fn take_commands(parts: Parts) -> anyhow::Result<()> {
    match parts.control {
        Control::Http(client) => http::run(client, parts.inbox).await,
        Control::Zenoh { settings, link, messages } => {
            zenoh::run(*settings, link, messages, parts.inbox).await;
        }
    }
    Ok(())
}

async fn measure(parts: Parts) -> anyhow::Result<()> {
    let mut monitor = Monitor::new(parts.models.clone(), parts.builds.clone(), parts.channel)?;
    loop {
        let view = parts.inbox.view().await;
        let transport = view.as_ref().map(|view| view.transport.r#type);
        let engines = view.map(|view| engines_of(&parts, view)).unwrap_or_default();
        let report = SystemReport { transport, ..monitor.sample(&engines).await };
        parts.latest.set(report.clone());
        parts.reporter.system(report);
        tokio::time::sleep(parts.sampled_every).await;
    }
}

/// Returns the served models, with the process ids of their engines.
fn engines_of(parts: &Parts, view: View) -> Vec<(ModelId, u32)> {
    let running = view.pipelines.into_iter().filter_map(|pipeline| {
        let engine = parts.engines.find(pipeline.engine_run?)?;
        Some((pipeline.record.config.model_id, engine.address.pid))
    });
    running.collect()
}

/// Reads the restart counters.
pub(crate) fn counts(restarts: &Restarts) -> BTreeMap<String, u64> {
    restarts.iter().map(|(id, count)| (id.clone(), count.load(Ordering::Relaxed))).collect()
}
