//! `GET /metrics`: measurements of the agent and the machine, for monitoring tools.
//!
//! Names and units are part of the API: a change breaks dashboards. Unknown values are left out.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the clock")]

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use link_protocol::{
    deployment::DeploymentState,
    local_api::{ConnectionState, EngineHealth, Healthz, ModelHealth, PipelineEntry},
    system::{GpuUsage, SystemReport},
};

use super::exposition::{Exposition, Kind, Number, Sample};
use crate::{
    components::{self, Latest, Restarts},
    control::{log::Records, report::Reporter},
};

/// The sources of measurements.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) started: Instant,
    pub(crate) latest: Latest,
    pub(crate) restarts: Restarts,
    pub(crate) reporter: Reporter,
    pub(crate) records: Records,
}

/// The measurements at one moment.
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

/// Returns all metrics in the Prometheus text format.
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
    let help = "Whether the backend is reachable.";
    text.add_one(Kind::Gauge, "link_transport_connected", help, connected);
    let restarts =
        moment.restarts.iter().map(|(id, count)| Sample::new(&[("pipeline", id)], *count));
    let help = "Restarts of a configured pipeline.";
    text.add(Kind::Counter, "link_pipeline_restarts_total", help, restarts);
    let help = "Usage reports and measurements lost because a queue was full.";
    let dropped = Some(moment.reports_dropped);
    text.add_one(Kind::Counter, "link_reports_dropped_total", help, dropped);
    let help = "Log records lost because a queue was full.";
    let dropped = Some(moment.log_records_dropped);
    text.add_one(Kind::Counter, "link_log_records_dropped_total", help, dropped);
    let begun = state.deployments.iter().filter(|one| one.state != DeploymentState::Queued);
    let under_way = Some(begun.count() as u64);
    let help = "Deployments in progress.";
    text.add_one(Kind::Gauge, "link_deployments_in_progress", help, under_way);
}

fn models(text: &mut Exposition, state: &Healthz, pipelines: &[PipelineEntry]) {
    let serving = state.models.iter().filter_map(|model| {
        let entry = pipelines.iter().find(|entry| entry.pipeline_id == model.pipeline_id)?;
        let labels: [(_, &dyn ToString); 3] =
            [("model_id", &model.model_id), ("alias", &entry.alias), ("port", &entry.port)];
        Some(Sample::new(&labels, entry.is_serving))
    });
    text.add(Kind::Gauge, "link_model_serving", "Whether a model is being served.", serving);
    let health = state.models.iter().flat_map(health);
    let help = "Health of a model's engine: 1 for the current state, 0 for the others.";
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
    let help = "Processor use of a model's engine; 100 is one full processor.";
    let busy = engines().map(|one| Sample::new(&[("model_id", &one.model_id)], one.cpu_percent));
    text.add(Kind::Gauge, "link_engine_cpu_percent", help, busy);
    let help = "Main memory used by a model's engine.";
    let memory = engines().map(|one| Sample::new(&[("model_id", &one.model_id)], one.memory_bytes));
    text.add(Kind::Gauge, "link_engine_memory_bytes", help, memory);
}

fn machine(text: &mut Exposition, system: &SystemReport) {
    let help = "Utilization of all processors together, from 0 to 100.";
    text.add_one(Kind::Gauge, "link_system_cpu_percent", help, Some(system.cpu_percent));
    let help = "Main memory in use, without reclaimable memory.";
    let used = Some(system.memory.used_bytes);
    text.add_one(Kind::Gauge, "link_system_memory_used_bytes", help, used);
    let total = Some(system.memory.total_bytes);
    text.add_one(Kind::Gauge, "link_system_memory_total_bytes", "Total main memory.", total);
    let help = "Free space on the disk of the models.";
    let free = system.disk.map(|disk| disk.free_bytes);
    text.add_one(Kind::Gauge, "link_system_disk_free_bytes", help, free);
    let total = system.disk.map(|disk| disk.total_bytes);
    let help = "Size of the disk of the models.";
    text.add_one(Kind::Gauge, "link_system_disk_total_bytes", help, total);
    let help = "Temperature of the processor in degrees Celsius.";
    let temperature = system.temperature_celsius;
    text.add_one(Kind::Gauge, "link_system_temperature_celsius", help, temperature);
    let help = "Main memory used by the agent.";
    text.add_one(Kind::Gauge, "link_agent_memory_bytes", help, Some(system.agent.memory_bytes));
}

fn gpus(text: &mut Exposition, gpus: &[GpuUsage]) {
    let info = gpus.iter().enumerate().map(|(number, gpu)| {
        let labels: [(_, &dyn ToString); 2] = [("gpu", &number), ("name", &gpu.name)];
        Sample::new(&labels, true)
    });
    text.add(Kind::Gauge, "link_gpu_info", "A GPU; always 1.", info);
    let help = "Utilization of a GPU, from 0 to 100.";
    let busy = of_each(gpus, |gpu| gpu.utilisation_percent);
    text.add(Kind::Gauge, "link_gpu_utilisation_percent", help, busy);
    let used = of_each(gpus, |gpu| gpu.memory_used_bytes);
    text.add(Kind::Gauge, "link_gpu_memory_used_bytes", "Memory of a GPU that is in use.", used);
    let total = of_each(gpus, |gpu| gpu.memory_total_bytes);
    text.add(Kind::Gauge, "link_gpu_memory_total_bytes", "Total memory of a GPU.", total);
    let temperature = of_each(gpus, |gpu| gpu.temperature_celsius);
    text.add(
        Kind::Gauge,
        "link_gpu_temperature_celsius",
        "Temperature of a GPU in degrees Celsius.",
        temperature,
    );
}

