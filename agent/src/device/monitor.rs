//! How busy this machine is, as a sample that can be reported: processors, memory, the disk of the
//! models, GPUs, and the processes of the engines and of the agent itself.
//!
//! A sample reads what it reports and nothing else, and never lists the processes of the machine.
//! What cannot be told is left out; no failure of a sensor or of a driver's tool is one of ours.

#![expect(clippy::disallowed_methods, reason = "IO shell: the clock, and PATH for drivers' tools")]

mod amd;
mod gpu;
mod nvidia;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use link_platform::disk;
use link_protocol::{
    id::ModelId,
    system::{DiskUsage, EngineUsage, MemoryUsage, ProcessUsage, SystemReport},
};
use sysinfo::{
    Components, MINIMUM_CPU_UPDATE_INTERVAL, MemoryRefreshKind, Pid, ProcessRefreshKind,
    ProcessesToUpdate, System,
};
use tokio::time::Instant;

use self::gpu::Gpus;

/// What the sensors of a processor are called, the most telling first.
const PROCESSOR_SENSORS: &[&str] =
    &["package id", "tctl", "tdie", "x86_pkg_temp", "cpu", "coretemp", "k10temp", "soc", "acpitz"];

/// Samples this machine.
pub(crate) struct Monitor {
    models: PathBuf,
    system: System,
    agent: Pid,
    sensors: Components,
    /// The sensor of the processor.
    sensor: Option<usize>,
    gpus: Gpus,
    looked_at: Instant,
}

impl Monitor {
    /// Looks for sensors and drivers, once. The disk that is sampled is that of `models`, which
    /// need not exist yet.
    ///
    /// # Errors
    /// When this system cannot be sampled at all.
    pub(crate) fn new(models: PathBuf) -> anyhow::Result<Self> {
        let system = System::new().context("cannot sample this system")?;
        let sensors = Components::new_with_refreshed_list().context("cannot look for sensors")?;
        let labels: Vec<_> = sensors.iter().map(sysinfo::Component::label).collect();
        let mut monitor = Self {
            models,
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

    /// Samples the machine, the agent, and of `engines`, which are models with the processes that
    /// serve them, those that run. Shares of time are those since the sample before; an engine has
    /// one from its second sample on.
    ///
    /// Waits for up to 0.2 s when the sample before is that young. May block for as long as a read
    /// of `/proc` and `/sys` takes; a driver's tool is asked on a thread of its own, with a
    /// deadline.
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
        // Those of engines that have ended are looked for once more, and forgotten.
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

/// Returns the sensor that tells most of the processor's temperature.
fn processor_sensor(labels: &[&str]) -> Option<usize> {
    let names = |label: &str, name: &str| label.to_lowercase().contains(name);
    PROCESSOR_SENSORS.iter().find_map(|name| labels.iter().position(|label| names(label, name)))
}

/// Returns the space of the disk that holds `folder`, or will.
fn space(folder: &Path) -> Option<DiskUsage> {
    let space = folder.ancestors().find_map(|folder| disk::space(folder).ok())??;
    Some(DiskUsage { used_bytes: space.used, free_bytes: space.free, total_bytes: space.total })
}

#[cfg(test)]
mod tests;
