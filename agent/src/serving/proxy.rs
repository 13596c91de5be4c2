//! The serving proxy: owns the public ports and connects them to engines by routes.
//!
//! A port's listener outlives the pipelines behind it. A replaced route applies from the next
//! request on and does not affect requests in flight, so a repair refuses no connection and cuts no
//! stream.

mod answer;
mod bodies;
mod connection;
mod exchange;
mod forward;
mod frontend;
mod headers;
mod models;
mod openai;
mod preflight;
mod route;
mod route_table;
mod tee;
mod usage_queue;

use std::{collections::HashMap, sync::Arc};

use anyhow::Context as _;
use http::HeaderValue;
use link_agent_core::effect::Route;
use link_platform::port_owner;
use link_protocol::{
    id::{DeviceId, PipelineId},
    plugin::Manifest,
    port::Port,
    task::Task,
};
use tokio::{net::TcpListener, runtime::Runtime, sync::Mutex};

use self::{
    forward::Engine,
    frontend::Frontend,
    route::Live,
    usage_queue::{UsageReceiver, UsageSender, usage_queue},
};
use crate::{
    control::{pipeline::Pipeline, report::Reporter},
    serving::{
        engine::{Line, Running},
        plugins::PluginFolder,
    },
};

/// The threads shared by all frontends.
const THREADS: usize = 2;

/// The public ports of this device.
#[derive(Debug)]
pub(crate) struct Frontends {
    /// Present until the agent stops.
    runtime: Option<Runtime>,
    engine: Arc<Engine>,
    plugins: PluginFolder,
    reporter: Reporter,
    open: HashMap<Port, Frontend>,
    serving: HashMap<PipelineId, Serving>,
}

/// A serving pipeline: passes the usage of its model from the frontend to the reports. The queue
/// outlives the thread, so a restart loses no usage of requests in flight.
#[derive(Debug)]
struct Serving {
    /// The plugin, as it was when the port was reserved. A plugin that is removed meanwhile serves on.
    plugin: Arc<Manifest>,
    /// What the model is for, once its engine has been started.
    task: Option<Task>,
    usage: UsageSender,
    queue: Arc<Mutex<UsageReceiver>>,
    thread: Pipeline,
}

impl Frontends {
    /// Prepares the proxy of the device `device` without opening a port.
    pub(crate) fn start(
        device: DeviceId,
        plugins: PluginFolder,
        reporter: Reporter,
    ) -> anyhow::Result<Self> {
        let device = HeaderValue::from_str(&device.to_string()).context("the id of this device")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("frontends")
            .enable_all()
            .build()
            .context("cannot start the runtime of the frontends")?;
        Ok(Self {
            runtime: Some(runtime),
            engine: Arc::new(Engine::new(device)),
            plugins,
            reporter,
            open: HashMap::new(),
            serving: HashMap::new(),
        })
    }

    /// Returns the runtime that the local API shares with the frontends.
    pub(crate) fn handle(&self) -> anyhow::Result<tokio::runtime::Handle> {
        self.runtime
            .as_ref()
            .map(|runtime| runtime.handle().clone())
            .context("the agent is stopping")
    }

    /// Opens the port of `route`, or returns why the port is not available. Several models may
    /// share a port.
    pub(crate) async fn reserve(&mut self, route: Route) -> Result<(), String> {
        let port = route.port;
        let plugin = self.plugins.manifest(&route.plugin).map_err(|error| format!("{error:#}"))?;
        let Some(runtime) = &self.runtime else { return Err("the agent is stopping".to_owned()) };
        if !self.open.contains_key(&port) {
            let handle = runtime.handle().clone();
            let bound = handle
                .spawn(async move { TcpListener::bind(("127.0.0.1", port.get())).await })
                .await
                .map_err(|_| "the agent is stopping".to_owned())?;
            let listener = bound.map_err(|error| taken(port, &error))?;
            let frontend = Frontend::open(runtime.handle(), listener, self.engine.clone());
            tracing::info!(%port, "opened the port");
            self.open.insert(port, frontend);
        }
        self.restart(route, plugin, None).map_err(|error| format!("{error:#}"))
    }

    /// Restarts the serving pipeline of `route`; the engine and the listening socket stay.
    pub(crate) fn replace(&mut self, route: Route, engine: Option<Running>) -> anyhow::Result<()> {
        let Some(serving) = self.serving.get(&route.pipeline_id) else { return Ok(()) };
        let plugin = serving.plugin.clone();
        self.restart(route, plugin, engine)
    }

    fn restart(
        &mut self,
        route: Route,
        plugin: Arc<Manifest>,
        engine: Option<Running>,
    ) -> anyhow::Result<()> {
        let Some(frontend) = self.open.get(&route.port) else { return Ok(()) };
        let pipeline_id = route.pipeline_id;
        let (usage, queue, known) = match self.serving.remove(&pipeline_id) {
            Some(Serving { task, usage, queue, thread, .. }) => {
                drop(thread);
                (usage, queue, task)
            }
            None => {
                let (usage, queue) = usage_queue();
                (usage, Arc::new(Mutex::new(queue)), None)
            }
        };
        let task = engine.as_ref().and_then(|running| running.task).or(known);
        let (source, sink) = (queue.clone(), self.reporter.clone());
        let thread = Pipeline::spawn("serving", move |_stop| async move {
            while let Some((report, lost)) = source.lock().await.next().await {
                sink.usage(report, lost);
            }
        })?;
        let build = engine.as_ref().and_then(|running| running.build.clone());
        let engine = engine.map(|running| Line::new(running.address));
        let (plugin_now, usage_now) = (plugin.clone(), usage.clone());
        frontend.set(Live { route, plugin: plugin_now, task, build, engine, usage: usage_now });
        self.serving.insert(pipeline_id, Serving { plugin, task, usage, queue, thread });
        Ok(())
    }

    /// Removes a pipeline from a port; the last one closes the port. Requests in flight continue
    /// while their engine answers.
    pub(crate) async fn release(&mut self, pipeline: PipelineId, port: Port) {
        let Some(frontend) = self.open.get(&port) else { return };
        if frontend.remove(pipeline)
            && let Some(frontend) = self.open.remove(&port)
        {
            frontend.close().await;
            tracing::info!(%port, "closed the port");
        }
        if !self.open.values().any(|frontend| frontend.serves(pipeline))
            && let Some(serving) = self.serving.remove(&pipeline)
        {
            // The thread ends with the last request in flight.
            serving.thread.detach();
        }
    }

    /// Closes every port.
    pub(crate) async fn close_all(mut self) {
        for (_port, frontend) in self.open.drain() {
            frontend.close().await;
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Frontends {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn taken(port: Port, error: &std::io::Error) -> String {
    if let Some(why) = port_owner::reserved(port.get(), error) {
        return why;
    }
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return format!("cannot open port {port}: {error}");
    }
    match port_owner::find(port.get()) {
        Some(owner) => {
            format!("port {port} is in use by {} (process {})", owner.program, owner.pid)
        }
        None => format!("port {port} is in use by another program"),
    }
}

#[cfg(test)]
mod tests;
