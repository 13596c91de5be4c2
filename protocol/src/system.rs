//! How busy a device is: its processors, memory, disk, GPUs, and the processes that Link runs there.
//!
//! A device says what it can tell and leaves out the rest. Names and units are those of monitoring
//! tools: 100 % of a process is one processor that does nothing else, 100 % of a machine is all of
//! its processors.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::ModelId,
    limits::{ENGINES_REPORTED, GPU_NAME_LENGTH, GPUS_REPORTED},
    shown,
};

/// What no sensor of a machine that runs exceeds, in degrees Celsius.
const TEMPERATURES: [f64; 2] = [-273.0, 1000.0];

/// One sample of a device; shares of time are those since the sample before.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SystemReport {
    /// How much all processors together worked: 0 to 100.
    pub cpu_percent: f64,
    /// Logical processors.
    pub cpu_count: u16,
    /// Processes that ran or waited for a processor, on average over a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_1m: Option<f64>,
    pub memory: MemoryUsage,
    /// The file system that holds the models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskUsage>,
    /// Of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    #[serde(default)]
    pub gpus: Vec<GpuUsage>,
    #[serde(default)]
    pub engines: Vec<EngineUsage>,
    pub agent: ProcessUsage,
}

/// The main memory of a machine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct MemoryUsage {
    /// Without what the system gives back at once, such as its file cache.
    pub used_bytes: u64,
    pub total_bytes: u64,
}

/// A file system.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DiskUsage {
    pub used_bytes: u64,
    /// What the agent may still write; a system may keep more for itself.
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// A graphics processor, as far as its driver tells.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct GpuUsage {
    pub name: String,
    /// How much of the time it worked: 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation_percent: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_total_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
}

/// The process that serves a model.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct EngineUsage {
    pub model_id: ModelId,
    pub pid: u32,
    /// 100 for each processor that it kept busy.
    pub cpu_percent: f64,
    /// In main memory, with the part of the weights that is there.
    pub memory_bytes: u64,
}

/// A process.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ProcessUsage {
    /// 100 for each processor that it kept busy.
    pub cpu_percent: f64,
    /// In main memory.
    pub memory_bytes: u64,
}

/// The latest sample of a device, and when the backend had it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SystemSample {
    #[schema(value_type = String, format = DateTime)]
    pub reported_at: Timestamp,
    #[serde(flatten)]
    pub report: SystemReport,
}

impl SystemReport {
    /// Returns it as it may be sent, kept and shown, whoever wrote it: lists and names are cut to
    /// their limits, and every number is one that can be.
    #[must_use]
    pub fn bounded(self) -> Self {
        let most = 100.0 * f64::from(self.cpu_count);
        let mut engines = self.engines;
        engines.truncate(ENGINES_REPORTED);
        for engine in &mut engines {
            engine.cpu_percent = tenths(engine.cpu_percent, [0.0, most]);
        }
        let gpus = self.gpus.into_iter().take(GPUS_REPORTED).map(GpuUsage::bounded).collect();
        let cpu_percent = tenths(self.agent.cpu_percent, [0.0, most]);
        Self {
            cpu_percent: percent(self.cpu_percent),
            load_1m: self.load_1m.map(|load| hundredths(load, [0.0, 1e6])),
            temperature_celsius: self.temperature_celsius.map(temperature),
            gpus,
            engines,
            agent: ProcessUsage { cpu_percent, ..self.agent },
            ..self
        }
    }
}

impl GpuUsage {
    fn bounded(self) -> Self {
        Self {
            name: shown::one_line(&self.name).chars().take(GPU_NAME_LENGTH).collect(),
            utilisation_percent: self.utilisation_percent.map(percent),
            temperature_celsius: self.temperature_celsius.map(temperature),
            ..self
        }
    }
}

fn percent(share: f64) -> f64 {
    tenths(share, [0.0, 100.0])
}

fn temperature(celsius: f64) -> f64 {
    tenths(celsius, TEMPERATURES)
}

fn tenths(number: f64, range: [f64; 2]) -> f64 {
    (within(number, range) * 10.0).round() / 10.0
}

fn hundredths(number: f64, range: [f64; 2]) -> f64 {
    (within(number, range) * 100.0).round() / 100.0
}

/// What is no number is the least one: JSON cannot carry it.
const fn within(number: f64, [least, most]: [f64; 2]) -> f64 {
    number.max(least).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_or_no_number_is_bounded() {
        let model: ModelId = format!("mdl_{:032x}", 1).parse().unwrap();
        let gpu = GpuUsage {
            name: format!("a\u{1b}[2J\n{}", "x".repeat(1000)),
            utilisation_percent: Some(100.04),
            memory_used_bytes: Some(u64::MAX),
            memory_total_bytes: None,
            temperature_celsius: Some(f64::NEG_INFINITY),
        };
        let engine =
            EngineUsage { model_id: model, pid: 1, cpu_percent: f64::INFINITY, memory_bytes: 1 };
        let report = SystemReport {
            cpu_percent: f64::NAN,
            cpu_count: 4,
            load_1m: Some(-1.0),
            memory: MemoryUsage { used_bytes: 1, total_bytes: 2 },
            disk: None,
            temperature_celsius: Some(1e300),
            gpus: vec![gpu; 100],
            engines: vec![engine; 100],
            agent: ProcessUsage { cpu_percent: 0.26, memory_bytes: 1 },
        };
        let bounded = report.bounded();
        assert_eq!((bounded.cpu_percent, bounded.load_1m), (0.0, Some(0.0)));
        assert_eq!((bounded.temperature_celsius, bounded.agent.cpu_percent), (Some(1000.0), 0.3));
        assert_eq!((bounded.gpus.len(), bounded.engines.len()), (GPUS_REPORTED, ENGINES_REPORTED));
        let gpu = &bounded.gpus[0];
        assert_eq!(gpu.name.chars().count(), GPU_NAME_LENGTH);
        assert!(gpu.name.starts_with("a\u{fffd}[2J x"), "{}", gpu.name);
        assert_eq!(gpu.utilisation_percent, Some(100.0));
        assert_eq!(
            (gpu.memory_used_bytes, gpu.temperature_celsius),
            (Some(u64::MAX), Some(-273.0))
        );
        assert_eq!(bounded.engines[63].cpu_percent, 400.0);
        assert_eq!(bounded.clone().bounded(), bounded);
        let text = serde_json::to_string(&bounded).unwrap();
        assert_eq!(serde_json::from_str::<SystemReport>(&text).unwrap(), bounded);
    }
}
