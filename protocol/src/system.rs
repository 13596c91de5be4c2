//! The load of a device: its processors, memory, disk, GPUs, and the processes that Link runs there.
//!
//! A device omits the values that it cannot measure. Names and units are those of monitoring tools: 100 % of a process
//! is one fully used processor, 100 % of a machine is all of its processors.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    id::ModelId,
    limits::{
        BUILDS_REPORTED, ENGINE_INDEX_WORD, ENGINE_REASON_LENGTH, ENGINES_REPORTED,
        GPU_NAME_LENGTH, GPUS_REPORTED,
    },
    registration::TransportType,
    release::Channel,
    shown,
};

/// The bounds of a plausible temperature, in degrees Celsius.
const TEMPERATURES: [f64; 2] = [-273.0, 1000.0];

/// A sample of the load of a device. Shares of time cover the time since the previous sample.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SystemReport {
    /// The load of all processors together, in percent: 0 to 100.
    pub cpu_percent: f64,
    /// The number of logical processors.
    pub cpu_count: u16,
    /// The average number of processes that ran or waited for a processor in the last minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_1m: Option<f64>,
    pub memory: MemoryUsage,
    /// The file system that holds the models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskUsage>,
    /// The temperature of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    #[serde(default)]
    pub gpus: Vec<GpuUsage>,
    #[serde(default)]
    pub engines: Vec<EngineUsage>,
    /// The build of each installed engine that the next model starts with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<EngineInUse>,
    /// The channel of the agent's release.
    #[serde(default, skip_serializing_if = "Channel::is_stable")]
    pub channel: Channel,
    /// The transport from the agent to the control plane. Older agents do not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportType>,
    pub agent: ProcessUsage,
}

/// The main memory of a machine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct MemoryUsage {
    /// Used memory, without memory that the system can free at once, such as its file cache.
    pub used_bytes: u64,
    pub total_bytes: u64,
}

/// A file system.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DiskUsage {
    pub used_bytes: u64,
    /// The bytes that the agent can still write. The system may reserve further free space.
    pub free_bytes: u64,
    pub total_bytes: u64,
}

impl DiskUsage {
    /// Returns the used share of the disk in whole percent, rounded down: 0 to 100. `None` for a disk without bytes.
    #[must_use]
    pub fn used_percent(self) -> Option<u8> {
        let used = u128::from(self.total_bytes.saturating_sub(self.free_bytes));
        let percent = (used * 100).checked_div(u128::from(self.total_bytes))?;
        u8::try_from(percent).ok()
    }
}

/// A graphics processor, as far as its driver reports values.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct GpuUsage {
    pub name: String,
    /// The share of time in which the processor was busy, in percent: 0 to 100.
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
    /// The processor time, in percent: 100 for each fully used processor.
    pub cpu_percent: f64,
    /// The main memory of the process, with the part of the weights that is in main memory.
    pub memory_bytes: u64,
}

/// The build of an engine that the next model starts with.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct EngineInUse {
    /// The engine, such as `llama-server`.
    pub engine: String,
    /// The name of the build.
    pub build: String,
    /// Why the build was chosen, as text for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A process.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ProcessUsage {
    /// The processor time, in percent: 100 for each fully used processor.
    pub cpu_percent: f64,
    /// The main memory of the process.
    pub memory_bytes: u64,
}

/// The latest sample of a device, and the time when the backend received it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SystemSample {
    #[schema(value_type = String, format = DateTime)]
    pub reported_at: Timestamp,
    #[serde(flatten)]
    pub report: SystemReport,
}

impl SystemReport {
    /// Returns the report in a form that is safe to send, store and show, even if the device is malicious: lists and
    /// names are cut to their limits, and every number is plausible.
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
            builds: self
                .builds
                .into_iter()
                .take(BUILDS_REPORTED)
                .map(EngineInUse::bounded)
                .collect(),
            agent: ProcessUsage { cpu_percent, ..self.agent },
            ..self
        }
    }
}

impl EngineInUse {
    fn bounded(self) -> Self {
        Self {
            engine: cut(&self.engine, ENGINE_INDEX_WORD),
            build: cut(&self.build, ENGINE_INDEX_WORD),
            why: self.why.map(|why| cut(&why, ENGINE_REASON_LENGTH)),
        }
    }
}

impl GpuUsage {
    fn bounded(self) -> Self {
        Self {
            name: cut(&self.name, GPU_NAME_LENGTH),
            utilisation_percent: self.utilisation_percent.map(percent),
            temperature_celsius: self.temperature_celsius.map(temperature),
            ..self
        }
    }
}

/// Returns the first `most` characters of a text, on one line.
fn cut(text: &str, most: usize) -> String {
    shown::one_line(text).chars().take(most).collect()
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

/// Limits `number` to the bounds. NaN becomes the lower bound, because JSON cannot represent it.
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
        let build = EngineInUse {
            engine: "e\n".repeat(1000),
            build: "b".repeat(1000),
            why: Some("\u{1b}".repeat(1000)),
        };
        let report = SystemReport {
            cpu_percent: f64::NAN,
            cpu_count: 4,
            load_1m: Some(-1.0),
            memory: MemoryUsage { used_bytes: 1, total_bytes: 2 },
            disk: None,
            temperature_celsius: Some(1e300),
            gpus: vec![gpu; 100],
            engines: vec![engine; 100],
            builds: vec![build; 100],
            channel: Channel::Stable,
            transport: None,
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
        let build = &bounded.builds[0];
        let lengths = [&build.engine, &build.build, build.why.as_ref().unwrap()];
        let lengths = lengths.map(|text| text.chars().count());
        assert_eq!(lengths, [ENGINE_INDEX_WORD, ENGINE_INDEX_WORD, ENGINE_REASON_LENGTH]);
        assert_eq!(bounded.builds.len(), BUILDS_REPORTED);
        assert_eq!(bounded.clone().bounded(), bounded);
        let text = serde_json::to_string(&bounded).unwrap();
        assert_eq!(serde_json::from_str::<SystemReport>(&text).unwrap(), bounded);
    }
}
