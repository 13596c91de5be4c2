//! Samples the load of this machine: processors, memory, the disk of the models, GPUs, the engines
//! and the agent itself.
//!
//! A sample reads only the values that it reports, and never lists the processes of the machine.
//! Unknown values are omitted; a failing sensor or driver tool is not an error.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock, and PATH for drivers' tools")]

mod amd;
mod gpu;
mod nvidia;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use link_installer::engines;
use link_platform::disk;
use link_protocol::{
    id::ModelId,
    release::Channel,
    system::{DiskUsage, EngineUsage, MemoryUsage, ProcessUsage, SystemReport},
};
use sysinfo::{
    Components, MINIMUM_CPU_UPDATE_INTERVAL, MemoryRefreshKind, Pid, ProcessRefreshKind,
    ProcessesToUpdate, System,
};
use tokio::time::Instant;

use self::gpu::Gpus;

/// Names of processor sensors, the most specific first.
const PROCESSOR_SENSORS: &[&str] =
    &["package id", "tctl", "tdie", "x86_pkg_temp", "cpu", "coretemp", "k10temp", "soc", "acpitz"];

/// Samples this machine.
pub(crate) struct Monitor {
    models: PathBuf,
    /// The folder of all engines.
    engines: PathBuf,
    channel: Channel,
    system: System,
    agent: Pid,
    sensors: Components,
    /// The index of the processor's sensor.
    sensor: Option<usize>,
    gpus: Gpus,
    looked_at: Instant,
}

impl Monitor {
    /// Finds sensors and drivers, once. `models` selects the disk to sample, and `engines` has the
    /// builds of all engines; the folders may not exist yet.
    ///
    /// # Errors
    /// If this system cannot be sampled at all.
    pub(crate) fn new(models: PathBuf, engines: PathBuf, channel: Channel) -> anyhow::Result<Self> {
        let system = System::new().context("cannot sample this system")?;
        let sensors = Components::new_with_refreshed_list().context("cannot look for sensors")?;
        let labels: Vec<_> = sensors.iter().map(sysinfo::Component::label).collect();
        let mut monitor = Self {
            models,
            engines,
            channel,
            system,
            agent: Pid::from_u32(std::process::id()),
            sensor: processor_sensor(&labels),
            sensors,
            gpus: Gpus::find(std::env::var_os("PATH").as_deref()),
            looked_at: Instant::now(),
        };
        monitor.look(&[]);
        Ok(monitor)
    }

    /// Samples the machine, the agent, and the running processes among `engines` (models with their
    /// process ids). Utilization covers the time since the previous sample, so an engine has one
    /// from its second sample on.
    ///
    /// Waits up to 0.2 s if the previous sample is too recent. May block while it reads `/proc` and
    /// `/sys`; a driver tool runs on its own thread, with a deadline.
    pub(crate) async fn sample(&mut self, engines: &[(ModelId, u32)]) -> SystemReport {
        tokio::time::sleep_until(self.looked_at + MINIMUM_CPU_UPDATE_INTERVAL).await;
        self.look(engines);
        let gpus = self.gpus.sample().await;
        let report = SystemReport {
            cpu_percent: self.system.global_cpu_usage().into(),
            cpu_count: self.system.cpus().len().try_into().unwrap_or(u16::MAX),
            load_1m: System::load_average().ok().map(|load| load.one),
            memory: MemoryUsage {
                used_bytes: self.system.used_memory(),
                total_bytes: self.system.total_memory(),
            },
            disk: space(&self.models),
            temperature_celsius: self.temperature(),
            gpus,
            engines: engines.iter().filter_map(|engine| self.engine(*engine)).collect(),
            builds: engines::in_use(&self.engines),
            channel: self.channel,
            transport: None,
            agent: self
                .process(self.agent)
                .unwrap_or(ProcessUsage { cpu_percent: 0.0, memory_bytes: 0 }),
        };
        report.bounded()
    }

    fn look(&mut self, engines: &[(ModelId, u32)]) {
        self.system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        self.system.refresh_cpu_usage();
        let mut processes: Vec<_> = engines.iter().map(|(_, pid)| Pid::from_u32(*pid)).collect();
        processes.push(self.agent);
        // Also refresh ended engines, so that they are forgotten.
        processes.extend(self.system.processes().keys());
        processes.sort_unstable();
        processes.dedup();
        let wanted = ProcessRefreshKind::nothing().with_cpu().with_memory();
        let processes = ProcessesToUpdate::Some(&processes);
        self.system.refresh_processes_specifics(processes, true, wanted);
        self.looked_at = Instant::now();
    }

    fn engine(&self, (model_id, pid): (ModelId, u32)) -> Option<EngineUsage> {
        let ProcessUsage { cpu_percent, memory_bytes } = self.process(Pid::from_u32(pid))?;
        Some(EngineUsage { model_id, pid, cpu_percent, memory_bytes })
    }

    fn process(&self, pid: Pid) -> Option<ProcessUsage> {
        let process = self.system.process(pid)?;
        Some(ProcessUsage {
            cpu_percent: process.cpu_usage().into(),
            memory_bytes: process.memory(),
        })
    }

    fn temperature(&mut self) -> Option<f64> {
        let sensor = self.sensors.get_mut(self.sensor?)?;
        sensor.refresh();
        sensor.temperature().filter(|celsius| celsius.is_finite()).map(f64::from)
    }
}

/// Returns the sensor that measures the processor most directly.
fn processor_sensor(labels: &[&str]) -> Option<usize> {
    let names = |label: &str, name: &str| label.to_lowercase().contains(name);
    PROCESSOR_SENSORS.iter().find_map(|name| labels.iter().position(|label| names(label, name)))
}

/// Returns the space on the disk that holds `folder`, or will hold it.
fn space(folder: &Path) -> Option<DiskUsage> {
    let space = folder.ancestors().find_map(|folder| disk::space(folder).ok())??;
    Some(DiskUsage { used_bytes: space.used, free_bytes: space.free, total_bytes: space.total })
}

#[cfg(test)]
mod tests;
