//! `GET /metrics`: what the agent and the machine measure, for a monitoring tool.
//!
//! The names are part of the API: a name or a unit that changes breaks somebody's dashboard. What
//! cannot be told is left out.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the clock")]

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use link_protocol::{
    local_api::{ConnectionState, EngineHealth, Healthz, ModelHealth, PipelineEntry},
    system::{GpuUsage, SystemReport},
};

use super::exposition::{Exposition, Kind, Number, Sample};
use crate::{
    components::{self, Latest, Restarts},
    log::Records,
    report::Reporter,
};

/// Where measurements come from.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) started: Instant,
    pub(crate) latest: Latest,
    pub(crate) restarts: Restarts,
    pub(crate) reporter: Reporter,
    pub(crate) records: Records,
}

/// Measurements of one moment.
#[derive(Debug)]
pub(super) struct Moment {
    uptime: Duration,
    system: Option<SystemReport>,
    restarts: BTreeMap<String, u64>,
    reports_dropped: u64,
    log_records_dropped: u64,
}

impl Measured {
    pub(super) fn now(&self) -> Moment {
        Moment {
            uptime: self.started.elapsed(),
            system: self.latest.get(),
            restarts: components::counts(&self.restarts),
            reports_dropped: self.reporter.dropped(),
            log_records_dropped: self.records.dropped(),
        }
    }
}

/// Everything, as Prometheus reads it.
pub(super) fn text(state: &Healthz, pipelines: &[PipelineEntry], moment: &Moment) -> String {
    let mut text = Exposition::default();
    agent(&mut text, state, moment);
    models(&mut text, state, pipelines);
    if let Some(system) = &moment.system {
        engines(&mut text, system);
        machine(&mut text, system);
        gpus(&mut text, &system.gpus);
    }
    text.into_text()
}

fn agent(text: &mut Exposition, state: &Healthz, moment: &Moment) {
    let labels: [(_, &dyn ToString); 3] = [
        ("version", &state.agent_version),
        ("channel", &state.channel),
        ("device_id", &state.device_id),
    ];
    let info = Sample::new(&labels, true);
    text.add(Kind::Gauge, "link_agent_info", "The agent; always 1.", [info]);
    let uptime = Some(moment.uptime.as_secs());
    let help = "Seconds since the agent started.";
    text.add_one(Kind::Gauge, "link_agent_uptime_seconds", help, uptime);
    let connected = Some(state.transport.state == ConnectionState::Connected);
    let help = "Whether the backend can be reached.";
    text.add_one(Kind::Gauge, "link_transport_connected", help, connected);
    let restarts =
        moment.restarts.iter().map(|(id, count)| Sample::new(&[("pipeline", id)], *count));
    let help = "How often a pipeline of the configuration was started again.";
    text.add(Kind::Counter, "link_pipeline_restarts_total", help, restarts);
    let help = "Usage and measurements that were lost because too much waited.";
    let dropped = Some(moment.reports_dropped);
    text.add_one(Kind::Counter, "link_reports_dropped_total", help, dropped);
    let help = "Log records that were lost because too much waited.";
    let dropped = Some(moment.log_records_dropped);
    text.add_one(Kind::Counter, "link_log_records_dropped_total", help, dropped);
    let under_way = Some(state.deployments.len() as u64);
    let help = "Deployments under way.";
    text.add_one(Kind::Gauge, "link_deployments_in_progress", help, under_way);
}

fn models(text: &mut Exposition, state: &Healthz, pipelines: &[PipelineEntry]) {
    let serving = state.models.iter().filter_map(|model| {
        let entry = pipelines.iter().find(|entry| entry.pipeline_id == model.pipeline_id)?;
        let labels: [(_, &dyn ToString); 3] =
            [("model_id", &model.model_id), ("alias", &entry.alias), ("port", &entry.port)];
        Some(Sample::new(&labels, entry.is_serving))
    });
    text.add(Kind::Gauge, "link_model_serving", "Whether a model is served.", serving);
    let health = state.models.iter().flat_map(health);
    let help = "The health of a model's engine: 1 for the one that is so.";
    text.add(Kind::Gauge, "link_model_health", help, health);
}