fn of_each<N: Number>(
    gpus: &[GpuUsage],
    value: impl Fn(&GpuUsage) -> Option<N>,
) -> impl Iterator<Item = Sample> {
    gpus.iter()
        .enumerate()
        .filter_map(move |(number, gpu)| Some(Sample::new(&[("gpu", &number)], value(gpu)?)))
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        id::{DeviceId, ModelId},
        local_api::TransportState,
        registration::TransportType,
        release::Channel,
        report::LifecycleStatus,
        system::{DiskUsage, EngineUsage, MemoryUsage, ProcessUsage},
    };

    use super::*;

    #[test]
    fn a_machine_that_was_not_measured_yet_is_left_out() {
        let text = text(&state(), &[], &moment(None));
        let device = DeviceId::from_uuid(uuid::Uuid::nil());
        let wanted = format!(
            "link_agent_info{{version=\"1.2.3\",channel=\"beta\",device_id=\"{device}\"}} 1\n\
             link_agent_uptime_seconds 90\n\
             link_transport_connected 0\n\
             link_pipeline_restarts_total{{pipeline=\"commands\"}} 2\n\
             link_reports_dropped_total 3\n\
             link_log_records_dropped_total 4\n\
             link_deployments_in_progress 0\n"
        );
        assert_eq!(samples(&text), wanted);
    }

    #[test]
    fn what_a_driver_does_not_tell_is_left_out_and_its_name_is_only_a_name() {
        let gpu = GpuUsage {
            name: "A \"big\" \\ one".to_owned(),
            utilisation_percent: Some(45.5),
            memory_used_bytes: None,
            memory_total_bytes: Some(1 << 34),
            temperature_celsius: None,
        };
        let silent = GpuUsage {
            name: "B".to_owned(),
            utilisation_percent: None,
            memory_total_bytes: None,
            ..gpu.clone()
        };
        let model_id = ModelId::from_uuid(uuid::Uuid::nil());
        let engine = EngineUsage { model_id, pid: 7, cpu_percent: 150.0, memory_bytes: 5 };
        let system = SystemReport {
            cpu_percent: 12.5,
            cpu_count: 4,
            load_1m: None,
            memory: MemoryUsage { used_bytes: 1, total_bytes: 2 },
            disk: Some(DiskUsage { used_bytes: 3, free_bytes: 4, total_bytes: 7 }),
            temperature_celsius: None,
            gpus: vec![gpu, silent],
            engines: vec![engine],
            builds: vec![],
            channel: Channel::Stable,
            transport: None,
            agent: ProcessUsage { cpu_percent: 0.0, memory_bytes: 6 },
        };
        let text = samples(&text(&state(), &[], &moment(Some(system))));
        let wanted = format!(
            "link_engine_cpu_percent{{model_id=\"{model_id}\"}} 150\n\
             link_engine_memory_bytes{{model_id=\"{model_id}\"}} 5\n\
             link_system_cpu_percent 12.5\n\
             link_system_memory_used_bytes 1\n\
             link_system_memory_total_bytes 2\n\
             link_system_disk_free_bytes 4\n\
             link_system_disk_total_bytes 7\n\
             link_agent_memory_bytes 6\n\
             link_gpu_info{{gpu=\"0\",name=\"A \\\"big\\\" \\\\ one\"}} 1\n\
             link_gpu_info{{gpu=\"1\",name=\"B\"}} 1\n\
             link_gpu_utilisation_percent{{gpu=\"0\"}} 45.5\n\
             link_gpu_memory_total_bytes{{gpu=\"0\"}} 17179869184\n"
        );
        assert!(text.ends_with(&wanted), "{text}");
    }

    fn samples(text: &str) -> String {
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
    }

    fn moment(system: Option<SystemReport>) -> Moment {
        Moment {
            uptime: Duration::from_millis(90_900),
            system,
            restarts: BTreeMap::from([("commands".to_owned(), 2)]),
            reports_dropped: 3,
            log_records_dropped: 4,
        }
    }

    fn state() -> Healthz {
        Healthz {
            status: LifecycleStatus::Starting,
            agent_version: "1.2.3".parse().unwrap(),
            channel: "beta".to_owned(),
            device_id: DeviceId::from_uuid(uuid::Uuid::nil()),
            transport: TransportState {
                r#type: TransportType::Http,
                state: ConnectionState::Connecting,
            },
            models: vec![],
            deployments: vec![],
            update: None,
            last_update: None,
            containment: None,
            currently_serving: false,
            model_id: None,
        }
    }
}