fn health(model: &ModelHealth) -> [Sample; 3] {
    let states = [
        ("healthy", EngineHealth::Healthy),
        ("starting", EngineHealth::Starting),
        ("unhealthy", EngineHealth::Unhealthy),
    ];
    states.map(|(name, state)| {
        let labels: [(_, &dyn ToString); 2] = [("model_id", &model.model_id), ("health", &name)];
        Sample::new(&labels, model.health == state)
    })
}

fn engines(text: &mut Exposition, system: &SystemReport) {
    let engines = || system.engines.iter();
    let help = "100 for each processor that a model's engine keeps busy.";
    let busy = engines().map(|one| Sample::new(&[("model_id", &one.model_id)], one.cpu_percent));
    text.add(Kind::Gauge, "link_engine_cpu_percent", help, busy);
    let help = "Main memory of a model's engine.";
    let memory = engines().map(|one| Sample::new(&[("model_id", &one.model_id)], one.memory_bytes));
    text.add(Kind::Gauge, "link_engine_memory_bytes", help, memory);
}

fn machine(text: &mut Exposition, system: &SystemReport) {
    let help = "How much all processors together work, from 0 to 100.";
    text.add_one(Kind::Gauge, "link_system_cpu_percent", help, Some(system.cpu_percent));
    let help = "Main memory in use, without what is given back at once.";
    let used = Some(system.memory.used_bytes);
    text.add_one(Kind::Gauge, "link_system_memory_used_bytes", help, used);
    let total = Some(system.memory.total_bytes);
    text.add_one(Kind::Gauge, "link_system_memory_total_bytes", "Main memory.", total);
    let help = "Space on the disk of the models that may still be used.";
    let free = system.disk.map(|disk| disk.free_bytes);
    text.add_one(Kind::Gauge, "link_system_disk_free_bytes", help, free);
    let total = system.disk.map(|disk| disk.total_bytes);
    let help = "Space on the disk of the models.";
    text.add_one(Kind::Gauge, "link_system_disk_total_bytes", help, total);
    let help = "Temperature of the processor.";
    let temperature = system.temperature_celsius;
    text.add_one(Kind::Gauge, "link_system_temperature_celsius", help, temperature);
    let help = "Main memory of the agent.";
    text.add_one(Kind::Gauge, "link_agent_memory_bytes", help, Some(system.agent.memory_bytes));
}

fn gpus(text: &mut Exposition, gpus: &[GpuUsage]) {
    let info = gpus.iter().enumerate().map(|(number, gpu)| {
        let labels: [(_, &dyn ToString); 2] = [("gpu", &number), ("name", &gpu.name)];
        Sample::new(&labels, true)
    });
    text.add(Kind::Gauge, "link_gpu_info", "A GPU; always 1.", info);
    let help = "How much of the time a GPU works, from 0 to 100.";
    let busy = of_each(gpus, |gpu| gpu.utilisation_percent);
    text.add(Kind::Gauge, "link_gpu_utilisation_percent", help, busy);
    let used = of_each(gpus, |gpu| gpu.memory_used_bytes);
    text.add(Kind::Gauge, "link_gpu_memory_used_bytes", "Memory of a GPU in use.", used);
    let total = of_each(gpus, |gpu| gpu.memory_total_bytes);
    text.add(Kind::Gauge, "link_gpu_memory_total_bytes", "Memory of a GPU.", total);
    let temperature = of_each(gpus, |gpu| gpu.temperature_celsius);
    text.add(Kind::Gauge, "link_gpu_temperature_celsius", "Temperature of a GPU.", temperature);
}

fn of_each<N: Number>(
    gpus: &[GpuUsage],
    value: impl Fn(&GpuUsage) -> Option<N>,
) -> impl Iterator<Item = Sample> {
    gpus.iter()
        .enumerate()
        .filter_map(move |(number, gpu)| Some(Sample::new(&[("gpu", &number)], value(gpu)?)))
}
